package optimize

import (
	"errors"
	"fmt"
	"slices"
)

// This file and explain.go depend only on the types of problem.go: they verify the search
// and share no code with it.

// Check verifies a plan and its figures against every rule of a problem. It returns nil if
// the plan is correct, and otherwise an error that lists the violations.
func Check(p *Problem, s *Solution) error {
	c := checker{p: p, s: s, at: make([]*Visit, len(p.Stops)), on: make([]int, len(p.Stops)), rank: make([]int, len(p.Stops))}
	if len(s.Routes) != len(p.Vehicles) {
		return fmt.Errorf("%d routes for %d vehicles", len(s.Routes), len(p.Vehicles))
	}
	var total Cost
	for v := range s.Routes {
		c.route(v, &total)
	}
	c.coverage(&total)
	if len(c.problems) == 0 {
		c.precedences()
		c.locks()
		c.cost(&total)
	}
	return errors.Join(c.problems...)
}

type checker struct {
	p        *Problem
	s        *Solution
	at       []*Visit // by stop: its visit; nil if it is left out
	on       []int    // by stop: its vehicle
	rank     []int    // by stop: its position
	problems []error
}

// maxProblems is the maximum number of violations that Check lists.
const maxProblems = 20

func (c *checker) fail(format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, fmt.Errorf(format, args...))
	}
}

// route verifies the times, loads and travel of a route.
func (c *checker) route(v int, total *Cost) {
	vehicle, route := &c.p.Vehicles[v], &c.s.Routes[v]
	if len(route.Visits) == 0 {
		if route.Duration != 0 || route.Distance != 0 {
			c.fail("vehicle %d does nothing, and travels", v)
		}
		return
	}
	total.Vehicles++
	if vehicle.MaxStops > 0 && len(route.Visits) > vehicle.MaxStops {
		c.fail("vehicle %d has %d stops; at most %d are allowed", v, len(route.Visits), vehicle.MaxStops)
	}
	var load Load
	for i := range route.Visits {
		stop := route.Visits[i].Stop
		if stop < 0 || stop >= len(c.p.Stops) {
			c.fail("vehicle %d visits %d, which is no stop", v, stop)
			return
		}
		for d, amount := range c.p.Stops[stop].Carried {
			load[d] += amount
		}
	}
	c.fits(v, load, "at the start")
	if route.Depart < vehicle.ShiftStart {
		c.fail("vehicle %d departs at %d, before its shift at %d", v, route.Depart, vehicle.ShiftStart)
	}
	clock, place, duration, distance := route.Depart, vehicle.Start, 0, 0
	for i := range route.Visits {
		visit := &route.Visits[i]
		stop := &c.p.Stops[visit.Stop]
		if c.at[visit.Stop] != nil {
			c.fail("stop %d is visited twice", visit.Stop)
		}
		c.at[visit.Stop], c.on[visit.Stop], c.rank[visit.Stop] = visit, v, i
		time, length, ok := leg(c.p, vehicle, place, stop.Location)
		if !ok {
			c.fail("vehicle %d cannot reach stop %d", v, visit.Stop)
		}
		clock, duration, distance = clock+time, duration+time, distance+length
		place = stop.Location
		switch {
		case visit.Arrival != clock:
			c.fail("vehicle %d arrives at stop %d at %d, not at %d", v, visit.Stop, clock, visit.Arrival)
		case visit.Start < visit.Arrival || visit.Start < stop.Earliest:
			c.fail("stop %d starts at %d, before the arrival at %d or the window at %d", visit.Stop, visit.Start, visit.Arrival, stop.Earliest)
		case visit.Start > stop.Latest+stop.MaxLateness:
			c.fail("stop %d starts at %d; the latest is %d + %d", visit.Stop, visit.Start, stop.Latest, stop.MaxLateness)
		case visit.Lateness != max(0, visit.Start-stop.Latest):
			c.fail("stop %d is not late by %d", visit.Stop, visit.Lateness)
		case visit.End != visit.Start+stop.Service:
			c.fail("stop %d does not end at %d", visit.Stop, visit.End)
		}
		clock = visit.End
		total.Lateness += visit.Lateness
		for d, amount := range stop.Change {
			load[d] += amount
		}
		if load != visit.Load {
			c.fail("the load after stop %d is %v, not %v", visit.Stop, load, visit.Load)
		}
		c.fits(v, load, fmt.Sprintf("after stop %d", visit.Stop))
		if stop.Vehicles != nil && !slices.Contains(stop.Vehicles, v) {
			c.fail("vehicle %d may not serve stop %d", v, visit.Stop)
		}
	}
	time, length, ok := leg(c.p, vehicle, place, vehicle.End)
	if !ok {
		c.fail("vehicle %d cannot reach its end", v)
	}
	clock, duration, distance = clock+time, duration+time, distance+length
	if clock != route.End || clock > vehicle.ShiftEnd {
		c.fail("vehicle %d ends at %d; stated is %d, the shift ends at %d", v, clock, route.End, vehicle.ShiftEnd)
	}
	if duration != route.Duration || distance != route.Distance {
		c.fail("vehicle %d travels %d and %d, not %d and %d", v, duration, distance, route.Duration, route.Distance)
	}
	total.Duration += duration
	total.Distance += distance
}

