package geo_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"dray/internal/geo"
	"dray/internal/lastmile"
)

// Responses in the form of each service, from its documentation.
const (
	nominatimHouse = `[{"place_id":1,"lat":"37.788","lon":"-122.396","category":"building","type":"office","place_rank":30,"importance":0.1,
		"addresstype":"building","display_name":"543, Howard Street, …","address":{"house_number":"543","road":"Howard Street",
		"suburb":"Transbay","city":"San Francisco","state":"California","ISO3166-2-lvl4":"US-CA","postcode":"94105","country":"United States","country_code":"us"}}]`
	photonHouse = `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[-122.396,37.788]},
		"properties":{"osm_type":"W","osm_id":1,"osm_key":"building","osm_value":"office","type":"house","housenumber":"543","street":"Howard Street",
		"city":"San Francisco","state":"California","postcode":"94105","country":"United States","countrycode":"US"}}]}`
	googleHouse = `{"status":"OK","results":[{"place_id":"ChIJ_test","types":["street_address"],"formatted_address":"543 Howard St, …",
		"geometry":{"location":{"lat":37.788,"lng":-122.396},"location_type":"ROOFTOP"},"address_components":[
		{"long_name":"543","short_name":"543","types":["street_number"]},{"long_name":"Howard Street","short_name":"Howard St","types":["route"]},
		{"long_name":"SoMa","short_name":"SoMa","types":["neighborhood","political"]},{"long_name":"San Francisco","short_name":"SF","types":["locality","political"]},
		{"long_name":"San Francisco County","short_name":"San Francisco County","types":["administrative_area_level_2","political"]},
		{"long_name":"California","short_name":"CA","types":["administrative_area_level_1","political"]},
		{"long_name":"United States","short_name":"US","types":["country","political"]},{"long_name":"94105","short_name":"94105","types":["postal_code"]}]}]}`
)

// providers return the same house in the form of each service.
var providers = map[string]struct{ url, house, none string }{
	"nominatim": {"nominatim+%s", nominatimHouse, `[]`},
	"photon":    {"photon+%s", photonHouse, `{"type":"FeatureCollection","features":[]}`},
	"google":    {"google+%s/maps/api/geocode/json?key=secret", googleHouse, `{"status":"ZERO_RESULTS","results":[]}`},
}

func TestProvidersFindAHouse(t *testing.T) {
	for name, provider := range providers {
		t.Run(name, func(t *testing.T) {
			url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, provider.house) })
			p, err := open(t, fmt.Sprintf(provider.url, url), nil).Geocode(t.Context(), howard)
			if err != nil {
				t.Fatal(err)
			}
			a := p.Address
			got := strings.Join([]string{a.Number, a.Street, a.City, a.State, a.PostalCode, a.Country}, "|")
			if want := "543|Howard Street|San Francisco|California|94105|United States"; got != want {
				t.Errorf("address %s, want %s", got, want)
			}
			if p.Location != (lastmile.Point{Lon: -122.396, Lat: 37.788}) || p.Precision != lastmile.PrecisionHouse || p.Source != name || len(p.Warnings) != 0 {
				t.Errorf("found %+v", p)
			}
			if want := map[bool]string{true: "ChIJ_test"}[name == "google"]; p.PlaceID != want {
				t.Errorf("place id %q, want %q", p.PlaceID, want)
			}
		})
	}
}

func TestProvidersThatFindNothingReject(t *testing.T) {
	for name, provider := range providers {
		t.Run(name, func(t *testing.T) {
			url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, provider.none) })
			_, err := open(t, fmt.Sprintf(provider.url, url), nil).Geocode(t.Context(), howard)
			if rejection, ok := errors.AsType[*lastmile.Error](err); !ok || rejection.Code != lastmile.CodeInvalid {
				t.Errorf("got %v, want a rejection", err)
			}
		})
	}
}

func TestNominatimIsAskedInPartsThenInOneLine(t *testing.T) {
	url, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("q") {
			fmt.Fprint(w, nominatimHouse)
			return
		}
		fmt.Fprint(w, `[]`)
	})
	if _, err := open(t, "nominatim+"+url, nil).Geocode(t.Context(), howard); err != nil {
		t.Fatal(err)
	}
	if asked.count() != 2 {
		t.Fatalf("asked %d times", asked.count())
	}
	parts, line := asked.requests[0].URL.Query(), asked.requests[1].URL.Query()
	if parts.Get("street") != "543 Howard St" || parts.Get("city") != "San Francisco" || parts.Get("postalcode") != "94105" || parts.Has("q") {
		t.Errorf("first asked %v", parts)
	}
	if line.Get("q") != "543 Howard St, San Francisco, CA 94105, United States" || line.Has("street") {
		t.Errorf("then asked %v", line)
	}
	for _, query := range []map[string][]string{parts, line} {
		if query["countrycodes"][0] != "us" || query["format"][0] != "jsonv2" || query["accept-language"][0] != "en" {
			t.Errorf("asked %v", query)
		}
	}
	if agent := asked.requests[0].UserAgent(); agent != "Dray/test" {
		t.Errorf("user agent %q", agent)
	}
}

