package simulate

import (
	"testing"
	"time"
)

// TestLeftoversThatAreKept has fewer leftovers than are kept, as after a batch that failed.
func TestLeftoversThatAreKept(t *testing.T) {
	d := &desk{simulation: &simulation{now: time.Now, options: Options{Unassigned: 4}}, leftovers: make([]leftover, 3)}
	if err := d.assignLeftovers(t.Context()); err != nil || len(d.leftovers) != 3 {
		t.Errorf("%d leftovers: %v", len(d.leftovers), err)
	}
}
