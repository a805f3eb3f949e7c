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

// dispatched returns the tasks on the route of each worker in a plan, and the reasons of those that
// are left out.
func dispatched(t *testing.T, s Situation) (routes, left []string) {
	t.Helper()
	plan := planned(t, s)
	for _, r := range plan.Routes {
		var stops []string
		for _, stop := range r.Stops {
			stops = append(stops, string(stop.Task))
		}
		routes = append(routes, strings.Join(stops, " "))
	}
	for _, u := range plan.Unplanned {
		for _, r := range u.Reasons {
			left = append(left, fmt.Sprintf("%s %s: %s %s", u.Task, r.Worker, r.Rule, r.Detail))
		}
	}
	return routes, left
}

// TestImpossibleDropOffs: a pickup and its other drop-offs are planned without those that are not
// possible.
func TestImpossibleDropOffs(t *testing.T) {
	past := before(noon.Add(-20 * time.Minute))
	for name, tt := range map[string]struct {
		tasks        []lastmile.Task
		routes, left []string
	}{
		"too late": {
			[]lastmile.Task{task("pick", 100, pickup), task("a", 200, dependsOn("pick")), task("b", 300, dependsOn("pick"), past)},
			[]string{"pick a"},
			[]string{"b ada: window earliest start 12:02 UTC, latest 11:40 UTC + 10 min"},
		},
		"too much": {
			[]lastmile.Task{task("pick", 100, pickup), task("a", 200, dependsOn("pick"), quantity(6)), task("b", 300, dependsOn("pick"), quantity(100))},
			[]string{"pick a"},
			[]string{"b ada: capacity capacity 100 of 10"},
		},
		"too much together": {
			[]lastmile.Task{task("pick", 100, pickup), task("a", 200, dependsOn("pick"), quantity(4)), task("b", 300, dependsOn("pick"), quantity(9)), task("c", 400, dependsOn("pick"), quantity(5))},
			[]string{"pick a c"},
			[]string{"b ada: capacity capacity 18 of 10"},
		},
		"too late, with room for its load": {
			[]lastmile.Task{task("pick", 100, pickup), task("a", 200, dependsOn("pick"), quantity(4)), task("b", 300, dependsOn("pick"), quantity(6), past)},
			[]string{"pick a"},
			[]string{"b ada: window earliest start 12:02 UTC, latest 11:40 UTC + 10 min"},
		},
		"too late, without room for its load": {
			[]lastmile.Task{task("pick", 100, pickup), task("a", 200, dependsOn("pick"), quantity(4)), task("b", 300, dependsOn("pick"), quantity(7), past)},
			[]string{"pick a"},
			[]string{"b ada: capacity capacity 11 of 10", "b ada: window earliest start 12:02 UTC, latest 11:40 UTC + 10 min"},
		},
		"too much for the pickup itself": {
			[]lastmile.Task{task("pick", 100, pickup, quantity(11)), task("a", 200, dependsOn("pick"), quantity(1)), task("b", 300, dependsOn("pick"), quantity(10))},
			[]string{""},
			[]string{"pick ada: capacity capacity 11 of 10", "a ada: capacity capacity 11 of 10", "b ada: capacity capacity 11 of 10"},
		},
		"with one that needs it": {
			[]lastmile.Task{task("pick", 100, pickup), task("a", 200, dependsOn("pick")), task("b", 300, dependsOn("pick"), past), task("c", 400, dependsOn("pick", "b"))},
			[]string{"pick a"},
			[]string{"b ada: window earliest start 12:02 UTC, latest 11:40 UTC + 10 min", "c ada: dependency depends on task b, which is left out"},
		},
		"of two pickups": {
			[]lastmile.Task{
				task("pick", 100, pickup), task("other", 150, pickup), task("a", 200, dependsOn("pick")), task("b", 300, dependsOn("pick", "other"), past), task("c", 400, dependsOn("other")),
			},
			[]string{"pick other a c"},
			[]string{"b ada: window earliest start 12:04 UTC, latest 11:40 UTC + 10 min"},
		},
		"all": {
			[]lastmile.Task{task("pick", 100, pickup), task("a", 200, dependsOn("pick"), past), task("b", 300, dependsOn("pick"), quantity(11))},
			[]string{""},
			[]string{
				"pick ada: window task a would have earliest start 12:02 UTC, latest 11:40 UTC + 10 min", "a ada: window earliest start 12:02 UTC, latest 11:40 UTC + 10 min",
				"b ada: capacity capacity 11 of 10",
			},
		},
	} {
		w := worker("ada")
		w.Worker.Capacity = 10
		routes, left := dispatched(t, situation(tt.tasks, w))
		if !slices.Equal(routes, tt.routes) || !slices.Equal(left, tt.left) {
			t.Errorf("%s: the routes are %q, left out are %q", name, routes, left)
		}
	}
}

