package wire

import "dray/internal/lastmile"

// Admin is an administrator.
type Admin struct {
	AdminRecord
	// IDs of the teams that the administrator manages.
	Teams []lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
}

// AdminRecord is the part of an administrator that changes only when a request changes it.
type AdminRecord struct {
	// ID of the administrator.
	ID lastmile.AdminID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the administrator was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the administrator was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// ID of the organization that owns the administrator.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Email address of the administrator.
	Email string `json:"email" example:"dispatch@example.com"`
	// Role of the administrator.
	Type lastmile.AdminType `json:"type"`
	// Name of the administrator.
	Name string `json:"name" example:"Grace Hopper"`
	// Phone number of the administrator, in international format. Absent if there is none.
	Phone lastmile.Phone `json:"phone,omitzero" example:"+12125550142"`
	// Whether the administrator has accepted the invitation.
	IsActive bool `json:"isActive" example:"true"`
	// Whether the administrator has read-only access.
	IsReadOnly bool `json:"isReadOnly"`
	// Whether the administrator owns the account. The owner cannot be deleted.
	IsAccountOwner bool `json:"isAccountOwner"`
	// Metadata of the administrator: named values stored by integrations.
	Metadata Metadata `json:"metadata"`
}

// NewAdmin returns an administrator in its wire form.
func NewAdmin(a lastmile.Admin) Admin {
	return Admin{AdminRecord: NewAdminRecord(a), Teams: OrEmpty(a.Teams)}
}

// NewAdminRecord returns the stored part of an administrator.
func NewAdminRecord(a lastmile.Admin) AdminRecord {
	return AdminRecord{
		ID: a.ID, TimeCreated: Millis(a.Created), TimeLastModified: Millis(a.Modified), Organization: a.Organization,
		Email: a.Email, Type: a.Type, Name: a.Name, Phone: a.Phone,
		IsActive: a.Active, IsReadOnly: a.ReadOnly, IsAccountOwner: a.AccountOwner, Metadata: NewMetadata(a.Metadata),
	}
}

// Domain returns the stored part of the administrator that the wire form represents.
func (r AdminRecord) Domain() lastmile.Admin {
	return lastmile.Admin{
		ID: r.ID, Organization: r.Organization, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(),
		Email: r.Email, Type: r.Type, Name: r.Name, Phone: r.Phone,
		Active: r.IsActive, ReadOnly: r.IsReadOnly, AccountOwner: r.IsAccountOwner, Metadata: r.Metadata.Domain(),
	}
}

// NewAdminBody is the body of a request to create an administrator.
type NewAdminBody struct {
	_ struct{} `required:"name,email"`
	AdminBody
}

// AdminBody is the body of a request to update an administrator.
type AdminBody struct {
	// Name of the administrator.
	Name *string `json:"name"`
	// Email address, stored in lower case. Unique among all administrators on the server.
	Email *string `json:"email" example:"dispatch@example.com"`
	// Phone number of the administrator, in any common format.
	Phone *string `json:"phone" example:"+12125550142"`
	// Role of the administrator. Defaults to standard.
	Type *string `json:"type" enum:"super,standard"`
	// Whether the administrator has read-only access.
	IsReadOnly *bool `json:"isReadOnly"`
	// Metadata of the administrator: an array replaces all entries; an object sets entries with $set
	// and removes entries by name with $pop.
	Metadata MetadataUpdate `json:"metadata"`
}

// Change returns the requested change without the phone number.
func (b AdminBody) Change() lastmile.AdminChange {
	return lastmile.AdminChange{
		Name: b.Name, Email: b.Email, Type: b.Type, ReadOnly: b.IsReadOnly, Metadata: b.Metadata.Domain(),
	}
}

// ResetAdminBody is the body of a request to reset the password of an administrator.
type ResetAdminBody struct {
	// Whether the link also removes the administrator's second factor, for example because it was lost.
	RemoveSecondFactor bool `json:"removeSecondFactor" example:"false"`
}

// AdminLink is a one-time link for an administrator.
type AdminLink struct {
	// URL to give to the administrator, which is shown only here; null if the link is sent by e-mail.
	Link *string `json:"link" example:"https://dray.example.com/dashboard/#/link/q8Jd0sKqLw3Zx7Vn5Bm1Tc9PZx7Vn5Bm1Tc9PZx7Vn"`
	// Unix time in milliseconds at which the link expires.
	Expires Millis `json:"expires" example:"1767830400000"`
	// Whether the link is sent to the e-mail address of the administrator.
	Sent bool `json:"sent" example:"false"`
}
