package geo

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// question is an address as requested from a map service, with the data for checking the
// results.
type question struct {
	lastmile.AddressQuery
	languageOption
	places *gazetteer.Gazetteer
	asked  lastmile.Address // parts of the address; of a line, as far as it could be parsed
	named  []region         // regions that the address names; none if it may be anywhere
	likely string           // code of the country to search first; empty for any
	nearby []lastmile.Point // locations of cities with the requested name and of the requested postal code
}

func newQuestion(ctx context.Context, q lastmile.AddressQuery) (question, error) {
	places, err := gazetteer.Embedded()
	if err != nil {
		return question{}, err
	}
	ask := question{AddressQuery: q, languageOption: languageOf(q.Language), places: places, asked: q.Address}
	readings, err := read(places, q)
	if err != nil {
		return question{}, err
	}
	ask.named = regionsOf(readings)
	r := reading{}
	if q.Unparsed == "" && len(readings) > 0 {
		r = readings[0]
	}
	if q.Unparsed != "" {
		offline := Gazetteer{}
		best, err := offline.best(ctx, places, readings, false)
		if err != nil {
			return question{}, err
		}
		if best != nil {
			r = best.withStreet()
		}
		ask.asked = lastmile.Address{Number: r.number, Street: r.street, Apartment: r.apartment, City: r.city, State: r.state, PostalCode: r.postal}
	}
	if ask.likely = r.country; ask.likely == "" && len(readings) > 0 {
		home := max(slices.IndexFunc(readings, func(r reading) bool { return r.home }), 0)
		ask.likely = readings[home].country
	}
	if ask.asked.Country == "" {
		ask.asked.Country = places.CountryName(ask.country())
	}
	for _, c := range places.Cities(r.city, r.country) {
		ask.nearby = append(ask.nearby, c.Location)
	}
	if r.country == "US" {
		for _, a := range areasUS(places, r.postal) {
			ask.nearby = append(ask.nearby, a.location)
		}
	}
	return ask, nil
}

// country returns the code of the only country that the address names; empty if
// it names none or is ambiguous.
func (q question) country() string {
	for _, r := range q.named {
		if r.country != q.named[0].country {
			return ""
		}
	}
	if len(q.named) == 0 {
		return ""
	}
	return q.named[0].country
}

// line returns the address on one line.
func (q question) line() string {
	if q.Unparsed != "" {
		return q.Unparsed
	}
	a := q.Address
	parts := []string{
		strings.TrimSpace(a.Number + " " + a.Street), a.City,
		strings.TrimSpace(a.State + " " + a.PostalCode), a.Country,
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return strings.TrimSpace(p) == "" }), ", ")
}

// hit is a result of a service.
type hit struct {
	lastmile.GeocodedAddress
	countryCode string
}

// maxCityDistance is the maximum distance of a result from any city with the
// requested name.
const maxCityDistance lastmile.Meters = 150_000

// choose returns the first plausible hit, completed by finish. ok is false if there is none.
func (q question) choose(source string, hits []hit) (place lastmile.GeocodedAddress, ok bool) {
	for _, h := range hits {
		if q.plausible(h) {
			return q.finish(source, h), true
		}
	}
	return lastmile.GeocodedAddress{}, false
}

// plausible reports whether a result may be right.
func (q question) plausible(h hit) bool {
	if _, err := lastmile.NewPoint(h.Location.Lon, h.Location.Lat); err != nil || h.Location.IsZero() || h.Precision == 0 {
		return false
	}
	if !admits(q.places, q.named, h.GeocodedAddress, h.countryCode) {
		return false
	}
	if len(q.nearby) == 0 || slices.ContainsFunc(q.nearby, func(p lastmile.Point) bool { return p.Distance(h.Location) <= maxCityDistance }) {
		return true
	}
	// It may be a smaller town of the same name that the gazetteer lacks. Then a known city of
	// the country and state is nearby.
	state, _ := q.places.State(q.likely, q.asked.State)
	return gazetteer.Fold(h.Address.City) == gazetteer.Fold(q.asked.City) && q.places.Inhabited(q.likely, state, h.Location, maxKnownDistance)
}

// finish completes a result: parts that are missing are taken from the request, and parts
// that differ from the request cause warnings.
func (q question) finish(source string, h hit) lastmile.GeocodedAddress {
	place := h.GeocodedAddress
	place.Source = source
	place.PlaceID = sanitize(place.PlaceID)
	a := &place.Address
	for _, part := range []*string{&a.Name, &a.Number, &a.Street, &a.Apartment, &a.City, &a.State, &a.PostalCode, &a.County, &a.Country} {
		*part = sanitize(*part)
	}
	if name := q.places.CountryName(strings.ToUpper(h.countryCode)); name != "" {
		a.Country = name
	}
	place.Warnings = q.compare(place, strings.ToUpper(h.countryCode))
	for _, part := range []struct {
		found *string
		asked string
	}{
		{&a.Number, q.asked.Number},
		{&a.Street, q.asked.Street},
		{&a.Apartment, q.asked.Apartment},
		{&a.City, q.asked.City},
		{&a.PostalCode, q.asked.PostalCode},
		{&a.State, q.asked.State},
		{&a.Country, q.asked.Country},
	} {
		if *part.found == "" {
			*part.found = part.asked
		}
	}
	return place
}

// sanitize sanitizes text from a service.
func sanitize(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	text = tidy(text)
	if utf8.RuneCountInString(text) > lastmile.MaxText {
		text = string([]rune(text)[:lastmile.MaxText])
	}
	return text
}
