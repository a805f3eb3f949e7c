package optimize

import "slices"

// state is a plan that a search changes, with derived data that makes changes cheap to
// evaluate. Every route is feasible at all times, except between link and refresh.
type state struct {
	m       *model
	nodes   []node
	extra   []extra // parallel to nodes, unless the problem is plain
	routes  []routeState
	absent  []int32 // requests that are left out
	cost    int64   // of travel and vehicles
	late    int64
	weight  int64   // of the absent requests
	prizes  int64   // of the absent requests
	version int64   // of the route that changed last
	scale   int64   // cost of a unit of lateness in the search
	vacant  []int32 // by class: its vehicles before this index are used
	used    int     // number of vehicles with stops
	fleet   int     // maximum number of vehicles with stops

	// State for undo: the routes as they were before the current step.
	step        int64
	touched     []int32
	savedRoutes []routeState
	savedNodes  []savedNode
	savedExtra  []extra
	savedAbsent []int32
	savedTotals [4]int64

	cache  []cached
	traces []trace // by route
	seqA   []int32
	seqB   []int32
	seen   []int64 // by request: the mark of the last simulate that met it
	count  []int32 // by request: the number of its stops that simulate met
	mark   int64
	// visited is, by stop, the mark of the last simulate that met it.
	visited []int64
}

// routeState is a route of the plan.
type routeState struct {
	cost    int64
	late    int64
	version int64
	stamp   int64 // the step that saved it
	stops   int32
	load    int32 // carried, in the first dimension
}

// extra is the data of a node that only rich problems need.
type extra struct {
	late     int64             // lateness from here to the end of the route
	soft     int32             // the latest start without lateness in the rest of the route
	open     int32             // number of pairs with one stop up to here and one after
	at       [Dimensions]int32 // load after the visit
	pre, suf [Dimensions]int32 // largest load up to here, and from here on
}

type savedNode struct {
	index int32
	node  node
}

// trace is the order of a route in a compact form that is fast to read, as of a version.
type trace struct {
	version int64
	hops    []hop // from the start to the end
}

// hop is a node of a route.
type hop struct {
	arc                int64 // cost that an insertion between here and the next node saves
	node, loc          int32
	leave              int32 // when the service ends
	early, late, due   int32
	hard, service, leg int32
}

// cached is the cheapest insertion of a pair into a route.
type cached struct {
	version       int64
	cost          int64
	request       int32
	route         int32
	first, second int32
}

const noWay = int64(1) << 60

func newState(m *model) *state {
	s := &state{
		m: m, nodes: slices.Clone(m.nodes), routes: make([]routeState, len(m.vehicles)),
		fleet: len(m.vehicles), vacant: make([]int32, len(m.classes)), step: 1, scale: 1,
		seen: make([]int64, len(m.requests)), count: make([]int32, len(m.requests)), visited: make([]int64, m.stops),
	}
	if !m.plain {
		s.extra = make([]extra, len(m.nodes))
	}
	if m.pairs > 0 {
		s.cache = make([]cached, min(m.pairs*len(m.vehicles), 1<<18))
		s.traces = make([]trace, len(m.vehicles))
	}
	for r := range s.routes {
		s.refresh(int32(r))
	}
	for q := range m.requests {
		s.absent = append(s.absent, int32(q))
		s.weight += m.weight[q]
		s.prizes += m.prize[q]
	}
	return s
}

// traced returns the hops of a route.
func (s *state) traced(r int32) []hop {
	t := &s.traces[r]
	if t.version == s.routes[r].version {
		return t.hops
	}
	t.version = s.routes[r].version
	t.hops = t.hops[:0]
	for i := s.m.start(r); i >= 0; {
		n := &s.nodes[i]
		t.hops = append(t.hops, hop{int64(n.arc), i, n.loc, n.start + n.service, n.early, n.late, n.due, n.hard, n.service, n.leg})
		i = n.next
	}
	if s.routes[r].stops == 0 { // an unused vehicle does not travel, but using it has a cost
		t.hops[0].arc = -s.m.vehicles[r].fixed
	}
	return t.hops
}

// refresh recomputes the data that is derived from the order of a route.
func (s *state) refresh(r int32) {
	m := s.m
	rt := &s.routes[r]
	mat := m.vehicles[r].matrix
	size := m.size
	first, last := m.start(r), m.end(r)
	s.cost -= rt.cost
	p := &s.nodes[first]
	p.start, p.pos, p.load = p.early, 0, 0
	var cost int64
	var load, pos int32
	for i := p.next; ; i = p.next {
		x := &s.nodes[i]
		if p.to != i {
			at := int(p.loc)*size + int(x.loc)
			p.to, p.leg, p.arc = i, mat.dur[at], mat.cost[at]
		}
		cost += int64(p.arc)
		pos++
		load += x.demand
		x.start = min(max(p.start+p.service+p.leg, x.early), farAway/2)
		x.pos, x.load = pos, load
		p = x
		if i == last {
			break
		}
	}
	s.used += inUse(pos-1) - inUse(rt.stops)
	rt.stops = pos - 1
	rt.load = load
	if pos > 1 {
		cost += m.vehicles[r].fixed
	} else {
		cost = 0
		s.vacate(r)
	}
	rt.cost = cost
	s.cost += cost
	s.version++
	rt.version = s.version
	p.hard = p.late
	if s.extra != nil {
		s.refreshExtra(r)
		return
	}
	for i := p.prev; i >= 0; i = p.prev {
		x := &s.nodes[i]
		x.hard = latest(x.late, x.early, p.hard-x.service-x.leg)
		p = x
	}
}

