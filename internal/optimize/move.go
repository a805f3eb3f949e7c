package optimize

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
	if m.plain {
		if !s.reaches(b, after, first, last, y) || !s.reaches(a, p, -1, -1, n) {
			return false
		}
	} else if !s.movable(b, first, last) || !s.patched(delta, a, p, first, last, n, b, after, -1, -1, y) {
		return false
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
	if m.plain {
		if !s.reaches(b, p2, first, last, n2) || !s.reaches(a, p, first2, last2, n) {
			return false
		}
	} else if !s.movable(b, first, last) || !s.movable(a, first2, last2) || !s.patched(delta, a, p, first, last, n, b, p2, first2, last2, n2) {
		return false
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

// swapTails exchanges the tails of two routes: u, with all stops after it, becomes the
// successor of v, and the successor of v becomes that of the predecessor of u.
func (s *mover) swapTails(v, u int32) bool {
	m := s.m
	a, b := s.nodes[u].route, s.nodes[v].route
	va, vb := &m.vehicles[a], &m.vehicles[b]
	p, y := s.nodes[u].prev, s.nodes[v].next
	endA, endB := m.end(a), m.end(b)
	lastA, lastB := s.nodes[endA].prev, s.nodes[endB].prev
	delta := s.arc(b, v, u) + s.gap(a, p, y) - int64(s.nodes[v].arc) - int64(s.nodes[p].arc)
	sameEnd := s.nodes[endA].loc == s.nodes[endB].loc && s.nodes[endA].late == s.nodes[endB].late
	if s.nodes[endA].loc != s.nodes[endB].loc {
		if y == endB {
			return false // only the end of the route follows v
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

// passes reports whether a vehicle can go from a node through two chains of its route, one
// after the other, to another node in time.
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

// turns reports whether a vehicle can go from a node backwards through a chain of its route
// to another node in time.
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

// reverse reverses the part of a route between v and the successor of u. It does nothing
// unless u comes after v.
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

// own sets the route of the stops of a chain.
func (s *mover) own(r, first, last int32) {
	for i := first; ; i = s.nodes[i].next {
		s.nodes[i].route = r
		s.nodes[i].to = -1 // the vehicle may have another matrix
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
