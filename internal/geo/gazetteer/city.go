package gazetteer

import (
	"maps"
	"slices"
	"strings"
)

// shortName is the city that a short name denotes.
type shortName struct{ country, name string }

// shortNames maps common short names to cities. Short names that are also codes of states,
// such as LA, are left out.
var shortNames = map[string]shortName{
	"sf": {"US", "san francisco"}, "nyc": {"US", "new york"}, "philly": {"US", "philadelphia"}, "kc": {"US", "kansas city"},
	"cdmx": {"MX", "mexico city"},
}

// Cities returns the cities with a name, in one country or, if it is empty, in
// all. Names are compared as folded.
func (g *Gazetteer) Cities(name, country string) []City {
	if len(name) > maxName {
		return nil
	}
	key := Fold(name)
	short, known := shortNames[key]
	if known && country == short.country {
		return g.citiesByKey([]byte(short.name), country)
	}
	cities := g.citiesByKey([]byte(key), country)
	if known && country == "" && len(cities) == 0 {
		return g.citiesByKey([]byte(short.name), short.country)
	}
	return cities
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

// maxStarting is the maximum number of cities that CitiesStarting considers.
const maxStarting = 2000

// qualifiers are words that begin the part of a city's name that is often omitted.
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