// latest returns the latest start of a stop, by its window and by the latest start of the
// next one. It returns a time before all others if no start is possible.
func latest(late, early, next int32) int32 {
	if late = min(late, next); late < early {
		return -farAway / 2
	}
	return late
}

// refreshExtra is the part of refresh for rich problems. The order and the starts of the
// stops are up to date.
func (s *state) refreshExtra(r int32) {
	m := s.m
	rt := &s.routes[r]
	dims := min(m.dims, Dimensions)
	first, last := m.start(r), m.end(r)
	e := &s.extra[first]
	var carried, at, most [Dimensions]int32 // at first, the loads are without what is carried from the start
	var open int32
	e.at, e.pre, e.open = at, most, 0
	for i := s.nodes[first].next; i != last; i = s.nodes[i].next {
		c := &m.rich[i]
		e = &s.extra[i]
		for d := range dims { // element by element, because copying data that was just written is slow
			carried[d] += c.carried[d]
			at[d] += c.change[d]
			most[d] = max(most[d], at[d])
			e.at[d], e.pre[d] = at[d], most[d]
		}
		open += int32(m.opens[i])
		e.open = open
	}
	e = &s.extra[last]
	for d := range dims {
		at[d] += carried[d]
		e.at[d], e.pre[d], e.suf[d] = at[d], most[d]+carried[d], at[d]
	}
	p := &s.nodes[last]
	soft := p.due
	var late int64
	e.soft, e.late = soft, 0
	for i := p.prev; i >= 0; i = p.prev {
		x := &s.nodes[i]
		e = &s.extra[i]
		step := x.service + x.leg
		x.hard = latest(x.late, x.early, p.hard-step)
		soft = latest(x.due, x.early, soft-step)
		for d := range dims {
			load := e.at[d] + carried[d]
			at[d] = max(at[d], load)
			e.at[d], e.pre[d], e.suf[d] = load, e.pre[d]+carried[d], at[d]
		}
		if m.soft && i < int32(m.stops) {
			late += int64(max(0, x.start-x.due))
		}
		e.soft, e.late = soft, late
		p = x
	}
	s.late += late - rt.late
	rt.late = late
}

// inUse returns how many vehicles a route with this many stops uses: 0 or 1.
func inUse(stops int32) int {
	if stops > 0 {
		return 1
	}
	return 0
}

// empty returns the first unused vehicle of a class, or -1 if there is none or no more may
// be used.
func (s *state) empty(class int32) int32 {
	if s.used >= s.fleet {
		return -1
	}
	list := s.m.classes[class]
	for k := s.vacant[class]; int(k) < len(list); k++ {
		if r := list[k]; s.routes[r].stops == 0 {
			s.vacant[class] = k
			return r
		}
	}
	s.vacant[class] = int32(len(list))
	return -1
}

// vacate makes empty consider an unused vehicle.
func (s *state) vacate(r int32) {
	v := &s.m.vehicles[r]
	s.vacant[v.class] = min(s.vacant[v.class], v.rank)
}

// sound reports whether a route is feasible in time and load. Removing stops can make it
// infeasible: travel may become longer, or a load larger.
func (s *state) sound(r int32) bool {
	first := s.m.start(r)
	if s.nodes[first].start > s.nodes[first].hard {
		return s.routes[r].stops == 0
	}
	if s.extra != nil {
		for d := range s.m.dims {
			if s.extra[first].suf[d] > s.m.vehicles[r].capacity[d] {
				return false
			}
		}
	}
	return true
}

// touch saves a route, so that undo can restore it.
func (s *state) touch(r int32) {
	rt := &s.routes[r]
	if rt.stamp == s.step {
		return
	}
	s.touched = append(s.touched, r)
	s.savedRoutes = append(s.savedRoutes, *rt)
	rt.stamp = s.step
	for i := s.m.start(r); i >= 0; i = s.nodes[i].next {
		s.savedNodes = append(s.savedNodes, savedNode{i, s.nodes[i]})
		if s.extra != nil {
			s.savedExtra = append(s.savedExtra, s.extra[i])
		}
	}
}

