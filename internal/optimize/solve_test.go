package optimize_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/optimize"
)

// solve returns the plan of a problem and fails if it breaks a rule.
func solve(t *testing.T, p *optimize.Problem, o optimize.Options) *optimize.Solution {
	t.Helper()
	s, err := optimize.Solve(t.Context(), p, o)
	if err != nil {
		t.Fatalf("%v: %+v", err, p)
	}
	if err := optimize.Check(p, s); err != nil {
		t.Fatalf("seed %d: %v\nproblem %+v\nplan %+v", o.Seed, err, p, s)
	}
	return s
}

// explained fails if a stop is left out that a vehicle could serve.
func explained(t *testing.T, p *optimize.Problem, s *optimize.Solution) {
	t.Helper()
	why := optimize.NewExplainer(p, s)
	for _, stop := range s.Unserved {
		for _, e := range why.Explain(stop) {
			if len(e.Reasons) == 0 {
				t.Fatalf("stop %d is left out, and vehicle %d could serve it\nproblem %+v\nplan %+v", stop, e.Vehicle, p, s)
			}
		}
	}
}

// TestCheckConfirmsThatNothingFits puts stops that are left out at every position of
// every route: Check must reject each of these plans.
func TestCheckConfirmsThatNothingFits(t *testing.T) {
	tried := 0
	for seed := range uint64(300) {
		p := generate(rand.New(rand.NewPCG(seed, 7)))
		p.Precedences = nil
		s := solve(t, p, optimize.Options{Seed: seed, Iterations: 20})
		for k, stop := range s.Unserved {
			if p.Stops[stop].Optional {
				continue
			}
			for v := range s.Routes {
				if slices.ContainsFunc(p.Vehicles[v].Route, func(x int) bool { return p.Stops[x].Pinned && slices.Contains(s.Unserved, x) }) {
					continue // a pinned stop keeps its position even if it is left out, which Check does not require
				}
				for at := range len(s.Routes[v].Visits) + 1 {
					other := *s
					other.Unserved = slices.Delete(slices.Clone(s.Unserved), k, k+1)
					other.Routes = slices.Clone(s.Routes)
					order := slices.Insert(slices.Clone(s.Routes[v].Visits), at, optimize.Visit{Stop: stop})
					other.Routes[v] = timed(p, v, order)
					other.Cost = cost(p, &other)
					tried++
					if optimize.Check(p, &other) == nil {
						t.Fatalf("seed %d: stop %d has a place on the route of vehicle %d", seed, stop, v)
					}
				}
			}
		}
		other := *s // the same plan, timed again, is correct
		other.Routes = slices.Clone(s.Routes)
		for v := range other.Routes {
			other.Routes[v] = timed(p, v, slices.Clone(s.Routes[v].Visits))
		}
		other.Cost = cost(p, &other)
		if err := optimize.Check(p, &other); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if tried < 5_000 {
		t.Errorf("only %d plans were tried", tried)
	}
}

// timed returns a route with the figures that follow from its order.
func timed(p *optimize.Problem, v int, visits []optimize.Visit) optimize.Route {
	vehicle := &p.Vehicles[v]
	r := optimize.Route{Visits: visits, Depart: vehicle.ShiftStart, End: vehicle.ShiftStart}
	profile := &p.Profiles[vehicle.Profile]
	place := vehicle.Start
	travel := func(to int) {
		if len(visits) > 0 && place != optimize.None && to != optimize.None {
			d := max(0, int(profile.Duration[place*profile.Size+to]))
			r.End, r.Duration = r.End+d, r.Duration+d
			if profile.Distance != nil {
				r.Distance += int(profile.Distance[place*profile.Size+to])
			}
		}
		place = to
	}
	var load optimize.Load
	for i := range visits {
		for d, amount := range p.Stops[visits[i].Stop].Carried {
			load[d] += amount
		}
	}
	for i := range visits {
		stop := &p.Stops[visits[i].Stop]
		travel(stop.Location)
		for d, amount := range stop.Change {
			load[d] += amount
		}
		start := max(r.End, stop.Earliest)
		visits[i] = optimize.Visit{
			Stop: visits[i].Stop, Arrival: r.End, Start: start, End: start + stop.Service, Lateness: max(0, start-stop.Latest), Load: load,
		}
		r.End = visits[i].End
	}
	travel(vehicle.End)
	return r
}

// cost returns the cost of a plan.
func cost(p *optimize.Problem, s *optimize.Solution) optimize.Cost {
	var c optimize.Cost
	for _, r := range s.Routes {
		c.Duration, c.Distance = c.Duration+r.Duration, c.Distance+r.Distance
		if len(r.Visits) > 0 {
			c.Vehicles++
		}
		for _, visit := range r.Visits {
			c.Lateness += visit.Lateness
		}
	}
	for _, stop := range s.Unserved {
		if p.Stops[stop].Optional {
			c.Prizes += p.Stops[stop].Prize
		} else {
			c.Unserved++
		}
	}
	w := p.Weights
	if w.Duration == 0 && w.Distance == 0 {
		w.Duration = 1
	}
	c.Weighted = w.Lateness*c.Lateness + w.Duration*c.Duration + w.Distance*c.Distance + w.Vehicle*c.Vehicles + c.Prizes
	return c
}

func TestPlansOfGeneratedProblemsAreFeasible(t *testing.T) {
	for seed := range uint64(2000) {
		p := generate(rand.New(rand.NewPCG(seed, 1)))
		s := solve(t, p, optimize.Options{Seed: seed, Iterations: 20})
		if seed%8 == 0 {
			explained(t, p, s)
		}
	}
}

func TestPlansOfSeveralThreadsAreFeasible(t *testing.T) {
	for seed := range uint64(50) {
		p := generate(rand.New(rand.NewPCG(seed, 3)))
		s := solve(t, p, optimize.Options{Seed: seed, Iterations: 50, Threads: 3})
		explained(t, p, s)
	}
	for seed := range uint64(2) {
		p := town(rand.New(rand.NewPCG(seed, 4)), 320)
		one := solve(t, p, optimize.Options{Seed: seed, Iterations: 1})
		many := solve(t, p, optimize.Options{Seed: seed, Iterations: 300, Threads: 3})
		if p.Weights.Compare(many.Cost, one.Cost) >= 0 {
			t.Errorf("seed %d: %+v after one step, %+v after 300 of each thread", seed, one.Cost, many.Cost)
		}
	}
}

func TestSameSeedSamePlan(t *testing.T) {
	for seed := range uint64(30) {
		p := generate(rand.New(rand.NewPCG(seed, 2)))
		a := solve(t, p, optimize.Options{Seed: seed, Iterations: 200})
		b := solve(t, p, optimize.Options{Seed: seed, Iterations: 200})
		if a.Cost != b.Cost || !slices.Equal(a.Unserved, b.Unserved) || a.Iterations != b.Iterations {
			t.Errorf("seed %d: %+v and %+v", seed, a.Cost, b.Cost)
		}
		for v := range a.Routes {
			if !slices.Equal(a.Routes[v].Visits, b.Routes[v].Visits) {
				t.Errorf("seed %d: vehicle %d differs", seed, v)
			}
		}
	}
}

func TestEndOfContextReturnsThePlanSoFar(t *testing.T) {
	p := town(rand.New(rand.NewPCG(1, 1)), 100)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	s, err := optimize.Solve(ctx, p, optimize.Options{Iterations: 1 << 40, Progress: func(g optimize.Progress) {
		calls++
		if g.Phase == optimize.PhaseConstruct {
			cancel()
		}
	}})
	if err != nil || optimize.Check(p, s) != nil || s.Cost.Unserved > 0 || calls == 0 {
		t.Errorf("%v, %v, %d unserved, %d calls", err, optimize.Check(p, s), s.Cost.Unserved, calls)
	}
	s, err = optimize.Solve(ctx, p, optimize.Options{Iterations: 1 << 40})
	if err != nil || optimize.Check(p, s) != nil {
		t.Errorf("a context that has ended: %v, %v", err, optimize.Check(p, s))
	}
}

func TestSearchImprovesOnAnInitialPlan(t *testing.T) {
	p := town(rand.New(rand.NewPCG(5, 5)), 80)
	good := solve(t, p, optimize.Options{Seed: 1, Iterations: 3000})
	initial := make([][]int, len(good.Routes))
	for v := range good.Routes {
		for _, visit := range good.Routes[v].Visits {
			initial[v] = append(initial[v], visit.Stop)
		}
	}
	again := solve(t, p, optimize.Options{Seed: 2, Iterations: 1, Initial: initial})
	if p.Weights.Compare(again.Cost, good.Cost) > 0 {
		t.Errorf("%+v from %+v", again.Cost, good.Cost)
	}
}

func TestProgressIsMonotonic(t *testing.T) {
	p := town(rand.New(rand.NewPCG(6, 6)), 60)
	var last optimize.Progress
	solve(t, p, optimize.Options{Iterations: 2000, Progress: func(g optimize.Progress) {
		if last.Phase != "" && (g.Done < last.Done || p.Weights.Compare(g.Best, last.Best) > 0) {
			t.Errorf("%+v after %+v", g, last)
		}
		last = g
	}})
	if last.Phase != optimize.PhaseFinish || last.Done < 1 {
		t.Errorf("the last report is %+v", last)
	}
}

func TestInvalidProblemsAndOptionsAreRejected(t *testing.T) {
	tests := map[string]func(p *optimize.Problem, o *optimize.Options){
		"no bound":                 func(_ *optimize.Problem, o *optimize.Options) { o.Iterations = 0 },
		"a budget without a clock": func(_ *optimize.Problem, o *optimize.Options) { o.Budget = 1 },
		"a grace without a budget": func(_ *optimize.Problem, o *optimize.Options) { o.Grace = 1 },
		"too many threads":         func(_ *optimize.Problem, o *optimize.Options) { o.Threads = 1000 },
		"an initial plan of other vehicles": func(_ *optimize.Problem, o *optimize.Options) {
			o.Initial = [][]int{}
		},
		"an initial plan with a stop twice": func(p *optimize.Problem, o *optimize.Options) {
			o.Initial = make([][]int, len(p.Vehicles))
			o.Initial[0] = []int{1, 1}
		},
		"a location out of range":  func(p *optimize.Problem, _ *optimize.Options) { p.Stops[0].Location = 1 << 20 },
		"a window that ends early": func(p *optimize.Problem, _ *optimize.Options) { p.Stops[0].Latest = p.Stops[0].Earliest - 1 },
		"a vehicle out of range":   func(p *optimize.Problem, _ *optimize.Options) { p.Stops[0].Vehicles = []int{99} },
		"a profile out of range":   func(p *optimize.Problem, _ *optimize.Options) { p.Vehicles[0].Profile = 9 },
		"a stop on two routes": func(p *optimize.Problem, _ *optimize.Options) {
			p.Vehicles[0].Route, p.Vehicles[1].Route = []int{1}, []int{1}
		},
		"pinned and on no route":     func(p *optimize.Problem, _ *optimize.Options) { p.Stops[0].Pinned = true },
		"a shift that ends early":    func(p *optimize.Problem, _ *optimize.Options) { p.Vehicles[0].ShiftEnd = -1 },
		"a matrix that is too small": func(p *optimize.Problem, _ *optimize.Options) { p.Profiles[0].Duration = p.Profiles[0].Duration[1:] },
		"a negative duration":        func(p *optimize.Problem, _ *optimize.Options) { p.Profiles[0].Duration[3] = -7 },
		"a negative load":            func(p *optimize.Problem, _ *optimize.Options) { p.Stops[0].Carried[2] = -1 },
		"a negative weight":          func(p *optimize.Problem, _ *optimize.Options) { p.Weights.Vehicle = -1 },
		"precedences in a circle": func(p *optimize.Problem, _ *optimize.Options) {
			p.Precedences = []optimize.Precedence{{Before: 0, After: 1}, {Before: 1, After: 0}}
		},
		"weights that overflow": func(p *optimize.Problem, _ *optimize.Options) { p.Weights.Duration = optimize.MaxTime },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			p, o := town(rand.New(rand.NewPCG(1, 1)), 10), optimize.Options{Iterations: 1}
			p.Vehicles = append(p.Vehicles, p.Vehicles[0])
			change(p, &o)
			if _, err := optimize.Solve(t.Context(), p, o); !errors.Is(err, optimize.ErrInvalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzSolve(f *testing.F) {
	f.Add(uint64(1), uint64(1), uint16(20), uint8(1))
	f.Fuzz(func(t *testing.T, seed, other uint64, iterations uint16, threads uint8) {
		p := generate(rand.New(rand.NewPCG(seed, other)))
		o := optimize.Options{Seed: other, Iterations: 1 + int64(iterations%300), Threads: int(threads % 4)}
		explained(t, p, solve(t, p, o))
	})
}

// stopped plans a problem with a budget, and stops the search after a while. The clock
// advances only when it is read.
func stopped(t *testing.T, p *optimize.Problem, o optimize.Options, after time.Duration) (c optimize.Cost, took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var clock atomic.Int64
	o.Now = func() time.Duration {
		now := time.Duration(clock.Add(int64(10 * time.Millisecond)))
		if now > after {
			cancel()
		}
		return now
	}
	s, err := optimize.Solve(ctx, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := optimize.Check(p, s); err != nil {
		t.Fatal(err)
	}
	return s.Cost, time.Duration(clock.Load())
}

func TestStoppingEarlyCostsLittle(t *testing.T) {
	for seed := range uint64(3) {
		p := town(rand.New(rand.NewPCG(seed, 8)), 150)
		short, _ := stopped(t, p, optimize.Options{Seed: seed, Budget: 5 * time.Second}, time.Hour)
		long, _ := stopped(t, p, optimize.Options{Seed: seed, Budget: 10 * time.Minute}, 8*time.Second)
		if p.Weights.Compare(long, short) > 0 {
			t.Errorf("seed %d: %+v after 8 s of 10 min, %+v after 5 s", seed, long, short)
		}
	}
}

func TestStoppedSearchCoolsDown(t *testing.T) {
	const budget, after, grace = 20 * time.Second, time.Second, 500 * time.Millisecond
	for _, threads := range []int{1, 2} {
		var hot, cooled, whole int
		for seed := range uint64(4) {
			p := town(rand.New(rand.NewPCG(seed, 9)), 200)
			plan := func(o optimize.Options, after time.Duration) int {
				o.Seed, o.Threads = seed, threads
				c, took := stopped(t, p, o, after)
				if most := min(after+o.Grace, o.Budget) + 100*time.Millisecond; took > most || c.Unserved > 0 {
					t.Errorf("seed %d: %+v after %v, want at most %v", seed, c, took, most)
				}
				return c.Duration
			}
			hot += plan(optimize.Options{Budget: budget}, after)
			cooled += plan(optimize.Options{Budget: budget, Grace: grace}, after)
			whole += plan(optimize.Options{Budget: after + grace}, time.Hour)
		}
		if hot-cooled < (hot-whole)/2 {
			t.Errorf("%d threads: travel of %d when stopped, %d after cooling down, %d if planned for that time", threads, hot, cooled, whole)
		}
	}
}
