package optimize

import (
	"cmp"
	"slices"
)

// Rule names a rule that keeps a stop out of a route.
type Rule string

// The rules.
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

// Reason is a rule that the best position for a stop in a route would break, with the
// value there would be and the limit.
type Reason struct {
	Rule Rule
	// Stop is the stop at which the rule would be broken: the one that is left out,
	// or one that would be served later because of it. It is None for the end of
	// the route and for rules of the whole route.
	Stop int
	// Got and Limit are the earliest start and the latest allowed one (window), the
	// load and the capacity (capacity), the ends of the route and of the shift
	// (schedule), the number of stops and the maximum (routeLength), or the
	// additional cost and the prize (prize). They are 0 for other rules.
	Got, Limit int
	// Dimension is the dimension of the load, for a capacity.
	Dimension int
}

// Explanation explains why a vehicle does not serve a stop.
type Explanation struct {
	Vehicle int
	// Reasons are the rules that the best position would break. Of the positions
	// that keep the order of the other stops, the best one breaks the fewest rules,
	// and by the least. There are none if the vehicle could serve the stop.
	Reasons []Reason
}

// maxExplained bounds the work of explaining a whole plan: the total number of stops in the
// routes that are tried. It is divided equally among all pairs of a vehicle and a group of
// stops that are served together. With few groups, every position of a pair on routes of
// 200 stops is tried; with many large groups, only the first positions are.
const maxExplained = 200_000_000

// Explain returns, for each vehicle, why it does not serve a stop that the plan leaves out.
// It tries every position for the stop and the stops that are served together with it. All
// others stay in their order, and a visit with a precedence to one of another vehicle stays
// before or after the planned time of that visit.
func (e *Explainer) Explain(stop int) []Explanation {
	group := e.group[stop]
	if e.known[group] == nil {
		e.members = e.groups[group]
		e.known[group] = make([]Explanation, len(e.p.Vehicles))
		for v := range e.known[group] {
			e.known[group][v] = Explanation{Vehicle: v, Reasons: e.vehicle(v)}
		}
	}
	out := slices.Clone(e.known[group])
	for v := range out {
		out[v].Reasons = e.personal(stop, v, out[v].Reasons)
	}
	return out
}

// Groups returns the stops that the plan leaves out, grouped by those that one vehicle must serve.
// In a group, each stop comes after those that must precede it.
func (e *Explainer) Groups() [][]int { return e.groups }

// Fits reports whether a vehicle could serve some stops of a group, which are in its order, without
// the others, or none at all, if the problem has changed. All calls together try a limited number of positions.
func (e *Explainer) Fits(v int, stops []int) bool {
	e.members = stops
	return e.work < maxExplained && len(e.vehicle(v)) == 0
}

// personal returns the reasons against a group for one of its stops. Where a rule forbids
// the stop itself, that reason replaces the one of another stop of the group.
func (e *Explainer) personal(stop, v int, reasons []Reason) []Reason {
	if len(e.groups[e.group[stop]]) == 1 {
		return reasons
	}
	reasons = slices.Clone(reasons)
	own := e.forbidden(stop, v)
	for i := range reasons {
		if k := slices.IndexFunc(own, func(r Reason) bool { return r.Rule == reasons[i].Rule }); k >= 0 {
			reasons[i] = own[k]
		}
	}
	return reasons
}

