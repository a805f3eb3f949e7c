package road

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// none is no node.
const none = math.MaxUint32

// graph is the part of a network that one profile can use: nodes and arcs between them. A
// vertex of the network has one node, plus one for every way to arrive that restricts how to
// go on.
type graph struct {
	nodes int
	arcs  []edge
	ends  []ends   // by directed segment
	times []uint32 // milliseconds, by directed segment
	tails []tail   // further nodes at which directed segments begin, sorted
}

// edge is a directed segment between two nodes.
type edge struct {
	from, to uint32
	weight   weight
	segment  uint32 // directed
}

// ends are the nodes of a directed segment, none if it cannot be used.
type ends struct{ tail, head uint32 }

// tail is a further node at which a directed segment begins.
type tail struct{ segment, node uint32 }

// expansion builds a graph.
type expansion struct {
	graph
	n       *network
	profile Profile

	out     []uint32 // directed segments in the order of their first vertex
	first   []uint32 // index into out, by vertex
	byFirst map[uint32][]int
	states  map[string]uint32
	pending []state
	key     []byte
}

// state is how travelers arrived at a vertex, as far as it restricts how they may go on. Every
// state has its own node.
type state struct {
	node, vertex uint32
	active       []progress // rules that they have begun to follow
	blocked      uint32     // the directed segment on which they arrived at a barrier; none if not
	last         uint32     // the directed segment on which they arrived, if turning round takes long; otherwise none
	wary         uint8      // for how many more segments turning round takes long
}

// plain is the state of travelers at a vertex who follow no rule.
func plain(vertex uint32) state {
	return state{node: vertex, vertex: vertex, blocked: none, last: none}
}

// For some segments after a junction with a restriction, turning round takes long,
// so that a forbidden left turn does not become a right turn and a U-turn.
const (
	keepOn = 2
	uTurn  = 40_000 // milliseconds
)

// progress is how far along the path of a rule a traveler is.
type progress struct{ rule, next int }

// newGraph returns the part of a network that a profile can use: the largest one in which
// every point can be reached from every other.
func newGraph(n *network, p Profile) *graph {
	x := &expansion{n: n, profile: p, byFirst: map[uint32][]int{}, states: map[string]uint32{}}
	x.nodes = n.vertices
	x.weigh()
	for i, r := range n.rules {
		unusable := func(d uint32) bool { return x.times[d] == none }
		if r.profiles&(1<<p) != 0 && !slices.ContainsFunc(r.path, unusable) {
			x.byFirst[r.path[0]] = append(x.byFirst[r.path[0]], i)
		}
	}
	for v := range uint32(n.vertices) {
		if !x.isBlocked(v) {
			x.expand(plain(v))
		}
	}
	for len(x.pending) > 0 {
		last := len(x.pending) - 1
		s := x.pending[last]
		x.pending = x.pending[:last]
		x.expand(s)
	}
	x.prune()
	return &x.graph
}

// bend is the time that slowing down for a junction takes, in milliseconds.
var bend = [profiles]uint32{Car: 500, Truck: 500, Bicycle: 300}

// waits is the part of the waiting times at nodes that applies to each profile.
var waits = [profiles]float64{Car: 1, Truck: 1, Bicycle: 0.8}

