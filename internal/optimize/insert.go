package optimize

import "slices"

// inserter inserts requests that are left out into routes.
type inserter struct {
	*state
	rng     rng
	misses  []int64 // by request: how often it was left out
	ceiling int64   // maximum cost of the plan, without prizes; insertions that exceed it are not made
	skip    uint32  // positions until the next blink
	round   int64   // number of the current search of all routes
	tried   []int64 // by route: the last round that tried it
	classes []int64 // by class of vehicles: the last round that tried an empty one
	// thorough is how many positions may still be tried for general requests.
	thorough int
	// partial is set while only some stops of a request are in a route: the load that the
	// others will unload is still on board.
	partial bool
	// strict is set to try every position of a pair, even positions at which the vehicle would
	// be too late for one stop without the other.
	strict bool
	// By position in a route: the minimum cost of a pair with its first stop there, the cost
	// of its second stop there, and the minimum of that there or later.
	firsts, seconds, bound []int64
	// The routes near the first stop of a pair, near the second, and near both.
	nearFirst, nearSecond, nearBoth []int32
}

func newInserter(st *state, seed uint64) inserter {
	s := inserter{
		state: st, rng: newRNG(seed), misses: make([]int64, len(st.m.requests)),
		tried: make([]int64, len(st.m.vehicles)), classes: make([]int64, len(st.m.classes)),
	}
	s.skip = s.rng.geometric(blinkRate)
	return s
}

// blink reports whether to skip a position, at random.
func (s *inserter) blink() bool {
	if s.skip > 0 {
		s.skip--
		return false
	}
	s.skip = s.rng.geometric(blinkRate)
	return true
}

// place is where a request is inserted: its stops, in the order of the request, come after
// these nodes. The stops of general requests are placed by fill.
type place struct {
	cost          int64
	route         int32
	first, second int32 // second is the first stop itself if the stops are adjacent
}

// insert puts an absent request into its cheapest position and reports whether there is
// one. If all is set, it tries every route, otherwise those near the request, and the
// others only if none of those has a position.
func (s *inserter) insert(q int32, all bool) bool {
	m := s.m
	best := place{cost: noWay}
	limit := noWay
	if s.ceiling < noWay {
		limit = s.ceiling - s.cost - s.late*s.scale + 1
	}
	if m.weight[q] == 0 {
		limit = min(limit, m.prize[q])
	}
	switch m.kinds[q] {
	case single:
		x := m.requests[q][0]
		if m.plain {
			best = s.nearPlain(x, limit)
		} else {
			best = s.nearRich(x, limit)
		}
		if best.cost >= limit && (all || m.weight[q] > 0 && s.patient(q)) {
			best = s.everywhere(q, limit)
		}
	case pair:
		if !all {
			best = s.nearPair(q, limit)
		}
		if best.cost >= limit && (all || m.weight[q] > 0 && s.patient(q)) {
			best = s.everywhere(q, limit)
		}
	case general:
		best = s.everywhere(q, limit)
	}
	if best.cost >= limit {
		return false
	}
	s.put(q, best)
	return true
}

// patient reports whether to try all routes for a request that fits into none of the routes
// near it. This becomes rarer the more often it was in vain, and is never done under a
// ceiling, because the other routes cost too much.
func (s *inserter) patient(q int32) bool {
	if s.ceiling < noWay {
		return false
	}
	return s.misses[q] < 16 || s.rng.below(uint32(min(s.misses[q], 256))) < 8
}

// put inserts a request at a place.
func (s *inserter) put(q int32, at place) {
	m := s.m
	members := m.requests[q]
	s.touch(at.route)
	switch m.kinds[q] {
	case single:
		s.link(members[0], at.first)
		s.refresh(at.route)
	case pair:
		s.link(members[0], at.first)
		s.link(members[1], at.second)
		s.refresh(at.route)
	case general:
		s.fill(q, at.route)
		s.hold(members)
	}
	s.weight -= m.weight[q]
	s.prizes -= m.prize[q]
}

