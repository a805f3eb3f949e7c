package geo

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// GazetteerSource is the source of locations found by the gazetteer.
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
	readings := read(places, q)
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
		return lastmile.GeocodedAddress{}, notFound(q)
	}
	place := best.place(places)
	return place, place.RequirePrecision(q.Precision)
}

func notFound(q lastmile.AddressQuery) error {
	switch {
	case q.Unparsed != "":
		return lastmile.AddressNotFound("no city or postal code in the line %q is known", q.Unparsed)
	case q.Address.PostalCode != "":
		return lastmile.AddressNotFound("no place is known with the city %q or the postal code %q in %q", q.Address.City, q.Address.PostalCode, q.Address.Country)
	}
	return lastmile.AddressNotFound("no city %q is known in %q", q.Address.City, q.Address.Country)
}

// read returns the possible interpretations of a query.
func read(places *gazetteer.Gazetteer, q lastmile.AddressQuery) []reading {
	var assumed []string
	for _, code := range []string{q.Country, languageOf(q.Language).country} {
		if code = strings.ToUpper(code); places.CountryName(code) != "" && !slices.Contains(assumed, code) {
			assumed = append(assumed, code)
		}
	}
	if q.Unparsed != "" {
		return readLine(places, q.Unparsed, assumed)
	}
	a := q.Address
	r := reading{
		number: tidy(a.Number), street: tidy(a.Street), apartment: tidy(a.Apartment),
		city: tidy(a.City), state: tidy(a.State), postal: tidy(a.PostalCode),
	}
	if a.Country == "" {
		return assuming(r, assumed)
	}
	code, ok := places.Country(a.Country)
	if !ok {
		code, ok = places.CountryNear(a.Country)
	}
	if !ok {
		r.countryWrong = true
		return assuming(r, assumed)
	}
	r.country, r.countryNamed = code, true
	return []reading{r}
}

