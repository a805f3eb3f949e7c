package planning

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/optimize"
)

// roadsEnd is the longitude at which the roads of the tests end.
const roadsEnd = 0.04

// task returns a task some meters east of the center.
func task(id string, east float64, change ...func(*lastmile.Task)) lastmile.Task {
	t := lastmile.Task{ID: lastmile.TaskID(id), ShortID: id, Destination: lastmile.Destination{Location: lastmile.Point{Lon: east / 111_195, Lat: 0}}}
	for _, c := range change {
		c(&t)
	}
	return t
}

func pickup(t *lastmile.Task) { t.Pickup = true }

func dependsOn(ids ...lastmile.TaskID) func(*lastmile.Task) {
	return func(t *lastmile.Task) { t.Dependencies = ids }
}

func quantity(n float64) func(*lastmile.Task) {
	return func(t *lastmile.Task) { t.Quantity = n }
}

func before(at time.Time) func(*lastmile.Task) {
	return func(t *lastmile.Task) { t.CompleteBefore = at }
}

// worker returns a candidate at the center.
func worker(id string, tasks ...lastmile.Task) Candidate {
	c := Candidate{Worker: lastmile.Worker{
		ID: lastmile.WorkerID(id), Vehicle: &lastmile.Vehicle{Type: lastmile.Car},
		Whereabouts: lastmile.Whereabouts{OnDuty: true, Location: &lastmile.Point{}, LocatedAt: noon},
	}}
	for i := range tasks {
		tasks[i].State = max(tasks[i].State, lastmile.TaskAssigned)
	}
	c.Tasks = tasks
	return c
}

func situation(tasks []lastmile.Task, crew ...Candidate) Situation {
	o, err := Request{}.Options(noon)
	if err != nil {
		panic(err)
	}
	return Situation{Options: o, Now: noon, Candidates: crew, Tasks: tasks}
}

// filled returns the model of a situation in which a meter takes a tenth of a second.
func filled(t *testing.T, s Situation) *Model {
	t.Helper()
	m, err := NewModel(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range m.Types {
		durations, distances := make([][]time.Duration, len(m.Places)), make([][]lastmile.Meters, len(m.Places))
		for i, a := range m.Places {
			for _, b := range m.Places {
				d := a.Distance(b)
				distances[i] = append(distances[i], d)
				durations[i] = append(durations[i], time.Duration(float64(d)*float64(time.Second)/10))
			}
		}
		m.Fill(by, durations, distances, func(_, to int) bool { return m.Places[to].Lon > roadsEnd })
	}
	m.KeepExisting(t.Context())
	if err := m.Problem.Validate(); err != nil {
		t.Fatalf("the optimizer rejects the problem: %v", err)
	}
	return m
}

func TestPairsStayTogether(t *testing.T) {
	m := filled(t, situation([]lastmile.Task{
		task("pick", 100, pickup, quantity(2)), task("drop", 200, dependsOn("pick"), quantity(5)), task("second", 300, dependsOn("pick"), quantity(1)),
		task("first", 400), task("then", 500, dependsOn("first")), task("plain", 600, quantity(3)),
	}, func() Candidate { w := worker("ada"); w.Worker.Capacity = 10; return w }()))
	want := []optimize.Precedence{{Before: 0, After: 1, SameVehicle: true}, {Before: 0, After: 2, SameVehicle: true}, {Before: 3, After: 4}}
	if !slices.Equal(m.Problem.Precedences, want) {
		t.Errorf("precedences are %+v", m.Problem.Precedences)
	}
	load := func(n int) optimize.Load { return optimize.Load{n * 1000} }
	for i, want := range []struct{ carried, change optimize.Load }{
		{load(0), load(6)}, {load(0), load(-5)}, {load(0), load(-1)}, {}, {}, {load(3), load(-3)},
	} {
		if s := m.Problem.Stops[i]; s.Carried != want.carried || s.Change != want.change {
			t.Errorf("stop %d carries %v and changes %v, want %+v", i, s.Carried, s.Change, want)
		}
	}
	if c := m.Problem.Vehicles[0].Capacity; c != (optimize.Load{10_000, optimize.MaxLoad, optimize.MaxLoad, optimize.MaxLoad}) {
		t.Errorf("the capacity is %v", c)
	}
}

func TestHugeQuantitiesFit(t *testing.T) {
	w := worker("ada")
	w.Worker.Capacity = 1e12
	m := filled(t, situation([]lastmile.Task{task("a", 100, quantity(5e11)), task("b", 200, quantity(5e11)), task("c", 300, quantity(1))}, w))
	sum := 0
	for _, s := range m.Problem.Stops {
		sum += s.Carried[0]
	}
	c := m.Problem.Vehicles[0].Capacity[0]
	if a, b := m.Problem.Stops[0].Carried[0], m.Problem.Stops[1].Carried[0]; a != b || a != c/2 || c < optimize.MaxLoad/20 {
		t.Errorf("half of the capacity %d is %d and %d", c, a, b)
	}
	if sum <= c || sum > c+3 || sum > optimize.MaxLoad {
		t.Errorf("%d fit into %d", sum, c)
	}
}

// TestAmountsStayExact has amounts that are large in total, or far above all capacities.
func TestAmountsStayExact(t *testing.T) {
	ada := func(capacity float64, held ...lastmile.Task) Candidate {
		w := worker("ada", held...)
		w.Worker.Capacity = capacity
		return w
	}
	many := func(n int, amount float64) (all []lastmile.Task) {
		for i := range n {
			all = append(all, task(fmt.Sprint(amount, "-", i), float64(i), quantity(amount)))
		}
		return all
	}
	m := filled(t, situation(append(many(3, 1), task("typing error", 1, quantity(1e9))), ada(10)))
	if one, all := m.Problem.Stops[0].Carried[0], m.Problem.Vehicles[0].Capacity[0]; one != 1000 || all != 10_000 || m.Problem.Stops[3].Carried[0] <= all {
		t.Errorf("one is %d of %d", one, all)
	}
	why := m.Plan(&optimize.Solution{Routes: make([]optimize.Route, 1), Unserved: []int{3}}).Unplanned[0].Reasons
	if len(why) != 1 || why[0].Detail != "capacity 1e+09 of 10" {
		t.Errorf("the reasons are %+v", why)
	}
	m = filled(t, situation(append(many(10, 7), many(1000, 2000)...), ada(70), ada(5000)))
	if one, all := m.Problem.Stops[0].Carried[0], m.Problem.Vehicles[0].Capacity[0]; 10*one != all {
		t.Errorf("ten of %d do not fill %d", one, all)
	}
	filled(t, situation(nil, ada(300_000, many(100, 2800)...))) // which rounding must not make too large
}

// TestWorkAfterTheShift has a task on a route that must wait until the worker's shift has
// ended. Without it, the shift is not longer for other tasks.
func TestWorkAfterTheShift(t *testing.T) {
	tomorrow := func(t *lastmile.Task) { t.CompleteAfter = noon.Add(21 * time.Hour) }
	shift := lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{{Start: noon.Add(-4 * time.Hour), End: noon.Add(5 * time.Hour)}}}}
	for name, tt := range map[string]struct {
		held []lastmile.Task
		pins map[lastmile.TaskID]lastmile.Pin
		want []lastmile.TaskID
	}{
		"stays behind":              {[]lastmile.Task{task("later", 10, tomorrow), task("now", 20)}, nil, []lastmile.TaskID{"now"}},
		"with one that needs it":    {[]lastmile.Task{task("later", 10, tomorrow), task("now", 20, dependsOn("later"))}, nil, []lastmile.TaskID{"later", "now"}},
		"that needs another":        {[]lastmile.Task{task("now", 20), task("later", 10, tomorrow, dependsOn("now"))}, nil, []lastmile.TaskID{"now"}},
		"before a pinned position":  {[]lastmile.Task{task("later", 10, tomorrow), task("now", 20)}, map[lastmile.TaskID]lastmile.Pin{"now": lastmile.PinPosition}, []lastmile.TaskID{"later", "now"}},
		"pinned to its worker only": {[]lastmile.Task{task("later", 10, tomorrow)}, map[lastmile.TaskID]lastmile.Pin{"later": lastmile.PinWorker}, nil},
	} {
		w := worker("ada", tt.held...)
		w.Schedule = shift
		s := situation([]lastmile.Task{task("new", 50)}, w)
		s.Pins = tt.pins
		m := filled(t, s)
		var got []lastmile.TaskID
		for _, stop := range m.now[0] {
			got = append(got, m.tasks[stop].ID)
		}
		if end := m.Problem.Vehicles[0].ShiftEnd; !slices.Equal(got, tt.want) || (end == 5*3600) == slices.Contains(tt.want, "later") {
			t.Errorf("%s: planned are %v, the shift ends after %d s", name, got, end)
		}
		if before := m.Plan(m.Current()).Routes[0].Before; len(before) != len(tt.held) {
			t.Errorf("%s: the list is %v", name, before)
		}
	}
}