// nearPlain returns the cheapest position of a stop next to its neighbors, in a problem
// with hard windows and one capacity.
func (s *inserter) nearPlain(x int32, limit int64) place {
	m := s.m
	nodes := s.nodes
	nx := nodes[x]
	best := place{cost: limit}
	one := len(m.matrices) == 1
	size := m.size
	mat := &m.matrices[0]
	row := mat.cost[int(x)*size : int(x)*size+size]
	col := mat.costT[int(x)*size : int(x)*size+size]
	for i := range m.preds[x] {
		nb := &m.preds[x][i]
		v := &nodes[nb.stop]
		r := v.route
		if r < 0 {
			continue
		}
		cost, dur := int64(nb.cost), nb.dur
		n := &nodes[v.next]
		if !one {
			mat = m.vehicles[r].matrix
			row = mat.cost[int(x)*size : int(x)*size+size]
			cost, dur = int64(mat.cost[int(nb.stop)*size+int(x)]), mat.dur[int(nb.stop)*size+int(x)]
		}
		delta := cost + int64(row[n.loc]) - int64(v.arc)
		if delta >= best.cost {
			continue
		}
		start := max(v.start+v.service+dur, nx.early)
		if start > nx.late || start+nx.service+mat.dur[int(x)*size+int(n.loc)] > n.hard {
			continue
		}
		if rt := &s.routes[r]; rt.load+nx.demand > m.vehicles[r].capacity[0] || rt.stops >= m.vehicles[r].maxStops || s.blink() {
			continue
		}
		best = place{delta, r, nb.stop, 0}
	}
	for i := range m.succs[x] {
		nb := &m.succs[x][i]
		n := &nodes[nb.stop]
		r := n.route
		if r < 0 {
			continue
		}
		cost, dur := int64(nb.cost), nb.dur
		p := &nodes[n.prev]
		if !one {
			mat = m.vehicles[r].matrix
			col = mat.costT[int(x)*size : int(x)*size+size]
			cost, dur = int64(mat.cost[int(x)*size+int(nb.stop)]), mat.dur[int(x)*size+int(nb.stop)]
		}
		delta := cost + int64(col[p.loc]) - int64(p.arc)
		if delta >= best.cost {
			continue
		}
		start := max(p.start+p.service+mat.durT[int(x)*size+int(p.loc)], nx.early)
		if start > nx.late || start+nx.service+dur > n.hard {
			continue
		}
		if rt := &s.routes[r]; rt.load+nx.demand > m.vehicles[r].capacity[0] || rt.stops >= m.vehicles[r].maxStops || s.blink() {
			continue
		}
		best = place{delta, r, n.prev, 0}
	}
	return s.unused(x, best)
}

// unused returns the cheapest position of a stop in an unused vehicle, or the best so far
// if that costs less.
func (s *inserter) unused(x int32, best place) place {
	for _, o := range s.m.openings[s.m.request[x]] {
		if o.cost >= best.cost {
			break
		}
		r := s.empty(o.class)
		if r < 0 {
			continue
		}
		if delta, ok := s.rate(x, r, s.m.start(r), best.cost); ok && delta < best.cost && !s.blink() {
			best = place{delta, r, s.m.start(r), 0}
		}
	}
	return best
}

// nearRich is nearPlain for problems with any rules.
func (s *inserter) nearRich(x int32, limit int64) place {
	m := s.m
	best := place{cost: limit}
	try := func(after int32) {
		r := s.nodes[after].route
		if delta, ok := s.rate(x, r, after, best.cost); ok && !s.blink() {
			best = place{delta, r, after, 0}
		}
	}
	for i := range m.preds[x] {
		if v := m.preds[x][i].stop; s.nodes[v].route >= 0 {
			try(v)
		}
	}
	for i := range m.succs[x] {
		if v := m.succs[x][i].stop; s.nodes[v].route >= 0 {
			try(s.nodes[v].prev)
		}
	}
	return s.unused(x, best)
}

