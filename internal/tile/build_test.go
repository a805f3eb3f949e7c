package tile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dray/internal/osm"
	"dray/internal/osm/town"
	"dray/internal/tile"
)

// drawing writes an extract. Nodes are written before ways, and ways before relations.
type drawing struct {
	nodes     []func(*osm.Writer)
	ways      []func(*osm.Writer)
	relations []func(*osm.Writer)
	bounds    [4]float64
}

func (d *drawing) node(lon, lat float64, tags ...string) int64 {
	id := int64(len(d.nodes) + 1)
	d.nodes = append(d.nodes, func(w *osm.Writer) { w.Node(id, lon, lat, tags...) })
	return id
}

// way adds a way through locations. It is closed if the first is also the last.
func (d *drawing) way(line [][2]float64, tags ...string) int64 {
	var refs []int64
	for i, p := range line {
		if i > 0 && i == len(line)-1 && p == line[0] {
			refs = append(refs, refs[0])
			continue
		}
		refs = append(refs, d.node(p[0], p[1]))
	}
	id := int64(len(d.ways) + 1)
	d.ways = append(d.ways, func(w *osm.Writer) { w.Way(id, refs, tags...) })
	return id
}

func (d *drawing) relation(members []osm.Member, tags ...string) {
	id := int64(len(d.relations) + 1)
	d.relations = append(d.relations, func(w *osm.Writer) { w.Relation(id, members, tags...) })
}

