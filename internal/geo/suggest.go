package geo

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
	"dray/internal/street"
)

// Suggest returns addresses that begin with a typed text, the best first: towns, streets and
// houses of imported maps, and cities of the world. Addresses that explain the whole text come
// before those that explain a part of it.
func (s *Streets) Suggest(ctx context.Context, q lastmile.AddressQuery, limit int) ([]lastmile.GeocodedAddress, error) {
	places, err := gazetteer.Embedded()
	if err != nil {
		return nil, err
	}
	indexes, near := s.Indexes(), streetPoints(q.Near)
	hits, err := s.search(ctx, indexes, street.Query{Line: q.Unparsed, Prefix: true, Limit: limit, Near: near})
	if err != nil {
		return nil, err
	}
	guess := completer{places: places, AddressQuery: q, limit: limit}
	if dottedInitials.MatchString(q.Unparsed) {
		guess.Unparsed = strings.ReplaceAll(q.Unparsed, ".", "")
	}
	if err := guess.takePostalCode(ctx, s.Postal); err != nil {
		return nil, err
	}
	for _, c := range guess.completions() {
		towns, err := inTurn(ctx, s, indexes, func(x *street.Index) ([]street.Town, error) {
			return x.Towns(street.Query{Line: c.name, Prefix: c.regions == nil, Limit: limit, Near: near})
		})
		if err != nil {
			return nil, err
		}
		guess.addTowns(c, towns)
		guess.addCities(c)
	}
	confirmed := false
	for _, h := range hits {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		confirmed = confirmed || h.Confirmed
		if one := suggestion(places, h, q.Country); h.Whole {
			guess.whole = append(guess.whole, one)
		} else {
			guess.partly = append(guess.partly, one)
		}
	}
	guess.addCode()
	all := guess.result()
	long := strings.Contains(q.Unparsed, ",") || hasDigit(q.Unparsed) && len(strings.Fields(q.Unparsed)) >= minAddressWords || guess.Unparsed != q.Unparsed
	if confirmed || guess.explained() || len(all) > len(guess.partly) || !long {
		return all, nil
	}
	city, err := s.cityOfStreet(ctx, places, q, limit)
	all = append(city, all...)
	return all[:min(len(all), limit)], err
}

// minAddressWords is the minimum number of words of an address without a comma: a number, a
// street and a city.
const minAddressWords = 3

// dottedInitials matches initials with periods: L.A., N.Y.C.
var dottedInitials = regexp.MustCompile(`^(?:\pL\.){2,}$`)

// completer collects the possible completions of a text.
type completer struct {
	lastmile.AddressQuery // without its postal code
	places                *gazetteer.Gazetteer
	limit                 int

	named         []lastmile.GeocodedAddress // towns of maps with the name
	begun         []lastmile.GeocodedAddress // towns of maps whose name begins with it
	misspelled    []lastmile.GeocodedAddress // towns of maps with almost the name
	whole, partly []lastmile.GeocodedAddress // streets that explain the whole text, or a part of it
	coded         []lastmile.GeocodedAddress // areas of the postal code
	cities        []likelyCity
}

// explained reports whether anything explains the whole text.
func (c *completer) explained() bool {
	return len(c.named)+len(c.begun)+len(c.misspelled)+len(c.whole)+len(c.coded)+len(c.cities) > 0
}

// likelyCity is a city of the gazetteer.
type likelyCity struct {
	gazetteer.Completion
	within bool // in the region that the text names after a comma
	score  float64
}

// completion is a reading of a text: a name that may be incomplete, and the regions that
// follow it; none if the name is the whole text.
type completion struct {
	name    string
	regions []region
	comma   bool // a comma separates them
}

// maxRegionWords is the maximum number of words in the name of a state and its country.
const maxRegionWords = 8

// completions returns the readings of the text: as a name, and as a name followed by a state,
// a country or both, with or without commas. The last of them may be incomplete.
func (c *completer) completions() []completion {
	if c.Unparsed == "" {
		return nil // the text was only a postal code
	}
	all := []completion{{name: c.Unparsed}}
	words := strings.Fields(strings.ReplaceAll(c.Unparsed, ",", " , "))
	for at := len(words) - 1; at > 0 && len(words)-at <= maxRegionWords+2; at-- {
		if words[at] == "," {
			continue
		}
		comma := words[at-1] == ","
		regions := c.regions(strings.Trim(strings.Join(words[at:], " "), " ,"), comma)
		name := strings.ReplaceAll(strings.Trim(strings.Join(words[:at], " "), " ,"), " ,", ",")
		if len(regions) > 0 && name != "" {
			all = append(all, completion{name, regions, comma})
		}
	}
	return all
}

