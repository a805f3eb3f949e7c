package road

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// readExtract returns the network of an extract that is not part of the repository.
func readExtract(t testing.TB, name string) *network {
	t.Helper()
	folder := os.Getenv("DRAY_TESTDATA")
	if folder == "" {
		t.Skip("SKIPPED: set DRAY_TESTDATA to the folder of the extracts")
	}
	n, err := readNetwork(t.Context(), func() (io.ReadCloser, error) { return os.Open(filepath.Join(folder, "osm", name+".osm.pbf")) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func buildMap(t testing.TB, n *network) *Map {
	t.Helper()
	m, err := n.build(t.Context(), func(float64) {})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestExtractsEqualDijkstra compares 10,000 random pairs with plain Dijkstra.
func TestExtractsEqualDijkstra(t *testing.T) {
	for name, pairs := range map[string]int{"milan": 4000, "copenhagen": 6000} {
		n := readExtract(t, name)
		m := buildMap(t, n)
		for p := range Profile(profiles) {
			t.Run(name+" "+p.String(), func(t *testing.T) {
				t.Parallel()
				checkPairs(t, m, n, p, pairs/profiles)
			})
		}
	}
}

// checkPairs compares random pairs with Dijkstra.
func checkPairs(t *testing.T, m *Map, n *network, p Profile, pairs int) {
	t.Helper()
	const side = 25
	oracle := newDijkstra(m, n, p)
	r := rand.New(rand.NewPCG(uint64(p), 7))
	wrong := 0
	for pairs > 0 {
		var from, to []Point
		for range side {
			from, to = append(from, somewhere(r, m, p)), append(to, somewhere(r, m, p))
		}
		got, err := m.matrix(t.Context(), p, from, to)
		if err != nil {
			t.Fatal(err)
		}
		for i := range from {
			a, _ := m.snap(p, from[i])
			m.measure(&a)
			oracle.from(a)
			for j := range to {
				b, _ := m.snap(p, to[j])
				m.measure(&b)
				if want := oracle.to(a, b); got[i*side+j] != want {
					wrong++
					t.Logf("%v to %v: %d ms, %d dm, want %d ms, %d dm", from[i], to[j], got[i*side+j].ms(), got[i*side+j].dm(), want.ms(), want.dm())
				}
				pairs--
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d pairs differ from Dijkstra", wrong)
	}
}

func BenchmarkMatrixMilan(b *testing.B) {
	m := buildMap(b, readExtract(b, "milan"))
	for _, p := range []Profile{Car, Foot} {
		r := rand.New(rand.NewPCG(1, 2))
		var from, to []Point
		for range 1000 {
			from, to = append(from, somewhere(r, m, p)), append(to, somewhere(r, m, p))
		}
		for _, side := range []int{100, 1000} {
			b.Run(p.String()+"/"+map[int]string{100: "100x100", 1000: "1000x1000"}[side], func(b *testing.B) {
				for b.Loop() {
					if _, err := m.Matrix(b.Context(), p, from[:side], to[:side]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
