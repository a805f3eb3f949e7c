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
				OnDuty: true, LastSeen: now, Location: &home, LocatedAt: now.Add(-tt.ago),
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

func TestTheExpectedTimeIsOneThatCanComeTrue(t *testing.T) {
	now := time.Date(2026, time.March, 4, 12, 0, 30, 0, time.UTC)
	for name, tt := range map[string]struct {
		state                lastmile.TaskState
		offDuty              bool
		after, arrival, want time.Duration // from now; 0 for none
		arrived              bool
	}{
		"on the way":                           {state: lastmile.TaskActive, arrival: time.Minute, want: time.Minute},
		"on the way, but before the window":    {state: lastmile.TaskActive, after: time.Hour, arrival: time.Minute, want: time.Hour},
		"assigned, and before the window":      {state: lastmile.TaskAssigned, after: time.Hour, arrival: time.Minute, want: time.Hour},
		"assigned to a worker who is off duty": {state: lastmile.TaskAssigned, offDuty: true, arrival: time.Minute},
		"a time that has passed":               {state: lastmile.TaskActive, arrival: -time.Hour, want: -30 * time.Second},
		"the window has just opened":           {state: lastmile.TaskActive, after: -10 * time.Second, arrival: -time.Minute, want: -10 * time.Second},
		"arrived":                              {state: lastmile.TaskActive, arrived: true, arrival: -time.Hour, want: -time.Hour},
		"unknown":                              {state: lastmile.TaskAssigned},
	} {
		t.Run(name, func(t *testing.T) {
			task := lastmile.Task{ID: "t", Worker: "w", State: tt.state}
			if tt.after != 0 {
				task.CompleteAfter = now.Add(tt.after)
			}
			if tt.arrival != 0 {
				task.Estimates.Arrival = now.Add(tt.arrival)
			}
			if tt.arrived {
				task.Completion.Events = []lastmile.CompletionEvent{{Name: "arrival", At: task.Estimates.Arrival}}
			}
			worker := lastmile.Worker{ID: "w", Whereabouts: lastmile.Whereabouts{OnDuty: !tt.offDuty}}
			page, err := trackingpage.New(&task, lastmile.Organization{Name: "Acme"}, &worker, now)
			if err != nil {
				t.Fatal(err)
			}
			var want time.Time
			if tt.want != 0 {
				want = now.Add(tt.want)
			}
			if !page.Arrival.Equal(want) {
				t.Errorf("expected at %v, want %v", page.Arrival, want)
			}
		})
	}
}
