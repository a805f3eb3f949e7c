package sqlite

import (
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
	e.readers.slots.Most, e.readers.slots.Each, e.readers.slots.Shared, e.readers.slots.Burst = 3, 2, 0, 0
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
	waitFor(t, func() bool { return e.readers.slots.Waiting() == 3 && reads.running() == 2 })
	must(t, e.Read(other, func(engine.Conn) error { return nil }))
	close(release)
	all.Wait()
	if reads.most != 2 {
		t.Errorf("%d reads of a caller ran at once", reads.most)
	}
}
