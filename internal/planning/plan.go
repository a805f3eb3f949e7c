package planning

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/optimize"
)

// Fill adds the travel times between the Places for one of the Types. byFormula reports
// which of them are estimated by formula. A negative duration means that there is no way.
func (m *Model) Fill(by lastmile.VehicleType, durations [][]time.Duration, distances [][]lastmile.Meters, byFormula func(from, to int) bool) {
	n := len(m.Places)
	p := optimize.Profile{Size: n, Duration: make([]int32, n*n), Distance: make([]int32, n*n)}
	for i := range n {
		for j := range n {
			p.Duration[i*n+j] = optimize.Unreachable
			if d := durations[i][j]; d >= 0 {
				p.Duration[i*n+j] = int32(min((d+time.Second-1)/time.Second, optimize.MaxTime))
				p.Distance[i*n+j] = int32(min(distances[i][j], optimize.MaxTime))
			}
		}
	}
	if m.Problem.Profiles == nil {
		m.Problem.Profiles = make([]optimize.Profile, len(m.Types))
		m.byFormula = make([]func(from, to int) bool, len(m.Types))
	}
	at := slices.Index(m.Types, by)
	m.Problem.Profiles[at], m.byFormula[at] = p, byFormula
}

// hasFormula reports whether the travel time of any leg of a route is by formula.
func (m *Model) hasFormula(v int, route optimize.Route) bool {
	vehicle := m.Problem.Vehicles[v]
	at := []int{vehicle.Start}
	for _, visit := range route.Visits {
		at = append(at, m.Problem.Stops[visit.Stop].Location)
	}
	at = append(at, vehicle.End)
	for i, to := range at[1:] {
		if from := at[i]; len(route.Visits) > 0 && from != optimize.None && to != optimize.None && m.byFormula[vehicle.Profile](from, to) {
			return true
		}
	}
	return false
}

// KeepExisting relaxes the rules for the tasks that workers already have: they may stay with
// the worker even if they are late, exceed the capacity or take too long, but nothing may
// become worse than in the current order. A worker whose tasks take too long in any order gets
// no others. It must be called after all calls of Fill.
func (m *Model) KeepExisting(ctx context.Context) {
	m.strict, m.ends, m.closed = slices.Clone(m.Problem.Vehicles), make([]int, len(m.owner)), make([]bool, len(m.owner))
	m.pinned = make([]bool, len(m.owner))
	for _, stop := range m.Problem.Stops {
		m.open = append(m.open, stop.Vehicles)
	}
	dropOffs := map[int][]int{} // of no worker, by the vehicle that serves their pickup
	for i, extra := range m.extra {
		if m.holder[i] < 0 && extra.load != (optimize.Load{}) && m.vehicle[extra.pickup] >= 0 {
			dropOffs[m.vehicle[extra.pickup]] = append(dropOffs[m.vehicle[extra.pickup]], i)
		}
	}
	var full []int
	for i := range m.Problem.Vehicles {
		v := &m.Problem.Vehicles[i]
		if len(m.now[i]) == 0 {
			continue
		}
		keepLoads(m, i, dropOffs[i])
		route := m.currentRoute(i)
		for _, visit := range route.Visits {
			stop := &m.Problem.Stops[visit.Stop]
			stop.MaxLateness = min(max(stop.MaxLateness, visit.Lateness), optimize.MaxTime)
		}
		if m.ends[i] = route.End; route.End > v.ShiftEnd && !fitsShift(ctx, m, i) {
			full = append(full, i)
			extendShift(m, i)
		}
	}
	closeShifts(m, full)
}

// currentRoute returns the route of a vehicle with its stops in their current order.
func (m *Model) currentRoute(v int) optimize.Route {
	vehicle := &m.Problem.Vehicles[v]
	profile := m.Problem.Profiles[vehicle.Profile]
	route := optimize.Route{Depart: vehicle.ShiftStart}
	at, now := vehicle.Start, vehicle.ShiftStart
	move := func(to int) {
		route.Distance += int(profile.Distance[at*profile.Size+to])
		leg := int(max(profile.Duration[at*profile.Size+to], 0))
		route.Duration, now, at = route.Duration+leg, now+leg, to
	}
	for _, s := range m.now[v] {
		stop := &m.Problem.Stops[s]
		move(stop.Location)
		arrival := now
		start := max(arrival, stop.Earliest)
		now = start + stop.Service
		route.Visits = append(route.Visits, optimize.Visit{Stop: s, Arrival: arrival, Start: start, End: now, Lateness: max(start-stop.Latest, 0)})
	}
	if vehicle.End != optimize.None && len(route.Visits) > 0 {
		move(vehicle.End)
	}
	route.End = now
	return route
}

