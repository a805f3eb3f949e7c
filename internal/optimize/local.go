package optimize

// The reach of the local search.
const (
	localNeighbors = 8 // stops that are tried before and after each
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

// local improves the plan around the stops in the queue until no move helps:
// moving chains of stops, exchanging them, exchanging the rests of two routes and
// reversing parts of a route.
func (s *mover) local() {
	for k := 0; k < len(s.queue); k++ {
		x := s.queue[k]
		s.queued[x] = false
		for s.nodes[x].route >= 0 && !s.frozen[s.nodes[x].route] && s.improveStop(x) {
		}
	}
	s.queue = s.queue[:0]
}

// improveStop makes the first move that it finds to put a stop next to one of its
// neighbors at less cost, and reports whether there is one.
//
// A move that helps adds an arc that costs less than one that it removes at either
// end of it, so others are not tried, except where lateness may end.
func (s *mover) improveStop(u int32) bool {
	m := s.m
	nodes := s.nodes
	n := &nodes[u]
	in, out, mine := nodes[n.prev].arc, n.arc, s.routes[n.route].late
	one := len(m.matrices) == 1
	preds := m.preds[u]
	for i := range preds[:min(localNeighbors, len(preds))] {
		nb := &preds[i]
		v := &nodes[nb.stop]
		r := v.route
		if r < 0 || v.next == u || nb.cost >= v.arc && nb.cost >= in && s.routes[r].late+mine == 0 || s.frozen[r] {
			continue
		}
		if one && r != n.route && v.start+v.service+nb.dur > n.late {
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
		if r < 0 || v.prev == u || nb.cost >= out && nb.cost >= nodes[v.prev].arc && s.routes[r].late+mine == 0 || s.frozen[r] {
			continue
		}
		if one && r != n.route && leave+nb.dur > v.hard {
			continue
		}
		if s.joinBefore(u, nb.stop) {
			return true
		}
	}
	return false
}

// joinAfter tries the moves that make u the successor of v. What each would cost
// is computed here as far as it is the same for several; the moves themselves
// check the rules.
func (s *mover) joinAfter(u, v int32) bool {
	stops := int32(s.m.stops)
	nodes := s.nodes
	a, b := nodes[u].route, nodes[v].route
	mat := s.m.vehicles[b].matrix
	size := s.m.size
	limit := s.slack(a, b) + s.m.vehicles[a].fixed
	if mat != s.m.vehicles[a].matrix {
		limit = noWay
	}
	p, y := nodes[u].prev, nodes[v].next
	costs := mat.cost
	from := costs[int(nodes[p].loc)*size:][:size]
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
	chain := s.chainAt(u)
	tails := base + int64(from[to])
	if (tails < limit || nodes[s.m.end(a)].loc != nodes[s.m.end(b)].loc) && s.swapTails(v, u) {
		return true
	}
	for range chain {
		row := costs[int(last)*size:][:size]
		n := nodes[last].next
		rest := int64(nodes[last].arc)
		if base+int64(row[to])+int64(from[nodes[n].loc])-rest < limit && s.move(u, last, v) {
			return true
		}
		y2 := y
		for range longestChain - 1 {
			if y2 >= stops {
				break
			}
			n2 := nodes[y2].next
			if tails+int64(row[nodes[n2].loc])+int64(costs[int(y2)*size+int(nodes[n].loc)])-rest-int64(nodes[y2].arc) < limit && s.exchange(u, last, y, y2) {
				return true
			}
			y2 = n2
		}
		if last = n; last >= stops {
			break
		}
	}
	return false
}

// chainAt returns how long chains at a stop may be that move to another
// route: 0 if a chain cannot contain all that is served together with the stop.
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

// joinBefore tries the moves that make u the predecessor of v.
func (s *mover) joinBefore(u, v int32) bool {
	stops := int32(s.m.stops)
	nodes := s.nodes
	a, b := nodes[u].route, nodes[v].route
	mat := s.m.vehicles[b].matrix
	size := s.m.size
	limit := s.slack(a, b) + s.m.vehicles[a].fixed
	if mat != s.m.vehicles[a].matrix {
		limit = noWay
	}
	p, n := nodes[v].prev, nodes[u].next
	costs, back := mat.cost, mat.costT
	to := back[int(nodes[n].loc)*size:][:size]
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
	chain := s.chainAt(u)
	tails := base + int64(to[at])
	if (tails < limit || nodes[s.m.end(a)].loc != nodes[s.m.end(b)].loc) && s.swapTails(u, v) {
		return true
	}
	for range chain {
		column := back[int(first)*size:][:size]
		f := nodes[first].prev
		rest := int64(nodes[f].arc)
		if base+int64(column[at])+int64(to[nodes[f].loc])-rest < limit && s.move(first, u, p) {
			return true
		}
		z := p
		for range longestChain - 1 {
			if z >= stops {
				break
			}
			f2 := nodes[z].prev
			if tails+int64(column[nodes[f2].loc])+int64(back[int(z)*size+int(nodes[f].loc)])-rest-int64(nodes[f2].arc) < limit && s.exchange(first, u, z, p) {
				return true
			}
			z = f2
		}
		if first = f; first >= stops {
			break
		}
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

// gap returns the cost of travel directly between two nodes of a route, which is
// 0 in a route that becomes empty.
func (s *mover) gap(r, a, b int32) int64 {
	if a >= int32(s.m.stops) && b >= int32(s.m.stops) {
		return -s.m.vehicles[r].fixed
	}
	return s.arc(r, a, b)
}

// chain returns the cost of travel, the load and the number of stops of a chain,
// for the vehicle of a route.
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

// movable reports whether the vehicle of another route may serve a chain, and all
// that is served together with a stop of it is in it.
func (s *mover) movable(r, first, last int32) bool {
	m := s.m
	half := int32(-1) // the request of which one stop was met
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

// slack is how much more than its travel a move of a rich problem may cost,
// because it may end lateness.
func (s *mover) slack(a, b int32) int64 {
	if !s.m.soft {
		return 0
	}
	return (s.routes[a].late + s.routes[b].late) * s.scale
}

// confirm evaluates the new sequences of two routes by all rules and reports
// whether they are better.
func (s *mover) confirm(a, b int32) bool {
	before := s.routes[a].cost + s.routes[b].cost + (s.routes[a].late+s.routes[b].late)*s.scale
	costB, lateB, ok := s.simulate(b, s.seqB)
	if !ok {
		return false
	}
	costA, lateA, ok := s.simulate(a, s.seqA)
	return ok && costA+costB+(lateA+lateB)*s.scale < before
}

// spell appends the nodes from one to another, the sentinels excepted.
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

func (s *mover) join(a, b int32) {
	s.nodes[a].next = b
	s.nodes[b].prev = a
}

// own makes a chain part of a route.
func (s *mover) own(r, first, last int32) {
	for i := first; ; i = s.nodes[i].next {
		s.nodes[i].route = r
		s.nodes[i].to = -1 // the matrix may be another
		if i == last {
			return
		}
	}
}

func (s *mover) enqueueAll(list ...int32) {
	for _, x := range list {
		s.enqueue(x)
	}
}
