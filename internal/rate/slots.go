package rate

import (
	"sync"

	"dray/internal/lastmile"
)

// Slots limits how many operations of each key run at the same time, and rejects others.
type Slots struct {
	Most int // maximum for each key

	mu    sync.Mutex
	taken map[string]int
}

// Acquire takes a slot of a key, or returns lastmile.TooMany if all are taken. The
// empty key has no limit.
func (s *Slots) Acquire(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key == "" {
		return nil
	}
	if s.taken[key] >= s.Most {
		return lastmile.TooMany()
	}
	if s.taken == nil {
		s.taken = map[string]int{}
	}
	s.taken[key]++
	return nil
}

// Release returns a slot.
func (s *Slots) Release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key] > 1 {
		s.taken[key]--
		return
	}
	delete(s.taken, key)
}
