package geo

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"dray/internal/geo/gazetteer"
)

// reading is one interpretation of an address.
type reading struct {
	number, street, apartment string
	city, state, postal       string
	country                   string // ISO 3166-1 alpha-2; "" for any

	before   []string        // the parts of a line with the number, street and apartment
	within   gazetteer.State // the result must be in this state; the zero State for any
	named    bool            // the address names the country or the state, so the result must be there
	home     bool            // the country is the default
	selfCity bool            // the name of the country or state is also that of the city
	least    int             // minimum size of the city
	primary  bool            // the city's primary name must match
	guessed  bool            // the start of the city's name was guessed
	far      string          // the part that follows the city
	reversed bool            // the street follows the city
	extra    bool            // more than a street precedes the city
}

// withStreet returns a reading of a line with its number, street and apartment.
func (r reading) withStreet() reading {
	if r.before != nil {
		r.number, r.street, r.apartment = readStreet(r.before)
	}
	return r
}

// Limits of the part of a line that is read.
const (
	maxParts     = 12
	maxCityWords = 5
	maxNameWords = 8 // maximum words of names of countries and states
)

// joinedCode matches a state of the United States and its postal code without a space
// between them.
var joinedCode = regexp.MustCompile(`^((?:.* )?[A-Z]{2})(\d{5}(?:-\d{4})?)$`)

