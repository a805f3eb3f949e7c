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
	countryNamed              bool   // named by the address, not assumed
	countryWrong              bool   // the address names an unknown country
	guessed                   bool   // the start of the city's name was guessed
	far                       bool   // something else follows the city
	extra                     bool   // more than a street precedes the city
}

// Limits of the part of a line that is read.
const (
	maxParts     = 12
	maxCityWords = 5
	maxNameWords = 4 // of countries and states
)

// splitLine splits a line at its commas.
func splitLine(line string) []string {
	var parts []string
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '，' || r == '、' }) {
		part = strings.Join(strings.FieldsFunc(part, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) > maxParts { // the first parts say least about the location
		parts = append([]string{strings.Join(parts[:len(parts)-maxParts+1], " ")}, parts[len(parts)-maxParts+1:]...)
	}
	return parts
}

// readLine returns the possible interpretations of a line. assumed are the
// countries to assume if the line names none.
func readLine(places *gazetteer.Gazetteer, line string, assumed []string) []reading {
	parts := splitLine(line)
	if len(parts) == 0 {
		return nil
	}
	var all []reading
	for _, c := range lineCountries(places, parts) {
		all = append(all, readParts(places, reading{country: c.code, countryNamed: true}, c.rest)...)
	}
	for _, code := range assumed {
		all = append(all, readParts(places, reading{country: code}, parts)...)
	}
	// Some countries are recognizable by the form of a line that does not name
	// them.
	for _, code := range []string{"US", "CA", "GB", "IE"} {
		if slices.Contains(assumed, code) {
			continue
		}
		for _, r := range readParts(places, reading{country: code}, parts) {
			if code == "US" && r.state != "" || code != "US" && r.postal != "" {
				all = append(all, r)
			}
		}
	}
	return append(all, readParts(places, reading{}, parts)...)
}

// lineCountry is a country at the end of a line, and what precedes it.
type lineCountry struct {
	code string
	rest []string
}

func lineCountries(places *gazetteer.Gazetteer, parts []string) []lineCountry {
	last := len(parts) - 1
	if last > 0 {
		if code, ok := places.Country(parts[last]); ok {
			return []lineCountry{{code, parts[:last]}}
		}
		if code, ok := places.CountryNear(parts[last]); ok {
			return []lineCountry{{code, parts[:last]}}
		}
	}
	words := strings.Split(parts[last], " ")
	for n := min(maxNameWords, len(words)-1); n > 0; n-- {
		name := strings.Join(words[len(words)-n:], " ")
		code, ok := places.Country(name)
		if ok && (len(name) > 3 || name == strings.ToUpper(name)) {
			return []lineCountry{{code, without(parts, last, strings.Join(words[:len(words)-n], " "))}}
		}
	}
	return nil
}

// readParts reads the rest of a line when the country is known.
func readParts(places *gazetteer.Gazetteer, r reading, parts []string) []reading {
	r.postal, parts = takePostalCode(r.country, parts)
	all := readCity(r, parts)
	last := len(parts) - 1
	if last < 0 || r.country == "" {
		return all
	}
	if isState(places, r.country, parts[last]) {
		r.state = parts[last]
		return append(all, readCity(r, parts[:last])...)
	}
	words := strings.Split(parts[last], " ")
	for n := min(maxNameWords, len(words)-1); n > 0; n-- {
		name := strings.Join(words[len(words)-n:], " ")
		if isState(places, r.country, name) {
			r.state = name
			return append(all, readCity(r, without(parts, last, strings.Join(words[:len(words)-n], " ")))...)
		}
	}
	return all
}

func isState(places *gazetteer.Gazetteer, country, name string) bool {
	_, ok := places.State(country, name)
	if !ok && country == "US" {
		_, ok = territoryCode(places, name)
	}
	return ok
}

// readCity reads the rest of a line when country, state and postal code are
// known: the streets come first, then the city.
func readCity(r reading, parts []string) []reading {
	last := len(parts) - 1
	if last < 0 {
		return []reading{r}
	}
	var all []reading
	add := func(city string, street []string, guessed, far bool) {
		next := r
		next.city, next.guessed, next.far, next.extra = city, guessed, far, len(street) > 1
		next.number, next.street, next.apartment = readStreet(street)
		all = append(all, next)
	}
	add(parts[last], parts[:last], false, false)
	if last > 1 {
		add(parts[last-1], parts[:last-1], false, true) // before a county or similar
	}
	words := strings.Split(parts[last], " ")
	for n := min(maxCityWords, len(words)-1); n > 0; n-- {
		add(strings.Join(words[len(words)-n:], " "), without(parts, last, strings.Join(words[:len(words)-n], " ")), true, false)
	}
	if r.postal != "" {
		add("", parts, false, false)
	}
	return all
}

var (
	unitForm    = regexp.MustCompile(`(?i)^(?:(?:apt|apartment|suite|ste|unit|flat|room|rm|floor|fl|lot|bldg|building)\b\.? *#? *[\w-]+|# *[\w-]+|[\w-]+ (?:floor|fl))$`)
	unitAtEnd   = regexp.MustCompile(`(?i)^(.*\S) +((?:apt|apartment|suite|ste|unit|flat|room|rm)\b\.? *#? *[\w-]+|# *[\w-]+)$`)
	ordinalForm = regexp.MustCompile(`(?i)^\d+(?:st|nd|rd|th)$`)
)

// readStreet reads the parts of a line before the city.
func readStreet(parts []string) (number, street, apartment string) {
	var lines, units []string
	for i, part := range parts {
		switch m := unitAtEnd.FindStringSubmatch(part); {
		case i > 0 && unitForm.MatchString(part):
			units = append(units, part)
		case m != nil:
			lines, units = append(lines, m[1]), append(units, m[2])
		default:
			lines = append(lines, part)
		}
	}
	number, street = splitStreet(strings.Join(lines, ", "))
	return number, street, strings.Join(units, ", ")
}

// splitStreet separates the house number from a street, at either end.
func splitStreet(line string) (number, street string) {
	if first, rest, ok := strings.Cut(line, " "); ok && startsWithDigit(first) && !ordinalForm.MatchString(first) {
		return strings.TrimSuffix(first, ","), rest
	}
	if i := strings.LastIndexByte(line, ' '); i > 0 && startsWithDigit(line[i+1:]) && !ordinalForm.MatchString(line[i+1:]) {
		return line[i+1:], strings.TrimSuffix(line[:i], ",")
	}
	return "", line
}

func startsWithDigit(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }
