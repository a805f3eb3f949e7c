// Package calendar finds the days of time zones. Clocks are also set forward or back around
// midnight: a day may begin at 1:00, or have two midnights.
package calendar

import "time"

// Zone returns the time zone with an IANA name, or UTC if there is none.
func Zone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// Day returns when a day, which is written as YYYY-MM-DD, begins and ends. A day that a time
// zone left out begins and ends at the same time.
func Day(date string, zone *time.Location) (begin, end time.Time, err error) {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	return midnight(at, zone), midnight(at.AddDate(0, 0, 1), zone), nil
}

// End returns when the day of a time ends.
func End(at time.Time, zone *time.Location) time.Time {
	year, month, day := at.In(zone).Date()
	for {
		day++
		if end := midnight(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), zone); end.After(at) {
			return end
		}
	}
}

// midnight returns the first moment of a day in a time zone.
func midnight(date time.Time, zone *time.Location) time.Time {
	year, month, day := date.Date()
	begin := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if begin.Day() != day { // clocks are set forward at midnight, and begin is before that
		_, begin = begin.ZoneBounds()
		return begin
	}
	changed, _ := begin.ZoneBounds()
	if changed.IsZero() {
		return begin
	}
	_, offset := begin.Zone()
	_, before := changed.Add(-time.Second).Zone()
	if first := begin.Add(time.Duration(offset-before) * time.Second); first.Before(changed) {
		return first // clocks were set back to midnight or before, after it was midnight already
	}
	return begin
}
