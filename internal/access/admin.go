package access

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Staff is the administrators of organizations.
type Staff struct {
	Store      store.Store
	Now        func() time.Time
	NewID      func() string
	ParsePhone func(raw, country string) (lastmile.Phone, error)
}

// AdminDraft is an administrator as sent, to create or to change one.
type AdminDraft struct {
	Change lastmile.AdminChange
	Phone  *string // as sent
}

// Create makes an administrator.
func (s *Staff) Create(ctx context.Context, who lastmile.Principal, draft AdminDraft) (lastmile.Admin, error) {
	id, now := lastmile.AdminID(s.NewID()), s.Now()
	return store.Idempotent(ctx, s.Store, who, func(w store.Writer) (lastmile.Admin, error) {
		change, err := s.change(ctx, w, who, draft)
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
		return admin, w.SaveAdmin(ctx, admin)
	})
}

// Update changes an administrator.
func (s *Staff) Update(ctx context.Context, who lastmile.Principal, id lastmile.AdminID, draft AdminDraft) (admin lastmile.Admin, err error) {
	now := s.Now()
	err = s.Store.Write(ctx, func(w store.Writer) (err error) {
		if admin, err = w.Admin(ctx, who.Organization, id); err != nil {
			return err
		}
		change, err := s.change(ctx, w, who, draft)
		if err != nil {
			return err
		}
		if err := admin.Update(change, now); err != nil {
			return err
		}
		if err := checkEmailFree(ctx, w, admin.Email, id); err != nil {
			return err
		}
		return w.SaveAdmin(ctx, admin)
	})
	return admin, err
}

// Delete removes an administrator.
func (s *Staff) Delete(ctx context.Context, who lastmile.Principal, id lastmile.AdminID) error {
	return s.Store.Write(ctx, func(w store.Writer) error {
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
func (s *Staff) List(ctx context.Context, who lastmile.Principal, metadata lastmile.Metadata) (admins []lastmile.Admin, err error) {
	err = s.Store.Read(ctx, func(r store.Reader) (err error) {
		admins, err = r.Admins(ctx, who.Organization, store.AdminFilter{Metadata: metadata})
		return err
	})
	return admins, err
}

func (s *Staff) change(ctx context.Context, r store.Reader, who lastmile.Principal, draft AdminDraft) (lastmile.AdminChange, error) {
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
		if phone, err = s.ParsePhone(*draft.Phone, org.Country); err != nil {
			return change, err
		}
	}
	change.Phone = &phone
	return change, nil
}

// checkEmailFree refuses an e-mail address that someone else signs in with, in
// whatever organization.
func checkEmailFree(ctx context.Context, r store.Reader, email string, self lastmile.AdminID) error {
	other, err := r.AdminByEmail(ctx, email)
	if lastmile.IsNotFound(err) {
		return nil
	}
	if err != nil || other.ID == self {
		return err
	}
	return lastmile.Duplicate("email", email)
}
