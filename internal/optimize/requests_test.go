package optimize

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		list := make([]ranked, rng.IntN(50))
		for i := range list {
			list[i] = rank(rng.Int64N(20), int32(i))
		}
		want := slices.Sorted(slices.Values(list))
		k := rng.IntN(60)
		if got := smallest(list, k); !slices.Equal(got, want[:min(k, len(want))]) {
			t.Fatalf("the %d smallest are %v; want %v", k, got, want)
		}
	}
}
