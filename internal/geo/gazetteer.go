package geo

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// GazetteerSource is the Source of locations found by the gazetteer.
const GazetteerSource = "gazetteer"

// Credit is the attribution that the licenses of the embedded data require.
const Credit = gazetteer.Credit

// Gazetteer finds cities and postal codes without a network. It knows no
// streets, so all its results are approximate.
type Gazetteer struct {
	Imported PostalCodes // nil for none
}

// Geocode implements Geocoder.
func (g *Gazetteer) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	places, err := gazetteer.Embedded()
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	readings, err := read(places, q)
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	best, err := g.best(ctx, places, readings, false)
	if err == nil && (best == nil || best.incomplete) {
		var second *match
		if second, err = g.best(ctx, places, readings, true); second != nil && (best == nil || second.score > best.score) {
			best = second
		}
	}
	switch {
	case err != nil:
		return lastmile.GeocodedAddress{}, err
	case best == nil:
		return lastmile.GeocodedAddress{}, notFound(q, describe(places, regionsOf(readings)))
	}
	place := best.place(places)
	return place, place.RequirePrecision(q.Precision)
}

// notFound returns the error for an address without a known city. where describes the
// countries or states that the address names.
func notFound(q lastmile.AddressQuery, where string) error {
	a := q.Address
	switch {
	case q.Unparsed != "" && where != "":
		return lastmile.AddressNotFound("no city or postal code in the line %q is known in %s", q.Unparsed, where)
	case q.Unparsed != "":
		return lastmile.AddressNotFound("no city or postal code in the line %q is known", q.Unparsed)
	case a.PostalCode != "":
		return lastmile.AddressNotFound("no place is known with the city %q or the postal code %q in %s", a.City, a.PostalCode, cmp.Or(where, a.Country))
	}
	return lastmile.AddressNotFound("no city %q is known in %s", a.City, cmp.Or(where, a.Country))
}

// read returns the possible interpretations of a query, or an error if it names
// a country or state that is not known.
func read(places *gazetteer.Gazetteer, q lastmile.AddressQuery) ([]reading, error) {
	var assumed []string
	for _, code := range []string{q.Country, languageOf(q.Language).country} {
		if code = strings.ToUpper(code); places.CountryName(code) != "" && !slices.Contains(assumed, code) {
			assumed = append(assumed, code)
		}
	}
	if q.Unparsed != "" {
		return readLine(places, q.Unparsed, assumed), nil
	}
	a := q.Address
	r := reading{
		number: tidy(a.Number), street: tidy(a.Street), apartment: tidy(a.Apartment),
		city: tidy(a.City), state: tidy(a.State), postal: tidy(a.PostalCode),
	}
	if a.Country == "" {
		return assuming(r, assumed), nil
	}
	code, ok := places.Country(a.Country)
	if !ok {
		code, ok = places.CountryNear(a.Country)
	}
	if !ok {
		return nil, lastmile.AddressNotFound("no country %q is known; it must be a name or a code of ISO 3166-1", a.Country)
	}
	r.country, r.named = code, true
	if nation, ok := places.State(code, a.Country); ok && code == "GB" {
		r.within = nation // England and the like
	}
	return r.withState(places)
}

// withState returns a reading that is restricted to its state.
func (r reading) withState(places *gazetteer.Gazetteer) ([]reading, error) {
	if gazetteer.Fold(r.state) == "" {
		if code, ok := territoryCode(places, r.country, r.city); ok && slices.Contains(cityStates, code) {
			r.country = code // Hong Kong, China
		}
		return []reading{r}, nil
	}
	if code, ok := territoryCode(places, r.country, r.state); ok {
		r.country, r.state = code, ""
		return []reading{r}, nil
	}
	state, ok := places.State(r.country, r.state)
	if !ok {
		state, ok = places.StateNear(r.country, r.state)
	}
	country := places.CountryName(r.country)
	named, _ := places.Country(r.state)
	switch {
	case !ok && named == r.country: // the state repeats the country
	case ok && r.within != gazetteer.State{} && r.within != state:
		return nil, lastmile.AddressNotFound("%s is not in %s", state.Name, r.within.Name)
	case ok:
		r.within = state
	case slices.Contains(closedCountries, r.country), foreignState(places, r.country, r.state):
		return nil, lastmile.AddressNotFound("%q is not a state of %s", r.state, country)
	}
	// In other countries, the state may be a county or an unknown name.
	return []reading{r}, nil
}

