package gazetteer

import (
	"iter"
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
	byBand           []uint32              // rows of cities, sorted by the band of their latitude
	bands            [bandCount + 1]uint32 // start of each band in byBand
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
	largest    byte  // size of its largest city
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
