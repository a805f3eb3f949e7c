package lastmile_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
)

// TestNotificationsAreRetriedForADay fails all attempts at a notification, while no node runs
// for some days.
func TestNotificationsAreRetriedForADay(t *testing.T) {
	due := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		before int64         // attempts before the time without a node
		down   time.Duration // how long that is
	}{
		"no time without a node": {0, 0},
		"a weekend":              {0, 2 * 24 * time.Hour},
		"after some attempts":    {3, 2 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			hook, n := lastmile.Webhook{Enabled: true}, lastmile.Notification{Due: due, Next: due}
			for n.State == lastmile.NotificationPending && n.Attempts < 100 {
				at := n.Next
				if n.Attempts == test.before {
					at = at.Add(test.down)
				}
				n.Record(&hook, lastmile.Attempt{At: at, Status: 503, Reason: "the status was not 200"})
			}
			if n.Attempts != 49 {
				t.Errorf("%d attempts were made, want 49", n.Attempts)
			}
		})
	}
	t.Run("a redelivery", func(t *testing.T) {
		hook, n := lastmile.Webhook{Enabled: true}, lastmile.Notification{Due: due, Next: due, Attempts: 60}
		for n.State == lastmile.NotificationPending && n.Attempts < 200 {
			n.Record(&hook, lastmile.Attempt{At: n.Next, Status: 503, Reason: "the status was not 200"})
		}
		if n.Attempts != 60+49 {
			t.Errorf("%d attempts were made, want 49 more than before", n.Attempts)
		}
	})
}
