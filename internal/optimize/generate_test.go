package optimize_test

import (
	"math/rand/v2"

	"dray/internal/optimize"
)

// generate returns a small problem with every kind of rule. In most of these problems, not
// all stops can be served.
func generate(rng *rand.Rand) *optimize.Problem {
	p := &optimize.Problem{}
	chance := func(percent int) bool { return rng.IntN(100) < percent }
	stops, vehicles := rng.IntN(14), 1+rng.IntN(4)
	if chance(5) {
		stops = 20 + rng.IntN(40)
	}
	if chance(2) {
		vehicles = 0
	}
	size := stops + 3
	day := 500 + rng.IntN(3000)
	profiles := 1 + rng.IntN(2)
	metric := chance(60)
	broken := chance(30)
	for range profiles {
		m := optimize.Profile{Size: size, Duration: make([]int32, size*size)}
		xs, ys := make([]int, size), make([]int, size)
		for i := range size {
			xs[i], ys[i] = rng.IntN(200), rng.IntN(200)
		}
		for a := range size {
			for b := range size {
				d := abs(xs[a]-xs[b]) + abs(ys[a]-ys[b])
				switch {
				case a == b:
					d = 0
				case broken && chance(4):
					d = optimize.Unreachable
				case !metric:
					d = d/2 + rng.IntN(d+1)
				}
				m.Duration[a*size+b] = int32(d)
			}
		}
		if chance(50) {
			m.Distance = make([]int32, size*size)
			for i := range m.Distance {
				m.Distance[i] = max(0, m.Duration[i]) * int32(1+rng.IntN(3))
			}
		}
		p.Profiles = append(p.Profiles, m)
	}
	loads, soft := rng.IntN(optimize.Dimensions+1), chance(50)
	for i := range stops {
		s := optimize.Stop{Location: i, Service: rng.IntN(60), Latest: day}
		if chance(5) {
			s.Location = rng.IntN(size)
		}
		if chance(60) {
			s.Earliest = rng.IntN(day) - 100
			s.Latest = s.Earliest + rng.IntN(day/2)
		}
		if soft && chance(60) {
			s.MaxLateness = rng.IntN(200)
		}
		for d := range loads {
			amount := rng.IntN(10)
			switch rng.IntN(4) {
			case 0:
				s.Change[d] = amount
			case 1:
			default:
				s.Carried[d], s.Change[d] = amount, -amount
			}
		}
		if chance(10) && vehicles > 0 {
			s.Vehicles = append(s.Vehicles, rng.IntN(vehicles))
		}
		if chance(10) {
			s.Optional, s.Prize = true, rng.IntN(400)
		}
		p.Stops = append(p.Stops, s)
	}
	for range vehicles {
		v := optimize.Vehicle{Profile: rng.IntN(profiles), Start: stops, End: stops, ShiftEnd: day + 200}
		if chance(30) {
			v.Start = stops + rng.IntN(4) - 1
		}
		if chance(30) {
			v.End = stops + rng.IntN(4) - 1
		}
		for _, e := range []*int{&v.Start, &v.End} {
			if *e == stops-1 {
				*e = optimize.None
			}
		}
		if chance(30) {
			v.ShiftStart = rng.IntN(day / 2)
			v.ShiftEnd = v.ShiftStart + rng.IntN(day)
		}
		if chance(20) {
			v.MaxStops = 1 + rng.IntN(6)
		}
		for d := range v.Capacity {
			v.Capacity[d] = rng.IntN(60)
		}
		p.Vehicles = append(p.Vehicles, v)
	}
	order := rng.Perm(stops)
	if stops > 2 && chance(50) {
		for range rng.IntN(stops/2 + 1) {
			k := rng.IntN(stops - 1)
			a, b := order[k], order[k+1+rng.IntN(min(3, stops-k-1))]
			o := optimize.Precedence{Before: a, After: b, SameVehicle: chance(70)}
			p.Precedences = append(p.Precedences, o)
			if o.SameVehicle && chance(70) {
				amount := rng.IntN(20)
				p.Stops[a].Carried, p.Stops[b].Carried = optimize.Load{}, optimize.Load{}
				p.Stops[a].Change, p.Stops[b].Change = optimize.Load{amount}, optimize.Load{-amount}
			}
		}
	}
	if vehicles > 0 && chance(40) {
		for _, s := range order[:rng.IntN(stops/2+1)] {
			v := &p.Vehicles[rng.IntN(vehicles)]
			v.Route = append(v.Route, s)
			p.Stops[s].Pinned = chance(20)
			if chance(50) {
				p.Stops[s].Vehicles = nil
			}
		}
	}
	if chance(30) {
		p.Weights = optimize.Weights{Lateness: rng.IntN(5), Duration: rng.IntN(3), Vehicle: rng.IntN(200)}
		if p.Profiles[0].Distance != nil && p.Profiles[profiles-1].Distance != nil {
			p.Weights.Distance = rng.IntN(3)
		}
	}
	return p
}

func abs(n int) int { return max(n, -n) }

// town returns a problem of stops with windows and demands around one depot, with
// enough vehicles for all of them.
func town(rng *rand.Rand, stops int) *optimize.Problem {
	p := &optimize.Problem{}
	size := stops + 1
	m := optimize.Profile{Size: size, Duration: make([]int32, size*size)}
	xs, ys := make([]int, size), make([]int, size)
	for i := range size {
		xs[i], ys[i] = rng.IntN(1000), rng.IntN(1000)
	}
	for a := range size {
		for b := range size {
			m.Duration[a*size+b] = int32(abs(xs[a]-xs[b]) + abs(ys[a]-ys[b]))
		}
	}
	p.Profiles = []optimize.Profile{m}
	for i := range stops {
		amount := 1 + rng.IntN(9)
		s := optimize.Stop{Location: i, Service: 10, Earliest: rng.IntN(6000), Carried: optimize.Load{amount}, Change: optimize.Load{-amount}}
		s.Latest = s.Earliest + 2500
		p.Stops = append(p.Stops, s)
	}
	for range stops/4 + 2 {
		p.Vehicles = append(p.Vehicles, optimize.Vehicle{Start: stops, End: stops, ShiftEnd: 20_000, Capacity: optimize.Load{60}})
	}
	return p
}
