package optimize

import (
	"fmt"
	"testing"
)

// TestSharedPlan takes steps of three searches on one plan in turns. Some begin before what
// others have changed was copied, as on several threads.
func TestSharedPlan(t *testing.T) {
	for seed := range uint64(6) {
		p := pairsSearch(t, mixed).m.p
		if seed%2 == 1 {
			for x := range 10 {
				p.Precedences = append(p.Precedences, Precedence{Before: 3 + 6*x, After: (20 + 6*x) % 60})
			}
		}
		if seed%3 == 2 { // some stops are left out
			for r := range p.Vehicles {
				p.Vehicles[r].ShiftEnd = 40
			}
			p.Stops[8].Optional, p.Stops[8].Prize = true, 30
		}
		m, err := compile(p)
		if err != nil {
			t.Fatal(err)
		}
		s := newSearch(m, seed)
		s.construct(t.Context(), newMeter(Options{Iterations: 1}), nil)
		plan := newSharedPlan(s)
		var all [3]*search
		for k := range all {
			all[k] = s.fork(s.rng.next())
			all[k].heat = 30
			plan.join(all[k])
		}
		for step := range 3000 {
			if step == 1000 { // a thread ends, and another begins with a plan that is no longer the shared one
				all[2] = s.fork(s.rng.next())
				all[2].heat = 30
				plan.join(all[2])
			}
			a := all[s.rng.below(3)]
			if s.rng.below(2) == 0 {
				a.shared.follow(a)
			}
			a.improve()
		}
		for k, a := range all {
			a.shared.follow(a)
			if got, want := figures(a), figures(all[0]); got != want {
				t.Errorf("seed %d: search %d has %s, search 0 %s", seed, k, got, want)
			}
			want := figures(a)
			for r := range a.routes {
				a.refresh(int32(r))
			}
			if got := figures(a); got != want {
				t.Errorf("seed %d, search %d: %s after a refresh, %s before", seed, k, got, want)
			}
		}
		for k, a := range all {
			for i := range 2 {
				a.renew()
				if err := Check(p, a.solution()); err != nil {
					t.Errorf("seed %d, plan %d of search %d: %v", seed, i, k, err)
				}
				a.load(&a.best)
			}
		}
		if plan.changes < 100 {
			t.Errorf("seed %d: only %d steps became part of the plan", seed, plan.changes)
		}
	}
}

// figures returns what two searches with the same plan have in common.
func figures(s *search) string {
	return fmt.Sprintf("cost %d, lateness %d, absent %d of weight %d, prizes %d, %d vehicles", s.cost, s.late, len(s.absent), s.weight, s.prizes, s.used)
}

// TestSearchWithoutThread takes the thread of a search away. The search ends after the steps
// that it takes until it asks again, and the first thread continues.
func TestSearchWithoutThread(t *testing.T) {
	s := pairsSearch(t, mixed)
	calls := 0
	meter := newMeter(Options{Iterations: 1000, Threads: 3, Allowed: func() int {
		if calls++; calls < 5 {
			return 3
		}
		return 1
	}})
	all := s.team(nil, meter)
	if len(all) != 3 {
		t.Fatalf("%d searches, want 3", len(all))
	}
	for rank, want := range map[int]int64{1: 16 * 3, 0: 1000} {
		all[rank].lap = lap{0, 1}
		all[rank].run(t.Context(), meter, 1)
		if all[rank].iters != want {
			t.Errorf("search %d ended after %d steps, want %d", rank, all[rank].iters, want)
		}
	}
	if again := s.team(all, meter); len(again) != 1 || again[0] != all[0] {
		t.Errorf("%d searches are left, want the first one", len(again))
	}
}
