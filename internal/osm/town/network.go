package town

import (
	"cmp"
	"math"
	"slices"
)

// junction is where streets meet or end.
type junction struct {
	at      vec
	edges   []*edge
	signals bool
}

// edge is a street between two junctions.
type edge struct {
	street *street
	from   int // index of the junction
	to     int
	points []vec // including the junctions
	bridge bool
	oneWay bool
}

func (e *edge) length() (sum float64) {
	for i := 1; i < len(e.points); i++ {
		sum += e.points[i-1].to(e.points[i])
	}
	return sum
}

// network is a network of connected streets.
type network struct {
	*land
	streets   []*street
	junctions []junction
	edges     []*edge // those of a street are consecutive
}

// connect finds where streets cross and returns the largest connected network.
func connect(l *land, streets []*street) *network {
	n := &network{land: l, streets: streets}
	for i, stops := range n.crossings() {
		n.cutStreet(streets[i], stops)
	}
	n.keepLargest()
	n.chooseOneWays()
	return n
}

// stop is a junction on a street, at a number of points from its start.
type stop struct {
	along float64
	node  int
}

// crossings returns the junctions of each street, in order.
func (n *network) crossings() [][]stop {
	type segment struct{ street, at int }
	index := map[cell][]segment{}
	all := make([][]stop, len(n.streets))
	found := map[cell][]int{} // junctions, to merge those that are close
	for i, s := range n.streets {
		for k := 1; k < len(s.points); k++ {
			a, b := s.points[k-1], s.points[k]
			cells := []cell{cellOf(a)}
			if c := cellOf(b); c != cells[0] {
				cells = append(cells, c)
			}
			seen := map[segment]bool{}
			for _, c := range cells {
				for _, other := range index[c] {
					o := n.streets[other.street].points
					u, v, ok := intersect(a, b, o[other.at-1], o[other.at])
					if !ok || seen[other] || other.street == i {
						continue
					}
					seen[other] = true
					node := n.junctionAt(found, a.mix(b, u))
					all[i] = append(all[i], stop{float64(k-1) + u, node})
					all[other.street] = append(all[other.street], stop{float64(other.at-1) + v, node})
				}
			}
			for _, c := range cells {
				index[c] = append(index[c], segment{i, k})
			}
		}
	}
	for i := range all {
		slices.SortFunc(all[i], func(a, b stop) int { return cmp.Compare(a.along, b.along) })
		all[i] = slices.CompactFunc(all[i], func(a, b stop) bool { return a.node == b.node })
	}
	return all
}

// intersect returns where two segments cross, as parts of their lengths.
func intersect(a, b, c, d vec) (u, v float64, ok bool) {
	r, s := b.minus(a), d.minus(c)
	det := r.cross(s)
	if det == 0 {
		return 0, 0, false
	}
	u, v = c.minus(a).cross(s)/det, c.minus(a).cross(r)/det
	return u, v, u >= 0 && u < 1 && v >= 0 && v < 1
}

// mergeWithin is the distance below which crossings are one junction, in meters.
const mergeWithin = 17.0

func (n *network) junctionAt(found map[cell][]int, p vec) int {
	c := cellOf(p)
	for x := c.x - 1; x <= c.x+1; x++ {
		for y := c.y - 1; y <= c.y+1; y++ {
			for _, at := range found[cell{x, y}] {
				if n.junctions[at].at.to(p) < mergeWithin {
					return at
				}
			}
		}
	}
	n.junctions = append(n.junctions, junction{at: p})
	found[c] = append(found[c], len(n.junctions)-1)
	return len(n.junctions) - 1
}

// shortestEnd is the minimum length of a dead end, in meters.
const shortestEnd = 48.0

// cutStreet divides a street at its junctions. Short ends are removed.
func (n *network) cutStreet(s *street, stops []stop) {
	if len(stops) == 0 {
		return
	}
	if s.closed {
		again := stops[0]
		again.along += float64(len(s.points) - 1)
		s.points = append(s.points, s.points[1:]...)
		stops = append(stops, again)
	} else {
		last := float64(len(s.points) - 1)
		if stops[0].along*stride > shortestEnd {
			n.junctions = append(n.junctions, junction{at: s.points[0]})
			stops = slices.Insert(stops, 0, stop{0, len(n.junctions) - 1})
		}
		if (last-stops[len(stops)-1].along)*stride > shortestEnd {
			n.junctions = append(n.junctions, junction{at: s.points[len(s.points)-1]})
			stops = append(stops, stop{last, len(n.junctions) - 1})
		}
	}
	for i := 1; i < len(stops); i++ {
		a, b := stops[i-1], stops[i]
		points := []vec{n.junctions[a.node].at}
		for k := int(a.along) + 1; float64(k) < b.along; k++ {
			if p := s.points[k]; p.to(points[0]) > stride && p.to(n.junctions[b.node].at) > stride {
				points = append(points, p)
			}
		}
		n.addEdge(&edge{street: s, from: a.node, to: b.node, points: append(points, n.junctions[b.node].at)})
	}
}

