package main

import (
	"slices"
	"testing"

	"dray/internal/geo/gazetteer"
)

func TestPartNames(t *testing.T) {
	for name, want := range map[string][]string{
		"Biel/Bienne":      {"Biel", "Bienne"},
		"Halle (Saale)":    {"Halle"},
		"Washington, D.C.": {"Washington"},
		"Paris":            nil,
		"Au (Hallertau)":   nil, // too short
	} {
		if got := partNames(name); !slices.Equal(got, want) {
			t.Errorf("%s has the parts %q, want %q", name, got, want)
		}
	}
}

func TestOtherNames(t *testing.T) {
	row := make([]string, cityFields)
	row[nameField], row[namesField] = "Munich", "MUC,Muenchen,München,mwnykh,Мюнхен,ミュンヘン,Mu"
	if got, want := otherNames(row), []string{"Munich", "Muenchen", "München", "Мюнхен", "ミュンヘン"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOtherNamesAreInitials(t *testing.T) {
	row := make([]string, cityFields)
	row[nameField], row[namesField] = "Los Angeles", "L.A.,LA,LAX"
	if got, want := otherNames(row), []string{"Los Angeles", "LA", "LA"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRenamedCities(t *testing.T) {
	index := detailIndex{
		"INgurgaon": {{lon: 77.03, lat: 28.46, population: 197_340, names: []string{"Gurgaon"}}},
		"INdelhi":   {{lon: 77.23, lat: 28.65, population: 10_000_000, names: []string{"Delhi", "Dilli"}}},
	}
	cities := []gazetteer.CityData{
		{Name: "Gurugram", Country: "IN", Lon: 77.02, Lat: 28.46},
		{Name: "Delhi", Country: "IN", Lon: 77.22, Lat: 28.66},
		{Name: "Karol Bagh", Country: "IN", Lon: 77.2, Lat: 28.65},
	}
	index.addTo(cities)
	for i, want := range [][]string{{"Gurgaon"}, {"Delhi", "Dilli"}, nil} {
		if !slices.Equal(cities[i].Names, want) {
			t.Errorf("%s has the names %q, want %q", cities[i].Name, cities[i].Names, want)
		}
	}
}

func TestACityOfTwoStates(t *testing.T) {
	index := detailIndex{"USkansas city": {
		{region: "MO", lon: -94.58, lat: 39.1, population: 475_378},
		{region: "KS", lon: -94.63, lat: 39.11, population: 151_306},
	}}
	cities := []gazetteer.CityData{
		{Name: "Kansas City", Country: "US", Region: "KS", Lon: -94.63, Lat: 39.11},
		{Name: "Kansas City", Country: "US", Region: "MO", Lon: -94.58, Lat: 39.1},
		{Name: "Kansas City", Country: "US", Region: "XX", Lon: -94.6, Lat: 39.1},
	}
	index.addTo(cities)
	for i, want := range []int{151_306, 475_378, 475_378} {
		if cities[i].Population != want {
			t.Errorf("in %s, it has %d inhabitants, want %d", cities[i].Region, cities[i].Population, want)
		}
	}
}

func TestPostalTowns(t *testing.T) {
	files := map[string][]byte{"data/US.txt": []byte("US\t10001\tNew York\tNew York\tNY\tNew York\t061\t\t\t40.75\t-73.99\t4\n" +
		"US\t10002\tNew York\tNew York\tNY\tNew York\t061\t\t\t40.71\t-73.98\t4\n" +
		"US\t14201\tBuffalo\tNew York\tNY\tErie\t029\t\t\t42.89\t-78.88\t4\n" +
		"US\t09012\tAPO AE\t\t\t\t\t\t\t49.43\t7.6\t\n")}
	cities := []gazetteer.CityData{
		{Name: "New York City", Country: "US", Region: "NY", Lon: -74.006, Lat: 40.714, Population: 8_000_000, Names: []string{"New York"}},
		{Name: "Buffalo", Country: "US", Region: "NY", Lon: -78.878, Lat: 42.886, Population: 260_000},
	}
	all, codes, err := postalTowns(cities, files, map[string]bool{"US.NY": true}, map[string]string{"US.NY.061": "New York County"})
	if err != nil || len(all) != 3 || len(codes) != 3 {
		t.Fatalf("got %d cities, %d codes, %v", len(all), len(codes), err)
	}
	if added := all[2]; added.Name != "New York" || added.Population != 8_000_000 || added.County != "New York County" || added.Lat < 40.72 || added.Lat > 40.74 {
		t.Errorf("the postal town is %+v", added)
	}
	for _, c := range codes {
		if want := map[uint32]int{10001: 2, 10002: 2, 14201: 1}[c.Code]; c.City != want {
			t.Errorf("code %d is in city %d, want %d", c.Code, c.City, want)
		}
	}
}

func TestClaims(t *testing.T) {
	taken := make(claims)
	var first, second []string
	taken.claim("US", "America", &first)
	taken.claim("MX", "AMÉRICA", &second)
	taken.claim("MX", "", &second)
	if len(first) != 1 || len(second) != 0 {
		t.Errorf("the first has %q, the second %q", first, second)
	}
}
