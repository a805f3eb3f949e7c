package optimize

import (
	"context"
	"math"
	"math/bits"
	"slices"
)

// The parameters of ruin and recreate. Most come from Christiaens and Vanden
// Berghe, "Slack induction by string removals for vehicle routing problems".
const (
	averageRemoved = 10   // stops removed in a step, on average
	pairsRemoved   = 16   // the same where all stops are in pairs
	longestString  = 10   // of consecutive stops
	splitRate      = 0.5  // how often a string keeps some of its stops
	splitDepth     = 0.01 // how often the kept part grows by one
	routeRate      = 0.02 // how often a whole route is removed
	longestRuined  = 60   // stops of a route that is removed
	blinkRate      = 0.01 // how often a good place is overlooked
	firstHeat      = 2.5  // the first temperature, in average costs of a leg
	lastHeat       = 0.02 // the last one
	richFirst      = 2.0  // how much higher the first is where there are more rules
	richLast       = 2.5  // and the last
	pairsHeat      = 8    // how much higher both are where all stops are in pairs
	regionSteps    = 400  // steps that follow each other close together
	enoughSteps    = 200  // for each stop; with fewer, the first temperature is lower
	hope           = 4    // average gains of the local search that a step may be short of acceptance
)

// search is a plan with what is needed to improve it on one thread.
type search struct {
	*state
	inserter
	mover
	best    plan
	current int64   // sum of misses of the absent requests of the accepted plan
	pool    []int32 // requests to insert
	keys    []int64 // sort keys of requests
	strings []int32 // routes that were ruined in this step
	hit     []int64 // by route: the step that ruined it
	ids     []int32 // requests that may be seeds
	charge  int     // how many stops those are
	pivot   int32   // the stop around which the current steps are
	iters   int64
	heat    float64
	gain    float64 // of the local search, on average
	began   float64 // the share of the search that was done before the first step
	lead    bool    // reports progress
}

// plan is a copy of the order of stops.
type plan struct {
	order    [][]int32
	versions []int64
	absent   []int32
	windows  [][2]int32 // of stops, where precedences between vehicles narrow them
	weight   int64
	late     int64
	cost     int64 // travel, vehicles and prizes
	used     int
}

func newSearch(m *model, seed uint64) *search {
	st := newState(m)
	s := &search{
		state: st, inserter: newInserter(st, seed), mover: mover{state: st, queued: make([]bool, m.stops)},
		charge: m.stops, keys: make([]int64, len(m.requests)), hit: make([]int64, len(m.vehicles)),
	}
	s.best = plan{order: make([][]int32, len(m.vehicles)), versions: make([]int64, len(m.vehicles)), weight: math.MaxInt64}
	for q := range m.requests {
		s.ids = append(s.ids, int32(q))
	}
	return s
}

// keep copies the plan if it is the best so far.
func (s *search) keep() bool {
	b := &s.best
	cost := s.cost + s.prizes
	switch {
	case s.weight != b.weight:
		if s.weight > b.weight {
			return false
		}
	case s.m.p.Weights.Lateness == 0 && s.late != b.late:
		if s.late > b.late {
			return false
		}
	default:
		w := int64(s.m.p.Weights.Lateness)
		if mine, theirs := cost+w*s.late, b.cost+w*b.late; mine > theirs || mine == theirs && s.used() >= b.used {
			return false
		}
	}
	b.weight, b.late, b.cost, b.used = s.weight, s.late, cost, s.used()
	b.absent = append(b.absent[:0], s.absent...)
	if s.m.wide {
		b.windows = b.windows[:0]
		for i := range s.m.stops {
			b.windows = append(b.windows, [2]int32{s.nodes[i].early, s.nodes[i].late})
		}
	}
	for r := range s.routes {
		if b.versions[r] == s.routes[r].version {
			continue
		}
		b.versions[r] = s.routes[r].version
		b.order[r] = s.sequence(int32(r), b.order[r][:0])
	}
	return true
}

func (s *search) used() int {
	n := 0
	for r := range s.routes {
		if s.routes[r].stops > 0 {
			n++
		}
	}
	return n
}

// sequence appends the stops of a route.
func (s *state) sequence(r int32, out []int32) []int32 {
	for i := s.nodes[s.m.start(r)].next; s.nodes[i].next >= 0; i = s.nodes[i].next {
		out = append(out, i)
	}
	return out
}

