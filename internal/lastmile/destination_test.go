package lastmile_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestDestinationRules(t *testing.T) {
	full := &lastmile.Address{Number: "543", Street: "Howard St", City: "San Francisco", Country: "United States"}
	here := &lastmile.Point{Lon: -122.4, Lat: 37.8}
	without := func(change func(*lastmile.Address)) *lastmile.Address {
		a := *full
		change(&a)
		return &a
	}
	tests := map[string]struct {
		draft lastmile.DestinationDraft
		want  lastmile.Code // 0 if valid
		names string        // the field that the error names
	}{
		"number, street, city and country":    {lastmile.DestinationDraft{Address: full}, 0, ""},
		"no address":                          {lastmile.DestinationDraft{}, lastmile.CodeMalformed, "address"},
		"no number":                           {lastmile.DestinationDraft{Address: without(func(a *lastmile.Address) { a.Number = " " })}, lastmile.CodeMalformed, "address.number"},
		"no street":                           {lastmile.DestinationDraft{Address: without(func(a *lastmile.Address) { a.Street = "" })}, lastmile.CodeMalformed, "address.street"},
		"no city":                             {lastmile.DestinationDraft{Address: without(func(a *lastmile.Address) { a.City = "" })}, lastmile.CodeMalformed, "address.city"},
		"no country":                          {lastmile.DestinationDraft{Address: without(func(a *lastmile.Address) { a.Country = "" })}, lastmile.CodeMalformed, "address.country"},
		"an unparsed line needs nothing else": {lastmile.DestinationDraft{Address: &lastmile.Address{}, Unparsed: "94103"}, 0, ""},
		"an unparsed line and a location":     {lastmile.DestinationDraft{Address: full, Unparsed: "94103", Location: here}, lastmile.CodeInvalid, "address.unparsed"},
		"a location needs city and country":   {lastmile.DestinationDraft{Address: &lastmile.Address{City: "San Francisco", Country: "US"}, Location: here}, 0, ""},
		"a location without city":             {lastmile.DestinationDraft{Address: &lastmile.Address{Country: "US"}, Location: here}, lastmile.CodeMalformed, "address.city"},
		"a location without country":          {lastmile.DestinationDraft{Address: &lastmile.Address{City: "San Francisco"}, Location: here}, lastmile.CodeMalformed, "address.country"},
		"a location without address":          {lastmile.DestinationDraft{Location: here}, lastmile.CodeMalformed, "address"},
		"a country code as the language":      {lastmile.DestinationDraft{Address: full, Language: "DK"}, 0, ""},
		"a language code as the language":     {lastmile.DestinationDraft{Address: full, Language: "da"}, 0, ""},
		"three letters as the language":       {lastmile.DestinationDraft{Address: full, Language: "dan"}, lastmile.CodeInvalid, "options.language"},
		"an unparsed line that is too long":   {lastmile.DestinationDraft{Address: full, Unparsed: strings.Repeat("x", 1001)}, lastmile.CodeInvalid, "address.unparsed"},
		"a city that is too long":             {lastmile.DestinationDraft{Address: without(func(a *lastmile.Address) { a.City = strings.Repeat("x", 1001) })}, lastmile.CodeInvalid, "address.city"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.draft.Check("")
			rejection, _ := errors.AsType[*lastmile.Error](err)
			switch {
			case tt.want == 0 && err != nil:
				t.Error(err)
			case tt.want != 0 && (rejection == nil || rejection.Code != tt.want || !strings.HasPrefix(rejection.Message, tt.names)):
				t.Errorf("got %v, want a rejection of %s", err, tt.names)
			}
		})
	}
}

func TestAnUnparsedLineWinsOverAllButNameAndApartment(t *testing.T) {
	q := lastmile.DestinationDraft{
		Address:  &lastmile.Address{Name: "Dock", Number: "1", Street: "Wrong", City: "Wrong", State: "Wrong", PostalCode: "Wrong", Country: "Wrong", Apartment: "5"},
		Unparsed: "543 Howard St, San Francisco", Language: "US",
	}.Query("DE")
	want := lastmile.AddressQuery{Address: lastmile.Address{Name: "Dock", Apartment: "5"}, Unparsed: "543 Howard St, San Francisco", Language: "US", Country: "DE"}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("asks for %+v, want %+v", q, want)
	}
}

func TestNewDestination(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	found := &lastmile.GeocodedAddress{
		Location: lastmile.Point{Lon: 1, Lat: 2}, PlaceID: "ChIJ", Warnings: []string{lastmile.WarnApproximate},
		Address: lastmile.Address{Name: "theirs", Number: "1", Street: "Main Street", Apartment: "Apt 4", City: "Boston", Country: "United States"},
	}
	destination := func(d lastmile.DestinationDraft, p *lastmile.GeocodedAddress) lastmile.Destination {
		return lastmile.NewDestination("d", "o", d, p, now)
	}

	located := destination(lastmile.DestinationDraft{
		Address: &lastmile.Address{City: "Bostn", Country: "usa"}, Location: &lastmile.Point{Lon: -71, Lat: 42},
	}, nil)
	if located.Location != (lastmile.Point{Lon: -71, Lat: 42}) || located.Address.City != "Bostn" || !located.UseGPS || located.WasGeocoded || len(located.Warnings) != 0 {
		t.Errorf("a location is second-guessed: %+v", located)
	}

	parts := destination(lastmile.DestinationDraft{Address: &lastmile.Address{Name: "Dock 5", Number: "1", Street: "Main St", Apartment: "5", City: "Boston", Country: "US"}}, found)
	want := lastmile.Address{Name: "Dock 5", Number: "1", Street: "Main Street", Apartment: "5", City: "Boston", Country: "United States"}
	if parts.Address != want || parts.UseGPS || !parts.WasGeocoded || parts.GooglePlaceID != "ChIJ" || len(parts.Warnings) != 1 {
		t.Errorf("got %+v, want the address %+v", parts, want)
	}

	line := destination(lastmile.DestinationDraft{Address: &lastmile.Address{}, Unparsed: "1 Main St Apt 4, Boston"}, found)
	if line.Address.Apartment != "Apt 4" || line.Address.Name != "" {
		t.Errorf("of a line came %+v", line.Address)
	}
}

func TestPrecision(t *testing.T) {
	for name, want := range map[string]lastmile.Precision{
		"any": 0, "city": lastmile.PrecisionCity, "postalCode": lastmile.PrecisionPostalCode,
		"street": lastmile.PrecisionStreet, "house": lastmile.PrecisionHouse,
	} {
		if got, err := lastmile.ParsePrecision(name); err != nil || got != want || got.String() != name {
			t.Errorf("%s is read as %v, %v", name, got, err)
		}
	}
	if _, err := lastmile.ParsePrecision("rooftop"); err == nil {
		t.Error("rooftop is taken for a precision")
	}
	p := lastmile.GeocodedAddress{Precision: lastmile.PrecisionPostalCode, Source: "gazetteer"}
	for least, fine := range map[lastmile.Precision]bool{
		0: true, lastmile.PrecisionCity: true, lastmile.PrecisionPostalCode: true, lastmile.PrecisionStreet: false, lastmile.PrecisionHouse: false,
	} {
		if err := p.RequirePrecision(least); (err == nil) != fine {
			t.Errorf("a postal code where a %v is due: %v", least, err)
		}
	}
}
