package road

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dray/internal/osm"
)

// sketch is a small extract. Nodes are named by letters; their coordinates are in units of
// about 100 meters.
type sketch struct {
	nodes     []osm.Node
	ways      []osm.Way
	relations []osm.Relation
}

// tags returns the tags of a list such as "highway", "residential".
func tags(list ...string) (all osm.Tags) {
	for i := 0; i < len(list); i += 2 {
		all = append(all, osm.Tag{Key: list[i], Value: list[i+1]})
	}
	return all
}

func (s *sketch) node(name byte, x, y int32) {
	s.nodes = append(s.nodes, osm.Node{ID: int64(name), Lon: 120_000_000 + x*16_000, Lat: 550_000_000 + y*9_000})
}

// way adds a residential street along nodes.
func (s *sketch) way(id int64, name, along string) {
	w := osm.Way{ID: id, Tags: tags("highway", "residential", "name", name)}
	for _, n := range []byte(along) {
		w.Refs = append(w.Refs, int64(n))
	}
	s.ways = append(s.ways, w)
}

// rule adds a turn restriction from way 4, over a node or ways.
func (s *sketch) rule(kind string, to int64, node byte, via []int64, list ...string) {
	r := osm.Relation{Tags: append(tags(list...), tags("type", "restriction", "restriction", kind)...)}
	r.Members = append(r.Members, osm.Member{Kind: osm.KindWay, ID: 4, Role: "from"}, osm.Member{Kind: osm.KindWay, ID: to, Role: "to"})
	if node != 0 {
		r.Members = append(r.Members, osm.Member{Kind: osm.KindNode, ID: int64(node), Role: "via"})
	}
	for _, id := range via {
		r.Members = append(r.Members, osm.Member{Kind: osm.KindWay, ID: id, Role: "via"})
	}
	s.relations = append(s.relations, r)
}

func (s *sketch) network(t testing.TB) *network {
	t.Helper()
	x := newExtract()
	for i := range s.ways {
		if err := x.addWay(&s.ways[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range s.relations {
		if err := x.addRelation(&s.relations[i]); err != nil {
			t.Fatal(err)
		}
	}
	x.sortNodes()
	for i := range s.nodes {
		if err := x.addNode(&s.nodes[i]); err != nil {
			t.Fatal(err)
		}
	}
	n, err := x.finish()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// at returns the location of a node.
func (s *sketch) at(name byte) Point {
	for _, n := range s.nodes {
		if n.ID == int64(name) {
			lon, lat := n.Degrees()
			return Point{lon, lat}
		}
	}
	return Point{}
}

// randomTown returns a grid of streets with random classes, directions, barriers and turn
// restrictions.
func randomTown(seed uint64, side int) *sketch {
	r := rand.New(rand.NewPCG(seed, 3))
	s := &sketch{}
	id := func(x, y int) int64 { return int64(1 + y*side + x) }
	for y := range side {
		for x := range side {
			n := osm.Node{
				ID: id(x, y), Lon: 120_000_000 + int32(x)*16_000 + r.Int32N(6_000), Lat: 550_000_000 + int32(y)*9_000 + r.Int32N(4_000),
			}
			switch r.IntN(40) {
			case 0:
				n.Tags = tags("barrier", "bollard")
			case 1:
				n.Tags = tags("highway", "traffic_signals")
			}
			s.nodes = append(s.nodes, n)
		}
	}
	street := func(a, b int64) {
		if r.IntN(12) == 0 {
			return
		}
		list := []string{"highway", []string{"residential", "tertiary", "primary", "footway", "cycleway", "service"}[r.IntN(6)], "name", fmt.Sprint("Street ", len(s.ways)%17)}
		switch r.IntN(6) {
		case 0:
			list = append(list, "oneway", "yes")
		case 1:
			list = append(list, "oneway", "-1", "oneway:bicycle", "no")
		}
		s.ways = append(s.ways, osm.Way{ID: int64(1000 + len(s.ways)), Refs: []int64{a, b}, Tags: tags(list...)})
	}
	for y := range side {
		for x := range side {
			if x+1 < side {
				street(id(x, y), id(x+1, y))
			}
			if y+1 < side {
				street(id(x, y), id(x, y+1))
			}
		}
	}
	kinds := []string{"no_left_turn", "no_straight_on", "only_right_turn", "only_straight_on", "no_u_turn"}
	meet := func(a, b osm.Way) int64 {
		for _, n := range a.Refs {
			if slices.Contains(b.Refs, n) {
				return n
			}
		}
		return 0
	}
	for range side * side {
		b := s.ways[r.IntN(len(s.ways))]
		near := func(end int64) osm.Way {
			for {
				if w := s.ways[r.IntN(len(s.ways))]; w.Refs[0] == end || w.Refs[1] == end {
					return w
				}
			}
		}
		a, c := near(b.Refs[0]), near(b.Refs[1])
		ab, bc := meet(a, b), meet(b, c)
		kind := kinds[r.IntN(len(kinds))]
		rel := osm.Relation{Tags: tags("type", "restriction", "restriction", kind)}
		member := func(kind osm.Kind, id int64, role string) {
			rel.Members = append(rel.Members, osm.Member{Kind: kind, ID: id, Role: role})
		}
		switch {
		case r.IntN(2) == 0 && bc != ab && a.ID != b.ID && b.ID != c.ID:
			member(osm.KindWay, a.ID, "from")
			member(osm.KindWay, b.ID, "via")
			member(osm.KindWay, c.ID, "to")
		case a.ID != b.ID || kind == "no_u_turn":
			member(osm.KindWay, a.ID, "from")
			member(osm.KindNode, ab, "via")
			member(osm.KindWay, b.ID, "to")
		default:
			continue
		}
		s.relations = append(s.relations, rel)
	}
	return s
}