// regions returns the regions that a text names or, if it names none, those whose names
// begin with it. Incomplete names of states abroad are accepted only after a comma.
func (c *completer) regions(text string, comma bool) (all []region) {
	if code, ok := c.places.Country(text); ok {
		all = append(all, c.country(code, text))
		for _, territory := range territories[code] {
			all = append(all, region{country: territory}) // Hong Kong, China
		}
	}
	for _, country := range append([]string{c.Country}, closedCountries...) {
		if state, ok := c.places.State(country, text); ok {
			all = append(all, region{country: country, state: state})
		}
	}
	if len(text) > maxCode {
		for _, state := range c.places.States(text) {
			all = append(all, region{country: state.Country, state: state})
		}
	}
	if all = append(all, c.stateAndCountry(text)...); len(all) > 0 {
		return all
	}
	for _, code := range c.places.CountriesBeginning(text) {
		all = append(all, region{country: code})
	}
	var begun []gazetteer.State
	for _, country := range append([]string{c.Country}, closedCountries...) {
		if country != "" {
			begun = append(begun, c.places.StatesBeginning(country, text)...)
		}
	}
	if comma && len(begun) == 0 {
		begun = c.places.StatesBeginning("", text)
		begun = begun[:min(len(begun), maxStatesAbroad)]
	}
	for _, state := range begun {
		all = append(all, region{country: state.Country, state: state})
	}
	return all
}

// stateAndCountry returns the regions that a text names as a state and its country.
func (c *completer) stateAndCountry(text string) (all []region) {
	words := strings.Fields(strings.ReplaceAll(text, ",", " "))
	for at := 1; at < len(words); at++ {
		name := strings.Join(words[:at], " ")
		country, ok := c.places.Country(strings.Join(words[at:], " "))
		codes := []string{country}
		if !ok {
			codes = c.places.CountriesBeginning(strings.Join(words[at:], " "))
		}
		for _, code := range codes {
			if state, ok := c.places.State(code, name); ok {
				all = append(all, region{country: code, state: state})
			} else if territory, ok := territoryCode(c.places, code, name); ok {
				all = append(all, region{country: territory}) // PR, USA
			}
		}
	}
	return all
}

// maxStatesAbroad is the maximum number of states abroad for an incomplete name.
const maxStatesAbroad = 10

// country returns the region that a name of a country denotes. For Great Britain, the name
// may be that of one of its nations.
func (c *completer) country(code, name string) region {
	if nation, ok := c.places.State(code, name); ok && code == "GB" {
		return region{country: code, state: nation}
	}
	return region{country: code}
}

// sameCity is the maximum distance between the centers of a city in different sources.
const sameCity lastmile.Meters = 25_000

// addTowns adds towns of maps.
func (c *completer) addTowns(as completion, towns []street.Town) {
	for _, t := range towns {
		one := suggestion(c.places, street.Hit{City: t.Name, State: t.State, Country: t.Country, Location: t.Location}, c.Country)
		one.Precision = lastmile.PrecisionCity
		same := func(other lastmile.GeocodedAddress) bool {
			return other.Address.City == one.Address.City && other.Location.Distance(one.Location) < sameCity
		}
		switch {
		case slices.ContainsFunc(slices.Concat(c.named, c.begun, c.misspelled), same):
		case as.regions != nil && !admits(c.places, as.regions, one, ""):
		case t.Exact:
			c.named = append(c.named, one)
		case t.Begins:
			c.begun = append(c.begun, one)
		default:
			c.misspelled = append(c.misspelled, one)
		}
	}
}

// nearWeight is the bonus of a city near the organization's hubs, in units of city size.
const (
	nearWeight = 6.0
	nearMeters = 100_000.0 // distance at which half of the bonus is left
)

// consideredCities is the number of cities whose name begins with the text that are compared.
const consideredCities = 50

// addCities adds cities of the gazetteer.
func (c *completer) addCities(as completion) {
	var found []gazetteer.Completion
	if as.regions == nil {
		found = c.places.CitiesBeginning(as.name, "", c.Country, consideredCities)
	}
	for _, r := range as.regions {
		found = append(found, c.citiesIn(r, as)...)
	}
	for _, city := range found {
		if slices.ContainsFunc(c.cities, func(known likelyCity) bool { return same(known.City, city.City) }) {
			continue
		}
		c.addCity(city, as.comma)
	}
}

