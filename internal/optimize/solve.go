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
	switch {
	case o.Iterations <= 0 && o.Budget <= 0:
		return nil, invalid("neither the iterations nor the time of the search are bounded")
	case o.Budget > 0 && o.Now == nil:
		return nil, invalid("a budget needs a clock")
	}
	meter := newMeter(o)
	m, err := compile(p)
	if err != nil {
		return nil, err
	}
	s := newSearch(m, o.Seed)
	s.construct(ctx, o.Initial)
	if len(m.vehicles) > 0 && m.stops > 0 {
		s.run(ctx, meter, meter.done(0), 1)
	}
	s.load(&s.best)
	s.finish()
	return s.solution(), nil
}

// meter measures which share of a search is done.
type meter struct {
	iterations int64
	budget     time.Duration
	now        func() time.Duration
	began      time.Duration
}

func newMeter(o Options) *meter {
	t := &meter{iterations: o.Iterations, budget: o.Budget, now: o.Now}
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

// construct makes the first complete plan.
func (s *search) construct(ctx context.Context, initial [][]int) {
	s.begin()
	pool := s.absent
	s.absent = nil
	slices.SortStableFunc(pool, func(a, b int32) int {
		ka, kb := s.constructKey(a), s.constructKey(b)
		return slices.Compare(ka[:], kb[:])
	})
	s.fillIn(pool, false)
	s.local()
	s.keep()
}

func (s *search) constructKey(q int32) [3]int64 {
	m := s.m
	x := m.requests[q][0]
	first := int64(1)
	if m.weight[q] > int64(m.stops) {
		first = 0
	} else if m.weight[q] == 0 {
		first = 2
	}
	return [3]int64{int64(m.tier[q]), first, -m.depth[x]}
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

// finish tries every position for what is left out, so that the reasons for it
// are true.
func (s *search) finish() {
	s.renew()
	for again := true; again; {
		s.begin()
		pool := slices.Clone(s.absent)
		slices.SortStableFunc(pool, func(a, b int32) int { return int(s.m.tier[a] - s.m.tier[b]) })
		s.absent = s.absent[:0]
		s.thorough = deepTries
		s.fillIn(pool, true)
		s.thorough = 0
		again = len(s.absent) < len(pool)
		s.drop()
	}
}

// renew widens the windows that precedences between vehicles narrow as far as the
// planned times allow.
func (s *search) renew() {
	if !s.m.wide {
		return
	}
	for x := range s.m.stops {
		s.nodes[x].late = s.m.nodes[x].late
	}
	for x := range int32(s.m.stops) {
		n := &s.nodes[x]
		n.early = s.m.nodes[x].early
		for _, a := range s.m.before[x] {
			if na := &s.nodes[a]; n.route >= 0 && na.route != n.route {
				n.early = max(n.early, n.start)
				na.late = min(na.late, n.start-na.service)
			}
		}
	}
	for r := range s.routes {
		s.refresh(int32(r))
	}
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
	slices.Sort(out.Unserved)
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
