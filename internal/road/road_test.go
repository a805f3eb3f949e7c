package road

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/osm"
)

// TestRandomTownsEqualDijkstra compares matrices and routes with Dijkstra on the
// same graph and with a search that knows nothing but the rules.
func TestRandomTownsEqualDijkstra(t *testing.T) {
	rules, long := 0, 0
	for seed := range uint64(12) {
		n := randomTown(seed, 9).network(t)
		for _, r := range n.rules {
			rules++
			if len(r.path) > 2 {
				long++
			}
		}
		m := buildMap(t, n)
		for p := range Profile(profiles) {
			checkPairs(t, m, n, p, 200)
			checkRules(t, m, n, p, seed)
		}
	}
	if rules < 100 || long < 20 {
		t.Errorf("the towns have %d rules, %d over ways: too few", rules, long)
	}
}

// checkRules compares routes with those by the rules alone.
func checkRules(t *testing.T, m *Map, n *network, p Profile, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, uint64(p)))
	oracle := newBrute(m, n, p)
	for range 25 {
		from, to := somewhere(r, m, p), somewhere(r, m, p)
		a, _ := m.snap(p, from)
		b, _ := m.snap(p, to)
		m.measure(&a)
		m.measure(&b)
		got, path, err := m.path(p, a, b)
		if want := oracle.route(a, b); err != nil || got != want {
			t.Errorf("%s in town %d from %v to %v: %d ms, want %d ms (%v)", p, seed, from, to, got.ms(), want.ms(), err)
		}
		checkPath(t, m, n, p, oracle, path)
	}
}

// checkPath checks that the segments of a path are connected and allowed.
func checkPath(t *testing.T, m *Map, n *network, p Profile, rules *brute, path []uint32) {
	t.Helper()
	for i, d := range path {
		if m.profiles[p].times[d] == none {
			t.Fatalf("%s must not use segment %d", p, d)
		}
		if i == 0 {
			continue
		}
		x := expansion{n: n}
		if before := path[i-1]; x.headOf(before) != x.headOf(d^1) {
			t.Fatalf("segments %d and %d do not meet", before, d)
		} else if n.blocked[x.headOf(before)]&(1<<p) != 0 && d != before^1 {
			t.Fatalf("%s cannot pass between segments %d and %d", p, before, d)
		}
		if rules.forbidden(path[:i], d) {
			t.Fatalf("%s must not go on from %v to %d", p, path[:i], d)
		}
	}
}

// cross is a junction x with four streets, and a way around it to the north:
//
//	a---b---c
//	|   |   |
//	w---x---e
//	    |
//	    s
func cross(change func(*sketch)) *sketch {
	s := &sketch{}
	for name, at := range map[byte][2]int32{'a': {0, 1}, 'b': {1, 1}, 'c': {2, 1}, 'w': {0, 0}, 'x': {1, 0}, 'e': {2, 0}, 's': {1, -1}} {
		s.node(name, at[0], at[1])
	}
	s.way(1, "West", "wx")
	s.way(2, "North", "xb")
	s.way(3, "East", "xe")
	s.way(4, "South", "sx")
	s.way(5, "Ring West", "wab")
	s.way(6, "Ring East", "bce")
	change(s)
	return s
}

// TestRuleOverAWayWithAGap has a restriction over a way whose middle is outside of the extract.
func TestRuleOverAWayWithAGap(t *testing.T) {
	for name, test := range map[string]struct {
		along string // the way over which the restriction leads
		want  int    // restrictions
	}{"a whole way": {"xbc", 1}, "a way with a gap": {"ex?bc", 0}} {
		s := cross(func(s *sketch) {
			s.node('d', 3, 1)
			s.way(7, "Via", test.along)
			s.way(8, "To", "cd")
			s.rule("no_left_turn", 8, 0, []int64{7})
		})
		if rules := s.network(t).rules; len(rules) != test.want {
			t.Errorf("%s: the restrictions are %v, want %d", name, rules, test.want)
		}
	}
}

