package optimize

// nearPair returns the cheapest positions of a pair in the routes near its stops. Routes
// that are near both stops come first, because their costs rule out most of the others.
func (s *inserter) nearPair(q int32, limit int64) place {
	members := s.m.requests[q]
	s.round++
	s.nearFirst, s.nearBoth = s.routesNear(members[0], s.nearFirst[:0], s.nearBoth[:0])
	s.nearSecond, s.nearBoth = s.routesNear(members[1], s.nearSecond[:0], s.nearBoth)
	best := place{cost: limit}
	for _, r := range s.nearBoth {
		best = s.tryPair(q, r, best)
	}
	for _, r := range s.nearFirst {
		if s.tried[r] != s.round {
			best = s.tryPair(q, r, best)
		}
	}
	for _, r := range s.nearSecond {
		best = s.tryPair(q, r, best)
	}
	for _, o := range s.m.openings[q] {
		if o.cost >= best.cost {
			break
		}
		if r := s.empty(o.class); r >= 0 {
			if at := s.pairIn(q, r, best.cost); at.cost < best.cost {
				best = at
			}
		}
	}
	return best
}

// routesNear begins a round and appends the routes near a stop: to both if they were also
// found in the previous round, and to list otherwise.
func (s *inserter) routesNear(x int32, list, both []int32) (_, _ []int32) {
	s.round++
	for _, neighbors := range [2][]near{s.m.preds[x], s.m.succs[x]} {
		for i := range neighbors[:min(pairNeighbors, len(neighbors))] {
			r := s.nodes[neighbors[i].stop].route
			switch {
			case r < 0 || s.tried[r] == s.round:
				continue
			case s.tried[r] == s.round-1:
				both = append(both, r)
			default:
				list = append(list, r)
			}
			s.tried[r] = s.round
		}
	}
	return list, both
}

// tryPair returns the cheapest positions of a pair in a route, or the best so far if those
// cost less.
func (s *inserter) tryPair(q, r int32, best place) place {
	if s.blink() {
		return best
	}
	if at := s.pairIn(q, r, best.cost); at.cost < best.cost {
		return at
	}
	return best
}

// pairIn returns the cheapest positions of a pair in a route if they cost less than limit.
// It uses the cache if the route has not changed since.
func (s *inserter) pairIn(q, r int32, limit int64) place {
	if s.strict {
		return s.searchPair(q, r, limit).found()
	}
	slot := &s.cache[(int(s.m.pairOf[q])*len(s.routes)+int(r))%len(s.cache)]
	known := slot.version == s.routes[r].version && slot.request == q && slot.route == r
	// If first is negative, no positions cost less than cost.
	if !known || slot.first < 0 && slot.cost < limit {
		at := s.searchPair(q, r, limit)
		*slot = cached{s.routes[r].version, at.cost, q, r, at.first, at.second}
	}
	return place{slot.cost, r, slot.first, slot.second}.found()
}

// found returns the place, with a cost of noWay if it is none.
func (p place) found() place {
	if p.first < 0 {
		p.cost = noWay
	}
	return p
}

