package account

import (
	"context"

	"dray/internal/identity"
	"dray/internal/lastmile"
)

// NeedsSetup reports whether the installation has no organization yet.
func (a Links) NeedsSetup(ctx context.Context) (needed bool, err error) {
	err = a.Store.Read(ctx, func(r Reader) error {
		done, err := r.HasOrganizations(ctx)
		needed = !done
		return err
	})
	return needed, err
}

// SetupLink returns a new link that creates the first organization, or "" if there is an
// organization. Links of earlier starts and of other nodes stay valid.
func (a Links) SetupLink(ctx context.Context) (url string, err error) {
	needed, err := a.NeedsSetup(ctx)
	if err != nil || !needed {
		return "", err
	}
	err = a.Store.Write(ctx, func(w Writer) error {
		url = ""
		if done, err := w.HasOrganizations(ctx); done || err != nil {
			return err
		}
		url, _, err = a.newLink(ctx, w, identity.Setup, lastmile.Admin{}, false, a.Now())
		return err
	})
	return url, err
}

// SetupDraft is the first organization and its first administrator.
type SetupDraft struct {
	Token           string
	Organization    lastmile.OrganizationDraft
	Name            string
	Email, Password string
	Language        string
	Browser         Browser
}

// checkSetup rejects invalid values before they cost anything.
func (a Links) checkSetup(ctx context.Context, d SetupDraft) error {
	if err := checkToken(d.Token); err != nil {
		return err
	}
	now := a.Now()
	err := a.Store.Read(ctx, func(r Reader) error {
		found, err := findLink(ctx, r, d.Token, now)
		if err == nil && found.Kind != identity.Setup {
			err = lastmile.Invalid("token is not that of a setup: POST /account/v1/link/accept takes it")
		}
		return err
	})
	if err != nil {
		return err
	}
	if !a.KnownCountry(d.Organization.Country) {
		return lastmile.Invalid("organization.country must be a two-letter country code (ISO 3166-1) such as US, not %q", lastmile.Truncate(d.Organization.Country, 32))
	}
	if _, err := lastmile.NewOrganization("", d.Organization, now); err != nil {
		return lastmile.Within("organization.", err)
	}
	kind := string(lastmile.AdminSuper)
	if _, err := lastmile.NewAdmin("", "", lastmile.AdminChange{Name: &d.Name, Email: &d.Email, Type: &kind}, now); err != nil {
		return err
	}
	if err := identity.CheckLanguage("language", d.Language); err != nil {
		return err
	}
	return identity.CheckPassword("password", d.Password, identity.Email(d.Email))
}

// Setup creates the first organization and its first administrator, who owns the
// installation and is signed in.
func (a Links) Setup(ctx context.Context, d SetupDraft) (begun SignedIn, err error) {
	if err := a.checkSetup(ctx, d); err != nil {
		return begun, err
	}
	leave, err := a.enter(ctx, throttle{caller: "setup", known: true})
	if err != nil {
		return begun, err
	}
	hashed := a.Passwords.Hash(d.Password)
	leave()
	d.Organization.Email = identity.Email(d.Email)
	err = a.Store.Write(ctx, func(w Writer) (err error) {
		begun, err = a.found(ctx, w, d, hashed)
		return err
	})
	return begun, err
}

func (a Links) found(ctx context.Context, w Writer, d SetupDraft, hashed string) (begun SignedIn, err error) {
	now := a.Now()
	if _, err := findLink(ctx, w, d.Token, now); err != nil { // another setup may have been faster
		return begun, err
	}
	org, admin, err := a.Organizations.Found(ctx, w, d.Organization, d.Name)
	if err != nil {
		return begun, err
	}
	if err := w.DeleteOneTimeLinks(ctx, "", ""); err != nil {
		return begun, err
	}
	account := identity.Account{Organization: org.ID, Admin: admin.ID, Hash: hashed, Language: d.Language}
	admin.Active = true
	if err := w.SaveAdmin(ctx, admin); err != nil {
		return begun, err
	}
	if err := w.SaveAdminAccount(ctx, account); err != nil {
		return begun, err
	}
	if err := w.SaveInstallationOwner(ctx, identity.Ownership{Owner: admin.ID}); err != nil {
		return begun, err
	}
	return a.start(ctx, w, admin, account, d.Browser, now)
}
