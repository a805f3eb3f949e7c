package gazetteer_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

func smallData() gazetteer.Data {
	return gazetteer.Data{
		Sources: "a test",
		Countries: []gazetteer.CountryData{
			{Code: "US", Name: "United States", Names: []string{"USA", "Vereinigte Staaten"}},
			{Code: "DE", Name: "Germany", Names: []string{"Deutschland"}},
		},
		Regions: []gazetteer.StateData{
			{Country: "US", Code: "MO", Name: "Missouri", Names: []string{"MO"}},
			{Country: "DE", Code: "02", Name: "Bavaria", Names: []string{"Bayern"}},
		},
		Cities: []gazetteer.CityData{
			{Name: "Munich", Country: "DE", Region: "02", Lon: 11.5755, Lat: 48.1374, Population: 1260391, Names: []string{"München"}},
			{Name: "St. Louis", Country: "US", Region: "MO", County: "City of Saint Louis", Lon: -90.1979, Lat: 38.6273, Population: 318000},
			{Name: "Saint Louis", Country: "US", Region: "", Lon: -84.6067, Lat: 43.4084},
		},
		Postal: []gazetteer.PostalData{{Code: 63101, City: 1, Lon: -90.1913, Lat: 38.6346}},
	}
}

func TestWhatIsPackedIsFound(t *testing.T) {
	var packed bytes.Buffer
	if err := gazetteer.Pack(&packed, smallData()); err != nil {
		t.Fatal(err)
	}
	g, err := gazetteer.Unpack(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Cities("saint louis", "US"); len(got) != 2 || got[0].Name != "St. Louis" || got[1].State.Name != "" {
		t.Errorf("saint louis: %+v", got)
	}
	munich := gazetteer.City{
		Name: "Munich", State: gazetteer.State{Name: "Bavaria", Code: "02", Country: "DE"}, Country: "DE",
		Location: lastmile.Point{Lon: 11.5755, Lat: 48.1374}, Size: 41, Other: true,
	}
	if got := g.Cities("MUNCHEN", ""); len(got) != 1 || got[0] != munich {
		t.Errorf("munchen: %+v", got)
	}
	if got := g.PostalCode(63101); len(got) != 1 || got[0].City.County != "City of Saint Louis" || got[0].Location != (lastmile.Point{Lon: -90.1913, Lat: 38.6346}) {
		t.Errorf("63101: %+v", got)
	}
	if code, ok := g.Country("vereinigte staaten"); !ok || code != "US" || g.CountryName("DE") != "Germany" || g.Sources != "a test" {
		t.Errorf("vereinigte staaten: %q, %v", code, ok)
	}
	if state, ok := g.State("DE", "bayern"); !ok || state.Name != "Bavaria" {
		t.Errorf("bayern: %+v, %v", state, ok)
	}
}

func TestPackingDoesNotDependOnTheOrder(t *testing.T) {
	var first, second bytes.Buffer
	data := smallData()
	if err := gazetteer.Pack(&first, data); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(data.Countries)
	slices.Reverse(data.Regions)
	slices.Reverse(data.Cities)
	data.Postal[0].City = len(data.Cities) - 1 - data.Postal[0].City
	if err := gazetteer.Pack(&second, data); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the packed files differ")
	}
}

func TestADamagedFileIsRejected(t *testing.T) {
	var packed bytes.Buffer
	if err := gazetteer.Pack(&packed, smallData()); err != nil {
		t.Fatal(err)
	}
	whole := packed.Bytes()
	for n := range len(whole) - 1 {
		if _, err := gazetteer.Unpack(bytes.NewReader(whole[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for the whole", n, len(whole))
		}
	}
	random := rand.New(rand.NewPCG(9, 9))
	for range 2000 { // must not panic on any input
		damaged := slices.Clone(whole)
		damaged[random.IntN(len(damaged))] ^= byte(1 + random.IntN(255))
		if g, err := gazetteer.Unpack(bytes.NewReader(damaged)); err == nil {
			g.CitiesNear("munchen", "", 2)
			g.PostalCode(63101)
		}
	}
}

func TestTheEmbeddedFileIsSmall(t *testing.T) {
	const most = 4_000_000
	info, err := os.Stat("places.bin")
	if err != nil || info.Size() > most {
		t.Errorf("places.bin has %d bytes, %v; at most %d are allowed", info.Size(), err, most)
	}
}
