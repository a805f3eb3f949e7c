package wire

import "dray/internal/lastmile"

// Organization is the organization that the API key belongs to.
type Organization struct {
	OrganizationRecord
	// IDs of the organizations that this organization is connected to.
	Delegatees []lastmile.OrganizationID `json:"delegatees" example:"b2Kf9sLqPw4Zx8Vn6Bm0Tc3R"`
}

// OrganizationRecord is an organization without its connections.
type OrganizationRecord struct {
	// ID of the organization.
	ID lastmile.OrganizationID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the organization was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the organization was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Name of the organization.
	Name string `json:"name" example:"Example Couriers"`
	// Email address of the organization.
	Email string `json:"email" example:"dispatch@example.com"`
	// Email address at which workers get support.
	DriverSupportEmail string `json:"driverSupportEmail" example:"drivers@example.com"`
	// Upload ID of the logo; null if there is none.
	Image *string `json:"image" example:"null"`
	// IANA time zone, such as America/New_York.
	Timezone string `json:"timezone" example:"America/New_York"`
	// Two-letter country code (ISO 3166-1). Phone numbers without a leading + are interpreted as
	// numbers of this country.
	Country string `json:"country" example:"US"`
}

// Delegatee is an organization, as organizations connected to it see it.
type Delegatee struct {
	// ID of the organization.
	ID lastmile.OrganizationID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Name of the organization.
	Name string `json:"name" example:"Example Kitchens"`
	// Email address of the organization.
	Email string `json:"email" example:"dispatch@example.com"`
	// Email address at which workers get support.
	DriverSupportEmail string `json:"driverSupportEmail" example:"drivers@example.com"`
	// IANA time zone, such as America/New_York.
	Timezone string `json:"timezone" example:"America/New_York"`
	// Two-letter country code (ISO 3166-1).
	Country string `json:"country" example:"US"`
	// Reserved; always false.
	IsFulfillment bool `json:"isFulfillment"`
}

// PageSettings are the settings of the tracking pages of an organization's recipients.
type PageSettings struct {
	// Phone number that recipients can call; null if there is none.
	Phone *string `json:"phone" example:"+12125550100"`
	// Color of links and buttons, as #rrggbb; null for the default. Pages use a darker or lighter shade
	// where it would be hard to read.
	Color *string `json:"color" example:"#0b6b50"`
	// Whether the recipient of a failed task may request another time. The request is the task's
	// metadata entry requestedTime.
	AllowNewTimes bool `json:"allowNewTimes" example:"true"`
}

// NewPageSettings returns the settings of tracking pages in their wire form.
func NewPageSettings(s lastmile.PageSettings) PageSettings {
	return PageSettings{Phone: OrNull(string(s.Phone)), Color: OrNull(s.Color), AllowNewTimes: s.NewTimes}
}

// PageSettingsBody is the body of a request to change the settings of tracking pages. Absent
// fields stay unchanged.
type PageSettingsBody struct {
	// Phone number that recipients can call; null removes it.
	Phone Optional[string] `json:"phone" example:"+12125550100"`
	// Color of links and buttons, as #rrggbb; null restores the default.
	Color Optional[string] `json:"color" example:"#0b6b50"`
	// Whether the recipient of a failed task may request another time.
	AllowNewTimes *bool `json:"allowNewTimes" example:"true"`
}

// Change returns the change that the body represents.
func (b PageSettingsBody) Change() lastmile.PageSettingsChange {
	return lastmile.PageSettingsChange{Phone: b.Phone.pointer(), Color: b.Color.pointer(), NewTimes: b.AllowNewTimes}
}

// NewOrganization returns an organization in its wire form.
func NewOrganization(o lastmile.Organization) Organization {
	return Organization{OrganizationRecord: NewOrganizationRecord(o), Delegatees: OrEmpty(o.Delegatees)}
}

// NewOrganizationRecord returns an organization without its connections.
func NewOrganizationRecord(o lastmile.Organization) OrganizationRecord {
	return OrganizationRecord{
		ID: o.ID, TimeCreated: Millis(o.Created), TimeLastModified: Millis(o.Modified), Name: o.Name, Email: o.Email,
		DriverSupportEmail: o.DriverSupportEmail, Image: OrNull(o.Image), Timezone: o.Timezone, Country: o.Country,
	}
}

// Domain returns the organization that the wire form represents.
func (r OrganizationRecord) Domain() lastmile.Organization {
	return lastmile.Organization{
		ID: r.ID, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(), Name: r.Name, Email: r.Email,
		DriverSupportEmail: r.DriverSupportEmail, Image: orZero(r.Image), Timezone: r.Timezone, Country: r.Country,
	}
}

