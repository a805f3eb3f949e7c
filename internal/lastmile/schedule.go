package lastmile

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Limits of a schedule.
const (
	MaxScheduleEntries = 366 // days
	MaxShifts          = 100 // per day
)

// ScheduleEntry is one day of a worker's schedule.
type ScheduleEntry struct {
	Date     string // YYYY-MM-DD, in Timezone
	Timezone string
	Shifts   []Shift
}

// Schedule is the schedule of a worker, with the latest day first.
type Schedule []ScheduleEntry

// Shift is a working period.
type Shift struct{ Start, End time.Time }

// NewSchedule validates the entries of a schedule and returns it without days that are over, with the
// latest day first.
func NewSchedule(entries []ScheduleEntry, now time.Time) (Schedule, error) {
	if len(entries) > MaxScheduleEntries {
		return nil, Invalid("entries has %d days; at most %d are allowed", len(entries), MaxScheduleEntries)
	}
	kept := make([]ScheduleEntry, 0, len(entries))
	days := map[string]bool{}
	var shifts []Shift
	for i, e := range entries {
		if err := e.check(fmt.Sprintf("entries[%d]", i)); err != nil {
			return nil, err
		}
		if days[e.Date] {
			return nil, Invalid("entries has %s twice", e.Date)
		}
		days[e.Date], shifts = true, append(shifts, e.Shifts...)
		if !e.over(now) {
			kept = append(kept, e)
		}
	}
	slices.SortFunc(shifts, func(a, b Shift) int { return a.Start.Compare(b.Start) })
	for i := 1; i < len(shifts); i++ {
		if shifts[i].Start.Before(shifts[i-1].End) { // the worker would be planned to be at two locations at once
			return nil, Invalid("entries: shifts overlap: one begins at %d, before another ends", shifts[i].Start.UnixMilli())
		}
	}
	slices.SortFunc(kept, func(a, b ScheduleEntry) int { return cmp.Compare(b.Date, a.Date) })
	return kept, nil
}

// check rejects an invalid entry; field is its name in the request.
func (e ScheduleEntry) check(field string) error {
	switch {
	case e.Date == "":
		return Missing(field + ".date")
	case e.Timezone == "":
		return Missing(field + ".timezone")
	case len(e.Shifts) > MaxShifts:
		return Invalid("%s.shifts has %d entries; at most %d are allowed", field, len(e.Shifts), MaxShifts)
	}
	if _, err := time.Parse(time.DateOnly, e.Date); err != nil {
		return Invalid("%s.date must be a day as YYYY-MM-DD, not %q", field, Truncate(e.Date, MaxShown))
	}
	if err := checkTimezone(field+".timezone", e.Timezone); err != nil {
		return err
	}
	for _, s := range e.Shifts {
		if s.Start.IsZero() || s.End.IsZero() {
			return Malformed("%s.shifts: a shift must be its start and its end", field)
		}
		if !s.Start.Before(s.End) {
			return Invalid("%s.shifts: a shift must end after it starts", field)
		}
	}
	return nil
}

// over reports whether the day has ended in its time zone, and all of its shifts.
func (e ScheduleEntry) over(now time.Time) bool {
	zone, err := time.LoadLocation(e.Timezone)
	return err == nil && e.Date < now.In(zone).Format(time.DateOnly) &&
		!slices.ContainsFunc(e.Shifts, func(s Shift) bool { return s.End.After(now) })
}

// Window is a period of time that includes From and excludes To.
type Window struct{ From, To time.Time }

// Overlap returns the part of the time between from and to that is in the window.
func (w Window) Overlap(from, to time.Time) time.Duration {
	if from.Before(w.From) {
		from = w.From
	}
	if to.After(w.To) {
		to = w.To
	}
	return max(to.Sub(from), 0)
}

// DutyChange is a change of a worker's duty: the worker goes on or off duty.
type DutyChange struct {
	At     time.Time
	OnDuty bool
}

// Duty describes when a worker was on duty within a window.
type Duty struct {
	Before  bool         // whether the worker was on duty when the window began
	Changes []DutyChange // ordered by time
}

// TimeWindow is the period in which the service of a task may begin. Zero times are open ends.
type TimeWindow struct{ Opens, Closes time.Time }

// ServiceStart returns the time at which service begins: on arrival or, if that is before the
// window opens, when it opens. It is zero if arrival is zero.
func (w TimeWindow) ServiceStart(arrival time.Time) time.Time {
	if arrival.IsZero() || !arrival.Before(w.Opens) {
		return arrival
	}
	return w.Opens
}

// Lateness returns how late service is that begins at start; zero if it is not late. Service
// is late if it begins after the window closes; its duration does not matter. This is the
// only definition of lateness, for recipients, workers and the API.
func (w TimeWindow) Lateness(start time.Time) time.Duration {
	if start.IsZero() || w.Closes.IsZero() {
		return 0
	}
	return max(start.Sub(w.Closes), 0)
}
