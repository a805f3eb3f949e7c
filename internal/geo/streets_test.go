package geo_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/osm/town"
	"dray/internal/rate"
	"dray/internal/street"
)

// townIndex is the street index of the generated town.
var townIndex = sync.OnceValues(func() (*street.Index, error) {
	var file bytes.Buffer
	if err := town.Write(&file, 1); err != nil {
		return nil, err
	}
	return indexOf(file.Bytes())
})

func indexOf(content []byte) (*street.Index, error) {
	var out bytes.Buffer
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	if err := street.Build(context.Background(), open, &out, func(float64) {}); err != nil {
		return nil, err
	}
	return street.Open(out.Bytes())
}

// streets returns the geocoder of some indexes.
func streets(indexes ...*street.Index) *geo.Streets {
	return &geo.Streets{Indexes: func() []*street.Index { return indexes }}
}

func townStreets(t testing.TB) *geo.Streets {
	t.Helper()
	x, err := townIndex()
	if err != nil {
		t.Fatal(err)
	}
	return streets(x)
}

// aHouse returns an address of the town.
func aHouse(t testing.TB) lastmile.GeocodedAddress {
	t.Helper()
	found, err := townStreets(t).Reverse(t.Context(), lastmile.Point{Lon: -73.9823, Lat: 40.7494}, 1)
	if err != nil || len(found) != 1 || found[0].Precision != lastmile.PrecisionHouse {
		t.Fatalf("found %+v: %v", found, err)
	}
	return found[0]
}

