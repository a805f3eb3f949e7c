package optimize

import (
	"math"
	"slices"
)

// The parameters of ruin and recreate. Most come from Christiaens and Vanden
// Berghe, "Slack induction by string removals for vehicle routing problems".
const (
	averageRemoved = 10   // average number of stops removed in a step
	pairsRemoved   = 16   // the same if all stops are in pairs
	longestString  = 10   // maximum length of a string of consecutive stops
	splitRate      = 0.5  // probability that a string keeps some of its stops
	splitDepth     = 0.01 // probability that the kept part grows by one
	routeRate      = 0.02 // probability that a whole route is removed
	longestRuined  = 60   // maximum number of stops of a route that is removed
	blinkRate      = 0.01 // probability that a good position is skipped
	regionSteps    = 400  // consecutive steps in the same region
	quenchSteps    = 100  // the same when few steps are left
)

// ruin removes strings of consecutive stops from routes around a seed. The removed requests
// are in the pool.
func (s *search) ruin() {
	m := s.m
	s.pool, s.strings = s.pool[:0], s.strings[:0]
	served, used := 0, 0
	for r := range s.routes {
		if s.routes[r].stops > 0 {
			served += int(s.routes[r].stops)
			used++
		}
	}
	if used == 0 {
		return
	}
	longest := min(float64(longestString), float64(served)/float64(used))
	most := 4*(averageRemoved+(pairsRemoved-averageRemoved)*m.paired)/(1+longest) - 1
	count := int(1 + s.rng.float()*most)
	x := s.seed()
	if s.rng.float() < routeRate && s.ruinRoute(s.nodes[x].route) {
		count = int(s.rng.below(3)) // and remove a few strings, to make room
	} else {
		s.ruinAt(x, longest)
	}
	for _, c := range m.around[x] {
		if len(s.strings) >= count {
			break
		}
		s.ruinAt(c, longest)
	}
	s.refreshTouched()
}

// seed returns the stop around which to ruin. Consecutive steps are around stops that are
// close together, so that the data that they read is in the cache.
func (s *search) seed() int32 {
	m := s.m
	if s.iters%s.region == 0 || s.iters < s.region {
		// Steps of the golden ratio distribute the turns evenly over all regions.
		_, s.turn = math.Modf(s.turn + math.Phi)
		q := m.requests[int(s.turn*float64(len(m.requests)))]
		s.pivot = q[s.rng.below(uint32(len(q)))]
	}
	if s.target > 0 && len(s.absent) > 0 {
		s.pivot = m.requests[s.absent[s.rng.below(uint32(len(s.absent)))]][0]
	}
	around := m.around[s.pivot]
	if k := int(s.rng.below(uint32(len(around) + 1))); k < len(around) {
		return around[k]
	}
	return s.pivot
}

// ruinRoute removes all stops of a route, unless there are too many, and reports
// whether it did. Strings alone rarely end a route.
func (s *search) ruinRoute(r int32) bool {
	if r < 0 || s.routes[r].stops > longestRuined {
		return false
	}
	s.hit[r] = s.step
	s.touch(r)
	s.seqA = s.sequence(r, s.seqA[:0])
	for _, y := range s.seqA {
		s.pool = s.remove(s.m.request[y], s.pool)
	}
	s.refreshTouched()
	return true
}