// TestWorkOfALaterShift has tasks on a route that must wait for the worker's second shift. The
// first one is not longer for other tasks.
func TestWorkOfALaterShift(t *testing.T) {
	evening := func(t *lastmile.Task) { t.CompleteAfter = noon.Add(5 * time.Hour) }
	pickup := func(t *lastmile.Task) { t.Pickup = true }
	for name, tt := range map[string]struct {
		held []lastmile.Task
		pins map[lastmile.TaskID]lastmile.Pin
		want string
	}{
		"in the later shift":         {[]lastmile.Task{task("later", 10, evening), task("now", 20)}, nil, "[now] [later]"},
		"due before it":              {[]lastmile.Task{task("later", 10, func(t *lastmile.Task) { t.CompleteAfter = noon.Add(2 * time.Hour) }, before(noon.Add(3*time.Hour))), task("now", 20)}, nil, "[later now] []"},
		"with one that needs it":     {[]lastmile.Task{task("later", 10, evening), task("now", 20, dependsOn("later"))}, nil, "[later now] []"},
		"that needs another":         {[]lastmile.Task{task("later", 10, evening, dependsOn("now")), task("now", 20)}, nil, "[now] [later]"},
		"a drop-off and its pickup":  {[]lastmile.Task{task("now", 10, pickup), task("later", 10, evening, dependsOn("now"))}, nil, "[now] [later]"},
		"one of two drop-offs":       {[]lastmile.Task{task("now", 10, pickup), task("later", 10, evening, dependsOn("now")), task("soon", 20, dependsOn("now"))}, nil, "[now soon] [later]"},
		"a chain":                    {[]lastmile.Task{task("first", 10, evening), task("then", 20, evening, dependsOn("first")), task("now", 30, dependsOn("then"))}, nil, "[first then now] []"},
		"both of a pair":             {[]lastmile.Task{task("now", 10, pickup, evening), task("later", 10, evening, dependsOn("now"))}, nil, "[] [now later]"},
		"next to a pinned position":  {[]lastmile.Task{task("later", 10, evening), task("now", 20)}, map[lastmile.TaskID]lastmile.Pin{"now": lastmile.PinPosition}, "[later now] []"},
		"pinned to its worker":       {[]lastmile.Task{task("later", 10, evening)}, map[lastmile.TaskID]lastmile.Pin{"later": lastmile.PinWorker}, "[] [later]"},
		"although it has been begun": {[]lastmile.Task{task("later", 10, evening, func(t *lastmile.Task) { t.State = lastmile.TaskActive })}, nil, "[later] []"},
	} {
		w := worker("ada", tt.held...)
		w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{
			{Start: noon, End: noon.Add(time.Hour)}, {Start: noon.Add(4 * time.Hour), End: noon.Add(6 * time.Hour)},
		}}}
		s := situation([]lastmile.Task{task("drop-off", 50, dependsOn("now"))}, w)
		s.Pins, s.Options.MaxTasksPerRoute = tt.pins, 3
		m := filled(t, s)
		var got [2][]lastmile.TaskID
		most := 0
		for v := range m.now {
			for _, stop := range m.now[v] {
				got[v] = append(got[v], m.tasks[stop].ID)
			}
			most += m.Problem.Vehicles[v].MaxStops
		}
		if fmt.Sprint(got[0], " ", got[1]) != tt.want || most != 3 {
			t.Errorf("%s: the shifts have %v, want %s, and %d tasks at most", name, got, tt.want, most)
		}
		if end := m.Problem.Vehicles[0].ShiftEnd; (end == 3600) != (got[1] != nil || tt.held[0].State == lastmile.TaskActive) {
			t.Errorf("%s: the first shift ends after %d s", name, end)
		}
		solution, err := optimize.Solve(t.Context(), &m.Problem, optimize.Options{Seed: 1, Iterations: 200})
		if err != nil || optimize.Check(&m.Problem, solution) != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLaterShiftsStartWhereRoutesEnd has a worker with two shifts who is far away at first.