func TestStreetsFindTheDoor(t *testing.T) {
	chain := &geo.Chain{Local: []geo.Geocoder{townStreets(t), &geo.Gazetteer{}}}
	house := aHouse(t)
	a := house.Address
	if a.City != town.Name || a.State != "New York" || a.Country != "United States" {
		t.Fatalf("the house is %+v", a)
	}
	parts := func(change func(*lastmile.Address)) lastmile.AddressQuery {
		asked := lastmile.Address{Number: a.Number, Street: a.Street, City: a.City, State: "NY", PostalCode: a.PostalCode, Country: "USA"}
		change(&asked)
		return lastmile.AddressQuery{Address: asked, Country: "US"}
	}
	line := func(text string) lastmile.AddressQuery {
		text = strings.NewReplacer("{number}", a.Number, "{street}", a.Street, "{code}", a.PostalCode).Replace(text)
		return lastmile.AddressQuery{Unparsed: text, Country: "US"}
	}
	tests := map[string]struct {
		query     lastmile.AddressQuery
		precision lastmile.Precision
		source    string
		warnings  []string
	}{
		"parts":                   {parts(func(*lastmile.Address) {}), lastmile.PrecisionHouse, geo.StreetsSource, nil},
		"parts without code":      {parts(func(a *lastmile.Address) { a.PostalCode = "" }), lastmile.PrecisionHouse, geo.StreetsSource, nil},
		"another number":          {parts(func(a *lastmile.Address) { a.Number = "9999" }), lastmile.PrecisionStreet, geo.StreetsSource, []string{lastmile.WarnApproximate, lastmile.MismatchNumber}},
		"another code":            {parts(func(a *lastmile.Address) { a.PostalCode = "10001" }), lastmile.PrecisionHouse, geo.StreetsSource, []string{lastmile.MismatchPostal}},
		"another city":            {parts(func(a *lastmile.Address) { a.City, a.PostalCode = "Yonkers", "" }), lastmile.PrecisionCity, geo.GazetteerSource, []string{lastmile.WarnApproximate}},
		"another state":           {parts(func(a *lastmile.Address) { a.City, a.State, a.PostalCode = "Newark", "NJ", "" }), lastmile.PrecisionCity, geo.GazetteerSource, []string{lastmile.WarnApproximate}},
		"another street":          {parts(func(a *lastmile.Address) { a.Street = "Zyxwvut Parade" }), lastmile.PrecisionPostalCode, geo.GazetteerSource, []string{lastmile.WarnApproximate, lastmile.MismatchCity}},
		"line":                    {line("{number} {street}, Alderbrook, NY {code}, USA"), lastmile.PrecisionHouse, geo.StreetsSource, nil},
		"line with an apartment":  {line("{number} {street}, Apt 4B, Alderbrook, New York {code}"), lastmile.PrecisionHouse, geo.StreetsSource, nil},
		"line without the state":  {line("{street} {number}, {code} Alderbrook"), lastmile.PrecisionHouse, geo.StreetsSource, nil},
		"line in another city":    {line("{number} {street}, Yonkers, NY"), lastmile.PrecisionCity, geo.GazetteerSource, []string{lastmile.WarnApproximate}},
		"line in the real city":   {line("{number} {street}, New York, NY"), lastmile.PrecisionCity, geo.GazetteerSource, []string{lastmile.WarnApproximate}},
		"line with a crossing":    {line("Main Street & Bridge Street, Alderbrook, NY"), lastmile.PrecisionStreet, geo.StreetsSource, nil},
		"line without the number": {line("{street}, Alderbrook, NY"), lastmile.PrecisionStreet, geo.StreetsSource, []string{lastmile.WarnApproximate}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := chain.Geocode(t.Context(), tt.query)
			if err != nil || got.Precision != tt.precision || got.Source != tt.source || !slices.Equal(got.Warnings, tt.warnings) {
				t.Fatalf("got %+v, want %v of %s with %v: %v", got, tt.precision, tt.source, tt.warnings, err)
			}
			if tt.precision == lastmile.PrecisionHouse && got.Location.Distance(house.Location) > 1 {
				t.Errorf("found at %v, want %v", got.Location, house.Location)
			}
		})
	}
	t.Run("the number that was requested is kept", func(t *testing.T) {
		for _, q := range []lastmile.AddressQuery{
			tests["another number"].query, line("9999 {street}, Alderbrook, NY"), line("9999 {street}, {code} Alderbrook"), line("{street} 9999, {code} Alderbrook"),
		} {
			got, err := chain.Geocode(t.Context(), q)
			if err != nil || got.Address.Number != "9999" || got.Address.Street != a.Street || got.Precision != lastmile.PrecisionStreet {
				t.Errorf("%s: got %+v: %v", q.Unparsed, got, err)
			}
		}
		for _, text := range []string{"{street} {code} Alderbrook", "{street}, {code} Alderbrook"} {
			if got, err := chain.Geocode(t.Context(), line(text)); err != nil || got.Address.Number != "" {
				t.Errorf("%s: got %+v: %v", text, got, err)
			}
		}
	})
	t.Run("a precision that is not met", func(t *testing.T) {
		q := tests["another number"].query
		q.Precision = lastmile.PrecisionHouse
		if got, err := chain.Geocode(t.Context(), q); err == nil {
			t.Errorf("got %+v", got)
		}
	})
}

func TestStreetsWithoutACity(t *testing.T) {
	rows := "LON,LAT,NUMBER,STREET,CITY,POSTCODE\n-73.9,40.7,12,Elm Street,Northtown,\n-89.6,39.8,12,Elm Street,Southtown,\n"
	x, err := indexOf([]byte(rows))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		query lastmile.AddressQuery
		city  string
	}{
		"near a hub":          {lastmile.AddressQuery{Unparsed: "12 Elm Street", Country: "US", Near: []lastmile.Point{{Lon: -89.5, Lat: 39.8}}}, "Southtown"},
		"far from all hubs":   {lastmile.AddressQuery{Unparsed: "12 Elm Street", Country: "US", Near: []lastmile.Point{{Lon: -120, Lat: 39}}}, ""},
		"ambiguous":           {lastmile.AddressQuery{Unparsed: "12 Elm Street", Country: "US"}, ""},
		"with something else": {lastmile.AddressQuery{Unparsed: "12 Elm Street, Wherever", Country: "US", Near: []lastmile.Point{{Lon: -89.5, Lat: 39.8}}}, ""},
		"with the city":       {lastmile.AddressQuery{Unparsed: "12 Elm Street, Northtown", Country: "US", Near: []lastmile.Point{{Lon: -89.5, Lat: 39.8}}}, "Northtown"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := streets(x).Geocode(t.Context(), tt.query)
			if got.Address.City != tt.city || (err == nil) != (tt.city != "") {
				t.Errorf("got %+v: %v", got, err)
			}
		})
	}
}

