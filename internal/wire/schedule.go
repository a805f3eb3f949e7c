package wire

import "dray/internal/lastmile"

// Schedule is a worker's schedule, sent and shown alike.
type Schedule struct {
	Entries []ScheduleEntry `json:"entries"`
}

// ScheduleEntry is one day of a schedule.
type ScheduleEntry struct {
	Date     string      `json:"date"`
	Timezone string      `json:"timezone"`
	Shifts   [][2]Millis `json:"shifts"`
}

// NewSchedule returns a schedule in the form that is sent.
func NewSchedule(schedule lastmile.Schedule) Schedule {
	entries := make([]ScheduleEntry, 0, len(schedule))
	for _, e := range schedule {
		shifts := make([][2]Millis, 0, len(e.Shifts))
		for _, s := range e.Shifts {
			shifts = append(shifts, [2]Millis{Millis(s.Start), Millis(s.End)})
		}
		entries = append(entries, ScheduleEntry{Date: e.Date, Timezone: e.Timezone, Shifts: shifts})
	}
	return Schedule{Entries: entries}
}

// Domain returns the days that the form shows.
func (s Schedule) Domain() []lastmile.ScheduleEntry {
	entries := make([]lastmile.ScheduleEntry, 0, len(s.Entries))
	for _, e := range s.Entries {
		entry := lastmile.ScheduleEntry{Date: e.Date, Timezone: e.Timezone}
		for _, shift := range e.Shifts {
			entry.Shifts = append(entry.Shifts, lastmile.Shift{Start: shift[0].Time(), End: shift[1].Time()})
		}
		entries = append(entries, entry)
	}
	return entries
}

// ScheduleBody is a schedule in a request.
type ScheduleBody struct {
	Entries *[]ScheduleEntry `json:"entries"`
}

// Domain returns the days that the request sets.
func (b ScheduleBody) Domain() ([]lastmile.ScheduleEntry, error) {
	if b.Entries == nil {
		return nil, lastmile.Missing("entries")
	}
	return Schedule{Entries: *b.Entries}.Domain(), nil
}