func TestLaterShiftsStartWhereRoutesEnd(t *testing.T) {
	hub := lastmile.Hub{Location: lastmile.Point{Lon: 0.01}}
	for end, want := range map[string]float64{EndAtTeamHub: 0.01, EndAtWorkerAddress: 0.02, "": 0.01} {
		w := worker("ada")
		w.Worker.Routing = &lastmile.Destination{Location: lastmile.Point{Lon: 0.02}}
		w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{
			{Start: noon, End: noon.Add(time.Hour)}, {Start: noon.Add(2 * time.Hour), End: noon.Add(3 * time.Hour)},
		}}}
		s := situation(nil, w)
		s.Hub, s.Options.RouteEnd = &hub, end
		m := filled(t, s)
		if first, second := m.Problem.Vehicles[0].Start, m.Problem.Vehicles[1].Start; m.Places[first].Lon != 0 || m.Places[second].Lon != want {
			t.Errorf("%q: the shifts start at %v and %v", end, m.Places[first], m.Places[second])
		}
	}
}

// TestReasonsNameTheShift leaves out the drop-off of a pickup that a worker with two shifts has.
func TestReasonsNameTheShift(t *testing.T) {
	w := worker("ada", task("far", 90_000), task("pick", 10, pickup))
	w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{
		{Start: noon, End: noon.Add(time.Hour)}, {Start: noon.Add(5 * time.Hour), End: noon.Add(6 * time.Hour)},
	}}}
	m := filled(t, situation([]lastmile.Task{task("drop", 80_000, dependsOn("pick"))}, w))
	why := m.Plan(m.Current()).Unplanned[0].Reasons
	if len(why) != 1 || why[0].Rule != lastmile.RuleSchedule || !strings.HasSuffix(why[0].Detail, "the shift ends at 13:00 UTC") {
		t.Errorf("the reasons are %+v", why)
	}
}

// TestReasonsNameDependencies leaves out a task that would delay another one, on which a task
// of another worker depends. That one has no window.
func TestReasonsNameDependencies(t *testing.T) {
	m := filled(t, situation([]lastmile.Task{task("new", -500, before(noon.Add(9*time.Minute)))},
		worker("ada", task("first", 10_000)), worker("bob", task("second", 12_000, dependsOn("first"), before(noon.Add(11*time.Minute))))))
	var got []string
	for _, r := range m.Plan(m.Current()).Unplanned[0].Reasons {
		got = append(got, fmt.Sprintf("%s: %s %s", r.Worker, r.Rule, r.Detail))
	}
	want := []string{
		"ada: dependency task first would have earliest start 12:20 UTC, latest 12:18 UTC because of a task on another route that depends on it",
		"bob: window task second would have earliest start 12:23 UTC, latest 12:11 UTC + 10 min",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the reasons are %q, want %q", got, want)
	}
}

// TestReasonsNameTheDay leaves out a task that would take until the next day.
func TestReasonsNameTheDay(t *testing.T) {
	w := worker("ada")
	w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{{Start: noon.Add(5 * time.Hour), End: noon.Add(6 * time.Hour)}}}}
	m := filled(t, situation([]lastmile.Task{task("far", 300_000)}, w))
	why := m.Plan(m.Current()).Unplanned[0].Reasons
	if want := "the route would end at 2026-03-03 01:22 UTC, the shift ends at 18:00 UTC"; len(why) != 1 || why[0].Detail != want {
		t.Errorf("the reasons are %+v, want %s", why, want)
	}
}

