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

// geocoder is a map service that finds the same address for every query, and records the
// last query.
type geocoder struct {
	asked lastmile.AddressQuery
	found lastmile.GeocodedAddress
}

// Geocode implements addressbook.Geocoder.
func (g *geocoder) Geocode(_ context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	g.asked = q
	return g.found, nil
}

func TestDestinationContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Acme")

		t.Run("a destination with only a location, a city and a country", func(t *testing.T) {
			made := c.Must(t, "POST", "/destinations", `{"address":{"city":"New York","country":"United States"},"location":[-74.0036,40.7129]}`)
			matches(t, made, `{
				"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","location":[-74.0036,40.7129],
				"address":{"number":"","street":"","apartment":"","city":"New York","state":"","postalCode":"","country":"United States"},
				"notes":"","metadata":[],"googlePlaceId":null,"warnings":[],"useGPS":true}`)
		})
		t.Run("every field is accepted, and read as it was returned", func(t *testing.T) {
			made := c.Call(t, "POST", "/destinations", `{
				"address":{"name":"Städtisches Museum","number":"543B","street":"Howard Street","apartment":"5th Floor","city":"San Francisco",
					"state":"California","postalCode":"94105","country":"United States"},
				"location":[-122.39586,37.78714],"notes":"Line one\nLine \"two\" \u2028 <b>&","options":{"language":"fr"},
				"metadata":[{"name":"n","type":"number","value":1}]}`).OK(t)
			matches(t, made.Object(t), `{
				"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","location":[-122.39586,37.78714],
				"address":{"name":"Städtisches Museum","number":"543B","street":"Howard Street","apartment":"5th Floor","city":"San Francisco",
					"state":"California","postalCode":"94105","country":"United States"},
				"notes":"Line one\nLine \"two\" \u2028 <b>&","metadata":[{"name":"n","type":"number","value":1,"visibility":["api"]}],
				"googlePlaceId":null,"warnings":[],"useGPS":true}`)
			read := c.Call(t, "GET", "/destinations/"+fmt.Sprint(made.Object(t)["id"]), nil).OK(t)
			if string(read.Body) != string(made.Body) {
				t.Errorf("responded with\n%s\nand read\n%s", made.Body, read.Body)
			}
		})
		t.Run("house number, apartment and postal code may be numbers", func(t *testing.T) {
			for _, numbers := range []string{`"number":543,"apartment":5,"postalCode":94105`, `"number":5.43e2,"apartment":5.00,"postalCode":94105.0`} {
				made := send(t, c, "POST", "/destinations", `{"address":{`+numbers+`,"city":"X","country":"Y"},"location":[1,2]}`).OK(t)
				matches(t, made.Object(t)["address"], `{"number":"543","street":"","apartment":"5","city":"X","state":"","postalCode":"94105","country":"Y"}`)
			}
		})
		t.Run("null stands for absent, and unknown keys are ignored", func(t *testing.T) {
			made := send(t, c, "POST", "/destinations", `{"address":{"name":null,"number":null,"street":null,"apartment":null,"city":"X","state":null,
				"postalCode":null,"country":"Y","unparsed":null,"county":"Z"},"location":[1,2],"notes":null,"options":null,"metadata":null,
				"Notes":"other case","id":"x","useGPS":false,"more":{"of":["it"]}}`).OK(t).Object(t)
			matches(t, made, `{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","location":[1,2],
				"address":{"number":"","street":"","apartment":"","city":"X","state":"","postalCode":"","country":"Y"},
				"notes":"","metadata":[],"googlePlaceId":null,"warnings":[],"useGPS":true}`)
		})
		t.Run("any point on the earth is a location", func(t *testing.T) {
			for _, place := range []string{`[-180,-90]`, `[180,90]`, `[0,0]`, `[0.000001,-1e-7]`} {
				made := c.Must(t, "POST", "/destinations", `{"address":{"city":"X","country":"Y"},"location":`+place+`}`)
				matches(t, made["location"], place)
			}
		})
		t.Run("texts may be as long as their limits, in characters", func(t *testing.T) {
			notes, city := strings.Repeat("é", 10_000), strings.Repeat("😀", 1_000)
			made := c.Must(t, "POST", "/destinations", `{"address":{"city":"`+city+`","country":"Y"},"location":[1,2],"notes":"`+notes+`"}`)
			matches(t, made["notes"], text(notes))
		})
		t.Run("an invalid destination is rejected", func(t *testing.T) {
			const place = `"location":[-74,40.7]`
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                      {``, malformed, []string{"address"}},
				"no address":                   {`{` + place + `}`, malformed, []string{"address"}},
				"a null address":               {`{"address":null,` + place + `}`, malformed, []string{"address"}},
				"an address in one text":       {`{"address":"1 Main Street",` + place + `}`, malformed, []string{"address", "object"}},
				"no city":                      {`{"address":{"country":"Y"},` + place + `}`, malformed, []string{"address.city"}},
				"a blank city":                 {`{"address":{"city":" ","country":"Y"},` + place + `}`, malformed, []string{"address.city"}},
				"no country":                   {`{"address":{"city":"X"},` + place + `}`, malformed, []string{"address.country"}},
				"no number without a location": {`{"address":{"street":"S","city":"X","country":"Y"}}`, malformed, []string{"address.number"}},
				"a number of hyphens":          {`{"address":{"number":"` + strings.Repeat("-", 200) + `","street":"S","city":"X","country":"Y"}}`, invalid, []string{"address.number", "letter or a digit"}},
				"a street of a dot":            {`{"address":{"number":"1","street":".","city":"X","country":"Y"}}`, invalid, []string{"address.street"}},
				"a city of a question mark":    {`{"address":{"number":"1","street":"S","city":"?","country":"Y"}}`, invalid, []string{"address.city"}},
				"no street without a location": {`{"address":{"number":"1","city":"X","country":"Y"}}`, malformed, []string{"address.street"}},
				"no city without a location":   {`{"address":{"number":"1","street":"S","country":"Y"}}`, malformed, []string{"address.city"}},
				"no country, no location":      {`{"address":{"number":"1","street":"S","city":"X"}}`, malformed, []string{"address.country"}},
				"an address to be looked up":   {`{"address":{"number":"1","street":"S","city":"X","country":"Y"}}`, invalid, []string{"geocode"}},
				"a null location":              {`{"address":{"number":"1","street":"S","city":"X","country":"Y"},"location":null}`, invalid, []string{"geocode"}},
				"a line to be looked up":       {`{"address":{"unparsed":"1 S, X, Y"}}`, invalid, []string{"geocode"}},
				"a line and a location":        {`{"address":{"unparsed":"1 S, X, Y"},` + place + `}`, invalid, []string{"address.unparsed", "location"}},
				"a line, parts and a location": {`{"address":{"unparsed":"1 S","city":"X","country":"Y"},` + place + `}`, invalid, []string{"address.unparsed"}},
				"a boolean for a street":       {`{"address":{"street":true,"city":"X","country":"Y"},` + place + `}`, malformed, []string{"address.street", "string"}},
				"a boolean for a number":       {`{"address":{"number":true,"city":"X","country":"Y"},` + place + `}`, malformed, []string{"address.number", "string"}},
				"a long part of an address":    {`{"address":{"city":"` + strings.Repeat("x", 1001) + `","country":"Y"},` + place + `}`, invalid, []string{"address.city", "1000"}},
				"a long line":                  {`{"address":{"unparsed":"` + strings.Repeat("x", 1001) + `"}}`, invalid, []string{"address.unparsed", "1000"}},
				"long notes":                   {`{"address":{"city":"X","country":"Y"},` + place + `,"notes":"` + strings.Repeat("é", 10_001) + `"}`, invalid, []string{"notes", "10000"}},
				"a number for notes":           {`{"address":{"city":"X","country":"Y"},` + place + `,"notes":1}`, malformed, []string{"notes", "string"}},
				"a language of three letters":  {`{"address":{"city":"X","country":"Y"},` + place + `,"options":{"language":"eng"}}`, invalid, []string{"options.language"}},
				"a longitude off the earth":    {`{"address":{"city":"X","country":"Y"},"location":[180.1,0]}`, invalid, []string{"location", "longitude"}},
				"a latitude off the earth":     {`{"address":{"city":"X","country":"Y"},"location":[40.7,-90.5]}`, invalid, []string{"location", "latitude"}},
				"one coordinate":               {`{"address":{"city":"X","country":"Y"},"location":[1]}`, malformed, []string{"location", "two numbers"}},
				"three coordinates":            {`{"address":{"city":"X","country":"Y"},"location":[1,2,3]}`, malformed, []string{"location", "two numbers"}},
				"a null coordinate":            {`{"address":{"city":"X","country":"Y"},"location":[null,2]}`, malformed, []string{"location", "two numbers"}},
				"coordinates as texts":         {`{"address":{"city":"X","country":"Y"},"location":["1","west"]}`, malformed, []string{"location", "two numbers"}},
				"a location with names":        {`{"address":{"city":"X","country":"Y"},"location":{"lat":1,"lng":2}}`, malformed, []string{"location"}},
				"metadata to set":              {`{"address":{"city":"X","country":"Y"},` + place + `,"metadata":{"$set":[]}}`, malformed, []string{"metadata", "array"}},
			} {
				t.Run(name, func(t *testing.T) { tt.want.check(t, c.Call(t, "POST", "/destinations", tt.body), tt.words...) })
			}
		})
		t.Run("the error for an address that is not found suggests a location", func(t *testing.T) {
			a := c.Call(t, "POST", "/destinations", `{"address":{"number":"1","street":"S","city":"X","country":"Y"}}`)
			if cause := fmt.Sprint(invalid.check(t, a)); !strings.Contains(cause, "location") {
				t.Errorf("the cause is %q", cause)
			}
		})
		t.Run("a destination is never listed, changed or deleted", func(t *testing.T) {
			made := id(t, c, "/destinations", `{"address":{"city":"X","country":"Y"},"location":[1,2]}`)
			wrongMethod.check(t, c.Call(t, "GET", "/destinations", nil))
			wrongMethod.check(t, c.Call(t, "PUT", "/destinations/"+made, `{"notes":"x"}`))
			wrongMethod.check(t, c.Call(t, "DELETE", "/destinations/"+made, nil))
			c.Must(t, "GET", "/destinations/"+made, nil)
		})
		t.Run("metadata", func(t *testing.T) {
			testMetadata(t, p, metadataOwner{path: "/destinations", body: func(_ *apptest.Client, _ int, metadata string) string {
				return `{"address":{"city":"X","country":"Y"},"location":[1,2],"metadata":` + metadata + `}`
			}})
		})
		t.Run("an address without a location is looked up", func(t *testing.T) { testGeocoding(t, p, c) })
	})
}

