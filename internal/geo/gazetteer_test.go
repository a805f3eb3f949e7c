package geo_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dray/internal/geo"
	"dray/internal/lastmile"
)

func TestGazetteerFindsAddressesInParts(t *testing.T) {
	house := func(city, state, postal, country string) lastmile.Address {
		return lastmile.Address{Number: "1", Street: "Main St", City: city, State: state, PostalCode: postal, Country: country}
	}
	tests := map[string]struct {
		ask      lastmile.Address
		want     string // city, state, postal code, country
		warnings string // besides APPROXIMATE
	}{
		"full names are shown":                         {house("San Francisco", "CA", "94103", "US"), "San Francisco, California, 94103, United States", ""},
		"a long postal code is kept":                   {house("San Francisco", "CA", "94103-1234", "US"), "San Francisco, California, 94103-1234, United States", ""},
		"a city by its initials":                       {house("N.Y.C.", "", "", "USA"), "New York, New York, , United States", ""},
		"a code that lost its zero":                    {house("Boston", "MA", "2108", "USA"), "Boston, Massachusetts, 02108, United States", ""},
		"a longer code that lost its zero":             {house("Boston", "", "2108-1234", "US"), "Boston, Massachusetts, 02108-1234, United States", ""},
		"saint and st are the same":                    {house("Saint Louis", "MO", "", "USA"), "St. Louis, Missouri, , United States", ""},
		"fort and ft are the same":                     {house("Ft. Worth", "Texas", "", "United States of America"), "Fort Worth, Texas, , United States", ""},
		"a common short name":                          {house("SF", "CA", "", "USA"), "San Francisco, California, , United States", ""},
		"a common short name without a state":          {house("NYC", "", "", "US"), "New York, New York, , United States", ""},
		"accents do not count":                         {house("Sao Paulo", "SP", "", "Brasil"), "São Paulo, São Paulo, , Brazil", ""},
		"a city in its own language":                   {house("København", "", "1620", "Danmark"), "Copenhagen, Capital Region, 1620, Denmark", ""},
		"a city with the letter of its post office":    {house("København V", "", "1620", "DK"), "Copenhagen, Capital Region, 1620, Denmark", ""},
		"umlauts written out":                          {house("Muenchen", "Bayern", "", "DEU"), "Munich, Bavaria, , Germany", ""},
		"a part of a name":                             {house("Frankfurt", "", "", "Germany"), "Frankfurt am Main, Hesse, , Germany", ""},
		"another script":                               {house("東京", "", "", "日本"), "Tokyo, Tokyo, , Japan", ""},
		"a country with a letter wrong":                {house("Berlin", "", "", "Germny"), "Berlin, Berlin, , Germany", ""},
		"a postal state with a country code":           {house("San Juan", "PR", "00901", "US"), "San Juan, San Juan, 00901, Puerto Rico", ""},
		"an old short form of a state":                 {house("Saint Paul", "Minn.", "", "US"), "Saint Paul, Minnesota, , United States", ""},
		"the largest of several":                       {house("Portland", "", "", "US"), "Portland, Oregon, , United States", ""},
		"the state decides":                            {house("Portland", "Maine", "", "US"), "Portland, Maine, , United States", ""},
		"the postal code decides":                      {house("Springfield", "", "97477", "US"), "Springfield, Oregon, 97477, United States", ""},
		"a city with letters swapped":                  {house("Minneapoils", "MN", "", "US"), "Minneapolis, Minnesota, , United States", "MISMATCH_CITY"},
		"a city with two mistakes":                     {house("Albuqerqe", "NM", "", "US"), "Albuquerque, New Mexico, , United States", "MISMATCH_CITY"},
		"a state with a letter wrong":                  {house("Portland", "Orgon", "", "US"), "Portland, Oregon, , United States", ""},
		"a postal code from elsewhere":                 {house("Boston", "MA", "94103", "US"), "Boston, Massachusetts, , United States", "MISMATCH_POSTALCODE"},
		"a postal code that does not exist":            {house("Boston", "MA", "00001", "US"), "Boston, Massachusetts, , United States", "MISMATCH_POSTALCODE"},
		"a city that does not exist, by postal code":   {house("Xyzzyzx", "CA", "94103", "US"), "San Francisco, California, 94103, United States", "MISMATCH_CITY"},
		"postal codes of other countries are accepted": {house("Berlin", "", "10115", "Germany"), "Berlin, Berlin, 10115, Germany", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := new(geo.Gazetteer).Geocode(t.Context(), lastmile.AddressQuery{Address: tt.ask, Country: "US"})
			if err != nil {
				t.Fatal(err)
			}
			a := p.Address
			if got := strings.Join([]string{a.City, a.State, a.PostalCode, a.Country}, ", "); got != tt.want {
				t.Errorf("found %s, want %s", got, tt.want)
			}
			if got := strings.Join(p.Warnings, " "); got != strings.TrimSpace("APPROXIMATE "+tt.warnings) {
				t.Errorf("warnings %s, want APPROXIMATE %s", got, tt.warnings)
			}
			if a.Number != "1" || a.Street != "Main St" {
				t.Errorf("number and street came back as %q, %q", a.Number, a.Street)
			}
			if p.Source != "gazetteer" || p.Location.IsZero() || p.Precision == 0 {
				t.Errorf("source %q, location %v, precision %v", p.Source, p.Location, p.Precision)
			}
		})
	}
}