func assuming(r reading, countries []string) []reading {
	all := make([]reading, len(countries))
	for i, code := range countries {
		all[i] = r
		all[i].country, all[i].home = code, true
	}
	return all
}

func tidy(text string) string { return strings.Join(strings.Fields(text), " ") }

// match is a location that a reading may refer to.
type match struct {
	reading
	city  *gazetteer.City
	area  *area
	score float64

	postalWrong, cityWrong bool
	incomplete             bool // part of the reading is not confirmed
}

// The weights for and against a match.
const (
	forName      = 10.0 // the city's name
	forLonger    = 6.0  // the name is longer than the reading, or a part of it
	perMistake   = -3.0
	forOther     = -2.0 // not the city's primary name
	forGuess     = -3.0 // the start of the city's name was guessed
	forFar       = -1.0 // a part after the city is ignored, or the street follows the city
	forExtra     = -3.0 // more than a street precedes the city
	forArea      = 5.0  // the postal code
	forAgreement = 5.0  // the city is near the postal code
	againstArea  = -3.0 // the postal code is unknown or far from the city
	againstCity  = -3.0 // the reading names a city, but only the postal code matches
	forState     = 4.0  // the address names the state
	forCountry   = 4.0  // the address names the country but not the state
	forHome      = 3.0  // the country is the default
	forStreet    = 4.0  // the name of the street is in the country's language
	perSize      = 0.05

	leastScore = 2.0
)

// best returns the best match of all readings, or nil. With mistakes, it also
// considers similar names.
func (g *Gazetteer) best(ctx context.Context, places *gazetteer.Gazetteer, readings []reading, mistakes bool) (best *match, err error) {
	for _, r := range readings {
		m, err := g.match(ctx, places, r, mistakes)
		if err != nil {
			return nil, err
		}
		if m != nil && m.score >= leastScore && (best == nil || m.score > best.score) {
			best = m
		}
	}
	return best, nil
}

// match returns the best location for a reading, or nil.
func (g *Gazetteer) match(ctx context.Context, places *gazetteer.Gazetteer, r reading, mistakes bool) (*match, error) {
	r = restoreLeadingZero(r)
	areas, known, err := g.areas(ctx, places, r.country, r.postal)
	if err != nil {
		return nil, err
	}
	if r.within != (gazetteer.State{}) {
		areas = slices.DeleteFunc(areas, func(a area) bool { return a.state.Code != "" && a.state != r.within })
	}
	score := scorer{reading: r, areas: areas, postalKnown: known, spoken: r.spoken()}
	var best *match
	for _, c := range candidates(places, r, areas, mistakes) {
		if m := score.city(c); m != nil && (best == nil || m.score > best.score) {
			best = m
		}
	}
	if m := score.areaOnly(); m != nil && (best == nil || m.score > best.score) {
		best = m
	}
	return best, nil
}

// restoreLeadingZero restores the leading zero of a United States postal code that a
// spreadsheet removed.
func restoreLeadingZero(r reading) reading {
	code, _, _ := strings.Cut(r.postal, "-")
	if _, err := strconv.ParseUint(code, 10, 32); err == nil && r.country == "US" && len(code) == 4 {
		r.postal = "0" + r.postal
	}
	return r
}

// candidate is a city that a reading may refer to, and how well its name matches.
type candidate struct {
	gazetteer.City
	score  float64
	longer bool // its name is longer than that of the reading, or matches only a part of it
}