func (c *completer) addCity(city gazetteer.Completion, within bool) {
	nearest := 0.0
	for _, p := range c.Near {
		nearest = max(nearest, nearWeight/(1+float64(p.Distance(city.Location))/nearMeters))
	}
	c.cities = append(c.cities, likelyCity{city, within, float64(city.Weight(c.Country, city.Whole)+city.Extra) + nearest})
}

// codeForm matches a possible code of a country or state. A code of two letters must be in
// capitals.
var codeForm = regexp.MustCompile(`^(?:[A-Z]{2}|[A-Za-z]{3})$`)

// addCode adds the largest cities of the region whose code is the text, as if the code were
// another name of them: CA is Los Angeles rather than Cairo. A longer code is more likely to
// be the beginning of a name: USA is New York rather than Usa River, but PER is Perth rather
// than Lima.
func (c *completer) addCode() {
	if !codeForm.MatchString(c.Unparsed) {
		return
	}
	var of region
	if state, ok := c.places.State(c.Country, c.Unparsed); ok {
		of = region{country: c.Country, state: state}
	} else if code, ok := c.places.Country(c.Unparsed); ok {
		of = c.country(code, c.Unparsed)
	} else {
		return
	}
	for _, city := range c.places.LargestCities(of.country, of.state, firstOfRegion) {
		if !slices.ContainsFunc(c.cities, func(known likelyCity) bool { return same(known.City, city) }) {
			city.Other = true
			c.addCity(gazetteer.Completion{City: city, Whole: len(c.Unparsed) < maxCode}, false)
		}
	}
}

// same reports whether two cities are the same, even if they were found under different names.
func same(a, b gazetteer.City) bool {
	return a.Location == b.Location || a.Other != b.Other && a.Size == b.Size && a.State == b.State && a.Location.Distance(b.Location) < sameCity
}

// citiesIn returns the cities of a region with the name. If there are none and the region
// follows a comma, it returns those whose name begins with it.
func (c *completer) citiesIn(r region, as completion) (found []gazetteer.Completion) {
	for _, city := range c.places.Cities(as.name, r.country) {
		found = append(found, gazetteer.Completion{City: city, Whole: true})
	}
	outside := func(city gazetteer.Completion) bool { return r.state != (gazetteer.State{}) && city.State != r.state }
	if found = slices.DeleteFunc(found, outside); len(found) == 0 && as.comma {
		found = slices.DeleteFunc(c.places.CitiesBeginning(as.name, r.country, "", consideredCities), outside)
	}
	return found
}

// namesake is the maximum difference in size, in units of gazetteer.City.Size, at which a city
// with the name of a region still comes before the largest city of the region. It stands for
// an eighth of the population: Tuscany is the region rather than the suburb of Calgary.
const namesake = 6

// firstOfRegion is the number of a region's cities that come before cities with its name, if
// the text is the name of the region.
const firstOfRegion = 2

// result returns the best addresses in this order: towns with the name; one town whose name
// begins with it; areas of the postal code; cities in the region that the text names; streets,
// which leave room for a city with the name; other cities; and the rest. The name of a country
// or state is completed to its largest cities. These follow the cities with the name of a state
// abroad, and large cities at home with the name of a country or of a state at home: Salvador
// in Brazil, and Washington in the District of Columbia.
func (c *completer) result() []lastmile.GeocodedAddress {
	slices.SortStableFunc(c.cities, func(a, b likelyCity) int { return cmp.Compare(b.score, a.score) })
	first := c.begun[:min(len(c.begun), 1)]
	streets := c.whole
	if len(c.cities) > 0 && c.cities[0].Whole {
		streets = streets[:min(len(streets), max(c.limit-1-len(c.named)-len(first), 0))]
	}
	regions, named := c.regionsNamed()
	var inside []gazetteer.City
	if named {
		inside = c.inRegions(regions, firstOfRegion)
	}
	large := func(city likelyCity) bool {
		return city.Whole && len(inside) > 0 && city.Size+namesake >= inside[0].Size
	}
	all := slices.Concat(c.named, first, c.coded)
	for _, city := range c.cities {
		if city.within && (!named || large(city)) {
			all = c.appendCities(all, []gazetteer.City{city.City})
		}
	}
	all = slices.Concat(all, streets)
	if named {
		_, isCountry := c.places.Country(c.Unparsed)
		abroad := !isCountry && regions[0].country != c.Country
		for _, city := range c.cities {
			atHome := city.Whole && city.Country == c.Country
			known := atHome && large(city) && !city.Other && city.Size >= minWorldSize // Washington is not Seattle
			if abroad && (atHome || large(city)) || isCountry && atHome && large(city) || known {
				all = c.appendCities(all, []gazetteer.City{city.City})
			}
		}
		all = c.appendCities(all, inside)
	}
	for _, city := range c.cities {
		all = c.appendCities(all, []gazetteer.City{city.City})
	}
	all = slices.Concat(all, c.begun[len(first):], c.misspelled, c.partly)
	if len(all) < c.limit {
		all = c.appendCities(all, c.inRegions(regions, c.limit))
	}
	if len(all) == 0 {
		all = c.appendCities(all, c.places.CitiesShortened(c.Unparsed, c.Country, c.limit))
	}
	if len(all) == 0 && len(gazetteer.Fold(c.Unparsed)) >= minForOneSure {
		all = c.appendCities(all, c.places.CitiesNear(c.Unparsed, c.Country, 1))
	}
	return slices.Concat([]lastmile.GeocodedAddress{}, all[:min(len(all), c.limit)])
}

