package geo

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/street"
)

// StreetsSource is the Source of locations found in imported maps.
const StreetsSource = "streets"

// Streets finds addresses in the street indexes of imported maps, down to the house.
type Streets struct {
	Indexes func() []*street.Index // returns the indexes in use
	Postal  PostalCodes            // imported; nil for none
	Shares  *rate.Shares           // limits concurrent searches; callers take turns
}

// maxStreetHits is the maximum number of hits of each index that are compared.
const maxStreetHits = 5

// minStreetScore is the score below which a hit is considered another address.
const minStreetScore = 0.66

// Geocode implements Geocoder.
func (s *Streets) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	indexes := s.Indexes()
	if len(indexes) == 0 {
		return lastmile.GeocodedAddress{}, lastmile.AddressNotFound("no map of streets is imported")
	}
	ask, err := newQuestion(ctx, q)
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	found, err := s.search(ctx, indexes, ask.streetQuery())
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	for _, h := range found {
		if h.Score < minStreetScore || !ask.inCity(h, found) {
			continue
		}
		one := streetHit(ask.places, h, ask.likely)
		if !ask.plausible(one) {
			continue
		}
		place := ask.finish(StreetsSource, one)
		place.Address.Number = cmp.Or(place.Address.Number, h.Requested) // the line is not parsed if its city is unknown
		if h.Kind != street.KindHouse && h.Kind != street.KindCrossing {
			place.Warnings = append([]string{lastmile.WarnApproximate}, place.Warnings...)
		}
		return place, nil
	}
	return lastmile.GeocodedAddress{}, lastmile.AddressNotFound("no imported map has it")
}

// streetQuery returns the query for an index.
func (q question) streetQuery() street.Query {
	ask := street.Query{Line: q.Unparsed, Limit: maxStreetHits, Near: streetPoints(q.Near)}
	if q.Unparsed == "" {
		ask.Number, ask.Street, ask.City, ask.PostalCode = q.Address.Number, q.Address.Street, q.Address.City, q.Address.PostalCode
		return ask
	}
	// Ignore countries and states, which were checked already.
	for _, part := range splitLine(q.Unparsed) {
		words := slices.DeleteFunc(strings.Fields(part), hasDigit)
		for n := min(len(words), maxNameWords); n > 0; n-- {
			name := strings.Join(words[len(words)-n:], " ")
			_, isCountry := q.places.Country(name)
			_, isState := q.places.State(q.likely, name)
			if isCountry || isState {
				ask.Ignore = append(ask.Ignore, name)
				break
			}
		}
	}
	return ask
}

func streetPoints(points []lastmile.Point) (all []street.Point) {
	for _, p := range points {
		all = append(all, street.Point(p))
	}
	return all
}

// search searches all indexes. An index that cannot be read does not keep the others from
// being used.
func (s *Streets) search(ctx context.Context, indexes []*street.Index, q street.Query) ([]street.Hit, error) {
	all, err := inTurn(ctx, s, indexes, func(x *street.Index) ([]street.Hit, error) { return x.Search(q) })
	slices.SortStableFunc(all, func(a, b street.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Kind, a.Kind)) })
	return all, err
}

// inTurn waits for the caller's turn and returns the results of find for all indexes. Errors
// of find are returned only if there are no results.
func inTurn[T any](ctx context.Context, s *Streets, indexes []*street.Index, find func(*street.Index) ([]T, error)) (all []T, err error) {
	end, err := s.Shares.Take(ctx, lastmile.CallerOf(ctx))
	if err != nil {
		return nil, err
	}
	defer end()
	for _, x := range indexes {
		found, failed := find(x)
		if failed != nil {
			err = failed
			continue
		}
		all = append(all, found...)
	}
	if len(all) > 0 {
		err = nil
	}
	return all, err
}

// maxHubDistance is the maximum distance of an address without a city from the nearest of
// the organization's hubs.
const maxHubDistance lastmile.Meters = 100_000

// inCity reports whether a hit is in the requested city. Different cities have streets of
// the same name, so a hit in another city is another address.
func (q question) inCity(h street.Hit, all []street.Hit) bool {
	if h.Confirmed {
		return true
	}
	at := lastmile.Point(h.Location)
	if q.asked.City == "" {
		if !h.Whole {
			return false // the rest of the text may be an unknown city
		}
		if len(q.Near) > 0 {
			return slices.ContainsFunc(q.Near, func(p lastmile.Point) bool { return p.Distance(at) <= maxHubDistance })
		}
		return !slices.ContainsFunc(all, func(other street.Hit) bool { return other.City != h.City && other.Score > h.Score-0.1 })
	}
	for _, asked := range q.citiesNamed(q.asked.City) {
		if slices.ContainsFunc(q.citiesNamed(h.City), func(c gazetteer.City) bool { return c.Location == asked.Location }) {
			return true // another name of the same city
		}
		if (h.Guessed || h.City == "") && asked.Location.Distance(at) <= cityRadius(asked.Size) {
			return true
		}
	}
	return false
}

