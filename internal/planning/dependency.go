package planning

import (
	"fmt"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/optimize"
)

// participants returns the unassigned tasks that take part: those that Considers accepts and
// that depend only on completed tasks and tasks that take part. What was picked up is with the
// worker who did that, so that a drop-off takes part only if that worker does, and if no other
// worker has another pickup that it depends on.
func (m *Model) participants(s Situation) []lastmile.Task {
	chosen := slices.DeleteFunc(slices.Clone(s.Tasks), func(t lastmile.Task) bool { return !Considers(m.options, t) })
	known, crew := map[lastmile.TaskID]bool{}, map[lastmile.WorkerID]bool{}
	for _, t := range chosen {
		known[t.ID] = true
	}
	for _, c := range m.crew {
		crew[c.Worker.ID] = true
	}
	gone := make([]bool, len(chosen))
	var queue []int // tasks that do not take part
	leave := func(i int, format string, args ...any) {
		if gone[i] {
			return
		}
		gone[i], queue = true, append(queue, i)
		m.left = append(m.left, lastmile.UnplannedTask{Task: chosen[i].ID, Reasons: []lastmile.DispatchReason{{
			Rule: lastmile.RuleDependency, Detail: fmt.Sprintf(format, args...),
		}}})
	}
	const outside = "depends on task %s, which is not part of the dispatch"
	dependents := map[lastmile.TaskID][]int{}
	for i, t := range chosen {
		var last lastmile.TaskID // the last pickup that a worker has
		for _, id := range t.Dependencies {
			_, held := m.index[id]
			switch worker := m.pickupWorker(s, t, id); {
			case worker != "" && !crew[worker]:
				leave(i, "depends on pickup %s by worker %s, who does not take part", id, worker)
			case worker != "" && last != "" && worker != m.pickupWorker(s, t, last):
				leave(i, "depends on pickups of different workers: %s of worker %s and %s of worker %s", last, m.pickupWorker(s, t, last), id, worker)
			case worker != "":
				last = id
			case known[id]:
				dependents[id] = append(dependents[id], i)
			case !held && !s.Completed[id]:
				leave(i, outside, id)
			}
		}
	}
	for k := 0; k < len(queue); k++ {
		id := chosen[queue[k]].ID
		for _, i := range dependents[id] {
			leave(i, outside, id)
		}
	}
	var rest []lastmile.Task
	for i, t := range chosen {
		if !gone[i] {
			rest = append(rest, t)
		}
	}
	return rest
}

// addPrecedences adds the order of tasks that depend on others. A drop-off stays together
// with the pickup that it depends on, unless they are on different routes or in different shifts
// already. A pickup that a worker has stays on the route even if its drop-off cannot. If the
// drop-off must not begin before the shift of the pickup ends, it is in a later one.
func (m *Model) addPrecedences() {
	for after, t := range m.tasks {
		last := -1 // the vehicle that serves the last of the pickups that the worker has
		for _, id := range t.Dependencies {
			before, known := m.index[id]
			if !known {
				continue
			}
			order := optimize.Precedence{Before: before, After: after}
			pair, from, to := m.isPair(before, after), m.holder[before], m.holder[after]
			switch {
			case pair && from >= 0 && to < 0:
				last = max(last, m.vehicle[before])
			case pair && (from < 0 || m.vehicle[before] == m.vehicle[after]):
				order.SameVehicle = true
			}
			m.Problem.Precedences = append(m.Problem.Precedences, order)
		}
		if last >= 0 {
			m.tie(after, shiftsFor(m, after, last))
		}
	}
}

// shiftsFor returns the vehicles that may serve a drop-off if one of them serves its pickup.
func shiftsFor(m *Model, dropOff, pickup int) []int {
	stop, v, vehicles := &m.Problem.Stops[dropOff], pickup, m.Problem.Vehicles
	follows := func(v int) bool { return v+1 < len(m.owner) && m.owner[v+1] == m.owner[pickup] }
	for follows(v) && stop.Earliest >= vehicles[v].ShiftEnd && stop.Latest >= vehicles[v+1].ShiftStart {
		v++
	}
	all := []int{v}
	for v > pickup && follows(v) {
		v++
		all = append(all, v)
	}
	return all
}

// tieToCarriers lets only the workers who have picked up what unassigned drop-offs deliver
// serve them, in any of their shifts.
func (m *Model) tieToCarriers(s Situation) {
	vehicles := map[lastmile.WorkerID][]int{}
	for v, owner := range m.owner {
		id := m.crew[owner].Worker.ID
		vehicles[id] = append(vehicles[id], v)
	}
	for stop, t := range m.tasks {
		if m.holder[stop] >= 0 {
			continue
		}
		for _, id := range t.Dependencies {
			if worker := s.carrier(t, id); worker != "" {
				m.tie(stop, vehicles[worker])
			}
		}
	}
}

// carrier returns the worker who has picked up what a drop-off delivers, in one of the tasks
// that it depends on; empty if there is none.
func (s Situation) carrier(t lastmile.Task, dependency lastmile.TaskID) lastmile.WorkerID {
	if t.Pickup {
		return ""
	}
	return s.Carriers[dependency]
}

// pickupWorker is carrier, but also returns the worker on whose route the pickup is. Only tasks
// that workers have are stops yet.
func (m *Model) pickupWorker(s Situation, t lastmile.Task, dependency lastmile.TaskID) lastmile.WorkerID {
	if at, held := m.index[dependency]; held && at != optimize.None && m.tasks[at].Pickup && !t.Pickup {
		return m.crew[m.holder[at]].Worker.ID
	}
	return s.carrier(t, dependency)
}

// tie lets only some vehicles serve a stop, of those that may serve it already.
func (m *Model) tie(stop int, vehicles []int) {
	allowed := []int{}
	for _, v := range vehicles {
		if m.Problem.Stops[stop].Vehicles == nil || slices.Contains(m.Problem.Stops[stop].Vehicles, v) {
			allowed = append(allowed, v)
		}
	}
	m.Problem.Stops[stop].Vehicles = allowed
}

// isPair reports whether a stop is the pickup of a drop-off that depends on it.
func (m *Model) isPair(before, after int) bool {
	return m.tasks[before].Pickup && !m.tasks[after].Pickup
}
