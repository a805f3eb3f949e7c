package travel_test

import (
	"errors"
	"math"
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
		"both places":                   {both, 0},
		"no place":                      {travel.EstimateRequest{}, lastmile.CodeMalformed},
		"a vehicle that does not exist": {travel.EstimateRequest{Pickup: &shop, ExcludedVehicles: []lastmile.VehicleType{"BOAT"}}, lastmile.CodeInvalid},
		"time that runs backwards":      {travel.EstimateRequest{Pickup: &shop, Service: -1}, lastmile.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) { rejectedAs(t, test.request.Check(), test.want) })
	}
}

func TestRoutePlanMeasure(t *testing.T) {
	a, b, c := lastmile.Point{Lon: -73.98, Lat: 40.75}, lastmile.Point{Lon: -73.97, Lat: 40.76}, lastmile.Point{Lon: -73.95, Lat: 40.77}
	var p lastmile.RoutePlan
	travel.MeasureRoute(&p, lastmile.Car, []lastmile.Point{a, b, c}, 7*time.Minute)
	straight := 1.4 * float64(a.Distance(b)+b.Distance(c))
	if off := math.Abs(float64(p.PlannedDistance) - straight); off > straight/100 {
		t.Errorf("planned %.0f m, want about %.0f", p.PlannedDistance, straight)
	}
	if p.PlannedDuration < 9*time.Minute || p.PlannedDuration > 20*time.Minute {
		t.Errorf("planned %v", p.PlannedDuration)
	}
	for name, way := range map[string][]lastmile.Point{"nowhere": nil, "one place": {a}} {
		travel.MeasureRoute(&p, lastmile.Car, way, 0)
		if p.PlannedDistance != 0 || p.PlannedDuration != 0 {
			t.Errorf("%s: %v in %v", name, p.PlannedDistance, p.PlannedDuration)
		}
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
