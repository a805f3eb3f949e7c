package wire

import (
	"bytes"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// Destination is a destination: the location where a task is carried out.
type Destination struct {
	// ID of the destination.
	ID lastmile.DestinationID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the destination was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the destination was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Location of the destination, as [longitude, latitude] in degrees.
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Address of the destination.
	Address Address `json:"address"`
	// Notes on the destination; empty if there are none.
	Notes string `json:"notes" example:"Loading dock on 33rd Street."`
	// Metadata of the destination: named values stored by integrations.
	Metadata Metadata `json:"metadata"`
	// Google place ID; null if Google did not find the location.
	GooglePlaceID *string `json:"googlePlaceId" example:"null"`
	// Differences between the requested address and the location that was found.
	Warnings []string `json:"warnings" example:"[]"`
	// Whether navigation uses the coordinates instead of the address.
	UseGPS bool `json:"useGPS"`
}

// NewDestination returns a destination in its wire form.
func NewDestination(d lastmile.Destination) Destination {
	address := Address(d.Address)
	address.County = ""
	return Destination{
		ID: d.ID, TimeCreated: Millis(d.Created), TimeLastModified: Millis(d.Modified),
		Location: LonLat(d.Location), Address: address, Notes: d.Notes, Metadata: NewMetadata(d.Metadata),
		GooglePlaceID: OrNull(d.GooglePlaceID), Warnings: OrEmpty(d.Warnings), UseGPS: d.UseGPS,
	}
}

// Domain returns the destination of an organization that the wire form represents.
func (d Destination) Domain(org lastmile.OrganizationID) lastmile.Destination {
	return lastmile.Destination{
		ID: d.ID, Organization: org, Created: d.TimeCreated.Time(), Modified: d.TimeLastModified.Time(),
		Location: d.Location.Point(), Address: lastmile.Address(d.Address), Notes: d.Notes, Metadata: d.Metadata.Domain(),
		GooglePlaceID: orZero(d.GooglePlaceID), Warnings: d.Warnings, UseGPS: d.UseGPS,
	}
}

// DestinationBody is a destination in a request.
type DestinationBody struct {
	// Address of the destination.
	Address *SentAddress `json:"address" required:"true"`
	// Location of the destination, as [longitude, latitude]. If it is sent, the address is not
	// geocoded.
	Location *LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Notes on the destination, at most 10,000 characters.
	Notes string `json:"notes" example:""`
	// Geocoding options.
	Options struct {
		// Language of the address, as a two-letter code.
		Language string `json:"language"`
	} `json:"options"`
	// Metadata of the destination.
	Metadata Metadata `json:"metadata"`
}

// Draft returns the destination to create.
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

// Address is an address in separate components.
type Address struct {
	// Name associated with the address. Absent if none was sent.
	Name string `json:"name,omitzero"`
	// House number, which may contain letters.
	Number string `json:"number" example:"350"`
	// Name of the street.
	Street string `json:"street" example:"5th Avenue"`
	// Apartment, suite or floor; empty if there is none.
	Apartment string `json:"apartment" example:""`
	// City.
	City string `json:"city" example:"New York"`
	// State, province or jurisdiction.
	State string `json:"state" example:"New York"`
	// Postal code.
	PostalCode string `json:"postalCode" example:"10118"`
	// County. Only for hubs.
	County string `json:"county,omitzero"`
	// Name of the country.
	Country string `json:"country" example:"United States"`
}

// AddressBody is an address in a request, either in separate components or in one line.
type AddressBody struct {
	// Name associated with the address.
	Name string `json:"name"`
	// House number, which may contain letters. Required unless a location or unparsed is sent.
	Number Text `json:"number"`
	// Name of the street. Required unless a location or unparsed is sent.
	Street string `json:"street"`
	// Apartment, suite or floor.
	Apartment Text `json:"apartment"`
	// City. Required unless unparsed is sent.
	City string `json:"city"`
	// State, province or jurisdiction.
	State string `json:"state"`
	// Postal code.
	PostalCode Text `json:"postalCode"`
	// Name of the country. Required unless unparsed is sent.
	Country string `json:"country" example:"US"`
	// The whole address in one line, with its elements separated by commas. All other components except
	// name and apartment are then ignored. Cannot be combined with a location.
	Unparsed string `json:"unparsed"`
}

// SentAddress is an address as it was sent. If it has an unparsed line, only the name and the
// apartment are decoded as well: other members are ignored, even if they are invalid.
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

// FoundAddress is an address that was found by a search.
type FoundAddress struct {
	// Location of the address, as [longitude, latitude] in degrees.
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// The address. Unknown parts are empty.
	Address Address `json:"address"`
	// The address on one line, for display.
	Line string `json:"line" example:"350 5th Avenue, New York, New York 10118, United States"`
	// Precision of the location: that of the house, the street, the postal code or the city.
	Precision string `json:"precision" enum:"house,street,postalCode,city" example:"house"`
	// APPROXIMATE if the location is not that of the address itself.
	Warnings []string `json:"warnings" example:"[]"`
	// Source of the address: streets for imported maps, gazetteer for the built-in list of cities.
	Source string `json:"source" example:"streets"`
}

// NewFoundAddresses returns addresses that a search found, in their wire form.
func NewFoundAddresses(found []lastmile.GeocodedAddress) []FoundAddress {
	all := make([]FoundAddress, len(found))
	for i, f := range found {
		address := Address(f.Address)
		address.County = ""
		all[i] = FoundAddress{
			Location: LonLat(f.Location), Address: address, Line: f.Address.Line(), Precision: f.Precision.String(), Warnings: OrEmpty(f.Warnings), Source: f.Source,
		}
	}
	return all
}
