package gazetteer_test

import (
	"runtime"
	"strings"
	"testing"

	"dray/internal/geo/gazetteer"
)

func embedded(t testing.TB) *gazetteer.Gazetteer {
	t.Helper()
	g, err := gazetteer.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestCountriesAreUnderstood(t *testing.T) {
	g := embedded(t)
	for want, names := range map[string][]string{
		"US": {"US", "us", "USA", "U.S.A.", "United States", "United States of America", "Vereinigte Staaten", "États-Unis", "Estados Unidos", "Stati Uniti", "США", "アメリカ合衆国", "美国"},
		"GB": {"GB", "UK", "U.K.", "GBR", "United Kingdom", "Great Britain", "England", "Scotland", "Royaume-Uni", "Großbritannien"},
		"DE": {"DE", "DEU", "Germany", "Deutschland", "Allemagne", "Alemania", "Niemcy", "Tyskland", "Германия", "ドイツ", "ألمانيا"},
		"TR": {"Turkey", "Türkiye", "Turkiye", "TUR"},
		"CZ": {"Czechia", "Czech Republic", "Česko"},
		"KR": {"South Korea", "Korea", "Republic of Korea", "대한민국"},
		"NL": {"Netherlands", "The Netherlands", "Holland", "Nederland", "Pays-Bas"},
		"MT": {"MT", "Malta", "MLT"},
		"ST": {"ST", "São Tomé & Príncipe"},
		"LC": {"St. Lucia", "Saint Lucia"},
		"SA": {"KSA", "Saudi Arabia", "Kingdom of Saudi Arabia"},
		"VC": {"Saint Vincent and the Grenadines", "St. Vincent and the Grenadines", "St. Vincent & Grenadines"},
		"ZA": {"RSA", "South Africa", "Republic of South Africa"},
		"CI": {"Côte d'Ivoire", "Ivory Coast", "Cote dIvoire"},
		"GE": {"Georgia", "GEO"},
	} {
		for _, name := range names {
			if got, ok := g.Country(name); !ok || got != want {
				t.Errorf("%s is taken for %q, want %s", name, got, want)
			}
		}
	}
	for _, name := range []string{"", "Atlantis", "X", "EU", "12"} {
		if got, ok := g.Country(name); ok {
			t.Errorf("%q is taken for %s", name, got)
		}
	}
	for name, want := range map[string]string{"Germny": "DE", "Untied States": "US", "Frnace": "FR", "Danemark": "DK", "Nigr": "", "Atlantis": ""} {
		if got, _ := g.CountryNear(name); got != want {
			t.Errorf("%s is taken for %q, want %q", name, got, want)
		}
	}
}

func TestStatesAreUnderstood(t *testing.T) {
	g := embedded(t)
	for query, want := range map[string]string{
		"US CA": "California", "US Calif.": "California", "US california": "California", "US D.C.": "District of Columbia", "US MT": "Montana",
		"CA QC": "Quebec", "CA Québec": "Quebec", "AU NSW": "New South Wales", "BR SP": "São Paulo", "DE Bayern": "Bavaria", "DE NRW": "North Rhine-Westphalia",
		"IT Lombardia": "Lombardy", "ES Cataluña": "Catalonia", "DK Hovedstaden": "Capital Region", "IN MH": "Maharashtra",
		"US XX": "", "DE CA": "", " CA": "",
	} {
		country, name, _ := strings.Cut(query, " ")
		if got, _ := g.State(country, name); got.Name != want {
			t.Errorf("%s is taken for %q, want %q", query, got.Name, want)
		}
	}
	const codes = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC"
	for code := range strings.FieldsSeq(codes) {
		if got, ok := g.State("US", code); !ok || got.Code != code {
			t.Errorf("%s is taken for %+v", code, got)
		}
	}
	if got, ok := g.StateNear("US", "Oklahmoa"); !ok || got.Code != "OK" {
		t.Errorf("Oklahmoa is taken for %+v", got)
	}
}

func TestEveryCityIsFoundByItsName(t *testing.T) {
	g := embedded(t)
	n := 0
	for c := range g.AllCities() {
		n++
		if n%20 != 0 {
			continue
		}
		found := false
		for _, same := range g.Cities(c.Name, c.Country) {
			found = found || same.Location == c.Location && same.Name == c.Name
		}
		if !found {
			t.Errorf("%+v is not found", c)
		}
		if g.CountryName(c.Country) == "" {
			t.Errorf("%+v is in no country", c)
		}
	}
	if n < 170_000 {
		t.Errorf("%d cities", n)
	}
}

func TestEveryPostalCodeIsFound(t *testing.T) {
	g := embedded(t)
	n := 0
	for z := range g.AllPostalCodes() {
		n++
		if z.City.Country != "US" || z.City.State.Name == "" || z.Location.Distance(z.City.Location) > 300_000 {
			t.Errorf("%+v", z)
		}
	}
	if n < 40_000 {
		t.Errorf("%d postal codes", n)
	}
}

func TestTheGazetteerIsSmallInMemory(t *testing.T) {
	g := embedded(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	second, err := gazetteer.Unpack(strings.NewReader(gazetteer.Packed()))
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if took := after.HeapAlloc - before.HeapAlloc; took > 16<<20 {
		t.Errorf("it takes %d KB", took>>10)
	} else {
		t.Logf("it takes %d KB", took>>10)
	}
	runtime.KeepAlive(g)
	runtime.KeepAlive(second)
}

func BenchmarkUnpack(b *testing.B) {
	for b.Loop() {
		if _, err := gazetteer.Unpack(strings.NewReader(gazetteer.Packed())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCities(b *testing.B) {
	g := embedded(b)
	for b.Loop() {
		g.Cities("San Francisco", "US")
	}
}

func BenchmarkCitiesNear(b *testing.B) {
	g := embedded(b)
	for name, edits := range map[string]int{"one": 1, "two": 2} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				g.CitiesNear("San Frantisko", "US", edits)
			}
		})
	}
}