// appendCities appends cities that are not yet among the addresses.
func (c *completer) appendCities(all []lastmile.GeocodedAddress, cities []gazetteer.City) []lastmile.GeocodedAddress {
	for _, city := range cities {
		if !slices.ContainsFunc(all, func(known lastmile.GeocodedAddress) bool { return c.isCity(known, city) }) {
			all = append(all, cityAddress(c.places, city, city.Location))
		}
	}
	return all
}

// isCity reports whether an address is that of a city. The state must match, because Kansas
// City is two cities in two states, unless the map does not name it.
func (c *completer) isCity(a lastmile.GeocodedAddress, city gazetteer.City) bool {
	if a.Precision != lastmile.PrecisionCity || gazetteer.Fold(a.Address.City) != gazetteer.Fold(city.Name) {
		return false
	}
	state, known := c.places.State(city.Country, a.Address.State)
	return (!known || state == city.State) && a.Location.Distance(city.Location) < sameCity
}

// maxRegions is the maximum number of regions that a text is completed to.
const maxRegions = 3

// minAbroad is the minimum length in bytes of a text that is completed to the name of a state
// abroad.
const minAbroad = 5

// regionsNamed returns the regions whose name begins with the text, and whether the text is
// the whole name of the first: states at home, then countries, those with a matching English
// name first, then states abroad.
func (c *completer) regionsNamed() (regions []region, named bool) {
	if len(c.Unparsed) > maxCode {
		if state, ok := c.places.State(c.Country, c.Unparsed); ok {
			return []region{{country: c.Country, state: state}}, true
		}
		if code, ok := c.places.Country(c.Unparsed); ok {
			regions = append(regions, c.country(code, c.Unparsed))
		}
		if len(regions) == 0 && strings.Contains(c.Unparsed, ",") {
			regions = c.stateAndCountry(c.Unparsed)
		}
		for _, state := range c.places.States(c.Unparsed) {
			if one := (region{country: state.Country, state: state}); !slices.Contains(regions, one) {
				regions = append(regions, one)
			}
		}
	}
	if named = len(regions) > 0; named {
		return regions[:min(len(regions), maxRegions)], named
	}
	states := c.places.StatesBeginning("", c.Unparsed)
	for _, state := range states {
		if state.Country == c.Country {
			regions = append(regions, region{country: c.Country, state: state})
		}
	}
	codes := c.places.CountriesBeginning(c.Unparsed)
	slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(c.inEnglish(a), c.inEnglish(b)) })
	for _, code := range codes {
		regions = append(regions, region{country: code})
	}
	for _, state := range states {
		if state.Country != c.Country && len(c.Unparsed) >= minAbroad {
			regions = append(regions, region{country: state.Country, state: state})
		}
	}
	return regions[:min(len(regions), maxRegions)], false
}

// inRegions returns the largest cities of regions.
func (c *completer) inRegions(regions []region, limit int) (all []gazetteer.City) {
	for _, r := range regions {
		all = append(all, c.places.LargestCities(r.country, r.state, limit)...)
	}
	return all
}

// inEnglish returns 0 if the English name of a country begins with the text, otherwise 1.
func (c *completer) inEnglish(code string) int {
	if strings.HasPrefix(gazetteer.Fold(c.places.CountryName(code)), gazetteer.Fold(c.Unparsed)) {
		return 0
	}
	return 1
}
