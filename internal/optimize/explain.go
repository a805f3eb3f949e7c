package optimize

import (
	"cmp"
	"slices"
)

// Rule names a rule that keeps a stop out of a route.
type Rule string

// The rules of reasons.
const (
	RuleWindow   Rule = "window"      // a service would start too late
	RuleCapacity Rule = "capacity"    // a load would be too large
	RuleDistance Rule = "distance"    // a location cannot be reached
	RuleSchedule Rule = "schedule"    // the shift would end before the route
	RuleFilter   Rule = "filter"      // the vehicle may not serve the stop
	RuleLength   Rule = "routeLength" // the route would have too many stops
	RuleOrder    Rule = "order"       // a stop would come before one that must precede it, or that is pinned
	RulePrize    Rule = "prize"       // serving an optional stop would cost more than its prize
)

// Reason is a rule that the best position for a stop in a route would break, with
// its figures: how much there would be, and how much is allowed.
type Reason struct {
	Rule Rule
	// Stop is the stop at which the rule would be broken: the one that is left out,
	// or one that would be served later because of it. It is None for the end of
	// the route and for rules of the whole route.
	Stop int
	// Got and Limit are the earliest start and the latest allowed (window), the
	// load and the capacity, the end of the route and of the shift (schedule), the
	// number of stops and the largest (routeLength), or the additional cost and the
	// prize. They are 0 for other rules.
	Got, Limit int
	// Dimension is that of a capacity.
	Dimension int
}

// Explanation is why a vehicle does not serve a stop.
type Explanation struct {
	Vehicle int
	// Reasons are the rules that the best position would break: of the positions
	// that keep the order of stops, the one that breaks the fewest rules, by the
	// least. There are none if the vehicle could serve the stop.
	Reasons []Reason
}

// maxPlacements bounds the positions that Explain tries for stops that are served
// together. Pairs on routes of 200 stops need half of it.
const maxPlacements = 50_000

// Explain returns, for each vehicle, why it does not serve a stop that a plan
// leaves out, by trying every position for it and the stops that are served
// together with it. Everything else stays in its order, and visits that precede or
// follow one of another vehicle stay before or after the planned time of that.
func Explain(p *Problem, s *Solution, stop int) []Explanation {
	e := newExplainer(p, s)
	e.members = together(p, stop)
	out := make([]Explanation, len(p.Vehicles))
	for v := range p.Vehicles {
		out[v] = Explanation{Vehicle: v, Reasons: e.vehicle(v)}
	}
	return out
}

func newExplainer(p *Problem, s *Solution) *explainer {
	n := len(p.Stops)
	e := &explainer{
		p: p, s: s, start: make([]int, n), end: make([]int, n), on: make([]int, n), home: make([]int, n), zone: make([]int, n),
		before: make([][]int, n), after: make([][]int, n),
	}
	for i := range n {
		e.on[i], e.home[i], e.zone[i] = None, None, 2*n+2
	}
	for v := range s.Routes {
		for _, visit := range s.Routes[v].Visits {
			e.start[visit.Stop], e.end[visit.Stop], e.on[visit.Stop] = visit.Start, visit.End, v
		}
	}
	for v := range p.Vehicles {
		route := p.Vehicles[v].Route
		pins, zone := 0, 0
		for _, r := range route {
			e.home[r] = v
			if p.Stops[r].Pinned {
				pins++
			}
		}
		for _, r := range route {
			switch {
			case p.Stops[r].Pinned:
				e.zone[r] = zone + 1
				zone += 2
			case zone < 2*pins:
				e.zone[r] = zone
			}
		}
	}
	for _, o := range p.Precedences {
		e.before[o.After] = append(e.before[o.After], o.Before)
		e.after[o.Before] = append(e.after[o.Before], o.After)
	}
	return e
}

