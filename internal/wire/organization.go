package wire

import "dray/internal/lastmile"

// Organization is the organization of the API key.
type Organization struct {
	OrganizationRecord
	// Ids of the organizations that this one is connected to.
	Delegatees []lastmile.OrganizationID `json:"delegatees" example:"b2Kf9sLqPw4Zx8Vn6Bm0Tc3R"`
}

// OrganizationRecord is an organization without its connections.
type OrganizationRecord struct {
	// Id of the record.
	ID lastmile.OrganizationID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// When the record was created, in Unix milliseconds.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Name.
	Name string `json:"name" example:"Example Couriers"`
	// E-mail address.
	Email string `json:"email" example:"dispatch@example.com"`
	// Where workers write for help.
	DriverSupportEmail string `json:"driverSupportEmail" example:"drivers@example.com"`
	// Upload id of the logo; null when there is none.
	Image *string `json:"image" example:"null"`
	// IANA time zone, such as America/New_York.
	Timezone string `json:"timezone" example:"America/New_York"`
	// Two-letter country code (ISO 3166-1). Phone numbers without a + are read as numbers of this
	// country.
	Country string `json:"country" example:"US"`
}

// Delegatee is a connected organization, as its connections see it.
type Delegatee struct {
	// Id of the record.
	ID lastmile.OrganizationID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Name.
	Name string `json:"name" example:"Example Kitchens"`
	// E-mail address.
	Email string `json:"email" example:"dispatch@example.com"`
	// Where workers write for help.
	DriverSupportEmail string `json:"driverSupportEmail" example:"drivers@example.com"`
	// IANA time zone, such as America/New_York.
	Timezone string `json:"timezone" example:"America/New_York"`
	// Two-letter country code (ISO 3166-1).
	Country string `json:"country" example:"US"`
	// Reserved; false.
	IsFulfillment bool `json:"isFulfillment"`
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

// Greeting is the response to a test of a key.
type Greeting struct {
	// A sentence that contains the organization's id.
	Message string `json:"message" example:"Hello organization 'a8Jd0sKqLw3Zx7Vn5Bm1Tc9P' hitting Dray from 203.0.113.7"`
}
