package gazetteer

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dray/internal/lastmile"
)

// Gazetteer finds places. It is immutable and safe for concurrent use.
type Gazetteer struct {
	Sources string // description of the data's origin

	countries   []country
	countryKeys table
	countryOf   []uint8

	regions    []region
	regionKeys table // the country's code, then the folded name
	regionOf   []uint16

	cityKeys         table // for equal keys, the largest city first
	cityNames        table // empty if the capitalized key is the name
	cityRegion       []uint16
	cityCounty       []uint16
	citySize         []byte
	cityLon, cityLat []int32
	byBand           []uint32              // cities, by the band of their latitude
	bands            [bandCount + 1]uint32 // where each begins in byBand
	counties         []string

	otherKeys table // alternative names of cities
	otherOf   []uint32

	postal               []uint32 // postal codes of the United States
	postalCity           []uint32
	postalLon, postalLat []int32
}

type country struct{ code, name string }

type region struct {
	code, name string
	country    uint8
	lon, lat   int32 // south-west corner
}

// City is a city found by name.
type City struct {
	Name     string
	County   string // United States only
	State    State
	Country  string // ISO 3166-1 alpha-2
	Location lastmile.Point
	Size     int  // twice the binary logarithm of the population; 0 if unknown
	Edits    int  // edit distance from the requested name
	Other    bool // found by an alternative name
}

// State is a state, province or similar division. The zero State is none.
type State struct {
	Name, Code, Country string
}

// maxName is longer than any name, in bytes.
const maxName = 200

// Country returns the ISO 3166-1 alpha-2 code for the name of a country in any
// of many languages, or for a code of two or three letters.
func (g *Gazetteer) Country(text string) (code string, ok bool) {
	if len(text) > maxName {
		return "", false
	}
	// Codes are not abbreviations: MT is Malta, not a mount.
	for _, key := range append([]string{Plain(text)}, regionNames(text)...) {
		if from, to := g.countryKeys.find([]byte(key)); from < to {
			return g.countries[g.countryOf[from]].code, true
		}
	}
	return "", false
}

// minNameGuess is the minimum length of a country's or state's name in which a
// mistake is tolerated.
const minNameGuess = 5

// CountryNear is like Country for a name with one mistake.
func (g *Gazetteer) CountryNear(text string) (code string, ok bool) {
	if len(text) > maxName {
		return "", false
	}
	key := []byte(Fold(text))
	if len(key) < minNameGuess {
		return "", false
	}
	found := make(map[uint8]bool)
	g.countryKeys.near(key, 1, func(from, _, _ int) {
		if len(g.countryKeys.key(from)) >= minNameGuess {
			found[g.countryOf[from]] = true
		}
	})
	for i := range found {
		code = g.countries[i].code
	}
	return code, len(found) == 1
}

// CountryName returns the English name of a country.
func (g *Gazetteer) CountryName(code string) string {
	i, ok := slices.BinarySearchFunc(g.countries, code, func(c country, code string) int { return strings.Compare(c.code, code) })
	if !ok {
		return ""
	}
	return g.countries[i].name
}

// State returns the state of a country by name or code.
func (g *Gazetteer) State(country, text string) (State, bool) {
	if len(text) > maxName {
		return State{}, false
	}
	for _, key := range regionNames(text) {
		if from, to := g.regionKeys.find([]byte(country + key)); from < to {
			return g.state(g.regionOf[from]), true
		}
	}
	return State{}, false
}

// regionNames returns the folded forms of a name of a country or state: N. Ireland
// is Northern Ireland, and W. Australia is Western Australia.
func regionNames(text string) []string {
	key := Fold(text)
	for _, direction := range []string{"north", "south", "east", "west"} {
		if rest, ok := strings.CutPrefix(key, direction+" "); ok {
			return []string{key, direction + "ern " + rest}
		}
	}
	return []string{key}
}

// States returns the states of all countries with a name or code.
func (g *Gazetteer) States(text string) []State {
	if len(text) > maxName {
		return nil
	}
	var all []State
	key := Fold(text)
	for _, c := range g.countries {
		if from, to := g.regionKeys.find([]byte(c.code + key)); from < to {
			all = append(all, g.state(g.regionOf[from]))
		}
	}
	return all
}