// TestImpossibleDropOffsOfSeveralPickups: two pickups have impossible drop-offs, and there is room
// for one of them on each route.
func TestImpossibleDropOffsOfSeveralPickups(t *testing.T) {
	past := before(noon.Add(-20 * time.Minute))
	short := func(minutes time.Duration, w Candidate) Candidate {
		w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{{Start: noon, End: noon.Add(minutes * time.Minute)}}}}
		return w
	}
	tasks := []lastmile.Task{
		task("pick", 100, pickup), task("a", 200, dependsOn("pick")), task("b", 300, dependsOn("pick"), past),
		task("other", 100, pickup), task("c", 200, dependsOn("other")), task("d", 300, dependsOn("other"), past),
	}
	routes, _ := dispatched(t, situation(tasks, short(5, worker("ada")), short(5, worker("bob"))))
	slices.Sort(routes)
	if want := []string{"other c", "pick a"}; !slices.Equal(routes, want) {
		t.Errorf("the routes are %q", routes)
	}
	_, left := dispatched(t, situation(tasks, short(5, worker("ada")), short(1, worker("bob"))))
	if slices.ContainsFunc(left, func(reason string) bool { return strings.Contains(reason, "filter") && !strings.HasPrefix(reason, "b") }) {
		t.Errorf("left out are %q", left)
	}
}

// TestImpossibleDropOffsAndChains: a worker has a task that is as late as it may be, and depends on
// another one.
func TestImpossibleDropOffsAndChains(t *testing.T) {
	routes, left := dispatched(t, situation([]lastmile.Task{
		task("pick", 100, pickup), task("a", 200, dependsOn("pick")), task("b", 300, dependsOn("pick"), before(noon.Add(-20*time.Minute))),
	}, worker("ada", task("first", 1000), task("second", 2000, dependsOn("first"), before(noon.Add(-time.Hour))))))
	if routes[0] != "first second pick a" || len(left) != 1 {
		t.Errorf("the route is %q, left out are %q", routes, left)
	}
}

// TestDropOffsInLaterShifts: drop-offs are planned for the second shift of a worker, because the
// first is too short or too early, and the pickup is in the first.
func TestDropOffsInLaterShifts(t *testing.T) {
	evening := func(t *lastmile.Task) { t.CompleteAfter = noon.Add(5 * time.Hour) }
	for name, tt := range map[string]struct {
		held, tasks []lastmile.Task
		want        string
	}{
		"of a pickup that the worker has": {[]lastmile.Task{task("pick", 100, pickup)}, []lastmile.Task{task("drop", 200, dependsOn("pick"), evening, quantity(10))}, "pick drop"},
		"of a full shift":                 {[]lastmile.Task{task("pick", 100, pickup), task("long", 24_000)}, []lastmile.Task{task("drop", -24_000, dependsOn("pick"))}, "pick long drop"},
		"of a shift that is too short":    {[]lastmile.Task{task("pick", 100, pickup), task("long", 40_000)}, []lastmile.Task{task("drop", 200, dependsOn("pick"))}, "pick long drop"},
		"without room in the first":       {[]lastmile.Task{task("pick", 100, pickup), task("plain", 200, quantity(4), dependsOn("pick"))}, []lastmile.Task{task("drop", 300, dependsOn("pick"), quantity(7))}, "pick plain"},
		"of a new pickup":                 {nil, []lastmile.Task{task("pick", 100, pickup, before(noon.Add(time.Hour))), task("soon", 200, dependsOn("pick")), task("drop", 300, dependsOn("pick"), evening, quantity(10))}, "pick soon drop"},
		"two that the worker has":         {[]lastmile.Task{task("pick", 100, pickup, quantity(10)), task("drop", 300, dependsOn("pick"), evening, quantity(10))}, []lastmile.Task{task("plain", 50, quantity(1), evening)}, "pick drop"},
	} {
		w := worker("ada", tt.held...)
		w.Worker.Capacity = 10
		w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{
			{Start: noon, End: noon.Add(time.Hour)}, {Start: noon.Add(4 * time.Hour), End: noon.Add(6 * time.Hour)},
		}}}
		s := situation(tt.tasks, w)
		s.Options.TaskWindow.To = noon.Add(10 * time.Hour)
		if routes, left := dispatched(t, s); routes[0] != tt.want {
			t.Errorf("%s: the route is %q, left out are %q", name, routes, left)
		}
	}
}

