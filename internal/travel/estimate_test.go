package travel_test

import (
	"errors"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

var testNow = time.Date(2026, time.May, 4, 8, 0, 0, 0, time.UTC)

// routed sets the legs of members by formula.
func routed(members []travel.TeamMember, q travel.EstimateRequest) []travel.TeamMember {
	for i := range members {
		m := &members[i]
		way := m.Waypoints(q)
		for n := 1; n < len(way); n++ {
			duration, distance := travel.Approximate(m.Worker.TravelsBy(), way[n-1], way[n])
			m.Legs = append(m.Legs, travel.Leg{Duration: duration, Distance: distance, Estimated: true})
		}
	}
	return members
}

func TestEstimateTeam(t *testing.T) {
	near, far := lastmile.Point{Lon: -73.98, Lat: 40.75}, lastmile.Point{Lon: -73.80, Lat: 40.60}
	shop, door := lastmile.Point{Lon: -73.97, Lat: 40.76}, lastmile.Point{Lon: -73.95, Lat: 40.77}
	worker := func(id lastmile.WorkerID, at lastmile.Point, by lastmile.VehicleType) travel.TeamMember {
		w := lastmile.Worker{ID: id, Whereabouts: lastmile.Whereabouts{OnDuty: true, Location: &at}}
		if by != lastmile.OnFoot {
			w.Vehicle = &lastmile.Vehicle{Type: by}
		}
		return travel.TeamMember{Itinerary: travel.Itinerary{Worker: w}}
	}
	busy := worker("busy", near, lastmile.Car)
	busy.Tasks = []lastmile.Task{{Destination: lastmile.Destination{Location: far}, ServiceTime: new(time.Hour)}}
	lost := worker("lost", near, lastmile.Car)
	lost.Worker.Whereabouts.Location = nil
	both := travel.EstimateRequest{Pickup: &shop, Dropoff: &door, Service: 2 * time.Minute}
	tests := map[string]struct {
		members []travel.TeamMember
		request travel.EstimateRequest
		want    lastmile.WorkerID // empty for none
		steps   int
	}{
		"the nearer of two":                  {[]travel.TeamMember{worker("a", far, lastmile.Car), worker("b", near, lastmile.Car)}, both, "b", 2},
		"the faster of two":                  {[]travel.TeamMember{worker("a", near, lastmile.OnFoot), worker("b", near, lastmile.Car)}, both, "b", 2},
		"who has less to do":                 {[]travel.TeamMember{busy, worker("b", far, lastmile.Car)}, both, "b", 2},
		"the first of equals":                {[]travel.TeamMember{worker("b", near, lastmile.Car), worker("a", near, lastmile.Car)}, both, "a", 2},
		"no worker without a known location": {[]travel.TeamMember{lost}, both, "", 0},
		"no worker at all":                   {nil, both, "", 0},
		"a drop-off alone":                   {[]travel.TeamMember{worker("a", near, lastmile.Car)}, travel.EstimateRequest{Dropoff: &door}, "a", 1},
		"no vehicle that cannot do it": {
			[]travel.TeamMember{worker("a", near, lastmile.Car), worker("b", far, lastmile.Truck)},
			travel.EstimateRequest{Pickup: &shop, ExcludedVehicles: []lastmile.VehicleType{lastmile.Car}},
			"b", 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := travel.EstimateTeam(routed(test.members, test.request), test.request, testNow)
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
	t.Run("no worker who cannot get there", func(t *testing.T) {
		members := routed([]travel.TeamMember{worker("a", near, lastmile.Car), worker("b", far, lastmile.Car)}, both)
		members[0].Legs[1].Duration = travel.Unreachable
		if got, _ := travel.EstimateTeam(members, both, testNow); got.Worker != "b" {
			t.Errorf("%s would do it", got.Worker)
		}
	})
	t.Run("a pickup waits for its time", func(t *testing.T) {
		later := both
		later.PickupTime = testNow.Add(2 * time.Hour)
		got, _ := travel.EstimateTeam(routed([]travel.TeamMember{worker("a", near, lastmile.Car)}, later), later, testNow)
		if !got.Steps[0].Arrival.Equal(later.PickupTime) || got.Steps[1].Arrival.Before(later.PickupTime) {
			t.Errorf("got %+v", got.Steps)
		}
	})
	for name, test := range map[string]struct {
		request travel.EstimateRequest
		want    lastmile.Code
	}{
		"both places":                   {both, 0},
		"no place":                      {travel.EstimateRequest{}, lastmile.CodeMalformed},
		"a vehicle that does not exist": {travel.EstimateRequest{Pickup: &shop, ExcludedVehicles: []lastmile.VehicleType{"BOAT"}}, lastmile.CodeInvalid},
		"time that runs backwards":      {travel.EstimateRequest{Pickup: &shop, Service: -1}, lastmile.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) { rejectedAs(t, test.request.Check(), test.want) })
	}
}

func TestRoutePlanMeasure(t *testing.T) {
	var p lastmile.RoutePlan
	travel.MeasureRoute(&p, []travel.Leg{{Duration: 2 * time.Minute, Distance: 900}, {Duration: travel.Unreachable, Distance: 7}, {Duration: time.Minute, Distance: 100}}, 7*time.Minute)
	if p.PlannedDistance != 1000 || p.PlannedDuration != 10*time.Minute {
		t.Errorf("planned %.0f m in %v", p.PlannedDistance, p.PlannedDuration)
	}
	travel.MeasureRoute(&p, nil, 0)
	if p.PlannedDistance != 0 || p.PlannedDuration != 0 {
		t.Errorf("nowhere: %v in %v", p.PlannedDistance, p.PlannedDuration)
	}
}

// rejectedAs checks the code of err; zero expects no error.
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
