package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// activeFor is the time for which a caller counts as active after beginning an operation.
// lately is the time over which its use of slots is averaged, and expiry the time after
// which nothing of it is left.
const (
	activeFor = time.Second
	lately    = 2 * time.Second
	expiry    = 10 * lately
)

// spare is how much the average use of a caller that gets a burst of slots may exceed
// Each, so that a caller with a long operation can run short ones as well.
const spare = 0.5

// Slots decides which operations get a connection. While other callers are active, a
// caller gets only a few slots, however many of its requests wait, so that some are left
// for the others. A free slot goes to the caller that has used the least lately if slots
// are shared, otherwise to the one that has the fewest.
type Slots struct {
	SlotOptions

	mu     sync.Mutex
	free   sync.Cond // no operation runs
	taken  int
	of     map[string]int       // slots held, by caller
	use    map[string]use       // by caller, if slots are shared
	swept  time.Time            // when callers were last removed from use
	latest activity             // the latest of all callers
	before activity             // the latest of another caller
	queues map[string][]*waiter // waiters by caller, in the order of arrival
	queued int                  // number of waiters
	nth    int64                // number of the last waiter
}

// activity is the beginning of an operation of a caller.
type activity struct {
	caller string
	at     time.Time
}

// use is the average number of slots that a caller had lately, as of a time.
type use struct {
	slots float64
	at    time.Time
}

// SlotOptions are the numbers of slots, and limits of waiting.
type SlotOptions struct {
	Most       int              // number of slots
	Each       int              // slots that every caller may have; the server itself may use all
	Shared     int              // while all callers together have fewer slots than this, each may have more than Each
	Burst      int              // slots of a caller that has used hardly more than Each lately
	Alone      int              // slots of a caller while no other is active; at least Each
	MaxWaiting int              // limit of operations that wait for a slot
	Patience   time.Duration    // longest wait for a slot
	Now        func() time.Time // the clock
	Count      *Counters
}

// waiter is an operation that waits for a slot.
type waiter struct {
	caller string
	nth    int64
	ready  chan struct{} // closed when it gets a slot
}

// NewSlots returns slots that are all free.
func NewSlots(o SlotOptions) *Slots {
	s := &Slots{SlotOptions: o, of: map[string]int{}, use: map[string]use{}, queues: map[string][]*waiter{}}
	s.free.L = &s.mu
	return s
}

// Take waits for a slot. It returns an error if too many operations wait or if the wait
// exceeds Patience. After Take has returned nil, Give must be called.
func (s *Slots) Take(ctx context.Context, caller string) error {
	s.mu.Lock()
	if caller != "" && s.Alone > s.Each {
		if s.latest.caller != caller {
			s.before = s.latest
		}
		s.latest = activity{caller, s.Now()}
	}
	if s.has(caller) {
		s.grant(caller)
		s.mu.Unlock()
		return nil
	}
	if s.queued >= s.MaxWaiting {
		s.mu.Unlock()
		return s.Count.Overloaded("%d operations are waiting", s.MaxWaiting)
	}
	w := s.join(caller)
	s.mu.Unlock()
	timer := time.NewTimer(s.Patience)
	defer timer.Stop()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		s.abandon(w)
		return ctx.Err()
	case <-timer.C:
		s.abandon(w)
		return s.Count.Overloaded("operations wait longer than %v", s.Patience)
	}
}

// join adds a waiter. The caller of join holds the lock.
func (s *Slots) join(caller string) *waiter {
	s.nth++
	w := &waiter{caller: caller, nth: s.nth, ready: make(chan struct{})}
	s.queues[caller] = append(s.queues[caller], w)
	s.queued++
	return w
}

// leave removes a waiter, and reports whether it was waiting. The caller of leave holds the
// lock.
func (s *Slots) leave(w *waiter) bool {
	queue := s.queues[w.caller]
	i := slices.Index(queue, w)
	if i < 0 {
		return false
	}
	if queue = slices.Delete(queue, i, i+1); len(queue) == 0 {
		delete(s.queues, w.caller)
	} else {
		s.queues[w.caller] = queue
	}
	s.queued--
	return true
}