// rate returns the cost of putting a stop after a node of a route. It is not ok
// if that breaks a rule or costs at least limit. Precedences are not checked.
func (s *inserter) rate(x, r, after int32, limit int64) (int64, bool) {
	m := s.m
	v := &m.vehicles[r]
	mat := v.matrix
	nx, p := &s.nodes[x], &s.nodes[after]
	n := &s.nodes[p.next]
	in, out := int(x)*m.size+int(p.loc), int(x)*m.size+int(n.loc)
	rt := &s.routes[r]
	delta := int64(mat.costT[in]) + int64(mat.cost[out]) - int64(p.arc)
	if rt.stops == 0 {
		delta = int64(mat.costT[in]) + int64(mat.cost[out]) + v.fixed
	}
	if delta >= limit && rt.late == 0 {
		return 0, false
	}
	start := max(p.start+p.service+mat.durT[in], nx.early)
	if start > nx.late {
		return 0, false
	}
	arrival := start + nx.service + mat.dur[out]
	if arrival > n.hard || rt.stops >= v.maxStops {
		return 0, false
	}
	if m.plain {
		return delta, rt.load+nx.demand <= v.capacity[0]
	}
	if m.allowed != nil && !m.allowed[int(r)*m.stops+int(x)] {
		return 0, false
	}
	if m.zones != nil && (m.zones[after] > m.zones[x] || m.zones[x] > m.zones[p.next]) {
		return 0, false
	}
	for d := range m.dims {
		carried, change := m.rich[x].carried[d], m.rich[x].change[d]
		if s.extra[after].pre[d]+carried > v.capacity[d] || s.extra[after].at[d]+carried+change > v.capacity[d] ||
			s.extra[p.next].suf[d]+carried+change > v.capacity[d] && !s.partial {
			return 0, false
		}
	}
	if m.soft && (start > nx.due || arrival > s.extra[p.next].soft || rt.late > 0) {
		late := int64(max(0, start-nx.due)) + s.tailLate(p.next, arrival) - s.extra[p.next].late
		delta += late * s.scale
	}
	return delta, delta < limit
}

// everywhere returns the cheapest position of a request in all routes.
func (s *inserter) everywhere(q int32, limit int64) place {
	m := s.m
	best := place{cost: limit}
	s.round++
	for r := range int32(len(s.routes)) {
		if s.routes[r].stops == 0 { // the empty vehicles of a class are equal
			class := m.vehicles[r].class
			if s.used >= s.fleet || s.classes[class] == s.round {
				continue
			}
			s.classes[class] = s.round
		}
		switch m.kinds[q] {
		case single:
			x := m.requests[q][0]
			if m.allowed != nil && !m.allowed[int(r)*m.stops+int(x)] {
				continue
			}
			for p := m.start(r); p != m.end(r); p = s.nodes[p].next {
				if delta, ok := s.rate(x, r, p, best.cost); ok && delta < best.cost {
					best = place{delta, r, p, 0}
				}
			}
		case pair:
			if at := s.pairIn(q, r, best.cost); at.cost < best.cost {
				best = at
			}
		case general:
			if cost := s.tryGeneral(q, r); cost < best.cost {
				best = place{cost: cost, route: r}
			}
		}
	}
	return best
}

// tryGeneral returns the cost of a general request in a route. It places the stops one after
// the other and takes them out again.
func (s *inserter) tryGeneral(q, r int32) int64 {
	cost, late := s.routes[r].cost, s.routes[r].late
	saved := s.routes[r].version
	if !s.fill(q, r) {
		return noWay
	}
	cost, late = s.routes[r].cost-cost, s.routes[r].late-late
	s.takeOut(q, r)
	s.routes[r].version = saved
	return cost + late*s.scale
}

