package lastmile

import (
	"math"
	"slices"
	"time"
)

// Unreachable is the travel time between two places with no way from one to
// the other.
const Unreachable time.Duration = -1

// TravelTimes tells how long it takes, and how far it is, from each of some
// places to each of others.
type TravelTimes struct {
	Durations [][]time.Duration // from, then to; Unreachable where there is no way
	Distances [][]Meters        // by road; of no meaning where there is no way
	Source    string            // what they come from
	Estimated bool              // by formula, not over a road network
}

// NewTravelTimes makes an empty table of a size.
func NewTravelTimes(from, to int, source string) TravelTimes {
	t := TravelTimes{Durations: make([][]time.Duration, from), Distances: make([][]Meters, from), Source: source}
	durations, distances := make([]time.Duration, from*to), make([]Meters, from*to)
	for i := range from {
		t.Durations[i] = durations[i*to : (i+1)*to : (i+1)*to]
		t.Distances[i] = distances[i*to : (i+1)*to : (i+1)*to]
	}
	return t
}

// Leg is the way from one place to the next.
type Leg struct {
	Duration  time.Duration // Unreachable when there is no way
	Distance  Meters
	Estimated bool // by formula, not over a road network
}

// Adjusted returns a leg by formula as long as an organization's own trips say
// that it takes. One over a road network stays as it is.
func (l Leg) Adjusted(f TravelFactor) Leg {
	if l.Estimated && l.Duration != Unreachable && f.value() != 1 {
		l.Duration = max(f.apply(l.Duration), minTravel(l.Duration))
	}
	return l
}

// Adjusted returns times by formula multiplied with what an organization's own
// trips say of it. Times over a road network stay as they are.
func (t TravelTimes) Adjusted(f TravelFactor) TravelTimes {
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

var paces = map[VehicleType]pace{
	Car:        {scale: 1.0, power: 0.75, detour: 1.4},
	Motorcycle: {scale: 1.0, power: 0.75, detour: 1.4},
	Truck:      {scale: 1.05, power: 0.75, detour: 1.4},
	Bicycle:    {scale: 0.44, power: 0.95, detour: 1.33},
	OnFoot:     {scale: 0.88, power: 1, detour: 1.25},
}

// ShortestTravel is the least time that getting from one place to another is
// taken to need: one stops, and starts again.
const ShortestTravel = 30 * time.Second

// EstimateTravel tells about how long it takes, and how far it is by road,
// when nothing is known of the roads. A vehicle type that is not known goes as
// a car does.
func EstimateTravel(by VehicleType, from, to Point) (time.Duration, Meters) {
	if from == to {
		return 0, 0
	}
	p, ok := paces[by]
	if !ok {
		p = paces[Car]
	}
	straight := float64(haversine(from, to))
	seconds := p.scale * math.Pow(straight, p.power)
	return max(time.Duration(seconds*float64(time.Second)), ShortestTravel), Meters(p.detour * straight)
}

// minTravel is the least that an adjusted time may become.
func minTravel(d time.Duration) time.Duration { return min(d, ShortestTravel) }

// TravelFactor is how much longer an organization's trips take than estimated.
// The zero value is for an organization that nothing is known of.
type TravelFactor struct {
	Factor float64 // times by formula are multiplied with it; 0 means 1
	Trips  int     // from how many trips it was learned
}

func (f TravelFactor) value() float64 {
	if f.Factor == 0 {
		return 1
	}
	return f.Factor
}

func (f TravelFactor) apply(d time.Duration) time.Duration {
	return time.Duration(float64(d) * f.value())
}

// How a factor is learned. Trips outside of these limits say more of a worker's
// lunch or a lost signal than of traffic.
const (
	minLearnTrips = 10
	minLearnTime  = time.Minute
	maxTripRatio  = 4.0
	doubtTrips    = 20 // as many trips as it takes for half of a difference to be believed

	// MinTravelFactor and MaxTravelFactor bound what can be learned.
	MinTravelFactor = 0.5
	MaxTravelFactor = 2.0
)

// LearnTravelFactor learns from an organization's trips how much longer they
// take than estimated without a factor. It goes by the middle one of all, so
// fewer than half of them can be wrong in any way; the fewer trips there are,
// the nearer it stays to 1.
func LearnTravelFactor(trips []Trip) TravelFactor {
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
		return TravelFactor{Factor: 1, Trips: len(ratios)}
	}
	slices.Sort(ratios)
	middle := (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
	n := float64(len(ratios))
	factor := math.Exp(middle * n / (n + doubtTrips))
	return TravelFactor{Factor: min(max(factor, MinTravelFactor), MaxTravelFactor), Trips: len(ratios)}
}

// How the time at a destination is learned. A stay outside of these limits says
// more of a button that was pressed late than of the work.
const (
	minLearnStays  = 10
	shortestStay   = 5 * time.Second
	longestStay    = 2 * time.Hour
	DefaultService = 2 * time.Minute // where nothing was learned
)

// Experience is what an organization's past work says of the work to come.
type Experience struct {
	Travel  TravelFactor
	Service time.Duration // at a destination
}

// Learn makes experience of an organization's trips.
func Learn(trips []Trip) Experience {
	var stays []time.Duration
	for _, t := range trips {
		if t.Service >= shortestStay && t.Service <= longestStay {
			stays = append(stays, t.Service)
		}
	}
	e := Experience{Travel: LearnTravelFactor(trips), Service: DefaultService}
	if len(stays) >= minLearnStays {
		slices.Sort(stays)
		e.Service = stays[len(stays)/2].Truncate(time.Millisecond)
	}
	return e
}
