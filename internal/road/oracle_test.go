package road

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// dijkstra finds fastest ways on a graph without a hierarchy.
type dijkstra struct {
	m     *Map
	p     Profile
	g     *graph
	first []uint32
	arcs  []edge
	dist  []weight
}

func newDijkstra(m *Map, n *network, p Profile) *dijkstra {
	g := newGraph(n, p)
	o := &dijkstra{m: m, p: p, g: g, first: make([]uint32, g.nodes+1), arcs: make([]edge, len(g.arcs)), dist: make([]weight, g.nodes)}
	for _, a := range g.arcs {
		o.first[a.from+1]++
	}
	for v := range g.nodes {
		o.first[v+1] += o.first[v]
	}
	at := slices.Clone(o.first)
	for _, a := range g.arcs {
		o.arcs[at[a.from]] = a
		at[a.from]++
	}
	return o
}

// from computes the weights of all nodes from a spot.
func (o *dijkstra) from(s spot) {
	for v := range o.dist {
		o.dist[v] = unreachable
	}
	var queue minHeap
	reach := func(v uint32, w weight) {
		if w < o.dist[v] {
			o.dist[v] = w
			queue.push(w, v)
		}
	}
	for direction := range uint32(2) {
		if d := s.segment<<1 | direction; o.g.times[d] != none {
			reach(o.g.ends[d].head, o.m.whole(o.p, d).share(1-s.along(direction))+s.off(o.p))
		}
	}
	for len(queue) > 0 {
		w, v := queue.pop()
		if w > o.dist[v] {
			continue
		}
		for _, a := range o.arcs[o.first[v]:o.first[v+1]] {
			reach(a.to, w+a.weight)
		}
	}
}

// to returns the weight of a spot.
func (o *dijkstra) to(a, b spot) weight {
	best, _ := o.m.direct(o.p, a, b)
	for _, arc := range o.g.arcs {
		if arc.segment>>1 == b.segment && o.dist[arc.from] != unreachable && o.g.times[arc.segment] != none {
			best = min(best, o.dist[arc.from]+o.m.whole(o.p, arc.segment).share(b.along(arc.segment&1))+b.off(o.p))
		}
	}
	return best
}

// brute finds fastest ways by the rules alone: its states are the directed segments
// that were traveled last. It shares nothing with the graph but the times.
type brute struct {
	m     *Map
	n     *network
	p     Profile
	out   [][]uint32 // directed segments by vertex
	exits []int      // by vertex, including those that lead out of the network
	rules []turnRule
	begin map[string]bool // beginnings of rules
}

func newBrute(m *Map, n *network, p Profile) *brute {
	o := &brute{m: m, n: n, p: p, out: make([][]uint32, n.vertices), exits: make([]int, n.vertices), begin: map[string]bool{}}
	for i, s := range n.segments {
		if n.speeds[s.speeds].forward[p] > 0 {
			o.exits[s.from]++
		}
		if n.speeds[s.speeds].backward[p] > 0 {
			o.exits[s.to]++
		}
		if d := uint32(i) << 1; m.profiles[p].times[d] != none {
			o.out[s.from] = append(o.out[s.from], d)
		}
		if d := uint32(i)<<1 | 1; m.profiles[p].times[d] != none {
			o.out[s.to] = append(o.out[s.to], d)
		}
	}
	for _, r := range n.rules {
		usable := !slices.ContainsFunc(r.path, func(d uint32) bool { return m.profiles[p].times[d] == none })
		if r.profiles&(1<<p) != 0 && usable {
			o.rules = append(o.rules, r)
			for i := 1; i < len(r.path); i++ {
				o.begin[fmt.Sprint(r.path[:i])] = true
			}
		}
	}
	return o
}

