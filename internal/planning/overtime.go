package planning

import (
	"context"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/optimize"
)

// fitWork bounds the work of fitsShift, which is done before the search: the number of steps times
// that of the stops, by which a step takes longer.
const fitWork = 10_000

// fitsShift reports whether a shift is long enough for the tasks that its worker has, in an order in
// which nothing else becomes worse.
func fitsShift(ctx context.Context, m *Model, v int) bool {
	now := m.now[v]
	alone := optimize.Problem{Vehicles: m.Problem.Vehicles[v : v+1 : v+1], Profiles: m.Problem.Profiles, Weights: m.Problem.Weights}
	alone.Vehicles = slices.Clone(alone.Vehicles)
	alone.Vehicles[0].Route = nil
	for i, stop := range now {
		alone.Stops = append(alone.Stops, m.Problem.Stops[stop])
		alone.Stops[i].Vehicles = nil
		alone.Vehicles[0].Route = append(alone.Vehicles[0].Route, i)
	}
	for _, p := range m.Problem.Precedences {
		p.Before, p.After = slices.Index(now, p.Before), slices.Index(now, p.After)
		if p.Before >= 0 && p.After >= 0 {
			alone.Precedences = append(alone.Precedences, p)
		}
	}
	steps := min(50*len(now), fitWork/len(now))
	solution, err := optimize.Solve(ctx, &alone, optimize.Options{Seed: 1, Iterations: int64(steps)})
	return err == nil && len(solution.Unserved) == 0
}

// extendShift makes a shift as long as the stops of its worker take in their current order. Later
// shifts of the worker begin no earlier than that.
func extendShift(m *Model, v int) {
	m.Problem.Vehicles[v].ShiftEnd = max(m.Problem.Vehicles[v].ShiftEnd, m.ends[v])
	for j := v + 1; j < len(m.owner) && m.owner[j] == m.owner[v]; j++ {
		next := &m.Problem.Vehicles[j]
		next.ShiftStart = max(next.ShiftStart, m.Problem.Vehicles[j-1].ShiftEnd)
		next.ShiftEnd = max(next.ShiftEnd, next.ShiftStart)
	}
}

// extendShifts extends the shifts to which stops that are left out belong, and reports whether it
// has extended any.
func extendShifts(m *Model, left []int) bool {
	var full []int
	for _, stop := range left {
		if v := m.vehicle[stop]; v >= 0 && m.ends[v] > m.Problem.Vehicles[v].ShiftEnd {
			extendShift(m, v)
			full = append(full, v)
		}
	}
	closeShifts(m, full)
	return len(full) > 0
}

// keepOrder relaxes the rules for the stops of workers if some of them are left out: in which order
// they may be must not depend on dependencies that their current order contradicts. If that is not
// the reason, they keep their current order, in which nothing becomes worse. It reports whether that
// has changed the problem.
func keepOrder(m *Model, left []int) (changed bool) {
	contradicts := map[int]bool{} // by vehicle
	at := make([]int, len(m.tasks))
	for v := range m.now {
		for i, stop := range m.now[v] {
			at[stop] = i
		}
	}
	isWrong := func(p optimize.Precedence) bool {
		v := m.vehicle[p.After]
		return v >= 0 && v == m.vehicle[p.Before] && at[p.Before] > at[p.After]
	}
	for _, p := range m.Problem.Precedences {
		contradicts[m.vehicle[p.After]] = contradicts[m.vehicle[p.After]] || isWrong(p)
	}
	full := map[int]bool{}
	for _, stop := range left {
		v := m.vehicle[stop]
		if v < 0 || full[v] {
			continue
		}
		full[v] = true
		pin := !contradicts[v] && !m.pinned[v]
		changed = changed || pin || contradicts[v]
		m.pinned[v] = m.pinned[v] || pin
		for _, s := range m.now[v] { // ends again if it does not help
			m.Problem.Stops[s].Pinned = pin || m.pins[s] == lastmile.PinPosition || m.tasks[s].State == lastmile.TaskActive
		}
	}
	m.Problem.Precedences = slices.DeleteFunc(m.Problem.Precedences, func(p optimize.Precedence) bool { return full[m.vehicle[p.After]] && isWrong(p) })
	return changed
}

// closeShifts lets vehicles serve only the stops of their workers.
func closeShifts(m *Model, vehicles []int) {
	if len(vehicles) == 0 {
		return
	}
	rest := []int{} // the vehicles that are not closed
	for v := range m.owner {
		if m.closed[v] = m.closed[v] || slices.Contains(vehicles, v); !m.closed[v] {
			rest = append(rest, v)
		}
	}
	for i := range m.Problem.Stops {
		stop := &m.Problem.Stops[i]
		home := m.vehicle[i]
		switch {
		case m.holder[i] >= 0 && !m.free[i]: // no other vehicle serves it
		case stop.Vehicles != nil:
			stop.Vehicles = slices.DeleteFunc(slices.Clone(stop.Vehicles), func(v int) bool { return m.closed[v] && v != home })
		case home >= 0 && m.closed[home]:
			stop.Vehicles = append(slices.Clone(rest), home)
		default:
			stop.Vehicles = rest
		}
	}
}

// asScheduled returns the problem without the extended shifts, as it is for tasks that no worker
// has.
func asScheduled(m *Model) *optimize.Problem {
	p := m.Problem
	p.Stops, p.Vehicles = slices.Clone(p.Stops), slices.Clone(p.Vehicles)
	for i := range p.Stops {
		p.Stops[i].Vehicles = m.open[i]
	}
	for v := range p.Vehicles {
		p.Vehicles[v].ShiftEnd = max(min(p.Vehicles[v].ShiftEnd, m.strict[v].ShiftEnd), p.Vehicles[v].ShiftStart)
	}
	return &p
}
