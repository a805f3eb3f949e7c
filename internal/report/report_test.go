package report

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// memory is what reports read; the methods that a test does not need are missing.
type memory struct {
	Reader
	timezone  string
	days      []lastmile.Window
	viewers   []store.Viewer
	totals    []store.Totals
	apart     time.Duration // time between totals by worker, the first of which is at now
	teams     map[lastmile.WorkerID][]lastmile.TeamID
	positions int // number of positions, which are a second apart
}

func (m *memory) Read(_ context.Context, fn func(Reader) error) error { return fn(m) }

func (m *memory) Write(context.Context, func(Writer) error) error { return nil }

func (m *memory) Organization(context.Context, lastmile.OrganizationID) (lastmile.Organization, error) {
	return lastmile.Organization{ID: "acme", Country: "US", Timezone: m.timezone}, nil
}

func (m *memory) CreatedIn(_ context.Context, by store.Viewer, in lastmile.Window) (int, error) {
	m.days, m.viewers = append(m.days, in), append(m.viewers, by)
	return 1, nil
}

func (m *memory) TotalsIn(_ context.Context, by store.Viewer, _ lastmile.Window) ([]store.Totals, error) {
	m.viewers = append(m.viewers, by)
	return m.totals, nil
}

func (m *memory) TotalsByWorker(_ context.Context, by store.Viewer, in lastmile.Window) (found []store.Totals, err error) {
	m.days, m.viewers = append(m.days, in), append(m.viewers, by)
	for i, t := range m.totals {
		if at := now.Add(-time.Duration(i) * m.apart); !at.Before(in.From) && at.Before(in.To) {
			found = append(found, t)
		}
	}
	return found, nil
}

func (m *memory) Memberships(context.Context, lastmile.OrganizationID) (map[lastmile.WorkerID][]lastmile.TeamID, error) {
	return m.teams, nil
}

func (m *memory) Tracked(_ context.Context, _ lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error) {
	return lastmile.Worker{ID: id}, nil
}

func (m *memory) PositionsBetween(_ context.Context, _ lastmile.OrganizationID, _ lastmile.WorkerID, in lastmile.Window, limit int) (all []lastmile.Position, err error) {
	for i := range min(m.positions, limit) {
		all = append(all, lastmile.Position{At: in.From.Add(time.Duration(i) * time.Second)})
	}
	return all, nil
}

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func reports(m *memory) *Reports {
	return &Reports{Store: m, CallingCode: func(string) string { return "1" }, Now: func() time.Time { return now }}
}

