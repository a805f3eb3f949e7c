package travel_test

import (
	"errors"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

var testNow = time.Date(2026, time.May, 4, 8, 0, 0, 0, time.UTC)

func TestEstimateRequests(t *testing.T) {
	shop, door := lastmile.Point{Lon: -73.97, Lat: 40.76}, lastmile.Point{Lon: -73.95, Lat: 40.77}
	both := travel.EstimateRequest{Pickup: &shop, Dropoff: &door, Service: 2 * time.Minute}
	for name, test := range map[string]struct {
		request travel.EstimateRequest
		want    lastmile.Code
	}{
		"both locations":                {both, 0},
		"no location":                   {travel.EstimateRequest{}, lastmile.CodeMalformed},
		"a vehicle that does not exist": {travel.EstimateRequest{Pickup: &shop, ExcludedVehicles: []lastmile.VehicleType{"BOAT"}}, lastmile.CodeInvalid},
		"a negative service time":       {travel.EstimateRequest{Pickup: &shop, Service: -1}, lastmile.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) { rejectedAs(t, test.request.Check(), test.want) })
	}
}

func TestRoutePlanMeasure(t *testing.T) {
	var p lastmile.RoutePlan
	travel.MeasureRoute(&p, []travel.Leg{{Duration: 2 * time.Minute, Distance: 900}, {Duration: travel.Unreachable, Distance: 7}, {Duration: time.Minute, Distance: 100}}, 7*time.Minute)
	if p.PlannedDistance != 1000 || p.PlannedDuration != 10*time.Minute || !p.OnRoads {
		t.Errorf("planned %.0f m in %v, on roads: %t", p.PlannedDistance, p.PlannedDuration, p.OnRoads)
	}
	travel.MeasureRoute(&p, []travel.Leg{{Duration: time.Minute}, {Duration: time.Minute, Estimated: true}}, 0)
	if p.OnRoads {
		t.Error("a part that is estimated counts as roads")
	}
	travel.MeasureRoute(&p, nil, 0)
	if p.PlannedDistance != 0 || p.PlannedDuration != 0 || p.OnRoads {
		t.Errorf("nowhere: %v in %v, on roads: %t", p.PlannedDistance, p.PlannedDuration, p.OnRoads)
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