// StateNear is like State for a name with one mistake.
func (g *Gazetteer) StateNear(country, text string) (State, bool) {
	if len(text) > maxName {
		return State{}, false
	}
	key := Fold(text)
	if len(key) < minNameGuess || country == "" {
		return State{}, false
	}
	found := make(map[uint16]bool)
	g.regionKeys.near([]byte(country+key), 1, func(from, _, _ int) {
		near := g.regionKeys.key(from)
		if len(near) >= len(country)+minNameGuess && strings.HasPrefix(string(near), country) {
			found[g.regionOf[from]] = true
		}
	})
	if len(found) != 1 {
		return State{}, false
	}
	return g.state(slices.Collect(maps.Keys(found))[0]), true
}

func (g *Gazetteer) state(i uint16) State {
	r := g.regions[i]
	return State{Name: r.name, Code: r.code, Country: g.countries[r.country].code}
}

func (g *Gazetteer) city(row, edits int) City {
	s := g.state(g.cityRegion[row])
	return City{
		Name: g.cityName(row), County: g.counties[g.cityCounty[row]], State: s, Country: s.Country,
		Location: point(g.cityLon[row], g.cityLat[row]), Size: int(g.citySize[row]), Edits: edits,
	}
}

func point(lon, lat int32) lastmile.Point {
	return lastmile.Point{Lon: float64(lon) / perDegree, Lat: float64(lat) / perDegree}
}

func (g *Gazetteer) cityName(row int) string {
	if name := g.cityNames.key(row); len(name) > 0 {
		return string(name)
	}
	return titled(string(g.cityKeys.key(row)))
}

func (g *Gazetteer) inCountry(row int, country string) bool {
	return country == "" || g.countries[g.regions[g.cityRegion[row]].country].code == country
}

// shortNames are common short names of cities of the United States, except
// those that are also codes of states, such as LA.
var shortNames = map[string]string{"sf": "san francisco", "nyc": "new york", "philly": "philadelphia"}

// Cities returns the cities with a name, in one country or, if it is empty, in
// all. Names are compared as folded.
func (g *Gazetteer) Cities(name, country string) []City {
	if len(name) > maxName {
		return nil
	}
	key := Fold(name)
	if long := shortNames[key]; long != "" && country == "US" {
		key = long
	}
	return g.citiesByKey([]byte(key), country)
}

func (g *Gazetteer) citiesByKey(key []byte, country string) []City {
	if len(key) == 0 {
		return nil
	}
	var cities []City
	from, to := g.cityKeys.find(key)
	for row := from; row < to; row++ {
		if g.inCountry(row, country) {
			cities = append(cities, g.city(row, 0))
		}
	}
	from, to = g.otherKeys.find(key)
	for i := from; i < to; i++ {
		if row := int(g.otherOf[i]); g.inCountry(row, country) {
			c := g.city(row, 0)
			c.Other = true
			cities = append(cities, c)
		}
	}
	return cities
}

// CitiesNear returns the cities whose name differs from the given one by 1 to
// edits mistakes, in one country or, if it is empty, in all.
func (g *Gazetteer) CitiesNear(name, country string, edits int) []City {
	key := []byte(Fold(name))
	type quality struct {
		mistakes int
		other    bool
	}
	best := make(map[int]quality) // by row
	note := func(row int, q quality) {
		if before, ok := best[row]; g.inCountry(row, country) && (!ok || q.mistakes < before.mistakes) {
			best[row] = q
		}
	}
	g.cityKeys.near(key, edits, func(from, to, mistakes int) {
		for row := from; row < to; row++ {
			note(row, quality{mistakes, false})
		}
	})
	g.otherKeys.near(key, edits, func(from, to, mistakes int) {
		for i := from; i < to; i++ {
			note(int(g.otherOf[i]), quality{mistakes, true})
		}
	})
	var cities []City
	for _, row := range slices.Sorted(maps.Keys(best)) {
		c := g.city(row, best[row].mistakes)
		c.Other = best[row].other
		cities = append(cities, c)
	}
	return cities
}

// Inhabited reports whether any city of a country, or of one of its states, is
// near a location.
func (g *Gazetteer) Inhabited(country string, state State, near lastmile.Point, within lastmile.Meters) bool {
	const perMeter = perDegree / 111_000.0
	lon, lat := fixed(near.Lon), fixed(near.Lat)
	apart := int32(float64(within)*perMeter) + 1
	for row := range g.between(lat-apart, lat+apart) {
		if !g.inCountry(row, country) || state != (State{}) && g.state(g.cityRegion[row]) != state {
			continue
		}
		if point(g.cityLon[row], g.cityLat[row]).Distance(point(lon, lat)) <= within {
			return true
		}
	}
	return false
}

