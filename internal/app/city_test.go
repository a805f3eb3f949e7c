package app_test

import (
	"os"
	"path/filepath"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/osm/town"
)

func TestTown(t *testing.T) {
	var config app.Config
	imports := 0
	ensure := func(c *app.Config) {
		t.Helper()
		if err := c.ImportTown(t.Context(), 1, func(string, float64) { imports++ }); err != nil {
			t.Fatal(err)
		}
	}
	p := apptest.New(t, func(c *app.Config) {
		c.Maps = filepath.Join(t.TempDir(), "maps")
		ensure(c)
		config = *c
	})
	reports := imports
	if ensure(&config); reports == 0 || imports != reports {
		t.Errorf("%d reports of the first import, %d of the second", reports, imports-reports)
	}
	left, err := filepath.Glob(filepath.Join(config.Maps, "*.pbf"))
	if err != nil || len(left) > 0 {
		t.Errorf("the extract is left behind: %v, %v", left, err)
	}
	if err := p.Maps.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := p.Organization(t, "Acme")

	t.Run("is a city with addresses and roads", func(t *testing.T) {
		city, err := p.City(t.Context(), app.TownMap)
		if err != nil || len(city.Doors) < 2500 {
			t.Fatalf("the city is %+v: %v", city, err)
		}
		for i, d := range city.Doors {
			if a := d.Address; a.Number == "" || a.Street == "" || a.City != town.Name || a.State != "New York" || a.Country != "United States" {
				t.Fatalf("door %d has the address %+v", i, a)
			}
		}
		from, to := city.Doors[0].At, city.Doors[len(city.Doors)/2].At
		for _, by := range append([]lastmile.VehicleType{lastmile.OnFoot}, lastmile.VehicleTypes...) {
			if line, takes := city.Route(by, from, to); len(line) < 3 || takes <= 0 {
				t.Errorf("%q: the way has %d points and takes %v", by, len(line), takes)
			}
		}
		if line, takes := city.Route(lastmile.Car, from, lastmile.Point{Lon: 12, Lat: 55}); line != nil || takes != 0 {
			t.Errorf("a way to another continent takes %v", takes)
		}
		made := c.Must(t, "POST", "/destinations", map[string]any{"address": map[string]any{"unparsed": city.Doors[7].Address.Line()}})
		if at, ok := made["location"].([]any); !ok || at[0] != city.Doors[7].At.Lon || at[1] != city.Doors[7].At.Lat {
			t.Errorf("geocoded to %v, want %v", made["location"], city.Doors[7].At)
		}
	})
	t.Run("another map is not there", func(t *testing.T) {
		if city, err := p.City(t.Context(), "atlantis"); err == nil {
			t.Errorf("the city is %+v", city)
		}
	})
	t.Run("a damaged town is generated again", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(config.Maps, "*.streets"))
		if err != nil || len(files) != 1 {
			t.Fatalf("the files are %v: %v", files, err)
		}
		// Not in place: the running server has the file mapped.
		if err := os.Remove(files[0]); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[0], []byte("not an index"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := imports
		if ensure(&config); imports == before {
			t.Error("it is not")
		}
	})
}
