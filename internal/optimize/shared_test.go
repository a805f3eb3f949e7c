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
		for range 3000 {
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
