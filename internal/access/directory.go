package access

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Directory holds the organizations of an installation and the keys that open
// them.
type Directory struct {
	Store store.Store
	Now   func() time.Time
	NewID func() string
	Vault Vault
}

// NewOrganization is an organization just made, with what is shown only once.
type NewOrganization struct {
	Organization  lastmile.Organization
	APIKey        string
	WebhookSecret string
}

// Create makes an organization with its first API key and its webhook secret,
// and with an account owner when the draft has an e-mail address.
func (d *Directory) Create(ctx context.Context, draft lastmile.OrganizationDraft) (NewOrganization, error) {
	now := d.Now()
	org, err := lastmile.NewOrganization(lastmile.OrganizationID(d.NewID()), draft, now)
	if err != nil {
		return NewOrganization{}, err
	}
	key, record := d.newKey(org.ID, "first key", now)
	secret, sealed := d.newWebhookSecret(org.ID, now)
	err = d.Store.Write(ctx, func(w store.Writer) error {
		if err := w.SaveOrganization(ctx, org); err != nil {
			return err
		}
		if err := w.SaveKey(ctx, record); err != nil {
			return err
		}
		if err := w.SaveWebhookSecret(ctx, sealed); err != nil {
			return err
		}
		if org.Email == "" {
			return nil
		}
		return d.saveOwner(ctx, w, org)
	})
	return NewOrganization{Organization: org, APIKey: key, WebhookSecret: secret}, err
}

func (d *Directory) saveOwner(ctx context.Context, w store.Writer, org lastmile.Organization) error {
	kind := string(lastmile.AdminSuper)
	owner, err := lastmile.NewAdmin(lastmile.AdminID(d.NewID()), org.ID,
		lastmile.AdminChange{Name: &org.Name, Email: &org.Email, Type: &kind}, org.Created)
	if err != nil {
		return err
	}
	if err := checkEmailFree(ctx, w, owner.Email, ""); err != nil {
		return err
	}
	owner.AccountOwner = true
	return w.SaveAdmin(ctx, owner)
}

// Connect lets two organizations work for each other.
func (d *Directory) Connect(ctx context.Context, one, other lastmile.OrganizationID) error {
	if one == other {
		return lastmile.Invalid("an organization cannot be connected with itself")
	}
	return d.Store.Write(ctx, func(w store.Writer) error {
		for _, pair := range [][2]lastmile.OrganizationID{{one, other}, {other, one}} {
			if _, err := w.Organization(ctx, pair[0]); err != nil {
				return err
			}
			if err := w.Connect(ctx, pair[0], pair[1]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Organizations lists the organizations of the installation.
func (d *Directory) Organizations(ctx context.Context) (all []lastmile.Organization, err error) {
	err = d.Store.Read(ctx, func(r store.Reader) (err error) {
		all, err = r.Organizations(ctx)
		return err
	})
	return all, err
}

// Organization reads the caller's own organization.
func (d *Directory) Organization(ctx context.Context, who lastmile.Principal) (org lastmile.Organization, err error) {
	err = d.Store.Read(ctx, func(r store.Reader) (err error) {
		org, err = r.Organization(ctx, who.Organization)
		return err
	})
	return org, err
}

// Delegatee reads an organization that the caller is connected with, or its
// own.
func (d *Directory) Delegatee(ctx context.Context, who lastmile.Principal, id lastmile.OrganizationID) (other lastmile.Delegatee, err error) {
	err = d.Store.Read(ctx, func(r store.Reader) error {
		own, err := r.Organization(ctx, who.Organization)
		if err != nil {
			return err
		}
		org, err := r.Organization(ctx, id)
		if err != nil {
			return err
		}
		if !own.MaySee(id) {
			return lastmile.OutsideScope(string(id))
		}
		other = lastmile.Delegatee(org)
		return nil
	})
	return other, err
}

// CreateKey makes a further API key and returns it: it is never shown again.
func (d *Directory) CreateKey(ctx context.Context, org lastmile.OrganizationID, name string) (string, lastmile.APIKey, error) {
	key, record := d.newKey(org, name, d.Now())
	err := d.Store.Write(ctx, func(w store.Writer) error {
		if _, err := w.Organization(ctx, org); err != nil {
			return err
		}
		return w.SaveKey(ctx, record)
	})
	return key, record, err
}

// Keys lists an organization's API keys.
func (d *Directory) Keys(ctx context.Context, org lastmile.OrganizationID) (keys []lastmile.APIKey, err error) {
	err = d.Store.Read(ctx, func(r store.Reader) (err error) {
		if _, err = r.Organization(ctx, org); err != nil {
			return err
		}
		keys, err = r.Keys(ctx, org)
		return err
	})
	return keys, err
}

// RevokeKey makes a key useless. Revoking it again changes nothing. Nodes go
// by it within MaxKeyAge, and normally at once.
func (d *Directory) RevokeKey(ctx context.Context, org lastmile.OrganizationID, id lastmile.KeyID) error {
	return d.Store.Write(ctx, func(w store.Writer) error {
		keys, err := w.Keys(ctx, org)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if key.ID != id {
				continue
			}
			if !key.Active() {
				return nil
			}
			key.Revoked = d.Now()
			if err := w.SaveKey(ctx, key); err != nil {
				return err
			}
			return w.RaiseKeyGeneration(ctx)
		}
		return lastmile.NotFound("API key", string(id))
	})
}

func (d *Directory) newKey(org lastmile.OrganizationID, name string, now time.Time) (string, lastmile.APIKey) {
	key := newKey(RandomSecret(keyRandom))
	return key, lastmile.APIKey{
		ID: lastmile.KeyID(d.NewID()), Organization: org, Name: name,
		Hint: key[len(key)-4:], Hash: hashKey(key).String(), Created: now,
	}
}

// CheckReplay returns a *lastmile.Replay if the principal's request was done
// before.
func (d *Directory) CheckReplay(ctx context.Context, who lastmile.Principal) error {
	return store.CheckReplay(ctx, d.Store, who)
}

// SaveReply saves the reply to a request that changed nothing, for the
// principal's idempotency key.
func (d *Directory) SaveReply(ctx context.Context, who lastmile.Principal, reply []byte) error {
	return store.SaveReply(ctx, d.Store, who, reply)
}
