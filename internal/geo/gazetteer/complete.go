package gazetteer

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"dray/internal/lastmile"
)

// Weights of cities, in units of size. Two units double the weight.
const (
	homeWeight   = 8  // a city of the home country
	wholeWeight  = 12 // the text is the whole name
	otherWeight  = 6  // the text is another whole name, which is not shown
	hiddenWeight = -8 // only another name begins with the text
	localWeight  = -4 // the same at home if names are not shown in the local language
)

// inEnglish are countries where people use most names as they are shown, in English.
var inEnglish = map[string]bool{"US": true, "GB": true, "IE": true, "AU": true, "NZ": true, "CA": true}

// Weight returns how likely it is that a city is meant, in units of size. home is the country
// in which cities are more likely. whole means that the text is the whole name of the city
// rather than the beginning.
func (c City) Weight(home string, whole bool) int {
	return weight(c.Size, home, c.Country == home, whole, c.Other)
}

func weight(size int, home string, atHome, whole, other bool) int {
	atHome = atHome && home != ""
	if atHome {
		size += homeWeight
	}
	switch {
	case whole && other:
		size += otherWeight
	case whole:
		size += wholeWeight
	case other && atHome && !inEnglish[home]:
		size += localWeight
	case other:
		size += hiddenWeight
	}
	return size
}

// Completion is a city with a name that begins with a text.
type Completion struct {
	City
	Whole bool // the text is the whole name
	Extra int  // to be added to its Weight, because the text is likely in the local language
}

// minHidden is the minimum length in bytes of a text that is completed to names that are not
// shown. Cities have names in many languages, some of which begin with any two letters.
const minHidden = 4

// CitiesBeginning returns the cities of a country, or of all if it is empty, with a name that
// begins with a text, ordered by Weight. A name that is not shown counts less: Münch is Munich
// rather than Münchberg, but Los does not mean Cincinnati, although it was called
// Losantiville.
func (g *Gazetteer) CitiesBeginning(text, country, home string, limit int) []Completion {
	shown, spelled := beginnings(text)
	short, isShort := shortNames[shown[0]]
	if isShort && short.country == home {
		shown[0] = short.name
	}
	if len(shown[0]) < 2 || len(shown[0]) > maxName || utf8.RuneCountInString(text) < 2 && isASCII(shown[0]) {
		return nil // ß is one letter, although it is compared as ss
	}
	others := map[int]bool{} // rows that were found by another name; a city may have several
	found := ranking{limit: 2 * limit}
	add := func(row int, whole, other bool) {
		if !others[row] && g.inCountry(row, country) {
			if other {
				others[row] = true
			}
			found.add(candidate{row: row, weight: weight(int(g.citySize[row]), home, g.inCountry(row, home), whole, other), whole: whole, other: other})
		}
	}
	addOthers := func(find func(*table, []byte) (from, to int), whole bool) {
		for _, key := range slices.Concat(shown, spelled) {
			from, to := find(&g.otherKeys, []byte(key))
			for _, row := range g.otherOf[from:to] {
				add(int(row), whole, true)
			}
		}
		for _, key := range spelled {
			from, to := find(&g.cityKeys, []byte(key))
			for row := from; row < to; row++ {
				add(row, whole, true)
			}
		}
	}
	addOthers((*table).find, true)
	if isShort && short.country != home {
		from, to := g.cityKeys.find([]byte(short.name))
		for row := from; row < to; row++ {
			if g.inCountry(row, short.country) {
				add(row, true, true)
			}
		}
	}
	for _, key := range shown {
		from, to := g.cityKeys.startingWith([]byte(key))
		for row := from; row < to; row++ {
			add(row, len(g.cityKeys.key(row)) == len(key), false)
		}
	}
	if len(shown[0]) >= minHidden {
		addOthers((*table).startingWith, false)
	}
	g.preferLocal(found.best, home)
	var all []Completion
	for _, c := range g.distinct(found.best, limit) {
		city := g.city(c.row, 0)
		city.Other = c.other
		all = append(all, Completion{City: city, Whole: c.whole, Extra: c.extra})
	}
	return all
}

// preferLocal moves a larger city of the same country before the first candidate if the text
// begins its local name, which is not shown: Den H is The Hague rather than Den Helder.
func (g *Gazetteer) preferLocal(found []candidate, home string) {
	if len(found) == 0 || found[0].whole || found[0].other {
		return
	}
	first, of := found[0], g.countries[g.regions[g.cityRegion[found[0].row]].country].code
	if of == home || inEnglish[of] {
		return
	}
	at := slices.IndexFunc(found, func(c candidate) bool { return c.other && !c.whole && g.inCountry(c.row, of) })
	if at < 0 || found[at].weight-hiddenWeight+localWeight <= first.weight {
		return
	}
	local := found[at]
	local.extra = first.weight + 1 - local.weight
	local.weight += local.extra
	copy(found[1:], found[:at])
	found[0] = local
}

