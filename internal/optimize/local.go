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

// move puts a chain of one route after a node of another.
func (s *mover) move(first, last, after int32) bool {
	m := s.m
	a, b := s.nodes[first].route, s.nodes[after].route
	p, n, y := s.nodes[first].prev, s.nodes[last].next, s.nodes[after].next
	inner, load, count := s.chain(b, first, last)
	delta := s.gap(a, p, n) - int64(s.nodes[p].arc) - int64(s.nodes[last].arc) +
		s.arc(b, after, first) + s.arc(b, last, y) - int64(s.nodes[after].arc) + inner
	if delta-s.slack(a, b) >= 0 || s.routes[b].stops+count > m.vehicles[b].maxStops {
		return false
	}
	if m.plain && s.routes[b].load+load > m.vehicles[b].capacity[0] {
		return false
	}
	if !m.plain && !s.movable(b, first, last) || !s.reaches(b, after, first, last, y) || !s.reaches(a, p, -1, -1, n) {
		return false
	}
	if !m.plain {
		s.seqA = s.spell(s.seqA[:0], m.start(a), p)
		s.seqA = s.spell(s.seqA, n, m.end(a))
		s.seqB = s.spell(s.seqB[:0], m.start(b), after)
		s.seqB = s.spell(s.seqB, first, last)
		s.seqB = s.spell(s.seqB, y, m.end(b))
		if !s.confirm(a, b) {
			return false
		}
	}
	s.touch(a)
	s.touch(b)
	s.join(p, n)
	s.join(after, first)
	s.join(last, y)
	s.own(b, first, last)
	s.refresh(a)
	s.refresh(b)
	s.enqueueAll(p, n, after, first, last, y)
	return true
}

// exchange swaps two chains of different routes.
func (s *mover) exchange(first, last, first2, last2 int32) bool {
	m := s.m
	a, b := s.nodes[first].route, s.nodes[first2].route
	p, n, p2, n2 := s.nodes[first].prev, s.nodes[last].next, s.nodes[first2].prev, s.nodes[last2].next
	innerB, load, count := s.chain(b, first, last)
	innerA, load2, count2 := s.chain(a, first2, last2)
	delta := s.arc(a, p, first2) + s.arc(a, last2, n) - int64(s.nodes[p].arc) - int64(s.nodes[last].arc) +
		s.arc(b, p2, first) + s.arc(b, last, n2) - int64(s.nodes[p2].arc) - int64(s.nodes[last2].arc) + innerA + innerB
	if delta-s.slack(a, b) >= 0 || s.routes[a].stops-count+count2 > m.vehicles[a].maxStops || s.routes[b].stops-count2+count > m.vehicles[b].maxStops {
		return false
	}
	if m.plain && (s.routes[a].load-load+load2 > m.vehicles[a].capacity[0] || s.routes[b].load-load2+load > m.vehicles[b].capacity[0]) {
		return false
	}
	if !m.plain && (!s.movable(b, first, last) || !s.movable(a, first2, last2)) ||
		!s.reaches(b, p2, first, last, n2) || !s.reaches(a, p, first2, last2, n) {
		return false
	}
	if !m.plain {
		s.seqA = s.spell(s.seqA[:0], m.start(a), p)
		s.seqA = s.spell(s.seqA, first2, last2)
		s.seqA = s.spell(s.seqA, n, m.end(a))
		s.seqB = s.spell(s.seqB[:0], m.start(b), p2)
		s.seqB = s.spell(s.seqB, first, last)
		s.seqB = s.spell(s.seqB, n2, m.end(b))
		if !s.confirm(a, b) {
			return false
		}
	}
	s.touch(a)
	s.touch(b)
	s.join(p, first2)
	s.join(last2, n)
	s.join(p2, first)
	s.join(last, n2)
	s.own(a, first2, last2)
	s.own(b, first, last)
	s.refresh(a)
	s.refresh(b)
	s.enqueueAll(p, n, p2, n2, first, last, first2, last2)
	return true
}

// swapTails makes u the successor of v, which is on another route, with all that
// follows, and what followed v the successor of the predecessor of u.
func (s *mover) swapTails(v, u int32) bool {
	m := s.m
	a, b := s.nodes[u].route, s.nodes[v].route
	va, vb := &m.vehicles[a], &m.vehicles[b]
	if va.matrix != vb.matrix {
		return false
	}
	p, y := s.nodes[u].prev, s.nodes[v].next
	endA, endB := m.end(a), m.end(b)
	lastA, lastB := s.nodes[endA].prev, s.nodes[endB].prev
	delta := s.arc(b, v, u) + s.gap(a, p, y) - int64(s.nodes[v].arc) - int64(s.nodes[p].arc)
	sameEnd := s.nodes[endA].loc == s.nodes[endB].loc && s.nodes[endA].late == s.nodes[endB].late
	if s.nodes[endA].loc != s.nodes[endB].loc {
		if y == endB {
			return false // what follows v is only the end of its own route
		}
		delta += s.arc(b, lastA, endB) - int64(s.nodes[lastA].arc) + s.arc(a, lastB, endA) - int64(s.nodes[lastB].arc)
	}
	if delta-s.slack(a, b) >= 0 {
		return false
	}
	countA, countB := s.nodes[p].pos+s.routes[b].stops-s.nodes[v].pos, s.nodes[v].pos+s.routes[a].stops-s.nodes[p].pos
	if countA > va.maxStops || countB > vb.maxStops {
		return false
	}
	if m.plain {
		if s.nodes[v].load+s.routes[a].load-s.nodes[p].load > vb.capacity[0] || s.nodes[p].load+s.routes[b].load-s.nodes[v].load > va.capacity[0] {
			return false
		}
	}
	if sameEnd && (!s.reaches(b, v, -1, -1, u) || !s.reaches(a, p, -1, -1, y)) {
		return false
	}
	if !m.plain || !sameEnd {
		s.seqA = s.spell(s.seqA[:0], m.start(a), p)
		s.seqA = s.spell(s.seqA, y, endB)
		s.seqB = s.spell(s.seqB[:0], m.start(b), v)
		s.seqB = s.spell(s.seqB, u, endA)
		if !s.confirm(a, b) {
			return false
		}
	}
	s.touch(a)
	s.touch(b)
	if y == endB {
		s.join(p, endA)
	} else {
		s.join(p, y)
		s.join(lastB, endA)
		s.own(a, y, lastB)
	}
	s.join(v, u)
	s.join(lastA, endB)
	s.own(b, u, lastA)
	s.refresh(a)
	s.refresh(b)
	s.enqueueAll(p, y, v, u)
	return true
}