func (s *inserter) takeOut(q, r int32) {
	for _, x := range s.m.requests[q] {
		if s.nodes[x].route >= 0 {
			s.unlink(x)
		}
		s.nodes[x].early, s.nodes[x].late = s.m.nodes[x].early, s.m.nodes[x].late
	}
	s.refresh(r)
}

// Limits of the positions that are tried for a general request if all are to be tried: in
// one route, and in total.
const (
	deepTries = 30_000
	allTries  = 300_000
)

// fill places the stops of a general request in a route, each in its cheapest position after
// the stops that must precede it. It reports whether all have one; if not, it leaves the
// route as it was.
func (s *inserter) fill(q, r int32) bool {
	for _, x := range s.m.requests[q] {
		if s.m.allowed != nil && !s.m.allowed[int(r)*s.m.stops+int(x)] {
			return false
		}
	}
	s.partial = true
	ok := s.fillCheap(q, r)
	s.partial = false
	if !ok && s.thorough > 0 {
		for _, x := range s.m.requests[q] {
			if s.nodes[x].route >= 0 {
				s.unlink(x)
			}
		}
		tries := min(s.thorough, deepTries)
		s.thorough -= tries
		ok = s.fillAny(q, r, 0, &tries)
		s.thorough += max(tries, 0)
	}
	if !ok {
		s.takeOut(q, r)
		return false
	}
	s.refresh(r)
	return true
}

// open sets the earliest start of a stop according to the stops of other routes that must
// precede it, and reports whether all stops that must precede it are planned.
func (s *inserter) open(x, r int32) bool {
	s.nodes[x].early = s.m.nodes[x].early
	for _, a := range s.m.before[x] {
		switch na := &s.nodes[a]; na.route {
		case -1:
			return false
		case r:
		default:
			s.nodes[x].early = max(s.nodes[x].early, na.start+na.service)
		}
	}
	return true
}

func (s *inserter) fillCheap(q, r int32) bool {
	m := s.m
	for _, x := range m.requests[q] {
		if !s.open(x, r) {
			return false
		}
		lo := int32(0)
		for _, a := range m.inside[x] {
			lo = max(lo, s.nodes[a].pos)
		}
		for _, a := range m.before[x] {
			if s.nodes[a].route == r {
				lo = max(lo, s.nodes[a].pos)
			}
		}
		best := place{cost: noWay, first: -1}
		for p := m.start(r); p != m.end(r); p = s.nodes[p].next {
			if s.nodes[p].pos < lo {
				continue
			}
			if delta, ok := s.rate(x, r, p, best.cost); ok && delta < best.cost {
				best = place{delta, r, p, 0}
			}
		}
		if best.first < 0 {
			return false
		}
		s.link(x, best.first)
		s.refresh(r)
	}
	s.seqA = s.sequence(r, s.seqA[:0])
	_, _, ok := s.simulate(r, s.seqA)
	return ok
}

// fillAny tries all positions of the stops of a request from the k-th on.
func (s *inserter) fillAny(q, r int32, k int, tries *int) bool {
	m := s.m
	if k == len(m.requests[q]) {
		*tries--
		s.seqA = s.sequence(r, s.seqA[:0])
		_, _, ok := s.simulate(r, s.seqA)
		return ok
	}
	x := m.requests[q][k]
	if !s.open(x, r) {
		return false
	}
	first := m.start(r)
	for i, waiting := first, m.inside[x]; len(waiting) > 0 && i != m.end(r); i = s.nodes[i].next { // after all stops of the request that must precede it
		if slices.Contains(waiting, i) {
			first = i
		}
	}
	for p := first; p != m.end(r) && *tries > 0; p = s.nodes[p].next {
		s.link(x, p)
		if s.fillAny(q, r, k+1, tries) {
			return true
		}
		s.unlink(x)
	}
	return false
}
