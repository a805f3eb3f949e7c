package geo_test

import (
	"context"
	"errors"
	"testing"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// counting is a source that counts its calls.
type counting struct {
	asked int
	err   error
}

// Matrix implements geo.TravelTimer.
func (c *counting) Matrix(_ context.Context, _ lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
	c.asked++
	return travel.NewTimes(len(from), len(to), "counting"), c.err
}

func grid(n int, lon float64) (all []lastmile.Point) {
	for i := range n {
		all = append(all, lastmile.Point{Lon: lon, Lat: float64(i) / 1000})
	}
	return all
}

func TestMatricesAreKept(t *testing.T) {
	source, version := &counting{}, "1"
	m := &geo.Matrices{TravelTimer: source, Version: func() string { return version }}
	ask := func(by lastmile.VehicleType, from, to []lastmile.Point) {
		t.Helper()
		times, err := m.Matrix(t.Context(), by, from, to)
		if !errors.Is(err, source.err) || err == nil && (len(times.Durations) != len(from) || len(times.Durations[0]) != len(to)) {
			t.Errorf("got %d rows, %v", len(times.Durations), err)
		}
	}
	a, b := grid(20, 1), grid(30, 2)
	for _, step := range []struct {
		name     string
		do       func()
		computed bool
	}{
		{"the first", func() { ask(lastmile.Car, a, b) }, true},
		{"the same", func() { ask(lastmile.Car, a, b) }, false},
		{"less than a meter away", func() { ask(lastmile.Car, append([]lastmile.Point{{Lon: 1.000001}}, a[1:]...), b) }, false},
		{"the other way", func() { ask(lastmile.Car, b, a) }, true},
		{"another split of the same locations", func() { ask(lastmile.Car, append(append([]lastmile.Point{}, a...), b[0]), b[1:]) }, true},
		{"another vehicle", func() { ask(lastmile.Bicycle, a, b) }, true},
		{"ten meters away", func() { ask(lastmile.Car, append([]lastmile.Point{{Lon: 1.0001}}, a[1:]...), b) }, true},
		{"another map", func() { version = "2"; ask(lastmile.Car, a, b) }, true},
		{"few locations", func() { ask(lastmile.Car, a[:3], b[:3]); source.asked = 0; ask(lastmile.Car, a[:3], b[:3]) }, true},
		{"a failure", func() {
			source.err = errors.New("failed")
			ask(lastmile.Truck, a, b)
			source.err = nil
			source.asked = 0
			ask(lastmile.Truck, a, b)
		}, true},
	} {
		source.asked = 0
		if step.do(); (source.asked > 0) != step.computed {
			t.Errorf("%s was computed: %v", step.name, source.asked > 0)
		}
	}
}

func TestKeptMatricesAreBounded(t *testing.T) {
	source := &counting{}
	m := &geo.Matrices{TravelTimer: source, Version: func() string { return "" }}
	ask := func(lon float64) bool {
		t.Helper()
		source.asked = 0
		if _, err := m.Matrix(t.Context(), lastmile.Car, grid(800, lon), grid(800, lon)); err != nil {
			t.Fatal(err)
		}
		return source.asked == 0
	}
	for lon := range 3 { // 640,000 pairs each
		ask(float64(lon))
	}
	if !ask(0) {
		t.Error("a matrix was dropped although there is room")
	}
	ask(3)
	if !ask(0) || ask(1) {
		t.Error("not the least recently used matrix was dropped")
	}
}
