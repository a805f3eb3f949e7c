package lastmile_test

import (
	"slices"
	"testing"

	"dray/internal/lastmile"
)

func TestUnique(t *testing.T) {
	tests := map[string]struct{ items, want []int }{
		"nothing":          {nil, []int{}},
		"no duplicates":    {[]int{2, 1}, []int{2, 1}},
		"first ones count": {[]int{3, 1, 3, 2, 1}, []int{3, 1, 2}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := lastmile.Unique(test.items); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	t.Run("a long list", func(t *testing.T) { // takes minutes if every item is compared with all others
		items := make([]int, 1_000_000)
		for i := range items {
			items[i] = i
		}
		if got := lastmile.Unique(append(items, items...)); !slices.Equal(got, items) {
			t.Errorf("got %d items, want %d", len(got), len(items))
		}
	})
}
