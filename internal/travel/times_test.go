package travel_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// north returns the point some meters north of Milan.
func north(meters float64) lastmile.Point {
	return lastmile.Point{Lon: 9.19, Lat: 45.46 + meters/111_194.93}
}

func TestApproximate(t *testing.T) {
	tests := map[string]struct {
		by       lastmile.VehicleType
		straight float64
		seconds  float64
		meters   float64
	}{
		"a car over a kilometer":    {lastmile.Car, 1000, math.Pow(1000, 0.75), 1400},
		"a car over ten":            {lastmile.Car, 10_000, 1000, 14_000},
		"a motorcycle as a car":     {lastmile.Motorcycle, 10_000, 1000, 14_000},
		"a truck a little slower":   {lastmile.Truck, 10_000, 1050, 14_000},
		"a bicycle":                 {lastmile.Bicycle, 10_000, 0.44 * math.Pow(10_000, 0.95), 13_300},
		"on foot":                   {lastmile.OnFoot, 1000, 880, 1250},
		"next door":                 {lastmile.Car, 10, 30, 14},
		"a vehicle that is unknown": {"SLED", 10_000, 1000, 14_000},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			took, far := travel.Approximate(tt.by, north(0), north(tt.straight))
			if math.Abs(took.Seconds()-tt.seconds) > tt.seconds/1000 || math.Abs(float64(far)-tt.meters) > tt.meters/1000 {
				t.Errorf("%v and %.0f m, want %.1fs and %.0f m", took, far, tt.seconds, tt.meters)
			}
		})
	}
	if took, far := travel.Approximate(lastmile.Car, north(0), north(0)); took != 0 || far != 0 {
		t.Errorf("being there takes %v over %v m", took, far)
	}
}

func TestAdjustedTimes(t *testing.T) {
	times := travel.NewTimes(1, 4, "estimate")
	times.Estimated = true
	times.Durations[0] = []time.Duration{0, 30 * time.Second, 10 * time.Minute, travel.Unreachable}
	check := func(f travel.Factor, estimated bool, want ...time.Duration) {
		t.Helper()
		times.Estimated = estimated
		got := times.Adjusted(f).Durations[0]
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("with %+v: %v, want %v", f, got, want)
			}
		}
	}
	check(travel.Factor{Factor: 1.5}, true, 0, 45*time.Second, 15*time.Minute, travel.Unreachable)
	check(travel.Factor{Factor: 0.5}, true, 0, 30*time.Second, 5*time.Minute, travel.Unreachable)
	check(travel.Factor{}, true, 0, 30*time.Second, 10*time.Minute, travel.Unreachable)
	check(travel.Factor{Factor: 1.5}, false, 0, 30*time.Second, 10*time.Minute, travel.Unreachable)
}

func TestLearnFactor(t *testing.T) {
	// trips returns trips that take ratio times as long as estimated, within 20 %.
	trips := func(n int, ratio float64) []lastmile.Trip {
		random := rand.New(rand.NewPCG(1, 2))
		all := make([]lastmile.Trip, n)
		for i := range all {
			estimated := time.Duration(300+random.IntN(900)) * time.Second
			all[i] = lastmile.Trip{Estimated: estimated, Actual: time.Duration(float64(estimated) * ratio * (0.8 + 0.4*random.Float64()))}
		}
		return all
	}
	lunches := make([]lastmile.Trip, 90)
	for i := range lunches {
		lunches[i] = lastmile.Trip{Estimated: 10 * time.Minute, Actual: 90 * time.Minute}
	}
	broken := []lastmile.Trip{{}, {Estimated: -time.Hour, Actual: time.Hour}, {Estimated: time.Hour}, {Estimated: time.Second, Actual: time.Hour}}
	tests := map[string]struct {
		trips     []lastmile.Trip
		low, high float64
	}{
		"nothing yet":                       {nil, 1, 1},
		"too few":                           {trips(9, 2), 1, 1},
		"a few are half trusted":            {trips(20, 1.5), 1.15, 1.3},
		"many are trusted":                  {trips(1000, 1.5), 1.43, 1.55},
		"faster than estimated":             {trips(1000, 0.8), 0.76, 0.84},
		"no more than double":               {trips(1000, 3), 2, 2},
		"no less than half":                 {trips(1000, 0.3), 0.5, 0.5},
		"lunches do not count":              {append(trips(100, 1.2), lunches...), 1.1, 1.25},
		"broken clocks do not count":        {append(trips(100, 1.2), broken...), 1.1, 1.25},
		"two in five may be wrong":          {append(trips(300, 1.2), trips(200, 3.5)...), 1.1, 1.6},
		"an estimate that is right remains": {trips(1000, 1), 0.95, 1.05},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := travel.LearnFactor(tt.trips)
			if f.Factor < tt.low || f.Factor > tt.high {
				t.Errorf("learned %+v, want %v to %v", f, tt.low, tt.high)
			}
		})
	}
}

func TestWorkersOfASimulationAreFaster(t *testing.T) {
	var trips []lastmile.Trip
	for range 1000 {
		trips = append(trips, lastmile.Trip{Estimated: 10 * time.Minute, Actual: 3 * time.Minute})
	}
	for name, tt := range map[string]struct {
		trips    []lastmile.Trip
		leg      time.Duration
		min, max time.Duration
	}{
		"as assumed before anything is learned": {nil, 8 * time.Minute, 2 * time.Minute, 2 * time.Minute},
		"as learned":                            {trips, 8 * time.Minute, 142 * time.Second, 145 * time.Second},
		"no less than the minimum":              {nil, 20 * time.Second, 5 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			got := travel.Leg{Duration: tt.leg, Estimated: true}.Adjusted(travel.Learn(tt.trips, 4).Travel).Duration
			if got < tt.min || got > tt.max {
				t.Errorf("%v takes %v at four times the speed", tt.leg, got)
			}
		})
	}
}

func FuzzLearnFactor(f *testing.F) {
	f.Add(int64(600e9), int64(700e9), 30)
	f.Add(int64(math.MaxInt64), int64(1), 12)
	f.Add(int64(math.MinInt64), int64(math.MaxInt64), 100)
	f.Fuzz(func(t *testing.T, estimated, actual int64, n int) {
		trips := make([]lastmile.Trip, min(max(n, 0), 1000))
		for i := range trips {
			trips[i] = lastmile.Trip{Estimated: time.Duration(estimated), Actual: time.Duration(actual)}
		}
		if got := travel.LearnFactor(trips).Factor; !(got >= travel.MinFactor && got <= travel.MaxFactor) {
			t.Errorf("learned %v", got)
		}
	})
}