func assuming(r reading, countries []string) []reading {
	all := make([]reading, len(countries))
	for i, code := range countries {
		all[i] = r
		all[i].country = code
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

	stateWrong, postalWrong, cityWrong bool
	incomplete                         bool // part of the reading is not confirmed
}

// The weights for and against a match.
const (
	forName      = 10.0 // the city's name
	forLonger    = 6.0  // a longer name, or the reading has fewer words
	perMistake   = -3.0
	forOther     = -2.0 // not the city's primary name
	forGuess     = -3.0 // the start of the city's name was guessed
	forFar       = -1.0
	forExtra     = -3.0
	forArea      = 5.0 // the postal code
	forAgreement = 5.0 // the city is where the postal code is
	againstArea  = -3.0
	againstCity  = -3.0
	forState     = 4.0
	againstState = -5.0
	forCountry   = 4.0 // the address names it
	forHome      = 3.0 // it is the organization's country
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
	r = restoreLeadingZero(territory(places, r))
	areas, known, err := g.areas(ctx, places, r.country, r.postal)
	if err != nil {
		return nil, err
	}
	state, stateKnown := places.State(r.country, r.state)
	if !stateKnown && mistakes {
		state, stateKnown = places.StateNear(r.country, r.state)
	}
	judge := scorer{reading: r, areas: areas, postalKnown: known, state: state, stateKnown: stateKnown}
	var best *match
	for _, c := range candidates(places, r, areas, mistakes) {
		if m := judge.city(c); m != nil && (best == nil || m.score > best.score) {
			best = m
		}
	}
	if m := judge.areaOnly(); m != nil && (best == nil || m.score > best.score) {
		best = m
	}
	return best, nil
}

// territory handles territories that the United States Postal Service treats as
// states, and everyone else as countries.
func territory(places *gazetteer.Gazetteer, r reading) reading {
	if r.country != "US" || r.state == "" {
		return r
	}
	if code, ok := territoryCode(places, r.state); ok {
		r.country, r.state = code, ""
	}
	return r
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

func territoryCode(places *gazetteer.Gazetteer, name string) (code string, ok bool) {
	code, ok = places.Country(name)
	return code, ok && slices.Contains([]string{"PR", "GU", "VI", "AS", "MP"}, code)
}

// candidate is a city that may be meant, and how well its name matches.
type candidate struct {
	gazetteer.City
	score  float64
	longer bool // its name is longer, or matches only part of the reading
}

// The minimum length of names in which mistakes are tolerated.
const (
	minForOne     = 5
	minForOneSure = 4 // if its first letter is right, or the location is otherwise confirmed
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
	if !mistakes || r.country == "" || r.guessed || r.countryWrong {
		return all
	}
	key := gazetteer.Fold(r.city)
	edits := 0
	switch {
	case len(key) >= minForTwo:
		edits = 2
	case len(key) >= minForOneSure:
		edits = 1
	}
	sure := len(key) >= minForOne || r.state != "" || len(areas) > 0
	if len(key) >= minForOneSure {
		add(forLonger, true, known(places.CitiesStarting(r.city, r.country)))
		words := strings.Fields(r.city)
		for n := len(words) - 1; n > 0; n-- {
			if shorter := strings.Join(words[:n], " "); len(shorter) >= minForOneSure {
				add(forLonger, true, places.Cities(shorter, r.country))
			}
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

// minKnownSize is the minimum size of a city that is found by part of its name:
// about 15,000 people.
const minKnownSize = 28

func known(cities []gazetteer.City) []gazetteer.City {
	return slices.DeleteFunc(cities, func(c gazetteer.City) bool { return c.Size < minKnownSize })
}

// scorer scores what a reading may refer to.
type scorer struct {
	reading
	areas       []area
	postalKnown bool
	state       gazetteer.State
	stateKnown  bool
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
	j.scoreState(m, c.State)
	if j.guessed && (m.score < forName || !j.confirmed(m)) {
		return nil
	}
	if j.guessed {
		m.score += forGuess
	}
	if j.far {
		m.score += forFar
	}
	if j.extra {
		m.score += forExtra
		m.incomplete = true
	}
	return m
}

// confirmed reports whether a city is supported by more than its name.
func (j *scorer) confirmed(m *match) bool {
	return m.area != nil || j.stateKnown && !m.stateWrong || j.countryNamed && m.city.Size >= minWorldSize
}

// areaOnly scores the postal code alone.
func (j *scorer) areaOnly() *match {
	if len(j.areas) == 0 || j.guessed {
		return nil
	}
	m := &match{reading: j.reading, area: &j.areas[0], score: forArea}
	if j.stateKnown {
		for i, a := range j.areas {
			if a.state == j.state {
				m.area = &j.areas[i]
				break
			}
		}
	}
	if j.reading.city != "" {
		m.score += againstCity
		m.cityWrong, m.incomplete = true, true
	}
	j.scoreState(m, m.area.state)
	return m
}

// scoreState scores the state and the country.
func (j *scorer) scoreState(m *match, found gazetteer.State) {
	switch {
	case j.reading.state == "" || found.Name == "":
	case j.stateKnown && j.state == found:
		m.score += forState
	case j.stateKnown:
		m.score += againstState
		m.stateWrong, m.incomplete = true, true
	case j.country == "US": // all of whose states are known
		m.stateWrong, m.incomplete = true, true
	}
	switch {
	case j.countryNamed:
		m.score += forCountry
	case j.country != "":
		m.score += forHome
	}
}

// place returns the result for a match.
func (m *match) place(places *gazetteer.Gazetteer) lastmile.GeocodedAddress {
	p := lastmile.GeocodedAddress{
		Precision: lastmile.PrecisionCity, Source: GazetteerSource,
		Address: lastmile.Address{Number: m.number, Street: m.street, Apartment: m.apartment, PostalCode: m.postal},
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
		{m.stateWrong, lastmile.MismatchState},
		{m.postalWrong, lastmile.MismatchPostal},
		{m.countryWrong, lastmile.MismatchCountry},
	} {
		if w.wrong {
			p.Warnings = append(p.Warnings, w.text)
		}
	}
	return p
}
