package optimize

import "slices"

// Insert inserts stops into the route of the only vehicle of a problem, at the positions
// with the least lateness, and among those with the least travel time. Both the route and
// the stops keep their order, and no stop is inserted before a pinned one. It reports
// whether such a route exists. Loads and precedences are ignored.
func Insert(p *Problem, stops []int) (order []int, ok bool) {
	s := insertion{p: p, stops: stops, vehicle: &p.Vehicles[0]}
	s.travel = &p.Profiles[s.vehicle.Profile]
	s.search(journey{at: s.vehicle.Start, time: s.vehicle.ShiftStart}, 0, 0)
	return s.best, s.best != nil
}

// insertion is the search for the best positions of stops in a route.
type insertion struct {
	p       *Problem
	vehicle *Vehicle
	travel  *Profile
	stops   []int
	at      []int // by inserted stop: the number of stops of the route before it
	best    []int
	least   journey // the journey of best
}

// journey is the state after a part of a route.
type journey struct {
	at, time, late, travel int
}

// worse reports whether a journey can no longer become better than another.
func (j journey) worse(than journey) bool {
	return j.late > than.late || j.late == than.late && j.travel >= than.travel
}

// search tries every continuation of a journey that has visited the first done stops of the
// route and the first inserted of the stops to insert.
func (s *insertion) search(j journey, done, inserted int) {
	route := s.vehicle.Route
	for ; s.best == nil || !j.worse(s.least); done++ {
		switch {
		case inserted < len(s.stops):
			if done == len(route) || !s.p.Stops[route[done]].Pinned {
				if next, ok := s.visit(j, s.stops[inserted]); ok {
					s.at = append(s.at[:inserted], done)
					s.search(next, done, inserted+1)
				}
			}
			if done == len(route) {
				return
			}
		case done == len(route):
			if j, ok := s.leg(j, s.vehicle.End); ok && j.time <= s.vehicle.ShiftEnd && (s.best == nil || !j.worse(s.least)) {
				s.least = j
				s.best = slices.Clone(route)
				for i, at := range slices.Backward(s.at) {
					s.best = slices.Insert(s.best, at, s.stops[i])
				}
			}
			return
		}
		var ok bool
		if j, ok = s.visit(j, route[done]); !ok {
			return
		}
	}
}

// visit continues a journey with a stop, and reports whether it can.
func (s *insertion) visit(j journey, stop int) (journey, bool) {
	x := &s.p.Stops[stop]
	j, ok := s.leg(j, x.Location)
	start := max(j.time, x.Earliest)
	late := max(start-x.Latest, 0)
	j.time, j.late = start+x.Service, j.late+late
	return j, ok && late <= x.MaxLateness
}

// leg continues a journey to a location, and reports whether it can.
func (s *insertion) leg(j journey, to int) (journey, bool) {
	if j.at != None && to != None {
		d := s.travel.Duration[j.at*s.travel.Size+to]
		if d == Unreachable {
			return j, false
		}
		j.time, j.travel = j.time+int(d), j.travel+int(d)
	}
	j.at = to
	return j, true
}
