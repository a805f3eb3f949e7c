package geo_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"dray/internal/geo"
	"dray/internal/lastmile"
)

// hitIn returns a response of each service with a house in a state and country.
// Services may omit the code, the names, or both.
func hitIn(provider, city, state, country, code string, at lastmile.Point) string {
	switch provider {
	case "nominatim":
		return fmt.Sprintf(`[{"lat":"%v","lon":"%v","place_rank":30,"addresstype":"building","address":{"house_number":"1","road":"Main St","city":%q,"state":%q,"country":%q,"country_code":%q}}]`,
			at.Lat, at.Lon, city, state, country, code)
	case "photon":
		return fmt.Sprintf(`{"features":[{"geometry":{"coordinates":[%v,%v]},"properties":{"type":"house","housenumber":"1","street":"Main St","city":%q,"state":%q,"country":%q,"countrycode":%q}}]}`,
			at.Lon, at.Lat, city, state, country, code)
	}
	return fmt.Sprintf(`{"status":"OK","results":[{"types":["street_address"],"geometry":{"location":{"lat":%v,"lng":%v},"location_type":"ROOFTOP"},"address_components":[
		{"long_name":%q,"types":["locality"]},{"long_name":%q,"types":["administrative_area_level_1"]},{"long_name":%q,"short_name":%q,"types":["country"]}]}]}`,
		at.Lat, at.Lon, city, state, country, code)
}

func TestServicesDoNotLeaveWhatTheAddressNames(t *testing.T) {
	muirBeach, dublin := lastmile.Point{Lon: -122.575, Lat: 37.862}, lastmile.Point{Lon: -6.26, Lat: 53.35}
	muir, belfast, paris := lastmile.Point{Lon: -84.94, Lat: 43.0}, lastmile.Point{Lon: -5.93, Lat: 54.6}, lastmile.Point{Lon: 2.35, Lat: 48.86}
	line := func(text string) lastmile.AddressQuery {
		return lastmile.AddressQuery{Unparsed: text, Country: "US"}
	}
	parts := func(city, state, country string) lastmile.AddressQuery {
		return lastmile.AddressQuery{Address: lastmile.Address{Number: "1", Street: "Main St", City: city, State: state, Country: country}, Country: "US"}
	}
	tests := map[string]struct {
		ask                        lastmile.AddressQuery
		city, state, country, code string
		at                         lastmile.Point
		found                      bool
	}{
		"a small place in the state":           {line("1 Main St, Muir Beach, California, USA"), "Muir Beach", "California", "United States", "us", muirBeach, true},
		"by the state's code":                  {line("1 Main St, Muir Beach, CA"), "Muir Beach", "California", "United States", "us", muirBeach, true},
		"in parts":                             {parts("Muir Beach", "CA", "US"), "Muir Beach", "California", "United States", "us", muirBeach, true},
		"another state":                        {line("1 Main St, Muir Beach, California, USA"), "Muir", "Michigan", "United States", "us", muir, false},
		"another state, in parts":              {parts("Muir Beach", "CA", "US"), "Muir", "Michigan", "United States", "us", muir, false},
		"another state, known by its location": {parts("Muir Beach", "CA", "US"), "Muir", "", "United States", "us", muir, false},
		"the state, known by its location":     {parts("Muir Beach", "CA", "US"), "Muir Beach", "", "", "", muirBeach, true},
		"no names at all, from elsewhere":      {parts("Muir Beach", "CA", "US"), "", "", "", "", dublin, false},
		"a postal code alone":                  {line("12 Rue de Rivoli, 75001, France"), "Paris", "Ile-de-France", "France", "fr", paris, true},
		"a postal code of another country":     {line("12 Rue de Rivoli, 75001, France"), "Addison", "Texas", "United States", "us", lastmile.Point{Lon: -96.8, Lat: 32.96}, false},
		"a small place in the country":         {line("1 Main St, Tinyplace, Ireland"), "Tinyplace", "Leinster", "Ireland", "ie", dublin, true},
		"another country":                      {line("1 Main St, Tinyplace, Ireland"), "Ireland", "Indiana", "United States", "us", lastmile.Point{Lon: -87, Lat: 38.41}, false},
		"another country, by name only":        {line("1 Main St, Tinyplace, Ireland"), "Ireland", "Indiana", "Vereinigte Staaten", "", lastmile.Point{Lon: -87, Lat: 38.41}, false},
		"across the border":                    {line("1 Main St, Tinyplace, Ireland"), "Belfast", "Northern Ireland", "United Kingdom", "gb", belfast, false},
		"one meaning of the name":              {line("1 Main St, Tinyplace, Georgia"), "Tinyplace", "Georgia", "United States", "us", lastmile.Point{Lon: -84.4, Lat: 33.7}, true},
		"the other meaning of the name":        {line("1 Main St, Tinyplace, Georgia"), "Tinyplace", "Tbilisi", "Georgia", "ge", lastmile.Point{Lon: 44.8, Lat: 41.7}, true},
		"no meaning of the name":               {line("1 Main St, Tinyplace, Georgia"), "Georgia", "Vermont", "United States", "us", lastmile.Point{Lon: -73.1, Lat: 44.7}, false},
		"an unknown country":                   {parts("Boston", "", "Frobozz"), "Boston", "Massachusetts", "United States", "us", lastmile.Point{Lon: -71.06, Lat: 42.36}, false},
		"a territory":                          {parts("San Juan", "PR", "US"), "San Juan", "Puerto Rico", "United States", "us", lastmile.Point{Lon: -66.1, Lat: 18.46}, true},
	}
	for name, tt := range tests {
		for kind, provider := range providers {
			t.Run(name+", by "+kind, func(t *testing.T) {
				body := hitIn(kind, tt.city, tt.state, tt.country, tt.code, tt.at)
				url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
				p, err := open(t, fmt.Sprintf(provider.url, url), nil).Geocode(t.Context(), tt.ask)
				rejection, rejected := errors.AsType[*lastmile.Error](err)
				if tt.found && err != nil || !tt.found && (!rejected || rejection.Code != lastmile.CodeInvalid) {
					t.Errorf("found %+v, %v", p, err)
				}
				if err == nil && p.Address.Country == "" {
					t.Errorf("found %+v without a country", p)
				}
			})
		}
	}
}

