package road

import (
	"cmp"
	"slices"
)

// maxRulePath is the maximum number of segments of a turn restriction.
const maxRulePath = 32

// resolveRules translates turn restrictions from ways to segments. Incomplete and ambiguous
// restrictions are dropped, as by other routers.
func (x *extract) resolveRules() {
	if len(x.relations) == 0 {
		return
	}
	byID := make([]int, len(x.ways))
	for i := range byID {
		byID[i] = i
	}
	slices.SortFunc(byID, func(a, b int) int { return cmp.Compare(x.ways[a].id, x.ways[b].id) })
	find := func(id int64) *way {
		at, found := slices.BinarySearchFunc(byID, id, func(i int, id int64) int { return cmp.Compare(x.ways[i].id, id) })
		if !found {
			return nil
		}
		return &x.ways[byID[at]]
	}
	for _, r := range x.relations {
		if r.only && (len(r.from) != 1 || len(r.to) != 1) {
			continue
		}
		for _, from := range r.from {
			for _, to := range r.to {
				if path := x.rulePath(r, find, from, to); path != nil {
					x.rules = append(x.rules, turnRule{path, r.only, r.profiles})
				}
			}
		}
	}
}

// rulePath returns the directed segments of a restriction, or nil.
func (x *extract) rulePath(r relation, find func(int64) *way, from, to int64) []uint32 {
	first, last := find(from), find(to)
	if first == nil || last == nil {
		return nil
	}
	if len(r.via) == 0 {
		at, found := slices.BinarySearch(x.ids, r.node)
		if !found || x.vertex[at] == 0 {
			return nil
		}
		return x.turn(first, last, nil, x.vertex[at]-1, x.vertex[at]-1, from == to)
	}
	var via []*way
	for _, id := range r.via {
		w := find(id)
		if w == nil {
			return nil
		}
		via = append(via, w)
	}
	enter, ok := x.shared(first, via[0], nil)
	if !ok {
		return nil
	}
	var path []uint32
	at := enter
	for i, w := range via {
		next := last
		if i+1 < len(via) {
			next = via[i+1]
		}
		leave, ok := x.shared(next, w, &at)
		if !ok {
			return nil
		}
		part := x.along(w, at, leave)
		if part == nil || len(path)+len(part) > maxRulePath {
			return nil
		}
		path, at = append(path, part...), leave
	}
	return x.turn(first, last, path, enter, at, false)
}

// turn returns the path that arrives on one way at a vertex, follows others and leaves on the
// last. back means that the last way is also the first.
func (x *extract) turn(first, last *way, via []uint32, enter, leave uint32, back bool) []uint32 {
	var arrivals, departures []uint32
	for s := first.segments; s < first.segments+first.parts; s++ {
		if x.segments[s].to == enter {
			arrivals = append(arrivals, s<<1)
		}
		if x.segments[s].from == enter {
			arrivals = append(arrivals, s<<1|1)
		}
	}
	for s := last.segments; s < last.segments+last.parts; s++ {
		if x.segments[s].from == leave {
			departures = append(departures, s<<1)
		}
		if x.segments[s].to == leave {
			departures = append(departures, s<<1|1)
		}
	}
	// A way that is one-way passes a vertex in one direction only.
	arrivals = slices.DeleteFunc(arrivals, x.unused)
	departures = slices.DeleteFunc(departures, x.unused)
	if back && len(arrivals) == 1 {
		departures = []uint32{arrivals[0] ^ 1}
	}
	if len(arrivals) != 1 || len(departures) != 1 {
		return nil
	}
	return slices.Concat(arrivals, via, departures)
}

// unused reports whether no motor vehicle or bicycle may use a directed segment.
func (x *extract) unused(d uint32) bool {
	s := x.speeds[x.segments[d>>1].speeds]
	set := s.forward
	if d&1 == 1 {
		set = s.backward
	}
	return set[Car] == 0 && set[Truck] == 0 && set[Bicycle] == 0
}

// shared returns the end of w that is a vertex of other, and reports whether there is exactly
// one. If w has no such end, it returns the end of other that is a vertex of w. An end that
// equals *not does not count.
func (x *extract) shared(w, other *way, not *uint32) (found uint32, ok bool) {
	for _, pair := range [2][2]*way{{w, other}, {other, w}} {
		n := 0
		for _, end := range x.ends(pair[0]) {
			if (not == nil || end != *not) && slices.Contains(x.passes(pair[1]), end) {
				found, n = end, n+1
			}
		}
		if n > 0 {
			return found, n == 1
		}
	}
	return 0, false
}

// passes returns the vertices of a way in order.
func (x *extract) passes(w *way) (all []uint32) {
	for _, s := range x.segments[w.segments : w.segments+w.parts] {
		if n := len(all); n == 0 || all[n-1] != s.from { // a part is outside of the extract
			all = append(all, s.from)
		}
		all = append(all, s.to)
	}
	return all
}

func (x *extract) ends(w *way) []uint32 {
	all := x.passes(w)
	if len(all) == 0 {
		return nil
	}
	return slices.Compact([]uint32{all[0], all[len(all)-1]})
}

// along returns the directed segments of a way between two of its vertices; nil if a part of
// the way is outside of the extract.
func (x *extract) along(w *way, from, to uint32) (path []uint32) {
	all := x.passes(w)
	i, j := slices.Index(all, from), slices.Index(all, to)
	if i < 0 || j < 0 || len(all) != int(w.parts)+1 {
		return nil
	}
	for ; i < j; i++ {
		path = append(path, (w.segments+uint32(i))<<1)
	}
	for ; i > j; i-- {
		path = append(path, (w.segments+uint32(i)-1)<<1|1)
	}
	return path
}
