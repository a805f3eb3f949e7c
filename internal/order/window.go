package order

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Window is a part of the week, by the clock on the wall: from a time of the day
// until before another, on some days. A window that ends at or before its start ends
// on the next day; its days are those on which it begins. On the day of a change to
// or from daylight-saving time, an hour of the clock may occur twice or not at all.
type Window struct {
	Days     []time.Weekday // ordered, beginning with Monday; never empty
	From, To Clock
}

// Clock is a time of the day, in minutes since midnight, up to 24:00.
type Clock int

// endOfDay is 24:00.
const endOfDay Clock = 24 * 60

// week lists the days in the order of ISO 8601.
var week = []time.Weekday{
	time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday,
}

// WindowDraft is a window as sent.
type WindowDraft struct {
	Days     []string // empty for every day
	From, To string   // HH:MM; empty for the start and the end of the day
}

// window returns the window that was sent as a field.
func (d WindowDraft) window(field string) (Window, error) {
	if len(d.Days) == 0 && d.From == "" && d.To == "" {
		return Window{}, lastmile.Invalid("%s must have days, from or to", field)
	}
	days, err := readDays(field+".days", d.Days)
	if err != nil {
		return Window{}, err
	}
	w := Window{Days: days, From: 0, To: endOfDay}
	if d.From != "" {
		if w.From, err = readClock(field+".from", d.From); err != nil {
			return w, err
		}
	}
	if d.To != "" {
		if w.To, err = readClock(field+".to", d.To); err != nil {
			return w, err
		}
	}
	switch w.From {
	case endOfDay:
		return w, lastmile.Invalid("%s.from must be before 24:00", field)
	case w.To:
		return w, lastmile.Invalid("%s.from and %s.to must differ; leave both out for the whole day", field, field)
	}
	return w, nil
}

// readDays returns days by their names, in the order of the week; without names, all days.
func readDays(field string, names []string) ([]time.Weekday, error) {
	if len(names) == 0 {
		return slices.Clone(week), nil
	}
	var named [7]bool
	for i, name := range names {
		at := slices.IndexFunc(week, func(d time.Weekday) bool {
			full := strings.ToLower(d.String())
			given := strings.ToLower(name)
			return given == full || given == full[:3]
		})
		if at < 0 {
			return nil, lastmile.Invalid("%s[%d] must be a day of the week, such as monday or mon, not %q", field, i, lastmile.Truncate(name, 32))
		}
		named[at] = true
	}
	var days []time.Weekday
	for i, day := range week {
		if named[i] {
			days = append(days, day)
		}
	}
	return days, nil
}

// readClock returns a time of the day.
func readClock(field, text string) (Clock, error) {
	at, err := time.Parse("15:04", text)
	switch {
	case text == "24:00":
		return endOfDay, nil
	case err != nil || len(text) != len("15:04"):
		return 0, lastmile.Invalid("%s must be a time of the day as HH:MM, from 00:00 to 24:00, not %q", field, lastmile.Truncate(text, 32))
	}
	return Clock(at.Hour()*60 + at.Minute()), nil
}

// String returns the time as HH:MM.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", c/60, c%60) }

// clockOf returns the time of the day of an instant in its location.
func clockOf(at time.Time) Clock { return Clock(at.Hour()*60 + at.Minute()) }

// contains reports whether an instant, in the location of the window, is in it.
func (w Window) contains(at time.Time) bool {
	clock, today := clockOf(at), at.Weekday()
	if w.From < w.To {
		return slices.Contains(w.Days, today) && w.From <= clock && clock < w.To
	}
	yesterday := (today + 6) % 7
	return slices.Contains(w.Days, today) && w.From <= clock || slices.Contains(w.Days, yesterday) && clock < w.To
}
