package optimize

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// splitFrom is the number of stops from which each thread gets a part of the plan.
// Problems with more rules than hard windows and one capacity are never split: their
// routes cross each other, and a step gains less if it may change only some of the
// routes around it.
const splitFrom = 300

// fork returns a search for another thread, with the same plan.
func (s *search) fork(seed uint64) *search {
	t := newSearch(s.m, seed)
	t.scale, t.lap, t.iters, t.taken, t.size = s.scale, s.lap, s.iters, s.iters, s.size
	t.copyPlan(s)
	t.keep()
	return t
}

// copyPlan makes the plan of another search the current one.
func (s *search) copyPlan(other *search) {
	copy(s.nodes, other.nodes)
	copy(s.extra, other.extra)
	copy(s.routes, other.routes)
	clear(s.vacant)
	s.version = max(s.version, other.version)
	for r := range s.routes { // versions of two searches are not comparable
		s.version++
		s.routes[r].version, s.routes[r].stamp = s.version, 0
	}
	s.absent = append(s.absent[:0], other.absent...)
	s.cost, s.late, s.weight, s.prizes = other.cost, other.late, other.weight, other.prizes
	s.used = other.used
	s.current = s.absence()
}

// each runs a function for all searches concurrently.
func each(all []*search, f func(k int, t *search)) {
	var group sync.WaitGroup
	for k, t := range all {
		group.Go(func() { f(k, t) })
	}
	group.Wait()
}

// copyBest makes the best plan of another search the current one.
func (s *search) copyBest(b *plan) {
	if b.weight < 1<<62 {
		s.load(b)
	}
}

// runSplit gives every thread a part of the routes that are close together, lets it improve
// them, and joins the parts again. Every round has other parts.
func (s *search) runSplit(ctx context.Context, meter *meter, threads int) {
	all := make([]*search, threads)
	for k := range all {
		all[k] = s.fork(s.rng.next())
	}
	part := make([]int, len(s.routes))
	for round := 1; round <= rounds && ctx.Err() == nil; round++ {
		routes := make([]int32, len(s.routes))
		for r := range routes {
			routes[r] = int32(r)
		}
		s.split(routes, part, 0, len(all))
		each(all, func(k int, t *search) {
			t.copyPlan(s)
			t.confine(part, k, len(all))
			t.best.weight = 1 << 62
			t.keep()
			t.run(ctx, meter, s.lap.after(round))
			if round+2 > rounds || ctx.Err() != nil {
				t.load(&t.best)
			}
		})
		s.merge(all, part)
		share, _ := s.lap.share(meter.done(s.iters))
		s.setScale(share)
		s.keep()
		meter.report(s, PhaseImprove)
	}
}

// split divides routes among threads, numbered from first, by halving them recursively by
// the distance from a random route.
func (s *search) split(routes []int32, part []int, first, threads int) {
	if threads == 1 || len(routes) == 0 {
		for _, r := range routes {
			part[r] = first
		}
		return
	}
	m := s.m
	pivot := s.middle(routes[s.rng.below(uint32(len(routes)))])
	slices.SortStableFunc(routes, func(a, b int32) int {
		ma, mb := s.middle(a), s.middle(b)
		return cmp.Compare(m.matrices[0].cost[int(pivot)*m.size+int(ma)], m.matrices[0].cost[int(pivot)*m.size+int(mb)])
	})
	half := threads / 2
	cut := len(routes) * half / threads
	s.split(routes[:cut], part, first, half)
	s.split(routes[cut:], part, first+half, threads-half)
}

// middle returns the matrix row of the stop in the middle of a route. An empty route is
// assigned an arbitrary stop, so that each part gets some empty routes.
func (s *search) middle(r int32) int32 {
	i := s.m.start(r)
	if s.routes[r].stops == 0 {
		return (r * 7919) % int32(max(1, s.m.stops))
	}
	for range (s.routes[r].stops + 1) / 2 {
		i = s.nodes[i].next
	}
	return s.nodes[i].loc
}

// confine restricts a search to its part of the routes.
func (s *search) confine(part []int, k, parts int) {
	m := s.m
	s.ids = s.ids[:0]
	s.weight, s.prizes = 0, 0
	kept := s.absent[:0]
	for _, q := range s.absent {
		if int(q)%parts == k {
			kept = append(kept, q)
			s.weight += m.weight[q]
			s.prizes += m.prize[q]
			s.ids = append(s.ids, q)
		}
	}
	s.absent = kept
	for r := range s.routes {
		s.frozen[r] = part[r] != k
	}
	clear(s.vacant)
	for q, members := range m.requests {
		if r := s.nodes[members[0]].route; r >= 0 && !s.frozen[r] {
			s.ids = append(s.ids, int32(q))
		}
	}
	s.charge = 0
	for _, q := range s.ids {
		s.charge += len(m.requests[q])
	}
	s.current = s.absence()
}

// merge joins the parts that the threads have improved.
func (s *search) merge(all []*search, part []int) {
	m := s.m
	joined := plan{order: make([][]int32, len(s.routes))}
	for r := range s.routes {
		joined.order[r] = all[part[r]].sequence(int32(r), nil)
	}
	for _, t := range all {
		joined.absent = append(joined.absent, t.absent...)
		s.iters = max(s.iters, t.iters)
	}
	for _, q := range joined.absent {
		joined.weight += m.weight[q]
	}
	s.load(&joined)
}
