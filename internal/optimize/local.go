package optimize

// The reach of the local search.
const (
	localNeighbors = 8 // stops that are tried before and after each stop
	longestChain   = 3 // consecutive stops that move together
)

// mover improves a plan by moves of a few stops.
type mover struct {
	*state
	queue  []int32 // stops to improve
	queued []bool
}

func (s *mover) enqueue(x int32) {
	if x < int32(s.m.stops) && !s.queued[x] {
		s.queued[x] = true
		s.queue = append(s.queue, x)
	}
}

// drop empties the queue.
func (s *mover) drop() {
	for _, x := range s.queue {
		s.queued[x] = false
	}
	s.queue = s.queue[:0]
}

// local improves the plan around the stops in the queue until no move helps: moving chains
// of stops, exchanging them, exchanging the tails of two routes, and reversing parts of a
// route.
func (s *mover) local() {
	for k := 0; k < len(s.queue); k++ {
		x := s.queue[k]
		s.queued[x] = false
		for s.nodes[x].route >= 0 && s.improveStop(x) {
		}
	}
	s.queue = s.queue[:0]
}

// improveStop makes the first move that it finds to put a stop next to one of its
// neighbors at less cost, and reports whether there is one.
//
// A move that helps adds an arc that costs less than one that it removes at either end of
// it, so other moves are not tried, except where they may end lateness.
func (s *mover) improveStop(u int32) bool {
	m := s.m
	nodes := s.nodes
	n := &nodes[u]
	in, out, mine := nodes[n.prev].arc, n.arc, s.routes[n.route].late
	first := &m.matrices[0]
	preds := m.preds[u]
	for i := range preds[:min(localNeighbors, len(preds))] {
		nb := &preds[i]
		v := &nodes[nb.stop]
		r := v.route
		if r < 0 || v.next == u || nb.cost >= v.arc && nb.cost >= in && s.routes[r].late+mine == 0 {
			continue
		}
		dur := nb.dur
		if mat := m.vehicles[r].matrix; mat != first {
			dur = mat.dur[int(nb.stop)*m.size+int(u)]
			if cost := mat.cost[int(nb.stop)*m.size+int(u)]; cost >= v.arc && cost >= in && s.routes[r].late+mine == 0 {
				continue
			}
		}
		if r != n.route && v.start+v.service+dur > n.late {
			continue
		}
		if s.joinAfter(u, nb.stop) {
			return true
		}
	}
	leave := n.early + n.service
	succs := m.succs[u]
	for i := range succs[:min(localNeighbors, len(succs))] {
		nb := &succs[i]
		v := &nodes[nb.stop]
		r := v.route
		if r < 0 || v.prev == u || nb.cost >= out && nb.cost >= nodes[v.prev].arc && s.routes[r].late+mine == 0 {
			continue
		}
		dur := nb.dur
		if mat := m.vehicles[r].matrix; mat != first {
			dur = mat.dur[int(u)*m.size+int(nb.stop)]
			if cost := mat.cost[int(u)*m.size+int(nb.stop)]; cost >= out && cost >= nodes[v.prev].arc && s.routes[r].late+mine == 0 {
				continue
			}
		}
		if r != n.route && leave+dur > v.hard {
			continue
		}
		if s.joinBefore(u, nb.stop) {
			return true
		}
	}
	return false
}

