package access

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Admins manages the administrators of organizations.
type Admins struct {
	Store      store.Transactor[Reader, Writer]
	Now        func() time.Time
	NewID      func() string
	ParsePhone func(raw, country string) (lastmile.Phone, error)
	// Invite invites a new administrator, in the transaction.
	Invite func(ctx context.Context, tx store.Transaction, admin lastmile.Admin) error
}

// AdminDraft is an administrator as sent, to create or to change one.
type AdminDraft struct {
	Change lastmile.AdminChange
	Phone  *string // as sent
	// Created runs in the transaction that creates the administrator; nil for nothing.
	Created func(ctx context.Context, tx store.Transaction, admin lastmile.Admin) error
}

// Create creates an administrator.
func (a *Admins) Create(ctx context.Context, who lastmile.Principal, draft AdminDraft) (lastmile.Admin, error) {
	id, now := lastmile.AdminID(a.NewID()), a.Now()
	return store.Idempotent(ctx, a.Store, who, func(w Writer) (lastmile.Admin, error) {
		change, err := a.change(ctx, w, who, draft)
		if err != nil {
			return lastmile.Admin{}, err
		}
		admin, err := lastmile.NewAdmin(id, who.Organization, change, now)
		if err != nil {
			return admin, err
		}
		if err := checkEmailFree(ctx, w, admin.Email, ""); err != nil {
			return admin, err
		}
		if err := w.SaveAdmin(ctx, admin); err != nil {
			return admin, err
		}
		if draft.Created != nil {
			if err := draft.Created(ctx, w, admin); err != nil {
				return admin, err
			}
		}
		return admin, a.Invite(ctx, w, admin)
	})
}

// Update changes an administrator.
func (a *Admins) Update(ctx context.Context, who lastmile.Principal, id lastmile.AdminID, draft AdminDraft) (admin lastmile.Admin, err error) {
	now := a.Now()
	err = a.Store.Write(ctx, func(w Writer) (err error) {
		if admin, err = w.Admin(ctx, who.Organization, id); err != nil {
			return err
		}
		change, err := a.change(ctx, w, who, draft)
		if err != nil {
			return err
		}
		before := admin
		changed, err := admin.Update(change, now)
		if err != nil || !changed {
			return err
		}
		if err := checkEmailFree(ctx, w, admin.Email, id); err != nil {
			return err
		}
		if admin.Type != before.Type || admin.ReadOnly != before.ReadOnly { // end streams with the former role
			if err := w.RaiseKeyGeneration(ctx); err != nil {
				return err
			}
		}
		return w.SaveAdmin(ctx, admin)
	})
	return admin, err
}

// Delete deletes an administrator.
func (a *Admins) Delete(ctx context.Context, who lastmile.Principal, id lastmile.AdminID) error {
	return a.Store.Write(ctx, func(w Writer) error {
		admin, err := w.Admin(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		if err := admin.CheckDelete(); err != nil {
			return err
		}
		return w.DeleteAdmin(ctx, who.Organization, id)
	})
}

// List returns the administrators that have all of the metadata entries.
func (a *Admins) List(ctx context.Context, who lastmile.Principal, metadata lastmile.Metadata) (admins []lastmile.Admin, err error) {
	err = a.Store.Read(ctx, func(r Reader) (err error) {
		admins, err = r.Admins(ctx, who.Organization, store.AdminFilter{Metadata: metadata})
		return err
	})
	return admins, err
}

func (a *Admins) change(ctx context.Context, r Reader, who lastmile.Principal, draft AdminDraft) (lastmile.AdminChange, error) {
	change := draft.Change
	if draft.Phone == nil {
		return change, nil
	}
	var phone lastmile.Phone
	if *draft.Phone != "" {
		org, err := r.Organization(ctx, who.Organization)
		if err != nil {
			return change, err
		}
		if phone, err = a.ParsePhone(*draft.Phone, org.Country); err != nil {
			return change, err
		}
	}
	change.Phone = &phone
	return change, nil
}

// checkEmailFree rejects an e-mail address that another administrator has, in any
// organization.
func checkEmailFree(ctx context.Context, r Reader, email string, self lastmile.AdminID) error {
	other, err := r.AdminByEmail(ctx, email)
	if lastmile.IsNotFound(err) {
		return nil
	}
	if err != nil || other.ID == self {
		return err
	}
	return lastmile.Duplicate("email", email)
}
