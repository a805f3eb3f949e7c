package travel

import (
	"math"
	"slices"
	"time"

	"dray/internal/lastmile"
)

// Unreachable is the travel time between two locations that are not connected.
const Unreachable time.Duration = -1

// Times is a matrix of travel times and distances between locations.
type Times struct {
	Durations [][]time.Duration   // by origin, then destination; may be Unreachable
	Distances [][]lastmile.Meters // by road; meaningless where unreachable
	Source    string              // name of the source
	Estimated bool                // by formula, not by a road network
	Gaps      [][]bool            // pairs whose time is by formula although the others are not; nil if there are none
}

// ByFormula reports whether the time of a pair is by formula.
func (t Times) ByFormula(from, to int) bool {
	return t.Estimated || t.Gaps != nil && t.Gaps[from][to]
}

// NewTimes returns an empty matrix of the given size.
func NewTimes(from, to int, source string) Times {
	t := Times{Durations: make([][]time.Duration, from), Distances: make([][]lastmile.Meters, from), Source: source}
	durations, distances := make([]time.Duration, from*to), make([]lastmile.Meters, from*to)
	for i := range from {
		t.Durations[i] = durations[i*to : (i+1)*to : (i+1)*to]
		t.Distances[i] = distances[i*to : (i+1)*to : (i+1)*to]
	}
	return t
}

// Leg is the trip from one location to the next.
type Leg struct {
	Duration  time.Duration // may be Unreachable
	Distance  lastmile.Meters
	Estimated bool // by formula, not by a road network
}

// Adjusted returns the leg multiplied by an organization's factor if it was
// estimated by formula. A leg by a road network is returned unchanged.
func (l Leg) Adjusted(f Factor) Leg {
	if l.Estimated && l.Duration != Unreachable && f.value() != 1 {
		l.Duration = max(f.apply(l.Duration), f.least(l.Duration))
	}
	return l
}

// Adjusted returns the times multiplied by an organization's factor where they
// were estimated by formula. Times by a road network are returned unchanged.
func (t Times) Adjusted(f Factor) Times {
	if !t.Estimated && t.Gaps == nil || f.value() == 1 {
		return t
	}
	adjusted := t
	adjusted.Durations = make([][]time.Duration, len(t.Durations))
	for i, row := range t.Durations {
		adjusted.Durations[i] = make([]time.Duration, len(row))
		for j, d := range row {
			adjusted.Durations[i][j] = d
			if d != Unreachable && t.ByFormula(i, j) {
				adjusted.Durations[i][j] = max(f.apply(d), f.least(d))
			}
		}
	}
	return adjusted
}

// pace describes how fast a vehicle is: h meters as the crow flies take
// scale·h^power seconds and are detour·h meters by road. The figures are fitted
// to the road networks of five cities; see docs/performance.md.
type pace struct{ scale, power, detour float64 }

var paces = map[lastmile.VehicleType]pace{
	lastmile.Car:        {scale: 1.0, power: 0.75, detour: 1.4},
	lastmile.Motorcycle: {scale: 1.0, power: 0.75, detour: 1.4},
	lastmile.Truck:      {scale: 1.05, power: 0.75, detour: 1.4},
	lastmile.Bicycle:    {scale: 0.44, power: 0.95, detour: 1.33},
	lastmile.OnFoot:     {scale: 0.88, power: 1, detour: 1.25},
}

// MinDuration is the minimum travel time between two different locations, for
// stopping and starting again.
const MinDuration = 30 * time.Second

// Approximate estimates travel time and road distance by formula, without a
// road network. An unknown vehicle type is treated as a car.
func Approximate(by lastmile.VehicleType, from, to lastmile.Point) (time.Duration, lastmile.Meters) {
	if from == to {
		return 0, 0
	}
	p, ok := paces[by]
	if !ok {
		p = paces[lastmile.Car]
	}
	straight := float64(lastmile.SphericalDistance(from, to))
	seconds := p.scale * math.Pow(straight, p.power)
	return max(time.Duration(seconds*float64(time.Second)), MinDuration), lastmile.Meters(p.detour * straight)
}