func TestStreetsUseOtherNamesOfCities(t *testing.T) {
	x, err := indexOf([]byte("LON,LAT,NUMBER,STREET,CITY,POSTCODE,COUNTRY\n12.57,55.68,7,Store Kongensgade,København K,1264,DK\n"))
	if err != nil {
		t.Fatal(err)
	}
	for city, want := range map[string]bool{"København": true, "Copenhagen": true, "København K": true, "Aarhus": false} {
		_, err := streets(x).Geocode(t.Context(), lastmile.AddressQuery{
			Address: lastmile.Address{Number: "7", Street: "Store Kongensgade", City: city, Country: "Denmark"}, Country: "DK",
		})
		if (err == nil) != want {
			t.Errorf("%s: %v", city, err)
		}
	}
}

// TestStreetsInDistricts finds addresses whose district looks like the code of a country
// or state.
func TestStreetsInDistricts(t *testing.T) {
	x, err := indexOf([]byte("LON,LAT,NUMBER,STREET,CITY,POSTCODE,COUNTRY\n12.54,55.65,30,Scandiagade,København SV,2450,DK\n12.53,55.70,11,Jordbærvej,København NV,2400,DK\n"))
	if err != nil {
		t.Fatal(err)
	}
	chain := &geo.Chain{Local: []geo.Geocoder{streets(x), &geo.Gazetteer{}}}
	for line, found := range map[string]bool{
		"Scandiagade 30, 2450 København SV": true, "Jordbærvej 11, 2400 København NV": true, "Scandiagade 30, 2450 Københvan SV": true,
		"Scandiagade 30 2450 København SV": true, "30 Scandiagade, København SV": true, "Jordbærvej 11, København NV": true,
		"Scandiagade 30, San Salvador, SV": false, "Jordbærvej 11, Reno NV": false,
	} {
		got, err := chain.Geocode(t.Context(), lastmile.AddressQuery{Unparsed: line, Country: "DK"})
		if (err == nil && got.Precision == lastmile.PrecisionHouse && got.Address.Country == "Denmark") != found {
			t.Errorf("%s: %+v: %v", line, got, err)
		}
	}
}

func TestSuggestAndReverse(t *testing.T) {
	s, house := townStreets(t), aHouse(t)
	near := []lastmile.Point{house.Location}
	found, err := s.Suggest(t.Context(), lastmile.AddressQuery{Unparsed: house.Address.Number + " " + house.Address.Street[:len(house.Address.Street)-3], Country: "US", Near: near}, 5)
	if err != nil || len(found) == 0 || len(found) > 5 || found[0].Address != house.Address {
		t.Errorf("found %+v, want %+v: %v", found, house, err)
	}
	for _, text := range []string{"9999 " + house.Address.Street, house.Address.Street + " 9999"} { // of a house that the map does not have
		found, err = s.Suggest(t.Context(), lastmile.AddressQuery{Unparsed: text, Country: "US", Near: near}, 5)
		if err != nil || len(found) == 0 || found[0].Address.Number != "9999" || found[0].Address.Street != house.Address.Street || found[0].Precision != lastmile.PrecisionStreet {
			t.Errorf("%s: found %+v: %v", text, found, err)
		}
	}
	found, err = streets().Suggest(t.Context(), lastmile.AddressQuery{Unparsed: "San Fran", Country: "US"}, 3)
	if err != nil || len(found) == 0 || found[0].Address.City != "San Francisco" || found[0].Precision != lastmile.PrecisionCity {
		t.Errorf("found %+v: %v", found, err)
	}
	found, err = s.Reverse(t.Context(), lastmile.Point{Lon: 12.57, Lat: 55.68}, 3)
	if err != nil || len(found) != 1 || found[0].Address.Country != "Denmark" || found[0].Precision != lastmile.PrecisionCity {
		t.Errorf("found %+v: %v", found, err)
	}
	found, err = s.Reverse(t.Context(), lastmile.Point{Lon: -140, Lat: -40}, 3)
	if err != nil || len(found) != 0 {
		t.Errorf("found %+v in the ocean: %v", found, err)
	}
}