// between returns the cities between two latitudes.
func (g *Gazetteer) between(south, north int32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, row := range g.byBand[g.bands[bandOf(south)]:g.bands[bandOf(north)+1]] {
			if at := g.cityLat[row]; at >= south && at <= north && !yield(int(row)) {
				return
			}
		}
	}
}

// bandCount is the number of bands of half a degree of latitude.
const bandCount = 360

// bandOf returns the band of a latitude, from south to north.
func bandOf(lat int32) int {
	return int(min(max((lat+90*perDegree)/(perDegree/2), 0), bandCount-1))
}

// sortBands sorts the cities by their bands.
func (g *Gazetteer) sortBands() {
	for _, lat := range g.cityLat {
		g.bands[bandOf(lat)+1]++
	}
	for band := range bandCount {
		g.bands[band+1] += g.bands[band]
	}
	at := g.bands
	g.byBand = make([]uint32, len(g.cityLat))
	for row, lat := range g.cityLat {
		g.byBand[at[bandOf(lat)]] = uint32(row)
		at[bandOf(lat)]++
	}
}

// Nearest returns the city whose center is nearest to a location. A city counts as
// nearer the larger it is, because larger cities reach farther.
func (g *Gazetteer) Nearest(near lastmile.Point, within lastmile.Meters) (City, bool) {
	const perMeter = perDegree / 111_000.0
	lon, lat := fixed(near.Lon), fixed(near.Lat)
	apart := int32(float64(within)*perMeter) + 1
	best, found := float64(within), -1
	for row := range g.between(lat-apart, lat+apart) {
		away := float64(lastmile.SphericalDistance(point(g.cityLon[row], g.cityLat[row]), point(lon, lat)))
		if away > float64(within) {
			continue
		}
		if away /= 1 + float64(g.citySize[row])/10; away < best {
			best, found = away, row
		}
	}
	if found < 0 {
		return City{}, false
	}
	return g.city(found, 0), true
}

// homeWeight is how much larger a city of the home country counts, in units of its size:
// 16 times. exactWeight is the same for a city whose name is complete.
const (
	homeWeight  = 8
	exactWeight = 12
)

// CitiesBeginning returns cities with a name that begins with a text, the largest first.
// Those of the home country, and those whose name is the text, count as larger.
func (g *Gazetteer) CitiesBeginning(text, home string, limit int) []City {
	prefix := []byte(Fold(text))
	if len(prefix) < 2 || len(prefix) > maxName {
		return nil
	}
	weights := map[int]int{} // by row
	note := func(row, length int) {
		weight := int(g.citySize[row])
		if home != "" && g.inCountry(row, home) {
			weight += homeWeight
		}
		if length == len(prefix) {
			weight += exactWeight
		}
		weights[row] = max(weights[row], weight)
	}
	from, to := g.cityKeys.startingWith(prefix)
	for row := from; row < to; row++ {
		note(row, len(g.cityKeys.key(row)))
	}
	from, to = g.otherKeys.startingWith(prefix)
	for i := from; i < to; i++ {
		note(int(g.otherOf[i]), len(g.otherKeys.key(i)))
	}
	rows := slices.SortedFunc(maps.Keys(weights), func(a, b int) int { return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b)) })
	var cities []City
	for _, row := range rows[:min(len(rows), limit)] {
		cities = append(cities, g.city(row, 0))
	}
	return cities
}

// LargestCities returns the largest cities of a country, or of one of its states.
func (g *Gazetteer) LargestCities(country string, state State, limit int) []City {
	var rows []int
	for row := range g.citySize {
		if g.inCountry(row, country) && (state == State{} || g.state(g.cityRegion[row]) == state) {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(g.citySize[b], g.citySize[a]) })
	var cities []City
	for _, row := range rows[:min(len(rows), limit)] {
		cities = append(cities, g.city(row, 0))
	}
	return cities
}

// minPrefix is the shortest text that is completed to the name of a country or state, in
// bytes.
const minPrefix = 3