func (d *drawing) write(tb testing.TB) []byte {
	tb.Helper()
	var file bytes.Buffer
	w := osm.NewWriter(&file, d.bounds[0], d.bounds[1], d.bounds[2], d.bounds[3])
	for _, all := range [][]func(*osm.Writer){d.nodes, d.ways, d.relations} {
		for _, write := range all {
			write(w)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

// square returns a ring around a location, counterclockwise; clockwise if size is negative.
func square(lon, lat, size float64) [][2]float64 {
	half := max(size, -size) / 2
	ring := [][2]float64{{lon - half, lat - half}, {lon + half, lat - half}, {lon + half, lat + half}, {lon - half, lat + half}, {lon - half, lat - half}}
	if size < 0 {
		slices.Reverse(ring)
	}
	return ring
}

func open(t *testing.T, d *drawing) *tile.Map {
	t.Helper()
	content, err := buildFile(t, d.write(t))
	if err != nil {
		t.Fatal(err)
	}
	m, err := tile.Open(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

// read returns the layers of the tile at a location, by name.
func read(t *testing.T, m *tile.Map, zoom int, lon, lat float64) map[string]layer {
	t.Helper()
	x, y := at(zoom, lon, lat)
	packed, err := m.Tile(t.Context(), zoom, x, y)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]layer{}
	if packed != nil {
		for _, l := range decode(t, inflate(t, packed)) {
			found[l.name] = l
		}
	}
	return found
}

// kinds lists the values of a key in a layer.
func kinds(l layer, key string) (all []string) {
	for _, f := range l.features {
		all = append(all, fmt.Sprint(f.tags[key]))
	}
	slices.Sort(all)
	return all
}

func townFile(tb testing.TB) []byte {
	tb.Helper()
	var file bytes.Buffer
	if err := town.Write(&file, 1); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

func TestTown(t *testing.T) {
	content, err := buildFile(t, townFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := buildFile(t, townFile(t)); err != nil || !bytes.Equal(content, again) {
		t.Errorf("the tiles of one extract differ: %v", err)
	}
	m, err := tile.Open(content)
	if err != nil {
		t.Fatal(err)
	}
	s := survey(t, m)
	for layer, least := range map[string]int{"water": 5, "waterway": 3, "landuse": 30, "building": 9, "road": 200, "place": 7, "housenumber": 2500} {
		if s.layers[layer] < least {
			t.Errorf("%s has %d features, want %d", layer, s.layers[layer], least)
		}
	}
	c := m.Info().Center
	middle := read(t, m, 14, c[0], c[1])
	for layer, values := range map[string]map[string][]string{
		"road":  {"class": {"primary", "tertiary", "minor"}, "name": {"1st Avenue"}, "oneway": {"1"}, "bridge": {"true"}},
		"place": {"kind": {"town"}, "name": {town.Name}, "rank": {"5"}},
		"water": {"kind": {"river"}}, "waterway": {"kind": {"river"}, "name": {"Alder River"}},
		"landuse": {"kind": {"residential", "commercial", "pedestrian"}},
	} {
		for key, want := range values {
			got := kinds(middle[layer], key)
			for _, w := range want {
				if !slices.Contains(got, w) {
					t.Errorf("%s: no %s is %s: %v", layer, key, w, slices.Compact(got))
				}
			}
		}
	}
	far := read(t, m, 9, c[0], c[1])
	if got := kinds(far["road"], "class"); !slices.Contains(got, "primary") || slices.Contains(got, "minor") {
		t.Errorf("from far away the roads are %v", got)
	}
	if got := kinds(far["place"], "name"); !slices.Equal(got, []string{town.Name}) {
		t.Errorf("from far away the places are %v", got)
	}
	if len(far["building"].features)+len(far["housenumber"].features) > 0 {
		t.Error("houses are drawn from far away")
	}
}

func TestAttributes(t *testing.T) {
	line := [][2]float64{{10, 50}, {10.001, 50}}
	for name, test := range map[string]struct {
		tags  []string
		layer string
		want  string
	}{
		"a road":             {[]string{"highway", "residential", "name", "Elm", "ref", "B 1;B 2"}, "road", "map[class:minor name:Elm ref:B 1]"},
		"a one-way road":     {[]string{"highway", "tertiary", "oneway", "yes"}, "road", "map[class:tertiary oneway:1]"},
		"one-way in reverse": {[]string{"highway", "tertiary", "oneway", "-1"}, "road", "map[class:tertiary oneway:-1]"},
		"a motorway":         {[]string{"highway", "motorway"}, "road", "map[class:motorway oneway:1]"},
		"a slip road":        {[]string{"highway", "trunk_link", "bridge", "viaduct"}, "road", "map[bridge:true class:trunk]"},
		"a tunnel":           {[]string{"highway", "primary", "tunnel", "yes"}, "road", "map[class:primary tunnel:true]"},
		"no tunnel":          {[]string{"highway", "primary", "tunnel", "no"}, "road", "map[class:primary]"},
		"a path":             {[]string{"highway", "cycleway"}, "road", "map[class:path]"},
		"a railway":          {[]string{"railway", "rail", "oneway", "yes"}, "road", "map[class:rail]"},
		"a ferry":            {[]string{"route", "ferry", "name", "F"}, "road", "map[class:ferry name:F]"},
		"a stream":           {[]string{"waterway", "stream", "name", "S"}, "waterway", "map[kind:stream name:S]"},
		"a culvert":          {[]string{"waterway", "stream", "tunnel", "culvert"}, "", ""},
		"a planned road":     {[]string{"highway", "proposed"}, "", ""},
		"a long name":        {[]string{"highway", "service", "name", strings.Repeat("ü", 200)}, "road", "map[class:service name:" + strings.Repeat("ü", 127) + "]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &drawing{}
			d.way(line, test.tags...)
			d.node(10.0005, 50, "place", "village", "name", "V")
			layers := read(t, open(t, d), 14, 10.0005, 50)
			delete(layers, "place")
			if test.layer == "" {
				if len(layers) > 0 {
					t.Errorf("drawn: %v", layers)
				}
				return
			}
			if l := layers[test.layer]; len(layers) != 1 || len(l.features) != 1 || fmt.Sprint(l.features[0].tags) != test.want {
				t.Errorf("got %v, want %s", layers, test.want)
			}
		})
	}
}

func TestAreas(t *testing.T) {
	d := &drawing{}
	for i, tags := range [][]string{
		{"leisure", "park"},
		{"landuse", "forest"},
		{"natural", "water", "water", "pond"},
		{"building", "yes", "addr:housenumber", "12b"},
		{"amenity", "school"},
		{"highway", "pedestrian", "area", "yes"},
		{"highway", "residential", "junction", "roundabout"},
		{"building", "no"},
		{"landuse", "unknown"},
	} {
		d.way(square(10.003+0.002*float64(i), 50, 0.001), tags...)
	}
	m := open(t, d)
	layers := read(t, m, 14, 10.01, 50)
	if got := kinds(layers["landuse"], "kind"); !slices.Equal(got, []string{"forest", "park", "pedestrian", "school"}) {
		t.Errorf("land use is %v", got)
	}
	if got := kinds(layers["water"], "kind"); !slices.Equal(got, []string{"pond"}) {
		t.Errorf("water is %v", got)
	}
	if got := kinds(layers["housenumber"], "number"); !slices.Equal(got, []string{"12b"}) {
		t.Errorf("numbers are %v", got)
	}
	if len(layers["building"].features) != 1 || len(layers["road"].features) != 1 {
		t.Errorf("%d buildings, %d roads", len(layers["building"].features), len(layers["road"].features))
	}
}

// TestMultipolygon draws a lake of several ways with an island, and a second lake.
func TestMultipolygon(t *testing.T) {
	d := &drawing{}
	ring := square(10.01, 50, 0.01)
	one, two := d.way(ring[:3]), d.way([][2]float64{ring[4], ring[3], ring[2]})
	other, island := d.way(square(10.02, 50.006, 0.004)), d.way(square(10.01, 50, 0.004))
	members := []osm.Member{{Kind: osm.KindWay, ID: island, Role: "inner"}, {Kind: osm.KindWay, ID: one, Role: "outer"}, {Kind: osm.KindWay, ID: two, Role: "outer"}, {Kind: osm.KindWay, ID: other, Role: ""}}
	d.relation(members, "type", "multipolygon", "natural", "water")
	d.relation(members[:2], "type", "multipolygon", "landuse", "forest") // not closed
	for _, f := range read(t, open(t, d), 14, 10.01, 50)["water"].features {
		var signs []bool
		for _, ring := range f.parts {
			signs = append(signs, area(ring) > 0)
		}
		if !slices.Equal(signs, []bool{true, false, true}) {
			t.Errorf("the rings are around areas: %v", signs)
		}
	}
	layers := read(t, open(t, d), 14, 10.01, 50)
	if len(layers["water"].features) != 1 || len(layers["landuse"].features) != 0 {
		t.Errorf("drawn: %v", layers)
	}
}

// TestSea draws coasts, which have the land to their left.
func TestSea(t *testing.T) {
	bounds := [4]float64{10, 50, 10.2, 50.2}
	for name, test := range map[string]struct {
		coasts   [][][2]float64
		road     [2]float64
		wet, dry [2]float64
		noSea    bool
	}{
		"an island": {coasts: [][][2]float64{square(10.1, 50.1, 0.1)}, road: [2]float64{10.1, 50.1}, wet: [2]float64{10.02, 50.02}, dry: [2]float64{10.09, 50.09}},
		"a coast from south to north": {
			coasts: [][][2]float64{{{10.1, 49.9}, {10.1, 50.1}}, {{10.1, 50.1}, {10.11, 50.3}}}, road: [2]float64{10.05, 50.1},
			wet: [2]float64{10.18, 50.1}, dry: [2]float64{10.02, 50.1},
		},
		"a coast that ends near the border": {
			coasts: [][][2]float64{{{10.1, 50.19}, {10.1, 50.01}}}, road: [2]float64{10.15, 50.1}, wet: [2]float64{10.02, 50.1}, dry: [2]float64{10.18, 50.1},
		},
		"a bay and an island": {
			coasts: [][][2]float64{{{9.9, 50.18}, {10.18, 50.1}, {9.9, 50.02}}, square(10.05, 50.1, 0.05)}, road: [2]float64{10.19, 50.1},
			wet: [2]float64{10.01, 50.1}, dry: [2]float64{10.05, 50.1},
		},
		"a cape, and roads in the sea": {
			coasts: [][][2]float64{{{9.9, 50.05}, {10.1, 50.1}, {9.9, 50.15}}}, road: [2]float64{10.15, 50.1}, wet: [2]float64{10.18, 50.02}, noSea: true,
		},
		"a coast that ends in the middle": {
			coasts: [][][2]float64{{{10.1, 49.9}, {10.1, 50.1}}}, road: [2]float64{10.05, 50.1}, wet: [2]float64{10.18, 50.1}, noSea: true,
		},
		"roads in the sea":               {coasts: [][][2]float64{square(10.1, 50.1, -0.1)}, road: [2]float64{10.1, 50.1}, wet: [2]float64{10.09, 50.09}, noSea: true},
		"an islet, and roads on no land": {coasts: [][][2]float64{square(10.1, 50.1, 0.01)}, road: [2]float64{10.05, 50.05}, wet: [2]float64{10.02, 50.02}, noSea: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &drawing{bounds: bounds}
			for _, coast := range test.coasts {
				d.way(coast, "natural", "coastline")
			}
			d.way([][2]float64{test.road, {test.road[0] + 0.001, test.road[1]}}, "highway", "residential")
			m := open(t, d)
			wet := len(read(t, m, 14, test.wet[0], test.wet[1])["water"].features) > 0
			if wet == test.noSea {
				t.Errorf("there is sea: %v", wet)
			}
			if test.dry != [2]float64{} && len(read(t, m, 14, test.dry[0], test.dry[1])["water"].features) > 0 {
				t.Error("the land is under water")
			}
			if test.noSea {
				return
			}
			// At low zoom levels, the sea is drawn too.
			if far := read(t, m, 8, 10.1, 50.1)["water"]; len(far.features) != 1 || far.features[0].tags["kind"] != "ocean" {
				t.Errorf("from far away: %v", far.features)
			}
		})
	}
}

// TestTilesMeet follows a road across the borders of tiles.
func TestTilesMeet(t *testing.T) {
	d := &drawing{}
	d.way([][2]float64{{9.9, 49.95}, {10.1, 50.05}}, "highway", "primary", "name", "Long")
	m := open(t, d)
	tiles := 0
	for lon := 9.9; lon <= 10.1; lon += 0.002 {
		l := read(t, m, 14, lon, 50+(lon-10)/2)["road"]
		if len(l.features) != 1 || l.features[0].tags["name"] != "Long" || len(l.features[0].parts) != 1 {
			t.Fatalf("at %v: %v", lon, l.features)
		}
		tiles++
	}
	if len(read(t, m, 14, 9.95, 50.05)) > 0 {
		t.Error("a tile beside the road is not empty")
	}
}

// TestAntimeridian draws a line from one side of the world to the other.
func TestAntimeridian(t *testing.T) {
	d := &drawing{}
	d.way([][2]float64{{179.99, 10}, {179.999, 10}, {-179.999, 10}, {-179.99, 10}}, "highway", "primary")
	d.way([][2]float64{{179.99, 11}, {-179.99, 11}, {-179.99, 12}, {179.99, 12}, {179.99, 11}}, "natural", "water")
	m := open(t, d)
	for _, lon := range []float64{179.995, -179.995} {
		if len(read(t, m, 14, lon, 10)["road"].features) != 1 {
			t.Errorf("there is no road at %v", lon)
		}
	}
	if len(read(t, m, 14, 0, 10))+len(read(t, m, 14, 0, 11.5)) > 0 {
		t.Error("drawn around the world")
	}
}

// TestFullTile has more houses than fit a tile.
func TestFullTile(t *testing.T) {
	d, streets := &drawing{}, &drawing{}
	for i := range 200 {
		for k := range 120 {
			d.way(square(10.001+0.0001*float64(i), 50.001+0.0001*float64(k), 0.00007), "building", "yes", "addr:housenumber", fmt.Sprint(i*1000+k))
		}
		for _, d := range []*drawing{d, streets} {
			d.way([][2]float64{{10.001 + 0.0001*float64(i), 50.001}, {10.001 + 0.0001*float64(i), 50.013}}, "highway", "residential", "name", fmt.Sprint("Street ", i))
		}
	}
	m := open(t, d)
	s := survey(t, m)
	if s.largest > 500_000 || s.largest < 250_000 {
		t.Errorf("the largest tile has %d bytes", s.largest)
	}
	roads, all := read(t, m, 14, 10.011, 50.006)["road"], read(t, open(t, streets), 14, 10.011, 50.006)["road"]
	if len(all.features) < 100 || len(roads.features) != len(all.features) {
		t.Errorf("%d of %d streets are drawn", len(roads.features), len(all.features))
	}
}

// manyRoads returns an extract with more tiles than fit the root directory of a file, and the
// locations of its roads.
func manyRoads() (*drawing, [][2]float64) {
	d := &drawing{bounds: [4]float64{10, 50, 13.1, 53.1}}
	var spots [][2]float64
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 80 {
		for k := range 80 {
			spot := [2]float64{10.2 + (float64(i)+random.Float64())/30, 50.2 + (float64(k)+random.Float64())/30}
			spots = append(spots, spot)
			d.way([][2]float64{spot, {spot[0] + 0.0005, spot[1]}}, "highway", "primary", "name", fmt.Sprint(len(spots)), "ref", strings.Repeat("x", random.IntN(100)))
		}
	}
	return d, spots
}

func TestManyTiles(t *testing.T) {
	d, spots := manyRoads()
	m := open(t, d)
	for i, spot := range spots {
		if got := kinds(read(t, m, 14, spot[0]+0.0002, spot[1])["road"], "name"); len(got) == 0 || !slices.Contains(got, fmt.Sprint(i+1)) {
			t.Fatalf("at %v are %v, want %d", spot, got, i+1)
		}
	}
}

// TestOtherReaders opens a file with the published readers of PMTiles and vector tiles.
func TestOtherReaders(t *testing.T) {
	script, err := filepath.Abs("../../clients/node/tiles.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(script), "node_modules", "pmtiles")); err != nil {
		t.Skip("SKIPPED: run npm ci in clients/node to compare with other readers of tiles")
	}
	d, _ := manyRoads()
	d.way(square(11.55, 51.55, 2.9), "natural", "coastline")
	for name, source := range map[string][]byte{"the town": townFile(t), "an island with many roads": d.write(t)} {
		t.Run(name, func(t *testing.T) {
			content, err := buildFile(t, source)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "map.pmtiles")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), "node", script, path).Output()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				t.Fatalf("%v\n%s", err, exit.Stderr)
			} else if err != nil {
				t.Fatal(err)
			}
			var found struct {
				Tiles    int
				Features map[string]int
				Layers   []string
				Header   struct {
					NumAddressedTiles, LeafDirectoryLength int
					Clustered                              bool
				}
			}
			if err := json.Unmarshal(out, &found); err != nil {
				t.Fatal(err)
			}
			m, err := tile.Open(content)
			if err != nil {
				t.Fatal(err)
			}
			if found.Tiles != found.Header.NumAddressedTiles || !found.Header.Clustered || len(found.Layers) != len(tile.Layers) {
				t.Errorf("found %+v", found)
			}
			if name == "the town" {
				if ours := survey(t, m).layers; fmt.Sprint(found.Features) != fmt.Sprint(ours) {
					t.Errorf("the features are %v, ours are %v", found.Features, ours)
				}
			}
			if leaves := found.Header.LeafDirectoryLength; (leaves > 0) != (name != "the town") {
				t.Errorf("directories besides the root have %d bytes", leaves)
			}
		})
	}
}

