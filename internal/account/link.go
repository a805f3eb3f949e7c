package account

import (
	"context"
	"time"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// linkPath is the page that opens one-time links. The token is in the fragment, which
// browsers send neither to the server nor in a Referer header.
const linkPath = "/dashboard/#/link/"

// Links creates, shows and uses one-time links.
type Links struct{ *Accounts }

// newLink saves a link and returns its URL.
func (a *Accounts) newLink(ctx context.Context, w Writer, kind identity.LinkKind, admin lastmile.Admin, dropFactor bool, now time.Time) (string, identity.Link, error) {
	token := a.Random(tokenLength)
	link := identity.NewLink(hash(token), kind, admin, now)
	link.DropFactor = dropFactor
	return a.URL + linkPath + token, link, w.SaveOneTimeLink(ctx, link, identity.MaxLinks)
}

// OpenedLink is the information that a link shows before it is used.
type OpenedLink struct {
	Kind         identity.LinkKind
	Name, Email  string
	Organization string
	SecondFactor bool // a code is required
}

// Open returns the purpose of a link without using it.
func (a Links) Open(ctx context.Context, token string) (shown OpenedLink, err error) {
	if err := checkToken(token); err != nil {
		return shown, err
	}
	now := a.Now()
	err = a.Store.Read(ctx, func(r Reader) error {
		found, err := findLink(ctx, r, token, now)
		if err != nil {
			return err
		}
		shown = OpenedLink{Kind: found.Kind, Name: found.admin.Name, Email: found.admin.Email, SecondFactor: found.needsCode()}
		if found.Kind == identity.Setup {
			return nil
		}
		org, err := r.Organization(ctx, found.Organization)
		shown.Organization = org.Name
		return err
	})
	return shown, err
}

func checkToken(token string) error {
	switch len(token) {
	case 0:
		return lastmile.Missing("token")
	case tokenLength:
		return nil
	}
	return identity.UnknownLink()
}

// foundLink is a valid link with the records of its administrator.
type foundLink struct {
	identity.Link
	admin   lastmile.Admin
	account identity.Account
}

// needsCode reports whether the link requires a code of the second factor. A link that signs
// in without a password replaces both.
func (l foundLink) needsCode() bool {
	return l.Kind == identity.Reset && l.account.Factor != nil && !l.DropFactor
}

// setsPassword reports whether the link sets the password.
func (l foundLink) setsPassword() bool { return l.Kind != identity.SignIn }

func findLink(ctx context.Context, r Reader, token string, now time.Time) (l foundLink, err error) {
	if l.Link, err = r.OneTimeLink(ctx, hash(token)); err != nil {
		return l, err
	}
	if l.Kind != identity.Setup {
		if l.admin, err = r.Admin(ctx, l.Organization, l.Admin); err != nil {
			return l, err
		}
		if l.account, err = r.AdminAccount(ctx, l.Organization, l.Admin); err != nil {
			return l, err
		}
	} else if done, err := r.HasOrganizations(ctx); done || err != nil {
		return l, orUnknown(err)
	}
	return l, l.Check(l.admin, now)
}

func orUnknown(err error) error {
	if err == nil {
		return identity.UnknownLink()
	}
	return err
}

// Acceptance is what a caller sends to use a link.
type Acceptance struct {
	Token    string
	Name     string // may be empty
	Password string // not for links that sign in
	Code     string // code of the second factor, if a password is reset
	Browser  Browser
}

// Accept uses a link: it sets the password, unless the link only signs in, and starts a
// session. The error for a wrong code is a *Failure.
func (a Links) Accept(ctx context.Context, by Acceptance) (begun SignedIn, err error) {
	found, err := a.checkAcceptance(ctx, by)
	if err != nil {
		return begun, err
	}
	begun, err = a.acceptFound(ctx, found, by)
	if found.needsCode() {
		err = attempted(found.Email, err)
	}
	return begun, err
}

func (a Links) acceptFound(ctx context.Context, found foundLink, by Acceptance) (begun SignedIn, err error) {
	t := throttle{network: by.Browser.Network, caller: "link " + found.Hash, known: true}
	if found.needsCode() { // limit attempts, because codes can be guessed
		t = a.throttle(found.Email, by.Browser)
		if err := a.admit(ctx, t); err != nil {
			return begun, err
		}
	}
	hashed := ""
	if found.setsPassword() {
		leave, err := a.enter(ctx, t)
		if err != nil {
			return begun, err
		}
		hashed = a.Passwords.Hash(by.Password)
		leave()
	}
	now := a.Now()
	if found.needsCode() {
		err = a.Store.Write(ctx, func(w Writer) error { return reserve(ctx, w, t, now) })
		if err != nil {
			return begun, err
		}
	}
	err = a.Store.Write(ctx, func(w Writer) (err error) {
		begun, err = a.accept(ctx, w, by, t, hashed, now)
		return err
	})
	if err != nil && found.needsCode() {
		return begun, a.failed(ctx, t, err)
	}
	return begun, err
}

// checkAcceptance rejects invalid values before they cost anything.
func (a Links) checkAcceptance(ctx context.Context, by Acceptance) (found foundLink, err error) {
	if err := checkToken(by.Token); err != nil {
		return found, err
	}
	if err := checkCode(by.Code); err != nil {
		return found, err
	}
	now := a.Now()
	err = a.Store.Read(ctx, func(r Reader) (err error) {
		found, err = findLink(ctx, r, by.Token, now)
		return err
	})
	switch {
	case err != nil:
		return found, err
	case found.Kind == identity.Setup:
		return found, lastmile.Invalid("token is that of a setup: POST /account/v1/setup takes it")
	case found.setsPassword():
		return found, identity.CheckPassword("password", by.Password, found.admin.Email)
	}
	return found, nil
}

func (a Links) accept(ctx context.Context, w Writer, by Acceptance, t throttle, hashed string, now time.Time) (begun SignedIn, err error) {
	found, err := findLink(ctx, w, by.Token, now) // the link may have been used meanwhile
	if err != nil {
		return begun, err
	}
	admin, account := found.admin, found.account
	if found.needsCode() {
		if err := a.acceptCode(ctx, w, &account, by.Code, now); err != nil {
			return begun, err
		}
		if err := rate.Restore(ctx, w, t.all, now); err != nil {
			return begun, err
		}
	}
	if err := w.DeleteOneTimeLinks(ctx, admin.Organization, admin.ID); err != nil { // this link and all others
		return begun, err
	}
	if found.setsPassword() {
		account.Hash = hashed
		if found.DropFactor {
			account.Factor, account.Pending = nil, nil
			if err := w.ReplaceRecoveryCodes(ctx, admin.Organization, admin.ID, nil); err != nil {
				return begun, err
			}
		}
		if err := endStreams(ctx, w)(w.EndAdminSessions(ctx, admin.Organization, admin.ID, "")); err != nil {
			return begun, err
		}
		if err := w.SaveAdminAccount(ctx, account); err != nil {
			return begun, err
		}
	}
	change := lastmile.AdminChange{}
	if by.Name != "" && found.Kind == identity.Invitation {
		change.Name = &by.Name
	}
	changed, err := admin.Update(change, now)
	if err != nil {
		return begun, err
	}
	if changed || !admin.Active {
		admin.Active = true
		if err := w.SaveAdmin(ctx, admin); err != nil {
			return begun, err
		}
	}
	if err := acceptOwnership(ctx, w, admin.ID); err != nil {
		return begun, err
	}
	return a.start(ctx, w, admin, account, by.Browser, now)
}

// Delivery describes how a link reaches an administrator.
type Delivery struct {
	Link    string // empty if it is mailed
	Expires time.Time
	Mailed  bool
}

// Invite invites an administrator of the caller's organization who has not accepted an
// invitation yet.
func (a Links) Invite(ctx context.Context, who lastmile.Principal, id lastmile.AdminID) (Delivery, error) {
	return a.deliver(ctx, who, id, identity.Invitation, false)
}

// Reset makes a link with which an administrator of the caller's organization chooses a new
// password. If dropFactor is set, it also removes the second factor, in case it was lost.
func (a Links) Reset(ctx context.Context, who lastmile.Principal, id lastmile.AdminID, dropFactor bool) (Delivery, error) {
	return a.deliver(ctx, who, id, identity.Reset, dropFactor)
}

func (a Links) deliver(ctx context.Context, who lastmile.Principal, id lastmile.AdminID, kind identity.LinkKind, dropFactor bool) (Delivery, error) {
	now := a.Now()
	return store.Idempotent(ctx, a.Store, who, func(w Writer) (d Delivery, err error) {
		admin, err := w.Admin(ctx, who.Organization, id)
		if err != nil {
			return d, err
		}
		kind := kind
		switch {
		case kind == identity.Invitation && admin.Active:
			return d, lastmile.Invalid("the administrator has accepted the invitation already; POST /admins/%s/reset makes a link for another password", id)
		case !admin.Active:
			kind = identity.Invitation
		}
		if a.Mailer != nil {
			mail := identity.Mail{Organization: admin.Organization, Kind: kind, Admin: admin.ID, DropFactor: dropFactor}
			err := a.enqueue(ctx, w, mail, now)
			return Delivery{Expires: identity.NewLink("", kind, admin, now).Expires, Mailed: true}, err
		}
		url, link, err := a.newLink(ctx, w, kind, admin, dropFactor, now)
		return Delivery{Link: url, Expires: link.Expires}, err
	})
}

// ForOperator makes a link for an administrator of any organization.
func (a Links) ForOperator(ctx context.Context, email string, kind identity.LinkKind, dropFactor bool) (lastmile.Admin, Delivery, error) {
	now := a.Now()
	var (
		admin lastmile.Admin
		url   string
		link  identity.Link
	)
	err := a.Store.Write(ctx, func(w Writer) (err error) {
		if admin, err = w.AdminByEmail(ctx, identity.Email(email)); err != nil {
			return err
		}
		made := kind
		if kind == identity.Reset && !admin.Active {
			made = identity.Invitation
		}
		url, link, err = a.newLink(ctx, w, made, admin, dropFactor, now)
		return err
	})
	return admin, Delivery{Link: url, Expires: link.Expires}, err
}

// InviteOwner makes a new administrator the owner of the installation as soon as they use a
// link, in the transaction that creates the administrator. The present owner remains until
// then: the invitation may never arrive.
func (a Links) InviteOwner(ctx context.Context, tx store.Transaction, admin lastmile.Admin) error {
	w, err := a.Store.Join(tx)
	if err != nil {
		return err
	}
	ownership, err := w.InstallationOwner(ctx)
	if err != nil {
		return err
	}
	ownership.Invited = admin.ID
	return w.SaveInstallationOwner(ctx, ownership)
}

// acceptOwnership makes an administrator the owner of the installation who was invited to be.
func acceptOwnership(ctx context.Context, w Writer, admin lastmile.AdminID) error {
	ownership, err := w.InstallationOwner(ctx)
	if err != nil || ownership.Invited != admin {
		return err
	}
	return w.SaveInstallationOwner(ctx, identity.Ownership{Owner: admin})
}
