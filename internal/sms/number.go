package sms

import (
	"strings"

	"github.com/nyaruka/phonenumbers"

	"dray/internal/lastmile"
)

// maxNumber is the longest text that is tried as a number, in bytes.
const maxNumber = 64

// ParseNumber reads a telephone number by the rules of libphonenumber. One
// with a leading plus is international; any other is read as dialled in the
// country.
func ParseNumber(raw, country string) (lastmile.Phone, error) {
	if len(raw) > maxNumber {
		return "", lastmile.InvalidPhone(raw[:maxNumber] + "…")
	}
	number, err := phonenumbers.Parse(raw, strings.ToUpper(country))
	if err != nil || !phonenumbers.IsValidNumber(number) {
		return "", lastmile.InvalidPhone(raw)
	}
	return lastmile.Phone(phonenumbers.Format(number, phonenumbers.E164)), nil
}

// KnownCountry tells whether the rules of a country, by its ISO 3166-1 code,
// are known.
func KnownCountry(code string) bool {
	return phonenumbers.GetSupportedRegions()[strings.ToUpper(code)]
}
