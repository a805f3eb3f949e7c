package geo

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// distinctForms are countries whose postal codes are unlikely to be house numbers, wherever
// the organization is.
var distinctForms = []string{"DE", "IN", "BR", "PL", "CA", "GB"}

// takePostalCode removes the postal code from the text, so that the rest can be completed,
// and adds its areas if they are in a city that the rest names.
func (c *completer) takePostalCode(ctx context.Context, imported PostalCodes) error {
	code, rest, sure := c.cutPostalCode(splitLine(c.Unparsed))
	if code == "" {
		return nil
	}
	areas, _, err := (&Gazetteer{Imported: imported}).areas(ctx, c.places, c.Country, code)
	if err != nil {
		return err
	}
	if !sure && !slices.ContainsFunc(areas, func(a area) bool { return len(rest[0]) >= minBegun && c.inCityNamed(a, rest) }) {
		return nil // it is a house number
	}
	c.Unparsed = strings.Join(rest, ", ")
	for _, a := range areas {
		if len(rest) == 0 || c.inCityNamed(a, rest) {
			c.coded = append(c.coded, lastmile.GeocodedAddress{
				Location: a.location, Precision: lastmile.PrecisionPostalCode, Source: GazetteerSource, Warnings: []string{lastmile.WarnApproximate},
				Address: lastmile.Address{City: a.city, State: a.state.Name, County: a.county, PostalCode: code, Country: c.places.CountryName(c.Country)},
			})
		}
	}
	return nil
}

// inCityNamed reports whether the area of a postal code is in the city and the region that
// the parts of a text name. The name of the city may be incomplete.
func (c *completer) inCityNamed(a area, parts []string) bool {
	inside := func(r region) bool {
		return r.country == c.Country && (r.state == gazetteer.State{} || r.state == a.state)
	}
	if len(parts) > 1 && !slices.ContainsFunc(c.regions(strings.Join(parts[1:], " "), true), inside) {
		return false
	}
	if strings.HasPrefix(gazetteer.Fold(a.city), gazetteer.Fold(parts[0])) {
		return true
	}
	return slices.ContainsFunc(c.places.Cities(parts[0], c.Country), func(city gazetteer.City) bool {
		return city.Location.Distance(a.location) <= maxKnownDistance
	})
}

// minBegun is the minimum length in bytes of the beginning of a city's name at which a number
// before it is considered its postal code.
const minBegun = 3

// cutPostalCode returns the postal code among the parts of a text, and the other parts. The
// code has the form of the home country or of one of distinctForms. sure is false if it may be
// a house number: 10115 Broadway.
func (c *completer) cutPostalCode(parts []string) (code string, rest []string, sure bool) {
	for _, country := range append([]string{c.Country}, distinctForms...) {
		form := formOf(country)
		for i, part := range slices.Backward(parts) {
			if len(part) > maxStreet {
				continue
			}
			if form.whole.MatchString(part) {
				return part, without(parts, i, ""), true
			}
			if m := form.last.FindStringSubmatch(part); m != nil && !hasDigit(m[1]) {
				return m[2], without(parts, i, m[1]), true
			}
			if m := form.first.FindStringSubmatch(part); m != nil && !hasDigit(m[2]) {
				if c.codePrecedes(m[2], i == 0 && len(parts) > 1) {
					return m[1], without(parts, i, m[2]), true
				}
				if code == "" {
					code, rest = m[1], without(parts, i, m[2])
				}
			}
		}
	}
	return code, rest, false
}

// codePrecedes reports whether the number before a name is most likely a postal code.
// followed means that something follows the name, which may then be a street.
func (c *completer) codePrecedes(name string, followed bool) bool {
	cities := c.places.Cities(name, "")
	if slices.Contains(codeFollows, c.Country) {
		return slices.ContainsFunc(cities, func(city gazetteer.City) bool { return city.Size >= minWorldSize })
	}
	if len(cities) == 0 && isStreet(name) {
		return false
	}
	return !followed || len(c.places.CitiesBeginning(name, c.Country, c.Country, 1)) > 0
}

