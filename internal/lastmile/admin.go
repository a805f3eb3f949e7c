package lastmile

import (
	"slices"
	"strings"
	"time"
)

// AdminType is the role of an administrator.
type AdminType string

// The types of administrators.
const (
	AdminSuper    AdminType = "super"
	AdminStandard AdminType = "standard"
)

// Admin is an administrator: a user of the dashboard.
type Admin struct {
	ID                AdminID
	Organization      OrganizationID
	Created, Modified time.Time
	Name              string
	Email             string
	Phone             Phone // may be empty
	Type              AdminType
	Active            bool // has accepted the invitation
	ReadOnly          bool
	AccountOwner      bool
	Metadata          Metadata

	Teams []TeamID
}

// AdminChange is an update of an administrator. Nil fields stay unchanged.
type AdminChange struct {
	Name     *string
	Email    *string
	Phone    *Phone
	Type     *string
	ReadOnly *bool
	Metadata MetadataChange
}

// NewAdmin returns an administrator who has yet to accept the invitation.
func NewAdmin(id AdminID, org OrganizationID, c AdminChange, now time.Time) (Admin, error) {
	switch {
	case c.Name == nil:
		return Admin{}, Missing("name")
	case c.Email == nil:
		return Admin{}, Missing("email")
	}
	a := Admin{ID: id, Organization: org, Created: now, Type: AdminStandard}
	_, err := a.Update(c, now)
	return a, err
}

// Update applies a change and reports whether the administrator is different now.
func (a *Admin) Update(c AdminChange, now time.Time) (changed bool, err error) {
	before := *a
	metadata, err := a.Metadata.Apply(c.Metadata)
	if err != nil {
		return false, err
	}
	a.Metadata = metadata
	Set(&a.Name, c.Name)
	Set(&a.Phone, c.Phone)
	Set(&a.ReadOnly, c.ReadOnly)
	if c.Email != nil {
		a.Email = strings.ToLower(strings.TrimSpace(*c.Email))
	}
	if c.Type != nil {
		a.Type = AdminType(*c.Type)
	}
	if !slices.Contains([]AdminType{AdminSuper, AdminStandard}, a.Type) {
		return false, Invalid("type must be super or standard, not %q", Truncate(string(a.Type), MaxShown))
	}
	if a.AccountOwner && (a.Type != before.Type && a.Type != AdminSuper || a.ReadOnly && !before.ReadOnly) {
		return false, Invalid("the owner of the account keeps all rights: type must be super and isReadOnly false")
	}
	return touch(&a.Modified, before, *a, now), FirstError(
		RequireText("name", a.Name),
		RequireText("email", a.Email),
		checkEmail("email", a.Email),
	)
}

// CheckDelete rejects deleting the owner of the account.
func (a Admin) CheckDelete() error {
	if a.AccountOwner {
		return Invalid("the owner of the account cannot be deleted")
	}
	return nil
}
