package optimize

import "context"

// Parameters of combining routes of several plans.
const (
	poolBits    = 15   // logarithm of the number of routes of a pool
	poolHeat    = 1.0  // temperature below which routes are collected, in average costs of a leg
	poolLoss    = 0.06 // share by which the plans of collected routes may be longer than the best
	combineAt   = 0.9  // share of a lap after which routes are combined
	combineWork = 1000 // maximum work of that for each step since the last time
	partSteps   = 300  // minimum number of steps for each stop in a part of a lap
	mostParts   = 5    // maximum number of parts of a lap
	shortRoute  = 11   // stops per route up to which a lap is divided
)

// routePool has routes of good plans. It is a table in which a new route replaces the one in
// its place.
type routePool struct {
	keys   []uint64 // by stop: a random number; the sum of those of a route is its key
	routes []pooledRoute
	taken  int64 // number of steps before routes were last combined
}

// pooledRoute is a route in the cheapest order that was found.
type pooledRoute struct {
	key   uint64
	cost  int64
	stops []uint8
}

// newRoutePool returns an empty pool, or nil if routes of the problem cannot be combined:
// any vehicle must be able to serve any route.
func newRoutePool(m *model) *routePool {
	if !m.uniform() || len(m.vehicles) < 2 || m.stops > partitionStops {
		return nil
	}
	p := &routePool{keys: make([]uint64, m.stops), routes: make([]pooledRoute, 1<<poolBits)}
	numbers := newRNG(0)
	for x := range p.keys {
		p.keys[x] = numbers.next()
	}
	return p
}

// record collects the routes that the current step of a search has changed, if the plan is
// good, whether it will be accepted or not.
func (p *routePool) record(s *search) {
	if p == nil || s.target > 0 || len(s.absent) > 0 || s.heat > poolHeat*s.leg ||
		s.cost > s.best.cost+int64(poolLoss*float64(s.best.cost)) {
		return
	}
	nodes := s.nodes
	for _, r := range s.touched {
		if s.routes[r].stops == 0 || !s.sound(r) {
			continue
		}
		first := nodes[s.m.start(r)].next
		var key uint64
		for i := first; nodes[i].next >= 0; i = nodes[i].next {
			key += p.keys[i]
		}
		e := &p.routes[key>>(64-poolBits)]
		if cost := s.routes[r].cost; e.key != key || cost < e.cost {
			e.key, e.cost, e.stops = key, cost, e.stops[:0]
			for i := first; nodes[i].next >= 0; i = nodes[i].next {
				e.stops = append(e.stops, uint8(i))
			}
		}
	}
}

// combine makes a search continue with the cheapest plan of collected routes, if it is better
// than the best plan.
func (p *routePool) combine(s *search) {
	if s.best.weight > 0 || len(s.best.absent) > 0 {
		return
	}
	problem := partition{stops: s.m.stops, most: len(s.routes), limit: s.best.cost, work: combineWork * (s.iters - p.taken)}
	p.taken = s.iters
	for r, order := range s.best.order {
		if len(order) == 0 {
			continue
		}
		stops := make([]uint8, len(order))
		for k, x := range order {
			stops[k] = uint8(x)
		}
		cost, _, _ := s.simulate(int32(r), order)
		problem.columns = append(problem.columns, newColumn(cost, stops))
	}
	for i := range p.routes {
		if e := &p.routes[i]; len(e.stops) > 0 {
			problem.columns = append(problem.columns, newColumn(e.cost, e.stops))
		}
	}
	chosen := problem.solve()
	if chosen == nil {
		return
	}
	joined := plan{order: make([][]int32, len(s.routes))}
	for r := range chosen {
		for _, x := range chosen[r].stops {
			joined.order[r] = append(joined.order[r], int32(x))
		}
		if _, _, ok := s.simulate(int32(r), joined.order[r]); !ok {
			return
		}
	}
	s.load(&joined)
	s.current = 0
	s.keep()
	s.begin()
	for x := range int32(s.m.stops) {
		s.enqueue(x)
	}
	s.local()
	s.keep()
}

// runAlone takes the steps of a lap on one thread. If there are enough of them and routes are
// short, it divides the lap into shorter ones, because routes of different laps give better
// combinations than those of one. Long routes hardly fit together, and need all the time to
// cool down.
func (s *search) runAlone(ctx context.Context, meter *meter) {
	whole := s.lap
	if s.found == nil {
		s.run(ctx, meter, whole.to)
		return
	}
	length := whole.to - whole.from
	parts := 1
	if done := meter.done(s.iters); done > 0 && s.m.stops <= shortRoute*s.best.used {
		steps := float64(s.iters) / done * length / float64(s.m.stops)
		parts = max(1, min(mostParts, int(steps/partSteps)))
	}
	s.lap.to = whole.from + length/float64(parts)
	for k := range parts {
		if k > 0 {
			s.enter(lap{s.lap.to, whole.from + length*float64(k+1)/float64(parts)})
			s.shrink(ctx, meter)
		}
		s.run(ctx, meter, s.lap.from+combineAt*(s.lap.to-s.lap.from))
		if ctx.Err() != nil {
			return
		}
		s.found.combine(s)
		s.run(ctx, meter, s.lap.to)
	}
}
