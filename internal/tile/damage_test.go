package tile_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"dray/internal/osm"
	"dray/internal/osm/osmtest"
	"dray/internal/tile"
)

// small returns an extract with a feature of each kind that is drawn.
func small(tb testing.TB) []byte {
	tb.Helper()
	d := &drawing{bounds: [4]float64{10, 50, 10.1, 50.1}}
	d.way(square(10.05, 50.05, 0.08), "natural", "coastline")
	d.way([][2]float64{{10.03, 50.05}, {10.05, 50.06}, {10.07, 50.05}}, "highway", "primary", "name", "Main", "oneway", "yes")
	d.way(square(10.05, 50.05, 0.002), "building", "yes", "addr:housenumber", "7")
	d.way(square(10.04, 50.05, 0.01), "landuse", "forest")
	outer, inner := d.way(square(10.06, 50.05, 0.01)), d.way(square(10.06, 50.05, 0.004))
	d.relation([]osm.Member{{Kind: osm.KindWay, ID: outer, Role: "outer"}, {Kind: osm.KindWay, ID: inner, Role: "inner"}}, "type", "multipolygon", "natural", "water")
	d.node(10.05, 50.05, "place", "town", "name", "Town")
	return d.write(tb)
}

// mutant returns a damaged extract. Either the file is damaged, or the content of a block,
// which is then stored without compression, or the extract is nonsense.
func mutant(r *rand.Rand, file []byte) []byte {
	switch r.IntN(8) {
	case 0:
		return osmtest.Damage(r, file)
	case 1, 2, 3:
		return nonsense(r)
	}
	var blocks [][2][]byte // header and content
	for rest := file; len(rest) > 4; {
		size := binary.BigEndian.Uint32(rest)
		head := rest[4 : 4+size]
		length, _ := binary.Uvarint(head[len(head)-varintLength(head):])
		blob := rest[4+size:][:length]
		rest = rest[4+int(size)+int(length):]
		at := bytes.Index(blob, []byte{0x78, 0x9c}) // how zlib begins
		unzip, err := zlib.NewReader(bytes.NewReader(blob[at:]))
		if err != nil {
			return file
		}
		content, err := io.ReadAll(unzip)
		if err != nil {
			return file
		}
		blocks = append(blocks, [2][]byte{head[:len(head)-varintLength(head)], content})
	}
	hurt := r.IntN(len(blocks))
	blocks[hurt][1] = osmtest.Damage(r, blocks[hurt][1])
	var out []byte
	for _, b := range blocks {
		blob := append(binary.AppendUvarint([]byte{1<<3 | 2}, uint64(len(b[1]))), b[1]...) // not compressed
		head := binary.AppendUvarint(bytes.Clone(b[0]), uint64(len(blob)))
		out = append(append(binary.BigEndian.AppendUint32(out, uint32(len(head))), head...), blob...)
	}
	return out
}

// nonsense returns an extract that is valid but makes no sense: ways through nodes that do
// not exist or are far away, areas that cross themselves, relations of anything.
func nonsense(r *rand.Rand) []byte {
	var out bytes.Buffer
	w := osm.NewWriter(&out, 10, 50, 10.1, 50.1)
	tags := [][]string{
		{"natural", "coastline"},
		{"highway", "primary", "name", "N"},
		{"building", "yes", "addr:housenumber", "1"},
		{"landuse", "forest"},
		{"natural", "water"},
		{"waterway", "river"},
		{"type", "multipolygon", "natural", "water"},
		{"type", "multipolygon", "landuse", "forest"},
		{"place", "city", "name", "C"},
		nil,
	}
	wild := r.IntN(4) == 0
	for id := range int64(60) {
		lon, lat := 10+r.Float64()/10, 50+r.Float64()/10
		if wild && r.IntN(20) == 0 {
			lon, lat = r.Float64()*360-180, r.Float64()*180-90
		}
		w.Node(id+1, lon, lat, tags[r.IntN(len(tags))]...)
	}
	for id := range int64(30) {
		var refs []int64
		for range r.IntN(12) {
			refs = append(refs, r.Int64N(62))
		}
		if len(refs) > 0 && r.IntN(2) == 0 {
			refs = append(refs, refs[0])
		}
		w.Way(id+1, refs, tags[r.IntN(len(tags))]...)
	}
	for id := range int64(10) {
		var members []osm.Member
		for range r.IntN(8) {
			members = append(members, osm.Member{Kind: osm.Kind(r.IntN(3)), ID: r.Int64N(32), Role: []string{"outer", "inner", ""}[r.IntN(3)]})
		}
		w.Relation(id+1, members, tags[r.IntN(len(tags))]...)
	}
	w.Close()
	return out.Bytes()
}

