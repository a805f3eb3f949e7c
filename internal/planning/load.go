package planning

import (
	"math"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/optimize"
)

// addLoads adds the loads of tasks and the capacities of workers. Amounts are counted in
// thousandths, or more coarsely if capacities are very large. A task that is too much for
// every worker counts as at most twice the largest capacity, or else it would make the
// amounts of all others coarse.
func (m *Model) addLoads() {
	var most, total [optimize.Dimensions]float64
	for _, c := range m.crew {
		for d, limit := range amounts(c.Worker.Capacity, c.Worker.AdditionalCapacities) {
			most[d] = max(most[d], limit)
		}
	}
	cut := func(t lastmile.Task) [optimize.Dimensions]float64 {
		all := amounts(t.Quantity, t.AdditionalQuantities)
		for d := range all {
			all[d] = min(all[d], 2*most[d])
		}
		return all
	}
	for _, t := range m.tasks {
		for d, q := range cut(t) {
			total[d] += q
		}
	}
	for d := range m.scale {
		if most[d] > 0 { // not above half of what the optimizer accepts, because amounts are rounded up
			m.scale[d] = min(1000, math.Pow(10, math.Floor(math.Log10(optimize.MaxLoad/2/max(total[d], most[d])))))
		}
	}
	const tolerance = 0.0005 // half of a thousandth
	for i, t := range m.tasks {
		stop := &m.Problem.Stops[i]
		var amount optimize.Load
		for d, q := range cut(t) {
			amount[d] = int(max(math.Ceil((q-tolerance)*m.scale[d]), 0))
		}
		m.quantities = append(m.quantities, amount)
		if t.Pickup {
			stop.Change = amount
			continue
		}
		stop.Carried, stop.Change = amount, minus(optimize.Load{}, amount)
	}
	m.pairLoads()
	for i := range m.Problem.Vehicles {
		worker := m.crew[m.owner[i]].Worker
		limit := optimize.Load{optimize.MaxLoad, optimize.MaxLoad, optimize.MaxLoad, optimize.MaxLoad}
		for d, q := range amounts(worker.Capacity, worker.AdditionalCapacities) {
			if q > 0 {
				limit[d] = int((q + tolerance) * m.scale[d])
			}
		}
		m.Problem.Vehicles[i].Capacity = limit
	}
}

// pairLoads makes drop-offs whose pickups are on the same route unload what the pickups
// load. Pickups load at least what their drop-offs unload. What is picked up in an earlier shift
// is on board from the start of that of the drop-off.
func (m *Model) pairLoads() {
	m.pickups, m.extra = make([][]int, len(m.tasks)), make([]extraLoad, len(m.tasks))
	var dropOffs []int
	for _, p := range m.Problem.Precedences {
		if from, to := m.holder[p.Before], m.holder[p.After]; m.isPair(p.Before, p.After) && (p.SameVehicle || from >= 0 && (to < 0 || from == to)) {
			m.pickups[p.After] = append(m.pickups[p.After], p.Before)
			m.extra[p.After].earlier = m.extra[p.After].earlier || !p.SameVehicle && !mayServe(m, m.vehicle[p.Before], p.After)
		}
	}
	for i, pickups := range m.pickups {
		if len(pickups) > 0 {
			dropOffs = append(dropOffs, i)
		}
	}
	loadFor(m, dropOffs)
}

// loadFor makes pickups load what drop-offs unload. The quantities of the pickups are for the first
// ones; for the rest, they load more.
func loadFor(m *Model, dropOffs []int) {
	left := map[int]optimize.Load{} // by pickup: the load that no drop-off has unloaded yet
	for _, i := range dropOffs {
		for _, p := range m.pickups[i] {
			left[p] = m.quantities[p]
			m.Problem.Stops[p].Change = m.quantities[p]
		}
	}
	for _, i := range dropOffs {
		stop, extra := &m.Problem.Stops[i], &m.extra[i]
		*extra = extraLoad{pickup: m.pickups[i][0], earlier: extra.earlier}
		if stop.Carried = (optimize.Load{}); extra.earlier {
			stop.Carried = m.quantities[i]
		}
		for d, missing := range m.quantities[i] {
			for _, p := range m.pickups[i] {
				rest := left[p]
				part := min(rest[d], missing)
				rest[d] -= part
				missing -= part
				left[p] = rest
			}
			extra.load[d] = missing
		}
		pickup := &m.Problem.Stops[extra.pickup]
		pickup.Change = plus(pickup.Change, extra.load)
	}
}

// extraLoad is the part of what a drop-off unloads that is not in the quantities of its pickups.
type extraLoad struct {
	load    optimize.Load
	pickup  int  // loads it in addition
	earlier bool // the pickup is in an earlier shift
	atStart bool // the pickup does not load it; it is on board from the start of the route
}

// loadAtStart sets whether the extra load of a drop-off is on board from the start of the route, so
// that the pickup can be served without it if it does not fit.
func loadAtStart(m *Model, p *optimize.Problem, dropOff int, atStart bool) {
	extra := &m.extra[dropOff]
	if extra.atStart == atStart {
		return
	}
	extra.atStart = atStart
	pickup, stop := &p.Stops[extra.pickup], &p.Stops[dropOff]
	if atStart {
		pickup.Change = minus(pickup.Change, extra.load)
	} else {
		pickup.Change = plus(pickup.Change, extra.load)
	}
	switch {
	case extra.earlier:
	case atStart:
		stop.Carried = plus(stop.Carried, extra.load)
	default:
		stop.Carried = minus(stop.Carried, extra.load)
	}
}

// keepLoads raises the capacity of a vehicle to what the stops of its worker need in their current
// order. Pickups load what drop-offs of no worker unload only if there is room for it.
func keepLoads(m *Model, v int, dropOffs []int) {
	for _, i := range dropOffs {
		loadAtStart(m, &m.Problem, i, true)
	}
	limit := &m.Problem.Vehicles[v].Capacity
	*limit = atLeast(*limit, peak(m, v))
	for _, i := range dropOffs {
		loadAtStart(m, &m.Problem, i, false)
		if atLeast(*limit, peak(m, v)) != *limit {
			loadAtStart(m, &m.Problem, i, true)
		}
	}
}

// peak returns the largest loads of a vehicle with its stops in their current order.
func peak(m *Model, v int) (most optimize.Load) {
	var load optimize.Load
	for _, s := range m.now[v] {
		load = plus(load, m.Problem.Stops[s].Carried)
	}
	most = load
	for _, s := range m.now[v] {
		load = plus(load, m.Problem.Stops[s].Change)
		most = atLeast(most, load)
	}
	return most
}

// mayServe reports whether a vehicle may serve a stop.
func mayServe(m *Model, vehicle, stop int) bool {
	if m.vehicle[stop] >= 0 {
		return m.vehicle[stop] == vehicle
	}
	return slices.Contains(m.Problem.Stops[stop].Vehicles, vehicle)
}

func amounts(first float64, others lastmile.Capacities) [optimize.Dimensions]float64 {
	return [optimize.Dimensions]float64{first, others.A, others.B, others.C}
}

func minus(a, b optimize.Load) optimize.Load {
	for d := range a {
		a[d] -= b[d]
	}
	return a
}
