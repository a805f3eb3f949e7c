package optimize

import (
	"context"
	"slices"
	"time"
)

// Solve searches for the best plan. It returns the best that it has found when
// the options or the context end the search, and an error only if the problem or
// the options are invalid.
func Solve(ctx context.Context, p *Problem, o Options) (*Solution, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := o.validate(p); err != nil {
		return nil, err
	}
	meter := newMeter(o)
	order := arrange(p)
	m, err := compile(p.renumber(order))
	if err != nil {
		return nil, err
	}
	s := newSearch(m, o.Seed)
	s.lead = true
	if o.Threads <= 1 {
		s.found = newRoutePool(m)
	}
	s.construct(ctx, meter, o.initial(order))
	meter.report(s, PhaseConstruct)
	for _, l := range meter.laps() {
		if len(m.vehicles) == 0 || m.stops == 0 || ctx.Err() != nil {
			break
		}
		s.enter(l)
		s.shrink(ctx, meter)
		if o.Threads <= 1 {
			s.runAlone(ctx, meter)
		} else {
			s.runTogether(ctx, meter)
		}
	}
	if len(m.vehicles) > 0 && m.stops > 0 && ctx.Err() != nil && o.Grace > 0 {
		s.quench(context.WithoutCancel(ctx), meter, o.Grace)
	}
	s.load(&s.best)
	if s.finish() && !s.keep() {
		s.load(&s.best) // an optional stop is not worth the lateness that it causes
		s.renew()
	}
	meter.report(s, PhaseFinish)
	out := s.solution()
	out.restore(order)
	return out, nil
}

// initial returns the initial plan with its stops renumbered by an order.
func (o *Options) initial(order []int) [][]int {
	number := make([]int, len(order))
	for i, x := range order {
		number[x] = i
	}
	var plan [][]int
	for _, route := range o.Initial {
		plan = append(plan, renumbered(route, number))
	}
	return plan
}

func (o *Options) validate(p *Problem) error {
	switch {
	case o.Iterations <= 0 && o.Budget <= 0:
		return invalid("neither the iterations nor the time of the search are bounded")
	case o.Budget > 0 && o.Now == nil:
		return invalid("a budget needs a clock")
	case o.Grace < 0 || o.Grace > 0 && o.Budget <= 0:
		return invalid("a grace of %v without a budget, or below 0", o.Grace)
	case o.Threads < 0 || o.Threads > MaxThreads:
		return invalid("%d threads; from 0 to %d are supported", o.Threads, MaxThreads)
	case o.Initial != nil && len(o.Initial) != len(p.Vehicles):
		return invalid("an initial plan of %d routes for %d vehicles", len(o.Initial), len(p.Vehicles))
	}
	seen := make([]bool, len(p.Stops))
	for _, route := range o.Initial {
		for _, x := range route {
			if x < 0 || x >= len(p.Stops) || seen[x] {
				return invalid("stop %d of the initial plan is out of range or there twice", x)
			}
			seen[x] = true
		}
	}
	return nil
}

// meter measures the share of a search that is done.
type meter struct {
	iterations int64
	budget     time.Duration
	now        func() time.Duration
	began      time.Duration
	progress   func(Progress)
	reported   float64
	most       int        // threads
	allowed    func() int // how many of them may be used now; nil for all
}

func newMeter(o Options) *meter {
	t := &meter{iterations: o.Iterations, budget: o.Budget, now: o.Now, progress: o.Progress, most: max(o.Threads, 1), allowed: o.Allowed}
	if t.budget > 0 {
		t.began = t.now()
	}
	return t
}

// done returns the share of the search that is done after some iterations.
func (t *meter) done(iterations int64) float64 {
	share := 0.0
	if t.iterations > 0 {
		share = float64(iterations) / float64(t.iterations)
	}
	if t.budget > 0 {
		share = max(share, float64(t.now()-t.began)/float64(t.budget))
	}
	return min(share, 1)
}

// threads returns how many threads may be used now.
func (t *meter) threads() int {
	if t.allowed == nil || t.most == 1 {
		return t.most
	}
	return max(1, min(t.allowed(), t.most))
}

// report calls the progress function. Only one goroutine may do so.
func (t *meter) report(s *search, phase Phase) {
	if t.progress == nil {
		return
	}
	t.reported = t.done(s.iters)
	t.progress(Progress{Phase: phase, Done: t.reported, Best: s.best.value(s.m), Iterations: s.iters})
}

