package contract_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

// finder knows one address.
type finder struct {
	asked lastmile.AddressQuery
	at    lastmile.Point
	limit int
}

var foundHouse = lastmile.GeocodedAddress{
	Location: lastmile.Point{Lon: -73.98, Lat: 40.75}, Precision: lastmile.PrecisionHouse, Source: "streets",
	Address: lastmile.Address{Number: "12", Street: "Elm Street", City: "Alderbrook", State: "New York", PostalCode: "10018", County: "C", Country: "United States"},
}

// Suggest implements addressbook.Finder.
func (f *finder) Suggest(_ context.Context, q lastmile.AddressQuery, limit int) ([]lastmile.GeocodedAddress, error) {
	f.asked, f.limit = q, limit
	return []lastmile.GeocodedAddress{foundHouse}, nil
}

// Reverse implements addressbook.Finder.
func (f *finder) Reverse(_ context.Context, at lastmile.Point, limit int) ([]lastmile.GeocodedAddress, error) {
	f.at, f.limit = at, limit
	return nil, nil
}

func TestGeocodeContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Acme")
		_, worker := hire(t, c, driverTeam(t, c, "Team", false), string(apptest.Phone()))
		callers := map[string]func(path string) apptest.Response{
			"an API key": func(path string) apptest.Response { return c.Call(t, "GET", path, nil) },
			"a worker":   func(path string) apptest.Response { return worker.call(t, "GET", path, nil) },
		}
		for name, call := range callers {
			t.Run(name+" finds cities without a map", func(t *testing.T) {
				found := call("/geocode?q=san+fran&limit=1").OK(t)
				if !strings.Contains(string(found.Body), `"city":"San Francisco"`) || !strings.Contains(string(found.Body), `"precision":"city"`) {
					t.Errorf("found %s", found.Body)
				}
				if found = call("/geocode?location=12.57,55.68").OK(t); !strings.Contains(string(found.Body), `"country":"Denmark"`) {
					t.Errorf("found %s", found.Body)
				}
			})
		}
		known := &finder{}
		p.Book.Finder = known
		for name, call := range callers {
			t.Run(name, func(t *testing.T) {
				found := call("/geocode?q=12+Elm").OK(t)
				const want = `[{"location":[-73.98,40.75],"address":{"number":"12","street":"Elm Street","apartment":"","city":"Alderbrook","state":"New York","postalCode":"10018","country":"United States"},` +
					`"line":"12 Elm Street, Alderbrook, New York 10018, United States","precision":"house","warnings":[],"source":"streets"}]`
				if got := strings.TrimSpace(string(found.Body)); got != want {
					t.Errorf("found\n%s\nwant\n%s", got, want)
				}
				if known.limit != 5 || known.asked.Unparsed != "12 Elm" || known.asked.Country != "US" || len(known.asked.Near) != 0 {
					t.Errorf("asked for %d of %+v", known.limit, known.asked)
				}
				call("/geocode?q=12+Elm&near=1.5,2.5&limit=20").OK(t)
				if known.limit != 20 || !reflect.DeepEqual(known.asked.Near, []lastmile.Point{{Lon: 1.5, Lat: 2.5}}) {
					t.Errorf("asked for %d of %+v", known.limit, known.asked)
				}
				none := call("/geocode?location=-73.9857,40.7484&limit=2").OK(t)
				if strings.TrimSpace(string(none.Body)) != "[]" || known.limit != 2 || known.at != (lastmile.Point{Lon: -73.9857, Lat: 40.7484}) {
					t.Errorf("found %s for %d at %+v", none.Body, known.limit, known.at)
				}
			})
			t.Run(name+" sends invalid queries", func(t *testing.T) {
				for query, tt := range map[string]struct {
					want  rejection
					words []string
				}{
					"":                              {malformed, []string{"q or location"}},
					"q=+":                           {malformed, []string{"q or location"}},
					"q=a&location=1,2":              {invalid, []string{"q", "location"}},
					"q=" + strings.Repeat("x", 251): {invalid, []string{"q", "250"}},
					"q=a&limit=0":                   {invalid, []string{"limit", "20, not 0"}},
					"q=a&limit=-1":                  {invalid, []string{"limit", "20, not -1"}},
					"q=a&limit=21":                  {invalid, []string{"limit", "20"}},
					"q=a&limit=1.5":                 {invalid, []string{"limit"}},
					"q=a&limit=x":                   {malformed, []string{"limit"}},
					"location=1":                    {malformed, []string{"location"}},
					"location=1,91":                 {malformed, []string{"location"}},
					"location=NaN,1":                {malformed, []string{"location"}},
					"q=a&near=here":                 {malformed, []string{"near"}},
				} {
					t.Run(fmt.Sprintf("%.20s", query), func(t *testing.T) { tt.want.check(t, call("/geocode?"+query), tt.words...) })
				}
			})
		}
		c.Must(t, "POST", "/hubs", `{"name":"Depot","address":{"city":"X","country":"Y"},"location":[3.5,4.5]}`)
		callers["an API key"]("/geocode?q=12+Elm").OK(t)
		if !reflect.DeepEqual(known.asked.Near, []lastmile.Point{{Lon: 3.5, Lat: 4.5}}) {
			t.Errorf("asked near %+v, want the hub", known.asked.Near)
		}
	})
}