// joinAfter tries the moves that make u the successor of v. It computes the parts of the
// cost that several moves share; the moves themselves check the rules.
func (s *mover) joinAfter(u, v int32) bool {
	stops := int32(s.m.stops)
	nodes := s.nodes
	a, b := nodes[u].route, nodes[v].route
	size := s.m.size
	p, y := nodes[u].prev, nodes[v].next
	chain, tails := s.chainAt(u), s.tailsAt(a, b, v, p)
	if a != b && chain == 0 && !tails {
		return false
	}
	limit := s.slack(a, b) + s.m.vehicles[a].fixed
	costs, mine := s.m.vehicles[b].matrix.cost, s.m.vehicles[a].matrix.cost
	same := s.m.vehicles[a].matrix == s.m.vehicles[b].matrix
	from := mine[int(nodes[p].loc)*size:][:size]
	base := int64(costs[int(v)*size+int(u)]) - int64(nodes[v].arc) - int64(nodes[p].arc)
	to := nodes[y].loc
	last := u
	if a == b {
		for range longestChain {
			n := nodes[last].next
			if base+int64(costs[int(last)*size+int(to)])+int64(from[nodes[n].loc])-int64(nodes[last].arc) < limit && s.reorder(u, last, v) {
				return true
			}
			if last = n; last >= stops || last == v {
				break
			}
		}
		return s.reverse(u, v)
	}
	both := base + int64(from[to])
	if tails && (both < limit || nodes[s.m.end(a)].loc != nodes[s.m.end(b)].loc) && s.swapTails(v, u) {
		return true
	}
	for range chain {
		row := costs[int(last)*size:][:size]
		n := nodes[last].next
		rest := int64(nodes[last].arc)
		if base+int64(row[to])+int64(from[nodes[n].loc])-rest < limit && s.move(u, last, v) {
			return true
		}
		y2, other := y, both
		for range longestChain - 1 {
			if y2 >= stops {
				break
			}
			n2 := nodes[y2].next
			if other+int64(row[nodes[n2].loc])+int64(mine[int(y2)*size+int(nodes[n].loc)])-rest-int64(nodes[y2].arc) < limit && s.exchange(u, last, y, y2) {
				return true
			}
			if !same && n2 < stops {
				other += int64(mine[int(y2)*size+int(n2)]) - int64(nodes[y2].arc)
			}
			y2 = n2
		}
		if n >= stops {
			break
		}
		if !same { // the chain travels with the other vehicle
			inner := int64(row[n]) - rest
			base, both = base+inner, both+inner
		}
		last = n
	}
	return false
}

// chainAt returns the maximum length of chains at a stop that may move to another route: 0
// if a chain cannot contain all stops that are served together with the stop.
func (s *mover) chainAt(u int32) int {
	m := s.m
	q := m.request[u]
	switch m.kinds[q] {
	case single:
		return longestChain
	case pair:
		if s.nodes[m.requests[q][1]].pos-s.nodes[m.requests[q][0]].pos < longestChain {
			return longestChain
		}
	case general:
	}
	return 0
}

// tailsAt reports whether two routes can exchange the stops after these nodes: their
// vehicles have the same travel matrix, and no pair is torn apart.
func (s *mover) tailsAt(a, b, x, y int32) bool {
	return s.m.vehicles[a].matrix == s.m.vehicles[b].matrix && (s.m.plain || s.extra[x].open+s.extra[y].open == 0)
}