// Current returns the solution that changes nothing.
func (m *Model) Current() *optimize.Solution {
	s := &optimize.Solution{Routes: make([]optimize.Route, len(m.now))}
	for v := range m.now {
		s.Routes[v] = m.currentRoute(v)
	}
	for i, holder := range m.holder {
		if holder < 0 {
			s.Unserved = append(s.Unserved, i)
		}
	}
	return s
}

// Initial returns the current routes, for the search to start with.
func (m *Model) Initial() [][]int { return m.now }

// relax relaxes the rules further for tasks that workers have and a solution leaves out: because
// of the tasks that they depend on, which may be left out or late on another route, or because no
// order was found that keeps the rules. It reports whether the problem has changed. The next
// solution then keeps more of these tasks, and the one after the last call that changes
// something keeps all. If tasks may move between workers, an early call makes them stay instead.
func (m *Model) relax(s *optimize.Solution) bool {
	if extendShifts(m, s.Unserved) {
		return true
	}
	if !slices.Contains(m.free, true) && keepOrder(m, s.Unserved) {
		return true
	}
	relaxed := map[int]bool{}
	left := func(i int) bool { return m.holder[i] >= 0 }
	if slices.Contains(m.free, true) && slices.ContainsFunc(s.Unserved, left) {
		clear(m.free)
		for v := range m.now {
			m.Problem.Vehicles[v].Route = m.now[v]
		}
		return true
	}
	for _, i := range s.Unserved {
		if m.holder[i] >= 0 {
			relaxed[i] = true
			m.Problem.Stops[i].MaxLateness = optimize.MaxTime
		}
	}
	if len(relaxed) > 0 && m.relaxed {
		for i, holder := range m.holder {
			relaxed[i] = holder >= 0
		}
	}
	m.relaxed = true
	n := len(m.Problem.Precedences)
	m.Problem.Precedences = slices.DeleteFunc(m.Problem.Precedences, func(p optimize.Precedence) bool {
		if relaxed[p.After] && p.SameVehicle && m.holder[p.Before] < 0 {
			m.Problem.Stops[p.Before].Vehicles, m.open[p.Before] = []int{}, []int{} // or else it would be planned without its drop-off
		}
		return relaxed[p.After]
	})
	return len(m.Problem.Precedences) < n
}

func plus(a, b optimize.Load) optimize.Load {
	for d := range a {
		a[d] += b[d]
	}
	return a
}

func atLeast(limit, load optimize.Load) optimize.Load {
	for d := range limit {
		limit[d] = max(limit[d], load[d])
	}
	return limit
}

// Nothing returns the solution that serves no stop, for a crew of no workers.
func (m *Model) Nothing() *optimize.Solution {
	s := &optimize.Solution{Unserved: make([]int, len(m.tasks))}
	for i := range m.tasks {
		s.Unserved[i] = i
	}
	return s
}

// Before returns the current routes, with the same travel times as the routes of a plan.
func (m *Model) Before() []lastmile.DispatchRoute { return m.routes(m.Current()) }

// Plan returns the routes of a solution, and the reasons why tasks are left out.
func (m *Model) Plan(s *optimize.Solution) lastmile.DispatchPlan {
	m = restored(m, s)
	plan := lastmile.DispatchPlan{Unplanned: slices.Clone(m.left), Routes: m.routes(s)}
	for _, r := range plan.Routes {
		plan.Cost = addCost(plan.Cost, r.Cost)
	}
	for _, stop := range s.Unserved {
		plan.Unplanned = append(plan.Unplanned, lastmile.UnplannedTask{Task: m.tasks[stop].ID})
	}
	m.explain(&plan, s)
	return plan
}

