package contract_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/osm/town"
	"dray/internal/road"
)

// importTown imports the generated town on a node, which uses it at once.
func importTown(t testing.TB, p *apptest.Platform) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "town.osm.pbf")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(town.Write(file, 1), file.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Config.MapFolder().Import(t.Context(), path, "town", func(string, float64) {}); err != nil {
		t.Fatal(err)
	}
	refreshMaps(t, p)
}

func refreshMaps(t testing.TB, p *apptest.Platform) {
	t.Helper()
	if err := p.Maps.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestTravelTimesOnImportedRoads imports a map while the platform runs.
func TestTravelTimesOnImportedRoads(t *testing.T) {
	t.Parallel()
	p := apptest.New(t)
	r := newRoads(t, p, "Acme")
	importTown(t, p)
	at := townPoints(t, p)
	start, pickup, dropoff := at(0.4), at(0.5), at(0.6)
	point := func(p lastmile.Point) string { return fmt.Sprintf("%f,%f", p.Lon, p.Lat) }
	r.Must(t, "PUT", "/teams/"+r.north, `{"hub":"`+r.hub+`"}`)
	place(t, p.Store.Write, r.Client, r.ada, lastmile.Whereabouts{OnDuty: true, Location: &start})
	path := "/teams/" + r.north + "/estimate?pickupLocation=" + point(pickup) + "&dropoffLocation="
	sources := func(path string) (all []string) {
		for _, step := range r.Must(t, "GET", path, nil)["steps"].([]any) {
			all = append(all, fmt.Sprint(step.(map[string]any)["travelSource"]))
		}
		return all
	}
	if got := sources(path + point(dropoff)); fmt.Sprint(got) != "[roads roads]" {
		t.Errorf("in the town: %v", got)
	}
	if got := sources(path + point(lastmile.Point{Lon: dropoff.Lon + 3, Lat: dropoff.Lat})); fmt.Sprint(got) != "[roads formula]" {
		t.Errorf("out of the town: %v", got)
	}

	// The length of a route plan is that of the roads between its tasks.
	task := func(at lastmile.Point) string {
		return fmt.Sprint(r.Must(t, "POST", "/tasks", `{"destination":{"address":{"number":"1","street":"High St","city":"New York","country":"USA"},"location":[`+point(at)+`]},"recipients":[]}`)["id"])
	}
	tasks := `"` + task(pickup) + `","` + task(dropoff) + `"`
	plan := r.Must(t, "POST", "/routePlans", `{"name":"Round","startTime":`+fmt.Sprint(time.Now().Add(time.Hour).UnixMilli())+`,"tasks":[`+tasks+`]}`)
	legs, err := p.Travel.Legs(t.Context(), lastmile.Car, []lastmile.Point{pickup, dropoff})
	if err != nil || legs[0].Estimated {
		t.Fatalf("legs %v, %v", legs, err)
	}
	if got, want := plan["plannedDistance"].(float64), float64(legs[0].Distance); got < want-1 || got > want+1 {
		t.Errorf("planned %v m, want %v", got, want)
	}
	has(t, plan, "travelSource", "roads")
	plan = r.Must(t, "PUT", "/routePlans/"+fmt.Sprint(plan["id"]), `{"name":"Round trip","tasks":[`+tasks+`,"`+task(lastmile.Point{Lon: dropoff.Lon + 3, Lat: dropoff.Lat})+`"]}`)
	has(t, plan, "travelSource", "formula")

	// A dispatch says where the times of each route come from.
	routes := func() (all []string) {
		d := depot{Client: r.Client, team: r.north}
		r.Must(t, "PUT", "/containers/teams/"+r.north, `{"tasks":[-1,`+tasks+`]}`)
		for _, route := range d.run(t, `{"dryRun":true}`)["plan"].(map[string]any)["routes"].([]any) {
			all = append(all, fmt.Sprint(route.(map[string]any)["travelSource"]))
		}
		return all
	}
	if got := routes(); fmt.Sprint(got) != "[roads]" {
		t.Errorf("the routes are by %v", got)
	}

	if err := p.Config.RemoveMap("town"); err != nil {
		t.Fatal(err)
	}
	refreshMaps(t, p)
	if got := sources(path + point(dropoff)); fmt.Sprint(got) != "[formula formula]" {
		t.Errorf("after the removal: %v", got)
	}
	if got := routes(); fmt.Sprint(got) != "[formula]" {
		t.Errorf("after the removal, the routes are by %v", got)
	}
}

// townPoints returns a function for locations on the diagonal of the town.
func townPoints(t testing.TB, p *apptest.Platform) func(share float64) lastmile.Point {
	t.Helper()
	folder := p.Config.MapFolder()
	maps, err := folder.List()
	if err != nil || len(maps) != 1 {
		t.Fatalf("the maps are %v, %v", maps, err)
	}
	content, err := os.ReadFile(filepath.Join(folder.Path, maps[0].Files[0].Name))
	if err != nil {
		t.Fatal(err)
	}
	m, err := road.Open(content)
	if err != nil {
		t.Fatal(err)
	}
	southwest, northeast := m.Bounds()
	return func(share float64) lastmile.Point {
		return lastmile.Point{Lon: southwest.Lon + share*(northeast.Lon-southwest.Lon), Lat: southwest.Lat + share*(northeast.Lat-southwest.Lat)}
	}
}

// TestMapsOfNodesDiffer has two nodes share a database, only one of which has a map.
func TestMapsOfNodesDiffer(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		importTown(t, p)
		compare := func(nodes ...*apptest.Platform) {
			t.Helper()
			for _, node := range nodes {
				if err := node.Maps.Compare(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		ready := func(node *apptest.Platform) string { return strings.TrimSpace(string(node.Get(t, "/readyz"))) }
		compare(p)
		if got := ready(p); got != "ready" {
			t.Errorf("one node is %q", got)
		}
		if p.Config.Database == "" {
			return
		}
		other := apptest.New(t, func(c *app.Config) { c.Database, c.Listen = p.Config.Database, "127.0.0.1:9" })
		compare(other, p)
		if got := ready(p); !strings.HasPrefix(got, "ready; the maps of nodes differ: ") || !strings.HasSuffix(got, "127.0.0.1:9 lacks town") {
			t.Errorf("the node with a map is %q", got)
		}
		if got := ready(other); !strings.Contains(got, "has town, which is missing here") {
			t.Errorf("the node without is %q", got)
		}
		nodes, err := p.Maps.Nodes(t.Context())
		if err != nil || len(nodes) != 2 {
			t.Errorf("the nodes are %v, %v", nodes, err)
		}
		importTown(t, other)
		compare(other, p)
		if got := ready(p); got != "ready" {
			t.Errorf("with the same map: %q", got)
		}
		p.Advance(10 * time.Minute)
		compare(p)
		if nodes, err := p.Maps.Nodes(t.Context()); err != nil || len(nodes) != 1 {
			t.Errorf("a node that is gone is among %v, %v", nodes, err)
		}
	})
}

// TestDamagedImportKeepsTheMap imports files that are not maps.
func TestDamagedImportKeepsTheMap(t *testing.T) {
	t.Parallel()
	p := apptest.New(t)
	importTown(t, p)
	var extract strings.Builder
	if err := town.Write(&extract, 1); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"truncated": extract.String()[:extract.Len()*2/3],
		"empty":     "",
		"corrupt":   extract.String()[:1000] + strings.Repeat("x", 5000) + extract.String()[6000:],
		"a page":    "<html>not found</html>",
	} {
		path := filepath.Join(t.TempDir(), "town.osm.pbf")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Config.MapFolder().Import(t.Context(), path, "town", func(string, float64) {}); err == nil || !strings.Contains(err.Error(), "town.osm.pbf") {
			t.Errorf("%s: %v", name, err)
		}
		refreshMaps(t, p)
		from, to := townPoints(t, p)(0.4), townPoints(t, p)(0.6)
		if legs, err := p.Travel.Legs(t.Context(), lastmile.Car, []lastmile.Point{from, to}); err != nil || legs[0].Estimated {
			t.Errorf("%s: the old map is not used: %v, %v", name, legs, err)
		}
	}
}