func streets(r Route) string {
	var names []string
	for _, s := range r.Steps {
		if s.Meters > 1 {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, ", ")
}

func TestTurns(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*sketch)
		profile Profile
		from    byte
		to      byte
		want    string
	}{
		"without a rule":            {func(*sketch) {}, Car, 's', 'e', "South, East"},
		"no right turn":             {func(s *sketch) { s.rule("no_right_turn", 3, 'x', nil) }, Car, 's', 'e', "South, North, Ring East"},
		"only straight on":          {func(s *sketch) { s.rule("only_straight_on", 2, 'x', nil) }, Car, 's', 'e', "South, North, Ring East"},
		"pedestrians may":           {func(s *sketch) { s.rule("no_right_turn", 3, 'x', nil) }, Foot, 's', 'e', "South, East"},
		"bicycles must not":         {func(s *sketch) { s.rule("no_right_turn", 3, 'x', nil) }, Bicycle, 's', 'e', "South, North, Ring East"},
		"bicycles may by exception": {func(s *sketch) { s.rule("no_right_turn", 3, 'x', nil, "except", "psv; bicycle") }, Bicycle, 's', 'e', "South, East"},
		"trucks must not":           {func(s *sketch) { s.rule("no_right_turn", 3, 'x', nil, "except", "motorcar") }, Truck, 's', 'e', "South, North, Ring East"},
		"cars may by exception":     {func(s *sketch) { s.rule("no_right_turn", 3, 'x', nil, "except", "motorcar") }, Car, 's', 'e', "South, East"},
		"the other direction may":   {func(s *sketch) { s.rule("no_right_turn", 3, 'x', nil) }, Car, 'e', 's', "East, South"},
		"a rule over a way": {
			func(s *sketch) {
				s.rule("no_right_turn", 3, 'x', nil)
				s.rule("no_right_turn", 6, 0, []int64{2})
			}, Car, 's', 'e', "South, West, Ring West, Ring East",
		},
		"a one-way street": {
			func(s *sketch) { s.ways[2].Tags = tags("highway", "residential", "oneway", "-1", "name", "East") },
			Car, 's', 'e', "South, North, Ring East",
		},
		"bicycles against a one-way street": {
			func(s *sketch) {
				s.ways[2].Tags = tags("highway", "residential", "oneway", "-1", "oneway:bicycle", "no", "name", "East")
			},
			Bicycle, 's', 'e', "South, East",
		},
		"a bollard": {
			func(s *sketch) { s.bar("bollard") }, Car, 's', 'e', "South, North, Ring East",
		},
		"a bollard for bicycles": {
			func(s *sketch) { s.bar("bollard") }, Bicycle, 's', 'e', "South, East",
		},
		"a stile for bicycles": {
			func(s *sketch) { s.bar("stile") }, Bicycle, 's', 'e', "South, North, Ring East",
		},
		"a gate": {func(s *sketch) { s.bar("gate") }, Car, 's', 'e', "South, East"},
		"a private road": {
			func(s *sketch) { s.ways[2].Tags = tags("highway", "residential", "access", "private", "name", "East") },
			Car, 's', 'e', "South, North, Ring East",
		},
		"a low bridge for trucks": {
			func(s *sketch) { s.ways[2].Tags = tags("highway", "residential", "maxheight", "3.2", "name", "East") },
			Truck, 's', 'e', "South, North, Ring East",
		},
		"a low bridge for cars": {
			func(s *sketch) { s.ways[2].Tags = tags("highway", "residential", "maxheight", "3.2", "name", "East") },
			Car, 's', 'e', "South, East",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := cross(test.change)
			m := buildMap(t, s.network(t))
			route, err := m.Route(test.profile, s.at(test.from), s.at(test.to))
			if got := streets(route); err != nil || got != test.want {
				t.Errorf("went along %q, want %q (%v)", got, test.want, err)
			}
		})
	}
}

// bar replaces the eastern street by one with a barrier in its middle.
func (s *sketch) bar(barrier string) {
	x, e := s.at('x'), s.at('e')
	s.node('o', 0, 0)
	n := &s.nodes[len(s.nodes)-1]
	n.Lon, n.Lat, n.Tags = int32((x.Lon+e.Lon)/2*1e7), int32(x.Lat*1e7), tags("barrier", barrier)
	s.ways = slices.Delete(s.ways, 2, 3)
	s.way(3, "East", "xoe")
}