// together returns a stop and those that are served with it, in an order that
// their precedences allow.
func together(p *Problem, stop int) []int {
	members := []int{stop}
	for grown := true; grown; {
		grown = false
		for _, o := range p.Precedences {
			a, b := slices.Contains(members, o.Before), slices.Contains(members, o.After)
			switch {
			case o.SameVehicle && a && !b:
				members, grown = append(members, o.After), true
			case o.SameVehicle && b && !a:
				members, grown = append(members, o.Before), true
			}
		}
	}
	var sorted []int
	for len(sorted) < len(members) {
		for _, m := range members {
			blocked := slices.Contains(sorted, m)
			for _, o := range p.Precedences {
				blocked = blocked || o.After == m && slices.Contains(members, o.Before) && !slices.Contains(sorted, o.Before)
			}
			if !blocked {
				sorted = append(sorted, m)
				break
			}
		}
	}
	return sorted
}

// badness ranks the rules that a position breaks: whether the order is one of
// them, how many there are, and by how much they are broken in time or cost and in
// load. A position that breaks the order is the best only if all others do too:
// otherwise the positions before an active stop would hide the true reason.
type badness [4]int

type explainer struct {
	p             *Problem
	s             *Solution
	members       []int
	start, end    []int   // by stop, if it is planned
	on            []int   // by stop: its vehicle, or None
	home          []int   // by stop: the vehicle that it is locked to, or None
	zone          []int   // by stop: between which pinned stops of its route it is
	before, after [][]int // by stop: its precedences
	best          []Reason
	badness       badness // of best
	tried         int
}

// vehicle returns the reasons of one vehicle.
func (e *explainer) vehicle(v int) []Reason {
	vehicle := &e.p.Vehicles[v]
	var reasons []Reason
	for _, m := range e.members {
		home := e.home[m]
		if allowed := e.p.Stops[m].Vehicles; home != None && home != v || allowed != nil && !slices.Contains(allowed, v) {
			reasons = append(reasons, Reason{Rule: RuleFilter, Stop: m})
		}
		for _, before := range e.before[m] {
			if e.on[before] == None && !slices.Contains(e.members, before) {
				reasons = append(reasons, Reason{Rule: RuleOrder, Stop: before})
			}
		}
	}
	visits := e.s.Routes[v].Visits
	if n := len(visits) + len(e.members); vehicle.MaxStops > 0 && n > vehicle.MaxStops {
		reasons = append(reasons, Reason{Rule: RuleLength, Stop: None, Got: n, Limit: vehicle.MaxStops})
	}
	if len(reasons) > 0 {
		return reasons
	}
	route := make([]int, 0, len(visits)+len(e.members))
	for i := range visits {
		route = append(route, visits[i].Stop)
	}
	e.best, e.badness, e.tried = nil, badness{1 << 62}, 0
	e.place(v, route, 0, 0)
	return e.best
}

// place tries all positions of the members from k on, after a position.
func (e *explainer) place(v int, route []int, k, from int) {
	if e.tried > maxPlacements || e.badness == (badness{}) {
		return
	}
	if k == len(e.members) {
		e.tried++
		e.judge(v, route)
		return
	}
	// Members that need not follow each other may take any position.
	if !slices.ContainsFunc(e.before[e.members[k]], func(s int) bool { return slices.Contains(e.members[:k], s) }) {
		from = 0
	}
	for at := from; at <= len(route); at++ {
		e.place(v, slices.Insert(slices.Clone(route), at, e.members[k]), k+1, at+1)
	}
}

// judge keeps the reasons against a sequence if it is the best so far.
func (e *explainer) judge(v int, route []int) {
	reasons := e.walk(v, route)
	bad := badness{1: len(reasons)}
	for _, r := range reasons {
		switch r.Rule {
		case RuleOrder:
			bad[0] = 1
		case RuleDistance:
			bad[2] += MaxTime // no way is worse than any delay
		case RuleCapacity:
			bad[3] += r.Got - r.Limit
		default:
			bad[2] += r.Got - r.Limit
		}
	}
	if slices.Compare(bad[:], e.badness[:]) < 0 {
		e.best, e.badness = reasons, bad
	}
}

