package lastmile

import "strings"

// Address is a postal address in parts.
type Address struct {
	Name       string // a name associated with the address
	Number     string // may contain letters
	Street     string
	Apartment  string
	City       string
	State      string
	PostalCode string
	County     string // set by geocoders; shown for hubs
	Country    string
}

// check rejects parts that are too long.
func (a Address) check(field string) error {
	parts := []struct{ name, text string }{
		{"name", a.Name},
		{"number", a.Number},
		{"street", a.Street},
		{"apartment", a.Apartment},
		{"city", a.City},
		{"state", a.State},
		{"postalCode", a.PostalCode},
		{"country", a.Country},
	}
	for _, p := range parts {
		if err := CheckText(field+"."+p.name, p.text, MaxText); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether another address has the same parts. The county is not
// compared, because clients cannot send one.
func (a Address) same(other Address) bool {
	a.County = other.County
	return a == other
}

// require rejects an address without one of the named parts.
func (a Address) require(field string, names ...string) error {
	parts := map[string]string{"number": a.Number, "street": a.Street, "city": a.City, "country": a.Country}
	for _, name := range names {
		if strings.TrimSpace(parts[name]) == "" {
			return Missing(field + "." + name)
		}
	}
	return nil
}

// AddressQuery is a query to a geocoder for the location of an address, which is in parts or
// one unparsed line.
type AddressQuery struct {
	Address   Address
	Unparsed  string
	Language  string    // two-letter country or language code; may be empty
	Country   string    // ISO 3166-1 code of the default country, that of the organization
	Precision Precision // minimum precision; zero accepts any
	Near      []Point   // points near which the address probably is, such as the organization's hubs
}

// GeocodedAddress is the result of geocoding an address.
type GeocodedAddress struct {
	Location  Point
	Address   Address
	PlaceID   string    // Google's id of the place, if Google found it
	Warnings  []string  // differences between the address found and the one requested
	Precision Precision // how precise Location is
	Source    string    // name of the geocoder
}

// Precision is how precisely an address was located. Higher is better.
type Precision int

// The precisions. A city or postal code is located at the center of its area.
const (
	PrecisionCity Precision = iota + 1
	PrecisionPostalCode
	PrecisionStreet
	PrecisionHouse
)

var precisionNames = map[Precision]string{
	PrecisionCity: "city", PrecisionPostalCode: "postalCode", PrecisionStreet: "street", PrecisionHouse: "house",
}

// String returns the name of a precision in settings; "any" for zero.
func (p Precision) String() string {
	if name, ok := precisionNames[p]; ok {
		return name
	}
	return "any"
}

// ParsePrecision parses the name of a precision.
func ParsePrecision(name string) (Precision, error) {
	for p := range PrecisionHouse + 1 {
		if p.String() == name {
			return p, nil
		}
	}
	return 0, Invalid("precision must be any, city, postalCode, street or house, not %q", name)
}

// Warnings of geocoded addresses. WarnApproximate means that only the center of an area was
// found. The others name the part of the address that differs from the one requested.
const (
	WarnApproximate  = "APPROXIMATE"
	MismatchNumber   = "MISMATCH_NUMBER"
	MismatchStreet   = "MISMATCH_STREET"
	MismatchCity     = "MISMATCH_CITY"
	MismatchPostal   = "MISMATCH_POSTALCODE"
	addressNotFound  = "address cannot be geocoded"
	adviseOnLocation = "correct it, or send location as [longitude, latitude] together with the address in parts"
)

// AddressNotFound is the error for a field, address, that no geocoder could find.
func AddressNotFound(format string, args ...any) *Error {
	return Invalid(addressNotFound).Because(format+"; "+adviseOnLocation, args...)
}

// RequirePrecision rejects an address that was located less precisely than required.
func (p GeocodedAddress) RequirePrecision(least Precision) error {
	if p.Precision >= least {
		return nil
	}
	return AddressNotFound("only its %s was found (by %s), and this organization asks for the %s", p.Precision.describe(), p.Source, least.describe())
}

func (p Precision) describe() string {
	if p == PrecisionPostalCode {
		return "postal code"
	}
	return p.String()
}

// Line returns the address on one line, as on an envelope.
func (a Address) Line() string {
	join := func(separator string, parts ...string) string {
		var some []string
		for _, p := range parts {
			if p = strings.TrimSpace(p); p != "" {
				some = append(some, p)
			}
		}
		return strings.Join(some, separator)
	}
	return join(", ", join(" ", a.Number, a.Street), a.Apartment, a.City, join(" ", a.State, a.PostalCode), a.Country)
}

// PostalArea is the area of a postal code, from an imported list.
type PostalArea struct {
	Country  string // ISO 3166-1 alpha-2
	Code     string // letters and digits only, in upper case
	Name     string
	State    string
	County   string
	Location Point
}
