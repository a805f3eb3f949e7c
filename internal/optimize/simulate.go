package optimize

// simulate evaluates a sequence of stops as the route of a vehicle, by all rules.
// It returns the cost of travel and the lateness.
func (s *state) simulate(r int32, seq []int32) (cost, late int64, ok bool) {
	m := s.m
	v := &m.vehicles[r]
	if len(seq) == 0 {
		return 0, 0, true
	}
	if int32(len(seq)) > v.maxStops {
		return 0, 0, false
	}
	s.mark++
	var load [Dimensions]int64
	for _, x := range seq {
		if m.allowed != nil && !m.allowed[int(r)*m.stops+int(x)] {
			return 0, 0, false
		}
		for d := range m.dims {
			load[d] += int64(m.rich[x].carried[d])
		}
	}
	for d := range m.dims {
		if load[d] > int64(v.capacity[d]) {
			return 0, 0, false
		}
	}
	mat := v.matrix
	p := m.start(r)
	t := s.nodes[p].early
	zone := int32(-1)
	for k := range len(seq) + 1 {
		i := m.end(r)
		if k < len(seq) {
			i = seq[k]
		}
		n := &s.nodes[i]
		at := int(s.nodes[p].loc)*m.size + int(n.loc)
		cost += int64(mat.cost[at])
		t = max(t+mat.dur[at], n.early)
		if t > n.late {
			return 0, 0, false
		}
		p = i
		if k == len(seq) {
			break
		}
		late += int64(max(0, t-n.due))
		t += n.service
		if m.zones != nil {
			if m.zones[i] < zone {
				return 0, 0, false
			}
			zone = m.zones[i]
		}
		for d := range m.dims {
			load[d] += int64(m.rich[i].change[d])
			if load[d] > int64(v.capacity[d]) {
				return 0, 0, false
			}
		}
		if !s.inOrder(r, i) {
			return 0, 0, false
		}
	}
	for _, x := range seq {
		if q := m.request[x]; m.kinds[q] != single && s.count[q] != int32(len(m.requests[q])) {
			return 0, 0, false
		}
	}
	return cost + v.fixed, late, true
}

// inOrder reports whether precedences allow a stop to come next in the sequence that
// simulate visits.
func (s *state) inOrder(r, x int32) bool {
	m := s.m
	q := m.request[x]
	if m.kinds[q] == single {
		return true
	}
	if s.seen[q] != s.mark {
		s.seen[q], s.count[q] = s.mark, 0
	}
	s.count[q]++
	switch m.kinds[q] {
	case pair:
		return x == m.requests[q][s.count[q]-1]
	case general:
		return s.nodes[x].route == r && s.keepsOrder(r, x)
	default:
		return true
	}
}

// keepsOrder reports whether simulate has visited all stops of the route that must precede
// a stop. Stops of general requests stay in their route; precedences to other routes are
// enforced by windows.
func (s *state) keepsOrder(r, x int32) bool {
	for _, a := range s.m.inside[x] {
		if s.visited[a] != s.mark {
			return false
		}
	}
	for _, a := range s.m.before[x] {
		if s.nodes[a].route == r && s.visited[a] != s.mark {
			return false
		}
	}
	s.visited[x] = s.mark
	return true
}
