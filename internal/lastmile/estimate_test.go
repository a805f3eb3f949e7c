package lastmile_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"dray/internal/lastmile"
)

var testNow = time.Date(2026, time.May, 4, 8, 0, 0, 0, time.UTC)

// routed gives members the legs of their ways, by formula.
func routed(members []lastmile.TeamMember, q lastmile.EstimateRequest) []lastmile.TeamMember {
	for i := range members {
		m := &members[i]
		way := m.Way(q)
		for n := 1; n < len(way); n++ {
			duration, distance := lastmile.EstimateTravel(m.Worker.TravelsBy(), way[n-1], way[n])
			m.Legs = append(m.Legs, lastmile.Leg{Duration: duration, Distance: distance, Estimated: true})
		}
	}
	return members
}

func TestEstimateTeam(t *testing.T) {
	near, far := lastmile.Point{Lon: -73.98, Lat: 40.75}, lastmile.Point{Lon: -73.80, Lat: 40.60}
	shop, door := lastmile.Point{Lon: -73.97, Lat: 40.76}, lastmile.Point{Lon: -73.95, Lat: 40.77}
	worker := func(id lastmile.WorkerID, at lastmile.Point, by lastmile.VehicleType) lastmile.TeamMember {
		w := lastmile.Worker{ID: id, Whereabouts: lastmile.Whereabouts{OnDuty: true, Location: &at}}
		if by != lastmile.OnFoot {
			w.Vehicle = &lastmile.Vehicle{Type: by}
		}
		return lastmile.TeamMember{Itinerary: lastmile.Itinerary{Worker: w}}
	}
	busy := worker("busy", near, lastmile.Car)
	busy.Tasks = []lastmile.Task{{Destination: lastmile.Destination{Location: far}, ServiceTime: time.Hour}}
	lost := worker("lost", near, lastmile.Car)
	lost.Worker.Whereabouts.Location = nil
	both := lastmile.EstimateRequest{Pickup: &shop, Dropoff: &door, Service: 2 * time.Minute}
	tests := map[string]struct {
		members []lastmile.TeamMember
		request lastmile.EstimateRequest
		want    lastmile.WorkerID // empty: nobody
		steps   int
	}{
		"the nearer of two":               {[]lastmile.TeamMember{worker("a", far, lastmile.Car), worker("b", near, lastmile.Car)}, both, "b", 2},
		"the faster of two":               {[]lastmile.TeamMember{worker("a", near, lastmile.OnFoot), worker("b", near, lastmile.Car)}, both, "b", 2},
		"who has less to do":              {[]lastmile.TeamMember{busy, worker("b", far, lastmile.Car)}, both, "b", 2},
		"the first of equals":             {[]lastmile.TeamMember{worker("b", near, lastmile.Car), worker("a", near, lastmile.Car)}, both, "a", 2},
		"nobody whose place is not known": {[]lastmile.TeamMember{lost}, both, "", 0},
		"nobody at all":                   {nil, both, "", 0},
		"a drop-off alone":                {[]lastmile.TeamMember{worker("a", near, lastmile.Car)}, lastmile.EstimateRequest{Dropoff: &door}, "a", 1},
		"no vehicle that cannot do it": {
			[]lastmile.TeamMember{worker("a", near, lastmile.Car), worker("b", far, lastmile.Truck)},
			lastmile.EstimateRequest{Pickup: &shop, ExcludedVehicles: []lastmile.VehicleType{lastmile.Car}},
			"b", 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := lastmile.EstimateTeam(routed(test.members, test.request), test.request, testNow)
			if got.Worker != test.want || found != (test.want != "") || len(got.Steps) != test.steps {
				t.Fatalf("got %+v, %v", got, found)
			}
			clock := testNow
			for _, s := range got.Steps {
				if s.Arrival.Before(clock.Add(s.Travel)) || !s.Completion.Equal(s.Arrival.Add(test.request.Service)) || s.Distance <= 0 {
					t.Errorf("step %+v after %v", s, clock)
				}
				clock = s.Completion
			}
		})
	}
	t.Run("nobody for whom there is no way", func(t *testing.T) {
		members := routed([]lastmile.TeamMember{worker("a", near, lastmile.Car), worker("b", far, lastmile.Car)}, both)
		members[0].Legs[1].Duration = lastmile.Unreachable
		if got, _ := lastmile.EstimateTeam(members, both, testNow); got.Worker != "b" {
			t.Errorf("%s would do it", got.Worker)
		}
	})
	t.Run("a pickup waits for its time", func(t *testing.T) {
		later := both
		later.PickupTime = testNow.Add(2 * time.Hour)
		got, _ := lastmile.EstimateTeam(routed([]lastmile.TeamMember{worker("a", near, lastmile.Car)}, later), later, testNow)
		if !got.Steps[0].Arrival.Equal(later.PickupTime) || got.Steps[1].Arrival.Before(later.PickupTime) {
			t.Errorf("got %+v", got.Steps)
		}
	})
	for name, test := range map[string]struct {
		request lastmile.EstimateRequest
		want    lastmile.Code
	}{
		"both places":                   {both, 0},
		"no place":                      {lastmile.EstimateRequest{}, lastmile.CodeMalformed},
		"a vehicle that does not exist": {lastmile.EstimateRequest{Pickup: &shop, ExcludedVehicles: []lastmile.VehicleType{"BOAT"}}, lastmile.CodeInvalid},
		"time that runs backwards":      {lastmile.EstimateRequest{Pickup: &shop, Service: -1}, lastmile.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) { rejectedAs(t, test.request.Check(), test.want) })
	}
}

func TestRoutePlanMeasure(t *testing.T) {
	a, b, c := lastmile.Point{Lon: -73.98, Lat: 40.75}, lastmile.Point{Lon: -73.97, Lat: 40.76}, lastmile.Point{Lon: -73.95, Lat: 40.77}
	var p lastmile.RoutePlan
	lastmile.MeasureRoute(&p, lastmile.Car, []lastmile.Point{a, b, c}, 7*time.Minute)
	straight := 1.4 * float64(a.Distance(b)+b.Distance(c))
	if off := math.Abs(float64(p.PlannedDistance) - straight); off > straight/100 {
		t.Errorf("planned %.0f m, want about %.0f", p.PlannedDistance, straight)
	}
	if p.PlannedDuration < 9*time.Minute || p.PlannedDuration > 20*time.Minute {
		t.Errorf("planned %v", p.PlannedDuration)
	}
	for name, way := range map[string][]lastmile.Point{"nowhere": nil, "one place": {a}} {
		lastmile.MeasureRoute(&p, lastmile.Car, way, 0)
		if p.PlannedDistance != 0 || p.PlannedDuration != 0 {
			t.Errorf("%s: %v in %v", name, p.PlannedDistance, p.PlannedDuration)
		}
	}
}

// rejectedAs checks that err has a code; zero is for no error.
func rejectedAs(t *testing.T, err error, want lastmile.Code) {
	t.Helper()
	rejection, _ := errors.AsType[*lastmile.Error](err)
	switch {
	case want == 0 && err != nil:
		t.Errorf("rejected: %v", err)
	case want != 0 && (rejection == nil || rejection.Code != want):
		t.Errorf("got %v, want code %v", err, want)
	}
}