// walk returns the rules that a sequence of stops breaks, each where it is broken
// by most.
func (e *explainer) walk(v int, route []int) []Reason {
	p := e.p
	vehicle := &p.Vehicles[v]
	var reasons []Reason
	note := func(r Reason) {
		k := slices.IndexFunc(reasons, func(old Reason) bool { return old.Rule == r.Rule })
		if k < 0 {
			reasons = append(reasons, r)
		} else if r.Got-r.Limit > reasons[k].Got-reasons[k].Limit {
			reasons[k] = r
		}
	}
	var load Load
	for _, s := range route {
		for d, amount := range p.Stops[s].Carried {
			load[d] += amount
		}
	}
	check := func(s int) {
		for d, amount := range load {
			if amount > vehicle.Capacity[d] {
				note(Reason{RuleCapacity, s, amount, vehicle.Capacity[d], d})
			}
		}
	}
	check(route[0])
	clock, place, zone := vehicle.ShiftStart, vehicle.Start, 0
	cost, lateness := 0, 0
	for i, s := range route {
		stop := &p.Stops[s]
		time, length, ok := leg(p, vehicle, place, stop.Location)
		if !ok {
			note(Reason{Rule: RuleDistance, Stop: s})
			time = 0
		}
		cost += e.weigh(time, length)
		clock = max(clock+time, stop.Earliest)
		latest := stop.Latest + stop.MaxLateness
		for _, before := range e.before[s] {
			if at := slices.Index(route, before); at > i {
				note(Reason{Rule: RuleOrder, Stop: s})
			} else if other := e.on[before]; other != None && other != v {
				clock = max(clock, e.end[before], e.start[s])
			}
		}
		for _, after := range e.after[s] {
			if other := e.on[after]; other != None && other != v {
				latest = min(latest, e.start[after]-stop.Service)
			}
		}
		if clock > latest {
			note(Reason{Rule: RuleWindow, Stop: s, Got: clock, Limit: latest})
		}
		lateness += max(0, clock-stop.Latest)
		clock += stop.Service
		place = stop.Location
		for d, amount := range stop.Change {
			load[d] += amount
		}
		check(s)
		if e.zone[s] < zone {
			note(Reason{Rule: RuleOrder, Stop: s})
		}
		zone = max(zone, e.zone[s])
	}
	time, length, ok := leg(p, vehicle, place, vehicle.End)
	if !ok {
		note(Reason{Rule: RuleDistance, Stop: None})
		time = 0
	}
	if clock+time > vehicle.ShiftEnd {
		note(Reason{Rule: RuleSchedule, Stop: None, Got: clock + time, Limit: vehicle.ShiftEnd})
	}
	if len(reasons) == 0 {
		e.prize(v, cost+e.weigh(time, length), lateness, note)
	}
	slices.SortFunc(reasons, func(a, b Reason) int { return cmp.Compare(a.Rule, b.Rule) })
	return reasons
}

// weigh returns the cost of a leg.
func (e *explainer) weigh(time, length int) int {
	w := e.p.Weights
	if w.Duration == 0 && w.Distance == 0 {
		return time
	}
	return w.Duration*time + w.Distance*length
}

// prize notes if a feasible sequence costs more than optional members are worth.
func (e *explainer) prize(v, cost, lateness int, note func(Reason)) {
	prize := 0
	for _, m := range e.members {
		if !e.p.Stops[m].Optional {
			return
		}
		prize += e.p.Stops[m].Prize
	}
	now := &e.s.Routes[v]
	before := 0
	for i := range now.Visits {
		before += now.Visits[i].Lateness
	}
	if len(now.Visits) == 0 {
		cost += e.p.Weights.Vehicle
	}
	cost -= e.weigh(now.Duration, now.Distance)
	switch {
	case lateness > before && e.p.Weights.Lateness == 0:
		note(Reason{Rule: RulePrize, Stop: e.members[0], Got: max(cost, prize) + lateness - before, Limit: prize})
	case cost+e.p.Weights.Lateness*(lateness-before) >= prize:
		note(Reason{Rule: RulePrize, Stop: e.members[0], Got: cost + e.p.Weights.Lateness*(lateness-before), Limit: prize})
	}
}
