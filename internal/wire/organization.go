package wire

import "dray/internal/lastmile"

// Organization is the caller's organization as the interface shows it.
type Organization struct {
	OrganizationRecord
	Delegatees []lastmile.OrganizationID `json:"delegatees"`
}

// OrganizationRecord is an organization without its connections.
type OrganizationRecord struct {
	ID                 lastmile.OrganizationID `json:"id"`
	TimeCreated        Millis                  `json:"timeCreated"`
	TimeLastModified   Millis                  `json:"timeLastModified"`
	Name               string                  `json:"name"`
	Email              string                  `json:"email"`
	DriverSupportEmail string                  `json:"driverSupportEmail"`
	Image              *string                 `json:"image"` // null when none
	Timezone           string                  `json:"timezone"`
	Country            string                  `json:"country"`
}

// Delegatee is an organization as its connections see it.
type Delegatee struct {
	ID                 lastmile.OrganizationID `json:"id"`
	Name               string                  `json:"name"`
	Email              string                  `json:"email"`
	DriverSupportEmail string                  `json:"driverSupportEmail"`
	Timezone           string                  `json:"timezone"`
	Country            string                  `json:"country"`
	IsFulfillment      bool                    `json:"isFulfillment"`
}

// NewOrganization returns an organization in the form that is sent.
func NewOrganization(o lastmile.Organization) Organization {
	return Organization{OrganizationRecord: NewOrganizationRecord(o), Delegatees: orEmpty(o.Delegatees)}
}

// NewOrganizationRecord returns an organization without its connections.
func NewOrganizationRecord(o lastmile.Organization) OrganizationRecord {
	return OrganizationRecord{
		ID: o.ID, TimeCreated: Millis(o.Created), TimeLastModified: Millis(o.Modified), Name: o.Name, Email: o.Email,
		DriverSupportEmail: o.DriverSupportEmail, Image: orNull(o.Image), Timezone: o.Timezone, Country: o.Country,
	}
}

// Domain returns the organization that the form shows.
func (r OrganizationRecord) Domain() lastmile.Organization {
	return lastmile.Organization{
		ID: r.ID, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(), Name: r.Name, Email: r.Email,
		DriverSupportEmail: r.DriverSupportEmail, Image: orZero(r.Image), Timezone: r.Timezone, Country: r.Country,
	}
}

// NewDelegatee returns an organization as its connections see it.
func NewDelegatee(d lastmile.Delegatee) Delegatee {
	return Delegatee{
		ID: d.ID, Name: d.Name, Email: d.Email, DriverSupportEmail: d.DriverSupportEmail,
		Timezone: d.Timezone, Country: d.Country,
	}
}

// Greeting is the answer to a test of a key.
type Greeting struct {
	Message string `json:"message"`
}