// value returns the cost of a plan.
func (b *plan) value(m *model) Cost {
	var c Cost
	p := m.p
	for r, order := range b.order {
		if len(order) == 0 {
			continue
		}
		c.Vehicles++
		v := &p.Vehicles[r]
		profile := &p.Profiles[v.Profile]
		at := v.Start
		travel := func(to int) {
			if at != None && to != None {
				c.Duration += int(profile.Duration[at*profile.Size+to])
				if profile.Distance != nil {
					c.Distance += int(profile.Distance[at*profile.Size+to])
				}
			}
			at = to
		}
		for _, x := range order {
			travel(p.Stops[x].Location)
		}
		travel(v.End)
	}
	for _, q := range b.absent {
		for _, x := range m.requests[q] {
			if p.Stops[x].Optional {
				c.Prizes += p.Stops[x].Prize
			} else {
				c.Unserved++
			}
		}
	}
	c.Lateness = int(b.late)
	c.Weighted = p.Weights.weighted(c)
	return c
}

// construct makes the first complete plan: first the initial and existing routes, then other
// locked stops, then the rest, the farthest first.
func (s *search) construct(ctx context.Context, meter *meter, initial [][]int) {
	m := s.m
	s.setScale(0)
	s.ceiling = noWay
	s.begin()
	for r := range m.vehicles {
		if initial != nil {
			s.adopt(int32(r), initial[r])
		}
		if s.routes[r].stops == 0 {
			s.adopt(int32(r), m.p.Vehicles[r].Route)
		}
	}
	pool := slices.DeleteFunc(s.absent, func(q int32) bool { return s.nodes[m.requests[q][0]].route >= 0 })
	s.absent = nil
	slices.SortStableFunc(pool, func(a, b int32) int {
		ka, kb := s.constructKey(a), s.constructKey(b)
		return slices.Compare(ka[:], kb[:])
	})
	for len(pool) > 0 && len(m.vehicles) > 0 && ctx.Err() == nil && meter.done(0) < 1 {
		n := min(len(pool), 32)
		s.fillIn(pool[:n], false)
		pool = pool[n:]
	}
	s.absent = append(s.absent, pool...)
	s.keep()
	if ctx.Err() == nil {
		s.local()
		s.keep()
	}
	s.drop()
}

func (s *search) constructKey(q int32) [3]int64 {
	m := s.m
	first := int64(1)
	if m.weight[q] > int64(m.stops) {
		first = 0
	} else if m.weight[q] == 0 {
		first = 2
	}
	return [3]int64{int64(m.tier[q]), first, -m.depth[m.requests[q][0]]}
}

// adopt makes a sequence the route of a vehicle that has none, or only a feasible part of
// it.
func (s *search) adopt(r int32, order []int) {
	m := s.m
	var all, some []int32
	for _, x := range order {
		if m.kinds[m.request[x]] != general && s.nodes[x].route < 0 {
			all = append(all, int32(x))
		}
	}
	if _, _, ok := s.simulate(r, all); !ok {
		for _, x := range all {
			if m.kinds[m.request[x]] != single {
				continue
			}
			if _, _, ok := s.simulate(r, append(some, x)); ok {
				some = append(some, x)
			}
		}
		all = some
	}
	if len(all) == 0 {
		return
	}
	s.touch(r)
	p := m.start(r)
	for _, x := range all {
		s.link(x, p)
		p = x
		if q := m.request[x]; x == m.requests[q][0] {
			s.weight -= m.weight[q]
			s.prizes -= m.prize[q]
		}
	}
	s.refresh(r)
}

// setScale sets the cost of lateness after a share of the search. If any lateness is worse
// than all travel, its cost grows during the search, because the search finds better plans
// if it may be late for a while.
func (s *search) setScale(done float64) {
	scale := int64(s.m.p.Weights.Lateness)
	if scale == 0 {
		scale = 50 * int64(max(1, s.m.p.Weights.Duration, s.m.p.Weights.Distance))
		if done > 0.6 {
			scale *= 100
		}
	}
	if scale == s.scale || !s.m.soft {
		return
	}
	s.scale = scale
	for r := range s.routes { // invalidates cached costs
		s.version++
		s.routes[r].version = s.version
	}
}

// load makes a plan the current one.
func (s *search) load(b *plan) {
	m := s.m
	copy(s.nodes, m.nodes)
	for i, w := range b.windows {
		s.nodes[i].early, s.nodes[i].late = w[0], w[1]
	}
	s.weight, s.prizes = b.weight, 0
	s.absent = append(s.absent[:0], b.absent...)
	for _, q := range s.absent {
		s.prizes += m.prize[q]
	}
	for r := range s.routes {
		p := m.start(int32(r))
		for _, x := range b.order[r] {
			s.link(x, p)
			p = x
		}
	}
	for r := range s.routes {
		s.refresh(int32(r))
	}
}

