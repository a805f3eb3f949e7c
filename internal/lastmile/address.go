package lastmile

import (
	"strings"
)

// Address is a postal address in parts.
type Address struct {
	Name       string // a name associated with the address
	Number     string // may contain letters
	Street     string
	Apartment  string
	City       string
	State      string
	PostalCode string
	County     string // found by a geocoder; hubs show it
	Country    string
}

// check refuses parts that are too long.
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

// require refuses an address that lacks one of the named parts.
func (a Address) require(field string, names ...string) error {
	parts := map[string]string{"number": a.Number, "street": a.Street, "city": a.City, "country": a.Country}
	for _, name := range names {
		if strings.TrimSpace(parts[name]) == "" {
			return Missing(field + "." + name)
		}
	}
	return nil
}

// AddressQuery asks a geocoder for the place of an address: its parts, or one
// unparsed line.
type AddressQuery struct {
	Address   Address
	Unparsed  string
	Language  string    // two letters: a country or language code; may be empty
	Country   string    // ISO 3166-1 code of the organization, where nothing else tells
	Precision Precision // the least that will do; zero takes any
}

// Place is what a geocoder found.
type Place struct {
	Location  Point
	Address   Address
	PlaceID   string    // Google's id of the place, where Google found it
	Warnings  []string  // how the address found differs from the one asked for
	Precision Precision // what the location is the location of
	Source    string    // which geocoder found it
}

// Precision is how exactly an address was found. More is better.
type Precision int

// The precisions. A city and a postal code are found as the middle of their
// area.
const (
	PrecisionCity Precision = iota + 1
	PrecisionPostalCode
	PrecisionStreet
	PrecisionHouse
)

var precisionNames = map[Precision]string{
	PrecisionCity: "city", PrecisionPostalCode: "postalCode", PrecisionStreet: "street", PrecisionHouse: "house",
}

// String is the name of a precision in settings; "any" for none.
func (p Precision) String() string {
	if name, ok := precisionNames[p]; ok {
		return name
	}
	return "any"
}

// ParsePrecision reads the name of a precision.
func ParsePrecision(name string) (Precision, error) {
	for p := range PrecisionHouse + 1 {
		if p.String() == name {
			return p, nil
		}
	}
	return 0, Invalid("precision must be any, city, postalCode, street or house, not %q", name)
}

// What can be warned of when an address was found. The first tells that only
// the middle of an area was found, the others which part of the address is
// another one than was asked for.
const (
	WarnApproximate  = "APPROXIMATE"
	MismatchNumber   = "MISMATCH_NUMBER"
	MismatchStreet   = "MISMATCH_STREET"
	MismatchCity     = "MISMATCH_CITY"
	MismatchState    = "MISMATCH_STATE"
	MismatchPostal   = "MISMATCH_POSTALCODE"
	MismatchCountry  = "MISMATCH_COUNTRY"
	addressNotFound  = "the address cannot be geocoded"
	adviseOnLocation = "correct it, or send location as [longitude, latitude] together with the address in parts"
)

// AddressNotFound refuses an address that no geocoder could find.
func AddressNotFound(format string, args ...any) *Error {
	return Invalid(addressNotFound).Because(format+"; "+adviseOnLocation, args...)
}

// Require refuses a place that was found less exactly than wanted.
func (p Place) Require(least Precision) error {
	if p.Precision >= least {
		return nil
	}
	return AddressNotFound("only its %s was found (by %s), and this organization asks for the %s", p.Precision.spoken(), p.Source, least.spoken())
}

func (p Precision) spoken() string {
	if p == PrecisionPostalCode {
		return "postal code"
	}
	return p.String()
}

// Line is the address in one line, as it is written on an envelope.
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

// PostalPlace is a place that has a postal code, of a list that was imported.
type PostalPlace struct {
	Country  string // ISO 3166-1 alpha-2
	Code     string // as PlainPostalCode makes it
	Name     string
	State    string
	County   string
	Location Point
}

// PlainPostalCode is the form in which postal codes are compared: letters and
// digits only, in capitals.
func PlainPostalCode(code string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, code)
}