func TestLanguageReachesProviders(t *testing.T) {
	for code, want := range map[string]string{"DK": "da", "da": "da", "de": "de", "SV": "es", "sv": "sv", "us": "en", "": "en", "xx": "en"} {
		url, asked := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, nominatimHouse) })
		q := howard
		q.Language = code
		if _, err := open(t, "nominatim+"+url, nil).Geocode(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if got := asked.requests[0].URL.Query().Get("accept-language"); got != want {
			t.Errorf("options.language %q asks for %q, want %q", code, got, want)
		}
	}
}

func TestWarningsNameWhatDiffers(t *testing.T) {
	tests := map[string]struct {
		ask  lastmile.Address
		want string
	}{
		"nothing":                    {howard.Address, ""},
		"abbreviations and case":     {lastmile.Address{Number: "543", Street: "HOWARD STREET", City: "san francisco", State: "California", PostalCode: "94105-1000", Country: "USA"}, ""},
		"a letter in the street":     {lastmile.Address{Number: "543", Street: "Howrad Street", City: "San Francisco", Country: "USA"}, ""},
		"a part of the street":       {lastmile.Address{Number: "543", Street: "Howard", City: "San Francisco", Country: "USA"}, ""},
		"a range of numbers":         {lastmile.Address{Number: "543-545", Street: "Howard St", City: "San Francisco", Country: "USA"}, ""},
		"another number":             {lastmile.Address{Number: "5430", Street: "Howard St", City: "San Francisco", Country: "USA"}, "MISMATCH_NUMBER"},
		"another street":             {lastmile.Address{Number: "543", Street: "Mission St", City: "San Francisco", Country: "USA"}, "MISMATCH_STREET"},
		"a city next to it":          {lastmile.Address{Number: "543", Street: "Howard St", City: "Daly City", Country: "USA"}, ""},
		"another city":               {lastmile.Address{Number: "543", Street: "Howard St", City: "Sacramento", Country: "USA"}, "MISMATCH_CITY"},
		"another postal code":        {lastmile.Address{Number: "543", Street: "Howard St", City: "San Francisco", PostalCode: "94110", Country: "USA"}, "MISMATCH_POSTALCODE"},
		"number, street, city, code": {lastmile.Address{Number: "1", Street: "Broadway", City: "Oaklandia", PostalCode: "94607", Country: "USA"}, "MISMATCH_NUMBER MISMATCH_STREET MISMATCH_CITY MISMATCH_POSTALCODE"},
	}
	url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, nominatimHouse) })
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := open(t, "nominatim+"+url, nil).Geocode(t.Context(), lastmile.AddressQuery{Address: tt.ask, Country: "US"})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.Warnings, " "); got != tt.want {
				t.Errorf("warnings %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHouseNumbersAreCompared(t *testing.T) {
	for numbers, want := range map[[2]string]string{ // requested and found
		{"37-10", "37-52"}: "MISMATCH_NUMBER", // two houses in Queens
		{"37-10", "37-10"}: "",
		{"37-10", "3710"}:  "",
		{"10", "10-12"}:    "",
		{"10-12", "10"}:    "",
		{"12 B", "12b"}:    "",
		{"12", "10-12"}:    "MISMATCH_NUMBER",
	} {
		url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Replace(nominatimHouse, `"house_number":"543"`, `"house_number":"`+numbers[1]+`"`, 1))
		})
		q := howard
		q.Address.Number = numbers[0]
		p, err := open(t, "nominatim+"+url, nil).Geocode(t.Context(), q)
		if got := strings.Join(p.Warnings, " "); err != nil || p.Address.Number != numbers[1] || got != want {
			t.Errorf("%s for %s: warnings %q, want %q; %v", p.Address.Number, numbers[0], got, want, err)
		}
	}
}

func TestWhatAServiceLeavesOutStaysAsAsked(t *testing.T) {
	const town = `[{"lat":"37.77","lon":"-122.41","place_rank":16,"addresstype":"city","address":{"city":"San Francisco","state":"California","country":"United States","country_code":"us"}}]`
	url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, town) })
	p, err := open(t, "nominatim+"+url, nil).Geocode(t.Context(), howard)
	if err != nil {
		t.Fatal(err)
	}
	if p.Address.Number != "543" || p.Address.Street != "Howard St" || p.Address.PostalCode != "94105" || p.Precision != lastmile.PrecisionCity {
		t.Errorf("found %+v", p)
	}
	if !slices.Equal(p.Warnings, []string{lastmile.WarnApproximate}) {
		t.Errorf("warnings %v", p.Warnings)
	}
}

