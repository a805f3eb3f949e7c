package geo

import (
	"slices"
	"strings"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// closedCountries are countries whose states are all known by name and code, and are often
// written without the country.
var closedCountries = []string{"US", "CA", "AU"}

// territories are parts of countries that have their own country code. An
// address may name both.
var territories = map[string][]string{
	"US": {"PR", "GU", "VI", "AS", "MP"},
	"FR": {"GP", "MQ", "GF", "RE", "YT", "PM", "BL", "MF", "NC", "PF", "WF"},
	"NL": {"AW", "CW", "SX", "BQ"},
	"DK": {"GL", "FO"},
	"NO": {"SJ"},
	"FI": {"AX"},
	"CN": {"HK", "MO"},
	"GB": {"GG", "JE", "IM", "GI", "BM", "KY", "VG", "TC", "FK"},
}

// cityStates are countries that consist of one city.
var cityStates = []string{"SG", "HK", "MO", "MC", "GI", "VA"}

// territoryCode returns the code of the territory of a country that has the given name.
func territoryCode(places *gazetteer.Gazetteer, country, name string) (code string, ok bool) {
	if len(territories[country]) == 0 {
		return "", false
	}
	code, ok = places.Country(name)
	return code, ok && slices.Contains(territories[country], code)
}

// region is an area that an address names: a country, or one of its states. A
// result outside it is wrong, however similar the rest of the address.
type region struct {
	country string
	state   gazetteer.State // the zero State for the whole country
	city    string          // not empty if the name means the city of that name
}

// regionsOf returns the regions that readings name; none if any result may be
// right.
func regionsOf(readings []reading) []region {
	var all []region
	for _, r := range readings {
		if !r.named {
			return nil
		}
		one := region{country: r.country, state: r.within}
		if r.selfCity {
			one.city = r.city
		}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// admits reports whether a result is in one of the regions. country is its
// code; empty if the source does not return one.
func admits(places *gazetteer.Gazetteer, regions []region, found lastmile.GeocodedAddress, country string) bool {
	if country == "" {
		country, _ = places.Country(found.Address.Country)
	}
	return len(regions) == 0 || slices.ContainsFunc(regions, func(r region) bool { return r.contains(places, found, country) })
}

// maxKnownDistance is the maximum distance of a result from the nearest known city of its
// country or state.
const maxKnownDistance lastmile.Meters = 50_000

func (r region) contains(places *gazetteer.Gazetteer, found lastmile.GeocodedAddress, country string) bool {
	switch {
	case strings.EqualFold(country, r.country):
	case country == "":
		return places.Inhabited(r.country, r.state, found.Location, maxKnownDistance)
	default:
		// A service may count a territory as a country or as a state.
		return r.state == (gazetteer.State{}) && slices.Contains(territories[r.country], strings.ToUpper(country)) ||
			slices.Contains(territories[strings.ToUpper(country)], r.country)
	}
	if r.city != "" && gazetteer.Fold(r.city) != gazetteer.Fold(found.Address.City) && !slices.ContainsFunc(places.Cities(r.city, r.country), func(c gazetteer.City) bool {
		return c.Location.Distance(found.Location) <= maxKnownDistance
	}) {
		return false
	}
	if r.state == (gazetteer.State{}) {
		return true
	}
	if state, ok := places.State(r.country, found.Address.State); ok {
		return state == r.state
	}
	// The name of the state is in another language, or missing.
	return places.Inhabited(r.country, r.state, found.Location, maxKnownDistance)
}

// describe returns the regions for an error message.
func describe(places *gazetteer.Gazetteer, regions []region) string {
	var names []string
	for _, r := range regions {
		name := places.CountryName(r.country)
		if r.state.Name != "" && r.state.Name != name {
			name = r.state.Name + ", " + name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 3 {
		names = names[:3]
	}
	return strings.Join(names, " or ")
}
