package wire

import "dray/internal/lastmile"

// Admin is an administrator as the interface shows it.
type Admin struct {
	AdminRecord
	Teams []lastmile.TeamID `json:"teams"`
}

// AdminRecord is the part of an administrator that only requests change.
type AdminRecord struct {
	ID               lastmile.AdminID        `json:"id"`
	TimeCreated      Millis                  `json:"timeCreated"`
	TimeLastModified Millis                  `json:"timeLastModified"`
	Organization     lastmile.OrganizationID `json:"organization"`
	Email            string                  `json:"email"`
	Type             lastmile.AdminType      `json:"type"`
	Name             string                  `json:"name"`
	Phone            lastmile.Phone          `json:"phone,omitzero"` // only if given
	IsActive         bool                    `json:"isActive"`
	IsReadOnly       bool                    `json:"isReadOnly"`
	IsAccountOwner   bool                    `json:"isAccountOwner"`
	Metadata         Metadata                `json:"metadata"`
}

// NewAdmin returns an administrator in the form that is sent.
func NewAdmin(a lastmile.Admin) Admin {
	return Admin{AdminRecord: NewAdminRecord(a), Teams: orEmpty(a.Teams)}
}

// NewAdminRecord returns the lasting part of an administrator.
func NewAdminRecord(a lastmile.Admin) AdminRecord {
	return AdminRecord{
		ID: a.ID, TimeCreated: Millis(a.Created), TimeLastModified: Millis(a.Modified), Organization: a.Organization,
		Email: a.Email, Type: a.Type, Name: a.Name, Phone: a.Phone,
		IsActive: a.Active, IsReadOnly: a.ReadOnly, IsAccountOwner: a.AccountOwner, Metadata: NewMetadata(a.Metadata),
	}
}

// Domain returns the lasting part of the administrator that the form shows.
func (r AdminRecord) Domain() lastmile.Admin {
	return lastmile.Admin{
		ID: r.ID, Organization: r.Organization, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(),
		Email: r.Email, Type: r.Type, Name: r.Name, Phone: r.Phone,
		Active: r.IsActive, ReadOnly: r.IsReadOnly, AccountOwner: r.IsAccountOwner, Metadata: r.Metadata.Domain(),
	}
}

// AdminBody is an administrator in a request.
type AdminBody struct {
	Name       *string        `json:"name"`
	Email      *string        `json:"email"`
	Phone      *string        `json:"phone"`
	Type       *string        `json:"type"`
	IsReadOnly *bool          `json:"isReadOnly"`
	Metadata   MetadataUpdate `json:"metadata"`
}

// Change returns what the request asks for, but for the phone number.
func (b AdminBody) Change() lastmile.AdminChange {
	return lastmile.AdminChange{
		Name: b.Name, Email: b.Email, Type: b.Type, ReadOnly: b.IsReadOnly, Metadata: b.Metadata.Domain(),
	}
}
