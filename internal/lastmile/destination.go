package lastmile

import (
	"cmp"
	"regexp"
	"time"
)

// Destination is a place tasks are done at. It never changes: a new place is a
// new destination.
type Destination struct {
	ID                DestinationID
	Organization      OrganizationID
	Created, Modified time.Time
	Location          Point
	Address           Address
	Notes             string
	Metadata          Metadata
	GooglePlaceID     string
	Warnings          []string
	UseGPS            bool // navigate by the coordinates, not by the address
	WasGeocoded       bool
}

// DestinationDraft is what a destination is made from.
type DestinationDraft struct {
	Address  *Address // nil when none was sent
	Unparsed string   // the whole address in one line, instead of its parts
	Location *Point   // nil when none was sent
	Notes    string
	Language string
	Metadata Metadata
}

var languageForm = regexp.MustCompile(`^[A-Za-z]{2}$`)

// Check applies the rules of the interface, "POST /destinations". field names
// the draft in messages: "" for the request itself, else a prefix such as
// "destination.".
func (d DestinationDraft) Check(field string) error {
	address := field + "address"
	if d.Address == nil {
		return Missing(address)
	}
	if d.Language != "" && !languageForm.MatchString(d.Language) {
		return Invalid("%soptions.language must be two letters, not %q", field, d.Language)
	}
	err := firstError(
		d.Address.check(address),
		CheckText(address+".unparsed", d.Unparsed, MaxText),
		CheckText(field+"notes", d.Notes, MaxNotes),
		d.Metadata.Validate(field+"metadata"),
	)
	switch {
	case err != nil:
		return err
	case d.Unparsed != "" && d.Location != nil:
		return Invalid("%s.unparsed cannot be combined with %slocation: send the address in parts, or leave the location out", address, field)
	case d.Unparsed != "":
		return nil
	case d.Location != nil:
		return d.Address.require(address, "city", "country")
	}
	return d.Address.require(address, "number", "street", "city", "country")
}

// Query is what to ask a geocoder for a draft without a location. An unparsed
// line wins over all parts but name and apartment.
func (d DestinationDraft) Query(country string) AddressQuery {
	q := AddressQuery{Unparsed: d.Unparsed, Language: d.Language, Country: country}
	if d.Unparsed == "" {
		q.Address = *d.Address
	}
	q.Address.Name, q.Address.Apartment = d.Address.Name, d.Address.Apartment
	return q
}

// NewDestination makes a destination of a draft that passed Check. found is
// what the geocoder answered, nil when the draft has a location of its own.
func NewDestination(id DestinationID, org OrganizationID, d DestinationDraft, found *Place, now time.Time) Destination {
	made := Destination{
		ID: id, Organization: org, Created: now, Modified: now,
		Notes: d.Notes, Metadata: d.Metadata.Normalized(),
	}
	if found == nil {
		made.Location, made.Address, made.UseGPS = *d.Location, *d.Address, true
		return made
	}
	made.Location, made.Address, made.WasGeocoded = found.Location, found.Address, true
	made.Address.Name = d.Address.Name
	made.Address.Apartment = cmp.Or(d.Address.Apartment, found.Address.Apartment) // a line may hold it
	made.GooglePlaceID, made.Warnings = found.PlaceID, found.Warnings
	return made
}