// has reports whether there is a slot for a caller. The caller of has holds the lock.
func (s *Slots) has(caller string) bool {
	switch {
	case s.taken >= s.Most:
		return false
	case caller == "", s.of[caller] < s.Each, s.taken-s.of[""] < s.Shared:
		return true
	case s.of[caller] < s.Burst && s.used(caller, s.Now()) < float64(s.Each)+spare:
		return true
	default:
		return s.of[caller] < s.Alone && s.isAlone(caller)
	}
}

// isAlone reports whether no other caller is active. The caller of isAlone holds the lock.
func (s *Slots) isAlone(caller string) bool {
	other := s.latest
	if other.caller == caller {
		other = s.before
	}
	return s.taken == s.of[caller]+s.of[""] && s.Now().Sub(other.at).Abs() > activeFor
}

// grant gives a caller a slot. The caller of grant holds the lock.
func (s *Slots) grant(caller string) { s.change(caller, 1) }

// change changes how many slots a caller has. The caller of change holds the lock.
func (s *Slots) change(caller string, by int) {
	if caller != "" && s.Shared > 0 {
		now := s.Now()
		s.use[caller] = use{s.used(caller, now), now}
		s.sweep(now)
	}
	s.taken += by
	if s.of[caller] += by; s.of[caller] == 0 {
		delete(s.of, caller)
	}
}

// used returns the average number of slots that a caller had lately. The caller of used
// holds the lock.
func (s *Slots) used(caller string, now time.Time) float64 {
	before := s.use[caller]
	faded := math.Exp(-max(now.Sub(before.at), 0).Seconds() / lately.Seconds())
	return before.slots*faded + float64(s.of[caller])*(1-faded)
}

// sweep removes the callers that have used no slots for long. The caller of sweep holds the
// lock.
func (s *Slots) sweep(now time.Time) {
	if now.Sub(s.swept).Abs() < expiry {
		return
	}
	for caller, u := range s.use {
		if s.of[caller] == 0 && now.Sub(u.at).Abs() >= expiry {
			delete(s.use, caller)
		}
	}
	s.swept = now
}

// abandon ends the wait of an operation, and releases its slot if it has just got one.
func (s *Slots) abandon(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leave(w) {
		s.release(w.caller)
	}
}

// Give returns a slot.
func (s *Slots) Give(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(caller)
}

// release returns a slot. The caller of release holds the lock.
func (s *Slots) release(caller string) {
	s.change(caller, -1)
	for s.next() { // several slots may become available if a caller is alone now
		continue
	}
	if s.taken == 0 {
		s.free.Broadcast()
	}
}

// next gives a slot to a waiting caller, and reports whether there was one. Callers that
// have fewer slots than Each come first; then the order is by used slots, held slots and
// arrival. The caller of next holds the lock.
func (s *Slots) next() bool {
	if s.queued == 0 {
		return false
	}
	var next *waiter
	var least float64
	now := s.Now()
	for caller, queue := range s.queues {
		first, used := queue[0], -1.0
		if s.of[caller] >= s.Each {
			used = s.used(caller, now)
		}
		if (next == nil || cmp.Or(cmp.Compare(used, least), cmp.Compare(s.of[caller], s.of[next.caller]), cmp.Compare(first.nth, next.nth)) < 0) && s.has(caller) {
			next, least = first, used
		}
	}
	if next == nil {
		return false
	}
	s.leave(next)
	s.grant(next.caller)
	close(next.ready)
	return true
}

// Waiting returns how many operations wait.
func (s *Slots) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queued
}

// Drain waits until no operation has a slot.
func (s *Slots) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.taken > 0 {
		s.free.Wait()
	}
}