// splitLine splits a line at commas, semicolons and line breaks.
func splitLine(line string) []string {
	var parts []string
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '，' || r == '、' }) {
		part = strings.Join(strings.FieldsFunc(part, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
		if m := joinedCode.FindStringSubmatch(part); m != nil {
			part = m[1] + " " + m[2]
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) > maxParts { // join the first parts, which say least about the location
		parts = append([]string{strings.Join(parts[:len(parts)-maxParts+1], " ")}, parts[len(parts)-maxParts+1:]...)
	}
	return parts
}

// lineReader interprets the lines of addresses.
type lineReader struct {
	places  *gazetteer.Gazetteer
	assumed []string // the countries to assume if a line names none
}

// readLine returns the possible interpretations of a line. assumed are the countries to
// assume if the line names none.
//
// A line names a country or state at its end: by the last part, or by the last words of that
// part, before or after a postal code. The name may be ambiguous (CA is California or Canada,
// Georgia a state or a country): then each meaning is an interpretation, and there are no
// others. A name that is also that of a city (New York, Singapore) can mean the city only
// where a city is expected, which is after the street.
func readLine(places *gazetteer.Gazetteer, line string, assumed []string) []reading {
	parts := splitLine(line)
	if len(parts) == 0 {
		return nil
	}
	l := lineReader{places, assumed}
	if all := l.named(parts); len(all) > 0 && !l.endsWithDistrict(parts) {
		return all
	}
	var all []reading
	for _, code := range assumed {
		all = append(all, l.inCountry(reading{country: code, home: true}, parts)...)
	}
	// Some countries are recognizable by the form of postal codes.
	for _, code := range []string{"CA", "GB", "IE"} {
		if slices.Contains(assumed, code) {
			continue
		}
		for _, r := range l.inCountry(reading{country: code}, parts) {
			if r.postal != "" {
				all = append(all, r)
			}
		}
	}
	return append(all, l.inCountry(reading{}, parts)...)
}

// cityWithDistrict matches a city and a district of it at the end of a part, with the postal
// code before them.
var cityWithDistrict = regexp.MustCompile(`^(?:(?:.* )?(\d[\d-]*(?: \d+)?) )?(\D+) ([A-Z]{1,2})$`)

// lettered are countries where letters after a city often denote its post office.
var lettered = []string{"DK"}

// endsWithDistrict reports whether a line ends with a district of a city of the
// organization's country, such as 2450 København SV, rather than with the code of a
// country or state.
func (l lineReader) endsWithDistrict(parts []string) bool {
	m := cityWithDistrict.FindStringSubmatch(parts[len(parts)-1])
	if m == nil {
		return false
	}
	return slices.ContainsFunc(l.assumed, func(country string) bool {
		code, _ := l.places.Country(m[3])
		_, isState := l.places.State(country, m[3])
		switch {
		case code == country || isState || country == "IT" && slices.Contains(italianProvinces, m[3]):
			return false
		case m[1] == "":
			return slices.Contains(lettered, country) && len(l.places.Cities(m[2], country)) > 0
		case !hasPostalForm(country, m[1]):
			return false
		}
		return len(l.places.Cities(m[2], country)) > 0 || len(l.places.CitiesNear(m[2], country, 1)) > 0
	})
}

// codeAtEnd matches a possible postal code at the end of a part.
var codeAtEnd = regexp.MustCompile(`(?i)^(?:(.*\S) +)?((?:[A-Z]{1,3}-)?\d{3,7}(?:[- ]\d{2,4})?(?: ?[A-Z]{2})?|\d{2}-\d{3}|[A-Z]\d[A-Z] ?\d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[\dW] ?[A-Z\d]{4})$`)

// named returns the interpretations of a line that names a country or a state.
func (l lineReader) named(parts []string) []reading {
	if all := l.ending(parts, ""); len(all) > 0 {
		return all
	}
	last := len(parts) - 1
	if m := codeAtEnd.FindStringSubmatch(parts[last]); m != nil && (m[1] != "" || last > 0) {
		if all := l.ending(without(parts, last, m[1]), m[2]); len(all) > 0 {
			return all
		}
	}
	if last > 1 && countyWord.MatchString(parts[last]) {
		return l.named(parts[:last])
	}
	// Some write the country first.
	if code, ok := l.places.Country(parts[0]); ok && last > 0 && len(parts[0]) > maxCode && !l.isCity(parts[0]) {
		return l.inCountry(reading{country: code, named: true}, parts[1:])
	}
	return nil
}

// italianProvinces are codes that follow cities in Italy. Many are also codes of
// states or countries.
var italianProvinces = strings.Fields(`AG AL AN AO AP AQ AR AT AV BA BG BI BL BN BO BR BS BT BZ CA CB CE CH CL CN CO CR CS CT CZ EN FC FE FG FI FM FR
	GE GO GR IM IS KR LC LE LI LO LT LU MB MC ME MI MN MO MS MT NA NO NU OR PA PC PD PE PG PI PN PO PR PT PU PV PZ RA RC RE RG RI RM RN RO
	SA SI SO SP SR SS SU SV TA TE TN TO TP TR TS TV UD VA VB VC VE VI VR VT VV`)

// maxCode is the maximum length of a code of a country or state, in bytes.
const maxCode = 3

// ending returns the interpretations of a line that ends with the name of a
// country or a state. A postal code that followed it was removed.
func (l lineReader) ending(parts []string, postal string) []reading {
	last := len(parts) - 1
	words := strings.Split(parts[last], " ")
	for n := min(maxNameWords, len(words)); n > 0; n-- {
		whole := n == len(words)
		name := strings.Join(words[len(words)-n:], " ")
		rest := without(parts, last, strings.Join(words[:len(words)-n], " "))
		if all := l.areas(name, rest, postal, whole); len(all) > 0 {
			if longer := l.longer(parts, postal, n); len(longer) > 0 {
				return longer
			}
			return all
		}
		if whole && l.isCity(name) {
			return nil
		}
	}
	if last == 0 || len(words) > maxNameWords || len(l.places.Cities(parts[last], "")) > 0 {
		return nil
	}
	return l.misspelled(parts[last], parts[:last], postal)
}

// longer returns the interpretations of a line that ends with almost the name of a country or
// state of more than n words: Papua New Ginea is not Guinea.
func (l lineReader) longer(parts []string, postal string, n int) []reading {
	last := len(parts) - 1
	words := strings.Split(parts[last], " ")
	for _, m := range l.longerEnds(words, n) {
		rest := without(parts, last, strings.Join(words[:len(words)-m], " "))
		if all := l.misspelled(strings.Join(words[len(words)-m:], " "), rest, postal); len(all) > 0 {
			return all
		}
	}
	return nil
}

// longerEnds returns how many words, more than n, at the end of a part may be one name, the
// longest first. Words before the last n are not part of the name if they are a city.
func (l lineReader) longerEnds(words []string, n int) []int {
	var all []int
	for m := min(maxNameWords, len(words)); m > n; m-- {
		if len(l.places.Cities(strings.Join(words[len(words)-m:len(words)-n], " "), "")) == 0 {
			all = append(all, m)
		}
	}
	return all
}

// isCity reports whether a name is that of a city in an assumed country, or of a city that is
// large enough to be found without its country.
func (l lineReader) isCity(name string) bool {
	return slices.ContainsFunc(l.places.Cities(name, ""), func(c gazetteer.City) bool {
		return c.Size >= minWorldSize || slices.Contains(l.assumed, c.Country)
	})
}

// areas returns the interpretations in which a name is that of a country or state. whole
// means that the name is a whole part of the line.
func (l lineReader) areas(name string, rest []string, postal string, whole bool) (all []reading) {
	code := len(name) <= maxCode
	capital := name == strings.ToUpper(name)
	country, isCountry := l.places.Country(name)
	isCountry = isCountry && (!code || capital || whole && len(rest) > 0) && hasPostalForm(country, postal)
	if isCountry {
		r := reading{country: country, named: true, postal: postal}
		if nation, ok := l.places.State(country, name); ok && country == "GB" {
			r.within = nation // England and the like
		}
		all = append(all, l.inCountry(r, rest)...)
		all = append(all, l.cityOfThatName(r, name, rest)...)
	}
	homeState := false
	for _, c := range l.stateCountries() {
		state, ok := l.places.State(c, name)
		atHome := slices.Contains(l.assumed, c)
		if !ok || code && !capital && !atHome || code && !whole && !capital && !endsStreet(last(rest)) && !l.isCity(last(rest)) || !hasPostalForm(c, postal) || country == c && c == "GB" {
			continue
		}
		homeState = homeState || atHome
		all = append(all, l.inState(reading{country: c, named: true, home: atHome, postal: postal}, state, name, rest)...)
	}
	if slices.Contains(l.assumed, "IT") && slices.Contains(italianProvinces, strings.Trim(name, "()")) {
		all = append(all, l.inCountry(reading{country: "IT", named: true, home: true, postal: postal}, rest)...)
	}
	if !isCountry && len(all) == 0 && !code && whole && !slices.ContainsFunc(l.assumed, func(c string) bool { return len(l.places.Cities(name, c)) > 0 }) {
		for _, state := range l.places.States(name) {
			if hasPostalForm(state.Country, postal) {
				all = append(all, l.inState(reading{country: state.Country, named: true, postal: postal}, state, name, rest)...)
			}
		}
		all = append(all, l.largeCities(name, rest, postal, all)...)
	}
	// A name of a country in some language may be a large city elsewhere, such as
	// Columbia; the name of a state abroad may be any city.
	least := 0
	if isCountry {
		least = minWorldSize
	}
	if len(all) > 0 && !homeState && !code && (!isCountry || gazetteer.Fold(name) != gazetteer.Fold(l.places.CountryName(country))) {
		for _, c := range l.assumed {
			all = append(all, l.cityOfThatName(reading{country: c, named: true, home: true, postal: postal, least: least, primary: true}, name, rest)...)
		}
	}
	return all
}

// largeCities returns the interpretations of a line in which the name of a foreign state is
// that of a large city in a country that no other interpretation is in: Santa Barbara is in
// California rather than in Honduras.
func (l lineReader) largeCities(name string, rest []string, postal string, others []reading) (all []reading) {
	cities := slices.DeleteFunc(slices.Clone(l.places.Cities(name, "")), func(c gazetteer.City) bool { return c.Size < minWorldSize || c.Other })
	inOthers := func(c gazetteer.City) bool {
		return slices.ContainsFunc(others, func(r reading) bool { return r.country == c.Country })
	}
	if len(others) == 0 || slices.ContainsFunc(cities, inOthers) { // Valencia is also a large city in its state
		return nil
	}
	for _, c := range cities {
		known := func(r reading) bool { return r.country == c.Country }
		if hasPostalForm(c.Country, postal) && !slices.ContainsFunc(all, known) {
			all = append(all, l.cityOfThatName(reading{country: c.Country, named: true, postal: postal, least: minWorldSize, primary: true}, name, rest)...)
		}
	}
	return all
}

func last(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}

// stateCountries returns the countries whose states a line may name without
// the country.
func (l lineReader) stateCountries() []string {
	all := slices.Clone(l.assumed)
	for _, c := range closedCountries {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// misspelled returns the interpretations of a line whose last part is almost the name of a
// country or state.
func (l lineReader) misspelled(name string, rest []string, postal string) (all []reading) {
	for _, c := range l.stateCountries() {
		if state, ok := l.places.StateNear(c, name); ok && hasPostalForm(c, postal) {
			all = append(all, l.inState(reading{country: c, named: true, home: slices.Contains(l.assumed, c), postal: postal}, state, name, rest)...)
		}
	}
	if code, ok := l.places.CountryNear(name); ok && len(all) == 0 && hasPostalForm(code, postal) {
		all = l.inCountry(reading{country: code, named: true, postal: postal}, rest)
	}
	return all
}

// inState reads the rest of a line when the state is known.
func (l lineReader) inState(r reading, state gazetteer.State, name string, rest []string) []reading {
	r.state, r.within = name, state
	if r.postal == "" {
		r.postal, rest = takePostalCode(l.places, r.country, rest)
	}
	all := readCity(r, rest)
	if again := len(rest) - 1; again > 0 { // Texas, TX or USA, Texas
		same, _ := l.places.State(r.country, rest[again])
		country, _ := l.places.Country(rest[again])
		if same == state || country == r.country {
			all = append(all, readCity(r, rest[:again])...)
		}
	}
	self := l.cityOfThatName(r, name, rest)
	if len(self) == 0 && !slices.Contains(closedCountries, r.country) {
		// Berlin or Tokyo, where the state is little more than the city.
		big := r
		big.state, big.city, big.selfCity, big.before, big.least, big.extra = "", name, true, rest, minBigSize, true
		return append(all, big)
	}
	if len(name) > maxCode && len(self) > 0 {
		// Washington is also a large city in another state.
		r.within, r.least, r.primary = gazetteer.State{}, minWorldSize, true
		self = append(self, l.cityOfThatName(r, name, rest)...)
	}
	return append(all, self...)
}

// minBigSize is the minimum size of a city that fills a state of the same name:
// about 750,000 people.
const minBigSize = 39

// cityOfThatName returns the interpretation of a line in which the name of a
// country or state is that of a city.
func (l lineReader) cityOfThatName(r reading, name string, rest []string) []reading {
	if r.postal == "" {
		// A street precedes the city; its number is not a postal code.
		r.postal, rest = takePostalCode(l.places, r.country, append(slices.Clone(rest), name))
		if at := len(rest) - 1; at >= 0 && rest[at] == name {
			rest = rest[:at]
		}
	}
	street := withoutUnits(rest)
	if len(street) > 1 && !hasDigit(street[len(street)-1]) {
		_, state := l.places.State(r.country, street[len(street)-1])
		if state || !slices.Contains(cityStates, r.country) {
			return nil
		}
	}
	r.state, r.city, r.selfCity, r.before = "", name, true, rest
	return []reading{r}
}

// inCountry reads the rest of a line when the country is known.
func (l lineReader) inCountry(r reading, parts []string) []reading {
	if r.postal == "" {
		r.postal, parts = takePostalCode(l.places, r.country, parts)
	}
	if len(parts) == 0 || r.country == "" || !r.named {
		return l.cities(r, parts)
	}
	at := len(parts) - 1
	words := strings.Split(parts[at], " ")
	for n := min(maxNameWords, len(words)); n > 0; n-- {
		name := strings.Join(words[len(words)-n:], " ")
		rest := without(parts, at, strings.Join(words[:len(words)-n], " "))
		state, isState := l.places.State(r.country, name)
		if code, ok := l.places.Country(name); ok && code == r.country && !isState && n == len(words) && at > 0 {
			return append(l.inCountry(r, rest), l.cities(r, parts)...) // USA, USA or Singapore, Singapore
		}
		if code, ok := territoryCode(l.places, r.country, name); ok {
			r.country = code
			return append(l.inCountry(r, rest), l.cityOfThatName(r, name, rest)...)
		}
		if isState && (r.within == gazetteer.State{} || r.within == state) {
			for _, m := range l.longerEnds(words, n) { // Wst Virginia is not Virginia
				longer := strings.Join(words[len(words)-m:], " ")
				if near, ok := l.places.StateNear(r.country, longer); ok && (r.within == gazetteer.State{}) {
					return l.inState(r, near, longer, without(parts, at, strings.Join(words[:len(words)-m], " ")))
				}
			}
			return l.inState(r, state, name, rest)
		}
		if n == len(words) && len(l.places.Cities(name, r.country)) > 0 {
			return l.cities(r, parts)
		}
	}
	if state, ok := l.places.StateNear(r.country, parts[at]); ok && at > 0 && (r.within == gazetteer.State{}) {
		return l.inState(r, state, parts[at], parts[:at])
	}
	return l.cities(r, parts)
}

// cities reads the rest of a line without a state. A part that names another country, or one
// of its states, cannot be ignored. If the country is unknown, no part can be ignored.
func (l lineReader) cities(r reading, parts []string) []reading {
	return slices.DeleteFunc(readCity(r, parts), func(r reading) bool {
		return r.far != "" && (r.country == "" || l.elsewhere(r.country, r.far))
	})
}

// elsewhere reports whether a name is that of another country, or of a state of another of
// the closedCountries.
func (l lineReader) elsewhere(country, name string) bool {
	if code, ok := l.places.Country(name); ok && code != country {
		return true
	}
	return foreignState(l.places, country, name)
}

// foreignState reports whether a name is that of a state of another of the closedCountries.
func foreignState(places *gazetteer.Gazetteer, country, name string) bool {
	return len(name) > maxCode && slices.ContainsFunc(closedCountries, func(c string) bool {
		_, ok := places.State(c, name)
		return ok && c != country
	})
}

// readCity reads the rest of a line whose country, state and postal code are known: the
// street comes first, then the city.
func readCity(r reading, parts []string) []reading {
	last := len(parts) - 1
	if last < 0 {
		return []reading{r}
	}
	var all []reading
	add := func(city string, street []string, change func(*reading)) {
		next := r
		next.city, next.before, next.extra = city, street, len(withoutUnits(street)) > 1
		if change != nil {
			change(&next)
		}
		all = append(all, next)
	}
	add(parts[last], parts[:last], nil)
	if last > 1 { // before a county or similar
		add(parts[last-1], parts[:last-1], func(r *reading) { r.far = parts[last] })
	}
	if last > 0 && hasDigit(parts[last]) && !hasDigit(parts[0]) {
		add(parts[0], parts[1:], func(r *reading) { r.reversed = true })
	}
	words := strings.Split(parts[last], " ")
	for n := min(maxCityWords, len(words)-1); n > 0; n-- {
		street := strings.Join(words[:len(words)-n], " ")
		if endsStreet(street) && (n > 1 || !streetTypes[strings.ToLower(words[len(words)-1])]) {
			add(strings.Join(words[len(words)-n:], " "), without(parts, last, street), func(r *reading) { r.guessed = true })
		}
	}
	if street := withoutUnits(parts); r.postal != "" && (len(street) < 2 || hasDigit(street[len(street)-1])) {
		add("", parts, nil)
	}
	return all
}