// searchPair returns the cheapest positions of a pair in a route that cost less than limit.
// If there are none, first is -1, and all positions cost at least the returned cost. The
// arrival times at the stops after the first stop of the pair are computed incrementally.
func (s *inserter) searchPair(q, r int32, limit int64) place {
	m := s.m
	a, b := m.requests[q][0], m.requests[q][1]
	best := place{cost: limit, route: r, first: -1}
	v := &m.vehicles[r]
	if s.routes[r].stops+2 > v.maxStops || m.allowed != nil && (!m.allowed[int(r)*m.stops+int(a)] || !m.allowed[int(r)*m.stops+int(b)]) {
		best.cost = noWay
		return best
	}
	prune := s.routes[r].late == 0 // positions that do not end lateness can be ruled out by travel alone
	if least := s.boundPair(r, a, b); least >= noWay || prune && least >= limit {
		best.cost = max(least, limit)
		return best
	}
	t := s.traced(r)
	last := len(t) - 1
	firsts, seconds, bound := s.firsts[:last], s.seconds[:last], s.bound[:last+1]
	mat, size := v.matrix, m.size
	toA, fromA := mat.costT[int(a)*size:][:size], mat.cost[int(a)*size:][:size]
	durToA, durFromA := mat.durT[int(a)*size:][:size], mat.dur[int(a)*size:][:size]
	durToB, durFromB := mat.durT[int(b)*size:][:size], mat.dur[int(b)*size:][:size]
	ab, durAB := int64(fromA[b]), durFromA[b]
	fromB := mat.cost[int(b)*size:][:size]
	na, nb := &s.nodes[a], &s.nodes[b]
	da, db := &m.rich[a], &m.rich[b]
	exact := m.soft
	tight := !s.fitsAnywhere(v, r, da, db)
	for k := range last {
		if firsts[k] >= noWay || prune && firsts[k] >= best.cost {
			continue
		}
		p, n := &t[k], &t[k+1]
		if m.zones != nil && (m.zones[p.node] > m.zones[a] || m.zones[a] > m.zones[n.node]) {
			continue
		}
		ta := max(p.leave+durToA[p.loc], na.early)
		if ta > na.late || tight && !s.fitsFirst(v, p.node, da, db) {
			continue
		}
		var lateA int64
		if exact {
			lateA = int64(max(0, ta-na.due))
		}
		into := int64(toA[p.loc]) - p.arc
		// The second stop comes directly after the first.
		if cost := into + ab + int64(fromB[n.loc]); cost < best.cost || !prune {
			tb := max(ta+na.service+durAB, nb.early)
			arrival := tb + nb.service + durFromB[n.loc]
			if tb <= nb.late && arrival <= n.hard && (!tight || s.fitsRest(v, p.node, n.node, da, db)) && (m.zones == nil || m.zones[b] <= m.zones[n.node] && m.zones[a] <= m.zones[b]) {
				if exact {
					cost += (lateA + int64(max(0, tb-nb.due)) + s.tailLate(n.node, arrival) - s.extra[n.node].late) * s.scale
				}
				if cost < best.cost {
					best = place{cost, r, p.node, a}
				}
			}
		}
		// The second stop comes later.
		base := into + int64(fromA[n.loc])
		if prune && base+bound[k+1] >= best.cost {
			continue
		}
		now := ta + na.service + durFromA[n.loc]
		var late int64
		for j := k + 1; j < last; j++ {
			h, next := &t[j], &t[j+1]
			if now > h.late || tight && !s.fitsBetween(v, h.node, da, db) {
				break
			}
			start := max(now, h.early)
			if exact {
				late += int64(max(0, start-h.due))
			}
			leave := start + h.service
			if cost := base + seconds[j]; seconds[j] < noWay && (cost < best.cost || !prune) {
				tb := max(leave+durToB[h.loc], nb.early)
				arrival := tb + nb.service + durFromB[next.loc]
				if tb <= nb.late && arrival <= next.hard && (!tight || s.fitsRest(v, h.node, next.node, da, db)) && (m.zones == nil || m.zones[h.node] <= m.zones[b] && m.zones[b] <= m.zones[next.node]) {
					if exact {
						cost += (lateA + late + int64(max(0, tb-nb.due)) + s.tailLate(next.node, arrival) - s.extra[n.node].late) * s.scale
					}
					if cost < best.cost {
						best = place{cost, r, p.node, h.node}
					}
				}
			}
			if leave > nb.late || prune && base+bound[j+1] >= best.cost {
				break
			}
			now = leave + h.leg
		}
	}
	return best
}