// overWater is the distance from the water at which a bridge begins, in meters.
const overWater = 12.0

// addEdge adds an edge, with the bridge that it needs as a separate edge.
func (n *network) addEdge(e *edge) {
	wet := func(p vec) bool { return n.dry(p) < overWater }
	first := slices.IndexFunc(e.points, wet)
	if first <= 0 || wet(e.points[len(e.points)-1]) {
		e.bridge = first >= 0
		n.edges = append(n.edges, e)
		return
	}
	last := first
	for k, p := range e.points {
		if wet(p) {
			last = k
		}
	}
	ends := []int{first - 1, last + 1}
	from, start := e.from, 0
	for i, at := range append(ends, len(e.points)-1) {
		if at == start {
			continue
		}
		to := e.to
		if at < len(e.points)-1 {
			n.junctions = append(n.junctions, junction{at: e.points[at]})
			to = len(n.junctions) - 1
		}
		n.edges = append(n.edges, &edge{street: e.street, from: from, to: to, points: slices.Clone(e.points[start : at+1]), bridge: i == 1})
		from, start = to, at
	}
}

// keepLargest removes streets that are not connected with most of the town.
func (n *network) keepLargest() {
	group := make([]int, len(n.junctions))
	for i := range group {
		group[i] = i
	}
	root := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	for _, e := range n.edges {
		group[root(e.from)] = root(e.to)
	}
	sizes := map[int]int{}
	for _, e := range n.edges {
		sizes[root(e.from)]++
	}
	most := 0
	for _, e := range n.edges {
		if r := root(e.from); sizes[r] > sizes[most] {
			most = r
		}
	}
	n.edges = slices.DeleteFunc(n.edges, func(e *edge) bool { return root(e.from) != most || e.from == e.to })
	for _, e := range n.edges {
		n.junctions[e.from].edges = append(n.junctions[e.from].edges, e)
		n.junctions[e.to].edges = append(n.junctions[e.to].edges, e)
	}
	used := map[*street]bool{}
	for _, e := range n.edges {
		used[e.street] = true
	}
	n.streets = slices.DeleteFunc(n.streets, func(s *street) bool { return !used[s] })
	for i := range n.junctions {
		main := 0
		for _, e := range n.junctions[i].edges {
			if e.street.level <= levelMain {
				main++
			}
		}
		n.junctions[i].signals = main > 2 && len(n.junctions[i].edges) > 3 && n.inside(n.junctions[i].at) < 1
	}
}

// chooseOneWays makes streets around the center one-way, in turn in both directions,
// so that every location can still be reached and left.
func (n *network) chooseOneWays() {
	turn := map[bool]bool{}
	for _, s := range n.streets {
		if s.level != levelHome || n.random.Float64() > 0.6 {
			continue
		}
		if turn[s.across] = !turn[s.across]; turn[s.across] {
			n.reverse(s)
		}
		for _, e := range n.edges {
			e.oneWay = e.oneWay || e.street == s && e.points[0].to(n.square) < 850 && e.points[len(e.points)-1].to(n.square) < 850
		}
	}
	for {
		reached, left := n.reach(false), n.reach(true)
		changed := false
		for _, e := range n.edges {
			if e.oneWay && (reached[e.to] && !reached[e.from] || left[e.from] && !left[e.to]) {
				e.oneWay, changed = false, true
			}
		}
		if !changed {
			return
		}
	}
}

// reverse turns a street around.
func (n *network) reverse(s *street) {
	first := slices.IndexFunc(n.edges, func(e *edge) bool { return e.street == s })
	count := 0
	for first+count < len(n.edges) && n.edges[first+count].street == s {
		e := n.edges[first+count]
		e.from, e.to = e.to, e.from
		slices.Reverse(e.points)
		count++
	}
	slices.Reverse(n.edges[first : first+count])
}

// reach reports which junctions can be reached from the ring road or, if backward, from which
// junctions it can be reached.
func (n *network) reach(backward bool) []bool {
	seen := make([]bool, len(n.junctions))
	queue := []int{n.edges[0].from}
	for i, e := range n.edges {
		if e.street.level == levelRing {
			queue[0] = n.edges[i].from
			break
		}
	}
	seen[queue[0]] = true
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, e := range n.junctions[at].edges {
			from, to := e.from, e.to
			if backward {
				from, to = to, from
			}
			if from != at && !e.oneWay {
				from, to = to, from
			}
			if from == at && !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// simplify removes points that are within a tolerance of the rest of the line, in meters.
func simplify(points []vec, tolerance float64) []vec {
	if len(points) < 3 {
		return points
	}
	a, b := points[0], points[len(points)-1]
	far, at := 0.0, 0
	for i := 1; i < len(points)-1; i++ {
		off := math.Abs(b.minus(a).unit().cross(points[i].minus(a)))
		if a == b {
			off = a.to(points[i])
		}
		if off > far {
			far, at = off, i
		}
	}
	if far < tolerance {
		return []vec{a, b}
	}
	return append(simplify(points[:at+1], tolerance), simplify(points[at:], tolerance)[1:]...)
}
