package access

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Organizations manages the organizations of an installation, their API keys and
// webhook secrets.
type Organizations struct {
	Store AccountStore
	Now   func() time.Time
	NewID func() string
	Vault Vault
}

// NewOrganization is a new organization with the secrets that are shown only once.
type NewOrganization struct {
	Organization  lastmile.Organization
	APIKey        string
	WebhookSecret string
}

// Create creates an organization with its first API key and its webhook secret,
// and with an account owner when the draft has an e-mail address.
func (o *Organizations) Create(ctx context.Context, draft lastmile.OrganizationDraft) (made NewOrganization, err error) {
	err = o.Store.Write(ctx, func(w Writer) (err error) {
		made, err = o.create(ctx, w, draft)
		return err
	})
	return made, err
}

// Open is Create in a transaction that another use case began. It returns the
// organization and its first API key.
func (o *Organizations) Open(ctx context.Context, tx store.Transaction, draft lastmile.OrganizationDraft) (lastmile.Organization, string, error) {
	w, err := o.Store.Join(tx)
	if err != nil {
		return lastmile.Organization{}, "", err
	}
	made, err := o.create(ctx, w, draft)
	return made.Organization, made.APIKey, err
}

func (o *Organizations) create(ctx context.Context, w Writer, draft lastmile.OrganizationDraft) (NewOrganization, error) {
	org, secret, err := o.found(ctx, w, draft)
	if err != nil {
		return NewOrganization{}, err
	}
	key, record := newKeyRecord(lastmile.KeyID(o.NewID()), org.ID, "first key", org.Created)
	if err := w.SaveKey(ctx, record); err != nil {
		return NewOrganization{}, err
	}
	if org.Email != "" {
		_, err = o.saveOwner(ctx, w, org, org.Name)
	}
	return NewOrganization{Organization: org, APIKey: key, WebhookSecret: secret}, err
}

// Found creates an organization, without an API key, in a transaction that another use case
// began. Its account owner gets the given name and the e-mail address of the draft.
func (o *Organizations) Found(ctx context.Context, tx store.Transaction, draft lastmile.OrganizationDraft, owner string) (lastmile.Organization, lastmile.Admin, error) {
	w, err := o.Store.Join(tx)
	if err != nil {
		return lastmile.Organization{}, lastmile.Admin{}, err
	}
	org, _, err := o.found(ctx, w, draft)
	if err != nil {
		return org, lastmile.Admin{}, err
	}
	admin, err := o.saveOwner(ctx, w, org, owner)
	return org, admin, err
}

// found saves an organization and its webhook secret, which it returns.
func (o *Organizations) found(ctx context.Context, w Writer, draft lastmile.OrganizationDraft) (lastmile.Organization, string, error) {
	now := o.Now()
	org, err := lastmile.NewOrganization(lastmile.OrganizationID(o.NewID()), draft, now)
	if err != nil {
		return org, "", err
	}
	secret, sealed := o.newWebhookSecret(org.ID, now)
	if err := w.SaveOrganization(ctx, org); err != nil {
		return org, "", err
	}
	return org, secret, w.SaveWebhookSecret(ctx, sealed)
}

func (o *Organizations) saveOwner(ctx context.Context, w Writer, org lastmile.Organization, name string) (lastmile.Admin, error) {
	kind := string(lastmile.AdminSuper)
	owner, err := lastmile.NewAdmin(lastmile.AdminID(o.NewID()), org.ID,
		lastmile.AdminChange{Name: &name, Email: &org.Email, Type: &kind}, org.Created)
	if err != nil {
		return owner, err
	}
	if err := checkEmailFree(ctx, w, owner.Email, ""); err != nil {
		return owner, err
	}
	owner.AccountOwner = true
	return owner, w.SaveAdmin(ctx, owner)
}

// List returns the organizations of the installation.
func (o *Organizations) List(ctx context.Context) (all []lastmile.Organization, err error) {
	err = o.Store.Read(ctx, func(r Reader) (err error) {
		all, err = r.Organizations(ctx)
		return err
	})
	return all, err
}

// Own returns the caller's organization.
func (o *Organizations) Own(ctx context.Context, who lastmile.Principal) (org lastmile.Organization, err error) {
	err = o.Store.Read(ctx, func(r Reader) (err error) {
		if org, err = r.Organization(ctx, who.Organization); err != nil {
			return err
		}
		org.Delegatees, err = r.Delegatees(ctx, org.ID)
		return err
	})
	return org, err
}

// Delegatee returns an organization with which the caller's is connected, or the caller's
// own.
func (o *Organizations) Delegatee(ctx context.Context, who lastmile.Principal, id lastmile.OrganizationID) (other lastmile.Delegatee, err error) {
	err = o.Store.Read(ctx, func(r Reader) error {
		org, err := r.Organization(ctx, id)
		if err != nil {
			return err
		}
		if id != who.Organization {
			connected, err := r.Connected(ctx, who.Organization, id)
			if err != nil {
				return err
			}
			if !connected {
				return lastmile.OutsideScope(string(id))
			}
		}
		other = lastmile.Delegatee(org)
		return nil
	})
	return other, err
}

// CheckReplay returns a *lastmile.Replay if the principal's request was done before.
func (o *Organizations) CheckReplay(ctx context.Context, who lastmile.Principal) error {
	return store.CheckReplay(ctx, o.Store, who)
}
