package planning

import (
	"slices"

	"dray/internal/lastmile"
)

// PinnedTask is a task with its pin.
type PinnedTask struct {
	Task lastmile.Task
	Pin  lastmile.Pin // empty for none
}

// Set pins the task, or removes its pin if pin is empty. Only a task that a worker has can
// be pinned.
func (p *PinnedTask) Set(pin lastmile.Pin) error {
	switch state := p.Task.State; {
	case pin == "" || state == lastmile.TaskAssigned || state == lastmile.TaskActive:
		p.Pin = pin
		return nil
	case state == lastmile.TaskUnassigned:
		return lastmile.Invalid("task %s has no worker: assign it before you pin it", p.Task.ID)
	}
	return lastmile.Invalid("task %s is completed and cannot be pinned", p.Task.ID)
}

// lock decides which stops keep their worker, which of these keep their position, and in which
// shift they are.
func (m *Model) lock(s Situation) {
	m.pins, m.free = make([]lastmile.Pin, len(m.tasks)), make([]bool, len(m.tasks))
	for i, t := range m.tasks {
		if m.holder[i] < 0 {
			continue
		}
		m.pins[i] = s.Pins[t.ID]
		m.Problem.Stops[i].Pinned = t.State == lastmile.TaskActive || m.pins[i] == lastmile.PinPosition
		m.free[i] = s.Between && t.State != lastmile.TaskActive && m.pins[i] == "" && Considers(m.options, t)
	}
	for _, held := range m.held { // a position is kept only if the tasks before it stay
		after := true
		for _, t := range slices.Backward(held) {
			i := m.index[t.ID]
			after = after && !m.Problem.Stops[i].Pinned
			m.free[i] = m.free[i] && after
		}
	}
	for i, c := range m.crew {
		m.parts = append(m.parts, m.divide(m.held[i], shifts(c.Schedule, s.working())))
	}
	m.lockFamilies()
}

// lockFamilies makes stops stay with their worker if related ones stay: a drop-off whose
// pickup is done or stays, and a pickup whose drop-off stays.
func (m *Model) lockFamilies() {
	partners := map[int][]int{}
	var queue []int // stops that stay
	for after, t := range m.tasks {
		for _, id := range t.Dependencies {
			before, known := m.index[id]
			switch {
			case !known:
				m.free[after] = false
			case m.isPair(before, after):
				partners[before], partners[after] = append(partners[before], after), append(partners[after], before)
			}
		}
	}
	for i, free := range m.free {
		if !free {
			queue = append(queue, i)
		}
	}
	for k := 0; k < len(queue); k++ {
		for _, i := range partners[queue[k]] {
			if m.free[i] {
				m.free[i], queue = false, append(queue, i)
			}
		}
	}
}
