package road

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"dray/internal/mapdata"
)

// Route is the fastest way between two locations.
type Route struct {
	Duration time.Duration
	Meters   float64
	Line     []Point // from one location to the other, along the roads
	Steps    []Step
}

// Step is a part of a route on one street.
type Step struct {
	Name     string // "" if the street has none
	Meters   float64
	Duration time.Duration
	First    int // point of the line at which it begins
}

// ErrNotCovered means that a location is too far from any road.
var ErrNotCovered = errors.New("a location is not near a road of the map")

// Route returns the fastest way between two locations.
func (m *Map) Route(p Profile, from, to Point) (route Route, err error) {
	defer runtime.KeepAlive(m)
	defer mapdata.Protect(&err, ErrDamaged)()
	a, okA := m.snap(p, from)
	b, okB := m.snap(p, to)
	if !okA || !okB {
		return Route{}, ErrNotCovered
	}
	m.measure(&a)
	m.measure(&b)
	best, path, err := m.path(p, a, b)
	if err != nil {
		return Route{}, err
	}
	route = Route{Duration: time.Duration(best.ms()) * time.Millisecond, Meters: float64(best.dm()) / 10}
	m.describe(p, &route, a, b, path)
	return route, nil
}

// path returns the directed segments of the fastest way between two spots. The
// first and the last are those of the spots.
func (m *Map) path(p Profile, a, b spot) (weight, []uint32, error) {
	best, only := m.direct(p, a, b)
	forward, backward := spaces.Get().(*space), spaces.Get().(*space)
	defer spaces.Put(forward)
	defer spaces.Put(backward)
	pm := &m.profiles[p]
	pm.forward(forward, m.sources(p, a, nil))
	pm.backward(backward, m.targets(p, b, nil))
	var up, down *visit
	for _, at := range forward.settled {
		v := &forward.visits[at]
		if other := backward.find(v.node); other != nil && v.weight+other.weight < best {
			best, up, down = v.weight+other.weight, v, other
		}
	}
	switch {
	case best == unreachable:
		return best, nil, ErrNotCovered // cannot be: all nodes are connected
	case up == nil:
		return best, []uint32{only}, nil
	}
	var path []uint32
	u := unpacker{pm: pm}
	for ; up.parent != none; up = &forward.visits[up.parent] {
		u.reset()
		u.add(forward.visits[up.parent].node, up.node, up.via, 0)
		slices.Reverse(u.path)
		path = append(path, u.path...)
	}
	path = append(path, up.via)
	slices.Reverse(path)
	for ; down.parent != none; down = &backward.visits[down.parent] {
		u.reset()
		u.add(down.node, backward.visits[down.parent].node, down.via, 0)
		path = append(path, u.path...)
	}
	if u.err != nil {
		return best, nil, u.err
	}
	return best, append(path, down.via), nil
}

// unpacker replaces shortcuts by the arcs they stand for.
type unpacker struct {
	pm   *profileMap
	path []uint32
	err  error
}

func (u *unpacker) reset() { u.path = u.path[:0] }

// add appends the directed segments of an arc between two nodes.
func (u *unpacker) add(from, to, via uint32, depth int) {
	if via&isSegment != 0 {
		u.path = append(u.path, via&^isSegment)
		return
	}
	// The node between is less important than both ends, so that this ends.
	in, out := u.pm.arcOf(u.pm.inFirst, u.pm.in, via, from), u.pm.arcOf(u.pm.outFirst, u.pm.out, via, to)
	if u.err != nil || via <= from || via <= to || in == nil || out == nil || depth > maxUnpack || len(u.path) > maxPath {
		u.err = ErrDamaged
		return
	}
	u.add(from, via, in.via, depth+1)
	u.add(via, to, out.via, depth+1)
}

// Limits of a path, which no real one reaches: its segments, and how deep
// shortcuts consist of shortcuts.
const (
	maxPath   = 10_000_000
	maxUnpack = 10_000
)

// arcOf returns the arc of a node to or from a more important one, or nil.
func (m *profileMap) arcOf(first []uint32, arcs []arc, node, above uint32) *arc {
	list := arcs[first[node]:first[node+1]]
	at, found := slices.BinarySearchFunc(list, above, func(a arc, node uint32) int { return int(int64(a.node) - int64(node)) })
	if !found {
		return nil
	}
	return &list[at]
}

// describe fills in the line and the streets of a route.
func (m *Map) describe(p Profile, r *Route, a, b spot, path []uint32) {
	r.Line = append(r.Line, a.from)
	if a.from == b.from {
		return
	}
	r.add(a.at)
	for i, d := range path {
		start, end := 0.0, 1.0
		if i == 0 {
			start = a.along(d & 1)
		}
		if i == len(path)-1 {
			end = b.along(d & 1)
		}
		if end < start {
			continue
		}
		w := m.whole(p, d).share(end - start)
		r.step(m.name(d>>1), w)
		m.line(r, d, a, b, i == 0, i == len(path)-1)
	}
	r.add(b.at)
	r.add(b.from)
}

// add appends a point to the line unless it is there already.
func (r *Route) add(at Point) {
	if n := len(r.Line); n == 0 || r.Line[n-1] != at {
		r.Line = append(r.Line, at)
	}
}

// step continues the current street or begins another.
func (r *Route) step(name string, w weight) {
	n := len(r.Steps)
	if n == 0 || r.Steps[n-1].Name != name {
		r.Steps = append(r.Steps, Step{Name: name, First: len(r.Line) - 1})
		n++
	}
	r.Steps[n-1].Meters += float64(w.dm()) / 10
	r.Steps[n-1].Duration += time.Duration(w.ms()) * time.Millisecond
}

// line appends the points of a directed segment; of the first and the last one,
// only those after the start and before the end.
func (m *Map) line(r *Route, d uint32, a, b spot, isFirst, isLast bool) {
	s := d >> 1
	first, last := int(m.first[s]), int(m.first[s+1])-1
	if d&1 == 0 {
		if isFirst {
			first = int(a.piece) + 1
		}
		if isLast {
			last = int(b.piece)
		}
		for i := first; i <= last; i++ {
			r.add(m.point(m.points[2*i], m.points[2*i+1]))
		}
		return
	}
	if isFirst {
		last = int(a.piece)
	}
	if isLast {
		first = int(b.piece) + 1
	}
	for i := last; i >= first; i-- {
		r.add(m.point(m.points[2*i], m.points[2*i+1]))
	}
}

// name returns the name of a segment's street.
func (m *Map) name(s uint32) string {
	i := m.segNames[s]
	return string(m.nameBytes[m.nameFirst[i]:m.nameFirst[i+1]])
}