// cityOfStreet returns the possible cities of a text that completes no name, but looks like
// an address whose street is unknown.
func (s *Streets) cityOfStreet(ctx context.Context, places *gazetteer.Gazetteer, q lastmile.AddressQuery, limit int) ([]lastmile.GeocodedAddress, error) {
	q.Precision = 0
	whole, err := (&Gazetteer{Imported: s.Postal}).Geocode(ctx, q)
	_, rejected := errors.AsType[*lastmile.Error](err)
	if err != nil && !rejected {
		return nil, err
	}
	whole.Address.Number, whole.Address.Street, whole.Address.Apartment = "", "", ""
	if err == nil && !slices.Contains(whole.Warnings, lastmile.MismatchCity) {
		return []lastmile.GeocodedAddress{whole}, nil
	}
	for _, end := range streetEnds(q.Unparsed) {
		rest := completer{places: places, AddressQuery: q, limit: limit}
		rest.Unparsed = end.rest
		if spoken := streetCountries(end.street, end.numberFirst); len(spoken) > 0 && !slices.Contains(spoken, q.Country) {
			rest.Country, rest.Near = spoken[0], nil
		}
		if end.unsure && !slices.ContainsFunc(places.Cities(end.rest, rest.Country), func(c gazetteer.City) bool { return c.Size >= minKnownSize }) {
			continue
		}
		if err := rest.takePostalCode(ctx, s.Postal); err != nil {
			return nil, err
		}
		for _, c := range rest.completions() {
			rest.addCities(c)
		}
		if all := rest.result(); len(all) > 0 {
			return all, nil
		}
	}
	if rejected {
		return nil, nil
	}
	return []lastmile.GeocodedAddress{whole}, nil
}

// streetEnd is a position at which a street may end in a text.
type streetEnd struct {
	street, rest string
	numberFirst  bool
	unsure       bool // any word may be a part of the street
}

// maxStreetEnds is the maximum number of ends of a street that are considered.
const maxStreetEnds = 4

// streetEnds returns the positions at which a street with its number may end in a text: at a
// comma, before a postal code, after a number that follows the name, after a word such as
// Avenue, or anywhere in languages in which such a word begins the name.
func streetEnds(text string) (all []streetEnd) {
	add := func(before, rest string, unsure bool) {
		number, street := splitStreet(before)
		first := strings.HasPrefix(before, number)
		if number != "" && rest != "" && len(all) < maxStreetEnds && (!unsure || streetCountries(street, first) != nil) {
			all = append(all, streetEnd{street, rest, first, unsure})
		}
	}
	if parts := splitLine(text); len(parts) > 1 {
		rest := parts[1:]
		for len(rest) > 1 && (isUnit(rest[0]) || numberAlone.MatchString(rest[0])) {
			rest = rest[1:]
		}
		add(parts[0], strings.Join(rest, ", "), false)
		return all
	}
	words := strings.Fields(text)
	for i := 2; i < min(len(words), maxParts); i++ {
		last := strings.ToLower(strings.TrimSuffix(words[i-1], "."))
		numberLast := hasDigit(last) && !hasDigit(words[0]) // 5th in 350 5th Ave is not a house number
		sure := likePostalCode.MatchString(words[i]) || numberLast || streetTypes[last] && i > 2
		if sure || i > 2 && !goesOn.MatchString(last) {
			add(strings.Join(words[:i], " "), strings.Join(words[i:], " "), !sure)
		}
	}
	return all
}

// likePostalCode matches the beginnings of postal codes, but not ordinals such as 33rd.
var likePostalCode = regexp.MustCompile(`^(?:\d{4}|\d{2,3}-\d|(?i:[a-z]{1,2}\d))`)

// goesOn matches words with which the name of a street cannot end.
var goesOn = regexp.MustCompile(`^(?:d[aeiou]s?|del|dell[aeo]|l[aeo]s?|el|l|san|santa|são|sao|saint|sainte|st)$`)