// finish tries every position for the stops that are left out, so that the reasons given for
// them are true. It reports whether it inserted any.
func (s *search) finish() (found bool) {
	tries := allTries
	s.ceiling, s.strict, s.fleet = noWay, true, len(s.m.vehicles)
	for again := true; again; {
		s.renew()
		s.begin()
		pool := slices.Clone(s.absent)
		slices.SortStableFunc(pool, func(a, b int32) int { return int(s.m.tier[a] - s.m.tier[b]) })
		s.absent = s.absent[:0]
		s.thorough = tries
		s.fillIn(pool, true)
		tries, s.thorough = s.thorough, 0
		again = len(s.absent) < len(pool)
		found = found || again
		s.drop()
	}
	return found
}

// renew starts every stop as early as the order of the routes allows, and then fixes the
// windows of stops with precedences between vehicles again. They are first fixed when the
// later stop is inserted; without renew, that stop would still wait after the earlier one
// has moved forward or its own route has become shorter.
func (s *search) renew() {
	if !s.m.wide {
		return
	}
	for x := range s.m.stops {
		s.nodes[x].early, s.nodes[x].late = s.m.nodes[x].early, s.m.nodes[x].late
	}
	for r := range s.routes {
		s.refresh(int32(r))
	}
	for range s.m.stops { // at most as many rounds as the longest chain
		changed := false
		for x := range int32(s.m.stops) {
			n := &s.nodes[x]
			if end := s.ready(x); n.route >= 0 && end > n.start {
				n.early, changed = end, true
				s.refresh(n.route)
			}
		}
		if !changed {
			break
		}
	}
	for x := range int32(s.m.stops) {
		n := &s.nodes[x]
		for _, a := range s.m.before[x] {
			if na := &s.nodes[a]; n.route >= 0 && na.route != n.route {
				n.early = n.start
				na.late = min(na.late, n.start-na.service)
			}
		}
	}
	for r := range s.routes {
		s.refresh(int32(r))
	}
}

// ready returns when all stops of other vehicles that must precede a stop have ended.
func (s *state) ready(x int32) int32 {
	end := int32(-farAway)
	for _, a := range s.m.before[x] {
		if na := &s.nodes[a]; na.route != s.nodes[x].route {
			end = max(end, na.start+na.service)
		}
	}
	return end
}

// solution returns the current plan.
func (s *search) solution() *Solution {
	m := s.m
	out := &Solution{Routes: make([]Route, len(m.vehicles)), Iterations: s.iters}
	for r := range s.routes {
		out.Routes[r] = s.route(int32(r))
		route := &out.Routes[r]
		out.Cost.Duration += route.Duration
		out.Cost.Distance += route.Distance
		if len(route.Visits) > 0 {
			out.Cost.Vehicles++
		}
		for _, v := range route.Visits {
			out.Cost.Lateness += v.Lateness
		}
	}
	for _, q := range s.absent {
		for _, x := range m.requests[q] {
			out.Unserved = append(out.Unserved, int(x))
			if m.p.Stops[x].Optional {
				out.Cost.Prizes += m.p.Stops[x].Prize
			} else {
				out.Cost.Unserved++
			}
		}
	}
	out.Cost.Weighted = m.p.Weights.weighted(out.Cost)
	return out
}

// route returns the plan of one vehicle.
func (s *search) route(r int32) Route {
	m := s.m
	v := &m.p.Vehicles[r]
	out := Route{Depart: v.ShiftStart, End: v.ShiftStart}
	seq := s.sequence(r, nil)
	if len(seq) == 0 {
		return out
	}
	profile := &m.p.Profiles[v.Profile]
	var load Load
	for _, x := range seq {
		for d := range Dimensions {
			load[d] += m.p.Stops[x].Carried[d]
		}
	}
	at, t := v.Start, v.ShiftStart
	travel := func(to int) {
		if at != None && to != None {
			leg := at*profile.Size + to
			t += int(profile.Duration[leg])
			out.Duration += int(profile.Duration[leg])
			if profile.Distance != nil {
				out.Distance += int(profile.Distance[leg])
			}
		}
		at = to
	}
	for _, x := range seq {
		stop := &m.p.Stops[x]
		travel(stop.Location)
		visit := Visit{Stop: int(x), Arrival: t, Start: int(s.nodes[x].start)}
		visit.End = visit.Start + stop.Service
		visit.Lateness = max(0, visit.Start-stop.Latest)
		for d := range Dimensions {
			load[d] += stop.Change[d]
		}
		visit.Load = load
		out.Visits = append(out.Visits, visit)
		t = visit.End
	}
	travel(v.End)
	out.End = t
	return out
}