// citiesNamed returns the cities with a name, which may be followed by a district.
func (q question) citiesNamed(name string) []gazetteer.City {
	found := q.places.Cities(name, q.likely)
	if shorter, ok := withoutDistrict(name); ok {
		found = append(found, q.places.Cities(shorter, q.likely)...)
	}
	return found
}

// cityRadius returns the approximate radius of a city of a size.
func cityRadius(size int) lastmile.Meters {
	switch {
	case size >= minBigSize:
		return 25_000
	case size >= minWorldSize:
		return 12_000
	}
	return 6_000
}

// streetHit converts a hit of an index to that of a service. likely is the country to assume
// if the map does not name it and cities of that country are nearby.
func streetHit(places *gazetteer.Gazetteer, h street.Hit, likely string) hit {
	at := lastmile.Point(h.Location)
	country, state, city := h.Country, h.State, h.City
	if country == "" && likely != "" && places.Inhabited(likely, gazetteer.State{}, at, maxKnownDistance) {
		country = likely
	}
	if country == "" || city == "" {
		if near, ok := places.Nearest(at, maxKnownDistance); ok {
			country, city, state = cmp.Or(country, near.Country), cmp.Or(city, near.Name), cmp.Or(state, near.State.Name)
		}
	}
	if known, ok := places.State(country, state); ok {
		state = known.Name
	}
	found := hit{countryCode: country, GeocodedAddress: lastmile.GeocodedAddress{
		Location: at, Precision: lastmile.PrecisionStreet, Source: StreetsSource,
		Address: lastmile.Address{Street: h.Street, City: city, State: state, PostalCode: h.PostalCode, Country: places.CountryName(country)},
	}}
	if h.Kind == street.KindHouse || h.Kind == street.KindRange {
		found.Precision, found.Address.Number = lastmile.PrecisionHouse, h.Number
	}
	return found
}

// Reverse returns the addresses at a location, the nearest first; if there are none, the
// nearest city.
func (s *Streets) Reverse(_ context.Context, at lastmile.Point, limit int) ([]lastmile.GeocodedAddress, error) {
	places, err := gazetteer.Embedded()
	if err != nil {
		return nil, err
	}
	var found []street.Hit
	var failed error
	for _, x := range s.Indexes() {
		hits, err := x.Reverse(street.Point(at), limit)
		if err != nil {
			failed = err
		}
		found = append(found, hits...)
	}
	if len(found) == 0 && failed != nil {
		return nil, failed
	}
	slices.SortStableFunc(found, func(a, b street.Hit) int { return cmp.Compare(a.Distance, b.Distance) })
	all := []lastmile.GeocodedAddress{}
	for _, h := range found[:min(len(found), limit)] {
		all = append(all, suggestion(places, h, ""))
	}
	if city, ok := places.Nearest(at, maxKnownDistance); ok && len(all) == 0 {
		all = append(all, cityAddress(places, city, city.Location))
	}
	return all, nil
}

func suggestion(places *gazetteer.Gazetteer, h street.Hit, likely string) lastmile.GeocodedAddress {
	place := streetHit(places, h, likely).GeocodedAddress
	place.Address.Number = cmp.Or(place.Address.Number, h.Requested) // not every house is on the map
	if h.Kind != street.KindHouse && h.Kind != street.KindCrossing {
		place.Warnings = []string{lastmile.WarnApproximate}
	}
	return place
}

func cityAddress(places *gazetteer.Gazetteer, c gazetteer.City, at lastmile.Point) lastmile.GeocodedAddress {
	return lastmile.GeocodedAddress{
		Location: at, Precision: lastmile.PrecisionCity, Source: GazetteerSource, Warnings: []string{lastmile.WarnApproximate},
		Address: lastmile.Address{City: c.Name, State: c.State.Name, County: c.County, Country: places.CountryName(c.Country)},
	}
}

// MapPostalCodes looks up postal codes in imported maps if PostalCodes does not have them.
type MapPostalCodes struct {
	PostalCodes
	Indexes func() []*street.Index
}

// PostalAreas implements PostalCodes.
func (m MapPostalCodes) PostalAreas(ctx context.Context, country, code string) (areas []lastmile.PostalArea, imported bool, err error) {
	areas, imported, err = m.PostalCodes.PostalAreas(ctx, country, code)
	if err != nil || len(areas) > 0 {
		return areas, imported, err
	}
	for _, x := range m.Indexes() {
		found, err := x.PostalAreas(code)
		if err != nil {
			continue // the other indexes are still useful
		}
		for _, a := range found {
			if a.Country == country && a.City != "" {
				areas = append(areas, lastmile.PostalArea{
					Country: country, Code: normalizePostal(a.Code), Name: a.City, State: a.State, Location: lastmile.Point(a.Location),
				})
			}
		}
	}
	return areas, imported, nil
}
