package geo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dray/internal/geo"
	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

const samples = 1000

func embedded(t testing.TB) *gazetteer.Gazetteer {
	t.Helper()
	g, err := gazetteer.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// drawn returns a reproducible sample.
func drawn[T any](all []T, n int) []T {
	random := rand.New(rand.NewPCG(5, 1000))
	some := make([]T, n)
	for i := range some {
		some[i] = all[random.IntN(len(all))]
	}
	return some
}

func drawnCities(t testing.TB) []gazetteer.City {
	return drawn(slices.Collect(embedded(t).AllCities()), samples)
}

func drawnPostalCodes(t testing.TB) []gazetteer.Postal {
	return drawn(slices.Collect(embedded(t).AllPostalCodes()), samples)
}

// misspelled changes one letter of a text in one of four ways.
func misspelled(random *rand.Rand, text string) string {
	letters := []rune(text)
	var places []int
	for i, r := range letters {
		if r > ' ' {
			places = append(places, i)
		}
	}
	i := places[random.IntN(len(places))]
	other := 'a' + rune(random.IntN(26))
	switch random.IntN(4) {
	case 0: // a wrong letter
		letters[i] = other
	case 1: // an extra letter
		letters = slices.Insert(letters, i, other)
	case 2: // a missing letter
		letters = slices.Delete(letters, i, i+1)
	default: // two letters swapped
		if i > 0 {
			letters[i-1], letters[i] = letters[i], letters[i-1]
		}
	}
	return string(letters)
}

func cityQuery(c gazetteer.City, name string) lastmile.AddressQuery {
	return lastmile.AddressQuery{Address: lastmile.Address{
		Number: "1", Street: "Main", City: name, State: c.State.Name, Country: c.Country,
	}}
}

// is reports whether a result is a city: by name and state, or near enough.
func is(p lastmile.GeocodedAddress, c gazetteer.City) bool {
	return p.Address.City == c.Name && p.Address.State == c.State.Name || p.Location.Distance(c.Location) < 10_000
}

func TestCitiesDrawnAtRandomAreFound(t *testing.T) {
	for _, c := range drawnCities(t) {
		p, err := new(geo.Gazetteer).Geocode(t.Context(), cityQuery(c, c.Name))
		if err != nil || !is(p, c) {
			t.Errorf("%+v: found %+v, %v", c, p, err)
		}
		if got := strings.Join(p.Warnings, " "); got != lastmile.WarnApproximate {
			t.Errorf("%+v: warnings %s", c, got)
		}
	}
}

func TestCitiesInOneLineAreFound(t *testing.T) {
	found := 0
	for _, c := range drawnCities(t) {
		line := fmt.Sprintf("12 Long Road, %s, %s, %s", strings.ReplaceAll(c.Name, ",", " "), c.State.Name, embedded(t).CountryName(c.Country))
		p, err := new(geo.Gazetteer).Geocode(t.Context(), lastmile.AddressQuery{Unparsed: line, Country: "US"})
		if err == nil && is(p, c) {
			found++
		} else {
			t.Logf("%s: found %+v, %v", line, p.Address, err)
		}
	}
	t.Logf("%d of %d", found, samples)
	if found < samples*98/100 {
		t.Errorf("%d of %d cities are found from a line", found, samples)
	}
}

func TestCitiesWithALetterWrongAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(95, 100))
	found := 0
	for _, c := range drawnCities(t) {
		name := misspelled(random, c.Name)
		p, err := new(geo.Gazetteer).Geocode(t.Context(), cityQuery(c, name))
		if err == nil && is(p, c) {
			found++
		} else {
			t.Logf("%s for %s (%s, %s): found %s, %s, %v", name, c.Name, c.State.Name, c.Country, p.Address.City, p.Address.State, err)
		}
	}
	t.Logf("%d of %d", found, samples)
	if found < samples*95/100 {
		t.Errorf("%d of %d cities are found with a letter wrong, want 95%%", found, samples)
	}
}

func TestPostalCodesDrawnAtRandomAreFound(t *testing.T) {
	for _, z := range drawnPostalCodes(t) {
		for _, q := range []lastmile.AddressQuery{
			{Unparsed: "1 Main St, " + z.Code + ", USA"},
			{Unparsed: "1 Main St, " + z.Code, Country: "US"},
			{Unparsed: fmt.Sprintf("1 Main St, %s, %s %s, USA", z.City.Name, z.City.State.Code, z.Code)},
			{Address: lastmile.Address{Number: "1", Street: "Main St", City: z.City.Name, PostalCode: z.Code, Country: "USA"}},
		} {
			p, err := new(geo.Gazetteer).Geocode(t.Context(), q)
			if err != nil || p.Location != z.Location || p.Precision != lastmile.PrecisionPostalCode || p.Address.PostalCode != z.Code {
				t.Errorf("%+v: found %+v, %v; want %+v", q, p, err, z)
			}
		}
	}
}

func TestPostalAddressesWithALetterWrongAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(941, 3))
	found := 0
	for _, z := range drawnPostalCodes(t) {
		q := lastmile.AddressQuery{Address: lastmile.Address{
			Number: "1", Street: "Main St", City: z.City.Name, State: z.City.State.Code, PostalCode: z.Code, Country: "USA",
		}}
		if random.IntN(2) == 0 {
			q.Address.City = misspelled(random, q.Address.City)
		} else {
			digits := []byte(z.Code)
			digits[random.IntN(len(digits))] = byte('0' + random.IntN(10))
			q.Address.PostalCode = string(digits)
		}
		p, err := new(geo.Gazetteer).Geocode(t.Context(), q)
		if err == nil && (p.Location.Distance(z.Location) < 50_000 || is(p, z.City)) {
			found++
		} else {
			t.Logf("%+v: found %+v %v, %v", q.Address, p.Address, p.Warnings, err)
		}
	}
	t.Logf("%d of %d", found, samples)
	if found < samples*95/100 {
		t.Errorf("%d of %d postal addresses are found with a letter wrong, want 95%%", found, samples)
	}
}

func TestNonsenseIsRejected(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	word := func() string {
		letters := make([]byte, 6+random.IntN(8))
		for i := range letters {
			letters[i] = byte('a' + random.IntN(26))
		}
		return string(letters)
	}
	accepted := 0
	for range samples {
		queries := []lastmile.AddressQuery{
			{Unparsed: word() + " " + word() + ", " + word(), Country: "US"},
			{Address: lastmile.Address{Number: "1", Street: word(), City: word(), Country: "US"}},
			{Address: lastmile.Address{Number: "1", Street: word(), City: word(), Country: word()}, Country: "DE"},
		}
		for _, q := range queries {
			if p, err := new(geo.Gazetteer).Geocode(t.Context(), q); err == nil {
				accepted++
				t.Logf("%+v was taken for %+v", q, p)
			}
		}
	}
	if accepted > samples*3/200 {
		t.Errorf("%d of %d nonsense addresses were accepted", accepted, samples*3)
	}
}