func TestRoute(t *testing.T) {
	s := cross(func(*sketch) {})
	m := buildMap(t, s.network(t))
	from := Point{s.at('s').Lon + 0.0001, (s.at('s').Lat + s.at('x').Lat) / 2}
	to := Point{(s.at('x').Lon + s.at('e').Lon) / 2, s.at('x').Lat + 0.0001}
	r, err := m.Route(Car, from, to)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Line) != 5 || r.Line[0] != from || r.Line[4] != to || r.Line[2] != s.at('x') {
		t.Errorf("the line is %v", r.Line)
	}
	if math.Abs(r.Line[1].Lon-s.at('s').Lon) > 1e-6 || math.Abs(r.Line[3].Lat-s.at('x').Lat) > 1e-6 {
		t.Errorf("the line is not on the roads: %v", r.Line)
	}
	if len(r.Steps) != 2 || r.Steps[0].First != 1 || r.Steps[1].First != 2 {
		t.Errorf("the steps are %+v", r.Steps)
	}
	// About 50 m on each street, and 6 and 11 m beside them.
	if r.Meters < 100 || r.Meters > 130 || r.Duration < 15*time.Second || r.Duration > 25*time.Second {
		t.Errorf("%v m in %v", r.Meters, r.Duration)
	}
	cells, err := m.Matrix(t.Context(), Car, []Point{from, to}, []Point{to, from})
	if err != nil || cells[0] != (Cell{r.Duration, r.Meters, true}) || cells[1] != (Cell{Covered: true}) {
		t.Errorf("the matrix is %+v, %v", cells, err)
	}
	along := Point{s.at('x').Lon, s.at('s').Lat + 0.0001}
	if direct, err := m.Route(Car, from, along); err != nil || len(direct.Line) != 3 || streets(direct) != "South" || direct.Meters > 60 {
		t.Errorf("along one segment: %+v, %v", direct, err)
	}
}

