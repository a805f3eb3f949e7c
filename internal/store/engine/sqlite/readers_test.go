package sqlite

import (
	"sync"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// atOnce counts concurrent operations.
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

// share shares connections as on a machine with the given number of processors.
func share(r *readers, processors int) {
	o := &r.slots.SlotOptions
	o.Each, o.Shared, o.Burst = shares(processors)
}

func TestReadersAreShared(t *testing.T) {
	for processors, want := range map[int][3]int{1: {1, 2, 2}, 2: {1, 2, 2}, 3: {1, 2, 2}, 4: {2, 2, 2}, 8: {4, 4, 4}} {
		each, shared, burst := shares(processors)
		if got := [3]int{each, shared, burst}; got != want {
			t.Errorf("on %d processors, callers have %v; want %v", processors, got, want)
		}
	}
}

func TestACallerDoesNotUseAllReaders(t *testing.T) {
	e := opened(t)
	e.readers.slots.SlotOptions.Most = 3
	share(e.readers, 2)
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

// TestReadersMapTheDatabaseIfThereIsMemory: in a small container, mapped pages would replace
// those that other requests need.
func TestReadersMapTheDatabaseIfThereIsMemory(t *testing.T) {
	for cache, want := range map[int64]int64{0: largestMap, writerCache: largestMap, writerCache - 1: 0, 8 << 20: 0} {
		o := options(t.TempDir())
		o.Cache = cache
		e, err := Open(t.Context(), o)
		must(t, err)
		var mapped int64
		must(t, e.Direct(t.Context(), func(c engine.Conn) error {
			return c.Row(t.Context(), `PRAGMA mmap_size`).Scan(&mapped)
		}))
		if mapped != want {
			t.Errorf("with a cache of %d bytes, readers map %d, want %d", cache, mapped, want)
		}
		must(t, e.Close())
	}
}
