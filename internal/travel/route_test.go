package travel_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// TestPolyline encodes the example of the format's description.
func TestPolyline(t *testing.T) {
	line := []lastmile.Point{{Lon: -120.2, Lat: 38.5}, {Lon: -120.95, Lat: 40.7}, {Lon: -126.453, Lat: 43.252}}
	if got := (travel.Route{Line: line}).Polyline(); got != "_p~iF~ps|U_ulLnnqC_mqNvxq`@" {
		t.Errorf("got %q", got)
	}
}

func TestRouteOfLegs(t *testing.T) {
	a, b, c := lastmile.Point{Lon: 1}, lastmile.Point{Lon: 2}, lastmile.Point{Lon: 3}
	var r travel.Route
	r.Add(travel.Route{Duration: time.Minute, Distance: 10, Line: []lastmile.Point{a, b}})
	r.Add(travel.Route{Duration: time.Minute, Distance: 20, Line: []lastmile.Point{b, c}, ByFormula: true})
	if r.Duration != 2*time.Minute || r.Distance != 30 || !r.ByFormula || len(r.Line) != 3 || r.Line[2] != c {
		t.Errorf("%+v", r)
	}
}

func TestThinRoutesKeepTheirEnds(t *testing.T) {
	var r travel.Route
	for i := range 1001 {
		r.Line = append(r.Line, lastmile.Point{Lon: float64(i) / 10_000})
	}
	first, last := r.Line[0], r.Line[1000]
	if r.Thin(2000); len(r.Line) != 1001 {
		t.Errorf("a line that is short enough has %d points", len(r.Line))
	}
	if r.Thin(100); len(r.Line) > 100 || len(r.Line) < 25 || r.Line[0] != first || r.Line[len(r.Line)-1] != last {
		t.Errorf("%d points from %v to %v", len(r.Line), r.Line[0], r.Line[len(r.Line)-1])
	}
}
