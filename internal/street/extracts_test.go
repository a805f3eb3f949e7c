package street_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/osm"
	"dray/internal/street"
)

// extractFile returns an extract of OpenStreetMap that is not part of the
// repository.
func extractFile(t testing.TB, name string) []byte {
	t.Helper()
	folder := os.Getenv("DRAY_TESTDATA")
	if folder == "" {
		t.Skip("SKIPPED: DRAY_TESTDATA is not set, so no real extract is tested")
	}
	content, err := os.ReadFile(filepath.Join(folder, "osm", name+".osm.pbf"))
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	return content
}

// build returns the index of a file.
func build(t testing.TB, content []byte) *street.Index {
	t.Helper()
	var out bytes.Buffer
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	if err := street.Build(t.Context(), open, &out, func(float64) {}); err != nil {
		t.Fatal(err)
	}
	x, err := street.Open(out.Bytes())
	if err == nil {
		err = x.Verify(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// truth is an address of an extract.
type truth struct {
	number, street, city, code string
	at                         street.Point
}

// truths returns the complete addresses of an extract.
func truths(t testing.TB, content []byte) (all []truth) {
	t.Helper()
	nodes := map[int64]street.Point{}
	add := func(tags osm.Tags, at street.Point) {
		one := truth{
			strings.Clone(tags.Get("addr:housenumber")), strings.Clone(cmp.Or(tags.Get("addr:street"), tags.Get("addr:place"))),
			strings.Clone(tags.Get("addr:city")), strings.Clone(tags.Get("addr:postcode")), at,
		}
		if one.number != "" && one.street != "" && one.city != "" && one.code != "" {
			all = append(all, one)
		}
	}
	err := osm.Read(t.Context(), bytes.NewReader(content), osm.Handler{
		Node: func(n *osm.Node) error {
			lon, lat := n.Degrees()
			nodes[n.ID] = street.Point{Lon: lon, Lat: lat}
			add(n.Tags, nodes[n.ID])
			return nil
		},
		Way: func(w *osm.Way) error {
			if w.Tags.Get("addr:housenumber") == "" || len(w.Refs) == 0 {
				return nil
			}
			low, high := nodes[w.Refs[0]], nodes[w.Refs[0]]
			for _, ref := range w.Refs {
				p, known := nodes[ref]
				if !known {
					return nil // the extract ends here
				}
				low.Lon, low.Lat, high.Lon, high.Lat = min(low.Lon, p.Lon), min(low.Lat, p.Lat), max(high.Lon, p.Lon), max(high.Lat, p.Lat)
			}
			add(w.Tags, street.Point{Lon: (low.Lon + high.Lon) / 2, Lat: (low.Lat + high.Lat) / 2})
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// swapped returns a text with two adjacent letters of one word swapped.
func swapped(random *rand.Rand, text string) string {
	runes := []rune(text)
	var at []int
	for i := 1; i < len(runes); i++ {
		if letter(runes[i-1]) && letter(runes[i]) && runes[i-1] != runes[i] {
			at = append(at, i)
		}
	}
	if len(at) > 0 {
		i := at[random.IntN(len(at))]
		runes[i-1], runes[i] = runes[i], runes[i-1]
	}
	return string(runes)
}

func letter(r rune) bool {
	return !strings.ContainsRune(" .,-/'()&0123456789", r)
}

// meters returns the distance of two locations in one city.
func meters(a, b street.Point) float64 {
	return math.Hypot((a.Lon-b.Lon)*math.Cos(a.Lat*math.Pi/180), a.Lat-b.Lat) * 111_195
}

func TestExtracts(t *testing.T) {
	type form struct {
		name  string
		least map[string]float64 // percent within 50 m, by extract
		query func(*rand.Rand, truth) street.Query
	}
	line := func(h truth) string {
		return strings.Trim(h.street+" "+h.number+", "+strings.TrimSpace(h.code+" "+h.city), ", ")
	}
	forms := []form{
		{"line", map[string]float64{"copenhagen": 99, "liechtenstein": 99, "malta": 99, "milan": 99, "porto": 99, "columbus-plain-nodes": 99}, func(_ *rand.Rand, h truth) street.Query { return street.Query{Line: line(h)} }},
		{"american line", map[string]float64{"copenhagen": 99}, func(_ *rand.Rand, h truth) street.Query {
			return street.Query{Line: h.number + " " + h.street + ", " + h.city + " " + h.code}
		}},
		{"line without code", map[string]float64{"copenhagen": 98}, func(_ *rand.Rand, h truth) street.Query {
			return street.Query{Line: h.street + " " + h.number + ", " + h.city}
		}},
		{"upper case without commas", map[string]float64{"copenhagen": 99}, func(_ *rand.Rand, h truth) street.Query {
			return street.Query{Line: strings.ToUpper(strings.ReplaceAll(line(h), ",", ""))}
		}},
		{"parts", map[string]float64{"copenhagen": 99, "liechtenstein": 99, "malta": 99, "columbus-plain-nodes": 99}, func(_ *rand.Rand, h truth) street.Query {
			return street.Query{Number: h.number, Street: h.street, City: h.city, PostalCode: h.code}
		}},
		{"letters swapped", map[string]float64{"copenhagen": 97, "liechtenstein": 97, "malta": 97, "milan": 97}, func(r *rand.Rand, h truth) street.Query {
			return street.Query{Line: swapped(r, line(h))}
		}},
		{"letters swapped in the street", map[string]float64{"copenhagen": 97}, func(r *rand.Rand, h truth) street.Query {
			h.street = swapped(r, h.street)
			return street.Query{Line: line(h)}
		}},
		{"letters swapped in parts", map[string]float64{"copenhagen": 97}, func(r *rand.Rand, h truth) street.Query {
			return street.Query{Number: h.number, Street: swapped(r, h.street), City: h.city, PostalCode: h.code}
		}},
	}
	for _, name := range []string{"copenhagen", "liechtenstein", "malta", "milan", "porto", "columbus-plain-nodes"} {
		t.Run(name, func(t *testing.T) {
			content := extractFile(t, name)
			begun := time.Now()
			x := build(t, content)
			t.Logf("%d streets, index %d KB for %d KB, built in %v", x.Streets(), x.Size()>>10, len(content)>>10, time.Since(begun))
			all := truths(t, content)
			random := rand.New(rand.NewPCG(1, 2))
			random.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
			all = all[:min(len(all), 2000)]
			for _, f := range forms {
				if f.least[name] == 0 {
					continue
				}
				right := 0
				var took []time.Duration
				var wrong []string
				for _, h := range all {
					q := f.query(random, h)
					start := time.Now()
					hits, err := x.Search(q)
					took = append(took, time.Since(start))
					if err != nil {
						t.Fatal(err)
					}
					if len(hits) > 0 && meters(hits[0].Location, h.at) <= 50 {
						right++
					} else {
						got := "nothing"
						if len(hits) > 0 {
							got = fmt.Sprintf("%.0f m away %+v", meters(hits[0].Location, h.at), hits[0])
						}
						wrong = append(wrong, fmt.Sprintf("%+v (%v): %s", q, h, got))
					}
				}
				slices.Sort(took)
				percent := 100 * float64(right) / float64(len(all))
				t.Logf("%-30s %6.2f %% of %d within 50 m, median %v, worst %v", f.name, percent, len(all), took[len(took)/2], took[len(took)-1])
				for _, w := range wrong[:min(len(wrong), wrongShown)] {
					t.Log("  ", w)
				}
				if percent < f.least[name] {
					t.Errorf("%s: %.2f %% are found, want %v", f.name, percent, f.least[name])
				}
			}
		})
	}
}

// wrongShown is the maximum number of addresses that are logged because they were not found.
const wrongShown = 2
