package geo_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// roads is a router that counts its requests. Its times depend on the leg, so
// that mixed-up legs are detected.
type roads struct {
	tables, largest int
	down            bool
}

func (r *roads) Matrix(_ context.Context, _ lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
	if r.down {
		return travel.Times{}, errors.New("the router is down")
	}
	r.tables++
	r.largest = max(r.largest, len(from)*len(to))
	times := travel.NewTimes(len(from), len(to), "roads")
	for i, a := range from {
		for j, b := range to {
			times.Durations[i][j] = time.Duration(wayTo(a, b)*1000) * time.Millisecond
			times.Distances[i][j] = lastmile.Meters(wayTo(a, b))
		}
	}
	return times, nil
}

// shelf is a cache in memory.
type shelf map[string][]byte

func (s shelf) GetAll(_ context.Context, keys []string) (map[string][]byte, error) {
	found := map[string][]byte{}
	for _, key := range keys {
		if value, ok := s[key]; ok {
			found[key] = value
		}
	}
	return found, nil
}

func (s shelf) PutAll(_ context.Context, values map[string][]byte, _ time.Duration) error {
	maps.Copy(s, values)
	return nil
}

func TestLegsOfAWayAreAskedForOnce(t *testing.T) {
	router, kept := &roads{}, shelf{}
	cached := &geo.Travel{TravelTimer: &geo.Routers{Services: []geo.TravelTimer{router}, Local: []geo.TravelTimer{geo.Estimate{}}}, Cache: kept, Name: "roads"}
	way := city(35)
	check := func(when string, way []lastmile.Point, estimated bool) {
		t.Helper()
		legs, err := cached.Legs(t.Context(), lastmile.Car, way)
		if err != nil || len(legs) != len(way)-1 {
			t.Fatalf("%s: %d legs, %v", when, len(legs), err)
		}
		for i, leg := range legs {
			if leg.Estimated != estimated {
				t.Fatalf("%s: leg %d estimated: %v", when, i, leg.Estimated)
			}
			if want := time.Duration(wayTo(way[i], way[i+1])*1000) * time.Millisecond; !estimated && leg.Duration != want {
				t.Errorf("%s: leg %d takes %v, want %v", when, i, leg.Duration, want)
			}
		}
	}
	check("first", way, false)
	if router.tables != 4 || router.largest > 100 {
		t.Errorf("%d tables, the largest of %d ways, for 34 legs", router.tables, router.largest)
	}
	router.tables = 0
	check("again", way, false)
	check("a part", way[5:20], false)
	if router.tables != 0 {
		t.Errorf("asked again %d times", router.tables)
	}
	moved := append([]lastmile.Point{{Lon: 9.05, Lat: 45.41}}, way[1:]...)
	check("from elsewhere", moved, false)
	if router.tables != 1 {
		t.Errorf("asked %d times for one new leg", router.tables)
	}
	router.down = true
	check("a router that is down, for what is known", way, false)
	before := len(kept)
	check("and for what is not", []lastmile.Point{{Lon: 8, Lat: 45}, {Lon: 8.1, Lat: 45}}, true)
	if len(kept) != before {
		t.Error("a time by formula was kept")
	}
	if legs, err := cached.Legs(t.Context(), lastmile.Car, nil); legs != nil || err != nil {
		t.Errorf("nowhere to go: %v, %v", legs, err)
	}
}

func TestNoWayIsKeptToo(t *testing.T) {
	kept := shelf{}
	nowhere := travel.NewTimes(1, 1, "roads")
	nowhere.Durations[0][0] = travel.Unreachable
	asked := 0
	cached := &geo.Travel{TravelTimer: matrix(func() (travel.Times, error) { asked++; return nowhere, nil }), Cache: kept}
	for range 2 {
		legs, err := cached.Legs(t.Context(), lastmile.Car, city(2))
		if err != nil || legs[0].Duration != travel.Unreachable {
			t.Fatalf("%v, %v", legs, err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// matrix is a source that always gives the same response.
type matrix func() (travel.Times, error)

func (m matrix) Matrix(context.Context, lastmile.VehicleType, []lastmile.Point, []lastmile.Point) (travel.Times, error) {
	return m()
}