// weigh computes the time of every directed segment, and sorts the usable ones by
// their first vertex.
func (x *expansion) weigh() {
	n := x.n
	x.times = make([]uint32, 2*len(n.segments))
	x.ends = make([]ends, 2*len(n.segments))
	x.first = make([]uint32, n.vertices+1)
	degree := make([]uint16, n.vertices)
	for _, s := range n.segments {
		if set := n.speeds[s.speeds]; set.forward[x.profile] > 0 || set.backward[x.profile] > 0 {
			degree[s.from]++
			degree[s.to]++
		}
	}
	var rural []bool
	if x.profile == Car || x.profile == Truck {
		rural = n.rural()
	}
	for i, s := range n.segments {
		set := n.speeds[s.speeds]
		for direction, speed := range [2]float32{set.forward[x.profile], set.backward[x.profile]} {
			d := i<<1 | direction
			x.times[d], x.ends[d] = none, ends{none, none}
			if speed <= 0 {
				continue
			}
			if rural != nil && rural[i] && !set.posted && speed > minorSpeed {
				speed *= ruralFactor
			}
			ms := float64(s.length) * 360 / float64(speed)
			ms += float64(s.wait[direction]) * waits[x.profile]
			if degree[x.headOf(uint32(d))] > 2 {
				ms += float64(bend[x.profile])
			}
			x.times[d] = uint32(min(max(math.Round(ms), 1), maxArcTime))
			x.first[x.headOf(uint32(d)^1)+1]++
		}
	}
	for v := range n.vertices {
		x.first[v+1] += x.first[v]
	}
	x.out = make([]uint32, x.first[n.vertices])
	at := slices.Clone(x.first)
	for d := range uint32(len(x.times)) {
		if x.times[d] != none {
			v := x.headOf(d ^ 1)
			x.out[at[v]] = d
			at[v]++
		}
	}
}

// headOf returns the vertex at which a directed segment ends.
func (x *expansion) headOf(d uint32) uint32 {
	if d&1 == 0 {
		return x.n.segments[d>>1].to
	}
	return x.n.segments[d>>1].from
}

func (x *expansion) isBlocked(vertex uint32) bool { return x.n.blocked[vertex]&(1<<x.profile) != 0 }

// expand adds the arcs that leave a node.
func (x *expansion) expand(s state) {
	if s.blocked != none { // travelers can only turn round
		if back := s.blocked ^ 1; x.times[back] != none {
			x.addEdge(s.node, back, plain(s.vertex))
		}
		return
	}
	out := x.out[x.first[s.vertex]:x.first[s.vertex+1]]
	for _, d := range out {
		if !x.forbids(s, d) {
			x.addEdge(s.node, d, s)
			if s.last != none && d == s.last^1 && len(out) > 1 {
				x.arcs[len(x.arcs)-1].weight += newWeight(uTurn, 0)
			}
		}
	}
}

// forbids reports whether a rule forbids to continue from a node along a directed
// segment.
func (x *expansion) forbids(s state, d uint32) bool {
	for _, p := range s.active {
		r := x.n.rules[p.rule]
		if p.next == len(r.path)-1 && (r.path[p.next] == d) != r.only {
			return true
		}
	}
	return false
}

func (x *expansion) addEdge(from, d uint32, s state) {
	to := x.head(d, s)
	x.arcs = append(x.arcs, edge{from, to, newWeight(x.times[d], x.n.segments[d>>1].length), d})
}

// head returns the node at which a directed segment ends for travelers who come
// from a state.
func (x *expansion) head(d uint32, s state) uint32 {
	next := plain(x.headOf(d))
	if x.isBlocked(next.vertex) {
		next.blocked = d
	} else {
		x.follow(d, s, &next)
	}
	if next.blocked == none && len(next.active) == 0 && next.wary == 0 {
		return next.vertex
	}
	x.key = x.key[:0]
	for _, part := range [...]uint32{next.vertex, next.blocked, next.last, uint32(next.wary)} {
		x.key = binary.AppendUvarint(x.key, uint64(part))
	}
	for _, p := range next.active {
		x.key = binary.AppendUvarint(binary.AppendUvarint(x.key, uint64(p.rule)), uint64(p.next))
	}
	if known, ok := x.states[string(x.key)]; ok {
		return known
	}
	next.node = uint32(x.nodes)
	x.nodes++
	x.states[string(x.key)] = next.node
	x.pending = append(x.pending, next)
	return next.node
}

// follow sets which rules travelers follow after a directed segment.
func (x *expansion) follow(d uint32, s state, next *state) {
	for _, p := range s.active {
		if path := x.n.rules[p.rule].path; path[p.next] == d && p.next+1 < len(path) {
			next.active = append(next.active, progress{p.rule, p.next + 1})
		}
	}
	for _, r := range x.byFirst[d] {
		next.active = append(next.active, progress{r, 1})
	}
	switch {
	case len(s.active) > 0:
		next.wary, next.last = keepOn, d
	case s.wary > 1:
		next.wary, next.last = s.wary-1, d
	}
}