// Factor is how much longer the trips of an organization take than estimated.
// The zero value means nothing is known.
type Factor struct {
	Factor float64 // multiplies times by formula; 0 means 1
	Trips  int     // number of trips it was learned from

	speed float64 // speed factor of simulated workers; 0 means 1
}

func (f Factor) value() float64 {
	if f.Factor == 0 {
		return 1
	}
	return f.Factor
}

// least returns the lower bound of an adjusted time.
func (f Factor) least(d time.Duration) time.Duration {
	least := min(d, MinDuration)
	if f.speed > 1 {
		least = time.Duration(float64(least) / f.speed)
	}
	return least
}

func (f Factor) apply(d time.Duration) time.Duration {
	return time.Duration(float64(d) * f.value())
}

// Limits of learning a factor. Trips outside of them are more likely due to
// breaks or lost signals than to traffic.
const (
	minLearnTrips = 10
	minLearnTime  = time.Minute
	maxTripRatio  = 4.0
	doubtTrips    = 20 // number of trips at which half of the difference is accepted

	// MinFactor and MaxFactor are the bounds of a factor.
	MinFactor = 0.5
	MaxFactor = 2.0
)

// LearnFactor learns from an organization's trips how much longer they take
// than estimated. It uses the median, which is robust against outliers, and
// stays closer to 1 the fewer trips there are.
func LearnFactor(trips []lastmile.Trip) Factor {
	var ratios []float64
	for _, t := range trips {
		if t.Estimated < minLearnTime || t.Actual <= 0 {
			continue
		}
		ratio := float64(t.Actual) / float64(t.Estimated)
		if ratio <= maxTripRatio && ratio >= 1/maxTripRatio {
			ratios = append(ratios, math.Log(ratio))
		}
	}
	if len(ratios) < minLearnTrips {
		return Factor{Factor: 1, Trips: len(ratios)}
	}
	slices.Sort(ratios)
	middle := (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
	n := float64(len(ratios))
	factor := math.Exp(middle * n / (n + doubtTrips))
	return Factor{Factor: min(max(factor, MinFactor), MaxFactor), Trips: len(ratios)}
}

// Limits of learning service times. Stays outside of them are more likely due
// to a button pressed too late than to the work.
const (
	minLearnStays      = 10
	shortestStay       = 5 * time.Second
	longestStay        = 2 * time.Hour
	DefaultServiceTime = 2 * time.Minute // if nothing was learned
)

// Experience is what was learned from an organization's past trips.
type Experience struct {
	Travel  Factor
	Service time.Duration // time spent at a destination
}

// Learn derives experience from an organization's trips. speed is the speed factor of
// simulated workers; 1 is real time.
func Learn(trips []lastmile.Trip, speed float64) Experience {
	var stays []time.Duration
	for _, t := range trips {
		if t.Service >= shortestStay && t.Service <= longestStay {
			stays = append(stays, t.Service)
		}
	}
	e := Experience{Travel: learnAt(trips, speed), Service: DefaultServiceTime}
	if len(stays) >= minLearnStays {
		slices.Sort(stays)
		e.Service = stays[len(stays)/2].Truncate(time.Millisecond)
	}
	return e
}

// learnAt learns a factor from trips at a speed, with the limits of trips in real time.
func learnAt(trips []lastmile.Trip, speed float64) Factor {
	if speed == 1 || speed <= 0 {
		return LearnFactor(trips)
	}
	slow := slices.Clone(trips)
	for i := range slow {
		slow[i].Actual = time.Duration(float64(slow[i].Actual) * speed)
	}
	f := LearnFactor(slow)
	f.Factor, f.speed = f.Factor/speed, speed
	return f
}
