package optimize_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dray/internal/optimize"
)

func TestCheckRejectsWrongPlans(t *testing.T) {
	problem := func() *optimize.Problem {
		p := line(at(10), at(20), at(30), at(40))
		p.Vehicles = append(p.Vehicles, p.Vehicles[0])
		p.Stops[2].Vehicles = []int{0}
		p.Stops[3].Pinned = true
		p.Vehicles[0].Route = []int{3}
		p.Stops[0].Carried[1], p.Stops[0].Change[1] = 5, -5
		p.Precedences = []optimize.Precedence{{Before: 0, After: 1, SameVehicle: true}}
		p.Vehicles[1].MaxStops = 3
		return p
	}
	good := solve(t, problem(), optimize.Options{Iterations: 100})
	tests := map[string]func(p *optimize.Problem, s *optimize.Solution){
		"a route too few":     func(_ *optimize.Problem, s *optimize.Solution) { s.Routes = s.Routes[1:] },
		"a stop that is lost": func(_ *optimize.Problem, s *optimize.Solution) { s.Routes[0].Visits = s.Routes[0].Visits[:1] },
		"a stop twice":        func(_ *optimize.Problem, s *optimize.Solution) { s.Unserved = []int{0} },
		"an unknown stop":     func(_ *optimize.Problem, s *optimize.Solution) { s.Routes[0].Visits[0].Stop = 77 },
		"an early arrival":    func(_ *optimize.Problem, s *optimize.Solution) { s.Routes[0].Visits[1].Arrival-- },
		"an early start":      func(_ *optimize.Problem, s *optimize.Solution) { s.Routes[0].Visits[1].Start-- },
		"a needless wait": func(_ *optimize.Problem, s *optimize.Solution) {
			route := &s.Routes[0]
			last := &route.Visits[len(route.Visits)-1]
			last.Start, last.End, route.End = last.Start+20, last.End+20, route.End+20
		},
		"a wrong end":          func(_ *optimize.Problem, s *optimize.Solution) { s.Routes[0].Visits[1].End++ },
		"a wrong load":         func(_ *optimize.Problem, s *optimize.Solution) { s.Routes[0].Visits[0].Load[0]++ },
		"a wrong lateness":     func(_ *optimize.Problem, s *optimize.Solution) { s.Routes[0].Visits[0].Lateness++ },
		"a wrong cost":         func(_ *optimize.Problem, s *optimize.Solution) { s.Cost.Weighted-- },
		"a wrong duration":     func(_ *optimize.Problem, s *optimize.Solution) { s.Routes[0].Duration-- },
		"a departure too soon": func(p *optimize.Problem, _ *optimize.Solution) { p.Vehicles[0].ShiftStart = 1 },
		"a shift too short":    func(p *optimize.Problem, s *optimize.Solution) { p.Vehicles[0].ShiftEnd = s.Routes[0].End - 1 },
		"a window missed": func(p *optimize.Problem, s *optimize.Solution) {
			p.Stops[3].Latest = s.Routes[0].Visits[0].Start - 1
		},
		"a capacity exceeded": func(p *optimize.Problem, _ *optimize.Solution) {
			p.Vehicles[0].Capacity, p.Vehicles[1].Capacity = optimize.Load{}, optimize.Load{}
		},
		"a vehicle not allowed": func(p *optimize.Problem, _ *optimize.Solution) { p.Stops[2].Vehicles = []int{1} },
		"too many stops":        func(p *optimize.Problem, _ *optimize.Solution) { p.Vehicles[0].MaxStops = 1 },
		"no way":                func(p *optimize.Problem, _ *optimize.Solution) { p.Profiles[0].Duration[40] = optimize.Unreachable },
		"the wrong order": func(p *optimize.Problem, _ *optimize.Solution) {
			p.Precedences = append(p.Precedences, optimize.Precedence{Before: 2, After: 3})
		},
		"a wrong vehicle": func(p *optimize.Problem, _ *optimize.Solution) {
			p.Vehicles[0].Route, p.Vehicles[1].Route = nil, []int{3}
		},
		"a pinned stop that has moved": func(p *optimize.Problem, _ *optimize.Solution) {
			p.Stops[3].Pinned = false
			p.Stops[2].Pinned = true
			p.Vehicles[0].Route = []int{2, 3}
		},
	}
	if got := routes(good); got[0][0] != 3 || !slices.Contains(got[0], 2) {
		t.Fatalf("the plan is %v", got)
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			p, s := problem(), *good
			s.Routes = slices.Clone(s.Routes)
			for v := range s.Routes {
				s.Routes[v].Visits = slices.Clone(s.Routes[v].Visits)
			}
			if err := optimize.Check(p, &s); err != nil {
				t.Fatal(err)
			}
			change(p, &s)
			if err := optimize.Check(p, &s); err == nil {
				t.Error("the plan passed")
			}
		})
	}
}

// TestSmallPlansAreOptimal compares plans with the best of all sequences.
func TestSmallPlansAreOptimal(t *testing.T) {
	for seed := range uint64(40) {
		p := town(rand.New(rand.NewPCG(seed, 8)), 6)
		p.Vehicles = p.Vehicles[:2]
		got := solve(t, p, optimize.Options{Seed: seed, Iterations: 400}).Cost
		if want := exhaust(p); got.Unserved != want.Unserved || got.Unserved == 0 && got.Duration != want.Duration {
			t.Errorf("seed %d: got %+v, the best is %+v", seed, got, want)
		}
	}
}

// exhaust returns the cost of the best plan of a problem with two equal vehicles
// and hard windows that leaves out as few stops as possible.
func exhaust(p *optimize.Problem) optimize.Cost {
	n := len(p.Stops)
	best := make([]int, 1<<n) // by set of stops: the shortest route, or -1
	for set := range best {
		best[set] = -1
	}
	m, v := &p.Profiles[0], &p.Vehicles[0]
	var extend func(set, last, clock, load, travel int)
	extend = func(set, last, clock, load, travel int) {
		back := int(m.Duration[last*m.Size+v.End])
		if set == 0 {
			best[0] = 0
		} else if clock+back <= v.ShiftEnd && (best[set] < 0 || travel+back < best[set]) {
			best[set] = travel + back
		}
		for i := range n {
			s := &p.Stops[i]
			d := int(m.Duration[last*m.Size+s.Location])
			start := max(clock+d, s.Earliest)
			if set&(1<<i) == 0 && start <= s.Latest && load+s.Carried[0] <= v.Capacity[0] {
				extend(set|1<<i, s.Location, start+s.Service, load+s.Carried[0], travel+d)
			}
		}
	}
	extend(0, v.Start, 0, 0, 0)
	out := optimize.Cost{Unserved: n + 1}
	for a, x := range best {
		for b, y := range best {
			if a&b != 0 || x < 0 || y < 0 {
				continue
			}
			left := n
			for i := range n {
				left -= (a | b) >> i & 1
			}
			if left < out.Unserved || left == out.Unserved && x+y < out.Duration {
				out.Unserved, out.Duration = left, x+y
			}
		}
	}
	return out
}
