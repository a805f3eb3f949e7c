package gazetteer

import (
	"cmp"
	"maps"
	"slices"
)

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
