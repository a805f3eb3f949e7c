package gazetteer

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

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

// States returns the states of all countries with a name or code, those with the largest
// cities first.
func (g *Gazetteer) States(text string) []State {
	if len(text) > maxName {
		return nil
	}
	key := Fold(text)
	return g.statesIn("", func(code string) (from, to int) { return g.regionKeys.find([]byte(code + key)) })
}

// statesIn returns the states that a function finds in a country, or in all if it is empty.
func (g *Gazetteer) statesIn(country string, find func(code string) (from, to int)) []State {
	var found []uint16
	for _, c := range g.countries {
		if country == "" || c.code == country {
			from, to := find(c.code)
			found = append(found, g.regionOf[from:to]...)
		}
	}
	slices.SortStableFunc(found, func(a, b uint16) int { return cmp.Compare(g.regions[b].largest, g.regions[a].largest) })
	var states []State
	for _, i := range found {
		if state := g.state(i); !slices.Contains(states, state) {
			states = append(states, state)
		}
	}
	return states
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
