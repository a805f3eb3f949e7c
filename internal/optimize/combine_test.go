package optimize

import (
	"context"
	"math"
	"reflect"
	"testing"
	"time"
)

// TestCombine verifies that collected routes are combined to a plan that is better than the
// best one.
func TestCombine(t *testing.T) {
	meter := newMeter(Options{Iterations: 8_000})
	s := uniformSearch(t, meter)
	first := s.best.clone()
	s.lap = lap{0, 1}
	s.run(t.Context(), meter, 1)
	s.load(&s.best)
	cost := s.best.cost
	if cost >= first.cost {
		t.Fatalf("the search did not improve the first plan, which costs %d", first.cost)
	}
	s.found = newRoutePool(s.m)
	s.heat = 0
	s.begin()
	for r := range s.routes {
		s.touch(int32(r))
	}
	s.found.record(s)
	s.best = first.clone() // forgets the better plan, but not its routes
	s.load(&s.best)
	s.found.combine(s)
	if s.best.cost > cost || s.best.weight > 0 || len(s.absent) > 0 {
		t.Errorf("the plan costs %d, its routes were collected from one of %d", s.best.cost, cost)
	}
	if s.energy() != s.best.cost {
		t.Errorf("the search continues at %d and not at %d", s.energy(), s.best.cost)
	}
	for r := range s.routes {
		if !s.sound(int32(r)) {
			t.Errorf("route %d is not feasible", r)
		}
	}
	best := s.best.clone()
	if s.found.combine(s); !reflect.DeepEqual(best.order, s.best.order) {
		t.Error("a plan was replaced by one that is no better")
	}
}

// TestRecordKeepsTheCheapestOrder verifies that the pool has each route once.
func TestRecordKeepsTheCheapestOrder(t *testing.T) {
	meter := newMeter(Options{Iterations: 8_000})
	s := uniformSearch(t, meter)
	s.found = newRoutePool(s.m)
	s.lap = lap{0, 1}
	s.run(t.Context(), meter, 1)
	seen := map[stopSet]bool{}
	for i := range s.found.routes {
		e := &s.found.routes[i]
		if len(e.stops) == 0 {
			continue
		}
		c := newColumn(e.cost, e.stops)
		if seen[c.set] {
			t.Fatalf("the route of stops %v was collected twice", e.stops)
		}
		seen[c.set] = true
		var order []int32
		for _, x := range e.stops {
			order = append(order, int32(x))
		}
		if cost, _, ok := s.simulate(0, order); !ok || cost != e.cost {
			t.Fatalf("a route costs %d (feasible: %v) and not %d", cost, ok, e.cost)
		}
	}
	if len(seen) < 100 {
		t.Errorf("only %d routes were collected", len(seen))
	}
}

// TestCombiningIsRepeatable verifies that a search with a number of steps gives the same plan
// each time, and takes no more steps than that, also if a lap has several parts.
func TestCombiningIsRepeatable(t *testing.T) {
	const steps = 5 * partSteps * 60 / 2
	s := uniformSearch(t, newMeter(Options{Iterations: 1}))
	var plans [2]*Solution
	for k := range plans {
		var err error
		if plans[k], err = Solve(t.Context(), s.m.p, Options{Seed: 1, Iterations: steps}); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(plans[0], plans[1]) {
		t.Errorf("plans cost %d and %d", plans[0].Cost.Weighted, plans[1].Cost.Weighted)
	}
	if plans[0].Iterations != steps {
		t.Errorf("%d steps of %d", plans[0].Iterations, steps)
	}
	if err := Check(s.m.p, plans[0]); err != nil {
		t.Error(err)
	}
}

// TestRunEndsDespiteRounding verifies that a search ends at the end of its budget if the shares
// of the parts of a lap add up to slightly more than 1.
func TestRunEndsDespiteRounding(t *testing.T) {
	var now time.Duration
	clock := func() time.Duration { now += time.Millisecond; return now }
	meter := newMeter(Options{Budget: time.Second, Now: clock})
	s := uniformSearch(t, meter)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	s.lap = lap{0, 1}
	if s.run(ctx, meter, math.Nextafter(1, 2)); ctx.Err() != nil {
		t.Error("the search went on after its budget")
	}
}