// TestNoSourceLeavesWhatTheAddressNames covers sources that do not check their
// results, such as a cache that an earlier version filled.
func TestNoSourceLeavesWhatTheAddressNames(t *testing.T) {
	muir := geocoderFunc(func(context.Context, lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
		return lastmile.GeocodedAddress{
			Location: lastmile.Point{Lon: -84.94, Lat: 43.0}, Precision: lastmile.PrecisionHouse, Source: "muir",
			Address: lastmile.Address{City: "Muir", State: "Michigan", Country: "United States"},
		}, nil
	})
	cached := &geo.Cached{Geocoder: muir, Cache: &memory{kept: map[string][]byte{}}, Name: "muir"}
	for line, source := range map[string]string{
		"1 Main St, Muir, MI":                      "muir",
		"1 Main St, Muir Beach, Michigan, USA":     "muir",
		"1 Main St, Muir Beach":                    "muir", // it may be anywhere
		"1 Main St, Muir Beach, California, USA":   "",
		"1 Main St, Muir Beach, Ireland":           "",
		"1 Main St, San Francisco, California, US": "gazetteer",
	} {
		for range 2 { // the second time from the cache
			p, err := chain(cached).Geocode(t.Context(), lastmile.AddressQuery{Unparsed: line, Country: "US"})
			if p.Source != source || (err != nil) != (source == "") {
				t.Errorf("%s: found %+v, %v", line, p, err)
			}
			if rejection, ok := errors.AsType[*lastmile.Error](err); err != nil && (!ok || rejection.Code != lastmile.CodeInvalid) {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
}

// TestRandomCitiesAreNotFoundElsewhere asks for cities in countries and states
// drawn at random.
func TestRandomCitiesAreNotFoundElsewhere(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 3))
	cities := drawnCities(t)
	found := 0
	for _, c := range cities[:samples/3] {
		other := cities[random.IntN(len(cities))]
		country := embedded(t).CountryName(other.Country)
		name := strings.ReplaceAll(c.Name, ",", " ")
		queries := map[string]lastmile.AddressQuery{
			"parts":   {Address: lastmile.Address{Number: "1", Street: "Main St", City: c.Name, State: other.State.Name, Country: other.Country}},
			"state":   {Unparsed: "1 Main St, " + name + ", " + other.State.Name + ", " + country, Country: "US"},
			"country": {Unparsed: "1 Main St, " + name + ", " + country, Country: "US"},
		}
		for what, q := range queries {
			p, err := new(geo.Gazetteer).Geocode(t.Context(), q)
			if err != nil {
				continue
			}
			found++
			a := p.Address
			ambiguous := country == "Georgia" && a.State == "Georgia"
			if a.Country != country && !ambiguous || what != "country" && a.State != other.State.Name {
				t.Errorf("%s of %+v: found %s, %s, %s", what, q, a.City, a.State, a.Country)
			}
		}
	}
	t.Logf("%d of %d", found, samples)
}
