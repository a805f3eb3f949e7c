package travel_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

// northward returns a point at a distance north of a location.
func northward(meters float64) lastmile.Point {
	return lastmile.Point{Lon: -74, Lat: 40 + meters/111_035}
}

func within(t *testing.T, what string, got lastmile.Meters, want, tolerance float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > tolerance {
		t.Errorf("%s: %.0f m, want %.0f ± %.0f", what, float64(got), want, tolerance)
	}
}

func TestOdometerMeasuresTheWay(t *testing.T) {
	drive := func(step time.Duration, speed float64, noise, accuracy float64, over time.Duration) lastmile.Meters {
		random := rand.New(rand.NewPCG(1, 2))
		var positions []lastmile.Position
		for at := time.Duration(0); at <= over; at += step {
			p := lastmile.Position{At: noon.Add(at), Location: northward(speed*at.Seconds() + noise*random.NormFloat64())}
			if accuracy > 0 {
				p.Accuracy = &accuracy
			}
			positions = append(positions, p)
		}
		return travel.Measure(positions, lastmile.Odometer{}).Way
	}
	within(t, "a car", drive(5*time.Second, 14, 0, 0, 5*time.Minute), 4200, 30)
	within(t, "a car with a noisy receiver", drive(5*time.Second, 14, 5, 10, 5*time.Minute), 4200, 300)
	within(t, "a walker every second", drive(time.Second, 1.4, 0, 5, 10*time.Minute), 840, 30)
	within(t, "a phone that lies on a table for an hour", drive(5*time.Second, 0, 4, 12, time.Hour), 0, 100)
}

func TestOdometerContinues(t *testing.T) {
	all := []lastmile.Position{{Location: northward(0)}, {Location: northward(15)}, {Location: northward(30)}, {Location: northward(45)}, {Location: northward(60)}}
	once := travel.Measure(all, lastmile.Odometer{})
	var o lastmile.Odometer
	for _, p := range all {
		o = travel.Measure([]lastmile.Position{p}, o)
	}
	if o.Way != once.Way || *o.From != *once.From {
		t.Errorf("position by position: %v, together %v", o, once)
	}
	within(t, "the way", o.Way, 60, 1)
}

func TestWayBetween(t *testing.T) {
	at := func(minute int, odometer lastmile.Meters) *lastmile.Position {
		return &lastmile.Position{At: noon.Add(time.Duration(minute) * time.Minute), Odometer: odometer}
	}
	around := func(minute int, before, after *lastmile.Position) travel.Surroundings {
		return travel.Surroundings{At: noon.Add(time.Duration(minute) * time.Minute), Before: before, After: after}
	}
	for name, test := range map[string]struct {
		start, end travel.Surroundings
		want       float64
	}{
		"between positions":               {around(0, at(0, 1000), at(1, 1500)), around(10, at(10, 5000), nil), 4000},
		"the last position was yesterday": {around(0, at(-1439, 0), at(1, 30_000)), around(10, at(10, 34_000), nil), 4000},
		"the first position ever":         {around(0, nil, at(1, 0)), around(10, at(9, 4000), at(11, 4100)), 4000},
		"a worker who stood for a while":  {around(0, at(-9, 1000), at(1, 1100)), around(10, at(10, 5000), at(20, 6000)), 4000},
		"no position since the start":     {around(0, at(-5, 700), nil), around(10, at(-5, 700), nil), 0},
		"no positions at all":             {around(0, nil, nil), around(10, nil, nil), 0},
		"times in the wrong order":        {around(10, at(10, 5000), nil), around(0, at(0, 1000), at(1, 1500)), 0},
	} {
		t.Run(name, func(t *testing.T) { within(t, "the way", travel.WayBetween(test.start, test.end), test.want, 1) })
	}
}

func TestLocationOfSurroundings(t *testing.T) {
	p := func(seconds int, meters float64) *lastmile.Position {
		return &lastmile.Position{At: noon.Add(time.Duration(seconds) * time.Second), Location: northward(meters)}
	}
	for name, test := range map[string]struct {
		before, after *lastmile.Position
		want          *lastmile.Point
	}{
		"before":  {p(-10, 1), nil, new(northward(1))},
		"nearest": {p(-30, 1), p(20, 2), new(northward(2))},
		"too old": {p(-121, 1), nil, nil},
		"none":    {nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := travel.Surroundings{At: noon, Before: test.before, After: test.after}.Location()
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