// TestReasonsNameWhereNoWayLeads leaves out tasks because no way leads to the end of the route,
// or to the next task.
func TestReasonsNameWhereNoWayLeads(t *testing.T) {
	s := situation([]lastmile.Task{task("new", 100, before(noon.Add(-5*time.Minute)))}, worker("ada"), worker("bob", task("held", 200)))
	s.EndHub = &lastmile.Hub{Location: lastmile.Point{Lon: 0.01}}
	m := filled(t, s)
	p := m.Problem.Profiles[0]
	held, fresh := m.Problem.Stops[0].Location, m.Problem.Stops[1].Location
	p.Duration[fresh*p.Size+held] = optimize.Unreachable
	p.Duration[fresh*p.Size+m.places[s.EndHub.Location]] = optimize.Unreachable
	p.Duration[held*p.Size+fresh] = optimize.Unreachable
	var got []string
	for _, r := range m.Plan(m.Current()).Unplanned[0].Reasons {
		got = append(got, fmt.Sprintf("%s: %s", r.Worker, r.Detail))
	}
	if want := []string{"ada: no way to the end of the route", "bob: no way to task held"}; !slices.Equal(got, want) {
		t.Errorf("the reasons are %q, want %q", got, want)
	}
}

// TestUnreachableWorkIsNotWorse compares plans of a worker who has a task that no way leads to.
func TestUnreachableWorkIsNotWorse(t *testing.T) {
	m := filled(t, situation(nil, worker("ada", task("island", 10), task("near", 20))))
	slow := lastmile.DispatchPlan{Cost: lastmile.DispatchCost{Travel: time.Hour}}
	fast := lastmile.DispatchPlan{Cost: lastmile.DispatchCost{Travel: time.Minute}, Unplanned: []lastmile.UnplannedTask{{Task: "island"}}}
	if !m.Better(fast, slow) || m.Better(slow, fast) {
		t.Error("a task that stays with its worker counts as left out")
	}
	fast.Unplanned[0].Task = "new"
	if m.Better(fast, slow) {
		t.Error("a task without a worker does not count")
	}
}

func TestExistingWorkStays(t *testing.T) {
	// The worker is overloaded, late and beyond the schedule already.
	w := worker("ada", task("active", 1000, func(t *lastmile.Task) { t.State = lastmile.TaskActive }),
		task("late", 90_000, before(noon.Add(-time.Hour)), quantity(7)), task("far", 300_000, quantity(7)))
	w.Worker.Capacity = 10
	w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{{Start: noon.Add(-time.Hour), End: noon.Add(time.Hour)}}}}
	m := filled(t, situation([]lastmile.Task{task("new", 50, before(noon.Add(time.Hour)))}, w))
	v := m.Problem.Vehicles[0]
	if !slices.Equal(v.Route, []int{0, 1, 2}) || v.Capacity[0] != 14_000 || v.ShiftEnd < 30_000 {
		t.Errorf("the vehicle is %+v", v)
	}
	if s := m.Problem.Stops[0]; !s.Pinned {
		t.Errorf("the active task is %+v", s)
	}
	if s := m.Problem.Stops[1]; s.MaxLateness < 3600+9000 {
		t.Errorf("the late task may be %d s late", s.MaxLateness)
	}
	if s := m.Problem.Stops[3]; s.MaxLateness != 600 {
		t.Errorf("a new task may be %d s late", s.MaxLateness)
	}
}

func TestArrivalInTimeIsNotLate(t *testing.T) {
	for arrived, want := range map[time.Duration]time.Duration{-time.Minute: 0, 5 * time.Minute: 5 * time.Minute} { // relative to the end of the window, which closed long ago
		w := worker("ada", task("active", 0, before(noon.Add(-time.Hour)), func(t *lastmile.Task) {
			t.State = lastmile.TaskActive
			t.Completion.Events = []lastmile.CompletionEvent{{Name: "arrival", At: noon.Add(-time.Hour + arrived)}}
		}))
		m := filled(t, situation(nil, w))
		if got := m.Before()[0].Cost.Lateness; got != want {
			t.Errorf("arrived %v after the window: late by %v, want %v", arrived, got, want)
		}
	}
}

// TestWindowsAreNotExceeded checks that windows that do not begin and end with a full second
// are rounded inwards, also those that have passed.
func TestWindowsAreNotExceeded(t *testing.T) {
	const part = 500 * time.Millisecond
	for _, at := range []time.Duration{-time.Minute, time.Minute} {
		m := filled(t, situation([]lastmile.Task{task("a", 10, func(t *lastmile.Task) {
			t.CompleteAfter, t.CompleteBefore = noon.Truncate(time.Second).Add(at-part), noon.Truncate(time.Second).Add(at+part)
		})}, worker("ada")))
		if s, want := m.Problem.Stops[0], int(at/time.Second); s.Earliest != want || s.Latest != want {
			t.Errorf("%v: the window is from %d to %d", at, s.Earliest, s.Latest)
		}
	}
	m := filled(t, situation([]lastmile.Task{task("a", 10, func(t *lastmile.Task) {
		t.CompleteAfter = noon.Truncate(time.Second).Add(time.Minute + part/2)
		t.CompleteBefore = t.CompleteAfter.Add(part)
	})}, worker("ada")))
	if s := m.Problem.Stops[0]; s.Earliest != 61 || s.Latest != 61 {
		t.Errorf("a window without a full second is from %d to %d", s.Earliest, s.Latest)
	}
}