// withoutAccents replaces the two letters that are typed for an accented letter with the
// folded letter.
var withoutAccents = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// beginnings returns the folded beginnings of names that a text may stand for. The last word
// may be an abbreviation or incomplete: Sta is Santa or Stamford. spelled has the same with
// accented letters that were typed as two (Duesseldorf for Düsseldorf, which is folded to
// Dusseldorf), and other meanings of an abbreviation: S. João is São João rather than South.
func beginnings(text string) (shown, spelled []string) {
	shown = []string{Fold(text)}
	words := strings.Fields(Plain(text))
	if last := len(words) - 1; last >= 0 && abbreviations[words[last]] != "" {
		shown = append(shown, strings.TrimSuffix(shown[0], abbreviations[words[last]])+words[last])
	}
	for _, key := range shown {
		if other := withoutAccents.Replace(key); other != key && len(other) >= 2 {
			spelled = append(spelled, other)
		}
	}
	if rest, ok := strings.CutPrefix(strings.Join(words, " "), "s "); ok {
		for _, saint := range []string{"sao ", "san ", "saint "} {
			spelled = append(spelled, saint+rest)
		}
	}
	return shown, spelled
}

// minFirst is the minimum length of the first word of a name whose other words may be
// abbreviated.
const minFirst = 4

// CitiesShortened returns the cities that a text may be short for, the largest first: words
// after the first may be abbreviated, as in Rothenburg o.d.T. or Frankfurt a. M.
func (g *Gazetteer) CitiesShortened(text, home string, limit int) []City {
	words := strings.Fields(Plain(strings.ReplaceAll(text, ".", " ")))
	if len(words) < 2 || len(words[0]) < minFirst || len(text) > maxName {
		return nil
	}
	found := ranking{limit: limit}
	from, to := g.cityKeys.startingWith([]byte(words[0] + " "))
	for row := from; row < to; row++ {
		long := strings.Fields(string(g.cityKeys.key(row)))
		if slices.EqualFunc(words, long, func(word, long string) bool { return strings.HasPrefix(long, word) }) {
			found.add(candidate{row: row, weight: weight(int(g.citySize[row]), home, g.inCountry(row, home), false, false)})
		}
	}
	var cities []City
	for _, c := range found.best {
		cities = append(cities, g.city(c.row, 0))
	}
	return cities
}

// candidate is a city that may be meant.
type candidate struct {
	row, weight  int
	extra        int // part of the weight, see Completion
	whole, other bool
}

// ranking keeps the candidates with the largest weights, the largest first.
type ranking struct {
	best  []candidate
	limit int
}

func (r *ranking) add(c candidate) {
	at, _ := slices.BinarySearchFunc(r.best, c, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.row, b.row))
	})
	if at < r.limit {
		r.best = slices.Insert(r.best[:min(len(r.best), r.limit-1)], at, c)
	}
}

// distinct returns the first candidates that are different cities, up to a limit.
func (g *Gazetteer) distinct(all []candidate, limit int) []candidate {
	var kept []candidate
	for _, c := range all {
		if len(kept) < limit && !slices.ContainsFunc(kept, func(k candidate) bool { return g.same(k.row, c.row) }) {
			kept = append(kept, c)
		}
	}
	return kept
}

// sameCity is the maximum distance between the centers of a city in different sources.
const sameCity lastmile.Meters = 25_000

// same reports whether two rows are one city under two of its names: New York, as the
// postal service calls it, and New York City.
func (g *Gazetteer) same(a, b int) bool {
	return a == b || g.citySize[a] == g.citySize[b] && g.cityRegion[a] == g.cityRegion[b] && (g.hasOther(a, g.cityKeys.key(b)) || g.hasOther(b, g.cityKeys.key(a))) &&
		point(g.cityLon[a], g.cityLat[a]).Distance(point(g.cityLon[b], g.cityLat[b])) < sameCity
}

// hasOther reports whether key is an alternative name of a city.
func (g *Gazetteer) hasOther(row int, key []byte) bool {
	from, to := g.otherKeys.find(key)
	return slices.Contains(g.otherOf[from:to], uint32(row))
}

// LargestCities returns the largest cities of a country, or of one of its states.
func (g *Gazetteer) LargestCities(country string, state State, limit int) []City {
	wanted := make([]bool, len(g.regions))
	for i, r := range g.regions {
		wanted[i] = g.countries[r.country].code == country && (state == State{} || g.state(uint16(i)) == state)
	}
	largest := ranking{limit: 2 * limit}
	for row, of := range g.cityRegion {
		if wanted[of] {
			largest.add(candidate{row: row, weight: int(g.citySize[row])})
		}
	}
	var cities []City
	for _, c := range g.distinct(largest.best, limit) {
		cities = append(cities, g.city(c.row, 0))
	}
	return cities
}

// minPrefix is the minimum length in bytes of a text that is completed to the name of a
// country or state.
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

// StatesBeginning returns the states of a country, or of all if it is empty, with a name that
// begins with a text: those with the largest cities first.
func (g *Gazetteer) StatesBeginning(country, text string) []State {
	prefix := Fold(text)
	if len(prefix) < minPrefix || len(prefix) > maxName {
		return nil
	}
	return g.statesIn(country, func(code string) (from, to int) { return g.regionKeys.startingWith([]byte(code + prefix)) })
}