// The minimum length of names in which mistakes are tolerated.
const (
	minForOne     = 5
	minForOneSure = 4 // if the first letter is right, or the postal code confirms the name
	minForTwo     = 9
)

// maxCityName is longer than any city name, in bytes.
const maxCityName = 120

// minWorldSize is the minimum size of a city that is found without its country:
// about 100,000 people.
const minWorldSize = 33

func candidates(places *gazetteer.Gazetteer, r reading, areas []area, mistakes bool) []candidate {
	if r.city == "" || len(r.city) > maxCityName {
		return nil
	}
	var all []candidate
	add := func(score float64, longer bool, cities []gazetteer.City) {
		for _, c := range cities {
			if r.within != (gazetteer.State{}) && c.State != r.within || c.Size < r.least || c.Other && r.primary {
				continue
			}
			if r.country != "" || c.Size >= minWorldSize && !longer {
				found := candidate{c, score + float64(c.Edits)*perMistake, longer}
				if c.Other {
					found.score += forOther
				}
				all = append(all, found)
			}
		}
	}
	add(forName, false, places.Cities(r.city, r.country))
	if !mistakes || r.country == "" || r.guessed || r.selfCity {
		return all
	}
	if slices.ContainsFunc(places.Cities(r.city, ""), func(c gazetteer.City) bool {
		return c.Size >= minWorldSize || c.Size >= minKnownSize && c.Country == r.country
	}) {
		return all // the name is right, even if it is not in the state or country
	}
	key := gazetteer.Fold(r.city)
	edits := 0
	switch {
	case len(key) >= minForTwo:
		edits = 2
	case len(key) >= minForOneSure:
		edits = 1
	}
	sure := len(key) >= minForOne || len(areas) > 0
	if len(key) >= minForOneSure {
		add(forLonger, true, known(places.CitiesStarting(r.city, r.country)))
		if shorter, ok := withoutDistrict(r.city); ok {
			add(forLonger, true, places.Cities(shorter, r.country))
		}
	}
	if edits > 0 {
		near := places.CitiesNear(r.city, r.country, 1)
		if !sure { // a short name without confirmation: at least its first letter must be right
			near = slices.DeleteFunc(near, func(c gazetteer.City) bool { return !strings.HasPrefix(gazetteer.Fold(c.Name), key[:1]) })
		}
		add(forName, false, near)
	}
	if edits > 1 && len(all) == 0 {
		add(forName, false, places.CitiesNear(r.city, r.country, edits))
	}
	return all
}

var district = regexp.MustCompile(`(?i)^(.{4,}?),? (?:cedex(?: \d+)?|[A-Z]{1,2}|[IVX]+\.?|\d{1,4}(?:er|e|ème|eme|\.)?)$`)