// NewExplainer returns an explainer of a plan.
func NewExplainer(p *Problem, s *Solution) *Explainer {
	n := len(p.Stops)
	e := &Explainer{
		p: p, s: s, start: make([]int, n), end: make([]int, n), on: make([]int, n), home: make([]int, n), zone: make([]int, n),
		before: make([][]int, n), after: make([][]int, n), group: make([]int, n), at: make([]int, n),
	}
	for i := range n {
		e.on[i], e.home[i], e.zone[i], e.group[i], e.at[i] = None, None, 2*n+2, None, None
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
	tied := make([][]int, n)
	for _, o := range p.Precedences {
		e.before[o.After] = append(e.before[o.After], o.Before)
		e.after[o.Before] = append(e.after[o.Before], o.After)
		if o.SameVehicle {
			tied[o.Before], tied[o.After] = append(tied[o.Before], o.After), append(tied[o.After], o.Before)
		}
	}
	for _, stop := range s.Unserved {
		if e.group[stop] == None {
			e.groups = append(e.groups, e.together(stop, tied))
		}
	}
	e.known = make([][]Explanation, len(e.groups))
	e.share = maxExplained / max(len(e.groups)*len(p.Vehicles), 1)
	return e
}

// together makes a stop and the stops that are served with it the next group and returns
// them, in an order that their precedences allow. tied lists, for each stop, the stops that
// the same vehicle must serve.
func (e *Explainer) together(stop int, tied [][]int) []int {
	group, members := len(e.groups), []int{stop}
	e.group[stop] = group
	for k := 0; k < len(members); k++ {
		for _, other := range tied[members[k]] {
			if e.group[other] == None {
				e.group[other] = group
				members = append(members, other)
			}
		}
	}
	open := make(map[int]int, len(members)) // number of predecessors of a member that are not sorted yet
	var sorted []int
	for _, m := range members {
		for _, before := range e.before[m] {
			if e.group[before] == group {
				open[m]++
			}
		}
		if open[m] == 0 {
			sorted = append(sorted, m)
		}
	}
	for k := 0; k < len(sorted); k++ {
		for _, after := range e.after[sorted[k]] {
			if e.group[after] != group {
				continue
			}
			if open[after]--; open[after] == 0 {
				sorted = append(sorted, after)
			}
		}
	}
	return sorted
}

// badness ranks the rules that a position breaks: whether the order is one of them, how
// many there are, by how much they are broken in time or cost, and by how much in load. A
// position that breaks the order is the best only if all others do too; otherwise the
// positions before an active stop would hide the true reason.
type badness [4]int

// Explainer finds out why stops are left out of a plan.
type Explainer struct {
	p             *Problem
	s             *Solution
	members       []int
	start, end    []int           // by stop: times of its service, if it is planned
	on            []int           // by stop: its vehicle, or None
	home          []int           // by stop: the vehicle that it is locked to, or None
	zone          []int           // by stop: its position among the pinned stops of its route; see model.compileZones
	before, after [][]int         // by stop: its precedences
	groups        [][]int         // the stops that are left out, grouped by those that are served together
	group         []int           // by stop: its group if it is left out, or None
	known         [][]Explanation // by group; nil until one of its stops was explained
	at            []int           // by stop: its position in the route that is tried; None outside of place and walk
	best          []Reason
	badness       badness // of best
	share         int     // allowed work for each group and vehicle
	left          int     // left of the share
	work          int     // total work so far
}

// spend counts work.
func (e *Explainer) spend(n int) {
	e.left -= n
	e.work += n
}

// forbidden returns the rules that keep a stop off a vehicle whatever its route is, each
// rule once.
func (e *Explainer) forbidden(stop, v int) []Reason {
	var reasons []Reason
	home := e.home[stop]
	if allowed := e.p.Stops[stop].Vehicles; home != None && home != v || allowed != nil && !slices.Contains(allowed, v) {
		reasons = append(reasons, Reason{Rule: RuleFilter, Stop: stop})
	}
	for _, before := range e.before[stop] {
		if e.on[before] == None && e.group[before] != e.group[stop] {
			return append(reasons, Reason{Rule: RuleOrder, Stop: before})
		}
	}
	return reasons
}

// vehicle returns the reasons against the members for one vehicle, each rule once.
func (e *Explainer) vehicle(v int) []Reason {
	vehicle := &e.p.Vehicles[v]
	var reasons []Reason
	for _, m := range e.members {
		for _, r := range e.forbidden(m, v) {
			if !slices.ContainsFunc(reasons, func(old Reason) bool { return old.Rule == r.Rule }) {
				reasons = append(reasons, r)
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
	e.best, e.badness, e.left = nil, badness{1 << 62}, e.share
	e.place(v, route, 0)
	return e.best
}

// place tries all positions of the members from number k on. For a member that must follow
// others, it tries only the positions after those.
func (e *Explainer) place(v int, route []int, k int) {
	if e.left <= 0 && e.best != nil || e.badness == (badness{}) {
		return
	}
	e.spend(len(route))
	if k == len(e.members) {
		e.keepBest(v, route)
		return
	}
	m, from := e.members[k], 0
	for _, before := range e.before[m] {
		e.at[before] = k
	}
	for i, s := range route {
		if e.at[s] != None && e.group[s] == e.group[m] {
			from = i + 1
		}
	}
	for _, before := range e.before[m] {
		e.at[before] = None
	}
	e.spend(len(e.before[m]))
	for at := from; at <= len(route); at++ {
		longer := slices.Insert(route, at, m) // in the same array
		e.place(v, longer, k+1)
		copy(longer[at:], longer[at+1:])
	}
}

// keepBest keeps the reasons against a sequence if it is the best so far.
func (e *Explainer) keepBest(v int, route []int) {
	reasons := e.walk(v, route)
	bad := badness{1: len(reasons)}
	for _, r := range reasons {
		switch r.Rule {
		case RuleOrder:
			bad[0] = 1
		case RuleDistance:
			bad[2] += MaxTime // a missing way is worse than any delay
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

// walk returns the rules that a sequence of stops breaks, each at the stop where it is
// broken by the most.
func (e *Explainer) walk(v int, route []int) []Reason {
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
	for i, s := range route {
		e.at[s] = i
	}
	defer func() {
		for _, s := range route {
			e.at[s] = None
		}
	}()
	clock, place, zone := vehicle.ShiftStart, vehicle.Start, 0
	cost, lateness := 0, 0
	for i, s := range route {
		stop := &p.Stops[s]
		e.spend(1 + len(e.before[s]) + len(e.after[s]))
		time, length, ok := leg(p, vehicle, place, stop.Location)
		if !ok {
			note(Reason{Rule: RuleDistance, Stop: s})
			time = 0
		}
		cost += e.weigh(time, length)
		clock = max(clock+time, stop.Earliest)
		latest := stop.Latest + stop.MaxLateness
		for _, before := range e.before[s] {
			if e.at[before] > i {
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
func (e *Explainer) weigh(time, length int) int {
	w := e.p.Weights
	if w.Duration == 0 && w.Distance == 0 {
		return time
	}
	return w.Duration*time + w.Distance*length
}

// prize notes a reason if a feasible sequence costs more than the prizes of its optional
// members.
func (e *Explainer) prize(v, cost, lateness int, note func(Reason)) {
	if len(e.members) == 0 {
		return
	}
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