func TestWhoTakesPart(t *testing.T) {
	busy, walker, lost, home := worker("busy", task("x", 1), task("y", 2)), worker("walker"), worker("lost"), worker("home")
	walker.Worker.Vehicle = nil
	lost.Worker.Whereabouts.Location = nil
	home.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{{Start: noon.Add(8 * time.Hour), End: noon.Add(9 * time.Hour)}}}}
	elsewhere := worker("elsewhere")
	elsewhere.Schedule = lastmile.Schedule{{Date: "2026-03-09", Timezone: "UTC"}}
	s := situation([]lastmile.Task{task("new", 50)}, busy, walker, lost, home, elsewhere, worker("ada"))
	if _, err := NewModel(s); err == nil || !strings.Contains(err.Error(), "filters.workers.vehicleType is required") {
		t.Errorf("different vehicles: %v", err)
	}
	s.Options.VehicleType, s.Options.MaxContainerSize = lastmile.Car, 1
	m := filled(t, s)
	var crew []string
	for _, c := range m.crew {
		crew = append(crew, string(c.Worker.ID))
	}
	if got := strings.Join(crew, " "); got != "elsewhere ada" {
		t.Errorf("%s take part", got)
	}
	if got := fmt.Sprint(m.excluded); !strings.Contains(got, "{busy filter has 2 tasks, at most 1}") || !strings.Contains(got, "{walker filter vehicle type none, required CAR}") ||
		!strings.Contains(got, "{lost distance no known location}") || !strings.Contains(got, "{home schedule no shift between 12:00 UTC and 18:00 UTC}") {
		t.Errorf("excluded: %s", got)
	}
}

func TestTasksThatWereNotRead(t *testing.T) {
	all := []lastmile.Task{task("x", 1), task("y", 2), task("z", 3)}
	busy, unread := worker("busy", all...), worker("busy", all[0])
	unread.Unread = []lastmile.TaskID{"y", "z"}
	s := situation(nil, unread)
	s.Options.MaxContainerSize = 2
	if m := filled(t, s); s.TakesPart(unread) || fmt.Sprint(m.excluded) != "[{busy filter has 3 tasks, at most 2}]" {
		t.Errorf("excluded: %v", m.excluded)
	}
	tasks := []lastmile.Task{task("after", 4, dependsOn("z")), task("alone", 5, dependsOn("gone"))}
	for len(tasks) < MaxTasks {
		tasks = append(tasks, task(fmt.Sprint("new", len(tasks)), 6))
	}
	for _, c := range []Candidate{busy, unread} {
		want := fmt.Sprintf("would consider %d tasks; at most %d are allowed", MaxTasks-1+3, MaxTasks)
		if _, err := NewModel(situation(tasks, c)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with %d unread tasks: %v, want %q", len(c.Unread), err, want)
		}
	}
}

func TestShiftsBecomeVehicles(t *testing.T) {
	w := worker("ada", task("held", 10))
	w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{
		{Start: noon.Add(2 * time.Hour), End: noon.Add(10 * time.Hour)}, {Start: noon.Add(-2 * time.Hour), End: noon.Add(time.Hour)},
	}}}
	m := filled(t, situation(nil, w))
	if v := m.Problem.Vehicles; len(v) != 2 || v[0].ShiftStart != 0 || v[0].ShiftEnd != 3600 || v[1].ShiftStart != 7200 || v[1].ShiftEnd != 21600 ||
		len(v[0].Route) != 1 || len(v[1].Route) != 0 {
		t.Errorf("the vehicles are %+v", v)
	}
}

