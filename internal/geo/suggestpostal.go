package geo

import (
	"context"
	"slices"
	"strings"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// distinctForms are countries whose postal codes are unlikely to be numbers of houses,
// wherever the organization is.
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
		return nil // the number of a house
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

// minBegun is the shortest beginning of a city's name that makes the number before it its
// postal code, in bytes.
const minBegun = 3

// cutPostalCode returns the postal code among the parts of a text, and the other parts. It
// has the form of the home country, or is distinct. Sure is false if it may be the number of
// a house instead: 10115 Broadway.
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
				if c.codePrecedes(m[2]) {
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
func (c *completer) codePrecedes(name string) bool {
	return !slices.Contains(codeFollows, c.Country) ||
		slices.ContainsFunc(c.places.Cities(name, ""), func(city gazetteer.City) bool { return city.Size >= minWorldSize })
}