// TestListsThatContradictDependencies: a worker has a task before the one that it depends on, and
// the other order would make it late.
func TestListsThatContradictDependencies(t *testing.T) {
	w := worker("ada", task("far", 12_000, dependsOn("late"), before(noon.Add(20*time.Minute))), task("late", -3000, before(noon.Add(-time.Hour))))
	if routes, left := dispatched(t, situation(nil, w)); routes[0] != "far late" || len(left) > 0 {
		t.Errorf("the route is %q, left out are %q", routes, left)
	}
}

// TestKeepingTheOrder is the last resort if the optimizer does not find an order in which nothing
// becomes worse. It ends if it does not help.
func TestKeepingTheOrder(t *testing.T) {
	m := filled(t, situation(nil, worker("ada", task("a", 100), task("b", 200)), worker("bob", task("c", 300))))
	pinned := func() (all []bool) {
		for _, stop := range m.Problem.Stops {
			all = append(all, stop.Pinned)
		}
		return all
	}
	if !keepOrder(m, []int{1}) || !slices.Equal(pinned(), []bool{true, true, false}) {
		t.Errorf("pinned are %v", pinned())
	}
	if keepOrder(m, []int{0, 1}) || slices.Contains(pinned(), true) {
		t.Errorf("pinned are %v", pinned())
	}
}

// TestPickupsLoadMoreIfThereIsRoom: a pickup of the route loads what an impossible drop-off unloads
// only if there is room for that.
func TestPickupsLoadMoreIfThereIsRoom(t *testing.T) {
	for much, want := range map[float64]int{6: 10_000, 7: 4_000} {
		w := worker("ada")
		w.Worker.Capacity = 10
		m := filled(t, situation([]lastmile.Task{
			task("pick", 100, pickup), task("a", 200, dependsOn("pick"), quantity(4)), task("b", 300, dependsOn("pick"), quantity(much), before(noon.Add(-time.Hour))),
		}, w))
		m, found := split(m, &optimize.Solution{Routes: make([]optimize.Route, 1), Unserved: []int{0, 1, 2}})
		if got := m.Problem.Stops[0].Change[0]; got != want || !found {
			t.Errorf("%g: the pickup loads %d, want %d", much, got, want)
		}
	}
}

// TestReasonsWithoutRoomAtFirst: there would be no room for a drop-off in the current order, but
// there is in the plan.
func TestReasonsWithoutRoomAtFirst(t *testing.T) {
	w := worker("ada", task("pick", 100, pickup), task("plain", 50, quantity(6)))
	w.Worker.Capacity = 10
	routes, left := dispatched(t, situation([]lastmile.Task{task("drop", 200, dependsOn("pick"), quantity(5), before(noon.Add(-time.Hour)))}, w))
	if len(left) != 1 || !strings.HasPrefix(left[0], "drop ada: window") || routes[0] != "plain pick" {
		t.Errorf("the route is %q, left out are %q", routes, left)
	}
}

// TestOnlyWithRoomForDropOffs: a worker has a pickup. The capacity does not become larger for its
// drop-off, which no worker has.
func TestOnlyWithRoomForDropOffs(t *testing.T) {
	for much, want := range map[float64]string{4: "plain pick drop", 11: "plain pick"} {
		w := worker("ada", task("plain", 50, quantity(6)), task("pick", 100, pickup))
		w.Worker.Capacity = 10
		routes, left := dispatched(t, situation([]lastmile.Task{task("drop", 200, dependsOn("pick"), quantity(much)), task("new", 10, quantity(11))}, w))
		if routes[0] != want || !strings.HasPrefix(left[len(left)-1], "new ada: capacity") || len(left) != 1+int(much)/11 {
			t.Errorf("%g: the route is %q, left out are %q", much, routes, left)
		}
	}
}

// TestShiftsThatAreTooShort: a worker has more to do than the shift is long. In the better order the
// shift is long enough, or ends earlier than in the current one.
func TestShiftsThatAreTooShort(t *testing.T) {
	held := []lastmile.Task{task("far", 12_000), task("near", 100), task("middle", 6000)} // 20, 22 and 32 minutes after noon
	for minutes, want := range map[int]string{60: "near new middle far", 30: "near new middle far", 27: "near middle far", 20: "near middle far"} {
		w := worker("ada", slices.Clone(held)...)
		w.Schedule = lastmile.Schedule{{Date: "2026-03-02", Timezone: "UTC", Shifts: []lastmile.Shift{{Start: noon, End: noon.Add(time.Duration(minutes) * time.Minute)}}}}
		routes, left := dispatched(t, situation([]lastmile.Task{task("new", 110)}, w))
		if routes[0] != want || len(left) > 0 && !strings.HasPrefix(left[0], "new ada: schedule the route would end at 12:2") {
			t.Errorf("%d minutes: the route is %q, left out are %q", minutes, routes, left)
		}
	}
}
