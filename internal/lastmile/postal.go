package lastmile

import "strings"

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
