package dispatch

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/optimize"
	"dray/internal/planning"
	"dray/internal/work"
)

// TestProcessorsAreShared begins and ends dispatches and their searches at random.
func TestProcessorsAreShared(t *testing.T) {
	type running struct {
		most           int
		allowed        func() int
		end, endSearch func()
	}
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		total := 1 + rng.IntN(12)
		p := NewProcessors(total)
		var all []*running
		for range 200 {
			switch k := rng.IntN(total + 1); {
			case k >= len(all):
				if len(all) < total {
					all = append(all, &running{end: p.run()})
				}
			case all[k].allowed == nil && rng.IntN(2) == 0:
				all[k].most = 1 + rng.IntN(8)
				all[k].allowed, all[k].endSearch = p.search(all[k].most)
			default:
				if all[k].allowed != nil {
					all[k].endSearch()
				}
				all[k].end()
				all = append(all[:k], all[k+1:]...)
			}
			used, least, content := 0, total, true
			for _, d := range all {
				n := 1
				if d.allowed != nil {
					n = d.allowed()
				}
				if n < d.most {
					content, least = false, min(least, n)
				}
				if n < 1 || n > max(d.most, 1) {
					t.Fatalf("seed %d: %d processors for a search that can use %d", seed, n, d.most)
				}
				used += n
			}
			if used > total || used < total && !content {
				t.Fatalf("seed %d: %d dispatches use %d of %d processors", seed, len(all), used, total)
			}
			for _, d := range all {
				if d.allowed != nil && d.allowed() > least+1 {
					t.Fatalf("seed %d: a search has %d processors, and another one that can use more %d", seed, d.allowed(), least)
				}
			}
		}
	}
}

func TestDispatchGetsItsProcessorBack(t *testing.T) {
	p := NewProcessors(4)
	defer p.run()()
	allowed, end := p.search(8)
	defer end()
	for _, want := range []int{4, 3, 2, 1} {
		if got := allowed(); got != want {
			t.Fatalf("%d processors, want %d", got, want)
		}
		defer p.run()()
	}
}

func TestSearchOnOneProcessor(t *testing.T) {
	p := NewProcessors(0)
	defer p.run()()
	allowed, end := p.search(8)
	defer end()
	if p.total != 1 || allowed() != 1 {
		t.Errorf("%d of %d processors, want 1", allowed(), p.total)
	}
}

// brokenStore panics.
type brokenStore struct{ Store }

func TestFailedDispatchFreesItsProcessor(t *testing.T) {
	ds := &Dispatches{Store: brokenStore{}, Processors: NewProcessors(2)}
	func() {
		defer func() { _ = recover() }()
		_, _ = ds.Run(t.Context(), &work.Lease{})
		t.Error("a dispatch without a store has ended")
	}()
	if ds.Processors.running != 0 {
		t.Errorf("%d dispatches run", ds.Processors.running)
	}
}

// TestSearchGivesProcessorsBack searches on all processors until other dispatches need them.
// The clock advances whenever it is read, so nothing depends on the speed of the machine.
func TestSearchGivesProcessorsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			clock  atomic.Int64
			others sync.Once
		)
		ds := &Dispatches{Processors: NewProcessors(3)}
		ds.Elapsed = func() time.Duration {
			now := time.Duration(clock.Add(int64(time.Millisecond)))
			if now > 100*time.Millisecond {
				others.Do(func() {
					before := ds.Processors.searches[0].allowed.Load()
					ds.Processors.run()
					ds.Processors.run()
					if after := ds.Processors.searches[0].allowed.Load(); before != 3 || after != 1 {
						t.Errorf("the search may use %d processors, and %d when two other dispatches run", before, after)
					}
				})
			}
			return now
		}
		defer ds.Processors.run()()
		model := &planning.Model{Problem: largeProblem(600)}
		solution, err := ds.solve(t.Context(), &work.Lease{}, lastmile.Dispatch{}, model, 300*time.Millisecond) // checks the plan
		if err != nil {
			t.Fatal(err)
		}
		if len(solution.Unserved) > 0 {
			t.Errorf("%d stops are left out", len(solution.Unserved))
		}
		if len(ds.Processors.searches) > 0 {
			t.Errorf("%d searches have processors after the end", len(ds.Processors.searches))
		}
	})
}

// largeProblem returns a problem of many stops.
func largeProblem(stops int) optimize.Problem {
	rng := rand.New(rand.NewPCG(1, 2))
	profile := optimize.Profile{Size: stops + 1, Duration: make([]int32, (stops+1)*(stops+1))}
	for i := range profile.Duration {
		profile.Duration[i] = 1 + rng.Int32N(100)
	}
	p := optimize.Problem{Profiles: []optimize.Profile{profile}}
	for i := range stops {
		p.Stops = append(p.Stops, optimize.Stop{Location: i, Latest: 20_000, MaxLateness: 600})
	}
	for range stops / 20 {
		p.Vehicles = append(p.Vehicles, optimize.Vehicle{Start: stops, End: stops, ShiftEnd: 30_000})
	}
	return p
}