// withoutDistrict returns the name of a city without the district that follows
// it, as in København V, Paris 12 and Lyon Cedex 03. Other words belong to the
// name: Muir Beach is not Muir.
func withoutDistrict(city string) (string, bool) {
	m := district.FindStringSubmatch(city)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// minKnownSize is the minimum size of a city that is found by part of its name:
// about 15,000 people.
const minKnownSize = 28

func known(cities []gazetteer.City) []gazetteer.City {
	return slices.DeleteFunc(cities, func(c gazetteer.City) bool { return c.Size < minKnownSize })
}

// scorer scores the locations that a reading may refer to.
type scorer struct {
	reading
	areas       []area
	postalKnown bool
	spoken      []string // codes of the countries where streets are named like that of the reading; empty if it could be in any
}

// maxTownRadius is the maximum distance of a postal code from the center of its
// city.
const maxTownRadius lastmile.Meters = 50_000

// city scores a city.
func (j *scorer) city(c candidate) *match {
	m := &match{reading: j.reading, city: &c.City, score: c.score + float64(c.Size)*perSize, cityWrong: c.Edits > 0}
	m.incomplete = c.Edits > 0 || c.longer
	nearest := maxTownRadius
	for i, a := range j.areas {
		far := a.location.Distance(c.Location)
		if gazetteer.Fold(a.city) == gazetteer.Fold(c.Name) && far < 2*maxTownRadius {
			far = min(far, maxTownRadius) / 2
		}
		if far < nearest {
			m.area, nearest = &j.areas[i], far
		}
	}
	switch {
	case m.area != nil:
		m.score += forArea + forAgreement
	case j.postal != "" && j.postalKnown:
		m.score += againstArea
		m.postalWrong, m.incomplete = true, true
	}
	m.score += j.forRegion()
	if slices.Contains(j.spoken, c.Country) {
		m.score += forStreet
	}
	if j.guessed && (m.score < forName || !j.confirmed(m)) {
		return nil
	}
	if j.guessed {
		m.score += forGuess
	}
	if j.far != "" || j.reversed {
		if j.far != "" && j.country == "US" && !isCounty(j.far, c.County) {
			return nil
		}
		m.score += forFar
	}
	if j.extra {
		if c.Edits > 0 && (j.within == gazetteer.State{}) && m.area == nil {
			return nil
		}
		m.score += forExtra
		m.incomplete = true
	}
	return m
}

// confirmed reports whether a city is supported by more than its name.
func (j *scorer) confirmed(m *match) bool {
	return m.area != nil || j.within != gazetteer.State{} || j.named && m.city.Size >= minWorldSize
}

// areaOnly scores the postal code alone.
func (j *scorer) areaOnly() *match {
	if len(j.areas) == 0 || j.guessed {
		return nil
	}
	m := &match{reading: j.reading, area: &j.areas[0], score: forArea}
	if j.reading.city != "" {
		m.score += againstCity
		m.cityWrong, m.incomplete = true, true
	}
	m.score += j.forRegion()
	return m
}

// forRegion returns the score of the country and the state.
func (j *scorer) forRegion() (score float64) {
	if j.state != "" && j.within != (gazetteer.State{}) {
		score += forState
	}
	if j.named && (j.within == gazetteer.State{}) && !j.selfCity {
		score += forCountry
	}
	if j.home {
		score += forHome
	}
	return score
}

var countyWord = regexp.MustCompile(`(?i)\b(?:county|co|parish|borough|township|twp)\b`)

// isCounty reports whether name, which follows a city, is its county.
func isCounty(name, county string) bool {
	bare := func(text string) string { return gazetteer.Fold(countyWord.ReplaceAllString(text, "")) }
	return countyWord.MatchString(name) || bare(name) == bare(county)
}

// place returns the result for a match.
func (m *match) place(places *gazetteer.Gazetteer) lastmile.GeocodedAddress {
	r := m.withStreet()
	p := lastmile.GeocodedAddress{
		Precision: lastmile.PrecisionCity, Source: GazetteerSource,
		Address: lastmile.Address{Number: r.number, Street: r.street, Apartment: r.apartment, PostalCode: r.postal},
	}
	country := m.country
	if m.postalWrong {
		p.Address.PostalCode = ""
	}
	if m.city != nil {
		p.Location, country = m.city.Location, m.city.Country
		p.Address.City, p.Address.State, p.Address.County = m.city.Name, m.city.State.Name, m.city.County
	}
	if m.area != nil {
		p.Location, p.Precision = m.area.location, lastmile.PrecisionPostalCode
		p.Address.State = m.area.state.Name
		p.Address.City = cmp.Or(p.Address.City, m.area.city)
		p.Address.County = cmp.Or(m.area.county, p.Address.County)
	}
	p.Address.Country = places.CountryName(country)
	p.Warnings = []string{lastmile.WarnApproximate}
	for _, w := range []struct {
		wrong bool
		text  string
	}{
		{m.cityWrong, lastmile.MismatchCity},
		{m.postalWrong, lastmile.MismatchPostal},
	} {
		if w.wrong {
			p.Warnings = append(p.Warnings, w.text)
		}
	}
	return p
}
