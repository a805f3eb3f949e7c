package wire

import (
	"bytes"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// Destination is a place where tasks are done.
type Destination struct {
	// Id of the record.
	ID lastmile.DestinationID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// When the record was created, in Unix milliseconds.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// [longitude, latitude] in degrees.
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// The address in parts.
	Address Address `json:"address"`
	// Free text; empty when none.
	Notes string `json:"notes" example:"Loading dock on 33rd Street."`
	// Values that integrations keep on the record.
	Metadata Metadata `json:"metadata"`
	// Google's id of the place; null when Google did not find it.
	GooglePlaceID *string `json:"googlePlaceId" example:"null"`
	// Where the place found differs from the address asked for.
	Warnings []string `json:"warnings" example:"[]"`
	// Navigate by the coordinates, not by the address.
	UseGPS bool `json:"useGPS"`
}

// NewDestination returns a destination in the form that is sent.
func NewDestination(d lastmile.Destination) Destination {
	address := Address(d.Address)
	address.County = ""
	return Destination{
		ID: d.ID, TimeCreated: Millis(d.Created), TimeLastModified: Millis(d.Modified),
		Location: LonLat(d.Location), Address: address, Notes: d.Notes, Metadata: NewMetadata(d.Metadata),
		GooglePlaceID: orNull(d.GooglePlaceID), Warnings: orEmpty(d.Warnings), UseGPS: d.UseGPS,
	}
}

// Domain returns the destination of an organization that the form shows.
func (d Destination) Domain(org lastmile.OrganizationID) lastmile.Destination {
	return lastmile.Destination{
		ID: d.ID, Organization: org, Created: d.TimeCreated.Time(), Modified: d.TimeLastModified.Time(),
		Location: d.Location.Point(), Address: lastmile.Address(d.Address), Notes: d.Notes, Metadata: d.Metadata.Domain(),
		GooglePlaceID: orZero(d.GooglePlaceID), Warnings: d.Warnings, UseGPS: d.UseGPS,
	}
}

// DestinationBody is a destination, as sent.
type DestinationBody struct {
	// The address in parts.
	Address *SentAddress `json:"address" required:"true"`
	// [longitude, latitude]. When sent, the address is not looked up.
	Location *LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Free text of at most 10,000 characters.
	Notes string `json:"notes" example:""`
	// How the address is looked up.
	Options struct {
		// Two letters: the language of the address.
		Language string `json:"language"`
	} `json:"options"`
	// Values to keep on the destination.
	Metadata Metadata `json:"metadata"`
}

// Draft returns what the request asks for.
func (b DestinationBody) Draft() lastmile.DestinationDraft {
	draft := lastmile.DestinationDraft{Notes: b.Notes, Language: b.Options.Language, Metadata: b.Metadata.Domain()}
	if b.Address != nil {
		address := b.Address.domain()
		draft.Address, draft.Unparsed = &address, b.Address.Unparsed
	}
	if b.Location != nil {
		point := b.Location.Point()
		draft.Location = &point
	}
	return draft
}

// Address is an address in parts.
type Address struct {
	// A name that goes with the address. Only if given.
	Name string `json:"name,omitzero"`
	// House number; may contain letters.
	Number string `json:"number" example:"350"`
	// Street.
	Street string `json:"street" example:"5th Avenue"`
	// Apartment, suite or floor; empty when none.
	Apartment string `json:"apartment" example:""`
	// City.
	City string `json:"city" example:"New York"`
	// State, province or jurisdiction.
	State string `json:"state" example:"New York"`
	// Postal code.
	PostalCode string `json:"postalCode" example:"10118"`
	// County. Hubs only.
	County string `json:"county,omitzero"`
	// Country name.
	Country string `json:"country" example:"United States"`
}

// AddressBody is an address, in parts or in one line.
type AddressBody struct {
	// A name that goes with the address.
	Name string `json:"name"`
	// House number; may contain letters. Required without a location or unparsed.
	Number Text `json:"number"`
	// Street. Required without a location or unparsed.
	Street string `json:"street"`
	// Apartment, suite or floor.
	Apartment Text `json:"apartment"`
	// City. Required without unparsed.
	City string `json:"city"`
	// State, province or jurisdiction.
	State string `json:"state"`
	// Postal code.
	PostalCode Text `json:"postalCode"`
	// Country name. Required without unparsed.
	Country string `json:"country" example:"US"`
	// The whole address in one line, elements separated by commas. Other parts are ignored then,
	// except name and apartment. Not together with a location.
	Unparsed string `json:"unparsed"`
}

// SentAddress is an address as it was sent. Next to an unparsed line, only a name and
// an apartment mean something: the rest is ignored, whatever it is.
type SentAddress AddressBody

// SchemaOf returns the body of an address, for documentation.
func (SentAddress) SchemaOf() any { return AddressBody{} }

// UnmarshalJSON implements json.Unmarshaler.
func (a *SentAddress) UnmarshalJSON(data []byte) error {
	if bytes.Contains(data, []byte(`"unparsed"`)) {
		var line struct {
			Unparsed  string `json:"unparsed"`
			Name      string `json:"name"`
			Apartment Text   `json:"apartment"`
		}
		if err := codec.DecodePart(data, &line); err != nil {
			return err
		}
		if line.Unparsed != "" {
			*a = SentAddress{Unparsed: line.Unparsed, Name: line.Name, Apartment: line.Apartment}
			return nil
		}
	}
	return codec.DecodePart(data, (*AddressBody)(a))
}

func (a SentAddress) domain() lastmile.Address {
	return lastmile.Address{
		Name: a.Name, Number: string(a.Number), Street: a.Street, Apartment: string(a.Apartment),
		City: a.City, State: a.State, PostalCode: string(a.PostalCode), Country: a.Country,
	}
}
