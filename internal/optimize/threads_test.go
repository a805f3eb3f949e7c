package optimize_test

import (
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"

	"dray/internal/optimize"
)

// TestThreadsComeAndGo allows another number of threads again and again, and in the end one.
func TestThreadsComeAndGo(t *testing.T) {
	most := []int64{4, 1, 3, 2, 0, 4, 1}
	for seed := range uint64(40) {
		p := generate(rand.New(rand.NewPCG(seed, 5)))
		steps, often := int64(100), int64(1+seed%7)
		if seed < 2 {
			p, steps, often = town(rand.New(rand.NewPCG(seed, 5)), 320), 600, 10
		}
		var calls atomic.Int64
		s := solve(t, p, optimize.Options{Seed: seed, Iterations: steps, Threads: 4, Allowed: func() int {
			return int(most[min(calls.Add(1)/often, int64(len(most)-1))])
		}})
		explained(t, p, s)
		if len(p.Stops) >= 20 && len(p.Vehicles) > 0 && calls.Load() < 24 {
			t.Errorf("seed %d: Allowed was called %d times", seed, calls.Load())
		}
	}
}

func TestOneThreadIgnoresWhatIsAllowed(t *testing.T) {
	for seed := range uint64(10) {
		p := town(rand.New(rand.NewPCG(seed, 6)), 40)
		alone := solve(t, p, optimize.Options{Seed: seed, Iterations: 2000})
		allowed := solve(t, p, optimize.Options{Seed: seed, Iterations: 2000, Threads: 1, Allowed: func() int { return 4 }})
		if !reflect.DeepEqual(alone, allowed) {
			t.Errorf("seed %d: %+v if four threads are allowed, otherwise %+v", seed, allowed.Cost, alone.Cost)
		}
	}
}

func TestUsefulThreads(t *testing.T) {
	for stops, want := range map[int]int{0: 1, 256: 1, 299: 1, 300: 2, 1000: 6, optimize.MaxStops: 8} {
		if got := optimize.UsefulThreads(&optimize.Problem{Stops: make([]optimize.Stop, stops)}); got != want {
			t.Errorf("%d threads for %d stops, want %d", got, stops, want)
		}
	}
}
