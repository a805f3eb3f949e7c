package planning

import (
	"math"

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
// load. Pickups load at least what their drop-offs unload.
func (m *Model) pairLoads() {
	pickups := map[int][]int{}
	for _, p := range m.Problem.Precedences {
		if from, to := m.holder[p.Before], m.holder[p.After]; m.isPair(p.Before, p.After) && (p.SameVehicle || from >= 0 && to < 0) {
			pickups[p.After] = append(pickups[p.After], p.Before)
		}
	}
	rest := map[int]optimize.Load{} // by pickup: the load that no drop-off has unloaded yet
	for i := range m.Problem.Stops {
		if m.tasks[i].Pickup {
			rest[i] = m.Problem.Stops[i].Change
		}
	}
	for i := range m.Problem.Stops {
		if len(pickups[i]) == 0 {
			continue
		}
		stop := &m.Problem.Stops[i]
		stop.Carried = optimize.Load{}
		for d, change := range stop.Change {
			missing := -change
			for _, p := range pickups[i] {
				left := rest[p]
				part := min(left[d], missing)
				left[d] -= part
				missing -= part
				rest[p] = left
			}
			m.Problem.Stops[pickups[i][0]].Change[d] += missing
		}
	}
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