// prune keeps the largest strongly connected component in which every directed
// segment can be used by travelers who start on it, and numbers its nodes.
func (x *expansion) prune() {
	for {
		number := x.largest()
		kept := x.arcs[:0]
		lost := false
		for _, a := range x.arcs {
			if number[a.from] == none || number[a.to] == none {
				continue
			}
			// The node exists if it matters: it was created with the arcs of its plain tail.
			if head := x.head(a.segment, plain(0)); int(head) >= len(number) || number[head] == none {
				lost = true
				continue
			}
			kept = append(kept, a)
		}
		x.arcs = kept
		if !lost {
			x.connect(number)
			return
		}
	}
}

// largest returns new numbers for the nodes of the largest strongly connected
// component, and none for the others.
func (x *expansion) largest() []uint32 {
	component := components(x.nodes, x.arcs)
	sizes := make([]uint32, x.nodes)
	var largest uint32
	for _, c := range component {
		sizes[c]++
	}
	for c, size := range sizes {
		if size > sizes[largest] {
			largest = uint32(c)
		}
	}
	number, next := make([]uint32, x.nodes), uint32(0)
	for v, c := range component {
		number[v] = none
		if c == largest {
			number[v] = next
			next++
		}
	}
	return number
}

// connect renumbers the nodes and finds those at the ends of the directed segments.
// Travelers who start on a segment follow no rule yet.
func (x *expansion) connect(number []uint32) {
	for i := range x.arcs {
		a := &x.arcs[i]
		head := number[x.head(a.segment, plain(0))]
		a.from, a.to = number[a.from], number[a.to]
		if e := &x.ends[a.segment]; e.tail == none {
			*e = ends{a.from, head}
		} else {
			x.tails = append(x.tails, tail{a.segment, a.from})
		}
	}
	x.nodes = 0
	for _, n := range number {
		if n != none {
			x.nodes++
		}
	}
	for d, e := range x.ends {
		if e.tail == none {
			x.times[d] = none
		}
	}
	slices.SortFunc(x.tails, func(a, b tail) int {
		if a.segment != b.segment {
			return cmp.Compare(a.segment, b.segment)
		}
		return cmp.Compare(a.node, b.node)
	})
}

// components returns the strongly connected component of every node (Tarjan, with
// a stack instead of recursion).
func components(nodes int, arcs []edge) []uint32 {
	first := make([]uint32, nodes+1)
	for _, a := range arcs {
		first[a.from+1]++
	}
	for v := range nodes {
		first[v+1] += first[v]
	}
	to := make([]uint32, len(arcs))
	at := slices.Clone(first)
	for _, a := range arcs {
		to[at[a.from]] = a.to
		at[a.from]++
	}
	copy(at, first)
	component, index, low := make([]uint32, nodes), make([]uint32, nodes), make([]uint32, nodes)
	for i := range component {
		component[i] = none
	}
	var next, count uint32 = 1, 0
	var path, open []uint32
	for root := range uint32(nodes) {
		if index[root] != 0 {
			continue
		}
		path, open = append(path[:0], root), append(open[:0], root)
		index[root], low[root] = next, next
		next++
		for len(path) > 0 {
			v := path[len(path)-1]
			if at[v] < first[v+1] {
				w := to[at[v]]
				at[v]++
				if index[w] == 0 {
					index[w], low[w] = next, next
					next++
					path, open = append(path, w), append(open, w)
				} else if component[w] == none {
					low[v] = min(low[v], index[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				low[path[len(path)-1]] = min(low[path[len(path)-1]], low[v])
			}
			if low[v] == index[v] {
				for {
					w := open[len(open)-1]
					open = open[:len(open)-1]
					component[w] = count
					if w == v {
						break
					}
				}
				count++
			}
		}
	}
	return component
}