func TestSuggestTowns(t *testing.T) {
	rows := "LON,LAT,NUMBER,STREET,CITY,POSTCODE,COUNTRY\n-74.4,40.5,1,Berlin Street,Westbrook,,US\n-74.4,40.5,1,Paris Road,Westbrook,,US\n-89.6,39.8,1,Elm Street,Westbrook Falls,,US\n"
	for i := range 50 { // so that not every word is rare
		rows += fmt.Sprintf("-89.6,39.8,1,Number %d Street,Westbrook Falls,,US\n-89.6,39.8,1,Number %d Road,Westbrook Falls,,US\n", i, i)
	}
	other, err := indexOf([]byte(rows))
	if err != nil {
		t.Fatal(err)
	}
	x, err := townIndex()
	if err != nil {
		t.Fatal(err)
	}
	s := streets(x, other)
	for text, want := range map[string]string{
		"Alderbrook":                        "Alderbrook, New York, United States",
		"alderb":                            "Alderbrook, New York, United States",
		"Aldrebrook":                        "Alderbrook, New York, United States",
		"Alderbrook, NY":                    "Alderbrook, New York, United States",
		"Alderbrook New York":               "Alderbrook, New York, United States",
		"Alderbrook, New York, United Stat": "Alderbrook, New York, United States",
		"Westb":                             "Westbrook, , United States",
		"Westbrook F":                       "Westbrook Falls, , United States",
		"Berlin, Germany":                   "Berlin, Berlin, Germany",
		"berlin germ":                       "Berlin, Berlin, Germany",
		"Berlin, Deutschland":               "Berlin, Berlin, Germany",
		"Berlin, NJ":                        "Berlin, New Jersey, United States",
		"Springfield Illinois":              "Springfield, Illinois, United States",
		"Springfield, Ill":                  "Springfield, Illinois, United States",
		"Toronto, Ontario, Can":             "Toronto, Ontario, Canada",
		"San Fran":                          "San Francisco, California, United States",
		"San Francicso":                     "San Francisco, California, United States",
		"Copenhag":                          "Copenhagen, Capital Region, Denmark",
		"Denmark":                           "Copenhagen, Capital Region, Denmark",
		"Texas":                             "Houston, Texas, United States",
		"Liechtens":                         "Schaan, Schaan, Liechtenstein",
	} {
		found, err := s.Suggest(t.Context(), lastmile.AddressQuery{Unparsed: text, Country: "US", Near: []lastmile.Point{{Lon: -73.98, Lat: 40.75}}}, 5)
		if err != nil || len(found) == 0 || len(found) > 5 {
			t.Errorf("%s: found %+v: %v", text, found, err)
			continue
		}
		a := found[0].Address
		if got := a.City + ", " + a.State + ", " + a.Country; got != want || found[0].Precision != lastmile.PrecisionCity || a.Street != "" || !slices.Equal(found[0].Warnings, []string{lastmile.WarnApproximate}) {
			t.Errorf("%s: found %+v first, want %s", text, found[0], want)
		}
	}
	for text, want := range map[string][2]string{ // the first, and one of the others
		"Berlin":        {"Berlin Street, Westbrook", ", Berlin"},
		"Berlin Street": {"Berlin Street, Westbrook", ""},
		"Paris":         {"Paris Road, Westbrook", ", Paris"},
	} {
		found, err := s.Suggest(t.Context(), lastmile.AddressQuery{Unparsed: text, Country: "US", Near: []lastmile.Point{{Lon: -74.4, Lat: 40.5}}}, 2)
		if err != nil || len(found) == 0 || found[0].Address.Street+", "+found[0].Address.City != want[0] {
			t.Errorf("%s: found %+v, want %s first: %v", text, found, want[0], err)
		}
		if want[1] != "" && (len(found) < 2 || found[1].Address.Street+", "+found[1].Address.City != want[1]) {
			t.Errorf("%s: found %+v, want %s as well", text, found, want[1])
		}
	}
	// A town of a map is not listed twice, and an unknown name is not found.
	found, err := s.Suggest(t.Context(), lastmile.AddressQuery{Unparsed: "Alderbrook", Country: "US"}, 20)
	if err != nil || len(found) == 0 || slices.ContainsFunc(found[1:], func(f lastmile.GeocodedAddress) bool {
		return f.Address.City == town.Name && f.Address.Street == ""
	}) {
		t.Errorf("found %+v: %v", found, err)
	}
	found, err = s.Suggest(t.Context(), lastmile.AddressQuery{Unparsed: "Zyxwvutville", Country: "US"}, 5)
	if err != nil || len(found) != 0 {
		t.Errorf("found %+v: %v", found, err)
	}
}