func testGeocoding(t *testing.T, p *apptest.Platform, c *apptest.Client) {
	maps := &geocoder{found: lastmile.GeocodedAddress{
		Location: lastmile.Point{Lon: -122.4, Lat: 37.8},
		Address: lastmile.Address{
			Name: "not this", Apartment: "nor this", Number: "543", Street: "Howard St", City: "San Francisco",
			State: "California", PostalCode: "94105", County: "San Francisco County", Country: "United States",
		},
		PlaceID: "place-1", Warnings: []string{"MISMATCH_NUMBER"},
	}}
	p.Book.Geocoder = maps
	const found = `{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","location":[-122.4,37.8],
		"address":{"name":"Onfleet","number":"543","street":"Howard St","apartment":"5","city":"San Francisco","state":"California",
			"postalCode":"94105","country":"United States"},
		"notes":"","metadata":[],"googlePlaceId":"place-1","warnings":["MISMATCH_NUMBER"],"useGPS":false}`

	t.Run("from its parts", func(t *testing.T) {
		made := c.Must(t, "POST", "/destinations", `{"address":{"name":"Onfleet","apartment":"5","number":"543a","street":"howard","city":"sf","country":"usa"},"options":{"language":"fr"}}`)
		matches(t, made, found)
		matches(t, c.Must(t, "GET", "/destinations/"+fmt.Sprint(made["id"]), nil), string(encode(t, made)))
		want := lastmile.AddressQuery{Language: "fr", Country: "US", Address: lastmile.Address{
			Name: "Onfleet", Apartment: "5", Number: "543a", Street: "howard", City: "sf", Country: "usa",
		}}
		if !reflect.DeepEqual(maps.asked, want) {
			t.Errorf("asked for %+v, want %+v", maps.asked, want)
		}
	})
	t.Run("from one line, which takes precedence over all parts but name and apartment", func(t *testing.T) {
		made := c.Must(t, "POST", "/destinations", `{"address":{"unparsed":"543 Howard, SF","name":"Onfleet","apartment":"5","number":"1","street":"other","city":"other","country":"other"}}`)
		matches(t, made, found)
		want := lastmile.AddressQuery{Unparsed: "543 Howard, SF", Country: "US", Address: lastmile.Address{Name: "Onfleet", Apartment: "5"}}
		if !reflect.DeepEqual(maps.asked, want) {
			t.Errorf("asked for %+v, want %+v", maps.asked, want)
		}
	})
	t.Run("but not when there is a location", func(t *testing.T) {
		maps.asked = lastmile.AddressQuery{}
		c.Must(t, "POST", "/destinations", `{"address":{"city":"X","country":"Y"},"location":[1,2]}`)
		if !reflect.DeepEqual(maps.asked, lastmile.AddressQuery{}) {
			t.Errorf("asked for %+v", maps.asked)
		}
	})
	t.Run("and hubs show the county", func(t *testing.T) {
		hub := c.Must(t, "POST", "/hubs", `{"name":"Depot","address":{"number":"543","street":"Howard","apartment":"B","city":"SF","country":"US"}}`)
		matches(t, hub, `{"id":"<id>","name":"Depot","location":[-122.4,37.8],"teams":[],
			"address":{"number":"543","street":"Howard St","apartment":"B","city":"San Francisco","state":"California","postalCode":"94105",
				"county":"San Francisco County","country":"United States"}}`)
	})
	t.Run("near the hubs of the organization", func(t *testing.T) {
		c := p.Organization(t, "Hubs")
		c.Must(t, "POST", "/hubs", `{"name":"Depot","address":{"city":"X","country":"Y"},"location":[1.5,2.5]}`)
		c.Must(t, "POST", "/destinations", `{"address":{"unparsed":"543 Howard"}}`)
		if want := []lastmile.Point{{Lon: 1.5, Lat: 2.5}}; !reflect.DeepEqual(maps.asked.Near, want) {
			t.Errorf("asked near %+v, want %+v", maps.asked.Near, want)
		}
	})
}