// NewDelegatee returns an organization as organizations connected to it see it.
func NewDelegatee(d lastmile.Delegatee) Delegatee {
	return Delegatee{
		ID: d.ID, Name: d.Name, Email: d.Email, DriverSupportEmail: d.DriverSupportEmail,
		Timezone: d.Timezone, Country: d.Country,
	}
}

// Client is an organization that the caller's organization delivers for.
type Client struct {
	// ID of the client.
	ID lastmile.ClientID `json:"id" example:"Cq7RtV2mXz9LwKd4NbH8sPfJ"`
	// Unix time in milliseconds at which the client was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the client was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Name that the caller's organization gave the client; null until an invited organization accepts.
	Name *string `json:"name" example:"Example Kitchens"`
	// ID of the client's organization.
	Organization lastmile.OrganizationID `json:"organization" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Status of the client: pending until the organization accepts, then active.
	Status string `json:"status" example:"active" enum:"pending,active"`
	// Whether recipients see the name of the client instead of the courier's, for tasks without a
	// merchant.
	ShowClientName bool `json:"showClientName" example:"true"`
}

// NewClient is a client that was created.
type NewClient struct {
	Client
	// API key of the organization that was created for the client. It is shown only here. Absent if the
	// organization existed before.
	APIKey *string `json:"apiKey,omitzero" example:"dray_4vB9kQm2Xc7RtLw1Zs8Nf3Hj6Pd0Gy5Ta9Ue2Ko4Ib7VqCx"`
}

// NewClientBody is the body of a request to create a client: with a name to create an
// organization for it, or with the ID of an existing organization.
type NewClientBody struct {
	// ID of an existing organization, which has to accept. If absent, a new organization is created.
	Organization *lastmile.OrganizationID `json:"organization"`
	// Name of the client. Required for a new organization. Defaults to the name of the existing one.
	Name *string `json:"name" example:"Example Kitchens"`
	// Email address of the owner of the new organization.
	Email *string `json:"email" example:"orders@example.com"`
	// Email address at which workers of the new organization get support.
	DriverSupportEmail *string `json:"driverSupportEmail" example:"drivers@example.com"`
	// IANA time zone of the new organization. Defaults to that of the caller's organization.
	Timezone *string `json:"timezone" example:"America/New_York"`
	// Two-letter country code (ISO 3166-1) of the new organization. Defaults to that of the caller's
	// organization.
	Country *string `json:"country" example:"US"`
	// Whether recipients see the name of the client instead of the courier's, for tasks without a
	// merchant. Defaults to true.
	ShowClientName *bool `json:"showClientName" example:"true"`
}

// Draft returns the requested new organization.
func (b NewClientBody) Draft() lastmile.OrganizationDraft {
	return lastmile.OrganizationDraft{
		Name: orZero(b.Name), Email: orZero(b.Email), DriverSupportEmail: orZero(b.DriverSupportEmail),
		Timezone: orZero(b.Timezone), Country: orZero(b.Country),
	}
}

// ClientBody is the body of a request to update a client.
type ClientBody struct {
	// Name that the caller's organization gives the client.
	Name *string `json:"name" example:"Example Kitchens"`
	// Whether recipients see the name of the client instead of the courier's, for tasks without a
	// merchant.
	ShowClientName *bool `json:"showClientName" example:"true"`
}

// Invitation is an invitation of a courier that delivers, or offers to deliver, for the caller's
// organization.
type Invitation struct {
	// ID of the caller's organization as a client of the courier.
	ID lastmile.ClientID `json:"id" example:"Cq7RtV2mXz9LwKd4NbH8sPfJ"`
	// Unix time in milliseconds of the invitation.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds of the last change.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// ID of the courier's organization.
	Courier lastmile.OrganizationID `json:"courier" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Name of the courier.
	CourierName string `json:"courierName" example:"Example Couriers"`
	// Status of the invitation: pending until the caller's organization accepts, then active.
	Status string `json:"status" example:"pending" enum:"pending,active"`
	// Whether recipients see the name of the caller's organization instead of the courier's, for tasks
	// without a merchant.
	ShowClientName bool `json:"showClientName" example:"true"`
}

// InvitationBody is the body of a request of a client to change its settings with a courier.
type InvitationBody struct {
	// Whether recipients see the name of the caller's organization instead of the courier's, for tasks
	// without a merchant.
	ShowClientName *bool `json:"showClientName" example:"true"`
}

// Greeting is the response to a test of an API key.
type Greeting struct {
	// Message that contains the ID of the organization.
	Message string `json:"message" example:"Hello organization 'a8Jd0sKqLw3Zx7Vn5Bm1Tc9P' hitting Dray from 203.0.113.7"`
}

// Uploaded is an image that was uploaded.
type Uploaded struct {
	// ID of the upload, for signatureUploadId and photoUploadIds.
	UploadID lastmile.UploadID `json:"uploadId" example:"U7jK3lZx9CvB5nMq2WsD8fRt"`
}
