package geo_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// suggested returns the cities that a text is completed to without a map, as city, country.
func suggested(t testing.TB, text, home string, limit int, near ...lastmile.Point) (cities []string) {
	t.Helper()
	found, err := streets().Suggest(t.Context(), lastmile.AddressQuery{Unparsed: text, Country: home, Near: near}, limit)
	if err != nil || len(found) > limit {
		t.Fatalf("%s: %d cities: %v", text, len(found), err)
	}
	for _, f := range found {
		cities = append(cities, f.Address.City+", "+f.Address.Country)
	}
	return cities
}

func TestSuggestCities(t *testing.T) {
	hubs := map[string][]lastmile.Point{"US": {{Lon: -73.98, Lat: 40.75}}, "DE": {{Lon: 11.57, Lat: 48.14}}}
	for _, tt := range []struct {
		home, text, want string
	}{
		{"US", "Ber", "Berlin, Germany"},
		{"US", "Los", "Los Angeles, United States"},
		{"US", "Stam", "Stamford, United States"},
		{"US", "Lo", "Los Angeles, United States"},
		{"US", "New Y", "New York, United States"},
		{"US", "San F", "San Francisco, United States"},
		{"US", "Chi", "Chicago, United States"},
		{"US", "Phil", "Philadelphia, United States"},
		{"US", "Bosto", "Boston, United States"},
		{"US", "st lou", "St. Louis, United States"},
		{"US", "Tok", "Tokyo, Japan"},
		{"US", "Lond", "London, United Kingdom"},
		{"DE", "Be", "Berlin, Germany"},
		{"DE", "Ber", "Berlin, Germany"},
		{"DE", "Mün", "Munich, Germany"},
		{"DE", "Mun", "Munich, Germany"},
		{"DE", "München", "Munich, Germany"},
		{"DE", "Muenchen", "Munich, Germany"},
		{"DE", "Köln", "Köln, Germany"},
		{"DE", "Koeln", "Köln, Germany"},
		{"DE", "Düss", "Düsseldorf, Germany"},
		{"DE", "Duess", "Düsseldorf, Germany"},
		{"DE", "Fra", "Frankfurt am Main, Germany"},
		{"BR", "Brasília", "Brasília, Brazil"}, // also Brazil, in Finnish
		{"BR", "Salvador", "Salvador, Brazil"},
		{"AT", "Wien", "Vienna, Austria"},
		{"AT", "Salz", "Salzburg, Austria"},
		{"CH", "Zür", "Zürich, Switzerland"},
		{"CH", "Zuerich", "Zürich, Switzerland"},
		{"FR", "Par", "Paris, France"},
		{"FR", "Mars", "Marseille, France"},
		{"FR", "saint-et", "Saint-Étienne, France"},
		{"ES", "Mad", "Madrid, Spain"},
		{"ES", "Barc", "Barcelona, Spain"},
		{"ES", "Córdo", "Córdoba, Spain"},
		{"ES", "Cordo", "Córdoba, Spain"},
		{"PT", "Lis", "Lisbon, Portugal"},
		{"PT", "Lisboa", "Lisbon, Portugal"},
		{"PT", "Porto", "Porto, Portugal"},
		{"IT", "Rom", "Rome, Italy"},
		{"IT", "Roma", "Rome, Italy"},
		{"IT", "Mil", "Milan, Italy"},
		{"IT", "Firenze", "Florence, Italy"},
		{"DK", "København", "Copenhagen, Denmark"},
		{"DK", "Koebenhavn", "Copenhagen, Denmark"},
		{"DK", "Aarhus", "Århus, Denmark"},
		{"GB", "Manc", "Manchester, United Kingdom"},
		{"GB", "Birm", "Birmingham, United Kingdom"},
		{"BR", "Sao P", "São Paulo, Brazil"},
		{"CA", "Montr", "Montréal, Canada"},
		{"AU", "Melb", "Melbourne, Australia"},
		{"CH", "Bern", "Bern, Switzerland"},
		{"US", "Bern", "Bern, Switzerland"},
		// with the region
		{"US", "Paris, Fr", "Paris, France"},
		{"FR", "Paris, TX", "Paris, United States"},
		{"US", "Birmingham, UK", "Birmingham, United Kingdom"},
		{"US", "München, Deutschland", "Munich, Germany"},
		{"US", "Ber, Germany", "Berlin, Germany"},
		{"US", "San, Calif", "San Diego, United States"},
		{"GB", "London, Ont", "London, Canada"},
		{"GB", "london ontario", "London, Canada"},
		// the region alone
		{"US", "Bavaria", "Munich, Germany"},
		{"US", "Bayern", "Munich, Germany"},
		{"DE", "Bayern", "Munich, Germany"},
		{"DE", "Texas", "Houston, United States"},
		{"FR", "Toscana", "Florence, Italy"},
		{"US", "Tuscany", "Florence, Italy"},
		{"US", "Catalunya", "Barcelona, Spain"},
		{"DE", "Niedersachsen", "Hannover, Germany"},
		{"US", "Andalucia", "Sevilla, Spain"},
		{"US", "Deutschland", "Berlin, Germany"},
		{"US", "Georgia", "Atlanta, United States"},
		{"US", "Scotland", "Edinburgh, United Kingdom"},
		{"DE", "Wales", "Cardiff, United Kingdom"},
		{"US", "USA", "New York, United States"},
		{"DE", "usa", "New York, United States"},
		{"US", "UK", "London, United Kingdom"},
		{"US", "NY", "New York, United States"},
		{"US", "Scotland, UK", "Edinburgh, United Kingdom"},
		{"DE", "Bayern, Deutschland", "Munich, Germany"},
		{"US", "California, USA", "Los Angeles, United States"},
		{"US", "Washington, USA", "Washington, United States"},
		{"US", "NYC", "New York, United States"},
		{"DE", "NRW", "Köln, Germany"},
		{"DE", "Österreich", "Vienna, Austria"},
		{"DE", "Schweiz", "Zürich, Switzerland"},
		{"PT", "Açores", "Ponta Delgada, Portugal"},
		{"PT", "Brasil", "São Paulo, Brazil"},
		{"DK", "Hovedstaden", "Copenhagen, Denmark"},
		{"DK", "Grønland", "Nuuk, Greenland"},
		{"IN", "Maharashtra", "Mumbai, India"},
		{"IN", "Kerala, India", "Thiruvananthapuram, India"},
		// names that are not shown
		{"DE", "Mailand", "Milan, Italy"},
		{"DE", "Kopenhag", "Copenhagen, Denmark"},
		{"PT", "Nova Iorque", "New York City, United States"},
		{"PT", "Londr", "London, United Kingdom"},
		{"IN", "Calcut", "Kolkata, India"},
		{"IN", "मुंबई", "Mumbai, India"},
		{"US", "uk", "Ukiah, United States"},
		{"DE", "Münch", "Munich, Germany"},
		{"US", "Münch", "Munich, Germany"},
		{"DK", "Københ", "Copenhagen, Denmark"},
		{"PT", "Lisbo", "Lisbon, Portugal"},
		{"IN", "Bomb", "Mumbai, India"},
		// territories, and states abroad
		{"US", "San Juan, PR, USA", "San Juan, Puerto Rico"},
		{"US", "Hong Kong, China", "Hong Kong, Hong Kong"},
		{"US", "Munich, Bav", "Munich, Germany"},
		{"US", "Milano, Lomb", "Milan, Italy"},
		// postal codes
		{"DE", "10115 Berlin", "Berlin, Germany"},
		{"US", "10115 Berlin", "Berlin, Germany"},
		{"DE", "10115 Berl", "Berlin, Germany"},
		{"US", "94103", "San Francisco, United States"},
		{"US", "Boston, MA 02133", "Boston, United States"},
		{"US", "24 Beacon St, Boston, MA 02133", "Boston, United States"},
		{"US", "Toronto, ON M5V 2T6", "Toronto, Canada"},
		{"US", "London SW1A 1AA", "London, United Kingdom"},
		{"DE", "D-80331 München", "Munich, Germany"},
		{"PT", "1000-001 Lisboa", "Lisbon, Portugal"},
		{"DK", "2100 København Ø", "Copenhagen, Denmark"},
		{"DK", "8000 Aarhus C", "Århus, Denmark"},
		{"IN", "Mumbai 400001", "Mumbai, India"},
		{"IN", "New Delhi 110 001", "New Delhi, India"},
		{"US", "2100 København, Denmark", "Copenhagen, Denmark"},
		{"US", "90210 Beverly Hills", "Beverly Hills, United States"},
		{"US", "90210 Bev", "Beverly Hills, United States"},
		// abbreviations, old names and names in other languages
		{"US", "LA", "Los Angeles, United States"},
		{"DE", "LA", "Los Angeles, United States"},
		{"US", "LA, CA", "Los Angeles, United States"},
		{"US", "CA", "Los Angeles, United States"},
		{"US", "DC", "Washington, United States"},
		{"US", "SLC", "Salt Lake City, United States"},
		{"DE", "SF", "San Francisco, United States"},
		{"US", "Turi", "Turin, Italy"},
		{"IN", "Gurgaon", "Gurugram, India"},
		{"IN", "Allahabad", "Prayagraj, India"},
		{"NL", "Den H", "The Hague, Netherlands"},
		{"NL", "Den Bosch", "'s-Hertogenbosch, Netherlands"},
		{"US", "Schottland", "Edinburgh, United Kingdom"},
		{"FR", "Écosse", "Edinburgh, United Kingdom"},
		{"PT", "País de Gales", "Cardiff, United Kingdom"},
		{"DE", "Frankfurt a. M.", "Frankfurt am Main, Germany"},
		{"DE", "Rothenburg o.d.T.", "Rothenburg ob der Tauber, Germany"},
		{"PT", "S. João da Madeira", "São João da Madeira, Portugal"},
		{"US", "S Bend", "South Bend, United States"},
		{"US", "O'Fallon", "O'Fallon, United States"},
		// the language of the street
		{"US", "Hauptstr. 12, Hamburg", "Hamburg, Germany"},
		{"US", "12 Main St, Hamburg", "Hamburg, United States"},
		{"US", "Lange Str. 5, Hannover", "Hannover, Germany"},
		{"US", "Rua Augusta 10, Lisboa", "Lisbon, Portugal"},
		{"US", "Via Roma 3, Milano", "Milan, Italy"},
		{"US", "100 Main Str, Hamburg", "Hamburg, United States"},
		{"US", "Hauptstr. 12 Hamburg", "Hamburg, Germany"},
		// streets without a comma
		{"FR", "12 rue de Rivoli 75004 Paris", "Paris, France"},
		{"DE", "12 rue de Rivoli 75004 Paris", "Paris, France"},
		{"US", "12 rue de Rivoli 75004 Paris", "Paris, France"},
		{"FR", "12 rue de Rivoli 75004 Par", "Paris, France"},
		{"FR", "12 rue de Rivoli Paris", "Paris, France"},
		{"DE", "Goethestr 5 München", "Munich, Germany"},
		{"US", "Goethestr 5 München", "Munich, Germany"},
		{"DE", "Goethestr 5 Münch", "Munich, Germany"},
		{"DE", "Goethestr. 5 80331 München", "Munich, Germany"},
		{"IT", "Via Roma 3 Milano", "Milan, Italy"},
		{"US", "350 5th Ave NYC", "New York, United States"},
		{"US", "24 Beacon St Bost", "Boston, United States"},
		{"US", "24 Beacon St, Bost", "Boston, United States"},
		// numbers of houses that are not postal codes
		{"DE", "3455 Calle Real, Santa Barbara", "Santa Barbara, United States"},
		{"FR", "3455 Calle Real, Santa Barbara", "Santa Barbara, United States"},
		{"IN", "3455 Calle Real, Santa Barbara", "Santa Barbara, United States"},
		{"US", "3455 Calle Real, Santa Barbara", "Santa Barbara, United States"},
		{"DE", "10250 Santa Monica Blvd, Los Angeles", "Los Angeles, United States"},
		// cities with the name of a state, and of the same name
		{"US", "Washington", "Washington, United States"},
		{"US", "L.A.", "Los Angeles, United States"},
		{"DE", "L.A.", "Los Angeles, United States"},
		{"US", "KC", "Kansas City, United States"},
		{"US", "CDMX", "Mexico City, Mexico"},
		{"MX", "CDMX", "Mexico City, Mexico"},
		{"US", "Reforma 1, CDMX", "Mexico City, Mexico"},
		{"US", "Den H", "The Hague, Netherlands"},
	} {
		if found := suggested(t, tt.text, tt.home, 5, hubs[tt.home]...); len(found) == 0 || found[0] != tt.want {
			t.Errorf("%s in %s: found %q, want %s first", tt.text, tt.home, found, tt.want)
		}
	}
	for _, text := range []string{"10115 Broadway", "1600 Penn", "99999", "Boston, TX 02133", "ß", "100 Main Str", "12 rue de Paris", "350 5th Ave", "450 W 33rd St", "20 2nd Street", "8 rue du 8 mai"} {
		if found := suggested(t, text, "US", 5); len(found) > 0 {
			t.Errorf("%s: found %q", text, found)
		}
	}
	for text, want := range map[string]string{"Par": "Paris, France", "Cordoba": "Córdoba, Spain", "Sta": "Stamford, United States", "St": "St. Louis, United States"} {
		if found := suggested(t, text, "US", 5, hubs["US"]...); !slices.Contains(found, want) {
			t.Errorf("%s: found %q, want %s among them", text, found, want)
		}
	}
}

