package access_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
)

func TestIDsAreOrdered(t *testing.T) {
	for name, step := range map[string]time.Duration{"a clock that advances": time.Microsecond, "a clock that stands still": 0, "a clock that is set back": -time.Second} {
		t.Run(name, func(t *testing.T) {
			at := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
			ids := access.IDs{Now: func() time.Time { at = at.Add(step); return at }}
			var made []string
			for range 1_000 {
				id := ids.New()
				if !lastmile.ValidID(id) {
					t.Fatalf("%q is not an id", id)
				}
				made = append(made, id)
			}
			if !slices.IsSorted(made) {
				t.Error("an id is less than an earlier one")
			}
		})
	}
}

func TestIDsAreUnique(t *testing.T) {
	const each, together = 1_000, 8
	for name, begin := range map[string]time.Time{"today": time.Now(), "at the beginning of time": time.UnixMicro(0), "far ahead": time.Date(2999, time.December, 31, 0, 0, 0, 0, time.UTC)} {
		t.Run(name, func(t *testing.T) {
			ids := access.IDs{Now: func() time.Time { return begin }}
			var group sync.WaitGroup
			made := make([][]string, together)
			for n := range made {
				group.Go(func() {
					for range each {
						made[n] = append(made[n], ids.New())
					}
				})
			}
			group.Wait()
			all := slices.Concat(made...)
			slices.Sort(all)
			// Ids of two processes differ at least in their random parts.
			for i, id := range all {
				if len(id) != lastmile.IDLength || i > 0 && id[:11] == all[i-1][:11] {
					t.Fatalf("%q comes after %q", id, all[max(i-1, 0)])
				}
			}
		})
	}
}
