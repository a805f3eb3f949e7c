package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/rate"
)

// tokenLength is the number of characters of the tokens of sessions and links: 256
// random bits.
const tokenLength = 43

// Accounts signs administrators in.
type Accounts struct {
	Store         Store
	Passwords     Passwords
	Vault         Vault
	Organizations Organizations
	Mailer        Mailer // nil if mails cannot be sent
	URL           string // public URL of the server, for links
	Now           func() time.Time
	NewID         func() string
	Random        func(length int) string // random letters and digits
	ParsePhone    func(raw, country string) (lastmile.Phone, error)
	KnownCountry  func(code string) bool
	Wake          func() // called after the commit of a transaction that adds mails
	Log           *slog.Logger

	denials rate.Denials
}

// Browser describes the origin of a request.
type Browser struct {
	Device  string // from an earlier SignedIn; may be empty
	Session string // token of its current session; may be empty
	Network string // empty if unknown
	Agent   string // User-Agent
}

// Me is an administrator as shown to that administrator.
type Me struct {
	lastmile.Admin
	Organization      lastmile.Organization
	Language          string
	SecondFactor      bool
	HasPassword       bool
	InstallationOwner bool
}

// SignedIn is a new session. The token is never shown again.
type SignedIn struct {
	Token  string
	Device string // proves later that the browser has signed in before
	Me     Me
}

// hash returns the stored hash of a token. A fast hash is sufficient for 256 random bits.
func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Authenticate returns the administrator whose session has the token. It counts as a
// use of the session if used is set.
func (a *Accounts) Authenticate(ctx context.Context, token string, used bool) (lastmile.Principal, error) {
	if len(token) != tokenLength {
		return lastmile.Principal{}, identity.SignedOut()
	}
	now := a.Now()
	var (
		session identity.Session
		admin   lastmile.Admin
	)
	err := a.Store.Read(ctx, func(r Reader) (err error) {
		if session, err = r.AdminSession(ctx, hash(token)); err != nil {
			return err
		}
		if !session.Valid(now) {
			return identity.SignedOut()
		}
		admin, err = r.Admin(ctx, session.Organization, session.Admin)
		if lastmile.IsNotFound(err) {
			return identity.SignedOut()
		}
		return err
	})
	if err != nil {
		return lastmile.Principal{}, err
	}
	if used && session.Use(now) {
		err := a.Store.Write(ctx, func(w Writer) error {
			if _, err := w.AdminSession(ctx, session.Hash); err != nil { // the session may have ended meanwhile
				return err
			}
			return w.SaveAdminSession(ctx, session)
		})
		if err != nil {
			return lastmile.Principal{}, err
		}
	}
	return lastmile.Principal{
		Organization: admin.Organization, Admin: admin.ID, Role: lastmile.Role{Type: admin.Type, ReadOnly: admin.ReadOnly, Teams: admin.Teams},
		Session: lastmile.Session{Hash: session.Hash},
	}, nil
}

// start starts a session, which replaces the current one of the browser.
func (a *Accounts) start(ctx context.Context, w Writer, admin lastmile.Admin, account identity.Account, b Browser, now time.Time) (begun SignedIn, err error) {
	begun = SignedIn{Token: a.Random(tokenLength), Device: b.Device}
	if _, known := a.Vault.OpenDevice(accountOf(admin.Email), b.Device); !known {
		begun.Device = a.Vault.SealDevice(accountOf(admin.Email))
	}
	if len(b.Session) == tokenLength {
		if err := endStreams(ctx, w)(w.EndAdminSession(ctx, hash(b.Session))); err != nil {
			return begun, err
		}
	}
	err = w.SaveAdminSession(ctx, identity.Session{
		ID: a.NewID(), Hash: hash(begun.Token), Organization: admin.Organization, Admin: admin.ID, Created: now, Used: now,
		Agent: identity.ClipAgent(b.Agent), Address: b.Network,
	})
	if err != nil {
		return begun, err
	}
	if err := w.EndOldAdminSessions(ctx, admin.Organization, admin.ID, identity.MaxSessions); err != nil {
		return begun, err
	}
	begun.Me, err = describe(ctx, w, admin, account)
	return begun, err
}

// endStreams returns a function that passes on err and, if sessions have ended, ends their
// streams.
func endStreams(ctx context.Context, w Writer) func(ended bool, err error) error {
	return func(ended bool, err error) error {
		if err != nil || !ended {
			return err
		}
		return w.RaiseKeyGeneration(ctx)
	}
}

func describe(ctx context.Context, r Reader, admin lastmile.Admin, account identity.Account) (Me, error) {
	org, err := r.Organization(ctx, admin.Organization)
	if err != nil {
		return Me{}, err
	}
	ownership, err := r.InstallationOwner(ctx)
	return Me{
		Admin: admin, Organization: org, Language: account.Language, SecondFactor: account.Factor != nil, HasPassword: account.Hash != "",
		InstallationOwner: ownership.Owner == admin.ID,
	}, err
}

// Me returns the caller.
func (a *Accounts) Me(ctx context.Context, who lastmile.Principal) (me Me, err error) {
	err = a.Store.Read(ctx, func(r Reader) (err error) {
		me, err = read(ctx, r, who)
		return err
	})
	return me, err
}

// OwnerOfInstallation returns the caller, who must own the installation.
func (a *Accounts) OwnerOfInstallation(ctx context.Context, who lastmile.Principal) (Me, error) {
	me, err := a.Me(ctx, who)
	if err == nil && !me.InstallationOwner {
		err = lastmile.Forbidden("only the owner of the installation can do this").Because("ownerRequired")
	}
	return me, err
}

