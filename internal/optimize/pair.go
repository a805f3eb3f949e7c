package optimize

// nearPair returns the cheapest place of a pair in the routes near its stops. Those that
// are near both come first: the places there rule out most of the others.
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

// routesNear begins a round and appends the routes near a stop: to both if they were tried
// in the round before, and to list otherwise.
func (s *inserter) routesNear(x int32, list, both []int32) (_, _ []int32) {
	s.round++
	for _, neighbors := range [2][]near{s.m.preds[x], s.m.succs[x]} {
		for i := range neighbors[:min(pairNeighbors, len(neighbors))] {
			r := s.nodes[neighbors[i].stop].route
			switch {
			case r < 0 || s.tried[r] == s.round || s.frozen[r]:
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

// tryPair returns the cheapest place of a pair in a route, or the best so far if that
// costs less.
func (s *inserter) tryPair(q, r int32, best place) place {
	if s.blink() {
		return best
	}
	if at := s.pairIn(q, r, best.cost); at.cost < best.cost {
		return at
	}
	return best
}

// pairIn returns the cheapest place of a pair in a route if it costs less than
// limit, from the cache if the route has not changed since.
func (s *inserter) pairIn(q, r int32, limit int64) place {
	slot := &s.cache[(uint32(q)*0x9E3779B1^uint32(r)*0x85EBCA77)>>3&uint32(len(s.cache)-1)]
	known := slot.version == s.routes[r].version && slot.request == q && slot.route == r
	// Without a place, the cost is the limit up to which there is none.
	if !known || slot.first < 0 && slot.cost < limit {
		at := s.searchPair(q, r, limit)
		*slot = cached{s.routes[r].version, at.cost, q, r, at.first, at.second}
	}
	if slot.first < 0 {
		return place{cost: noWay}
	}
	return place{slot.cost, r, slot.first, slot.second}
}

// searchPair tries every position of a pair in a route that costs less than
// limit. The time at which the vehicle gets to each stop after the first is
// carried forward.
func (s *inserter) searchPair(q, r int32, limit int64) place {
	m := s.m
	a, b := m.requests[q][0], m.requests[q][1]
	best := place{cost: limit, route: r, first: -1}
	v := &m.vehicles[r]
	if s.routes[r].stops+2 > v.maxStops {
		best.cost = noWay
		return best
	}
	if m.allowed != nil && (!m.allowed[int(r)*m.stops+int(a)] || !m.allowed[int(r)*m.stops+int(b)]) {
		best.cost = noWay
		return best
	}
	mat := v.matrix
	size := m.size
	costs, durs := mat.cost, mat.dur
	na, nb := &s.nodes[a], &s.nodes[b]
	da, db := &m.rich[a], &m.rich[b]
	end := m.end(r)
	fixed := int64(0)
	if s.routes[r].stops == 0 {
		fixed = v.fixed
	}
	exact := m.soft
	prune := s.routes[r].late == 0 // a place does not end lateness, so travel alone may rule it out
	tight := !s.fitsAnywhere(v, r, da, db)
	ab := int(a)*size + int(b)
	if prune && s.boundPair(r, a, b) >= limit {
		return best
	}
	for p := m.start(r); p != end; p = s.nodes[p].next {
		np := &s.nodes[p]
		if np.start+np.service > na.late {
			break
		}
		i := np.next
		n := &s.nodes[i]
		if m.zones != nil && (m.zones[p] > m.zones[a] || m.zones[a] > m.zones[i]) {
			continue
		}
		ta := max(np.start+np.service+mat.durT[int(a)*size+int(np.loc)], na.early)
		if ta > na.late || tight && !s.fitsFirst(v, p, da, db) {
			continue
		}
		var lateA int64
		if exact {
			lateA = int64(max(0, ta-na.due))
		}
		into := int64(mat.costT[int(a)*size+int(np.loc)]) - int64(np.arc)
		if s.routes[r].stops == 0 {
			into += int64(np.arc) + fixed
		}
		// The second stop directly after the first.
		if cost := into + int64(costs[ab]) + int64(costs[int(b)*size+int(n.loc)]); cost < best.cost || !prune {
			tb := max(ta+na.service+durs[ab], nb.early)
			arrival := tb + nb.service + durs[int(b)*size+int(n.loc)]
			if tb <= nb.late && arrival <= n.hard && (!tight || s.fitsRest(v, p, i, da, db)) && (m.zones == nil || m.zones[b] <= m.zones[i] && m.zones[a] <= m.zones[b]) {
				if exact {
					cost += (lateA + int64(max(0, tb-nb.due)) + s.tailLate(i, arrival) - s.extra[i].late) * s.scale
				}
				if cost < best.cost {
					best = place{cost, r, p, a}
				}
			}
		}
		// Or further on.
		base := into + int64(costs[int(a)*size+int(n.loc)])
		if prune && base+s.bound[n.pos] >= best.cost {
			continue
		}
		t := ta + na.service + durs[int(a)*size+int(n.loc)]
		var late int64
		for k := i; k != end; {
			nk := &s.nodes[k]
			if t > nk.late || tight && !s.fitsBetween(v, k, da, db) {
				break
			}
			start := max(t, nk.early)
			if exact && k < int32(m.stops) {
				late += int64(max(0, start-nk.due))
			}
			next := nk.next
			nn := &s.nodes[next]
			leave := start + nk.service
			cost := base + int64(mat.costT[int(b)*size+int(nk.loc)]) + int64(costs[int(b)*size+int(nn.loc)]) - int64(nk.arc)
			if cost < best.cost || !prune {
				tb := max(leave+mat.durT[int(b)*size+int(nk.loc)], nb.early)
				arrival := tb + nb.service + durs[int(b)*size+int(nn.loc)]
				if tb <= nb.late && arrival <= nn.hard && (!tight || s.fitsRest(v, k, next, da, db)) && (m.zones == nil || m.zones[k] <= m.zones[b] && m.zones[b] <= m.zones[next]) {
					if exact {
						cost += (lateA + late + int64(max(0, tb-nb.due)) + s.tailLate(next, arrival) - s.extra[i].late) * s.scale
					}
					if cost < best.cost {
						best = place{cost, r, p, k}
					}
				}
			}
			if leave > nb.late || prune && base+s.bound[nn.pos] >= best.cost {
				break
			}
			t = leave + nk.leg
			k = next
		}
	}
	return best
}

// boundPair returns the least that a pair adds to the travel of a route, and computes, for
// each position, the least that the second stop adds when it is put after that position or
// a later one. Times do not count: with the first stop on the way, the vehicle may even be
// earlier.
func (s *inserter) boundPair(r, a, b int32) (least int64) {
	size := s.m.size
	mat := s.m.vehicles[r].matrix
	toA, fromA := mat.costT[int(a)*size:][:size], mat.cost[int(a)*size:][:size]
	toB, fromB := mat.costT[int(b)*size:][:size], mat.cost[int(b)*size:][:size]
	ab := int64(fromA[b])
	t := s.traced(r)
	last := len(t) - 1
	for len(s.bound) <= last {
		s.bound = append(s.bound, 0)
	}
	bound := s.bound[:last+1]
	least, rest := noWay, noWay
	bound[last] = rest
	next := t[last].loc
	for k := last - 1; k >= 0; k-- {
		p := t[k]
		toNext := int64(fromB[next])
		least = min(least, int64(toA[p.loc])-int64(p.arc)+min(ab+toNext, int64(fromA[next])+rest))
		rest = min(rest, int64(toB[p.loc])+toNext-int64(p.arc))
		bound[k] = rest
		next = p.loc
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

// fitsRest reports whether the load after a node and from the next on allows the
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
