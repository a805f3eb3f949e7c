package optimize

import "sync"

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
