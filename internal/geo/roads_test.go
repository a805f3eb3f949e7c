package geo_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/osm/town"
	"dray/internal/road"
	"dray/internal/travel"
)

// townRoads returns the roads of the generated town.
var townRoads = sync.OnceValues(func() (*road.Map, error) {
	var extract, file bytes.Buffer
	if err := town.Write(&extract, 1); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(extract.Bytes())), nil }
	if err := road.Build(context.Background(), open, &file, func(float64) {}); err != nil {
		return nil, err
	}
	return road.Open(file.Bytes())
})

// roadsOfTown returns roads with the map of the town, and two locations in it.
func roadsOfTown(t *testing.T) (roads geo.Roads, a, b lastmile.Point) {
	t.Helper()
	m, err := townRoads()
	if err != nil {
		t.Fatal(err)
	}
	southwest, northeast := m.Bounds()
	at := func(share float64) lastmile.Point {
		return lastmile.Point{Lon: southwest.Lon + share*(northeast.Lon-southwest.Lon), Lat: southwest.Lat + share*(northeast.Lat-southwest.Lat)}
	}
	return geo.Roads{Maps: func() []*road.Map { return []*road.Map{m} }}, at(0.4), at(0.6)
}

func TestRoads(t *testing.T) {
	roads, a, b := roadsOfTown(t)
	far := lastmile.Point{Lon: a.Lon + 3, Lat: a.Lat}
	chain := &geo.Routers{Local: []geo.TravelTimer{roads, geo.Estimate{}}, Failed: func(_ context.Context, err error) { t.Error(err) }}
	for _, by := range lastmile.VehicleTypes {
		times, err := chain.Matrix(t.Context(), by, []lastmile.Point{a, b}, []lastmile.Point{b, a})
		if err != nil || times.Source != geo.RoadSource || times.Estimated || times.Gaps != nil {
			t.Fatalf("%s: %+v, %v", by, times, err)
		}
		straight := a.Distance(b)
		if d := times.Distances[0][0]; d < straight*9/10 || d > 5*straight {
			t.Errorf("%s: %v m by road, %v m straight", by, d, straight)
		}
		if times.Durations[0][1] != 0 || times.Durations[0][0] <= 0 {
			t.Errorf("%s: %v", by, times.Durations)
		}
	}
	times, err := chain.Matrix(t.Context(), lastmile.Car, []lastmile.Point{a}, []lastmile.Point{b, far})
	if err != nil || times.ByFormula(0, 0) || !times.ByFormula(0, 1) || times.Source != geo.RoadSource {
		t.Fatalf("one location is not covered: %+v, %v", times, err)
	}
	if want, _ := travel.Approximate(lastmile.Car, a, far); times.Durations[0][1] != want {
		t.Errorf("the gap is %v, want %v", times.Durations[0][1], want)
	}
	slow := times.Adjusted(travel.Factor{Factor: 2})
	if slow.Durations[0][0] != times.Durations[0][0] || slow.Durations[0][1] != 2*times.Durations[0][1] {
		t.Errorf("adjusted to %v from %v", slow.Durations, times.Durations)
	}
	times, err = chain.Matrix(t.Context(), lastmile.Car, []lastmile.Point{far}, []lastmile.Point{far, a})
	if err != nil || !times.Estimated || times.Source != geo.EstimateSource {
		t.Errorf("nothing is covered: %+v, %v", times, err)
	}
	roads.Speed = 10
	fast, err := roads.Matrix(t.Context(), lastmile.Car, []lastmile.Point{a}, []lastmile.Point{b})
	normal, _ := chain.Matrix(t.Context(), lastmile.Car, []lastmile.Point{a}, []lastmile.Point{b})
	if err != nil || fast.Durations[0][0] != normal.Durations[0][0]/10 {
		t.Errorf("ten times as fast: %v, want a tenth of %v (%v)", fast.Durations, normal.Durations, err)
	}
	none := geo.Roads{Maps: func() []*road.Map { return nil }}
	chain.Local[0] = none
	if times, err := chain.Matrix(t.Context(), lastmile.Car, []lastmile.Point{a}, []lastmile.Point{b}); err != nil || !times.Estimated {
		t.Errorf("without maps: %+v, %v", times, err)
	}
}

func TestRoadLegs(t *testing.T) {
	roads, a, b := roadsOfTown(t)
	far := lastmile.Point{Lon: a.Lon + 3, Lat: a.Lat}
	tr := &geo.Travel{TravelTimer: &geo.Routers{Local: []geo.TravelTimer{roads, geo.Estimate{}}}}
	legs, err := tr.Legs(t.Context(), lastmile.Car, []lastmile.Point{a, b, far, a, b})
	if err != nil || len(legs) != 4 {
		t.Fatalf("%v, %v", legs, err)
	}
	for i, want := range []bool{false, true, true, false} {
		if legs[i].Estimated != want || legs[i].Duration <= time.Second {
			t.Errorf("leg %d is %+v", i, legs[i])
		}
	}
}
