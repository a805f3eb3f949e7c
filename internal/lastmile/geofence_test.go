package lastmile_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestGeofence(t *testing.T) {
	warn := lastmile.Geofence{Level: lastmile.GeofenceWarn, Radius: 100}
	block := lastmile.Geofence{Level: lastmile.GeofenceBlock, Radius: 100}
	at := func(meters float64) *lastmile.Point { return new(milan(meters)) }
	tests := map[string]struct {
		fence    lastmile.Geofence
		at       *lastmile.Point
		rejected bool
		attempts int
		warned   bool
	}{
		"off, far away":                 {lastmile.Geofence{Radius: 100}, at(5000), false, 0, false},
		"warned far away":               {warn, at(5000), false, 1, true},
		"warned just outside":           {warn, at(101), false, 1, true},
		"not warned just inside":        {warn, at(99), false, 0, false},
		"not warned without a location": {warn, nil, false, 0, false},
		"blocked far away":              {block, at(5000), true, 1, false},
		"not blocked inside":            {block, at(99), false, 0, false},
		"blocked without a location":    {block, nil, true, 0, false},
		"inside the default radius":     {lastmile.Geofence{Level: lastmile.GeofenceBlock}, at(199), false, 0, false},
		"outside the default radius":    {lastmile.Geofence{Level: lastmile.GeofenceBlock}, at(201), true, 1, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			task := lastmile.Task{ID: "t", State: lastmile.TaskActive, Destination: lastmile.Destination{Location: milan(0)}}
			for range 2 { // a repeated action is the same attempt
				err := task.CheckGeofence(test.fence, lastmile.Action{ID: "a", At: planNow, Location: test.at})
				if (err != nil) != test.rejected {
					t.Errorf("rejected: %v", err)
				}
			}
			if len(task.GeofenceAttempts) != test.attempts || task.CompletedWithGeofenceWarning != test.warned {
				t.Errorf("%d attempts, warned %v", len(task.GeofenceAttempts), task.CompletedWithGeofenceWarning)
			}
			if task.Geofenced != (test.fence.Level != lastmile.GeofenceOff) {
				t.Errorf("geofenced %v", task.Geofenced)
			}
		})
	}
}

func TestAnActionWithoutAPlaceIsWhereTheWorkerIs(t *testing.T) {
	seen := lastmile.Whereabouts{Location: new(milan(1)), LocatedAt: planNow}
	if a := (lastmile.Action{At: planNow.Add(time.Minute)}).WithLocation(seen); a.Location == nil || *a.Location != milan(1) {
		t.Errorf("a minute later at %v", a.Location)
	}
	if a := (lastmile.Action{At: planNow.Add(time.Hour)}).WithLocation(seen); a.Location != nil {
		t.Errorf("an hour later at %v", a.Location)
	}
	if a := (lastmile.Action{At: planNow, Location: new(milan(2))}).WithLocation(seen); *a.Location != milan(2) {
		t.Errorf("the phone says otherwise: %v", a.Location)
	}
}

// milan returns a point in Milan, moved north by some meters.
func milan(meters float64) lastmile.Point {
	return lastmile.Point{Lon: 9.19, Lat: 45.46 + meters/111_194.93}
}
