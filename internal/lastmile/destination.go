package lastmile

import (
	"cmp"
	"regexp"
	"time"
)

// Destination is a location with an address, where tasks are carried out. It is immutable:
// another location is another destination.
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

// DestinationDraft holds the input for a new destination.
type DestinationDraft struct {
	Address  *Address // nil if not sent
	Unparsed string   // the whole address in one line, instead of its parts
	Location *Point   // nil if not sent
	Notes    string
	Language string
	Metadata Metadata
}

var languageForm = regexp.MustCompile(`^[A-Za-z]{2}$`)

// Check rejects a draft that violates the rules of POST /destinations. field is the prefix of
// the draft's fields in error messages, such as "destination."; it is empty if the draft is
// the whole request.
func (d DestinationDraft) Check(field string) error {
	address := field + "address"
	if d.Address == nil {
		return Missing(address)
	}
	if d.Language != "" && !languageForm.MatchString(d.Language) {
		return Invalid("%soptions.language must be two letters, not %q", field, Truncate(d.Language, MaxShown))
	}
	err := FirstError(
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

// Query returns the geocoder query for a draft without a location. An unparsed
// line takes precedence over all parts except name and apartment.
func (d DestinationDraft) Query(country string) AddressQuery {
	q := AddressQuery{Unparsed: d.Unparsed, Language: d.Language, Country: country}
	if d.Unparsed == "" {
		q.Address = *d.Address
	}
	q.Address.Name, q.Address.Apartment = d.Address.Name, d.Address.Apartment
	return q
}

// SamePlace reports whether another destination has the same location, address,
// notes and metadata, so that an update need not replace this one. How the location
// was determined does not matter: a client may send back a geocoded location.
func (d Destination) SamePlace(other Destination) bool {
	return d.Location == other.Location && d.Address.same(other.Address) && d.Notes == other.Notes && Same(d.Metadata, other.Metadata)
}

// NewDestination returns a destination for a draft that passed Check. found is
// the geocoder's result, nil if the draft has a location.
func NewDestination(id DestinationID, org OrganizationID, d DestinationDraft, found *GeocodedAddress, now time.Time) Destination {
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
	made.Address.Apartment = cmp.Or(d.Address.Apartment, found.Address.Apartment) // an unparsed line may contain it
	made.GooglePlaceID, made.Warnings = found.PlaceID, found.Warnings
	return made
}