func TestPrecisionOfServices(t *testing.T) {
	google := func(kind, location string) string {
		return fmt.Sprintf(`{"status":"OK","results":[{"types":[%q],"geometry":{"location":{"lat":37.788,"lng":-122.396},"location_type":%q}}]}`, kind, location)
	}
	nominatim := func(rank int, kind string) string {
		return fmt.Sprintf(`[{"lat":"37.788","lon":"-122.396","place_rank":%d,"addresstype":%q,"address":{"house_number":"1"}}]`, rank, kind)
	}
	photon := func(kind, value string) string {
		return fmt.Sprintf(`{"features":[{"geometry":{"coordinates":[-122.396,37.788]},"properties":{"type":%q,"osm_value":%q}}]}`, kind, value)
	}
	tests := map[string]struct {
		provider, response string
		want               lastmile.Precision
	}{
		"google rooftop":      {"google", google("street_address", "ROOFTOP"), lastmile.PrecisionHouse},
		"google interpolated": {"google", google("street_address", "RANGE_INTERPOLATED"), lastmile.PrecisionHouse},
		"google street":       {"google", google("route", "GEOMETRIC_CENTER"), lastmile.PrecisionStreet},
		"google postal code":  {"google", google("postal_code", "APPROXIMATE"), lastmile.PrecisionPostalCode},
		"google city":         {"google", google("locality", "APPROXIMATE"), lastmile.PrecisionCity},
		"google country":      {"google", google("country", "APPROXIMATE"), 0},
		"nominatim house":     {"nominatim", nominatim(30, "building"), lastmile.PrecisionHouse},
		"nominatim street":    {"nominatim", nominatim(26, "road"), lastmile.PrecisionStreet},
		"nominatim code":      {"nominatim", nominatim(21, "postcode"), lastmile.PrecisionPostalCode},
		"nominatim city":      {"nominatim", nominatim(16, "city"), lastmile.PrecisionCity},
		"nominatim state":     {"nominatim", nominatim(8, "state"), 0},
		"photon shop":         {"photon", photon("house", "shop"), lastmile.PrecisionStreet},
		"photon street":       {"photon", photon("street", "residential"), lastmile.PrecisionStreet},
		"photon code":         {"photon", photon("other", "postcode"), lastmile.PrecisionPostalCode},
		"photon city":         {"photon", photon("city", "city"), lastmile.PrecisionCity},
		"photon country":      {"photon", photon("country", "country"), 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, tt.response) })
			p, err := open(t, fmt.Sprintf(providers[tt.provider].url, url), nil).Geocode(t.Context(), howard)
			if p.Precision != tt.want || (err != nil) != (tt.want == 0) {
				t.Errorf("got %v, %v; want %v", p.Precision, err, tt.want)
			}
		})
	}
}

func TestASmallPlaceOfAKnownNameIsBelieved(t *testing.T) {
	// Portland in the gazetteer is in Oregon and elsewhere, but not in Kansas.
	const hamlet = `[{"lat":"37.074","lon":"-97.312","place_rank":30,"addresstype":"building","address":{"house_number":"1","road":"Main Street",
		"hamlet":"Portland","state":"Kansas","country":"United States","country_code":"us"}}]`
	url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, hamlet) })
	ask := lastmile.Address{Number: "1", Street: "Main Street", City: "Portland", Country: "US"}
	for state, accepted := range map[string]bool{"Kansas": true, "": true, "Oregon": false} {
		ask.State = state
		p, err := open(t, "nominatim+"+url, nil).Geocode(t.Context(), lastmile.AddressQuery{Address: ask, Country: "US"})
		if (err == nil) != accepted {
			t.Errorf("asked for in %q: found %+v, %v", state, p, err)
		}
	}
}

func TestALineIsLookedForWhereItSeemsToBe(t *testing.T) {
	for line, want := range map[string]string{
		"10 Downing St, London SW1A 2AA":      "gb",
		"10 Downing St, London, UK":           "gb",
		"543 Howard St, San Francisco, CA":    "us",
		"543 Xyzzy St, Nowhere in Particular": "us",
	} {
		url, asked := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) })
		_, _ = open(t, "nominatim+"+url, nil).Geocode(t.Context(), lastmile.AddressQuery{Unparsed: line, Country: "US"})
		if got := asked.requests[0].URL.Query().Get("countrycodes"); got != want {
			t.Errorf("%s is looked for in %q, want %q", line, got, want)
		}
	}
}

func TestOpenGeocoder(t *testing.T) {
	tests := map[string]struct{ url, want string }{
		"by prefix":         {"photon+http://maps.example.com:2322", "photon"},
		"public nominatim":  {"https://nominatim.openstreetmap.org", "nominatim"},
		"by path":           {"https://maps.example.com/search", "nominatim"},
		"by host":           {"https://photon.example.com", "photon"},
		"host before path":  {"https://nominatim.example.com/api", "nominatim"},
		"photon by path":    {"https://maps.example.com/api", "photon"},
		"google by host":    {"https://maps.googleapis.com/maps/api/geocode/json?key=k", "google"},
		"google, no key":    {"google+https://maps.googleapis.com", ""},
		"unknown kind":      {"pelias+https://maps.example.com", ""},
		"not to be guessed": {"https://maps.example.com", ""},
		"no host":           {"nominatim+https://", ""},
		"not a URL":         {"://", ""},
		"another scheme":    {"nominatim+file:///etc/passwd", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, kind, err := geo.OpenGeocoder(tt.url, options(nil))
			if kind != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %q, %v; want %q", kind, err, tt.want)
			}
		})
	}
}