func (c *checker) fits(v int, load Load, when string) {
	for d, amount := range load {
		if amount > c.p.Vehicles[v].Capacity[d] {
			c.fail("vehicle %d carries %d of %d in dimension %d %s", v, amount, c.p.Vehicles[v].Capacity[d], d, when)
		}
	}
}

// leg returns the travel of a vehicle between two locations, either of which may
// be None.
func leg(p *Problem, v *Vehicle, from, to int) (duration, distance int, ok bool) {
	if from == None || to == None {
		return 0, 0, true
	}
	m := &p.Profiles[v.Profile]
	if m.Distance != nil {
		distance = int(m.Distance[from*m.Size+to])
	}
	duration = int(m.Duration[from*m.Size+to])
	return duration, distance, duration != Unreachable
}

// coverage verifies that each stop is either served or left out.
func (c *checker) coverage(total *Cost) {
	left := make([]bool, len(c.p.Stops))
	for _, s := range c.s.Unserved {
		if s < 0 || s >= len(left) || left[s] || c.at[s] != nil {
			c.fail("stop %d is no stop, listed twice or served", s)
			continue
		}
		left[s] = true
	}
	for s := range c.p.Stops {
		switch {
		case c.at[s] == nil && !left[s]:
			c.fail("stop %d is neither served nor left out", s)
		case c.at[s] == nil && c.p.Stops[s].Optional:
			total.Prizes += c.p.Stops[s].Prize
		case c.at[s] == nil:
			total.Unserved++
		}
	}
}

func (c *checker) precedences() {
	for _, o := range c.p.Precedences {
		a, b := c.at[o.Before], c.at[o.After]
		switch {
		case a == nil && b == nil:
		case a == nil:
			c.fail("stop %d is served, and stop %d, which must precede it, is not", o.After, o.Before)
		case b == nil:
			if o.SameVehicle {
				c.fail("stop %d is served without stop %d", o.Before, o.After)
			}
		case o.SameVehicle && c.on[o.Before] != c.on[o.After]:
			c.fail("stops %d and %d are on vehicles %d and %d", o.Before, o.After, c.on[o.Before], c.on[o.After])
		case b.Start < a.End || c.on[o.Before] == c.on[o.After] && c.rank[o.Before] > c.rank[o.After]:
			c.fail("stop %d starts at %d, before stop %d ends at %d", o.After, b.Start, o.Before, a.End)
		}
	}
	c.waits()
}

// waits verifies that each service starts as soon as the vehicle is there, the window is
// open and the stops that must precede it have ended.
func (c *checker) waits() {
	ready := make([]int, len(c.p.Stops))
	for s, visit := range c.at {
		if visit != nil {
			ready[s] = max(visit.Arrival, c.p.Stops[s].Earliest)
		}
	}
	for _, o := range c.p.Precedences {
		if before := c.at[o.Before]; before != nil {
			ready[o.After] = max(ready[o.After], before.End)
		}
	}
	for s, visit := range c.at {
		if visit != nil && visit.Start > ready[s] {
			c.fail("stop %d starts at %d and could start at %d", s, visit.Start, ready[s])
		}
	}
}

// locks verifies that stops of existing routes stay with their vehicle, and that pinned
// stops keep their positions.
func (c *checker) locks() {
	for v := range c.p.Vehicles {
		route := c.p.Vehicles[v].Route
		for k, s := range route {
			if c.at[s] == nil {
				continue
			}
			if c.on[s] != v {
				c.fail("stop %d is locked to vehicle %d and served by %d", s, v, c.on[s])
				continue
			}
			if !c.p.Stops[s].Pinned {
				continue
			}
			before := c.s.Routes[v].Visits[:c.rank[s]]
			for i := range before {
				if !slices.Contains(route[:k], before[i].Stop) {
					c.fail("stop %d is before stop %d, which is pinned", before[i].Stop, s)
				}
			}
			for _, other := range route[:k] {
				if c.at[other] != nil && c.on[other] == v && c.rank[other] > c.rank[s] {
					c.fail("stop %d is after stop %d, which is pinned", other, s)
				}
			}
		}
	}
}

// cost verifies the stated cost.
func (c *checker) cost(total *Cost) {
	w := c.p.Weights
	per := w.Duration
	if w.Duration == 0 && w.Distance == 0 {
		per = 1
	}
	total.Weighted = w.Lateness*total.Lateness + per*total.Duration + w.Distance*total.Distance + w.Vehicle*total.Vehicles + total.Prizes
	if *total != c.s.Cost {
		c.fail("the cost is %+v, not %+v", *total, c.s.Cost)
	}
}
