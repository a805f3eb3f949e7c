package planning

import (
	"math"
	"slices"
	"time"

	"dray/internal/calendar"
	"dray/internal/lastmile"
	"dray/internal/optimize"
)

// working returns the rest of the window in which workers are scheduled.
func (s Situation) working() lastmile.Window {
	w := s.Options.ScheduleWindow
	return lastmile.Window{From: later(w.From, s.Now), To: w.To}
}

// shifts returns when a worker works within a window. A worker without a schedule for the
// days of the window works for all of it.
func shifts(s lastmile.Schedule, in lastmile.Window) []lastmile.Window {
	if !in.From.Before(in.To) {
		return nil
	}
	var all []lastmile.Window
	scheduled := false
	for _, day := range s {
		begin, end, err := calendar.Day(day.Date, calendar.Zone(day.Timezone))
		scheduled = scheduled || err == nil && in.Overlap(begin, end) > 0
		for _, shift := range day.Shifts { // even of the day before, because shifts may end after midnight
			if in.Overlap(shift.Start, shift.End) > 0 {
				scheduled = true
				all = append(all, lastmile.Window{From: later(shift.Start, in.From), To: earlier(shift.End, in.To)})
			}
		}
	}
	if !scheduled {
		return []lastmile.Window{in}
	}
	slices.SortFunc(all, func(a, b lastmile.Window) int { return a.From.Compare(b.From) })
	apart := all[:0] // stored schedules may have shifts that overlap
	for _, w := range all {
		if n := len(apart); n > 0 && w.From.Before(apart[n-1].To) {
			apart[n-1].To = later(apart[n-1].To, w.To)
			continue
		}
		apart = append(apart, w)
	}
	return apart
}

// Relevant returns the days of a schedule on which the shifts within a window depend.
func Relevant(s lastmile.Schedule, in lastmile.Window) (relevant lastmile.Schedule) {
	for _, day := range s {
		begin, end, err := calendar.Day(day.Date, calendar.Zone(day.Timezone))
		day.Shifts = slices.DeleteFunc(slices.Clone(day.Shifts), func(shift lastmile.Shift) bool { return in.Overlap(shift.Start, shift.End) <= 0 })
		if err == nil && in.Overlap(begin, end) > 0 || len(day.Shifts) > 0 {
			relevant = append(relevant, day)
		}
	}
	return relevant
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// addVehicles adds a vehicle for each shift of a worker. The shifts share the maximum number
// of tasks in proportion to their lengths, but each has room for those of the worker's tasks
// that divide assigns to it. Later ones start where routes end, or at the worker's base if they
// end anywhere.
func (m *Model) addVehicles(member int, c Candidate, s Situation) {
	by := c.Worker.TravelsBy()
	profile := slices.Index(m.Types, by)
	if profile < 0 {
		profile = len(m.Types)
		m.Types = append(m.Types, by)
	}
	v := optimize.Vehicle{Profile: profile, Start: m.place(*startOf(c, s)), End: optimize.None}
	next := v.Start // where later shifts start
	if end := endOf(c, s); end != nil {
		v.End = m.place(*end)
		next = v.End
	} else if base := baseOf(c, s); base != nil {
		next = m.place(*base)
	}
	all := shifts(c.Schedule, s.working())
	parts := m.parts[member]
	tasks, held, left := m.options.MaxTasksPerRoute, len(m.held[member]), time.Duration(0)
	for _, shift := range all {
		left += shift.To.Sub(shift.From)
	}
	for i, shift := range all {
		length := shift.To.Sub(shift.From)
		v.ShiftStart, v.ShiftEnd = max(m.seconds(shift.From), 0), m.seconds(shift.To)
		now := parts[i]
		held -= len(now) // those of later shifts
		share := int(math.Ceil(float64(tasks) * float64(length) / float64(left)))
		v.MaxStops = max(min(share, tasks-held), len(now))
		v.Route = slices.DeleteFunc(slices.Clone(now), func(stop int) bool { return m.free[stop] })
		if i > 0 {
			v.Start = next
		}
		if tasks, left = max(tasks-v.MaxStops, 0), left-length; v.MaxStops == 0 {
			continue
		}
		for _, stop := range now {
			m.vehicle[stop] = len(m.owner)
		}
		m.owner, m.now = append(m.owner, member), append(m.now, now)
		m.Problem.Vehicles = append(m.Problem.Vehicles, v)
	}
}

// divide returns the stops of a worker's tasks by shift, in order. A task that must not begin
// before a shift ends, and is not due before the next one begins, is in a later one: otherwise
// the worker would have to wait for it, and could be given other tasks until then. It is in no
// later shift than those that depend on it. If a position is pinned, all are in the first shift.
func (m *Model) divide(held []lastmile.Task, all []lastmile.Window) [][]int {
	pinned := slices.ContainsFunc(held, func(t lastmile.Task) bool { return m.pins[m.index[t.ID]] == lastmile.PinPosition })
	var stops []int
	in := map[int]int{} // shift of a stop
	for _, t := range held {
		k := 0
		for !pinned && t.State != lastmile.TaskActive && k+1 < len(all) && !t.CompleteAfter.Before(all[k].To) &&
			(t.CompleteBefore.IsZero() || !t.CompleteBefore.Before(all[k+1].From)) {
			k++
		}
		stop := m.index[t.ID]
		stops, in[stop] = append(stops, stop), k
	}
	bound := map[int][]int{} // by stop: those that are in no later shift
	for _, after := range stops {
		for _, id := range m.tasks[after].Dependencies {
			before, known := m.index[id]
			if _, own := in[before]; known && own {
				bound[after] = append(bound[after], before)
			}
		}
	}
	first := slices.SortedStableFunc(slices.Values(stops), func(a, b int) int { return in[a] - in[b] })
	for _, stop := range first { // each changes others at most once
		for next := []int{stop}; len(next) > 0; {
			last := next[len(next)-1]
			next = next[:len(next)-1]
			for _, other := range bound[last] {
				if in[other] > in[last] {
					in[other] = in[last]
					next = append(next, other)
				}
			}
		}
	}
	parts := make([][]int, len(all))
	for after, befores := range bound { // what was picked up in an earlier shift is with the worker
		for _, before := range befores {
			if in[before] < in[after] && m.isPair(before, after) {
				m.free[before], m.free[after] = false, false
			}
		}
	}
	for _, stop := range stops {
		parts[in[stop]] = append(parts[in[stop]], stop)
	}
	return parts
}