func read(ctx context.Context, r Reader, who lastmile.Principal) (Me, error) {
	admin, account, err := own(ctx, r, who)
	if err != nil {
		return Me{}, err
	}
	return describe(ctx, r, admin, account)
}

// own reads the caller's records.
func own(ctx context.Context, r Reader, who lastmile.Principal) (lastmile.Admin, identity.Account, error) {
	admin, err := r.Admin(ctx, who.Organization, who.Admin)
	if err != nil {
		return admin, identity.Account{}, err
	}
	account, err := r.AdminAccount(ctx, who.Organization, who.Admin)
	return admin, account, err
}

// Profile is a change of an administrator by that administrator. Nil fields stay unchanged.
type Profile struct {
	Name     *string
	Phone    *string // as dialed in the country of the organization; empty removes it
	Language *string
}

// Update changes the caller.
func (a *Accounts) Update(ctx context.Context, who lastmile.Principal, p Profile) (me Me, err error) {
	now := a.Now()
	if p.Language != nil {
		if err := identity.CheckLanguage("language", *p.Language); err != nil {
			return me, err
		}
	}
	err = a.Store.Write(ctx, func(w Writer) error {
		admin, account, err := own(ctx, w, who)
		if err != nil {
			return err
		}
		change := lastmile.AdminChange{Name: p.Name}
		if p.Phone != nil {
			if change.Phone, err = a.parsePhone(ctx, w, who, *p.Phone); err != nil {
				return err
			}
		}
		changed, err := admin.Update(change, now)
		if err != nil {
			return err
		}
		if changed {
			if err := w.SaveAdmin(ctx, admin); err != nil {
				return err
			}
		}
		if p.Language != nil && *p.Language != account.Language {
			account.Language = *p.Language
			if err := w.SaveAdminAccount(ctx, account); err != nil {
				return err
			}
		}
		me, err = describe(ctx, w, admin, account)
		return err
	})
	return me, err
}

func (a *Accounts) parsePhone(ctx context.Context, r Reader, who lastmile.Principal, typed string) (*lastmile.Phone, error) {
	if typed == "" {
		return new(lastmile.Phone), nil
	}
	org, err := r.Organization(ctx, who.Organization)
	if err != nil {
		return nil, err
	}
	phone, err := a.ParsePhone(typed, org.Country)
	return &phone, err
}

// Sessions returns the sessions of the caller, newest first.
func (a *Accounts) Sessions(ctx context.Context, who lastmile.Principal) (valid []identity.Session, err error) {
	now := a.Now()
	err = a.Store.Read(ctx, func(r Reader) error {
		all, err := r.AdminSessions(ctx, who.Organization, who.Admin)
		valid = nil
		for _, s := range all {
			if s.Valid(now) {
				valid = append(valid, s)
			}
		}
		return err
	})
	return valid, err
}

// SignOut ends the session with the token, if there is one.
func (a *Accounts) SignOut(ctx context.Context, token string) error {
	if len(token) != tokenLength {
		return nil
	}
	return a.Store.Write(ctx, func(w Writer) error { return endStreams(ctx, w)(w.EndAdminSession(ctx, hash(token))) })
}

// EndSession ends one of the caller's sessions.
func (a *Accounts) EndSession(ctx context.Context, who lastmile.Principal, id string) error {
	return a.Store.Write(ctx, func(w Writer) error {
		all, err := w.AdminSessions(ctx, who.Organization, who.Admin)
		if err != nil {
			return err
		}
		for _, s := range all {
			if s.ID == id {
				return endStreams(ctx, w)(w.EndAdminSession(ctx, s.Hash))
			}
		}
		return lastmile.NotFound("session", lastmile.Truncate(id, 64))
	})
}

// EndOtherSessions ends all sessions of the caller but the one of the request.
func (a *Accounts) EndOtherSessions(ctx context.Context, who lastmile.Principal) error {
	return a.Store.Write(ctx, func(w Writer) error {
		return endStreams(ctx, w)(w.EndAdminSessions(ctx, who.Organization, who.Admin, who.Session.Hash))
	})
}

// EndSessionsOf ends all sessions of an administrator of the caller's organization.
func (a *Accounts) EndSessionsOf(ctx context.Context, who lastmile.Principal, id lastmile.AdminID) error {
	return a.Store.Write(ctx, func(w Writer) error {
		if _, err := w.Admin(ctx, who.Organization, id); err != nil {
			return err
		}
		return endStreams(ctx, w)(w.EndAdminSessions(ctx, who.Organization, id, ""))
	})
}

// purgeBatch is the number of rows that one transaction deletes.
const purgeBatch = 500

// Purge deletes expired sessions, whose streams it ends, and expired links.
func (a *Accounts) Purge(ctx context.Context) error {
	for {
		var sessions, links int64
		err := a.Store.Write(ctx, func(w Writer) (err error) {
			now := a.Now()
			sessions, err = w.DeleteExpiredAdminSessions(ctx, now.Add(-identity.SessionIdle), now.Add(-identity.SessionLifetime), purgeBatch)
			if err = endStreams(ctx, w)(sessions > 0, err); err != nil {
				return err
			}
			links, err = w.DeleteExpiredLinks(ctx, now, purgeBatch)
			return err
		})
		if err != nil || max(sessions, links) < purgeBatch {
			return err
		}
	}
}
