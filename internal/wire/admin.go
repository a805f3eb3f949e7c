package wire

import "dray/internal/lastmile"

// Admin is an administrator.
type Admin struct {
	AdminRecord
	// Ids of the teams that the administrator manages.
	Teams []lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
}

// AdminRecord is the part of an administrator that only requests change.
type AdminRecord struct {
	// Id of the record.
	ID lastmile.AdminID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// When the record was created, in Unix milliseconds.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Id of the organization that owns the record.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// E-mail address.
	Email string `json:"email" example:"dispatch@example.com"`
	// What the administrator may do.
	Type lastmile.AdminType `json:"type"`
	// Name.
	Name string `json:"name" example:"Grace Hopper"`
	// Phone number in international form. Only if one was given.
	Phone lastmile.Phone `json:"phone,omitzero" example:"+12125550142"`
	// Whether the administrator has accepted the invitation.
	IsActive bool `json:"isActive" example:"true"`
	// Whether the administrator may read, but not change anything.
	IsReadOnly bool `json:"isReadOnly"`
	// Owns the account, and cannot be deleted.
	IsAccountOwner bool `json:"isAccountOwner"`
	// Values that integrations keep on the record.
	Metadata Metadata `json:"metadata"`
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

// NewAdminBody is an administrator, as sent.
type NewAdminBody struct {
	_ struct{} `required:"name,email"`
	AdminBody
}

// AdminBody is an administrator, as sent.
type AdminBody struct {
	// Name.
	Name *string `json:"name"`
	// E-mail address, kept in lower case. No other administrator on the server may have it.
	Email *string `json:"email" example:"dispatch@example.com"`
	// Phone number in any usual form.
	Phone *string `json:"phone" example:"+12125550142"`
	// What the administrator may do; default standard.
	Type *string `json:"type" enum:"super,standard"`
	// Whether the administrator may read, but not change anything.
	IsReadOnly *bool `json:"isReadOnly"`
	// An array takes the place of all entries; an object sets entries with $set and removes them by
	// name with $pop.
	Metadata MetadataUpdate `json:"metadata"`
}

// Change returns what the request asks for, but for the phone number.
func (b AdminBody) Change() lastmile.AdminChange {
	return lastmile.AdminChange{
		Name: b.Name, Email: b.Email, Type: b.Type, ReadOnly: b.IsReadOnly, Metadata: b.Metadata.Domain(),
	}
}