func TestWindowsOfRequests(t *testing.T) {
	day := 24 * time.Hour
	at := func(d time.Duration) time.Time { return now.Add(d) }
	for name, test := range map[string]struct {
		from, to         time.Time
		wantFrom, wantTo time.Time
		problem          string
	}{
		"none":        {wantFrom: at(time.Millisecond - day), wantTo: at(time.Millisecond)},
		"from":        {from: at(-5 * day), wantFrom: at(-5 * day), wantTo: at(-4 * day)},
		"to":          {to: at(-5 * day), wantFrom: at(-6 * day), wantTo: at(-5 * day)},
		"both":        {from: at(-3 * day), to: now, wantFrom: at(-3 * day), wantTo: now},
		"the longest": {from: at(-4 * day), to: now, wantFrom: at(-4 * day), wantTo: now},
		"too long":    {from: at(-4*day - 1), to: now, problem: "at most 4 days"},
		"empty":       {from: now, to: now, problem: "before"},
		"reversed":    {from: now, to: at(-day), problem: "before"},
	} {
		got, err := reports(&memory{}).window(test.from, test.to, day, 4*day)
		if test.problem != "" {
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s: %v", name, err)
			}
		} else if err != nil || !got.From.Equal(test.wantFrom) || !got.To.Equal(test.wantTo) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestDaysAreThoseOfTheZone(t *testing.T) {
	m := &memory{timezone: "America/New_York", totals: []store.Totals{{Succeeded: 2}}}
	from := time.Date(2026, 3, 7, 5, 0, 0, 0, time.UTC) // midnight; clocks change on the 8th
	a, err := reports(m).Analytics(t.Context(), lastmile.Principal{Organization: "acme"}, from, from.Add(60*time.Hour), ByDay)
	if err != nil {
		t.Fatal(err)
	}
	var lengths []time.Duration
	for _, day := range m.days[1:] { // the first is the whole
		lengths = append(lengths, day.To.Sub(day.From))
	}
	if !slices.Equal(lengths, []time.Duration{24 * time.Hour, 23 * time.Hour, 13 * time.Hour}) || a.Groups[1].Day != "2026-03-08" || a.Total.Succeeded != 6 {
		t.Errorf("days of %v, %+v", lengths, a)
	}
}

// TestDaysWithoutAMidnight checks days that begin at one o'clock, because clocks are set
// forward at midnight, and a day that is left out.
func TestDaysWithoutAMidnight(t *testing.T) {
	for name, test := range map[string]struct {
		from  time.Time
		hours []int
	}{
		"America/Havana":   {time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC), []int{17, 23, 20}},
		"America/Santiago": {time.Date(2026, 9, 5, 12, 0, 0, 0, time.UTC), []int{16, 23, 21}},
		"Africa/Cairo":     {time.Date(2026, 4, 23, 12, 0, 0, 0, time.UTC), []int{10, 23, 24, 3}},
		"Pacific/Apia":     {time.Date(2011, 12, 29, 12, 0, 0, 0, time.UTC), []int{22, 24, 14}},
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		var hours []int
		at, last := test.from, ""
		for day := range days(lastmile.Window{From: test.from, To: test.from.Add(60 * time.Hour)}, zone) {
			hours = append(hours, int(day.To.Sub(day.From)/time.Hour))
			if date := day.From.In(zone).Format(time.DateOnly); !day.From.Equal(at) || date <= last || len(hours) > 9 {
				t.Errorf("%s: %s, %v follows %s, %v", name, date, day, last, at)
				break
			}
			at, last = day.To, day.From.In(zone).Format(time.DateOnly)
		}
		if !slices.Equal(hours, test.hours) {
			t.Errorf("%s: days of %v hours, want %v", name, hours, test.hours)
		}
	}
}

// TestWorkersAreSummedUpDayByDay checks that groups by worker and team are the sums of what
// was done on each day, and on the parts of days at both ends of the window.
func TestWorkersAreSummedUpDayByDay(t *testing.T) {
	m := &memory{timezone: "America/New_York", apart: 7 * time.Hour, teams: map[lastmile.WorkerID][]lastmile.TeamID{"ann": {"n", "s"}, "bob": {"s"}}}
	for i := range 20 { // some of them before the window
		done := store.Totals{Worker: []lastmile.WorkerID{"ann", "bob", "cy"}[i%3], Succeeded: 1, OnTime: 1, Distance: 2, DriveTime: time.Minute, Ratings: 1, RatingTotal: i % 5}
		if i%4 == 0 {
			done.Succeeded, done.Failed, done.Failures = 0, 1, map[string]int{"NO_ACCESS": 1}
		}
		m.totals = append(m.totals, done)
	}
	from, to := now.Add(-14*m.apart), now // with the oldest, and without the newest
	want := map[subject]*Group{}
	for _, done := range m.totals[1:15] {
		keys := []subject{{worker: done.Worker}}
		for _, team := range m.teams[done.Worker] {
			keys = append(keys, subject{team: team})
		}
		if len(keys) == 1 {
			keys = append(keys, subject{})
		}
		for _, key := range keys {
			if want[key] == nil {
				want[key] = &Group{Team: key.team, Totals: store.Totals{Worker: key.worker}}
			}
			want[key].Add(done)
		}
	}
	seen := 0
	for _, by := range []Grouping{ByWorker, ByTeam} {
		m.days = nil
		a, err := reports(m).Analytics(t.Context(), lastmile.Principal{Organization: "acme"}, from, to, by)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range a.Groups {
			if key := (subject{team: g.Team, worker: g.Worker}); !reflect.DeepEqual(g, *want[key]) {
				t.Errorf("%v: %+v, want %+v", key, g, *want[key])
			}
		}
		if seen += len(a.Groups); len(a.Groups) != 3 || a.Total.Succeeded+a.Total.Failed != 14 || a.Total.Failures["NO_ACCESS"] != 3 {
			t.Errorf("%+v", a)
		}
		at := from
		for _, day := range m.days[1:] { // the first is the whole
			if !day.From.Equal(at) || day.To.Sub(day.From) > 24*time.Hour {
				t.Errorf("%v was read after %v", day, at)
			}
			at = day.To
		}
		if !at.Equal(to) || len(m.days) != 1+5 {
			t.Errorf("%v were read", m.days)
		}
	}
	if seen != len(want) {
		t.Errorf("%d groups, want %d", seen, len(want))
	}
}

