package cli

import (
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/simulate"
)

// The first task that is started may be completed before someone opens its tracking page.
func TestPagesOfTheDemonstrationHaveSomethingToShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := make(chan simulate.Active)
		go func() {
			for _, a := range []simulate.Active{
				{Task: "near", TrackingURL: "near", Drive: 20 * time.Second, Then: []string{"a", "b", "last"}},
				{Task: "far", TrackingURL: "far", Drive: 3 * time.Minute, Then: []string{"c"}},
				{Task: "nearer", TrackingURL: "nearer", Drive: 10 * time.Second},
			} {
				time.Sleep(time.Second)
				started <- a
			}
		}()
		if got := choosePages(t.Context(), started); got.underWay.Task != "far" || got.later != "last" {
			t.Errorf("chose %+v", got)
		}
		begun := time.Now()
		if got := choosePages(t.Context(), started); got.underWay.Task != "" || got.later != "" || time.Since(begun) != startTimeout {
			t.Errorf("chose %+v, though no worker started", got)
		}
	})
}
