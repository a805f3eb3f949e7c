package travel

import (
	"math"
	"slices"
	"time"

	"dray/internal/lastmile"
)

// Unreachable is the travel time between two places with no way from one to
// the other.
const Unreachable time.Duration = -1

// Times tells how long it takes, and how far it is, from each of some
// places to each of others.
type Times struct {
	Durations [][]time.Duration   // from, then to; Unreachable where there is no way
	Distances [][]lastmile.Meters // by road; of no meaning where there is no way
	Source    string              // what they come from
	Estimated bool                // by formula, not over a road network
}

// NewTimes makes an empty table of a size.
func NewTimes(from, to int, source string) Times {
	t := Times{Durations: make([][]time.Duration, from), Distances: make([][]lastmile.Meters, from), Source: source}
	durations, distances := make([]time.Duration, from*to), make([]lastmile.Meters, from*to)
	for i := range from {
		t.Durations[i] = durations[i*to : (i+1)*to : (i+1)*to]
		t.Distances[i] = distances[i*to : (i+1)*to : (i+1)*to]
	}
	return t
}

// Leg is the way from one place to the next.
type Leg struct {
	Duration  time.Duration // Unreachable when there is no way
	Distance  lastmile.Meters
	Estimated bool // by formula, not over a road network
}

// Adjusted returns a leg by formula as long as an organization's own trips say
// that it takes. One over a road network stays as it is.
func (l Leg) Adjusted(f Factor) Leg {
	if l.Estimated && l.Duration != Unreachable && f.value() != 1 {
		l.Duration = max(f.apply(l.Duration), minTravel(l.Duration))
	}
	return l
}

// Adjusted returns times by formula multiplied with what an organization's own
// trips say of it. Times over a road network stay as they are.
func (t Times) Adjusted(f Factor) Times {
	if !t.Estimated || f.value() == 1 {
		return t
	}
	adjusted := t
	adjusted.Durations = make([][]time.Duration, len(t.Durations))
	for i, row := range t.Durations {
		adjusted.Durations[i] = make([]time.Duration, len(row))
		for j, d := range row {
			adjusted.Durations[i][j] = d
			if d != Unreachable {
				adjusted.Durations[i][j] = max(f.apply(d), minTravel(d))
			}
		}
	}
	return adjusted
}

// pace is how long a way takes: scale·h^power seconds over h meters as the
// crow flies, and detour·h meters by road. The figures are fitted to a road
// network of five cities; see docs/performance.md.
type pace struct{ scale, power, detour float64 }

var paces = map[lastmile.VehicleType]pace{
	lastmile.Car:        {scale: 1.0, power: 0.75, detour: 1.4},
	lastmile.Motorcycle: {scale: 1.0, power: 0.75, detour: 1.4},
	lastmile.Truck:      {scale: 1.05, power: 0.75, detour: 1.4},
	lastmile.Bicycle:    {scale: 0.44, power: 0.95, detour: 1.33},
	lastmile.OnFoot:     {scale: 0.88, power: 1, detour: 1.25},
}

// MinDuration is the least time that getting from one place to another is
// taken to need: one stops, and starts again.
const MinDuration = 30 * time.Second

// Approximate tells about how long it takes, and how far it is by road,
// when nothing is known of the roads. A vehicle type that is not known goes as
// a car does.
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

// minTravel is the least that an adjusted time may become.
func minTravel(d time.Duration) time.Duration { return min(d, MinDuration) }

// Factor is how much longer an organization's trips take than estimated.
// The zero value is for an organization that nothing is known of.
type Factor struct {
	Factor float64 // times by formula are multiplied with it; 0 means 1
	Trips  int     // from how many trips it was learned
}

func (f Factor) value() float64 {
	if f.Factor == 0 {
		return 1
	}
	return f.Factor
}

func (f Factor) apply(d time.Duration) time.Duration {
	return time.Duration(float64(d) * f.value())
}

// How a factor is learned. Trips outside of these limits say more of a worker's
// lunch or a lost signal than of traffic.
const (
	minLearnTrips = 10
	minLearnTime  = time.Minute
	maxTripRatio  = 4.0
	doubtTrips    = 20 // as many trips as it takes for half of a difference to be believed

	// MinFactor and MaxFactor bound what can be learned.
	MinFactor = 0.5
	MaxFactor = 2.0
)

// LearnFactor learns from an organization's trips how much longer they
// take than estimated without a factor. It goes by the middle one of all, so
// fewer than half of them can be wrong in any way; the fewer trips there are,
// the nearer it stays to 1.
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

// How the time at a destination is learned. A stay outside of these limits says
// more of a button that was pressed late than of the work.
const (
	minLearnStays      = 10
	shortestStay       = 5 * time.Second
	longestStay        = 2 * time.Hour
	DefaultServiceTime = 2 * time.Minute // where nothing was learned
)

// Experience is what an organization's past work says of the work to come.
type Experience struct {
	Travel  Factor
	Service time.Duration // at a destination
}

// Learn makes experience of an organization's trips.
func Learn(trips []lastmile.Trip) Experience {
	var stays []time.Duration
	for _, t := range trips {
		if t.Service >= shortestStay && t.Service <= longestStay {
			stays = append(stays, t.Service)
		}
	}
	e := Experience{Travel: LearnFactor(trips), Service: DefaultServiceTime}
	if len(stays) >= minLearnStays {
		slices.Sort(stays)
		e.Service = stays[len(stays)/2].Truncate(time.Millisecond)
	}
	return e
}