// begin starts a step that undo can take back.
func (s *state) begin() {
	s.step++
	s.touched, s.savedRoutes, s.savedNodes, s.savedExtra = s.touched[:0], s.savedRoutes[:0], s.savedNodes[:0], s.savedExtra[:0]
	s.savedAbsent = append(s.savedAbsent[:0], s.absent...)
	s.savedTotals = [4]int64{s.cost, s.late, s.weight, s.prizes}
}

// undo restores the plan to its state at begin.
func (s *state) undo() {
	for _, q := range s.savedAbsent {
		for _, x := range s.m.requests[q] {
			s.nodes[x].route = -1
		}
	}
	for i := range s.savedNodes {
		s.nodes[s.savedNodes[i].index] = s.savedNodes[i].node
		if s.extra != nil {
			s.extra[s.savedNodes[i].index] = s.savedExtra[i]
		}
	}
	for i, r := range s.touched {
		s.used += inUse(s.savedRoutes[i].stops) - inUse(s.routes[r].stops)
		s.routes[r] = s.savedRoutes[i]
		if s.routes[r].stops == 0 {
			s.vacate(r)
		}
	}
	s.absent = append(s.absent[:0], s.savedAbsent...)
	s.cost, s.late, s.weight, s.prizes = s.savedTotals[0], s.savedTotals[1], s.savedTotals[2], s.savedTotals[3]
	if s.m.wide {
		for _, q := range s.absent {
			for _, x := range s.m.requests[q] {
				s.nodes[x].early, s.nodes[x].late = s.m.nodes[x].early, s.m.nodes[x].late
			}
		}
	}
}

// link puts a stop after a node, without refresh.
func (s *state) link(x, after int32) {
	n := s.nodes[after].next
	s.nodes[x].prev, s.nodes[x].next, s.nodes[x].route, s.nodes[x].to = after, n, s.nodes[after].route, -1
	s.nodes[after].next = x
	s.nodes[n].prev = x
}

// unlink removes a stop from its route, without refresh.
func (s *state) unlink(x int32) {
	p, n := s.nodes[x].prev, s.nodes[x].next
	s.nodes[p].next = n
	s.nodes[n].prev = p
	s.nodes[x].route = -1
}

// remove removes a request from its route, with all requests that must come after it. It
// touches the routes, which the caller refreshes. It appends the removed requests.
func (s *state) remove(q int32, removed []int32) []int32 {
	members := s.m.requests[q]
	if s.nodes[members[0]].route < 0 {
		return removed
	}
	s.touch(s.nodes[members[0]].route)
	for _, x := range members {
		s.unlink(x)
	}
	removed = append(removed, q)
	s.weight += s.m.weight[q]
	s.prizes += s.m.prize[q]
	if s.m.kinds[q] != general {
		return removed
	}
	for _, x := range members {
		for _, b := range s.m.after[x] {
			removed = s.remove(s.m.request[b], removed)
		}
	}
	s.release(members)
	return removed
}

// release widens the windows of stops that had to end before removed stops began.
func (s *state) release(members []int32) {
	for _, x := range members {
		s.nodes[x].early, s.nodes[x].late = s.m.nodes[x].early, s.m.nodes[x].late
		for _, a := range s.m.before[x] {
			r := s.nodes[a].route
			if r < 0 {
				continue
			}
			s.touch(r)
			late := s.m.nodes[a].late
			for _, b := range s.m.after[a] {
				if s.nodes[b].route >= 0 && s.nodes[b].route != r {
					late = min(late, s.nodes[b].early-s.nodes[a].service)
				}
			}
			s.nodes[a].late = late
		}
	}
}

// hold narrows the windows of the stops of a request and of stops of other vehicles that
// must precede them to a fixed moment, so that the routes no longer depend on each other.
func (s *state) hold(members []int32) {
	for _, x := range members {
		for _, a := range s.m.before[x] {
			r := s.nodes[a].route
			if r == s.nodes[x].route {
				continue
			}
			s.touch(r)
			s.nodes[x].early = max(s.nodes[x].early, s.nodes[x].start)
			s.nodes[a].late = min(s.nodes[a].late, s.nodes[x].start-s.nodes[a].service)
			s.refresh(r)
		}
	}
}

// tailLate returns the lateness from a node to the end of its route if the vehicle arrives
// there at the given time, which must be feasible.
func (s *state) tailLate(i, arrival int32) int64 {
	var late int64
	for {
		n := &s.nodes[i]
		if arrival <= s.extra[i].soft {
			return late
		}
		start := max(arrival, n.early)
		if start == n.start {
			return late + s.extra[i].late
		}
		if n.next < 0 {
			return late
		}
		late += int64(max(0, start-n.due))
		arrival = start + n.service + n.leg
		i = n.next
	}
}

// energy returns the cost that the search minimizes among plans that serve equally many
// stops.
func (s *state) energy() int64 { return s.cost + s.prizes + s.late*s.scale }