// ruinAt removes a string that contains a stop, unless its route was already ruined in this
// step.
func (s *search) ruinAt(x int32, longest float64) {
	r := s.nodes[x].route
	if r < 0 || s.hit[r] == s.step {
		return
	}
	s.hit[r] = s.step
	s.strings = append(s.strings, r)
	stops := int(s.routes[r].stops)
	length := int(1 + s.rng.float()*min(longest, float64(stops)))
	length = min(length, stops)
	skipped := 0
	if length > 1 && length < stops && s.rng.float() < splitRate {
		skipped = 1
		for length+skipped < stops && s.rng.float() < splitDepth {
			skipped++
		}
	}
	total := length + skipped
	at := int(s.nodes[x].pos) - 1
	lo, hi := max(0, at-total+1), min(at, stops-total)
	first := lo + int(s.rng.below(uint32(hi-lo+1)))
	gap := total
	if skipped > 0 {
		gap = 1 + int(s.rng.below(uint32(length-1)))
	}
	s.touch(r)
	i := x
	for k := at; k > first; k-- {
		i = s.nodes[i].prev
	}
	s.seqA = s.seqA[:0]
	for k := range total {
		if k < gap || k >= gap+skipped {
			s.seqA = append(s.seqA, i)
		}
		i = s.nodes[i].next
	}
	for _, y := range s.seqA {
		s.pool = s.remove(s.m.request[y], s.pool)
	}
	if s.m.wide { // stops of other routes may have been removed with them
		s.refreshTouched()
	}
}

func (s *search) refreshTouched() {
	for _, r := range s.touched {
		s.refresh(r)
	}
}

// recreate inserts the requests of the pool and those that were left out before, in an order
// of random kind, and reports whether it completed without giving up.
func (s *search) recreate() bool {
	const most = 24 // maximum number of requests left out before that are tried
	if n := len(s.absent); n <= most {
		s.pool = append(s.pool, s.absent...)
		s.absent = s.absent[:0]
	} else {
		for k := range most {
			i := k + int(s.rng.below(uint32(n-k)))
			s.absent[k], s.absent[i] = s.absent[i], s.absent[k]
		}
		s.pool = append(s.pool, s.absent[:most]...)
		s.absent = append(s.absent[:0], s.absent[most:]...)
	}
	s.shuffle(s.pool)
	s.sortPool()
	return s.fillIn(s.pool, false)
}

// fillIn inserts requests in order. Requests that fit nowhere become absent. Under a ceiling,
// it gives up and returns false at the first request that must be served and costs too
// much.
func (s *search) fillIn(pool []int32, all bool) bool {
	for _, q := range pool {
		switch {
		case s.insert(q, all):
			for _, x := range s.m.requests[q] {
				s.enqueue(x)
			}
		case s.ceiling < noWay && s.m.weight[q] > 0:
			return false
		default:
			s.absent = append(s.absent, q)
		}
	}
	return true
}

func (s *search) shuffle(list []int32) {
	for i := len(list) - 1; i > 0; i-- {
		j := s.rng.below(uint32(i + 1))
		list[i], list[j] = list[j], list[i]
	}
}

// sortPool sorts the pool by a random criterion: none, demand, distance from the start (and
// to the other stops of the request), width of the window, or its beginning or end.
func (s *search) sortPool() {
	m := s.m
	pick := s.rng.below(17)
	for _, q := range s.pool {
		x := m.requests[q][0]
		n := &m.nodes[x]
		var key int64
		switch {
		case pick < 4:
			key = 0
		case pick < 8:
			for d := range m.dims {
				c := &m.rich[x]
				key -= int64(max(c.carried[d], c.change[d], -c.change[d]))
			}
		case pick < 10:
			key = -m.depth[x]
			for _, y := range m.requests[q][1:] {
				key -= int64(m.matrices[0].cost[int(x)*m.size+int(y)])
			}
		case pick < 11:
			key = m.depth[x]
		case pick < 13:
			key = int64(n.late) - int64(n.early)
		case pick < 15:
			key = int64(n.early)
		default:
			key = -int64(n.late)
		}
		s.keys[q] = key
	}
	switch {
	case m.wide:
		slices.SortStableFunc(s.pool, func(a, b int32) int {
			if m.tier[a] != m.tier[b] {
				return int(m.tier[a] - m.tier[b])
			}
			return compareKeys(s.keys[a], s.keys[b])
		})
	case pick >= 4:
		for i := 1; i < len(s.pool); i++ {
			q := s.pool[i]
			k := i
			for ; k > 0 && s.keys[s.pool[k-1]] > s.keys[q]; k-- {
				s.pool[k] = s.pool[k-1]
			}
			s.pool[k] = q
		}
	}
}

func compareKeys(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