// boundPair returns a lower bound of the travel that a pair adds to a route. For each
// position in the route, it computes that bound with the first stop there, the travel that
// the second stop adds there, and the minimum of that there or later. A position that is
// too late for a stop alone is skipped, unless strict is set: where the triangle inequality
// does not hold, the vehicle may be earlier with the other stop on the way.
func (s *inserter) boundPair(r, a, b int32) (least int64) {
	size := s.m.size
	mat := s.m.vehicles[r].matrix
	toA, fromA := mat.costT[int(a)*size:][:size], mat.cost[int(a)*size:][:size]
	toB, fromB := mat.costT[int(b)*size:][:size], mat.cost[int(b)*size:][:size]
	durToA, durFromA := mat.durT[int(a)*size:][:size], mat.dur[int(a)*size:][:size]
	durToB, durFromB := mat.durT[int(b)*size:][:size], mat.dur[int(b)*size:][:size]
	ab := int64(fromA[b])
	na, nb := &s.nodes[a], &s.nodes[b]
	between := na.service + durFromA[b]
	lateA, earlyB := min(na.late, nb.late-between), max(nb.early, na.early+between)
	t := s.traced(r)
	last := len(t) - 1
	for len(s.bound) <= last {
		s.firsts, s.seconds, s.bound = append(s.firsts, 0), append(s.seconds, 0), append(s.bound, 0)
	}
	firsts, seconds, bound := s.firsts[:last], s.seconds[:last], s.bound[:last+1]
	least, rest := noWay, noWay
	bound[last] = noWay
	next := &t[last]
	for k := last - 1; k >= 0; k-- {
		p := &t[k]
		toNext := int64(fromB[next.loc])
		first, second := noWay, noWay
		if start := max(p.leave+durToA[p.loc], na.early); s.strict || start <= lateA && start+na.service+durFromA[next.loc] <= next.hard {
			first = int64(toA[p.loc]) - p.arc + min(ab+toNext, int64(fromA[next.loc])+rest)
		}
		if start := max(p.leave+durToB[p.loc], earlyB); s.strict || start <= nb.late && start+nb.service+durFromB[next.loc] <= next.hard {
			second = int64(toB[p.loc]) + toNext - p.arc
		}
		least, rest = min(least, first), min(rest, second)
		firsts[k], seconds[k], bound[k] = first, second, rest
		next = p
	}
	return least
}

// fitsAnywhere reports whether the load allows a pair at any positions of a route.
func (s *inserter) fitsAnywhere(v *vehicleModel, r int32, a, b *demand) bool {
	most := &s.extra[s.m.start(r)].suf
	for d := range s.m.dims {
		if most[d]+a.carried[d]+b.carried[d]+max(0, a.change[d])+max(0, b.change[d]) > v.capacity[d] {
			return false
		}
	}
	return true
}

// fitsFirst reports whether the load allows the first stop of a pair after a node.
func (s *inserter) fitsFirst(v *vehicleModel, p int32, a, b *demand) bool {
	for d := range s.m.dims {
		carried := a.carried[d] + b.carried[d]
		if s.extra[p].pre[d]+carried > v.capacity[d] || s.extra[p].at[d]+carried+a.change[d] > v.capacity[d] {
			return false
		}
	}
	return true
}

// fitsBetween reports whether the load after a node allows the first stop of a
// pair before it and the second after it.
func (s *inserter) fitsBetween(v *vehicleModel, k int32, a, b *demand) bool {
	for d := range s.m.dims {
		if s.extra[k].at[d]+a.carried[d]+b.carried[d]+a.change[d] > v.capacity[d] {
			return false
		}
	}
	return true
}

// fitsRest reports whether the load after a node, and from the next node on, allows the
// second stop of a pair between them.
func (s *inserter) fitsRest(v *vehicleModel, k, next int32, a, b *demand) bool {
	for d := range s.m.dims {
		more := a.carried[d] + b.carried[d] + a.change[d] + b.change[d]
		if s.extra[k].at[d]+more > v.capacity[d] || s.extra[next].suf[d]+more > v.capacity[d] {
			return false
		}
	}
	return true
}
