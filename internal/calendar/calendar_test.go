package calendar

import (
	"testing"
	"time"
)

func TestDay(t *testing.T) {
	for _, test := range []struct{ zone, date, begin, end string }{
		{"UTC", "2026-02-28", "2026-02-28T00:00Z", "2026-03-01T00:00Z"},
		{"America/New_York", "2026-03-08", "2026-03-08T05:00Z", "2026-03-09T04:00Z"},               // 23 hours
		{"America/New_York", "2026-11-01", "2026-11-01T04:00Z", "2026-11-02T05:00Z"},               // 25 hours
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00Z", "2026-04-24T21:00Z"},                   // begins at 1:00
		{"Africa/Cairo", "2026-04-23", "2026-04-22T22:00Z", "2026-04-23T22:00Z"},                   // ends then
		{"Africa/Cairo", "2026-10-29", "2026-10-28T21:00Z", "2026-10-29T22:00Z"},                   // 24:00 is 23:00 once more
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00Z", "2026-09-07T03:00Z"},               // begins at 1:00
		{"America/Santiago", "2026-09-05", "2026-09-05T04:00Z", "2026-09-06T04:00Z"},               // ends then
		{"America/Havana", "2026-11-01", "2026-11-01T04:00Z", "2026-11-02T05:00Z"},                 // two midnights
		{"America/Havana", "2026-10-31", "2026-10-31T04:00Z", "2026-11-01T04:00Z"},                 // ends at the first
		{"America/St_Johns", "2010-11-07", "2010-11-07T02:30Z", "2010-11-08T03:30Z"},               // 0:01 is 23:01 of the day before
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00Z", "2011-12-30T10:00Z"},                   // the next day is left out
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00Z", "2011-12-30T10:00Z"},                   // it
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00Z", "2011-12-31T10:00Z"},                   // the one after it
		{"Nowhere/Else", "2026-06-01", "2026-06-01T00:00Z", "2026-06-02T00:00Z"},                   // UTC
		{"Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00Z", "2026-04-05T13:30Z"},            // half an hour
		{"America/Argentina/Buenos_Aires", "2026-01-01", "2026-01-01T03:00Z", "2026-01-02T03:00Z"}, // never changed lately
	} {
		begin, end, err := Day(test.date, Zone(test.zone))
		const minutes = "2006-01-02T15:04Z"
		if got := begin.UTC().Format(minutes); err != nil || got != test.begin {
			t.Errorf("%s in %s begins at %s, %v; want %s", test.date, test.zone, got, err, test.begin)
		}
		if got := end.UTC().Format(minutes); got != test.end {
			t.Errorf("%s in %s ends at %s; want %s", test.date, test.zone, got, test.end)
		}
	}
	for _, date := range []string{"", "today", "2026-02-30", "2026-2-3"} {
		if _, _, err := Day(date, time.UTC); err == nil {
			t.Errorf("%q is a day", date)
		}
	}
}

// TestEnd divides years into days, one after the other.
func TestEnd(t *testing.T) {
	for _, name := range []string{"UTC", "America/New_York", "Africa/Cairo", "America/Havana", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu"} {
		zone, at, days := Zone(name), time.Date(2005, 1, 1, 12, 0, 0, 0, time.UTC), 0
		for stop := at.AddDate(10, 0, 0); at.Before(stop); days++ {
			end := End(at, zone)
			if !end.After(at) || end.Sub(at) > 25*time.Hour {
				t.Fatalf("%s: the day of %v ends at %v", name, at, end)
			}
			if before, after := end.Add(-time.Second).In(zone), end.In(zone); before.Day() == after.Day() {
				t.Fatalf("%s: it is the same day before and after %v", name, end)
			}
			at = end
		}
		// One for the part at the beginning, and two leap days. Apia left out a day when it
		// moved to the other side of the date line, where it was a day later.
		const want = 10*365 + 3
		if days != want {
			t.Errorf("%s: %d days in ten years, want %d", name, days, want)
		}
	}
}