// varintLength returns how many bytes the number at the end of a header has.
func varintLength(head []byte) int {
	n := 1
	for head[len(head)-1-n] >= 0x80 {
		n++
	}
	return n
}

// buildMutants builds tiles of damaged extracts. What is built can be read.
func buildMutants(t *testing.T, count int) {
	t.Helper()
	file := small(t)
	rejected := 0
	for seed := range count {
		content, err := buildFile(t, mutant(rand.New(rand.NewPCG(uint64(seed), 3)), file))
		if err != nil {
			rejected++
			continue
		}
		m, err := tile.Open(content)
		if err != nil {
			t.Fatalf("mutant %d: %v", seed, err)
		}
		if err := m.Verify(t.Context()); err != nil {
			t.Fatalf("mutant %d: %v", seed, err)
		}
		for zoom := 8; zoom <= tile.MaxZoom; zoom++ {
			read(t, m, zoom, 10.05, 50.05)
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.Sys > 512<<20 {
		t.Errorf("used %d MB", memory.Sys>>20)
	}
	t.Logf("%d of %d files were rejected, %d MB were used", rejected, count, memory.Sys>>20)
	if rejected < count/8 || rejected == count {
		t.Errorf("%d of %d files were rejected", rejected, count)
	}
}

func TestBuildMutants(t *testing.T) { buildMutants(t, 200) }

// readDamaged reads damaged files of tiles.
func readDamaged(t *testing.T, count int) {
	t.Helper()
	content, err := buildFile(t, small(t))
	if err != nil {
		t.Fatal(err)
	}
	sound, err := tile.Open(content)
	if err != nil {
		t.Fatal(err)
	}
	random, noticed := rand.New(rand.NewPCG(5, 7)), 0
	for range count {
		damaged := osmtest.Damage(random, content)
		if random.IntN(2) == 0 { // the header and the directory
			damaged = append(osmtest.Damage(random, content[:min(2000, len(content))]), content[min(2000, len(content)):]...)
		}
		m, err := tile.Open(damaged)
		if err != nil {
			noticed++
			continue
		}
		if m.Verify(t.Context()) == nil { // only the text of the metadata may be different
			for zoom := range tile.MaxZoom + 1 {
				x, y := at(zoom, 10.05, 50.05)
				got, err := m.Tile(t.Context(), zoom, x, y)
				want, errSound := sound.Tile(t.Context(), zoom, x, y)
				if err != nil || errSound != nil || !bytes.Equal(got, want) {
					t.Errorf("Verify does not notice the damage: %v, %v", err, errSound)
				}
			}
		}
		visit(t, m)
	}
	t.Logf("%d files, %d rejected when opened", count, noticed)
}

// visit reads some tiles, which may fail.
func visit(t *testing.T, m *tile.Map) {
	t.Helper()
	m.Info()
	for zoom := 0; zoom <= 24; zoom++ {
		x, y := at(zoom, 10.05, 50.05)
		content, err := m.Tile(t.Context(), zoom, x, y)
		if err != nil && !errors.Is(err, tile.ErrDamaged) {
			t.Errorf("the error is %v", err)
		}
		if content != nil {
			if merged, err := tile.Merge([][]byte{content, content}); err != nil && !errors.Is(err, tile.ErrDamaged) {
				t.Errorf("the error is %v", err)
			} else if err == nil && merged == nil {
				t.Error("merged into nothing")
			}
		}
	}
}

func TestDamagedFiles(t *testing.T) { readDamaged(t, 300) }

func FuzzOpen(f *testing.F) {
	content, err := buildFile(f, small(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add(content[:127])
	f.Fuzz(func(t *testing.T, content []byte) {
		m, err := tile.Open(content)
		if err != nil {
			return
		}
		_ = m.Verify(t.Context())
		visit(t, m)
	})
}

// TestMerge merges tiles of neighbors.
func TestMerge(t *testing.T) {
	one, two := &drawing{}, &drawing{}
	for i, d := range []*drawing{one, two} {
		d.way([][2]float64{{10.05, 50.05}, {10.051, 50.05}}, "highway", "primary", "name", "Shared")
		d.way([][2]float64{{10.05, 50.0495}, {10.051, 50.0495 + 0.0001*float64(i)}}, "highway", "primary", "name", []string{"West", "East"}[i], "oneway", "yes")
	}
	two.node(10.05, 50.05, "place", "town", "name", "Town")
	var tiles [][]byte
	for _, d := range []*drawing{one, two} {
		x, y := at(14, 10.05, 50.05)
		content, err := open(t, d).Tile(t.Context(), 14, x, y)
		if err != nil {
			t.Fatal(err)
		}
		tiles = append(tiles, content)
	}
	merged, err := tile.Merge(tiles)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]layer{}
	for _, l := range decode(t, inflate(t, merged)) {
		if _, again := found[l.name]; again {
			t.Errorf("there are two layers named %s", l.name)
		}
		found[l.name] = l
	}
	if got := kinds(found["road"], "name"); len(got) != 3 || got[0] != "East" || got[1] != "Shared" || got[2] != "West" {
		t.Errorf("the roads are %v", got)
	}
	if got := kinds(found["place"], "name"); len(got) != 1 || got[0] != "Town" {
		t.Errorf("the places are %v", got)
	}
	if _, err := tile.Merge([][]byte{tiles[0], []byte("no tile")}); !errors.Is(err, tile.ErrDamaged) {
		t.Errorf("merged with nonsense: %v", err)
	}
}

// TestMergeOverlap merges tiles of extracts that have the same streets, which were drawn
// more precisely from one to the other.
func TestMergeOverlap(t *testing.T) {
	street := func(d *drawing, i int, shift float64) {
		lat := 50.0420 + 0.0008*float64(i) + shift
		name := fmt.Sprintf("Street %d", i)
		d.way([][2]float64{{10.045, lat}, {10.0475, lat + shift/2}, {10.05, lat}}, "highway", "residential", "name", name)
		d.way([][2]float64{{10.045, lat}, {10.045, lat + 0.0003}}, "highway", "service")
		d.way(square(10.046, lat+0.0003, 0.0001), "building", "yes")
		d.node(10.0461, lat+0.00035, "addr:housenumber", fmt.Sprint(i), "addr:street", name)
	}
	const drawn = 0.00003 // degrees, about 3 m
	older, newer, neighbor := &drawing{}, &drawing{}, &drawing{}
	for i := range 6 {
		street(older, i, 0)
		street(newer, i, drawn)
	}
	newer.way([][2]float64{{10.0475, 50.0420}, {10.0475, 50.0465}}, "highway", "tertiary", "name", "New Street")
	for i := 4; i < 8; i++ { // overlaps a little
		street(neighbor, i, -drawn)
	}
	x, y := at(14, 10.047, 50.045)
	var tiles [][]byte
	for _, d := range []*drawing{older, newer, neighbor} {
		content, err := open(t, d).Tile(t.Context(), 14, x, y)
		if err != nil {
			t.Fatal(err)
		}
		tiles = append(tiles, content)
	}
	merged, err := tile.Merge(tiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range decode(t, inflate(t, merged)) {
		parts := 0
		for _, f := range l.features {
			parts += len(f.parts)
		}
		if want := map[string]int{"road": 2*8 + 1, "building": 8, "housenumber": 8}[l.name]; parts != want {
			t.Errorf("%d of %s: %v, want %d", parts, l.name, l.features, want)
		}
	}
}

func BenchmarkBuildTown(b *testing.B) {
	file := townFile(b)
	for b.Loop() {
		if _, err := buildFile(b, file); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTile(b *testing.B) {
	content, err := buildFile(b, townFile(b))
	if err != nil {
		b.Fatal(err)
	}
	m, err := tile.Open(content)
	if err != nil {
		b.Fatal(err)
	}
	c := m.Info().Center
	x, y := at(14, c[0], c[1])
	for b.Loop() {
		if content, err := m.Tile(b.Context(), 14, x, y); err != nil || content == nil {
			b.Fatal(err)
		}
	}
}