// joinBefore tries the moves that make u the predecessor of v.
func (s *mover) joinBefore(u, v int32) bool {
	stops := int32(s.m.stops)
	nodes := s.nodes
	a, b := nodes[u].route, nodes[v].route
	size := s.m.size
	p, n := nodes[v].prev, nodes[u].next
	chain, tails := s.chainAt(u), s.tailsAt(a, b, u, p)
	if a != b && chain == 0 && !tails {
		return false
	}
	limit := s.slack(a, b) + s.m.vehicles[a].fixed
	costs, back, mine := s.m.vehicles[b].matrix.cost, s.m.vehicles[b].matrix.costT, s.m.vehicles[a].matrix.costT
	same := s.m.vehicles[a].matrix == s.m.vehicles[b].matrix
	to := mine[int(nodes[n].loc)*size:][:size]
	base := int64(costs[int(u)*size+int(v)]) - int64(nodes[u].arc) - int64(nodes[p].arc)
	at := nodes[p].loc
	first := u
	if a == b {
		for range longestChain {
			f := nodes[first].prev
			if base+int64(back[int(first)*size+int(at)])+int64(to[nodes[f].loc])-int64(nodes[f].arc) < limit && s.reorder(first, u, p) {
				return true
			}
			if first = f; first >= stops || first == v {
				break
			}
		}
		return false
	}
	both := base + int64(to[at])
	if tails && (both < limit || nodes[s.m.end(a)].loc != nodes[s.m.end(b)].loc) && s.swapTails(u, v) {
		return true
	}
	for range chain {
		column := back[int(first)*size:][:size]
		f := nodes[first].prev
		rest := int64(nodes[f].arc)
		if base+int64(column[at])+int64(to[nodes[f].loc])-rest < limit && s.move(first, u, p) {
			return true
		}
		z, other := p, both
		for range longestChain - 1 {
			if z >= stops {
				break
			}
			f2 := nodes[z].prev
			if other+int64(column[nodes[f2].loc])+int64(mine[int(z)*size+int(nodes[f].loc)])-rest-int64(nodes[f2].arc) < limit && s.exchange(first, u, z, p) {
				return true
			}
			if !same && f2 < stops {
				other += int64(mine[int(z)*size+int(f2)]) - int64(nodes[f2].arc)
			}
			z = f2
		}
		if f >= stops {
			break
		}
		if !same { // the chain travels with the other vehicle
			inner := int64(column[f]) - rest
			base, both = base+inner, both+inner
		}
		first = f
	}
	return false
}

// arc returns the cost of travel between two nodes for the vehicle of a route.
func (s *mover) arc(r, a, b int32) int64 {
	return int64(s.m.vehicles[r].matrix.cost[int(s.nodes[a].loc)*s.m.size+int(s.nodes[b].loc)])
}

func (s *mover) dur(r, a, b int32) int32 {
	return s.m.vehicles[r].matrix.dur[int(s.nodes[a].loc)*s.m.size+int(s.nodes[b].loc)]
}

// gap returns the cost of travel directly between two nodes of a route. If the route
// becomes empty, it is the saved cost of the vehicle, which is negative.
func (s *mover) gap(r, a, b int32) int64 {
	if a >= int32(s.m.stops) && b >= int32(s.m.stops) {
		return -s.m.vehicles[r].fixed
	}
	return s.arc(r, a, b)
}

// chain returns the difference in travel cost if the vehicle of route r serves a chain, and
// the load and the number of stops of the chain.
func (s *mover) chain(r, first, last int32) (cost int64, load, count int32) {
	same := s.m.vehicles[r].matrix == s.m.vehicles[s.nodes[first].route].matrix
	for i := first; ; i = s.nodes[i].next {
		load += s.nodes[i].demand
		count++
		if i == last {
			return cost, load, count
		}
		if !same {
			cost += s.arc(r, i, s.nodes[i].next) - int64(s.nodes[i].arc)
		}
	}
}

// reaches reports whether a vehicle can go from a node through a chain to
// another node in time. A first of -1 is an empty chain.
func (s *mover) reaches(r, from, first, last, to int32) bool {
	p := &s.nodes[from]
	t := p.start + p.service
	at := from
	if first >= 0 {
		for i := first; ; i = s.nodes[i].next {
			n := &s.nodes[i]
			t = max(t+s.dur(r, at, i), n.early)
			if t > n.late {
				return false
			}
			t += n.service
			at = i
			if i == last {
				break
			}
		}
	}
	return t+s.dur(r, at, to) <= s.nodes[to].hard
}

// movable reports whether the vehicle of another route may serve a chain, and whether the
// chain contains all stops that are served together with one of its stops.
func (s *mover) movable(r, first, last int32) bool {
	m := s.m
	half := int32(-1) // the pair of which only one stop was met so far
	for i := first; ; i = s.nodes[i].next {
		q := m.request[i]
		switch {
		case m.allowed != nil && !m.allowed[int(r)*m.stops+int(i)], m.kinds[q] == general:
			return false
		case m.kinds[q] == single:
		case half == q:
			half = -1
		case half < 0:
			half = q
		default:
			return false
		}
		if i == last {
			return half < 0
		}
	}
}

