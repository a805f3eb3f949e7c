package town_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"dray/internal/osm"
	"dray/internal/osm/town"
)

// survey is what a town contains.
type survey struct {
	nodes     map[int64][2]float64
	ways      map[int64]osm.Way
	relations []osm.Relation
	houses    map[string][2]float64 // by number and street
	counts    map[string]int
}

// towns are the towns that tests have generated, by seed.
var towns = map[uint64][]byte{}

func generate(t *testing.T, seed uint64) []byte {
	t.Helper()
	if towns[seed] == nil {
		towns[seed] = generateAgain(t, seed)
	}
	return towns[seed]
}

func generateAgain(t *testing.T, seed uint64) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := town.Write(&file, seed); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func inspect(t *testing.T, file []byte) *survey {
	t.Helper()
	s := &survey{nodes: map[int64][2]float64{}, ways: map[int64]osm.Way{}, houses: map[string][2]float64{}, counts: map[string]int{}}
	house := func(tags osm.Tags, at [2]float64) {
		if tags.Get("addr:housenumber") == "" {
			return
		}
		name := tags.Get("addr:housenumber") + " " + tags.Get("addr:street")
		if _, again := s.houses[name]; again || tags.Get("addr:postcode") == "" || tags.Get("addr:city") != town.Name {
			t.Errorf("the address %v is incomplete or not unique", tags)
		}
		s.houses[name] = at
	}
	err := osm.Read(t.Context(), bytes.NewReader(file), osm.Handler{
		Node: func(n *osm.Node) error {
			lon, lat := n.Degrees()
			s.nodes[n.ID] = [2]float64{lon, lat}
			s.counts[n.Tags.Get("highway")]++
			house(n.Tags, s.nodes[n.ID])
			return nil
		},
		Way: func(w *osm.Way) error {
			for _, ref := range w.Refs {
				if _, known := s.nodes[ref]; !known {
					return fmt.Errorf("way %d has the node %d, which does not exist", w.ID, ref)
				}
			}
			house(w.Tags, s.nodes[w.Refs[0]])
			for _, tag := range w.Tags {
				s.counts[tag.Key]++
				s.counts[tag.Key+"="+tag.Value]++
			}
			s.ways[w.ID] = osm.Way{ID: w.ID, Refs: slices.Clone(w.Refs), Tags: slices.Clone(w.Tags)}
			return nil
		},
		Relation: func(r *osm.Relation) error {
			s.relations = append(s.relations, osm.Relation{ID: r.ID, Members: slices.Clone(r.Members), Tags: slices.Clone(r.Tags)})
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func meters(a, b [2]float64) float64 {
	return math.Hypot((a[0]-b[0])*84_000, (a[1]-b[1])*111_050)
}

func TestTownIsTheSameForASeed(t *testing.T) {
	if !bytes.Equal(generate(t, 1), generateAgain(t, 1)) {
		t.Error("two towns of one seed differ")
	}
	if bytes.Equal(generate(t, 1), generate(t, 2)) {
		t.Error("the towns of two seeds are the same")
	}
}

func TestTownHasWhatTownsHave(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := inspect(t, generate(t, seed))
			for what, least := range map[string]int{
				"highway=primary": 3, "highway=secondary": 1, "highway=tertiary": 8, "highway=residential": 60, "highway=footway": 4,
				"oneway": 5, "bridge": 2, "natural=water": 2, "leisure=park": 2, "building": 2500, "addr:interpolation": 4, "amenity": 20,
				"landuse=industrial": 1, "landuse=forest": 1, "traffic_signals": 2,
			} {
				if s.counts[what] < least {
					t.Errorf("%s: %d, want at least %d", what, s.counts[what], least)
				}
			}
			if len(s.houses) < 2500 {
				t.Errorf("%d addresses", len(s.houses))
			}
			bans := 0
			for _, r := range s.relations {
				if r.Tags.Get("restriction") == "" {
					continue
				}
				bans++
				via := r.Members[1].ID
				for _, k := range []int{0, 2} {
					refs := s.ways[r.Members[k].ID].Refs
					if refs[0] != via && refs[len(refs)-1] != via {
						t.Errorf("restriction %d: the way %s does not end at the junction", r.ID, r.Members[k].Role)
					}
				}
			}
			if bans < 5 {
				t.Errorf("%d banned turns", bans)
			}
		})
	}
}

func TestTownIsConnected(t *testing.T) {
	for seed := range uint64(3) {
		s := inspect(t, generate(t, seed))
		forth, back := map[int64][]int64{}, map[int64][]int64{}
		var any int64
		for _, w := range s.ways {
			if class := w.Tags.Get("highway"); class == "" || class == "footway" || class == "pedestrian" {
				continue
			}
			for i := 1; i < len(w.Refs); i++ {
				a, b := w.Refs[i-1], w.Refs[i]
				forth[a], back[b] = append(forth[a], b), append(back[b], a)
				if w.Tags.Get("oneway") == "" {
					forth[b], back[a] = append(forth[b], a), append(back[a], b)
				}
				any = a
			}
		}
		all := map[int64]bool{}
		for _, w := range []map[int64][]int64{forth, back} {
			for n := range w {
				all[n] = true
			}
		}
		for name, edges := range map[string]map[int64][]int64{"to": forth, "from": back} {
			seen := map[int64]bool{any: true}
			for queue := []int64{any}; len(queue) > 0; queue = queue[1:] {
				for _, next := range edges[queue[0]] {
					if !seen[next] {
						seen[next] = true
						queue = append(queue, next)
					}
				}
			}
			if len(seen) != len(all) {
				t.Errorf("seed %d: there is no way %s %d of %d locations", seed, name, len(all)-len(seen), len(all))
			}
		}
	}
}

func TestTownHousesAreOnTheirStreets(t *testing.T) {
	s := inspect(t, generate(t, 1))
	streets := map[string][][2]float64{}
	for _, w := range s.ways {
		if name := w.Tags.Get("name"); w.Tags.Get("highway") != "" {
			for i := 1; i < len(w.Refs); i++ {
				a, b := s.nodes[w.Refs[i-1]], s.nodes[w.Refs[i]]
				for k := range 11 {
					f := float64(k) / 10
					streets[name] = append(streets[name], [2]float64{a[0] + (b[0]-a[0])*f, a[1] + (b[1]-a[1])*f})
				}
			}
		}
	}
	for name, at := range s.houses {
		var street string
		for i := range name {
			if name[i] == ' ' {
				street = name[i+1:]
				break
			}
		}
		near := math.Inf(1)
		for _, p := range streets[street] {
			near = min(near, meters(at, p))
		}
		if near > 65 {
			t.Fatalf("%s is %.0f m from its street", name, near)
		}
	}
}
