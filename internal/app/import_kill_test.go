package app_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/osm/town"
)

// TestKilledImport kills imports while they build each of the products. The server keeps
// the old map, and the next import works.
func TestKilledImport(t *testing.T) {
	source := filepath.Join(t.TempDir(), "town.osm.pbf")
	generate := func(seed uint64) {
		t.Helper()
		file, err := os.Create(source)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(town.Write(file, seed), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	p := apptest.New(t, func(c *app.Config) { c.Maps = filepath.Join(t.TempDir(), "maps") })
	folder := p.Config.MapFolder()
	generate(1)
	if _, err := folder.Import(t.Context(), source, "town", func(string, float64) {}); err != nil {
		t.Fatal(err)
	}
	if err := p.Maps.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, old := p.Maps.Tiles()
	program := thisProgram(t)
	for seed, product := range folder.Products {
		generate(uint64(2 + seed))
		cmd := exec.CommandContext(t.Context(), program.path, "map", "import", source, "--name", "town", "--maps", folder.Path)
		cmd.Env = program.env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		part := filepath.Join(folder.Path, "town."+product.Name+".part")
		for began := time.Now(); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(part); err == nil {
				break
			}
			if time.Since(began) > time.Minute {
				t.Fatalf("%s is not built", product.Name)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatalf("the import was done before it was killed at %s", product.Name)
		}
		if err := p.Maps.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		maps, version := p.Maps.Tiles()
		if version != old || len(maps) != 1 || len(p.Maps.Roads()) != 1 || len(p.Maps.Streets()) != 1 {
			t.Errorf("killed at %s: the old map does not serve", product.Name)
		}
	}
	if _, err := folder.Import(t.Context(), source, "town", func(string, float64) {}); err != nil {
		t.Fatal(err)
	}
	if err := p.Maps.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, version := p.Maps.Tiles(); version == old {
		t.Error("the new map does not serve")
	}
	entries, err := os.ReadDir(folder.Path)
	if err != nil || len(entries) != len(folder.Products)+2 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
	route, err := p.Routes.Ways.Route(t.Context(), lastmile.Car, []lastmile.Point{{Lon: -73.98, Lat: 40.75}, {Lon: -73.985, Lat: 40.76}})
	if err != nil || route.ByFormula {
		t.Errorf("the roads of the new map are not used: %+v, %v", route, err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".part") {
			t.Errorf("%s is left", e.Name())
		}
	}
}