// ruin removes strings of consecutive stops from routes around a seed. What was
// removed is in the pool.
func (s *search) ruin() {
	m := s.m
	s.pool, s.strings = s.pool[:0], s.strings[:0]
	if len(s.ids) == 0 {
		return
	}
	served, used := 0, 0
	for r := range s.routes {
		if !s.frozen[r] && s.routes[r].stops > 0 {
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
		count = int(s.rng.below(3)) // and a few strings, which makes room for it
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

// seed returns the stop around which to ruin. Steps that follow each other are around
// stops that are close together, so that what they read is in the cache.
func (s *search) seed() int32 {
	m := s.m
	if s.iters%regionSteps == 0 || s.iters < regionSteps {
		q := m.requests[s.ids[s.rng.below(uint32(len(s.ids)))]]
		s.pivot = q[s.rng.below(uint32(len(q)))]
	}
	around := m.around[s.pivot]
	if k := int(s.rng.below(uint32(len(around) + 1))); k < len(around) {
		if r := s.nodes[around[k]].route; r < 0 || !s.frozen[r] {
			return around[k]
		}
	}
	return s.pivot
}

// ruinRoute removes all stops of a route, unless there are too many, and reports
// whether it did. Strings alone rarely end a route.
func (s *search) ruinRoute(r int32) bool {
	if r < 0 || s.frozen[r] || s.routes[r].stops > longestRuined {
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

// ruinAt removes a string that contains a stop, unless its route was ruined
// already.
func (s *search) ruinAt(x int32, longest float64) {
	r := s.nodes[x].route
	if r < 0 || s.frozen[r] || s.hit[r] == s.step {
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
	if s.m.wide { // stops of other routes may have left with them
		s.refreshTouched()
	}
}

func (s *search) refreshTouched() {
	for _, r := range s.touched {
		s.refresh(r)
	}
}

// recreate inserts the pool and what was left out before, in a random kind of
// order, and reports whether it did not give up.
func (s *search) recreate() bool {
	const most = 24 // requests left out before that are tried
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

// fillIn inserts requests in order. What has no place is absent. It reports whether it is
// done: under a ceiling it gives up at the first request that must be served and costs too
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

// sortPool orders the pool: randomly, by demand, by the distance from the start (and on
// to the other stops of the request), by the width of the window or by its beginning or end.
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

// absence returns how often the absent requests were left out, in total.
func (s *search) absence() int64 {
	var sum int64
	for _, q := range s.absent {
		sum += s.misses[q] * s.m.weight[q]
	}
	return sum
}

// improve takes one step: ruin, recreate, local search, and undo if the result is
// not accepted at the current temperature.
func (s *search) improve() {
	s.iters++
	s.begin()
	weight := s.weight
	most := s.energy() + int64(-s.heat*math.Log(s.rng.float()))
	s.ceiling = noWay
	if len(s.absent) == 0 && !s.m.plain { // otherwise a plan that serves more is accepted at any cost
		s.ceiling = most + int64(hope*s.gain)
	}
	s.ruin()
	if !s.recreate() || s.enqueueChanges() == 0 {
		s.undo()
		return
	}
	travel := s.cost
	s.local()
	s.gain += (float64(max(0, travel-s.cost)) - s.gain) / 256
	accepted := s.energy() <= most
	missing := s.absence()
	if s.weight != weight {
		accepted = s.weight < weight || s.weight < weight+int64(s.m.stops) && missing < s.current
	} else if len(s.absent) > 0 && missing < s.current {
		accepted = true
	}
	for _, q := range s.absent {
		s.misses[q]++
	}
	for _, r := range s.touched {
		accepted = accepted && s.sound(r)
	}
	if !accepted {
		s.undo()
		if len(s.absent) > 0 {
			s.current = s.absence()
		}
		return
	}
	s.current = missing
	s.keep()
}

// enqueueChanges puts the stops into the queue whose predecessor or successor
// changed in this step, and returns how many there are.
func (s *search) enqueueChanges() int {
	s.drop()
	for i := range s.savedNodes {
		before := &s.savedNodes[i]
		if now := &s.nodes[before.index]; now.next != before.node.next || now.prev != before.node.prev || now.route != before.node.route {
			s.enqueue(before.index)
		}
	}
	for _, q := range s.savedAbsent {
		for _, x := range s.m.requests[q] {
			if s.nodes[x].route >= 0 {
				s.enqueue(x)
			}
		}
	}
	return len(s.queue)
}

// averageLeg returns the average cost of a leg of the plan.
func (s *search) averageLeg() float64 {
	legs := 0
	for r := range s.routes {
		if s.routes[r].stops > 0 {
			legs += int(s.routes[r].stops) + 1
		}
	}
	if legs == 0 {
		return 1
	}
	return max(1, float64(s.cost)/float64(legs))
}

// temperature returns how much worse a plan may be to be accepted, after a share
// of the search. Few steps for each stop have no time to cool down from a high
// temperature.
func (s *search) temperature(done, leg float64) float64 {
	first, last := firstHeat, lastHeat
	if !s.m.plain {
		first, last = first*richFirst, last*richLast
	}
	if done > s.began && s.iters > 0 {
		steps := float64(s.iters) / (done - s.began) / float64(max(1, s.charge))
		first = max(last, first*min(1, math.Sqrt(steps/enoughSteps)))
	}
	return (1 + (pairsHeat-1)*s.m.paired) * first * leg * math.Pow(last/first, done)
}

// run improves the plan until a share of the search is done, with the temperature
// falling from the beginning to the end of the search.
func (s *search) run(ctx context.Context, meter *meter, until float64) {
	leg := s.averageLeg()
	if s.iters == 0 {
		s.began, s.gain = meter.done(0), leg
	}
	for n := 0; meter.iterations <= 0 || s.iters < meter.iterations; n++ {
		if n%16 == 0 {
			done := meter.done(s.iters)
			if done >= until || ctx.Err() != nil {
				return
			}
			s.heat = s.temperature(done, leg)
			s.setScale(done)
			if until == 1 && s.lead && done > meter.reported+0.01 {
				meter.report(s, PhaseImprove)
			}
		}
		s.improve()
	}
}

// rng is a small generator of random numbers (wyrand).
type rng struct{ state uint64 }

func newRNG(seed uint64) rng { return rng{seed*0x9E3779B97F4A7C15 + 0x1234567} }

func (r *rng) next() uint64 {
	r.state += 0xa0761d6478bd642f
	hi, lo := bits.Mul64(r.state, r.state^0xe7037ed1a0b428db)
	return hi ^ lo
}

// below returns a number from 0 to n-1.
func (r *rng) below(n uint32) uint32 {
	return uint32(uint64(uint32(r.next())) * uint64(n) >> 32)
}

// float returns a number above 0 and below 1.
func (r *rng) float() float64 { return (float64(r.next()>>12) + 0.5) / (1 << 52) }

// geometric returns how many trials fail before one with the probability p
// succeeds.
func (r *rng) geometric(p float64) uint32 {
	return uint32(min(math.Log(r.float())/math.Log(1-p), 1<<30))
}
