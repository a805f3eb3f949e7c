package sms

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"dray/internal/lastmile"
)

// maxNumber is the maximum length of a number, in bytes.
const maxNumber = 64

// ParseNumber parses a phone number by the rules of libphonenumber. A number
// with a leading plus is international; any other is interpreted as dialed in
// the country.
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

// ShowNumber returns a number as people in a country write it: without the country
// code if it is one of that country.
func ShowNumber(phone lastmile.Phone, country string) string {
	number, err := phonenumbers.Parse(string(phone), "")
	if err != nil {
		return string(phone)
	}
	form := phonenumbers.INTERNATIONAL
	if phonenumbers.GetRegionCodeForNumber(number) == strings.ToUpper(country) {
		form = phonenumbers.NATIONAL
	}
	return phonenumbers.Format(number, form)
}

// Country returns the ISO 3166-1 code of a number's country; empty if it has none.
func Country(phone lastmile.Phone) string {
	number, err := phonenumbers.Parse(string(phone), "")
	if err != nil {
		return ""
	}
	return phonenumbers.GetRegionCodeForNumber(number)
}

// Countries returns the ISO 3166-1 codes of the countries whose numbering plans are
// known, in order.
func Countries() []string {
	return slices.Sorted(maps.Keys(phonenumbers.GetSupportedRegions()))
}

// KnownCountry reports whether the numbering plan of a country is known, by its
// ISO 3166-1 code.
func KnownCountry(code string) bool {
	return phonenumbers.GetSupportedRegions()[strings.ToUpper(code)]
}

// CallingCode returns the digits that the numbers of a country begin with, after the
// plus sign; 0 for an unknown country.
func CallingCode(country string) string {
	return strconv.Itoa(phonenumbers.GetCountryCodeForRegion(strings.ToUpper(country)))
}