// route returns the weight between two spots.
func (o *brute) route(a, b spot) weight {
	best, _ := o.m.direct(o.p, a, b)
	type place struct {
		weight weight
		path   []uint32 // the last is the segment just traveled
	}
	places := []place{}
	index := map[string]int{}
	var queue minHeap
	reach := func(w weight, path []uint32) {
		// What matters of the past is what a rule may begin with, and the last segment.
		for len(path) > 1 && !o.matters(path) {
			path = path[1:]
		}
		key := fmt.Sprint(path)
		i, known := index[key]
		if !known {
			i = len(places)
			index[key], places = i, append(places, place{unreachable, slices.Clone(path)})
		}
		if w < places[i].weight {
			places[i].weight = w
			queue.push(w, uint32(i))
		}
	}
	for direction := range uint32(2) {
		if d := a.segment<<1 | direction; o.m.profiles[o.p].times[d] != none {
			reach(o.m.whole(o.p, d).share(1-a.along(direction))+a.off(o.p), []uint32{d})
		}
	}
	for len(queue) > 0 {
		w, i := queue.pop()
		if w >= best {
			return best
		}
		if w > places[i].weight {
			continue
		}
		path := places[i].path
		last := path[len(path)-1]
		vertex := o.n.segments[last>>1].to
		if last&1 == 1 {
			vertex = o.n.segments[last>>1].from
		}
		for _, d := range o.out[vertex] {
			if o.n.blocked[vertex]&(1<<o.p) != 0 && d != last^1 || o.forbidden(path, d) {
				continue
			}
			step := o.m.whole(o.p, d)
			if d == last^1 && o.wary(path) && o.exits[vertex] > 1 && o.n.blocked[vertex]&(1<<o.p) == 0 {
				w += newWeight(uTurn, 0)
			}
			next := append(slices.Clone(path), d)
			if there := w + step.share(b.along(d&1)) + b.off(o.p); d>>1 == b.segment && there < best && o.leads(next, a.segment) {
				best = there
			}
			reach(w+step, next)
			w = places[i].weight
		}
	}
	return best
}

// leads reports whether travelers can go on to a segment: where they cannot, a part
// of the network is a trap.
func (o *brute) leads(path []uint32, segment uint32) bool {
	seen := map[string]bool{}
	for open := [][]uint32{path}; len(open) > 0; {
		path := open[len(open)-1]
		open = open[:len(open)-1]
		for len(path) > 1 && !o.matters(path) {
			path = path[1:]
		}
		if seen[fmt.Sprint(path)] {
			continue
		}
		seen[fmt.Sprint(path)] = true
		last := path[len(path)-1]
		if last>>1 == segment {
			return true
		}
		vertex := o.n.segments[last>>1].to
		if last&1 == 1 {
			vertex = o.n.segments[last>>1].from
		}
		for _, d := range o.out[vertex] {
			if (o.n.blocked[vertex]&(1<<o.p) == 0 || d == last^1) && !o.forbidden(path, d) {
				open = append(open, append(slices.Clone(path), d))
			}
		}
	}
	return false
}

// matters reports whether the whole path influences how to go on.
func (o *brute) matters(path []uint32) bool {
	for i := range keepOn + 1 {
		if len(path) > i && o.begin[fmt.Sprint(path[:len(path)-i])] {
			return true
		}
	}
	return false
}

// wary reports whether a junction with a restriction was passed shortly before.
func (o *brute) wary(path []uint32) bool {
	for i := 1; i <= keepOn && i < len(path); i++ {
		for first := range len(path) - i {
			if o.begin[fmt.Sprint(path[first:len(path)-i])] {
				return true
			}
		}
	}
	return false
}

func (o *brute) forbidden(path []uint32, d uint32) bool {
	for _, r := range o.rules {
		n := len(r.path) - 1
		if len(path) >= n && slices.Equal(path[len(path)-n:], r.path[:n]) && (r.path[n] == d) != r.only {
			return true
		}
	}
	return false
}

// somewhere returns a random location on or near the roads of a profile.
func somewhere(r *rand.Rand, m *Map, p Profile) Point {
	for {
		at := r.IntN(len(m.points) / 2)
		from := m.point(m.points[2*at], m.points[2*at+1])
		from.Lon += (r.Float64() - 0.5) / 500
		from.Lat += (r.Float64() - 0.5) / 500
		if ok, _ := m.Covers(p, from); ok {
			return from
		}
	}
}
