package geo

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// PostalCodes are imported postal codes.
type PostalCodes interface {
	// PostalAreas returns the areas of a postal code of a country, both in the
	// form of lastmile.PostalArea; none if the code is unknown. imported
	// reports whether any codes of the country were imported.
	PostalAreas(ctx context.Context, country, code string) (places []lastmile.PostalArea, imported bool, err error)
}

// area is the location of a postal code.
type area struct {
	city     string
	state    gazetteer.State
	county   string
	location lastmile.Point
}

// areas looks up a postal code. known reports whether the codes of the country
// are known at all: if they are and there is no such area, the code is wrong.
func (g *Gazetteer) areas(ctx context.Context, places *gazetteer.Gazetteer, country, code string) (found []area, known bool, err error) {
	if code == "" || country == "" {
		return nil, false, nil
	}
	if country == "US" { // imported codes are for other countries
		return areasUS(places, code), true, nil
	}
	if g.Imported == nil {
		return nil, false, nil
	}
	for _, form := range postalForms(country, normalizePostal(code)) {
		imported, some, err := g.Imported.PostalAreas(ctx, country, form)
		if err != nil {
			return nil, false, fmt.Errorf("look up postal code %s %s: %w", country, form, err)
		}
		for _, p := range imported {
			state, ok := places.State(country, p.State)
			if !ok {
				state = gazetteer.State{Name: p.State, Country: country}
			}
			found = append(found, area{p.Name, state, p.County, p.Location})
		}
		if known = some; len(found) > 0 || !known {
			break
		}
	}
	return found, known, nil
}

func areasUS(places *gazetteer.Gazetteer, code string) (found []area) {
	if len(code) < 5 {
		return nil
	}
	number, err := strconv.ParseUint(code[:5], 10, 32)
	if err != nil {
		return nil
	}
	for _, p := range places.PostalCode(uint32(number)) {
		found = append(found, area{p.City.Name, p.City.State, p.City.County, p.Location})
	}
	return found
}

// nearCodeUS reports whether a postal code is near a city of the United States.
func nearCodeUS(places *gazetteer.Gazetteer, code, city string) bool {
	areas := areasUS(places, code)
	return slices.ContainsFunc(places.Cities(city, "US"), func(c gazetteer.City) bool {
		return slices.ContainsFunc(areas, func(a area) bool { return a.location.Distance(c.Location) <= maxKnownDistance })
	})
}

// postalForms returns the forms in which GeoNames may list a code: the whole code, then the
// part that denotes a district.
func postalForms(country, plain string) []string {
	forms := []string{plain}
	part := map[string]int{"CA": 3, "IE": 3, "MT": 3, "NL": 4, "PT": 4, "AR": 5, "TW": 3, "BR": 5}[country]
	if country == "GB" && len(plain) > 4 {
		part = len(plain) - 3
	}
	if part == 0 || part >= len(plain) {
		return forms
	}
	short := plain[:part]
	if country == "BR" {
		short += "000"
	}
	return append(forms, short)
}

// postalPatterns are the patterns of postal codes. Letters match both cases.
var postalPatterns = map[string]string{
	"US": `\d{5}(?:-\d{4})?`,
	"CA": `[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d`,
	"GB": `[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}`,
	"IE": `(?:[AC-FHKNPRTV-Y]\d{2}|D6W) ?[0-9AC-FHKNPRTV-Y]{4}`,
	"NL": `\d{4} ?[A-Z]{2}`,
	"SE": `(?:S-|SE-)?\d{3} ?\d{2}`,
	"CZ": `\d{3} ?\d{2}`,
	"SK": `\d{3} ?\d{2}`,
	"GR": `\d{3} ?\d{2}`,
	"PL": `\d{2}-\d{3}`,
	"PT": `\d{4}(?:-\d{3})?`,
	"BR": `\d{5}-?\d{3}`,
	"JP": `(?:〒 ?)?\d{3}-?\d{4}`,
	"KR": `\d{5}`,
	"CN": `\d{6}`,
	"IN": `\d{3} ?\d{3}`,
	"RU": `\d{6}`,
	"SG": `\d{6}`,
	"RO": `\d{6}`,
	"CO": `\d{6}`,
	"KZ": `\d{6}`,
	"VN": `\d{5,6}`,
	"IL": `\d{5}(?:\d{2})?`,
	"TW": `\d{3}(?:-?\d{2,3})?`,
	"AR": `(?:[A-Z]\d{4}[A-Z]{3}|\d{4})`,
	"CL": `\d{3}-?\d{4}`,
	"DE": `(?:D-|DE-)?\d{5}`,
	"FR": `(?:F-|FR-)?\d{5}`,
	"IT": `(?:I-|IT-)?\d{5}`,
	"ES": `(?:E-|ES-)?\d{5}`,
	"AT": `(?:A-|AT-)?\d{4}`,
	"CH": `(?:CH-)?\d{4}`,
	"BE": `(?:B-|BE-)?\d{4}`,
	"LU": `(?:L-|LU-)?\d{4}`,
	"DK": `(?:DK-)?\d{4}`,
	"NO": `(?:N-|NO-)?\d{4}`,
	"FI": `(?:FI-|FIN-)?\d{5}`,
	"IS": `\d{3}`,
	"LT": `(?:LT-)?\d{5}`,
	"LV": `(?:LV-)?\d{4}`,
	"MT": `[A-Z]{3} ?\d{4}`,
	"AD": `AD\d{3}`,
	"":   `\d{4,6}`, // a country that is not listed or unknown
}

