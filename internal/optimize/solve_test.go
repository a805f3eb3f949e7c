package optimize_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dray/internal/optimize"
)

// verify solves a problem and fails if the plan breaks a rule, or leaves out a
// stop without a reason.
func verify(t *testing.T, p *optimize.Problem, o optimize.Options) *optimize.Solution {
	t.Helper()
	s, err := optimize.Solve(t.Context(), p, o)
	if err != nil {
		t.Fatalf("%v: %+v", err, p)
	}
	if err := optimize.Check(p, s); err != nil {
		t.Fatalf("%v\nproblem %+v\nplan %+v", err, p, s)
	}
	for _, stop := range s.Unserved {
		for _, e := range optimize.Explain(p, s, stop) {
			if len(e.Reasons) == 0 {
				t.Fatalf("stop %d is left out, and vehicle %d could serve it\nproblem %+v\nplan %+v", stop, e.Vehicle, p, s)
			}
		}
	}
	return s
}

func TestPlansOfGeneratedProblemsAreFeasible(t *testing.T) {
	left := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := generate(rng)
		s := verify(t, p, optimize.Options{Seed: seed, Iterations: 40})
		left += len(s.Unserved)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d stops left out", left)
}

func TestSameSeedSamePlan(t *testing.T) {
	for seed := range uint64(30) {
		p := generate(rand.New(rand.NewPCG(seed, 2)))
		a := verify(t, p, optimize.Options{Seed: seed, Iterations: 200})
		b := verify(t, p, optimize.Options{Seed: seed, Iterations: 200})
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