// reorder moves a chain to another position of its route.
func (s *mover) reorder(first, last, after int32) bool {
	at := s.nodes[after].pos
	p, n := s.nodes[first].prev, s.nodes[last].next
	if after == p || at >= s.nodes[first].pos && at <= s.nodes[last].pos {
		return false
	}
	r := s.nodes[first].route
	y := s.nodes[after].next
	delta := s.arc(r, p, n) - int64(s.nodes[p].arc) - int64(s.nodes[last].arc) +
		s.arc(r, after, first) + s.arc(r, last, y) - int64(s.nodes[after].arc)
	if delta-s.slack(r, r) >= 0 {
		return false
	}
	if at < s.nodes[first].pos {
		if !s.passes(r, after, first, last, y, p, n) {
			return false
		}
	} else if !s.passes(r, p, n, after, first, last, y) {
		return false
	}
	if s.m.plain {
		s.touch(r)
		s.join(p, n)
		s.join(after, first)
		s.join(last, y)
		s.refresh(r)
		s.enqueueAll(p, n, after, first, last, y)
		return true
	}
	seq := s.seqA[:0]
	for i := s.nodes[s.m.start(r)].next; s.nodes[i].next >= 0; i = s.nodes[i].next {
		if i == first {
			i = last
			continue
		}
		seq = append(seq, i)
	}
	k := 0
	for after < int32(s.m.stops) && k < len(seq) && seq[k] != after {
		k++
	}
	if after < int32(s.m.stops) {
		k++
	}
	s.seqB = s.spell(s.seqB[:0], first, last)
	tail := len(seq)
	seq = append(seq, s.seqB...)
	copy(seq[k+len(s.seqB):], seq[k:tail])
	copy(seq[k:], s.seqB)
	s.seqA = seq
	return s.replace(r, seq)
}

// passes reports whether a vehicle can go from a node through two chains of its
// route to another node in time.
func (s *mover) passes(r, from, first, last, first2, last2, to int32) bool {
	t := s.nodes[from].start + s.nodes[from].service + s.dur(r, from, first)
	for i, second := first, false; ; {
		n := &s.nodes[i]
		t = max(t, n.early)
		if t > n.late {
			return false
		}
		t += n.service
		switch {
		case i == last2 && second:
			return t+s.dur(r, i, to) <= s.nodes[to].hard
		case i == last && !second:
			t += s.dur(r, i, first2)
			i, second = first2, true
		default:
			t += n.leg
			i = n.next
		}
	}
}

// turns reports whether a vehicle can go from a node through a chain of its route
// backwards to another node in time.
func (s *mover) turns(r, from, first, last, to int32) bool {
	t := s.nodes[from].start + s.nodes[from].service
	at := from
	for i := last; ; i = s.nodes[i].prev {
		n := &s.nodes[i]
		t = max(t+s.dur(r, at, i), n.early)
		if t > n.late {
			return false
		}
		t += n.service
		at = i
		if i == first {
			return t+s.dur(r, at, to) <= s.nodes[to].hard
		}
	}
}

// reverse turns around the part of a route between v and the successor of u, which
// comes after v.
func (s *mover) reverse(u, v int32) bool {
	r := s.nodes[u].route
	pv, pu := s.nodes[v].pos, s.nodes[u].pos
	if pu <= pv+1 {
		return false
	}
	y, n := s.nodes[v].next, s.nodes[u].next
	delta := s.arc(r, v, u) + s.arc(r, y, n) - int64(s.nodes[v].arc) - int64(s.nodes[u].arc)
	if delta-s.slack(r, r) >= 0 {
		return false
	}
	if !s.turns(r, v, y, u, n) {
		return false
	}
	seq := s.sequence(r, s.seqA[:0])
	for i, k := int(pv), int(pu)-1; i < k; i, k = i+1, k-1 {
		seq[i], seq[k] = seq[k], seq[i]
	}
	s.seqA = seq
	return s.replace(r, seq)
}

// replace gives a route a new order if that is feasible and better.
func (s *mover) replace(r int32, seq []int32) bool {
	rt := &s.routes[r]
	cost, late, ok := s.simulate(r, seq)
	if !ok || cost+late*s.scale >= rt.cost+rt.late*s.scale {
		return false
	}
	s.touch(r)
	p := s.m.start(r)
	for _, x := range seq {
		if s.nodes[p].next != x {
			s.enqueueAll(p, x)
		}
		s.join(p, x)
		p = x
	}
	s.join(p, s.m.end(r))
	s.refresh(r)
	return true
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
