package trackingpage_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/trackingpage"
)

func TestAnOldPositionIsNotShownAsOneOfNow(t *testing.T) {
	now := time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)
	home := lastmile.Point{Lon: -74, Lat: 40.7}
	task := lastmile.Task{ID: "t", Worker: "w", State: lastmile.TaskActive}
	for name, tt := range map[string]struct {
		ago   time.Duration
		shown bool
	}{"a moment ago": {time.Minute, true}, "an hour ago, and went on duty just now": {time.Hour, false}} {
		t.Run(name, func(t *testing.T) {
			worker := lastmile.Worker{ID: "w", ActiveTask: "t", Whereabouts: lastmile.Whereabouts{
				OnDuty: true, LastSeen: now, Location: &home, Located: now.Add(-tt.ago),
			}}
			page, err := trackingpage.New(&task, lastmile.Organization{Name: "Acme"}, &worker, now)
			if err != nil {
				t.Fatal(err)
			}
			if shown := page.Location != nil; shown != tt.shown || shown && !page.LocatedAt.Equal(now.Add(-tt.ago)) {
				t.Errorf("shown at %v, of %v", page.Location, page.LocatedAt)
			}
		})
	}
}
