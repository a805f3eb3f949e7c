package optimize

import (
	"context"
	"math"
	"slices"
)

// Parameters of the number of vehicles, which small steps hardly change: one more vehicle
// is used as soon as that is better for one stop, but a route disappears only when all its
// stops fit elsewhere.
const (
	draftShare  = 0.05 // share of the first lap for a draft that is good enough for its routes to be dissolved
	draftHeat   = 1.0  // maximum temperature of the draft, in average costs of a leg
	shrinkShare = 0.05 // share of a lap for dissolving routes
	shrinkHeat  = 0.1  // temperature while routes are dissolved
	shrinkSteps = 40   // steps for each stop of a dissolved route
	shrinkFails = 6    // failures in a row after which dissolving ends
	shrinkLoss  = 0.01 // share by which a plan with fewer routes may be longer
	coolHeat    = 1.0  // temperature below which one more vehicle may be used
)

// uniform reports whether all vehicles are equal and there are no rules except hard
// windows and one capacity.
func (m *model) uniform() bool { return m.plain && len(m.classes) == 1 }

// limit returns how many vehicles the next plan may use. While the search is hot, it is the
// number at the beginning of the lap; when it is cool, that number or the number of the best
// plan, whichever is larger, plus one. Without the limit, more and more vehicles would come
// into use at a high temperature, and not all of them would be given up as it falls. There
// is no limit while stops are left out.
func (s *search) limit() int {
	switch {
	case s.target > 0:
		return s.target
	case !s.m.uniform() || s.best.weight > 0:
		return len(s.m.vehicles)
	case s.heat < coolHeat*s.leg:
		return max(s.size, s.best.used) + 1
	}
	return s.size
}

// shrink begins a lap: it dissolves routes as long as the plan does not become much longer.
// The lap continues with the plan that has the fewest routes; the best plan is kept.
func (s *search) shrink(ctx context.Context, meter *meter) {
	if !s.m.uniform() {
		return
	}
	whole := s.lap
	length := whole.to - whole.from
	if whole.from == 0 {
		s.hottest = draftHeat * s.averageLeg()
		s.enter(lap{0, draftShare * length})
		s.run(ctx, meter, s.lap.to)
		s.hottest = math.Inf(1)
		s.load(&s.best)
	}
	if ctx.Err() != nil {
		return
	}
	until, heat := min(whole.to, meter.done(s.iters)+shrinkShare*length), s.heat
	s.heat = shrinkHeat * s.averageLeg()
	record := s.best.clone()
	for fails := 0; fails < shrinkFails && s.best.weight == 0 && s.best.used > 1; fails++ {
		if meter.done(s.iters) >= until || ctx.Err() != nil {
			break
		}
		used := s.best.used
		s.best.cost = record.cost + int64(shrinkLoss*float64(record.cost)) // the cost that keep compares with
		s.dissolve(ctx, meter, until)
		if s.best.used < used {
			fails = -1
		}
		s.load(&s.best)
		if cost := s.energy(); cost < record.cost || cost == record.cost && s.used < record.used {
			s.best.cost = cost
			record = s.best.clone()
		}
	}
	s.best, s.heat = record, heat
	s.target, s.size = 0, s.used
	if s.best.weight > 0 {
		s.size = len(s.m.vehicles)
	}
	clear(s.misses)
	s.current = s.absence()
	s.lap, s.taken = lap{meter.done(s.iters), whole.to}, s.iters
}

// clone returns a deep copy, which keep does not change.
func (b *plan) clone() plan {
	c := *b
	c.order, c.versions = make([][]int32, len(b.order)), slices.Clone(b.versions)
	for r := range b.order {
		c.order[r] = slices.Clone(b.order[r])
	}
	c.absent, c.windows = slices.Clone(b.absent), slices.Clone(b.windows)
	return c
}

// dissolve leaves out the stops of a route, the shorter of two random ones, and takes steps
// around them without an additional vehicle.
func (s *search) dissolve(ctx context.Context, meter *meter, until float64) {
	r := s.anyRoute()
	if other := s.anyRoute(); s.routes[other].stops < s.routes[r].stops {
		r = other
	}
	s.target = s.best.used - 1
	clear(s.misses)
	s.begin()
	s.touch(r)
	s.seqB = s.sequence(r, s.seqB[:0])
	for _, x := range s.seqB {
		s.absent = s.remove(s.m.request[x], s.absent)
	}
	s.refreshTouched()
	s.current = s.absence()
	s.pivot = s.seqB[0]
	for k := range shrinkSteps * len(s.seqB) {
		if meter.iterations > 0 && s.iters >= meter.iterations || k%16 == 0 && (meter.done(s.iters) >= until || ctx.Err() != nil) {
			return
		}
		s.improve()
	}
}

// anyRoute returns a random route with stops.
func (s *inserter) anyRoute() int32 {
	for {
		if r := int32(s.rng.below(uint32(len(s.routes)))); s.routes[r].stops > 0 {
			return r
		}
	}
}