// CountriesBeginning returns the codes of the countries with a name that begins with a
// text, in any of many languages.
func (g *Gazetteer) CountriesBeginning(text string) (codes []string) {
	prefix := Fold(text)
	if len(prefix) < minPrefix || len(prefix) > maxName {
		return nil
	}
	from, to := g.countryKeys.startingWith([]byte(prefix))
	for i := from; i < to; i++ {
		if code := g.countries[g.countryOf[i]].code; !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// StatesBeginning returns the states of a country with a name that begins with a text.
func (g *Gazetteer) StatesBeginning(country, text string) (states []State) {
	prefix := Fold(text)
	if len(prefix) < minPrefix || len(prefix) > maxName || country == "" {
		return nil
	}
	from, to := g.regionKeys.startingWith([]byte(country + prefix))
	for i := from; i < to; i++ {
		if state := g.state(g.regionOf[i]); !slices.Contains(states, state) {
			states = append(states, state)
		}
	}
	return states
}

// maxStarting limits how many cities CitiesStarting considers.
const maxStarting = 2000

// qualifiers are words that begin what is often omitted from the end of a
// city's name.
var qualifiers = map[string]bool{
	"am": true, "an": true, "auf": true, "bei": true, "im": true, "in": true, "ob": true, "vor": true, "unter": true,
	"upon": true, "on": true, "by": true, "under": true, "sur": true, "sous": true, "en": true, "aan": true, "nad": true, "pod": true, "na": true,
	"de": true, "del": true, "da": true, "do": true, "du": true, "di": true, "della": true, "sul": true, "i": true, "v": true, "u": true,
}

// CitiesStarting returns the cities of a country whose name is the given one,
// followed by a qualifier, as in Frankfurt am Main. A name that is only the
// first of several words, such as Fort, has no cities.
func (g *Gazetteer) CitiesStarting(name, country string) []City {
	prefix := []byte(Fold(name) + " ")
	from, to := g.cityKeys.startingWith(prefix)
	var cities []City
	for row := from; row < min(to, from+maxStarting); row++ {
		next, _, more := strings.Cut(string(g.cityKeys.key(row)[len(prefix):]), " ")
		if more && qualifiers[next] && g.inCountry(row, country) {
			cities = append(cities, g.city(row, 0))
		}
	}
	return cities
}

// Postal is the area of a postal code of the United States.
type Postal struct {
	Code     string
	City     City
	Location lastmile.Point // center of the area
}

// PostalCode returns the areas of a postal code of the United States, given as
// a number. Nearly all codes have one area.
func (g *Gazetteer) PostalCode(code uint32) []Postal {
	from, _ := slices.BinarySearch(g.postal, code)
	var found []Postal
	for i := from; i < len(g.postal) && g.postal[i] == code; i++ {
		found = append(found, Postal{
			Code: digits(code), City: g.city(int(g.postalCity[i]), 0), Location: point(g.postalLon[i], g.postalLat[i]),
		})
	}
	return found
}

// AllCities returns every city, ordered by name.
func (g *Gazetteer) AllCities() iter.Seq[City] {
	return func(yield func(City) bool) {
		for row := range g.cityKeys.len() {
			if !yield(g.city(row, 0)) {
				return
			}
		}
	}
}

// AllPostalCodes returns every postal code of the United States in order.
func (g *Gazetteer) AllPostalCodes() iter.Seq[Postal] {
	return func(yield func(Postal) bool) {
		for i, code := range g.postal {
			if !yield(Postal{digits(code), g.city(int(g.postalCity[i]), 0), point(g.postalLon[i], g.postalLat[i])}) {
				return
			}
		}
	}
}

// digits formats a postal code of the United States.
func digits(code uint32) string {
	text := []byte("00000")
	for i := len(text) - 1; code > 0 && i >= 0; i-- {
		text[i] = byte('0' + code%10)
		code /= 10
	}
	return string(text)
}

// small are words that are not capitalized within names.
var small = map[string]bool{
	"de": true, "del": true, "di": true, "da": true, "do": true, "dos": true, "das": true, "du": true, "des": true,
	"la": true, "las": true, "le": true, "les": true, "los": true, "el": true, "en": true, "y": true, "e": true,
	"sur": true, "sous": true, "an": true, "der": true, "am": true, "im": true, "in": true, "bei": true, "und": true,
	"of": true, "on": true, "the": true, "upon": true, "and": true, "van": true, "den": true, "aan": true, "nad": true, "pod": true,
}

// titled capitalizes a folded name.
func titled(key string) string {
	out := make([]byte, 0, len(key))
	for i, word := range strings.Split(key, " ") {
		if i > 0 {
			out = append(out, ' ')
		}
		if i > 0 && small[word] {
			out = append(out, word...)
			continue
		}
		first, size := utf8.DecodeRuneInString(word)
		if size > 0 {
			out = utf8.AppendRune(out, unicode.ToUpper(first))
		}
		out = append(out, word[size:]...)
	}
	return string(out)
}