func TestBuildFails(t *testing.T) {
	good := townFile(t)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	read := func(content []byte) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	}
	for name, test := range map[string]struct {
		ctx     context.Context //nolint:containedctx // a table
		open    func() (io.ReadCloser, error)
		want    error
		message string
	}{
		"nothing to draw":   {t.Context(), read((&drawing{}).write(t)), tile.ErrEmpty, ""},
		"a truncated file":  {t.Context(), read(good[:len(good)/2]), nil, "truncated"},
		"a missing file":    {t.Context(), func() (io.ReadCloser, error) { return nil, os.ErrNotExist }, os.ErrNotExist, ""},
		"a canceled import": {canceled, read(good), context.Canceled, ""},
		"lines across the world": {t.Context(), read(func() []byte {
			d := &drawing{}
			for i := range 20 {
				d.way([][2]float64{{-60, float64(i)}, {110, 60 - float64(i)}}, "highway", "primary")
			}
			return d.write(t)
		}()), tile.ErrHuge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := tile.Build(test.ctx, test.open, io.Discard, func(float64) {})
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.message) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	last := 0.0
	err := tile.Build(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(townFile(t))), nil }, io.Discard, func(share float64) {
		if share < last || share > 1 {
			t.Errorf("progress went from %v to %v", last, share)
		}
		last = share
	})
	if err != nil || last != 1 {
		t.Errorf("ended at %v: %v", last, err)
	}
}