// postalForm matches the postal codes of one country in text.
type postalForm struct{ first, last, middle, whole *regexp.Regexp }

var postalRegexps = sync.OnceValue(func() map[string]postalForm {
	forms := make(map[string]postalForm, len(postalPatterns))
	for country, pattern := range postalPatterns {
		forms[country] = postalForm{
			first:  regexp.MustCompile(`(?i)^(` + pattern + `) +(.+)$`),
			last:   regexp.MustCompile(`(?i)^(.+?) +(` + pattern + `)$`),
			middle: regexp.MustCompile(`(?i)^(.+?) +(` + pattern + `) +(\D+)$`),
			whole:  regexp.MustCompile(`(?i)^(` + pattern + `)$`),
		}
	}
	return forms
})

// codeFollows are countries where the postal code follows the city.
var codeFollows = []string{"US", "CA", "GB", "IE", "AU", "NZ", "IN", "SG"}

// hasPostalForm reports whether text is a postal code of a country, or empty.
func hasPostalForm(country, text string) bool {
	return text == "" || formOf(country).whole.MatchString(text)
}

func formOf(country string) postalForm {
	form, ok := postalRegexps()[country]
	if !ok {
		form = postalRegexps()[""]
	}
	return form
}

// takePostalCode extracts a postal code of a country from the parts of an address. A number
// that may be a house number is not a postal code: one at the beginning of the line, or next
// to a name that is not a city.
func takePostalCode(places *gazetteer.Gazetteer, country string, parts []string) (code string, rest []string) {
	form := formOf(country)
	isCity := func(name string) bool { return len(places.Cities(name, country)) > 0 }
	follows := slices.Contains(codeFollows, country)
	last := len(parts) - 1
	for i, part := range slices.Backward(parts) {
		if len(part) > maxStreet {
			continue
		}
		if form.whole.MatchString(part) {
			if i == 0 && last > 1 && numberAlone.MatchString(part) && len(part) < longNumber && !hasDigit(parts[1]) && !isCity(parts[1]) {
				return "", parts
			}
			return part, without(parts, i, "")
		}
		if m := form.last.FindStringSubmatch(part); m != nil && !unitAtEnd.MatchString(part) && (i == last && i > 0 || hasNumber(m[1]) || isCity(m[1])) {
			return m[2], without(parts, i, m[1])
		}
		if m := form.middle.FindStringSubmatch(part); m != nil && hasNumber(m[1]) && (!follows || isCity(m[3])) {
			return m[2], slices.Concat(parts[:i], []string{m[1], m[3]}, parts[i+1:])
		}
		m := form.first.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		// The rest of the part is a city: it is known, or it is not followed by
		// another one.
		ok := isCity(m[2])
		if country == "US" && i == 0 {
			ok = ok && nearCodeUS(places, m[1], m[2]) // 10001 Broadway is a street in New York
		}
		switch {
		case i == 0 && last == 0:
			ok = ok || !follows && !hasDigit(m[2]) && !isStreet(m[2])
		case i == 0:
			_, state := places.State(country, parts[1])
			ok = ok && (hasDigit(parts[last]) || state && last == 1)
		case !follows:
			_, state := places.State(country, parts[min(i+1, last)])
			ok = ok || i == last || state
		}
		if ok {
			return m[1], without(parts, i, m[2])
		}
	}
	return "", parts
}

// hasNumber reports whether text has a house number.
func hasNumber(text string) bool {
	number, _ := splitStreet(text)
	return number != ""
}

// longNumber is the length at which a number is too long for a house number.
const longNumber = 6

// without returns parts with part i replaced, or removed if by is empty.
func without(parts []string, i int, by string) []string {
	rest := append([]string{}, parts[:i]...)
	if by != "" {
		rest = append(rest, by)
	}
	return append(rest, parts[i+1:]...)
}

// normalizePostal returns the form in which postal codes are compared:
// letters and digits only, in upper case.
func normalizePostal(code string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, code)
}
