package optimize

import (
	"math"
	"testing"
)

// uniformSearch returns a search on a problem with equal vehicles, hard windows and one
// capacity, from a plan with three stops in each route.
func uniformSearch(t *testing.T, meter *meter) *search {
	t.Helper()
	const stops = 60
	p := &Problem{Profiles: []Profile{{Size: stops + 1, Duration: make([]int32, (stops+1)*(stops+1))}}}
	for i := range p.Profiles[0].Duration {
		p.Profiles[0].Duration[i] = int32(straight(i/(stops+1), i%(stops+1)))
	}
	var plan [][]int
	for i := range stops {
		p.Stops = append(p.Stops, Stop{Location: i, Latest: 900, Carried: Load{1}, Change: Load{-1}})
		if i%3 == 0 {
			p.Vehicles = append(p.Vehicles, Vehicle{Start: stops, End: stops, ShiftEnd: 1000, Capacity: Load{10}})
			plan = append(plan, nil)
		}
		plan[i/3] = append(plan[i/3], i)
	}
	m, err := compile(p)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(m, 1)
	if !s.m.uniform() {
		t.Fatal("the vehicles are not equal")
	}
	s.construct(t.Context(), meter, plan)
	return s
}

// TestFleetIsLimited verifies that a step counts the vehicles that it uses, and that a hot
// search does not use more and more of them.
func TestFleetIsLimited(t *testing.T) {
	meter := newMeter(Options{Iterations: 200_000})
	s := uniformSearch(t, meter)
	s.enter(lap{0.5, 1})
	s.shrink(t.Context(), meter)
	s.leg = s.averageLeg()
	for _, heat := range []float64{10, coolHeat, coolHeat / 4} {
		s.heat = heat * s.leg
		for range 2000 {
			before, most := s.used, s.size
			if heat < coolHeat {
				most = max(s.size, s.best.used) + 1
			}
			s.improve()
			used := 0
			for r := range s.routes {
				used += inUse(s.routes[r].stops)
			}
			if s.used != used {
				t.Fatalf("%d vehicles counted, %d used", s.used, used)
			}
			if used > max(before, most) {
				t.Fatalf("%d vehicles used at %v legs, %d before and %d allowed", used, heat, before, most)
			}
		}
	}
}

// TestShrinkDissolvesRoutes verifies that a lap begins with a plan of fewer routes where that
// is better.
func TestShrinkDissolvesRoutes(t *testing.T) {
	meter := newMeter(Options{Iterations: 200_000})
	s := uniformSearch(t, meter)
	s.enter(lap{0.5, 1}) // not the first, which drafts a plan before
	used, cost := s.best.used, s.best.cost
	s.shrink(t.Context(), meter)
	if s.used >= used || s.best.cost >= cost || s.best.weight > 0 || len(s.absent) > 0 {
		t.Errorf("%d vehicles at %d became %d at %d, %d requests left out", used, cost, s.used, s.best.cost, len(s.absent))
	}
	if s.size != s.used || s.target != 0 {
		t.Errorf("the lap begins with %d vehicles, but is limited to %d", s.used, s.size)
	}
	for r := range s.routes {
		if !s.sound(int32(r)) {
			t.Errorf("route %d is not feasible", r)
		}
	}
}

// TestShrinkKeepsTheBestPlan verifies that the best plan survives when a lap goes on with one
// that has fewer routes and is longer.
func TestShrinkKeepsTheBestPlan(t *testing.T) {
	meter := newMeter(Options{Iterations: 40_000})
	s := uniformSearch(t, meter)
	s.lap = lap{0, 0.2}
	s.run(t.Context(), meter, 0.2)
	s.enter(lap{0.5, 1})
	before := s.best.clone()
	s.shrink(t.Context(), meter)
	if s.best.cost > before.cost || s.best.weight > 0 {
		t.Errorf("the best plan cost %d and now %d", before.cost, s.best.cost)
	}
	most := before.cost + int64(shrinkLoss*float64(before.cost))
	if s.energy() > most || s.energy() < s.best.cost {
		t.Errorf("the lap begins at %d; the best plan costs %d", s.energy(), s.best.cost)
	}
	s.load(&s.best)
	if s.energy() != s.best.cost || s.used != s.best.used {
		t.Errorf("the best plan costs %d with %d vehicles, not %d with %d", s.energy(), s.used, s.best.cost, s.best.used)
	}
}

// TestShrinkIsBounded verifies that dissolving routes takes no more steps than the search has,
// even if they run out meanwhile.
func TestShrinkIsBounded(t *testing.T) {
	for _, steps := range []int64{1, 16, 17, 100, 1000} {
		meter := newMeter(Options{Iterations: steps})
		s := uniformSearch(t, meter)
		for _, l := range []lap{{0, 1}, {0.97, 1}} {
			s.enter(l)
			s.shrink(t.Context(), meter)
			if s.iters > steps {
				t.Errorf("%d steps of %d", s.iters, steps)
			}
		}
	}
}

// TestShrinkPrefersFewerVehicles verifies that of two plans with equal travel the one with
// fewer vehicles is kept.
func TestShrinkPrefersFewerVehicles(t *testing.T) {
	meter := newMeter(Options{Iterations: 200_000})
	s := uniformSearch(t, meter)
	for i := range s.m.matrices {
		clear(s.m.matrices[i].cost)
		clear(s.m.matrices[i].costT)
	}
	for x := range s.nodes {
		s.nodes[x].to = -1
	}
	for r := range s.routes {
		s.refresh(int32(r))
	}
	s.best.weight = math.MaxInt64
	s.keep()
	s.enter(lap{0.5, 1})
	if s.shrink(t.Context(), meter); s.best.used > s.used {
		t.Errorf("a plan with %d vehicles is kept, not the one with %d", s.best.used, s.used)
	}
}
