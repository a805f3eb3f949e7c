package geo_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// area is a part of a city, from corner to corner.
type area struct{ west, south, east, north float64 }

// areas are dense parts of the extracts that scripts/valhalla.sh supports. Which of them the
// engine has is found by trying.
var areas = map[string]area{
	"Porto":      {-8.68, 41.14, -8.56, 41.19},
	"Milan":      {9.12, 45.43, 9.26, 45.51},
	"Copenhagen": {12.54, 55.66, 12.60, 55.70},
	"Malta":      {14.45, 35.86, 14.52, 35.92},
}

// TestValhallaEngine tests the client against a real server and reports the
// error of the formula. See scripts/valhalla.sh.
func TestValhallaEngine(t *testing.T) {
	url := os.Getenv("DRAY_TEST_VALHALLA")
	if url == "" {
		t.Skip("NOT COMPARED WITH VALHALLA: run scripts/valhalla.sh EXTRACT.osm.pbf go test -v -run ValhallaEngine ./internal/geo")
	}
	router := openRouter(t, "valhalla+"+url, nil)
	place, points := knownArea(t, router)
	for _, by := range append(slices.Clone(lastmile.VehicleTypes), lastmile.OnFoot) {
		real, err := router.Matrix(t.Context(), by, points, points)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Logf("%s, %-10q: the engine takes too long on this machine", place, by)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		guess, err := geo.Estimate{}.Matrix(t.Context(), by, points, points)
		if err != nil {
			t.Fatal(err)
		}
		d := compare(points, real, guess)
		t.Logf("%s, %-10q %5d pairs: time off by %4.1f %% (median ratio %.2f, after that factor %4.1f %%), distance off by %4.1f %%",
			place, by, d.pairs, 100*d.time, d.ratio, 100*d.corrected, 100*d.distance)
		if d.pairs < 500 || d.time > 0.6 || d.corrected > 0.35 {
			t.Errorf("%q: the estimate is not of this world: %+v", by, d)
		}
	}
}

func knownArea(t *testing.T, router geo.TravelTimer) (string, []lastmile.Point) {
	t.Helper()
	for name, a := range areas {
		random := rand.New(rand.NewPCG(11, 12))
		points := make([]lastmile.Point, 40)
		for i := range points {
			points[i] = lastmile.Point{
				Lon: a.west + random.Float64()*(a.east-a.west), Lat: a.south + random.Float64()*(a.north-a.south),
			}
		}
		if _, err := router.Matrix(t.Context(), lastmile.Car, points[:1], points[:2]); err == nil {
			return name, points
		}
	}
	t.Fatal("the engine knows none of the cities")
	return "", nil
}

// difference is the relative error of an estimate.
type difference struct {
	pairs                            int
	time, distance, ratio, corrected float64
}

func compare(points []lastmile.Point, real, guess travel.Times) (d difference) {
	var ratios []float64
	for i, a := range points {
		for j, b := range points {
			took, guessed := real.Durations[i][j], guess.Durations[i][j]
			if took == travel.Unreachable || took < time.Minute || a.Distance(b) < 300 {
				continue
			}
			d.pairs++
			d.time += math.Abs(guessed.Seconds()-took.Seconds()) / took.Seconds()
			d.distance += math.Abs(float64(guess.Distances[i][j]-real.Distances[i][j])) / float64(real.Distances[i][j])
			ratios = append(ratios, took.Seconds()/guessed.Seconds())
		}
	}
	if d.pairs == 0 {
		return d
	}
	slices.Sort(ratios)
	d.ratio = ratios[len(ratios)/2]
	for _, r := range ratios {
		d.corrected += math.Abs(d.ratio/r - 1)
	}
	n := float64(d.pairs)
	d.time, d.distance, d.corrected = d.time/n, d.distance/n, d.corrected/n
	return d
}
