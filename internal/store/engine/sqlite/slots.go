package sqlite

import (
	"context"
	"slices"
	"sync"
	"time"

	"dray/internal/store/engine"
)

// slots decides which reads have a connection. A caller has only a few of them, however
// many of its requests wait, so that there is one for others.
type slots struct {
	patience time.Duration // longest wait
	most     int           // slots
	each     int           // slots of one caller; the server itself may use all
	count    *engine.Counters

	mu    sync.Mutex
	free  sync.Cond // no read runs
	taken int
	of    map[string]int // slots that callers have
	queue []*waiter      // in the order of their arrival
}

// waiter is a read that waits for a slot.
type waiter struct {
	caller string
	ready  chan struct{} // closed when it has a slot
}

func newSlots(most, each int, patience time.Duration, count *engine.Counters) *slots {
	s := &slots{patience: patience, most: most, each: each, count: count, of: map[string]int{}}
	s.free.L = &s.mu
	return s
}

// take waits for a slot, not too long and not with too many others.
func (s *slots) take(ctx context.Context, caller string) error {
	s.mu.Lock()
	if s.has(caller) {
		s.grant(caller)
		s.mu.Unlock()
		return nil
	}
	if len(s.queue) >= queueLength {
		s.mu.Unlock()
		return overloaded(s.count, "%d reads are waiting", queueLength)
	}
	w := &waiter{caller: caller, ready: make(chan struct{})}
	s.queue = append(s.queue, w)
	s.mu.Unlock()
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		s.abandon(w)
		return ctx.Err()
	case <-timer.C:
		s.abandon(w)
		return overloaded(s.count, "reads wait longer than %v", s.patience)
	}
}

// has reports whether there is a slot for a caller. The caller of has holds the lock.
func (s *slots) has(caller string) bool {
	return s.taken < s.most && (caller == "" || s.of[caller] < s.each)
}

// grant gives a caller a slot. The caller of grant holds the lock.
func (s *slots) grant(caller string) {
	s.taken++
	s.of[caller]++
}

// abandon ends the wait of a read, which may have got a slot by now.
func (s *slots) abandon(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.queue, w); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		return
	}
	s.release(w.caller)
}

// give returns a slot.
func (s *slots) give(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(caller)
}

// release returns a slot. The caller of release holds the lock.
func (s *slots) release(caller string) {
	s.taken--
	if s.of[caller]--; s.of[caller] == 0 {
		delete(s.of, caller)
	}
	s.next()
	if s.taken == 0 {
		s.free.Broadcast()
	}
}

// next gives a slot to the caller with the fewest, and of several to the one that has
// waited longest. The caller of next holds the lock.
func (s *slots) next() {
	next := -1
	for i, w := range s.queue {
		if s.has(w.caller) && (next < 0 || s.of[w.caller] < s.of[s.queue[next].caller]) {
			next = i
		}
	}
	if next >= 0 {
		s.grant(s.queue[next].caller)
		close(s.queue[next].ready)
		s.queue = slices.Delete(s.queue, next, next+1)
	}
}

// drain waits until no read has a slot.
func (s *slots) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.taken > 0 {
		s.free.Wait()
	}
}
