//go:build torture

package optimize_test

import (
	"math/rand/v2"
	"testing"

	"dray/internal/optimize"
)

// TestTortureNoInfeasiblePlan solves 100,000 generated problems and verifies
// every plan, and that nothing is left out without a reason.
func TestTortureNoInfeasiblePlan(t *testing.T) {
	for seed := range uint64(100_000) {
		p := generate(rand.New(rand.NewPCG(seed, 100)))
		s := solve(t, p, optimize.Options{Seed: seed, Iterations: 5 + int64(seed%40), Threads: int(seed % 8 / 7 * 2)})
		if seed%10 == 0 {
			explained(t, p, s)
		}
	}
}