func TestSuggestCitiesOfTwoStates(t *testing.T) {
	for text, want := range map[string][]string{
		"Kansas City": {"Missouri", "Kansas"},
		"KC":          {"Missouri", "Kansas"},
		"Washington":  {"District of Columbia", "Washington"},
	} {
		found, err := streets().Suggest(t.Context(), lastmile.AddressQuery{Unparsed: text, Country: "US"}, 5)
		var states []string
		for _, f := range found {
			states = append(states, f.Address.State)
		}
		if err != nil || len(states) < 2 || !slices.Equal(states[:2], want) {
			t.Errorf("%s: found cities in %q, want %q: %v", text, states, want, err)
		}
	}
}

// TestSuggestShownNamesFirst checks, for many beginnings of names, that a city found by a name
// that is not shown precedes a city whose shown name begins with the text only if it is 16
// times as large, or as large and in the home country. The first city is an exception if it
// is 4 times as large as the next one and in the same country.
func TestSuggestShownNamesFirst(t *testing.T) {
	const home = "US"
	texts := map[string]bool{}
	for _, c := range drawnCities(t) {
		name := []rune(gazetteer.Fold(c.Name))
		for n := 2; n <= min(len(name), 6); n++ {
			texts[strings.TrimSpace(string(name[:n]))] = true
		}
	}
	for text := range texts {
		if len(text) < 2 {
			continue
		}
		smallest := 1000.0 // size of the smallest preceding city that was found by a name that is not shown
		found := embedded(t).CitiesBeginning(text, "", home, 20)
		if len(found) > 1 && found[0].Extra > 0 {
			if first, next := found[0], found[1]; first.Country != next.Country || first.Country == home || float64(first.Size) <= float64(next.Size)+2*math.Log2(4) {
				t.Errorf("%s: %s is before %s", text, first.Name, next.Name)
			}
			found = found[1:]
		}
		for i, c := range found {
			size := float64(c.Size)
			if c.Country == home {
				size += 2 * math.Log2(16)
			}
			begins := strings.HasPrefix(gazetteer.Fold(c.Name), gazetteer.Fold(text)) || strings.HasPrefix(gazetteer.Plain(c.Name), text)
			if begins && size+2*math.Log2(16) > smallest || !begins && !c.Other {
				t.Errorf("%s: %s (%s) is number %d", text, c.Name, c.Country, i)
			}
			if !begins && !c.Whole {
				smallest = min(smallest, size)
			}
		}
	}
}

func TestSuggestACityOnce(t *testing.T) {
	for _, text := range []string{"United States", "New York", "New Y", "New York, NY", "USA", "Washington"} {
		found := suggested(t, text, "US", 20)
		for i, city := range found {
			short := func(name string) string { return strings.Replace(name, " City,", ",", 1) }
			if slices.ContainsFunc(found[:i], func(other string) bool {
				return short(other) == "New York, United States" && short(city) == short(other)
			}) {
				t.Errorf("%s: found %q", text, found)
				break
			}
		}
	}
}

// BenchmarkSuggest completes texts of increasing length. The longer they are, the less
// there is to compare.
func BenchmarkSuggest(b *testing.B) {
	s := streets()
	for _, text := range []string{"S", "Sa", "San", "San F", "San Francisco", "Sankt Gallen, Schw", "United States", "Bavaria", "Zyxwvutville"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Suggest(b.Context(), lastmile.AddressQuery{Unparsed: text, Country: "US"}, 5); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