// planned returns the plan of a situation, as a dispatch makes it.
func planned(t *testing.T, s Situation) lastmile.DispatchPlan {
	t.Helper()
	m := filled(t, s)
	searches := 0
	m, solution, err := m.Solve(func(m *Model) (*optimize.Solution, error) {
		if searches++; searches > 6 {
			t.Fatal("planning does not end")
		}
		solution, err := optimize.Solve(t.Context(), &m.Problem, optimize.Options{Seed: 1, Iterations: 200})
		if err == nil {
			err = optimize.Check(&m.Problem, solution)
		}
		return solution, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m.Plan(solution)
}

// TestExistingWorkStaysDespiteDependencies checks that a worker keeps a task even if a task
// linked to it by a dependency cannot be planned, or is late.
func TestExistingWorkStaysDespiteDependencies(t *testing.T) {
	small := func(id string, tasks ...lastmile.Task) Candidate {
		w := worker(id, tasks...)
		w.Worker.Capacity = 5
		return w
	}
	after := func(t *lastmile.Task) { t.CompleteAfter = noon.Add(2 * time.Hour) }
	for _, tt := range []struct {
		name string
		s    Situation
		want string // the routes, and the tasks that are left out
	}{
		{"a task that fits nowhere", situation([]lastmile.Task{task("big", 100, quantity(9))}, small("ada", task("held", 200, dependsOn("big")))), "ada: held; big"},
		{"a pickup that fits nowhere", situation([]lastmile.Task{task("big", 100, pickup, quantity(9))}, small("ada", task("held", 200, dependsOn("big"))), small("bob")), "ada: held; bob: ; big"},
		{"a drop-off that fits nowhere", situation([]lastmile.Task{task("drop", 30_000, before(noon.Add(time.Minute)), dependsOn("held"))}, small("ada", task("held", 200, pickup, quantity(2))), small("bob")), "ada: held; bob: ; drop"},
		{"a drop-off that fits", situation([]lastmile.Task{task("drop", 300, quantity(2), dependsOn("held"))}, small("bob"), small("ada", task("held", 200, pickup, quantity(2)))), "bob: ; ada: held drop"},
		{"a late task of another", situation(nil, small("ada", task("late", 100, after)), small("bob", task("held", 200, before(noon.Add(time.Hour)), dependsOn("late")))), "ada: late; bob: held"},
	} {
		plan := planned(t, tt.s)
		var parts []string
		for _, route := range plan.Routes {
			var stops []string
			for _, stop := range route.Stops {
				stops = append(stops, string(stop.Task))
			}
			parts = append(parts, string(route.Worker)+": "+strings.Join(stops, " "))
		}
		for _, u := range plan.Unplanned {
			parts = append(parts, string(u.Task))
			if len(u.Reasons) == 0 {
				t.Errorf("%s: no reason for %s", tt.name, u.Task)
			}
		}
		if got := strings.Join(parts, "; "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestSeveralPickupsOfADropOff checks that the load of two pickups with one drop-off is
// counted once.
func TestSeveralPickupsOfADropOff(t *testing.T) {
	w := worker("ada")
	w.Worker.Capacity = 4
	plan := planned(t, situation([]lastmile.Task{
		task("a", 100, pickup, quantity(2)), task("b", 200, pickup, quantity(2)), task("drop", 300, quantity(4), dependsOn("a", "b")),
	}, w))
	if len(plan.Unplanned) > 0 {
		t.Errorf("left out: %+v", plan.Unplanned)
	}
}

// TestShiftsShareTheRouteLength gives a worker with two shifts no more tasks than a worker
// with one.
func TestShiftsShareTheRouteLength(t *testing.T) {
	w := worker("ada", task("held", 10))
	w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{
		{Start: noon, End: noon.Add(time.Hour)}, {Start: noon.Add(2 * time.Hour), End: noon.Add(4 * time.Hour)},
	}}}
	for most, want := range map[int][]int{1: {1}, 3: {1, 2}, 100: {34, 66}} {
		s := situation(nil, w)
		s.Options.MaxTasksPerRoute = most
		var got []int
		for _, v := range filled(t, s).Problem.Vehicles {
			got = append(got, v.MaxStops)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d tasks, the shifts have %v", most, got)
		}
	}
}

// TestOverlappingShifts: the shifts of two days may overlap, but a worker has only one route
// at a time.
func TestOverlappingShifts(t *testing.T) {
	day := func(date string, hours ...int) (e lastmile.ScheduleEntry) {
		e.Date, e.Timezone = date, "UTC"
		for i := 0; i < len(hours); i += 2 {
			e.Shifts = append(e.Shifts, lastmile.Shift{Start: noon.Add(time.Duration(hours[i]) * time.Hour), End: noon.Add(time.Duration(hours[i+1]) * time.Hour)})
		}
		return e
	}
	w := worker("ada")
	w.Schedule = lastmile.Schedule{day("2026-03-04", 200, 300), day("2026-03-03", 2, 3, 4, 6), day("2026-03-02", -5, -4, -1, 1, 5, 6), day("2026-03-01", -30, -20)}
	s := situation(nil, w)
	var got [][2]int
	for _, v := range filled(t, s).Problem.Vehicles {
		got = append(got, [2]int{v.ShiftStart / 3600, v.ShiftEnd / 3600})
	}
	if want := [][2]int{{0, 1}, {2, 3}, {4, 6}}; !slices.Equal(got, want) {
		t.Errorf("the shifts in hours are %v, want %v", got, want)
	}
	relevant := Relevant(w.Schedule, s.Options.ScheduleWindow)
	if len(relevant) != 2 || len(relevant[0].Shifts)+len(relevant[1].Shifts) != 4 || !slices.Equal(Shifts(relevant, s.Options), Shifts(w.Schedule, s.Options)) {
		t.Errorf("%+v is relevant", relevant)
	}
}

// TestShiftsAreLimited has one shift more than the optimizer accepts.
func TestShiftsAreLimited(t *testing.T) {
	const each = 100
	var crew []Candidate
	for i := range optimize.MaxVehicles / each {
		w := worker(fmt.Sprint("w", i))
		e := lastmile.ScheduleEntry{Date: noon.Format(time.DateOnly), Timezone: "UTC"}
		for k := range each {
			start := noon.Add(time.Duration(2*k) * time.Minute)
			e.Shifts = append(e.Shifts, lastmile.Shift{Start: start, End: start.Add(time.Minute)})
		}
		w.Schedule = lastmile.Schedule{e}
		crew = append(crew, w)
	}
	if _, err := NewModel(situation(nil, crew...)); err != nil {
		t.Error(err)
	}
	if _, err := NewModel(situation(nil, append(crew, worker("one more"))...)); err == nil {
		t.Errorf("%d shifts were accepted", optimize.MaxVehicles+1)
	}
}

func TestRoutesOfNoTasks(t *testing.T) {
	s := situation([]lastmile.Task{task("a", 100)}, worker("ada"))
	s.Options.MaxTasksPerRoute, s.Options.MaxContainerSize = 0, 0
	m := filled(t, s)
	if plan := m.Plan(m.Nothing()); len(m.crew) > 0 || plan.Unplanned[0].Reasons[0].Rule != lastmile.RuleRouteLength {
		t.Errorf("%d workers take part, the plan is %+v", len(m.crew), plan)
	}
}

// TestShiftsBeforeNow ignores shifts that have ended, and uses the rest of one that began
// the day before.
func TestShiftsBeforeNow(t *testing.T) {
	window := lastmile.Window{From: noon.Add(-3 * time.Hour), To: noon.Add(6 * time.Hour)}
	for _, tt := range []struct {
		name       string
		start, end time.Duration // times of the shift, relative to noon
		window     lastmile.Window
		want       int // end of the vehicle's shift; 0 if the worker does not take part
	}{
		{"ended", -2 * time.Hour, -time.Hour, window, 0},
		{"from the day before", -13 * time.Hour, time.Hour, window, 3600},
		{"window has ended", -13 * time.Hour, time.Hour, lastmile.Window{From: noon.Add(-time.Hour), To: noon}, 0},
	} {
		w := worker("ada")
		at := noon.Add(tt.start)
		w.Schedule = lastmile.Schedule{{Date: at.Format(time.DateOnly), Timezone: "UTC", Shifts: []lastmile.Shift{{Start: at, End: noon.Add(tt.end)}}}}
		s := situation([]lastmile.Task{task("a", 100)}, w)
		s.Options.ScheduleWindow = tt.window
		m := filled(t, s)
		if v := m.Problem.Vehicles; tt.want == 0 && (len(v) > 0 || m.excluded[0].Rule != lastmile.RuleSchedule) || tt.want > 0 && (len(v) != 1 || v[0].ShiftEnd != tt.want) {
			t.Errorf("%s: the vehicles are %+v, excluded is %+v", tt.name, v, m.excluded)
		}
	}
}

func TestTasksThatCannotTakePart(t *testing.T) {
	s := situation([]lastmile.Task{
		task("a", 1, dependsOn("gone")), task("b", 2, dependsOn("a")), task("c", 3, dependsOn("done")), task("d", 4, before(noon.Add(-5*time.Hour))),
		task("e", 5, func(t *lastmile.Task) { t.CompleteAfter = noon.Add(5 * time.Hour) }),
	}, worker("ada"))
	s.Completed = map[lastmile.TaskID]bool{"done": true}
	m := filled(t, s)
	if len(m.tasks) != 1 || m.tasks[0].ID != "c" {
		t.Errorf("%+v take part", m.tasks)
	}
	if len(m.left) != 2 || m.left[0].Task != "a" || m.left[1].Task != "b" || m.left[0].Reasons[0].Rule != lastmile.RuleDependency {
		t.Errorf("%+v are left out", m.left)
	}
}

// TestDropOffsStayWithWhoPickedUp: what was picked up is with the worker who did that.
func TestDropOffsStayWithWhoPickedUp(t *testing.T) {
	bob := worker("bob")
	for _, hours := range [][2]int{{0, 1}, {2, 3}} {
		shift := lastmile.Shift{Start: noon.Add(time.Duration(hours[0]) * time.Hour), End: noon.Add(time.Duration(hours[1]) * time.Hour)}
		bob.Schedule = append(bob.Schedule, lastmile.ScheduleEntry{Date: noon.Format(time.DateOnly), Timezone: "UTC", Shifts: []lastmile.Shift{shift}})
	}
	s := situation([]lastmile.Task{
		task("drop", 100, dependsOn("by bob")), task("both", 200, dependsOn("by bob", "by ada")), task("next", 300, pickup, dependsOn("by bob")),
		task("other", 400, dependsOn("failed")), task("gone", 500, dependsOn("by eve")), task("last", 600, dependsOn("gone")),
	}, worker("ada"), bob)
	s.Completed = map[lastmile.TaskID]bool{"by ada": true, "by bob": true, "by eve": true, "failed": true}
	s.Carriers = map[lastmile.TaskID]lastmile.WorkerID{"by ada": "ada", "by bob": "bob", "by eve": "eve"}
	m := filled(t, s)
	var got [][]int
	for _, stop := range m.Problem.Stops {
		got = append(got, stop.Vehicles)
	}
	if want := [][]int{{1, 2}, nil, nil}; fmt.Sprint(got) != fmt.Sprint(want) || got[2] != nil {
		t.Errorf("the vehicles of the stops are %v, want %v", got, want)
	}
	if len(m.left) != 3 || m.left[0].Task != "both" || m.left[1].Task != "gone" || m.left[2].Task != "last" || !strings.Contains(m.left[1].Reasons[0].Detail, "eve") {
		t.Errorf("%+v are left out", m.left)
	}
}

// TestDropOffsOfDifferentWorkers: no worker has all that these drop-offs deliver, so that they
// are left out with that reason.
func TestDropOffsOfDifferentWorkers(t *testing.T) {
	s := situation([]lastmile.Task{
		task("carried", 100, dependsOn("by bob", "by ada")), task("mixed", 200, dependsOn("by bob", "of ada")), task("listed", 300, dependsOn("of ada", "of bob")),
		task("one", 400, dependsOn("by ada", "of ada", "plain")), task("plain", 500), task("next", 600, pickup, dependsOn("by bob", "of ada")),
	}, worker("ada", task("of ada", 1, pickup)), worker("bob", task("of bob", 2, pickup)))
	s.Completed = map[lastmile.TaskID]bool{"by ada": true, "by bob": true}
	s.Carriers = map[lastmile.TaskID]lastmile.WorkerID{"by ada": "ada", "by bob": "bob"}
	m := filled(t, s)
	var left []string
	for _, u := range m.left {
		left = append(left, fmt.Sprintf("%s: %s %s", u.Task, u.Reasons[0].Rule, u.Reasons[0].Detail))
	}
	const differ = "dependency depends on pickups of different workers: "
	want := []string{
		"carried: " + differ + "by bob of worker bob and by ada of worker ada",
		"mixed: " + differ + "by bob of worker bob and of ada of worker ada",
		"listed: " + differ + "of ada of worker ada and of bob of worker bob",
	}
	if !slices.Equal(left, want) {
		t.Errorf("%q are left out, want %q", left, want)
	}
	if at, ok := m.index["one"]; !ok || !slices.Equal(m.Problem.Stops[at].Vehicles, []int{0}) {
		t.Errorf("the stops are %+v", m.Problem.Stops)
	}
}

// TestUnreadTasksAreTooMany: a worker has tasks that were not read because others have too many,
// some of which would stay behind.
func TestUnreadTasksAreTooMany(t *testing.T) {
	far := func(t *lastmile.Task) { t.CompleteAfter = noon.Add(24 * time.Hour) }
	ada, bob := worker("ada", task("a", 1, far), task("b", 2)), worker("bob")
	bob.Unread = []lastmile.TaskID{"x"}
	if _, err := NewModel(situation([]lastmile.Task{task("new", 1, dependsOn("x"))}, ada, bob)); err == nil {
		t.Error("a situation with tasks that were not read was accepted")
	}
}

// TestLongChainsOfDependencies has as many tasks as a dispatch considers. Most of them depend on
// the next one and on many others, and the last one on a task that does not take part.
func TestLongChainsOfDependencies(t *testing.T) {
	const others = 99
	var tasks []lastmile.Task
	var on []lastmile.TaskID
	for i := range others {
		on = append(on, lastmile.TaskID(fmt.Sprint("other ", i)))
		tasks = append(tasks, task(string(on[i]), float64(i)))
	}
	for i := range MaxTasks - others {
		tasks = append(tasks, task(fmt.Sprint(i), float64(i), dependsOn(append(slices.Clone(on), lastmile.TaskID(fmt.Sprint(i+1)))...)))
	}
	m, err := NewModel(situation(tasks, worker("ada")))
	if err != nil || len(m.tasks) != others || len(m.left) != MaxTasks-others {
		t.Errorf("%d tasks take part, and %d are left out: %v", len(m.tasks), len(m.left), err)
	}
}

func TestDistancesAreLimited(t *testing.T) {
	for miles, ok := range map[float64]bool{150: true, 199: true, 201: false} {
		_, err := NewModel(situation([]lastmile.Task{task("far", miles*1609.344)}, worker("ada")))
		if (err == nil) != ok {
			t.Errorf("%.0f miles: %v", miles, err)
		}
	}
	// Around the earth, with the first and the last on either side of the date line.
	w := worker("ada")
	w.Worker.Whereabouts.Location = &lastmile.Point{Lon: 179.9}
	east, west := task("east", 0), task("west", 0)
	west.Destination.Location.Lon = -179.9
	if _, err := NewModel(situation([]lastmile.Task{west}, w)); err != nil {
		t.Errorf("across the date line: %v", err)
	}
	if _, err := NewModel(situation([]lastmile.Task{west, east}, w)); err == nil {
		t.Error("half of the earth is within 200 miles")
	}
}

// BenchmarkWideArea has as many tasks as a dispatch considers, in an area whose corners are
// almost 200 miles apart, so that the distances of all pairs are checked.
func BenchmarkWideArea(b *testing.B) {
	const side = 45
	s := situation(nil, worker("ada"))
	for i := range MaxTasks {
		made := task(fmt.Sprint(i), 0)
		made.Destination.Location = lastmile.Point{Lon: float64(i%side) * 2 / side, Lat: float64(i/side) * 2 / side}
		s.Tasks = append(s.Tasks, made)
	}
	for b.Loop() {
		if _, err := NewModel(s); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRouteEnds(t *testing.T) {
	hub, other := lastmile.Hub{Location: lastmile.Point{Lon: 0.01}}, lastmile.Hub{Location: lastmile.Point{Lon: 0.02}}
	w := worker("ada")
	w.Worker.Routing = &lastmile.Destination{Location: lastmile.Point{Lon: 0.03}}
	for end, want := range map[string]float64{EndAtTeamHub: 0.01, EndAtWorkerAddress: 0.03, "hub://x": 0.02, "": -1} {
		s := situation(nil, w)
		s.Hub, s.Options.RouteEnd = &hub, end
		if end == "hub://x" {
			s.EndHub = &other
		}
		m := filled(t, s)
		v := m.Problem.Vehicles[0]
		if got := v.End; (got == optimize.None) != (want < 0) || got != optimize.None && m.Places[got].Lon != want {
			t.Errorf("%q: ends at %d of %v", end, got, m.Places)
		}
	}
}

func TestRoutesNameTheSourceOfTheirTimes(t *testing.T) {
	m := filled(t, situation([]lastmile.Task{task("near", 100), task("far", 5000)}, worker("ada"), worker("bob")))
	routes := m.Plan(&optimize.Solution{Routes: []optimize.Route{
		{Visits: []optimize.Visit{{Stop: 0}}}, {Visits: []optimize.Visit{{Stop: 1}}},
	}}).Routes
	if len(routes) != 2 || routes[0].ByFormula || !routes[1].ByFormula {
		t.Errorf("the routes are %+v", routes)
	}
}