func TestPostalCodesOfMaps(t *testing.T) {
	x, err := indexOf([]byte("DE\t99084\tErfurt\tThüringen\tTH\t\t00\tErfurt\t16051\t50.9787\t11.0328\t4\n"))
	if err != nil {
		t.Fatal(err)
	}
	g := &geo.Gazetteer{Imported: geo.MapPostalCodes{PostalCodes: noPostalCodes{}, Indexes: func() []*street.Index { return []*street.Index{x} }}}
	got, err := g.Geocode(t.Context(), lastmile.AddressQuery{Address: lastmile.Address{City: "Erfurt", PostalCode: "99084", Country: "Germany"}, Country: "DE"})
	if err != nil || got.Precision != lastmile.PrecisionPostalCode || got.Location.Distance(lastmile.Point{Lon: 11.0328, Lat: 50.9787}) > 10 {
		t.Errorf("got %+v: %v", got, err)
	}
}

// noPostalCodes are no imported postal codes.
type noPostalCodes struct{}

func (noPostalCodes) PostalAreas(context.Context, string, string) ([]lastmile.PostalArea, bool, error) {
	return nil, false, nil
}

// TestStreetsTakeTurns checks that a caller that already has a turn waits, while another
// caller can search.
func TestStreetsTakeTurns(t *testing.T) {
	s, house := townStreets(t), aHouse(t)
	if _, err := s.Suggest(t.Context(), lastmile.AddressQuery{Unparsed: "x"}, 1); err != nil { // unpacks the gazetteer
		t.Fatal(err)
	}
	for name, search := range map[string]func(ctx context.Context) error{
		"suggest": func(ctx context.Context) error {
			_, err := s.Suggest(ctx, lastmile.AddressQuery{Unparsed: house.Address.Street, Country: "US"}, 1)
			return err
		},
		"geocode": func(ctx context.Context) error {
			_, err := s.Geocode(ctx, lastmile.AddressQuery{Address: house.Address, Country: "US"})
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s.Shares = rate.NewShares(2)
			end, err := s.Shares.Take(t.Context(), "greedy")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan string, 4)
			for _, caller := range []string{"greedy", "greedy", "greedy", "modest"} {
				go func() {
					if err := search(lastmile.WithCaller(t.Context(), caller)); err != nil {
						t.Error(err)
					}
					done <- caller
				}()
			}
			synctest.Wait()
			if len(done) != 1 || <-done != "modest" {
				t.Errorf("%s: a caller that has a turn takes another, or others wait for it", name)
			}
			end()
			synctest.Wait()
			if len(done) != 3 {
				t.Errorf("%s: %d of 3 searches have ended", name, len(done))
			}
		})
	}
}