// routes returns the routes of a solution, one for each member of the crew.
func (m *Model) routes(s *optimize.Solution) []lastmile.DispatchRoute {
	routes := make([]lastmile.DispatchRoute, len(m.crew))
	for i, c := range m.crew {
		routes[i].Worker, routes[i].Vehicle, routes[i].Capacity = c.Worker.ID, c.Worker.TravelsBy(), Capacity(c.Worker)
		routes[i].Shifts = Shifts(c.Schedule, m.options)
		for _, t := range c.Tasks {
			if t.State != lastmile.TaskActive {
				routes[i].Before = append(routes[i].Before, t.ID)
			}
		}
	}
	for v, route := range s.Routes {
		into := &routes[m.owner[v]]
		for _, visit := range route.Visits {
			late := time.Duration(visit.Lateness) * time.Second
			into.Stops = append(into.Stops, lastmile.DispatchStop{
				Task: m.tasks[visit.Stop].ID, Arrival: m.at(visit.Arrival), Depart: m.at(visit.End), Late: late,
				Active: m.tasks[visit.Stop].State == lastmile.TaskActive, Pin: m.pins[visit.Stop],
			})
			into.Cost.Service += time.Duration(visit.End-visit.Start) * time.Second
			into.Cost.Waiting += time.Duration(visit.Start-visit.Arrival) * time.Second
			into.Cost.Lateness += late
		}
		into.Cost.Travel += time.Duration(route.Duration) * time.Second
		into.Cost.Distance += lastmile.Meters(route.Distance)
		into.ByFormula = into.ByFormula || m.hasFormula(v, route)
	}
	for i, r := range routes {
		if len(r.Stops) > 0 {
			routes[i].Cost.Workers = 1
		}
	}
	return routes
}

// Capacity returns the four capacities of a worker.
func Capacity(w lastmile.Worker) [4]float64 {
	return [4]float64{w.Capacity, w.AdditionalCapacities.A, w.AdditionalCapacities.B, w.AdditionalCapacities.C}
}

func addCost(a, b lastmile.DispatchCost) lastmile.DispatchCost {
	return lastmile.DispatchCost{
		Travel: a.Travel + b.Travel, Service: a.Service + b.Service, Waiting: a.Waiting + b.Waiting, Lateness: a.Lateness + b.Lateness,
		Distance: a.Distance + b.Distance, Workers: a.Workers + b.Workers,
	}
}

// Cost returns the number of planned tasks and the known part of the cost of an interim plan.
func (m *Model) Cost(c optimize.Cost) (planned int, cost lastmile.DispatchCost) {
	return len(m.tasks) - c.Unserved, lastmile.DispatchCost{
		Travel: time.Duration(c.Duration) * time.Second, Lateness: time.Duration(c.Lateness) * time.Second,
		Distance: lastmile.Meters(c.Distance), Workers: c.Vehicles,
	}
}

// Tasks returns the tasks that the dispatch considers.
func (m *Model) Tasks() []lastmile.DispatchTask {
	all := make([]lastmile.DispatchTask, len(m.tasks))
	for i, t := range m.tasks {
		all[i] = lastmile.DispatchTask{
			ID: t.ID, ShortID: t.ShortID, Address: t.Destination.Address.Line(), Pickup: t.Pickup, Quantity: t.Quantity, AdditionalQuantities: t.AdditionalQuantities,
			CompleteAfter: t.CompleteAfter, CompleteBefore: t.CompleteBefore, Destination: t.Destination.ID, ServiceTime: t.ServiceTime, Dependencies: t.Dependencies,
		}
		if t.Recipient != nil {
			all[i].Recipient = t.Recipient.ID
		}
	}
	return all
}

// The minimum improvement for which routes are changed, because changes confuse workers and
// recipients.
const (
	minLateness   = time.Minute
	minTravel     = 2 * time.Minute
	minTravelPart = 20 // a twentieth of the travel time
)

// Better reports whether a plan is worth replacing the current one: it gives a worker to more
// tasks, or to as many with clearly less lateness, or with no more lateness and clearly less
// travel time. Tasks that a worker has already do not count: one that no road leads to is in
// no plan, and stays with its worker.
func (m *Model) Better(plan, current lastmile.DispatchPlan) bool {
	if a, b := m.waiting(plan), m.waiting(current); a != b {
		return a < b
	}
	less := current.Cost.Lateness - plan.Cost.Lateness
	if less >= minLateness || less < 0 {
		return less > 0
	}
	return current.Cost.Travel-plan.Cost.Travel >= max(minTravel, current.Cost.Travel/minTravelPart)
}

// waiting returns how many tasks have no worker after a plan.
func (m *Model) waiting(plan lastmile.DispatchPlan) (n int) {
	for _, u := range plan.Unplanned {
		if at, known := m.index[u.Task]; !known || m.holder[at] < 0 {
			n++
		}
	}
	return n
}
