package optimize

import (
	"slices"
	"sync"
)

const (
	// stopsOfThread is the number of stops that a thread needs. With fewer, threads change the
	// same routes at the same time too often, and one thread combines the routes of several plans.
	stopsOfThread = 150
	// mostUseful bounds the memory of a search: a thread takes up to 10 MB.
	mostUseful = 8
)

// UsefulThreads returns the maximum number of threads that make the plan of a problem better.
func UsefulThreads(p *Problem) int { return min(max(1, len(p.Stops)/stopsOfThread), mostUseful) }

// team returns the searches of the threads that may be used now: those of the round before
// that are still allowed, and new ones.
func (s *search) team(before []*search, meter *meter) []*search {
	threads := meter.threads()
	all := slices.Clone(before[:min(len(before), threads)]) // the memory of the others is freed
	for rank := len(all); rank < threads; rank++ {
		t := s.fork(s.rng.next())
		t.rank = rank
		all = append(all, t)
	}
	return all
}

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
