//go:build unix

package main

import (
	"math"
	"math/rand/v2"

	"dray/internal/optimize"
)

// generate returns a courier's day in a city: tasks in clusters, a third of them pickups with
// their deliveries, windows that may be missed by ten minutes, loads in several dimensions,
// two types of vehicles on asymmetric roads with some unreachable locations, hubs, workers
// who are already under way with locked stops, and restrictions on who may serve which stop.
func generate(seed uint64, tasks int) *optimize.Problem {
	rng := rand.New(rand.NewPCG(seed, uint64(tasks)))
	vehicles := max(4, tasks/20)
	const hubs = 3
	const hour = 3600
	p := &optimize.Problem{}

	// Locations: tasks, then hubs, then where workers are now.
	size := tasks + hubs + vehicles
	xs, ys := make([]float64, size), make([]float64, size)
	const centers = 12
	var cx, cy [centers]float64
	for i := range centers {
		cx[i], cy[i] = rng.Float64()*20_000, rng.Float64()*20_000
	}
	for i := range size {
		if rng.IntN(4) == 0 {
			xs[i], ys[i] = rng.Float64()*20_000, rng.Float64()*20_000
			continue
		}
		c := rng.IntN(centers)
		xs[i], ys[i] = cx[c]+rng.NormFloat64()*1_500, cy[c]+rng.NormFloat64()*1_500
	}
	for h := range hubs {
		xs[tasks+h], ys[tasks+h] = 5_000+rng.Float64()*10_000, 5_000+rng.Float64()*10_000
	}
	for _, speed := range []float64{8, 5} { // metres per second: a van and a bicycle
		m := optimize.Profile{Size: size, Duration: make([]int32, size*size), Distance: make([]int32, size*size)}
		for a := range size {
			for b := range size {
				if a == b {
					continue
				}
				// One-way streets and rivers: a detour that depends on the direction.
				detour := 1.2 + 0.15*math.Sin(xs[a]/900+ys[b]/700) + 0.1*math.Sin(ys[a]/800-xs[b]/1100)
				d := detour * math.Hypot(xs[a]-xs[b], ys[a]-ys[b])
				m.Distance[a*size+b] = int32(d)
				m.Duration[a*size+b] = int32(d/speed) + 20
				if speed == 5 && d > 18_000 {
					m.Duration[a*size+b] = optimize.Unreachable
				}
			}
		}
		p.Profiles = append(p.Profiles, m)
	}

	for range vehicles {
		v := optimize.Vehicle{
			Start: tasks + rng.IntN(hubs), End: tasks + rng.IntN(hubs), ShiftEnd: 9 * hour,
			Capacity: optimize.Load{60, 400, optimize.MaxLoad, optimize.MaxLoad}, MaxStops: 60,
		}
		if rng.IntN(4) == 0 {
			v.Profile = 1
			v.Capacity = optimize.Load{30, 150, optimize.MaxLoad, optimize.MaxLoad}
		}
		switch rng.IntN(4) {
		case 0:
			v.ShiftStart, v.ShiftEnd = hour, 10*hour
		case 1:
			v.Start = tasks + hubs + len(p.Vehicles)
		case 2:
			v.End = optimize.None
		}
		p.Vehicles = append(p.Vehicles, v)
	}

	for i := range tasks {
		s := optimize.Stop{Location: i, Service: 60 + rng.IntN(240), Latest: 10 * hour, MaxLateness: 600}
		switch rng.IntN(3) {
		case 0:
			s.Earliest = rng.IntN(6) * hour
			s.Latest = s.Earliest + 2*hour
		case 1:
			s.Earliest = rng.IntN(5) * hour
			s.Latest = s.Earliest + 4*hour
		}
		amount := optimize.Load{1 + rng.IntN(3), 1 + rng.IntN(20), rng.IntN(2), rng.IntN(4)}
		for d := range amount {
			s.Carried[d], s.Change[d] = amount[d], -amount[d]
		}
		if rng.IntN(20) == 0 { // only vans
			s.Vehicles = []int{}
			for v := range p.Vehicles {
				if p.Vehicles[v].Profile == 0 {
					s.Vehicles = append(s.Vehicles, v)
				}
			}
		}
		p.Stops = append(p.Stops, s)
	}
	for i := 0; i+1 < tasks/3; i += 2 {
		a, b := &p.Stops[i], &p.Stops[i+1]
		b.Earliest, b.Latest = a.Earliest, min(a.Latest+2*hour, 10*hour)
		b.Vehicles = a.Vehicles
		for d := range a.Carried {
			a.Carried[d], a.Change[d] = 0, -b.Change[d]
			b.Carried[d] = 0
		}
		p.Precedences = append(p.Precedences, optimize.Precedence{Before: i, After: i + 1, SameVehicle: true})
	}
	for i := tasks / 3; i < tasks/3+tasks/20; i++ { // already on routes
		v := rng.IntN(vehicles)
		if p.Vehicles[v].Profile == 1 || p.Stops[i].Vehicles != nil {
			continue
		}
		p.Stops[i].Earliest, p.Stops[i].MaxLateness = 0, optimize.MaxTime
		p.Stops[i].Pinned = len(p.Vehicles[v].Route) == 0
		p.Vehicles[v].Route = append(p.Vehicles[v].Route, i)
	}
	return p
}