func TestGazetteerFindsAddressesInOneLine(t *testing.T) {
	tests := map[string]struct {
		line string
		home string // the organization's country
		want string // number|street|apartment|city|state|postal code|country
	}{
		"American":                        {"543 Howard St, San Francisco, CA 94105, USA", "DE", "543|Howard St||San Francisco|California|94105|United States"},
		"a short name of the city":        {"2829 Vallejo St, SF, CA, USA", "US", "2829|Vallejo St||San Francisco|California||United States"},
		"a short name in a street":        {"12 NYC Ave, Boston, MA", "US", "12|NYC Ave||Boston|Massachusetts||United States"},
		"no country":                      {"543 Howard St, San Francisco, CA 94105", "US", "543|Howard St||San Francisco|California|94105|United States"},
		"no country, from abroad":         {"543 Howard St, San Francisco, CA", "DE", "543|Howard St||San Francisco|California||United States"},
		"no commas":                       {"1600 Pennsylvania Ave NW Washington DC 20500 USA", "US", "1600|Pennsylvania Ave NW||Washington|District of Columbia|20500|United States"},
		"postal code without city":        {"123 Market St, 94103, USA", "US", "123|Market St||San Francisco|California|94103|United States"},
		"nothing but a postal code":       {"94103", "US", "|||San Francisco|California|94103|United States"},
		"a separate unit":                 {"543 Howard St, Suite 500, San Francisco, CA", "US", "543|Howard St|Suite 500|San Francisco|California||United States"},
		"a unit at the end":               {"543 Howard St #4B, San Francisco, CA", "US", "543|Howard St|#4B|San Francisco|California||United States"},
		"a city that is a state too":      {"350 5th Ave, New York", "US", "350|5th Ave||New York|New York||United States"},
		"a state that is a country too":   {"100 Main St, Springfield, Georgia", "US", "100|Main St||Springfield|Georgia||United States"},
		"a state by its name":             {"5 Elm St, Minneapolis, Minnesota", "US", "5|Elm St||Minneapolis|Minnesota||United States"},
		"a county between":                {"1 Infinite Loop, Cupertino, Santa Clara County, CA", "US", "1|Infinite Loop||Cupertino|California||United States"},
		"Danish":                          {"Vesterbrogade 12B, 1620 København V, Danmark", "US", "12B|Vesterbrogade||Copenhagen|Capital Region|1620|Denmark"},
		"German":                          {"Unter den Linden 77, 10117 Berlin, Deutschland", "US", "77|Unter den Linden||Berlin|Berlin|10117|Germany"},
		"German, the organization's own":  {"Musterstr. 5, 04109 Leipzig", "DE", "5|Musterstr.||Leipzig|Saxony|04109|Germany"},
		"British":                         {"10 Downing St, London SW1A 2AA, UK", "US", "10|Downing St||London|England|SW1A 2AA|United Kingdom"},
		"British, from abroad":            {"10 Downing St, London SW1A 2AA", "US", "10|Downing St||London|England|SW1A 2AA|United Kingdom"},
		"Canadian":                        {"1 Main St, Toronto, ON M5V 2T6", "US", "1|Main St||Toronto|Ontario|M5V 2T6|Canada"},
		"Swiss, country by code":          {"Bahnhofstrasse 1, 8001 Zürich, CH", "US", "1|Bahnhofstrasse||Zürich|Zurich|8001|Switzerland"},
		"Brazilian":                       {"Rua Augusta 100, São Paulo - SP, 01305-000, Brasil", "US", "100|Rua Augusta||São Paulo|São Paulo|01305-000|Brazil"},
		"French":                          {"1 Rue de Rivoli, 75001 Paris, France", "US", "1|Rue de Rivoli||Paris|Île-de-France|75001|France"},
		"Russian":                         {"Тверская 1, Москва, Россия", "US", "1|Тверская||Moscow|Moscow||Russia"},
		"a letter wrong in the city":      {"5 Elm St, Minneapoils, MN, USA", "US", "5|Elm St||Minneapolis|Minnesota||United States"},
		"lines instead of commas":         {"543 Howard St\nSan Francisco, CA 94105\nUSA", "US", "543|Howard St||San Francisco|California|94105|United States"},
		"Spanish in America":              {"3455 Calle Real, Santa Barbara", "US", "3455|Calle Real||Santa Barbara|California||United States"},
		"a city of its own state":         {"Calle Colón 5, Valencia", "DE", "5|Calle Colón||Valencia|Valencia||Spain"},
		"Italian in America":              {"12 Via Roma, Florence", "US", "12|Via Roma||Florence|Alabama||United States"},
		"the organization's country wins": {"Berlin", "DE", "|||Berlin|Berlin||Germany"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := new(geo.Gazetteer).Geocode(t.Context(), lastmile.AddressQuery{Unparsed: tt.line, Country: tt.home})
			a := p.Address
			got := strings.Join([]string{a.Number, a.Street, a.Apartment, a.City, a.State, a.PostalCode, a.Country}, "|")
			if err != nil || got != tt.want {
				t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestGazetteerRejects(t *testing.T) {
	for name, q := range map[string]lastmile.AddressQuery{
		"an unknown city":               {Address: lastmile.Address{Number: "1", Street: "Main", City: "Qwertyuiopville", Country: "US"}},
		"a city of another country":     {Address: lastmile.Address{Number: "1", Street: "Main", City: "Albuquerque", Country: "Denmark"}},
		"a city of another state":       {Address: lastmile.Address{Number: "1", Street: "Main", City: "Boston", State: "Texas", Country: "US"}, Country: "US"},
		"a country that does not exist": {Address: lastmile.Address{Number: "1", Street: "Main", City: "Boston", Country: "Zzyzxland"}, Country: "US"},
		"a line without a city":         {Unparsed: "asdf qwer, zxcv", Country: "US"},
		"a street without a city":       {Unparsed: "12 Oak Street", Country: "US"},
		"commas":                        {Unparsed: " ,,, ,", Country: "US"},
		"a city if a house is required": {Address: lastmile.Address{Number: "1", Street: "Main", City: "Boston", Country: "US"}, Precision: lastmile.PrecisionHouse},
		"an unknown city and country":   {Address: lastmile.Address{Number: "1", Street: "Main", City: "Xyzzyplugh", Country: "Frobozz"}},
		"a postal code that is unused":  {Unparsed: "1 Main St, 00001, USA"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := new(geo.Gazetteer).Geocode(t.Context(), q)
			rejection, ok := errors.AsType[*lastmile.Error](err)
			if !ok || rejection.Code != lastmile.CodeInvalid || rejection.Cause == "" {
				t.Errorf("found %+v, %v; want a rejection with a cause", p, err)
			}
		})
	}
}

func TestLanguageIdentifiesTheCountryOfALine(t *testing.T) {
	for language, want := range map[string]string{"": "United States", "DE": "Germany", "de": "United States"} {
		// There is a Hamburg in the organization's country too.
		p, err := new(geo.Gazetteer).Geocode(t.Context(), lastmile.AddressQuery{Unparsed: "Hamburg", Country: "US", Language: language})
		if err != nil || p.Address.Country != want {
			t.Errorf("language %q: found %+v, %v; want it in %s", language, p.Address, err, want)
		}
	}
}

// importedCodes are postal codes as a store returns them.
type importedCodes map[string][]lastmile.PostalArea

func (c importedCodes) PostalAreas(_ context.Context, country, code string) ([]lastmile.PostalArea, bool, error) {
	return c[country+code], true, nil
}

func TestImportedPostalCodesAreUsed(t *testing.T) {
	g := &geo.Gazetteer{Imported: importedCodes{
		"DE10115": {{Country: "DE", Code: "10115", Name: "Berlin", State: "Berlin", Location: lastmile.Point{Lon: 13.3872, Lat: 52.5337}}},
		"GBSW1A":  {{Country: "GB", Code: "SW1A", Name: "Westminster Abbey", State: "England", Location: lastmile.Point{Lon: -0.1357, Lat: 51.5010}}},
	}}
	tests := map[string]struct {
		ask      lastmile.AddressQuery
		lat      float64
		warnings string
	}{
		"with its city":           {lastmile.AddressQuery{Address: lastmile.Address{City: "Berlin", PostalCode: "10115", Country: "Germany"}}, 52.5337, ""},
		"without its city":        {lastmile.AddressQuery{Unparsed: "Chausseestr. 1, 10115, Germany"}, 52.5337, ""},
		"by its district":         {lastmile.AddressQuery{Address: lastmile.Address{City: "London", PostalCode: "sw1a 2aa", Country: "UK"}}, 51.5010, ""},
		"one that does not exist": {lastmile.AddressQuery{Address: lastmile.Address{City: "Berlin", PostalCode: "99999", Country: "Germany"}}, 52.5244, "MISMATCH_POSTALCODE"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := g.Geocode(t.Context(), tt.ask)
			if err != nil || p.Location.Lat != tt.lat {
				t.Errorf("found %+v, %v", p, err)
			}
			if got := strings.Join(p.Warnings, " "); got != strings.TrimSpace("APPROXIMATE "+tt.warnings) {
				t.Errorf("warnings %s", got)
			}
		})
	}
}

// maxReadings limits the cost of a line.
const maxReadings = 200

func FuzzGazetteerLine(f *testing.F) {
	for _, line := range []string{
		"543 Howard St, San Francisco, CA 94105, USA", "Vesterbrogade 12B, 1620 København V, Danmark", ", ,", "1", "#", "12 Oak St # , US",
		"10 Downing St, London SW1A 2AA, UK", "\xff\xfe, Berlin", "a b c d e f g h i j k l m n o p, q, r, s, t, u, v, w, x, y, z, 12345",
	} {
		f.Add(line, "US", "en")
	}
	f.Fuzz(func(t *testing.T, line, country, language string) {
		if len(line) > 4*lastmile.MaxText {
			return
		}
		q := lastmile.AddressQuery{Unparsed: line, Country: country, Language: language}
		p, err := new(geo.Gazetteer).Geocode(t.Context(), q)
		if _, rejected := errors.AsType[*lastmile.Error](err); err != nil && !rejected {
			t.Fatalf("%q: %v", line, err)
		}
		if err == nil && (p.Location.IsZero() || p.Address.City == "" || p.Address.Country == "" || p.Precision == 0 || len(p.Warnings) == 0) {
			t.Fatalf("%q: half a place: %+v", line, p)
		}
		if n := geo.CountReadings(q); n > maxReadings {
			t.Fatalf("%q has %d readings", line, n)
		}
		for country, codes := range map[string]string{"Ireland": "Ireland", "Illinois, USA": "United States", "Georgia": "Georgia United States"} {
			p, err := new(geo.Gazetteer).Geocode(t.Context(), lastmile.AddressQuery{Unparsed: line + ", " + country, Country: "US"})
			if err == nil && (!strings.Contains(codes, p.Address.Country) || country == "Illinois, USA" && p.Address.State != "Illinois") {
				t.Fatalf("%q, %s: found %+v", line, country, p)
			}
		}
		parts := lastmile.AddressQuery{Address: lastmile.Address{City: line, State: country, PostalCode: language, Country: country}, Country: "US"}
		if _, err := new(geo.Gazetteer).Geocode(t.Context(), parts); err != nil {
			if _, rejected := errors.AsType[*lastmile.Error](err); !rejected {
				t.Fatalf("%q: %v", line, err)
			}
		}
	})
}