func TestNotCovered(t *testing.T) {
	s := cross(func(*sketch) {})
	m := buildMap(t, s.network(t))
	here, far := s.at('x'), Point{s.at('x').Lon, s.at('x').Lat + 0.1}
	if _, err := m.Route(Car, here, far); !errors.Is(err, ErrNotCovered) {
		t.Errorf("a route to nowhere: %v", err)
	}
	cells, err := m.Matrix(t.Context(), Car, []Point{here, far}, []Point{here, far, {math.NaN(), 0}, {0, 200}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false, false, false, false, false, false} {
		if cells[i].Covered != want {
			t.Errorf("cell %d: %+v", i, cells[i])
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Matrix(ctx, Car, []Point{here}, []Point{here}); !errors.Is(err, context.Canceled) {
		t.Errorf("a matrix that is canceled: %v", err)
	}
	if _, err := s.network(t).build(ctx, func(float64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("a build that is canceled: %v", err)
	}
}

// TestSnap compares the index with a search through all segments, also across the
// antimeridian and near a pole.
func TestSnap(t *testing.T) {
	for name, shift := range map[string][2]int32{"Denmark": {0, 0}, "the antimeridian": {1_679_960_000, 0}, "the north": {0, 335_000_000}} {
		t.Run(name, func(t *testing.T) {
			s := randomTown(1, 8)
			for i := range s.nodes {
				lon := int64(s.nodes[i].Lon) + int64(shift[0])
				if lon > 1_800_000_000 {
					lon -= 3_600_000_000
				}
				s.nodes[i].Lon, s.nodes[i].Lat = int32(lon), s.nodes[i].Lat+shift[1]
			}
			m := buildMap(t, s.network(t))
			r := rand.New(rand.NewPCG(2, 2))
			found := 0
			for range 1000 {
				at := r.IntN(len(m.points) / 2)
				from := m.point(m.points[2*at], m.points[2*at+1])
				from.Lon = math.Remainder(from.Lon+(r.Float64()-0.5)/20, 360)
				from.Lat = min(from.Lat+(r.Float64()-0.5)/30, 90)
				got, ok := m.snap(Car, from)
				want := spot{meters: MaxSnap, segment: none}
				lon, lat := int64(math.Round(from.Lon*1e7)), int64(math.Round(from.Lat*1e7))
				for s := range uint32(len(m.lengths)) {
					if times := m.profiles[Car].times; times[s<<1] != none || times[s<<1|1] != none {
						m.snapTo(s, lon, lat, math.Cos(from.Lat*math.Pi/180), &want)
					}
				}
				if ok != (want.segment != none) || ok && math.Abs(got.meters-want.meters) > 1e-9 {
					t.Fatalf("%v is %.1f m from the road, want %.1f", from, got.meters, want.meters)
				}
				if ok {
					found++
				}
			}
			if found < 100 || found == 1000 {
				t.Errorf("%d of 1000 locations are near a road", found)
			}
		})
	}
}

// TestSnapAtTheEndOfAOneWayStreet checks that a location at a junction is reached and left on
// any of its roads: not only along the one-way street that begins or ends there.
func TestSnapAtTheEndOfAOneWayStreet(t *testing.T) {
	for _, along := range []string{"wx", "xw"} {
		s := cross(func(s *sketch) {
			s.ways[0] = osm.Way{ID: 1, Tags: tags("highway", "residential", "name", "West", "oneway", "yes"), Refs: []int64{int64(along[0]), int64(along[1])}}
		})
		m := buildMap(t, s.network(t))
		for _, ends := range []string{"sx", "xe"} {
			from, to := s.at(ends[0]), s.at(ends[1])
			r, err := m.Route(Car, from, to)
			if want := distance(int32(from.Lon*1e7), int32(from.Lat*1e7), int32(to.Lon*1e7), int32(to.Lat*1e7)); err != nil || r.Meters > want+1 {
				t.Errorf("West along %s, from %c to %c: %.0f m, want %.0f (%v)", along, ends[0], ends[1], r.Meters, want, err)
			}
		}
	}
}

// file returns the file of a map.
func file(t testing.TB, m *Map) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFile(t *testing.T) {
	built := buildMap(t, randomTown(3, 8).network(t))
	content := file(t, built)
	if again := file(t, buildMap(t, randomTown(3, 8).network(t))); !bytes.Equal(content, again) {
		t.Error("building twice gives two different files")
	}
	opened, err := Open(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := opened.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	r := rand.New(rand.NewPCG(4, 4))
	var points []Point
	for range 20 {
		points = append(points, somewhere(r, built, Car))
	}
	want, _ := built.Matrix(t.Context(), Car, points, points)
	if got, err := opened.Matrix(t.Context(), Car, points, points); err != nil || !slices.Equal(got, want) {
		t.Errorf("the file has other times (%v)", err)
	}
	southwest, northeast := opened.Bounds()
	for _, p := range points {
		if p.Lon < southwest.Lon-0.01 || p.Lon > northeast.Lon+0.01 || p.Lat < southwest.Lat-0.01 || p.Lat > northeast.Lat+0.01 {
			t.Errorf("%v is not between %v and %v", p, southwest, northeast)
		}
	}
	for n := range content {
		if n%97 == 0 {
			if _, err := Open(slices.Clone(content[:n])); err == nil {
				t.Errorf("a file cut after %d bytes opens", n)
			}
		}
	}
	other := slices.Clone(content)
	other[8]++
	if _, err := Open(other); !errors.Is(err, ErrVersion) {
		t.Errorf("a file of another version: %v", err)
	}
}

// TestDamagedFile changes bytes of the sections. Queries must end, without a panic.
func TestDamagedFile(t *testing.T) {
	built := buildMap(t, randomTown(5, 8).network(t))
	content := file(t, built)
	r := rand.New(rand.NewPCG(6, 6))
	var points []Point
	for range 6 {
		points = append(points, somewhere(r, built, Car))
	}
	head := headSize + entrySize*len(built.sections())
	failed := 0
	for range 400 {
		damaged := slices.Clone(content)
		for range 1 + r.IntN(200) {
			damaged[head+r.IntN(len(damaged)-head)] = byte(r.Uint32())
		}
		m, err := Open(damaged)
		if err == nil {
			if m.Verify(t.Context()) == nil {
				t.Error("the checksums do not find the damage")
			}
			_, err = m.Matrix(t.Context(), Car, points, points)
		}
		if err == nil {
			_, err = m.Route(Car, points[0], points[1])
		}
		if err != nil {
			failed++
		}
	}
	t.Logf("%d of 400 damaged files fail", failed)
	damaged := slices.Clone(content)
	damaged[20]++
	if _, err := Open(damaged); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged header: %v", err)
	}
}
