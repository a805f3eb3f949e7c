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
		if err := checkText(field+"."+p.name, p.text, MaxText); err != nil {
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
	Address  Address
	Unparsed string
	Language string // two letters: a country or language code; may be empty
	Country  string // ISO 3166-1 code of the organization, where nothing else tells
}

// Place is what a geocoder found.
type Place struct {
	Location Point
	Address  Address
	PlaceID  string   // Google's id of the place, where Google found it
	Warnings []string // how the address found differs from the one asked for
}
