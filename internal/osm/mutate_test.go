package osm_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"dray/internal/osm"
	"dray/internal/osm/osmtest"
)

// mutant returns a file that is usually damaged: the content of a block is damaged before it
// is compressed, so that the checksum matches, or the file itself is damaged, or both.
func mutant(r *rand.Rand) []byte {
	var nodes, lons, lats []int64
	for range 50 {
		nodes, lats, lons = append(nodes, r.Int64N(20)), append(lats, r.Int64N(2e6)), append(lons, r.Int64N(2e6))
	}
	blocks := [][]byte{
		join(text(4, "OsmSchema-V0.6"), text(4, "DenseNodes"), content(1, number(1, zigzag(12e9)))),
		join(table, content(2, content(2, zigzags(1, nodes...), zigzags(8, lats...), zigzags(9, lons...), list(10, 0, 1, 2, 0)))),
		join(table, wayGroup, content(2, content(3, number(1, 8), zigzags(8, nodes...))), relGroup, plainGroup),
	}
	if r.IntN(4) > 0 {
		i := r.IntN(len(blocks))
		blocks[i] = osmtest.Damage(r, blocks[i])
	}
	var file []byte
	for i, block := range blocks {
		kind := "OSMData"
		if i == 0 {
			kind = "OSMHeader"
		}
		if r.IntN(2) == 0 {
			file = append(file, zipped(kind, block)...)
		} else {
			file = append(file, plain(kind, block)...)
		}
	}
	if r.IntN(4) == 0 {
		file = osmtest.Damage(r, file)
	}
	return file
}

// readMutants reads damaged files and checks that memory stays small.
func readMutants(t *testing.T, n int) {
	t.Helper()
	failed := 0
	for seed := range n {
		if _, err := collect(t.Context(), mutant(rand.New(rand.NewPCG(uint64(seed), 1)))); err != nil {
			failed++
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.Sys > 512<<20 {
		t.Errorf("used %d MB", memory.Sys>>20)
	}
	t.Logf("%d of %d files were rejected, %d MB were used", failed, n, memory.Sys>>20)
	if failed < n/4 || failed == n {
		t.Errorf("%d of %d files were rejected", failed, n)
	}
}

func TestReadMutants(t *testing.T) { readMutants(t, 500) }

func FuzzRead(f *testing.F) {
	f.Add(sample())
	f.Add(header)
	for seed := range 20 {
		f.Add(mutant(rand.New(rand.NewPCG(uint64(seed), 2))))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		_ = osm.Read(t.Context(), bytes.NewReader(file), osm.Handler{
			Node: func(n *osm.Node) error {
				if n.Lat < -90e7 || n.Lat > 90e7 || n.Lon < -180e7 || n.Lon > 180e7 {
					t.Errorf("node %+v", n)
				}
				return nil
			},
			Way:      func(*osm.Way) error { return nil },
			Relation: func(*osm.Relation) error { return nil },
		})
	})
}
