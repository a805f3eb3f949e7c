package optimize

// nearPair returns the cheapest place of a pair in the routes near its stops.
func (s *inserter) nearPair(q int32, limit int64) place {
	m := s.m
	best := place{cost: limit}
	s.round++
	try := func(r int32) {
		if r < 0 || s.frozen[r] || s.tried[r] == s.round {
			return
		}
		s.tried[r] = s.round
		if s.routes[r].stops > 0 && s.blink() {
			return
		}
		if at := s.pairIn(q, r, best.cost); at.cost < best.cost {
			best = at
		}
	}
	for k := range pairNeighbors {
		for _, x := range m.requests[q] {
			if k < len(m.preds[x]) {
				try(s.nodes[m.preds[x][k].stop].route)
			}
			if k < len(m.succs[x]) {
				try(s.nodes[m.succs[x][k].stop].route)
			}
		}
	}
	for class := range m.classes {
		try(s.empty(class))
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
	if prune {
		s.boundSecond(r, b, end)
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

// boundSecond computes, for each position of a route, the least that the second stop of a
// pair adds to the travel when it is put after that position or a later one. Times do not
// count: with the first stop on the way, the vehicle may even be earlier.
func (s *inserter) boundSecond(r, b, end int32) {
	m := s.m
	mat := m.vehicles[r].matrix
	row, col := mat.cost[int(b)*m.size:][:m.size], mat.costT[int(b)*m.size:][:m.size]
	n := &s.nodes[end]
	for len(s.bound) <= int(n.pos) {
		s.bound = append(s.bound, 0)
	}
	bound := s.bound[:n.pos+1]
	least := noWay
	bound[n.pos] = least
	for n.prev >= 0 {
		p := &s.nodes[n.prev]
		least = min(least, int64(col[p.loc])+int64(row[n.loc])-int64(p.arc))
		bound[p.pos] = least
		n = p
	}
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
