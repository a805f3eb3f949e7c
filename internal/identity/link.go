package identity

import (
	"time"

	"dray/internal/lastmile"
)

// LinkKind is what a one-time link is for.
type LinkKind string

// The kinds of links.
const (
	Setup      LinkKind = "setup"      // creates the first organization
	Invitation LinkKind = "invitation" // an administrator chooses the first password
	Reset      LinkKind = "reset"      // an administrator chooses another password
	SignIn     LinkKind = "signIn"     // signs in without a password; only the operator makes these
)

// How long links are valid.
const (
	InvitationLifetime = 7 * 24 * time.Hour
	ResetLifetime      = time.Hour
	SignInLifetime     = time.Hour
)

// MaxLinks is the maximum number of links of a kind that an administrator has at a
// time. The oldest end, and not the older ones at once: otherwise a stranger who
// requests resets could end the links that the administrator requests.
const MaxLinks = 20

// setupLifetime is longer than any installation waits for its first organization.
const setupLifetime = 100 * 365 * 24 * time.Hour

// Link is a link that works once. Its token is shown or mailed once; only the hash is
// stored, until the link is used or expires.
type Link struct {
	Hash         string
	Kind         LinkKind
	Organization lastmile.OrganizationID // empty for Setup
	Admin        lastmile.AdminID        // empty for Setup
	Email        string                  // of the administrator when it was made: the link ends when that changes
	DropFactor   bool                    // a Reset also removes the second factor
	Created      time.Time
	Expires      time.Time
}

// NewLink returns a link for an administrator.
func NewLink(hash string, kind LinkKind, admin lastmile.Admin, now time.Time) Link {
	lifetime := map[LinkKind]time.Duration{
		Setup: setupLifetime, Invitation: InvitationLifetime, Reset: ResetLifetime, SignIn: SignInLifetime,
	}[kind]
	return Link{
		Hash: hash, Kind: kind, Organization: admin.Organization, Admin: admin.ID, Email: admin.Email, Created: now, Expires: now.Add(lifetime),
	}
}

// Check rejects a link that has expired or is for an e-mail address that the
// administrator does not have any more.
func (l Link) Check(admin lastmile.Admin, now time.Time) error {
	if !now.Before(l.Expires) || l.Email != admin.Email {
		return UnknownLink()
	}
	return nil
}

// UnknownLink is the error for a link that does not work, whatever the reason.
func UnknownLink() *lastmile.Error {
	return &lastmile.Error{Code: lastmile.CodeNotFound, Message: "The link does not work any more: it has expired, was used before, or is not complete. Request a new one."}
}