func TestManagersSeeTheirTeams(t *testing.T) {
	m := &memory{
		timezone: "UTC", totals: []store.Totals{{Worker: "both", Succeeded: 1}, {Worker: "south", Failed: 1}, {Worker: "none", Failed: 2}},
		teams: map[lastmile.WorkerID][]lastmile.TeamID{"both": {"n", "s"}, "south": {"s"}},
	}
	groups := func(who lastmile.Principal) string {
		t.Helper()
		m.viewers = nil
		a, err := reports(m).Analytics(t.Context(), who, time.Time{}, time.Time{}, ByTeam)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, g := range a.Groups {
			all = append(all, fmt.Sprintf("%s:%d/%d", g.Team, g.Succeeded, g.Failed))
		}
		return strings.Join(all, " ")
	}
	m.teams = map[lastmile.WorkerID][]lastmile.TeamID{"both": {"n", "s"}, "south": {"s"}}
	if got := groups(lastmile.Principal{Organization: "acme"}); got != ":0/2 n:1/0 s:1/1" {
		t.Errorf("with a key: %s", got)
	}
	who := lastmile.Principal{Organization: "acme", Admin: "ada", Role: lastmile.Role{Type: lastmile.AdminStandard, Teams: []lastmile.TeamID{"n"}}}
	if got := groups(who); got != ":0/3 n:1/0" {
		t.Errorf("as a manager: %s", got)
	}
	for _, by := range m.viewers {
		if by != (store.Viewer{Organization: "acme", Manager: "ada"}) {
			t.Errorf("read for %v", by)
		}
	}
}

func TestUnknownGroupings(t *testing.T) {
	if _, err := reports(&memory{}).Analytics(t.Context(), lastmile.Principal{}, time.Time{}, time.Time{}, "hour"); err == nil || !strings.Contains(err.Error(), "day, team or worker") {
		t.Error(err)
	}
}

func TestPagesOfPositions(t *testing.T) {
	for count, want := range map[int]int{0: 0, MaxPositions: MaxPositions, MaxPositions + 1: MaxPositions} {
		track, err := reports(&memory{positions: count}).Positions(t.Context(), lastmile.Principal{}, "w", time.Time{}, time.Time{}, 0)
		if err != nil || len(track.Positions) != want || track.Next.IsZero() != (count <= MaxPositions) {
			t.Errorf("of %d, %d, then %v: %v", count, len(track.Positions), track.Next, err)
		}
	}
	for _, tolerance := range []lastmile.Meters{-1, MaxTolerance + 1} {
		if _, err := reports(&memory{}).Positions(t.Context(), lastmile.Principal{}, "w", time.Time{}, time.Time{}, tolerance); err == nil {
			t.Errorf("a tolerance of %v is accepted", tolerance)
		}
	}
}

func TestPhonesOfQueries(t *testing.T) {
	for text, want := range map[string]string{
		"212 555-01": "+121255501 +21255501", "(0212)555": "+1212555 +0212555", "+49 30": "+4930", "12": "", "+1": "", "555a": "", "mary": "",
	} {
		if got := strings.Join(phonesOf(text, "1"), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestQueriesHaveTwoToAHundredCharacters(t *testing.T) {
	for _, text := range []string{"", "  ", "a", strings.Repeat("ä", MaxQuery+1)} {
		if _, err := reports(&memory{}).Search(t.Context(), lastmile.Principal{}, text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
