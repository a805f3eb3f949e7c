package planning

import (
	"slices"

	"dray/internal/lastmile"
	"dray/internal/optimize"
)

// addLoads adds the loads of tasks and the capacities of workers. Amounts are counted in
// thousandths, or more coarsely if they are very large.
func (m *Model) addLoads() {
	var total [optimize.Dimensions]float64
	for _, t := range m.tasks {
		for d, q := range amounts(t.Quantity, t.AdditionalQuantities) {
			total[d] += q
		}
	}
	for d := range m.scale {
		limited := slices.ContainsFunc(m.crew, func(c Candidate) bool { return amounts(c.Worker.Capacity, c.Worker.AdditionalCapacities)[d] > 0 })
		if limited {
			m.scale[d] = min(1000, optimize.MaxLoad/max(total[d], 1))
		}
	}
	load := func(of [optimize.Dimensions]float64) (l optimize.Load) {
		for d := range l {
			l[d] = int(min(of[d]*m.scale[d]+0.5, optimize.MaxLoad))
		}
		return l
	}
	for i, t := range m.tasks {
		stop, amount := &m.Problem.Stops[i], load(amounts(t.Quantity, t.AdditionalQuantities))
		if t.Pickup {
			stop.Change = amount
			continue
		}
		stop.Carried, stop.Change = amount, minus(optimize.Load{}, amount)
	}
	m.pairLoads()
	for i := range m.Problem.Vehicles {
		worker := m.crew[m.owner[i]].Worker
		most := amounts(worker.Capacity, worker.AdditionalCapacities)
		limit := load(most)
		for d := range limit {
			if most[d] <= 0 || m.scale[d] == 0 {
				limit[d] = optimize.MaxLoad
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