// slack returns how much more than its travel a move may cost because it may end lateness.
func (s *mover) slack(a, b int32) int64 {
	if !s.m.soft {
		return 0
	}
	return (s.routes[a].late + s.routes[b].late) * s.scale
}

// confirm evaluates the new sequences seqA and seqB of two routes by all rules, and reports
// whether they are feasible and better.
func (s *mover) confirm(a, b int32) bool {
	before := s.routes[a].cost + s.routes[b].cost + (s.routes[a].late+s.routes[b].late)*s.scale
	costB, lateB, ok := s.simulate(b, s.seqB)
	if !ok {
		return false
	}
	costA, lateA, ok := s.simulate(a, s.seqA)
	return ok && costA+costB+(lateA+lateB)*s.scale < before
}

// patched reports whether exchanging two chains of different routes is feasible and better,
// given the difference in travel cost. An empty chain has a first of -1.
func (s *mover) patched(delta int64, a, p, first, last, n, b, p2, first2, last2, n2 int32) bool {
	in, out := s.sum(first, last), s.sum(first2, last2)
	lateB, ok := s.patch(b, p2, n2, first, last, &in, &out)
	if !ok {
		return false
	}
	lateA, ok := s.patch(a, p, n, first2, last2, &out, &in)
	return ok && delta+(lateA+lateB-s.routes[a].late-s.routes[b].late)*s.scale < 0
}

// sum returns the load that a chain carries and by how much it changes the load.
func (s *mover) sum(first, last int32) (total demand) {
	if first < 0 || s.m.dims == 0 {
		return total
	}
	for i := first; ; i = s.nodes[i].next {
		for d := range s.m.dims {
			total.carried[d] += s.m.rich[i].carried[d]
			total.change[d] += s.m.rich[i].change[d]
		}
		if i == last {
			return total
		}
	}
}

// patch evaluates a route in which a chain of another route replaces the stops between two
// nodes, by all rules except precedences, and returns its lateness. in and out are the sums
// of the chain and of the replaced stops.
func (s *mover) patch(r, p, n, first, last int32, in, out *demand) (late int64, ok bool) {
	m := s.m
	v := &m.vehicles[r]
	var load [Dimensions]int32
	for d := range m.dims {
		carried := in.carried[d] - out.carried[d]
		load[d] = s.extra[p].at[d] + carried
		if s.extra[p].pre[d]+carried > v.capacity[d] || s.extra[n].suf[d]+carried+in.change[d]-out.change[d] > v.capacity[d] {
			return 0, false
		}
	}
	np := &s.nodes[p]
	late = s.routes[r].late - s.extra[np.next].late
	t, at := np.start+np.service, p
	for i := first; i >= 0; i = s.nodes[i].next {
		x := &s.nodes[i]
		t = max(t+s.dur(r, at, i), x.early)
		if t > x.late || m.zones != nil && (m.zones[at] > m.zones[i] || m.zones[i] > m.zones[n]) {
			return 0, false
		}
		for d := range m.dims {
			if load[d] += m.rich[i].change[d]; load[d] > v.capacity[d] {
				return 0, false
			}
		}
		late += int64(max(0, t-x.due))
		t += x.service
		if at = i; i == last {
			break
		}
	}
	if t += s.dur(r, at, n); t > s.nodes[n].hard {
		return 0, false
	}
	return late + s.tailLate(n, t), true
}

// spell appends the stops from one node to another, without starts and ends of routes.
func (s *mover) spell(out []int32, from, to int32) []int32 {
	for i := from; ; i = s.nodes[i].next {
		if i < int32(s.m.stops) {
			out = append(out, i)
		}
		if i == to || s.nodes[i].next < 0 {
			return out
		}
	}
}
