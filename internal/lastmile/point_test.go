package lastmile_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"dray/internal/lastmile"
)

func TestDistance(t *testing.T) {
	const quarterMeridian = 10001965.7293 // of WGS84
	tests := map[string]struct {
		from, to lastmile.Point
		want     lastmile.Meters
		within   lastmile.Meters
	}{
		"the same point":                {lastmile.Point{Lon: 2.35, Lat: 48.85}, lastmile.Point{Lon: 2.35, Lat: 48.85}, 0, 0},
		"Flinders Peak to Buninyong":    {lastmile.Point{Lon: 144.42486788889, Lat: -37.95103341667}, lastmile.Point{Lon: 143.92649552778, Lat: -37.65282113889}, 54972.271, 0.001},
		"New York to London airports":   {lastmile.Point{Lon: -73.8, Lat: 40.6}, lastmile.Point{Lon: -0.5, Lat: 51.6}, 5551759.400, 0.001},
		"a degree of the equator":       {lastmile.Point{}, lastmile.Point{Lon: 1}, 111319.4908, 0.001},
		"a degree over the date line":   {lastmile.Point{Lon: 179.5}, lastmile.Point{Lon: -179.5}, 111319.4908, 0.001},
		"the equator to the pole":       {lastmile.Point{Lon: 12}, lastmile.Point{Lon: 12, Lat: 90}, quarterMeridian, 0.001},
		"pole to pole":                  {lastmile.Point{Lat: -90}, lastmile.Point{Lon: 77, Lat: 90}, 2 * quarterMeridian, 0.001 * 2 * quarterMeridian},
		"the pole at two longitudes":    {lastmile.Point{Lon: -20, Lat: 90}, lastmile.Point{Lon: 100, Lat: 90}, 0, 0.001},
		"the date line as -180 and 180": {lastmile.Point{Lon: -180, Lat: 10}, lastmile.Point{Lon: 180, Lat: 10}, 0, 0.001},
		"opposite on the equator":       {lastmile.Point{Lon: 0}, lastmile.Point{Lon: 180}, 2 * quarterMeridian, 0.006 * 2 * quarterMeridian},
		"almost opposite":               {lastmile.Point{Lon: 0, Lat: 0}, lastmile.Point{Lon: 179.7, Lat: 0.5}, 19936288.579, 0.006 * 19936288.579},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, got := range []lastmile.Meters{test.from.Distance(test.to), test.to.Distance(test.from)} {
				if off := math.Abs(float64(got - test.want)); off > float64(test.within) || math.IsNaN(off) {
					t.Errorf("got %.4f, want %.4f", got, test.want)
				}
			}
		})
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	place := func() lastmile.Point {
		return lastmile.Point{Lon: random.Float64()*360 - 180, Lat: random.Float64()*180 - 90}
	}
	for range 20_000 {
		p, q, r := place(), place(), place()
		pq, qp, pr, rq := p.Distance(q), q.Distance(p), p.Distance(r), r.Distance(q)
		if !(pq >= 0 && pq < 20_040_000) {
			t.Fatalf("%v to %v is %v", p, q, pq)
		}
		if math.Abs(float64(pq-qp)) > 0.001 {
			t.Fatalf("%v to %v is %v, and %v back", p, q, pq, qp)
		}
		// Two legs that fell back to the sphere may be up to 0.6 % too short.
		if pq > (pr+rq)*1.006+0.001 {
			t.Fatalf("%v to %v is %v, but %v by way of %v", p, q, pq, pr+rq, r)
		}
	}
}

func TestNewPoint(t *testing.T) {
	for _, on := range []lastmile.Point{{}, {Lon: -180, Lat: -90}, {Lon: 180, Lat: 90}, {Lon: -122.4, Lat: 37.8}} {
		if got, err := lastmile.NewPoint(on.Lon, on.Lat); err != nil || got != on {
			t.Errorf("%v: %v, %v", on, got, err)
		}
	}
	tests := map[string]struct {
		lon, lat float64
		want     string
	}{
		"too far east":      {180.01, 0, "longitude must be between -180 and 180, not 180.01"},
		"too far west":      {-181, 0, "longitude must be between -180 and 180, not -181"},
		"too far north":     {0, 90.5, "latitude must be between -90 and 90, not 90.5"},
		"too far south":     {0, -91, "latitude must be between -90 and 90, not -91"},
		"longitude is NaN":  {math.NaN(), 0, "longitude must be between -180 and 180, not NaN"},
		"latitude is NaN":   {0, math.NaN(), "latitude must be between -90 and 90, not NaN"},
		"infinite latitude": {0, math.Inf(1), "latitude must be between -90 and 90, not +Inf"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := lastmile.NewPoint(test.lon, test.lat)
			rejection, ok := errors.AsType[*lastmile.Error](err)
			if !ok || rejection.Code != lastmile.CodeInvalid || rejection.Message != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestTheZeroPointIsNoPlace(t *testing.T) {
	if !(lastmile.Point{}).IsZero() || (lastmile.Point{Lon: 1}).IsZero() || (lastmile.Point{Lat: 1}).IsZero() {
		t.Error("IsZero is wrong")
	}
}
