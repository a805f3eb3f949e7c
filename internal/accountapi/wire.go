package accountapi

import (
	"cmp"

	"dray/internal/account"
	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// State is what a page needs before a person signs in.
type State struct {
	NeedsSetup bool   `json:"needsSetup"`
	SignedIn   bool   `json:"signedIn"`
	Mail       bool   `json:"mail"` // links are mailed
	Version    string `json:"version"`
	Demo       bool   `json:"demo"`
}

// SetupBody is the first organization and its first administrator.
type SetupBody struct {
	Token        string           `json:"token"`
	Organization OrganizationBody `json:"organization"`
	Name         string           `json:"name"`
	Email        string           `json:"email"`
	Password     string           `json:"password"`
	Language     string           `json:"language"`
}

// OrganizationBody is a new organization.
type OrganizationBody struct {
	Name     string `json:"name"`
	Country  string `json:"country"`
	Timezone string `json:"timezone"`
}

// SignInBody is an attempt to sign in.
type SignInBody struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	Code     string `json:"code"`
}

// LinkBody names a one-time link.
type LinkBody struct {
	Token string `json:"token"`
}

// Link is what a one-time link is for.
type Link struct {
	Kind         identity.LinkKind `json:"kind"`
	Name         *string           `json:"name"`
	Email        *string           `json:"email"`
	Organization *string           `json:"organization"`
	SecondFactor bool              `json:"secondFactor"` // a code is required
}

// AcceptBody uses a one-time link.
type AcceptBody struct {
	Token    string `json:"token"`
	Name     string `json:"name"`
	Password string `json:"password"`
	Code     string `json:"code"`
}

// ForgotBody names an account.
type ForgotBody struct {
	Email string `json:"email"`
}

// Me is the caller.
type Me struct {
	ID                  lastmile.AdminID   `json:"id"`
	Name                string             `json:"name"`
	Email               string             `json:"email"`
	Phone               *lastmile.Phone    `json:"phone"`
	Type                lastmile.AdminType `json:"type"`
	IsReadOnly          bool               `json:"isReadOnly"`
	IsAccountOwner      bool               `json:"isAccountOwner"`
	Teams               []lastmile.TeamID  `json:"teams"`
	Language            string             `json:"language"`
	SecondFactor        bool               `json:"secondFactor"`
	HasPassword         bool               `json:"hasPassword"`
	IsInstallationOwner bool               `json:"isInstallationOwner"`
	Organization        Organization       `json:"organization"`
}

// Organization is the organization of the caller.
type Organization struct {
	ID       lastmile.OrganizationID `json:"id"`
	Name     string                  `json:"name"`
	Timezone string                  `json:"timezone"`
	Country  string                  `json:"country"`
	Image    *string                 `json:"image"` // upload of the logo
}

func newMe(me account.Me) Me {
	return Me{
		ID: me.ID, Name: me.Name, Email: me.Email, Phone: orNull(me.Phone), Type: me.Type, IsReadOnly: me.ReadOnly, IsAccountOwner: me.AccountOwner,
		Teams: append([]lastmile.TeamID{}, me.Teams...), Language: cmp.Or(me.Language, identity.Languages[0]), SecondFactor: me.SecondFactor,
		HasPassword: me.HasPassword, IsInstallationOwner: me.InstallationOwner,
		Organization: Organization{
			ID: me.Organization.ID, Name: me.Organization.Name, Timezone: me.Organization.Timezone, Country: me.Organization.Country, Image: orNull(me.Organization.Image),
		},
	}
}

// ProfileBody changes the caller.
type ProfileBody struct {
	Name     *string `json:"name"`
	Phone    *string `json:"phone"`
	Language *string `json:"language"`
}

// PasswordBody changes the password.
type PasswordBody struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// Session is a browser in which the caller is signed in.
type Session struct {
	ID        string      `json:"id"`
	Created   wire.Millis `json:"created"`
	LastUsed  wire.Millis `json:"lastUsed"`
	Expires   wire.Millis `json:"expires"`
	UserAgent string      `json:"userAgent"`
	Address   *string     `json:"address"`
	Current   bool        `json:"current"`
}

func newSession(s identity.Session, who lastmile.Principal) Session {
	return Session{
		ID: s.ID, Created: wire.Millis(s.Created), LastUsed: wire.Millis(s.Used), Expires: wire.Millis(s.Expires()),
		UserAgent: s.Agent, Address: orNull(s.Address), Current: s.Hash == who.Session.Hash,
	}
}

// Factor is a second factor that is not confirmed yet.
type Factor struct {
	Secret string `json:"secret"`
	URI    string `json:"uri"`
}

// CodeBody confirms a second factor.
type CodeBody struct {
	Code string `json:"code"`
}

// RecoveryCodes replace a second factor, each once.
type RecoveryCodes struct {
	RecoveryCodes []string `json:"recoveryCodes"`
}

// OwnPasswordBody creates or removes a second factor.
type OwnPasswordBody struct {
	Password string `json:"password"`
}

func orNull[T ~string](text T) *T {
	if text == "" {
		return nil
	}
	return &text
}
