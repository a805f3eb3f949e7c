package sqlite

import (
	"context"
	"sync"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// atOnce counts how many things happen at the same time.
type atOnce struct {
	mu        sync.Mutex
	now, most int
}

func (a *atOnce) begin() (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now++
	a.most = max(a.most, a.now)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.now--
	}
}

func (a *atOnce) running() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now
}

func TestACallerDoesNotUseAllReaders(t *testing.T) {
	e := opened(t)
	e.readers.slots.most, e.readers.slots.each = 3, 2
	greedy, other := lastmile.WithCaller(t.Context(), "greedy"), lastmile.WithCaller(t.Context(), "other")
	release := make(chan struct{})
	var reads atOnce
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			err := e.Read(greedy, func(engine.Conn) error {
				defer reads.begin()()
				<-release
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	waitFor(t, func() bool { return e.readers.slots.waiting() == 3 && reads.running() == 2 })
	must(t, e.Read(other, func(engine.Conn) error { return nil }))
	close(release)
	all.Wait()
	if reads.most != 2 {
		t.Errorf("%d reads of a caller ran at once", reads.most)
	}
}

func TestTheCallerWithTheFewestReadsIsNext(t *testing.T) {
	s := newSlots(2, 2, patience, &engine.Counters{})
	must(t, s.take(t.Context(), "greedy"))
	must(t, s.take(t.Context(), "greedy"))
	order := make(chan string, 3)
	for i, caller := range []string{"greedy", "greedy", "other"} {
		go func() {
			if s.take(t.Context(), caller) == nil {
				order <- caller
			}
		}()
		waitFor(t, func() bool { return s.waiting() == i+1 })
	}
	s.give("greedy")
	if got := <-order; got != "other" {
		t.Errorf("%s was next", got)
	}
	s.give("greedy")
	if got := <-order; got != "greedy" {
		t.Errorf("%s was next", got)
	}
}

func TestAReadThatIsAbandonedKeepsNoSlot(t *testing.T) {
	s := newSlots(1, 1, patience, &engine.Counters{})
	must(t, s.take(t.Context(), "a"))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if s.take(gone, "b") == nil {
		t.Error("it has a slot")
	}
	w := &waiter{caller: "b", ready: make(chan struct{})}
	s.queue = append(s.queue, w)
	s.give("a")  // to b,
	s.abandon(w) // which has gone at the same time
	must(t, s.take(t.Context(), "c"))
}

// waiting returns how many reads wait.
func (s *slots) waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}
