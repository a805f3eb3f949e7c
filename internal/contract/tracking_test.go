package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

func TestTrackingContract(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c := p.Organization(t, "Acme")
		team := driverTeam(t, c, "Tracked", true)
		t.Run("every task of a worker is estimated in order", func(t *testing.T) { testEstimates(t, c, team) })
		t.Run("a task is estimated when it is started", func(t *testing.T) { testStartEstimates(t, c, team) })
		t.Run("late tasks are shown as late", func(t *testing.T) { testDelays(t, c, team) })
		t.Run("a worker is as late as the latest task", func(t *testing.T) { testWorkerDelay(t, c, team) })
		t.Run("a worker sees a delay before it happens", func(t *testing.T) { testPredictedDelay(t, c, team) })
		t.Run("estimates wait for the time window", func(t *testing.T) { testWindows(t, c, team) })
		t.Run("a worker who arrives in time is not late", func(t *testing.T) { testArrived(t, c, team) })
		t.Run("estimates follow the list", func(t *testing.T) { testEstimatesFollow(t, c, team) })
		t.Run("thresholds are met once for each task and webhook", func(t *testing.T) { testThresholds(t, p) })
		t.Run("a delay is predicted, and a late route plan reported, once", func(t *testing.T) { testPredictions(t, p) })
		t.Run("ten thousand positions of a broken receiver", func(t *testing.T) { testBrokenReceiver(t, p) })
	})
}

// driver creates a worker in a car, on duty, with a phone.
func driver(t testing.TB, c *apptest.Client, team, number string) (worker string, p *phone) {
	t.Helper()
	worker, p = hire(t, c, team, number)
	c.Must(t, http.MethodPut, "/workers/"+worker, map[string]any{"vehicle": map[string]any{"type": "CAR"}})
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	return worker, p
}

// at reports that a worker is now at a latitude. All locations of these tests have the same
// longitude.
func (p *phone) at(t testing.TB, lat float64) {
	t.Helper()
	p.report(t, []any{map[string]any{"location": []float64{-74, lat}, "time": p.platform.Now().UnixMilli()}})
}

func (p *phone) report(t testing.TB, positions []any) {
	t.Helper()
	p.call(t, http.MethodPost, "/positions", map[string]any{"positions": positions}).OK(t)
}

// taskOf creates a task of a worker at a latitude.
func taskOf(t testing.TB, c *apptest.Client, worker string, lat float64, more map[string]any) string {
	t.Helper()
	body := map[string]any{
		"destination": map[string]any{"address": map[string]any{"city": "New York", "country": "US"}, "location": []float64{-74, lat}},
		"container":   map[string]any{"type": "WORKER", "worker": worker},
	}
	maps.Copy(body, more)
	return driverTask(t, c, body)
}

// travels returns the expected travel time of a car between two latitudes, in seconds.
func travels(from, to float64) float64 {
	d, _ := travel.Approximate(lastmile.Car, lastmile.Point{Lon: -74, Lat: from}, lastmile.Point{Lon: -74, Lat: to})
	return d.Seconds()
}

// near reports whether a value is a number and differs from want by at most within.
func near(got any, want, within float64) bool {
	n, ok := got.(float64)
	return ok && math.Abs(n-want) <= within
}

func testEstimates(t *testing.T, c *apptest.Client, team string) {
	p := c.Platform
	worker, phone := driver(t, c, team, "+12125550401")
	first := taskOf(t, c, worker, 40.71, map[string]any{"serviceTime": 5})
	second := taskOf(t, c, worker, 40.72, nil)
	p.RefreshDue(t)
	if got := c.Must(t, http.MethodGet, "/tasks/"+first, nil); got["estimatedArrivalTime"] != nil || got["estimatedCompletionTime"] != nil || got["eta"] != nil {
		t.Errorf("estimated although the worker's location is unknown: %v", got)
	}
	phone.at(t, 40.7)
	p.RefreshDue(t)
	leg := travels(40.7, 40.71)
	now := float64(p.Now().UnixMilli())
	shown := c.Must(t, http.MethodGet, "/tasks/"+first, nil)
	if !near(shown["estimatedArrivalTime"], now+leg*1000, 5000) || !near(shown["estimatedCompletionTime"], now+(leg+300)*1000, 5000) || shown["eta"] != nil || shown["delayTime"] != nil {
		t.Errorf("first: arrival %v, completion %v, eta %v, delay %v", shown["estimatedArrivalTime"], shown["estimatedCompletionTime"], shown["eta"], shown["delayTime"])
	}
	page, _ := c.Must(t, http.MethodGet, fmt.Sprintf("/tasks/all?from=%d&worker=%s", p.Now().Add(-time.Hour).UnixMilli(), worker), nil)["tasks"].([]any)
	if listed, _ := page[0].(map[string]any); listed["estimatedCompletionTime"] != shown["estimatedCompletionTime"] {
		t.Errorf("listed with %v, shown with %v", listed["estimatedCompletionTime"], shown["estimatedCompletionTime"])
	}
	whole := 2*leg + 300 + travel.DefaultServiceTime.Seconds()
	if got := c.Must(t, http.MethodGet, "/tasks/"+second, nil); !near(got["estimatedCompletionTime"], now+whole*1000, 5000) {
		t.Errorf("second: completion %v, want about %v", got["estimatedCompletionTime"], now+whole*1000)
	}
	response := phone.do(t, "start", first, "s", nil)
	read := c.Must(t, http.MethodGet, "/tasks/"+first, nil)
	p.RefreshDue(t)
	for when, got := range map[string]map[string]any{"in the response": response, "at once": read, "later": c.Must(t, http.MethodGet, "/tasks/"+first, nil)} {
		if !near(got["eta"], leg, 1) || !near(got["estimatedCompletionTime"], now+(leg+300)*1000, 5000) || !near(got["estimatedArrivalTime"], now+leg*1000, 5000) {
			t.Errorf("started, %s: eta %v, completion %v, arrival %v", when, got["eta"], got["estimatedCompletionTime"], got["estimatedArrivalTime"])
		}
	}
	if got := c.Must(t, http.MethodGet, "/workers/"+worker, nil); !near(got["eta"], leg, 1) {
		t.Errorf("eta of the worker %v", got["eta"])
	}
	phone.do(t, "complete", first, "c", map[string]any{"success": true})
	if got := c.Must(t, http.MethodGet, "/tasks/"+first, nil); got["eta"] != nil || got["estimatedArrivalTime"] != nil {
		t.Errorf("completed and still estimated: %v", got)
	}
}

func testStartEstimates(t *testing.T, c *apptest.Client, team string) {
	p := c.Platform
	idler, slow := driver(t, c, team, "+12125550407")
	slow.at(t, 40.7)
	task := taskOf(t, c, idler, 40.72, nil)
	p.RefreshDue(t)
	p.Advance(40 * time.Second) // the estimate is that old
	if got := slow.do(t, "start", task, "i1", nil); !near(got["eta"], travels(40.7, 40.72), 1) {
		t.Errorf("leaves later than estimated: eta %v, want %v", got["eta"], travels(40.7, 40.72))
	}
	worker, phone := driver(t, c, team, "+12125550409")
	lost := taskOf(t, c, worker, 40.71, map[string]any{"completeBefore": p.Now().Add(-time.Hour).UnixMilli()})
	if got := phone.do(t, "start", lost, "s1", nil); got["eta"] != nil || got["estimatedArrivalTime"] != nil || got["estimatedCompletionTime"] != nil {
		t.Errorf("estimated although the worker's location is unknown: %v", got)
	} else if !near(got["delayTime"], 3600, 3) {
		t.Errorf("started after its window, late by %v, want about 3600", got["delayTime"])
	}
	phone.do(t, "complete", lost, "c1", map[string]any{"success": true})
	phone.at(t, 40.7)
	taskOf(t, c, worker, 40.71, nil)
	second := taskOf(t, c, worker, 40.72, map[string]any{"serviceTime": 5})
	for when, estimated := range map[string]bool{"before the list is estimated": false, "after": true} {
		if estimated {
			p.RefreshDue(t)
		}
		got := phone.do(t, "start", second, "s2"+when, nil) // before the first
		leg, now := travels(40.7, 40.72), float64(p.Now().UnixMilli())
		if !near(got["eta"], leg, 1) || !near(got["estimatedArrivalTime"], now+leg*1000, 5000) || !near(got["estimatedCompletionTime"], now+(leg+300)*1000, 5000) {
			t.Errorf("%s: eta %v, arrival %v, completion %v", when, got["eta"], got["estimatedArrivalTime"], got["estimatedCompletionTime"])
		}
		phone.do(t, "complete", second, "c2"+when, map[string]any{"success": true})
		second = taskOf(t, c, worker, 40.72, map[string]any{"serviceTime": 5})
	}
}

func testDelays(t *testing.T, c *apptest.Client, team string) {
	p := c.Platform
	worker, phone := driver(t, c, team, "+12125550402")
	phone.at(t, 40.7)
	due := p.Now().Add(time.Minute)
	more := map[string]any{"completeBefore": due.UnixMilli(), "serviceTime": 1}
	task := taskOf(t, c, worker, 40.75, more)
	free := driverTask(t, c, map[string]any{"completeBefore": due.UnixMilli()})
	p.RefreshDue(t)
	late := travels(40.7, 40.75) - 60 // the service time does not matter
	if got := c.Must(t, http.MethodGet, "/tasks/"+task, nil); !near(got["delayTime"], late, 3) {
		t.Errorf("delay %v, want about %v", got["delayTime"], late)
	}
	if got := c.Must(t, http.MethodGet, "/workers/"+worker, nil); !near(got["delayTime"], late, 3) {
		t.Errorf("delay of the worker %v, want about %v", got["delayTime"], late)
	}
	if got := c.Must(t, http.MethodGet, "/tasks/"+free, nil); got["delayTime"] != nil {
		t.Errorf("not due yet, and late by %v", got["delayTime"])
	}
	p.Advance(time.Hour)
	if got := c.Must(t, http.MethodGet, "/tasks/"+free, nil); !near(got["delayTime"], 3540, 30) {
		t.Errorf("the unassigned task is late by %v, want about 3540", got["delayTime"])
	}
	until := func(task string, in time.Duration, late bool) { // changes when the task is due
		t.Helper()
		got := c.Must(t, http.MethodPut, "/tasks/"+task, map[string]any{"completeBefore": p.Now().Add(in).UnixMilli()})["delayTime"]
		read := c.Must(t, http.MethodGet, "/tasks/"+task, nil)["delayTime"]
		if (got != nil) != late || (read != nil) != late || late && !near(got, read.(float64), 3) {
			t.Errorf("due in %v: late by %v in the response, and by %v when read", in, got, read)
		}
	}
	until(free, time.Hour, false)
	until(free, -time.Hour, true)
	until(task, -time.Hour, true)
	until(task, 10*time.Hour, false)
	past := map[string]any{"completeBefore": p.Now().Add(-time.Hour).UnixMilli()}
	given := taskOf(t, c, worker, 40.75, past)
	if got := c.Must(t, http.MethodPut, "/tasks/"+given, map[string]any{"container": map[string]any{"type": "ORGANIZATION", "organization": c.Organization.ID}}); !near(got["delayTime"], 3600, 3) {
		t.Errorf("unassigned, late by %v, want about 3600", got["delayTime"])
	}
	p.RefreshDue(t)
	if got := c.Must(t, http.MethodGet, "/workers/"+worker, nil); got["delayTime"] != nil {
		t.Errorf("the worker is late by %v with nothing late", got["delayTime"])
	}
}

// testWorkerDelay makes the task in the middle of a worker's list the latest one.
func testWorkerDelay(t *testing.T, c *apptest.Client, team string) {
	p := c.Platform
	worker, phone := driver(t, c, team, "+12125550461")
	var tasks []string
	for i, due := range []time.Duration{30 * time.Minute, 10 * time.Minute, 40 * time.Minute, 10 * time.Hour} {
		tasks = append(tasks, taskOf(t, c, worker, 40.71+float64(i)/100, map[string]any{"completeBefore": p.Now().Add(due).UnixMilli()}))
	}
	p.Advance(time.Hour)
	phone.at(t, 40.7)
	p.RefreshDue(t)
	var delays []float64
	for _, task := range tasks[:3] {
		delay, _ := c.Must(t, http.MethodGet, "/tasks/"+task, nil)["delayTime"].(float64)
		delays = append(delays, delay)
	}
	if delays[0] < 1800 || delays[1] < 3000 || delays[2] < 1200 || delays[1] != slices.Max(delays) {
		t.Fatalf("the tasks are late by %v", delays)
	}
	if got := c.Must(t, http.MethodGet, "/tasks/"+tasks[3], nil)["delayTime"]; got != nil {
		t.Errorf("the last task is late by %v", got)
	}
	if got := c.Must(t, http.MethodGet, "/workers/"+worker, nil)["delayTime"]; !near(got, delays[1], 1) {
		t.Errorf("the worker is late by %v, the tasks by %v", got, delays)
	}
}

// testPredictedDelay has a task become late because its worker does not leave: the
// phone gets an event, though nothing has changed but the estimate.
func testPredictedDelay(t *testing.T, c *apptest.Client, team string) {
	p := c.Platform
	worker, phone := driver(t, c, team, "+12125550406")
	phone.at(t, 40.7)
	leg := travels(40.7, 40.75)
	due := p.Now().Add(time.Duration(leg+60) * time.Second)
	task := taskOf(t, c, worker, 40.75, map[string]any{"completeBefore": due.UnixMilli()})
	p.RefreshDue(t)
	delay := func() any {
		t.Helper()
		tasks, _ := phone.call(t, http.MethodGet, "/tasks", nil).Object(t)["tasks"].([]any)
		shown, _ := tasks[0].(map[string]any)
		return shown["delayTime"]
	}
	list := phone.listen(t.Context(), t, "")
	if list.until(t, task); delay() != nil {
		t.Errorf("late by %v from the start", delay())
	}
	p.Advance(3 * time.Minute)
	p.RefreshDue(t)
	if list.until(t, task); !near(delay(), 120, 5) {
		t.Errorf("late by %v, want about 120", delay())
	}
}

// testWindows follows a task with a time window that the worker reaches too
// early: the API shows arrival and completion, the worker's phone the wait, and
// the recipient when service begins.
func testWindows(t *testing.T, c *apptest.Client, team string) {
	p := c.Platform
	worker, phone := driver(t, c, team, "+12125550405")
	phone.at(t, 40.7)
	opens := p.Now().Add(time.Hour)
	closes := opens.Add(30 * time.Minute)
	task := taskOf(t, c, worker, 40.75, map[string]any{"completeAfter": opens.UnixMilli(), "completeBefore": closes.UnixMilli(), "serviceTime": 5})
	next := taskOf(t, c, worker, 40.75, map[string]any{"completeBefore": opens.UnixMilli()})
	p.RefreshDue(t)
	leg, begins := travels(40.7, 40.75), float64(opens.UnixMilli())
	arrives := float64(p.Now().UnixMilli()) + leg*1000
	own := func(n int) map[string]any { // as the worker sees it
		t.Helper()
		tasks, _ := phone.call(t, http.MethodGet, "/tasks", nil).Object(t)["tasks"].([]any)
		got, _ := tasks[n].(map[string]any)
		return got
	}
	got := c.Must(t, http.MethodGet, "/tasks/"+task, nil)
	if !near(got["estimatedArrivalTime"], arrives, 5000) || !near(got["estimatedCompletionTime"], begins+300_000, 0) || got["delayTime"] != nil {
		t.Errorf("early: arrival %v, completion %v, delay %v", got["estimatedArrivalTime"], got["estimatedCompletionTime"], got["delayTime"])
	}
	if got := own(0); got["id"] != task || !near(got["estimatedServiceTime"], begins, 0) || !near(got["earlyTime"], 3600-leg, 5) || got["delayTime"] != nil {
		t.Errorf("the worker is shown service at %v, early by %v", got["estimatedServiceTime"], got["earlyTime"])
	}
	if got := own(1); got["id"] != next || !near(got["estimatedArrivalTime"], begins+300_000, 0) || got["earlyTime"] != nil || !near(got["delayTime"], 300, 0) {
		t.Errorf("the task after it: arrival %v, early by %v, late by %v", got["estimatedArrivalTime"], got["earlyTime"], got["delayTime"])
	}
	if got := state(t, link(t, c, task)); got["estimatedArrivalTime"] != begins {
		t.Errorf("the recipient expects %v, want %v", got["estimatedArrivalTime"], begins)
	}

	p.Advance(85 * time.Minute)
	phone.at(t, 40.7499)
	phone.do(t, "start", task, "w1", nil)
	p.Advance(4 * time.Minute)
	if got := phone.do(t, "arrive", task, "w2", nil); got["delayTime"] != nil || !near(got["eta"], 0, 0) {
		t.Errorf("arrived in the window: late by %v, eta %v", got["delayTime"], got["eta"])
	}
	p.Advance(20 * time.Minute) // the service lasts until after the window
	for _, when := range []string{"before a refresh", "after it"} {
		if got := c.Must(t, http.MethodGet, "/tasks/"+task, nil); got["delayTime"] != nil {
			t.Errorf("served from inside the window, and %s late by %v", when, got["delayTime"])
		}
		if got := state(t, link(t, c, task)); got["delayTime"] != nil {
			t.Errorf("the recipient reads %s that it is late by %v", when, got["delayTime"])
		}
		p.RefreshDue(t)
	}
}

// testArrived has workers arrive just before a window closes and just after it, with and
// without a known location, and stay. How late a task is does not change after that,
// wherever it is shown.
func testArrived(t *testing.T, c *apptest.Client, team string) {
	p := c.Platform
	for i, test := range []struct {
		name    string
		located bool
		arrives time.Duration // after the window closes
		onTime  float64
	}{
		{"in time", true, -time.Minute, 1},
		{"in time, without a location", false, -time.Minute, 1},
		{"late", true, 2 * time.Minute, 0},
		{"late, without a location", false, 2 * time.Minute, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			from := p.Now().Add(time.Second).UnixMilli()
			hook := c.Listen(t, lastmile.TriggerTaskDelayed, 240)
			worker, phone := driver(t, c, team, fmt.Sprintf("+1212555047%d", i))
			if test.located {
				phone.at(t, 40.7499)
			}
			task := taskOf(t, c, worker, 40.75, map[string]any{"completeBefore": p.Now().Add(10 * time.Minute).UnixMilli()})
			phone.do(t, "start", task, "s", nil)
			p.Advance(10*time.Minute + test.arrives)
			phone.do(t, "arrive", task, "a", nil)
			arrived := float64(p.Now().UnixMilli())
			p.Advance(20 * time.Minute)
			phone.do(t, "depart", task, "d", nil)
			phone.do(t, "arrive", task, "again", nil)

			want := max(test.arrives, 0).Seconds()
			is := func(where string, got any) {
				t.Helper()
				if want == 0 && got != nil || want > 0 && !near(got, want, 1) {
					t.Errorf("%s it is late by %v, want %v", where, got, want)
				}
			}
			for _, when := range []string{"before a refresh", "after it"} {
				is("in the API "+when, c.Must(t, http.MethodGet, "/tasks/"+task, nil)["delayTime"])
				own, _ := phone.call(t, http.MethodGet, "/tasks", nil).Object(t)["tasks"].([]any)
				is("on the phone "+when, own[0].(map[string]any)["delayTime"])
				is("for the recipient "+when, state(t, link(t, c, task))["delayTime"])
				preview := c.Must(t, http.MethodPost, "/workers/"+worker+"/preview", map[string]any{"tasks": []string{}})
				is("in a preview "+when, preview["tasks"].([]any)[0].(map[string]any)["delay"])
				tasks, _ := c.Must(t, http.MethodGet, "/board", nil)["tasks"].([]any)
				i := slices.IndexFunc(tasks, func(each any) bool { return each.(map[string]any)["id"] == task })
				if i < 0 {
					t.Fatalf("the task is not on the board: %v", tasks)
				}
				shown := tasks[i].(map[string]any)
				is("on the board "+when, shown["delayTime"])
				if shown["arrivalTime"] != arrived {
					t.Errorf("on the board %s the arrival is %v, want %v", when, shown["arrivalTime"], arrived)
				}
				p.RefreshDue(t)
			}
			is("for the worker", c.Must(t, http.MethodGet, "/workers/"+worker, nil)["delayTime"])
			if got := notified(t, c, hook); len(got) > 0 {
				t.Errorf("%d notifications of a delay", len(got))
			}
			phone.do(t, "complete", task, "c", map[string]any{"success": true})
			done := c.Must(t, http.MethodGet, fmt.Sprintf("/analytics?by=worker&from=%d&to=%d", from, p.Now().UnixMilli()+1), nil)["total"].(map[string]any)
			if done["completed"] != 1.0 || done["onTime"] != test.onTime || done["late"] != 1-test.onTime || done["early"] != 0.0 {
				t.Errorf("analytics count %v", done)
			}
		})
	}
}

func testEstimatesFollow(t *testing.T, c *apptest.Client, team string) {
	p := c.Platform
	worker, phone := driver(t, c, team, "+12125550403")
	phone.at(t, 40.7)
	first, second := taskOf(t, c, worker, 40.71, nil), taskOf(t, c, worker, 40.72, nil)
	p.RefreshDue(t)
	earlier := func(a, b string) bool {
		one, other := c.Must(t, http.MethodGet, "/tasks/"+a, nil), c.Must(t, http.MethodGet, "/tasks/"+b, nil)
		x, _ := one["estimatedCompletionTime"].(float64)
		y, _ := other["estimatedCompletionTime"].(float64)
		return x > 0 && y > 0 && x < y
	}
	if !earlier(first, second) {
		t.Error("the first is not estimated to be done first")
	}
	c.Must(t, http.MethodPut, "/containers/workers/"+worker, map[string]any{"tasks": []string{second, first}})
	p.RefreshDue(t)
	if !earlier(second, first) {
		t.Error("the estimates do not follow the order of the list")
	}
	c.Must(t, http.MethodPut, "/containers/organizations/"+string(c.Organization.ID), map[string]any{"tasks": []any{-1, second}})
	if got := c.Must(t, http.MethodGet, "/tasks/"+second, nil); got["estimatedCompletionTime"] != nil || got["estimatedArrivalTime"] != nil {
		t.Errorf("without a worker, and estimated: %v", got["estimatedCompletionTime"])
	}
	// Estimates are refreshed every ten minutes off duty, and every minute on duty.
	before := c.Must(t, http.MethodGet, "/tasks/"+first, nil)["estimatedCompletionTime"]
	p.Advance(travel.RefreshOnDuty)
	p.RefreshDue(t)
	if after := c.Must(t, http.MethodGet, "/tasks/"+first, nil)["estimatedCompletionTime"]; after == before {
		t.Error("not estimated again after a minute on duty")
	}
	phone.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": false}).OK(t)
	p.RefreshDue(t)
	before = c.Must(t, http.MethodGet, "/tasks/"+first, nil)["estimatedCompletionTime"]
	p.Advance(travel.RefreshOffDuty - time.Minute)
	p.RefreshDue(t)
	if after := c.Must(t, http.MethodGet, "/tasks/"+first, nil)["estimatedCompletionTime"]; after != before {
		t.Error("estimated again before ten minutes off duty")
	}
	p.Advance(time.Minute)
	p.RefreshDue(t)
	if after := c.Must(t, http.MethodGet, "/tasks/"+first, nil)["estimatedCompletionTime"]; after == before {
		t.Error("the estimate was not refreshed after ten minutes off duty")
	}
}

// notified returns the bodies of a webhook's notifications.
func notified(t testing.TB, c *apptest.Client, hook lastmile.WebhookID) []map[string]any {
	t.Helper()
	var bodies []map[string]any
	for _, id := range ids(list(t, c, "/webhooks/"+string(hook)+"/notifications")) {
		detailed := c.Must(t, http.MethodGet, "/webhooks/"+string(hook)+"/notifications/"+id, nil)
		body, _ := detailed["body"].(map[string]any)
		bodies = append(bodies, body)
	}
	return bodies
}

func testThresholds(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Thresholds")
	worker, phone := driver(t, c, driverTeam(t, c, "T", false), "+12125550404")
	soon, later := c.Listen(t, lastmile.TriggerTaskEta, 400), c.Listen(t, lastmile.TriggerTaskEta, 100)
	arrival, delay := c.Listen(t, lastmile.TriggerTaskArrival, 150), c.Listen(t, lastmile.TriggerTaskDelayed, 30)
	counts := func(when string, want ...int) {
		t.Helper()
		for i, hook := range []lastmile.WebhookID{soon, later, arrival, delay} {
			if got := notified(t, c, hook); len(got) != want[i] {
				t.Errorf("%s: webhook %d has %d notifications, want %d", when, i, len(got), want[i])
			}
		}
	}
	phone.at(t, 40.6)
	task := taskOf(t, c, worker, 40.7, map[string]any{"completeBefore": p.Now().Add(30 * time.Minute).UnixMilli()})
	next := taskOf(t, c, worker, 40.7, map[string]any{"completeBefore": p.Now().Add(-time.Minute).UnixMilli()})
	p.RefreshDue(t)
	counts("assigned only", 0, 0, 0, 0)
	phone.do(t, "start", task, "s", nil)
	p.RefreshDue(t)
	counts("far away", 0, 0, 0, 0)

	p.Advance(10 * time.Second)
	phone.at(t, 40.601)
	p.RefreshDue(t)
	p.Advance(9 * time.Minute)
	phone.at(t, 40.68)
	p.RefreshDue(t)
	counts("within 400 seconds", 1, 0, 0, 0)
	if body := notified(t, c, soon)[0]; !near(body["etaSeconds"], travels(40.68, 40.7), 0.01) || body["taskId"] != task || body["workerId"] != nil || body["triggerName"] != "taskEta" || body["data"].(map[string]any)["task"].(map[string]any)["id"] != task {
		t.Errorf("sent %v", body)
	}

	p.Advance(5 * time.Second) // measured just now
	phone.at(t, 40.685)
	p.RefreshDue(t)
	p.Advance(20 * time.Second)
	phone.at(t, 40.6995)
	p.RefreshDue(t)
	counts("measured a moment ago", 1, 0, 0, 0)
	p.Advance(6 * time.Second)
	p.RefreshDue(t)
	counts("half a minute later", 1, 1, 1, 0)
	if body := notified(t, c, arrival)[0]; !near(body["distance"], 55.5, 1) || body["triggerName"] != "taskArrival" {
		t.Errorf("sent %v", body)
	}

	p.Advance(22 * time.Minute)
	p.RefreshDue(t)
	counts("late", 1, 1, 1, 1)
	if body := notified(t, c, delay)[0]; !near(body["delay"], 160, 120) || body["triggerName"] != "taskDelayed" {
		t.Errorf("sent %v", body)
	}
	phone.at(t, 40.6995)
	p.Advance(time.Minute)
	p.RefreshDue(t)
	counts("and no second time", 1, 1, 1, 1)
	phone.do(t, "complete", task, "c", map[string]any{"success": true})
	phone.do(t, "start", next, "s2", nil)
	p.RefreshDue(t)
	counts("the next task reaches them again", 2, 2, 2, 2)

	quick := taskOf(t, c, worker, 40.72, nil)
	phone.do(t, "complete", next, "c2", map[string]any{"success": true})
	phone.do(t, "start", quick, "s3", nil)
	p.RefreshDue(t)
	p.Advance(20 * time.Second)
	phone.at(t, 40.7199)
	if got := notified(t, c, arrival); len(got) != 2 {
		t.Errorf("measured a moment ago: %d due", len(got))
	}
	phone.do(t, "complete", quick, "c3", map[string]any{"success": true})
	got := notified(t, c, arrival)
	if len(got) != 3 || got[0]["taskId"] != quick || !near(got[0]["distance"], 11, 1) {
		t.Errorf("there and done at once: %v", got)
	}
	p.Advance(time.Minute)
	p.RefreshDue(t)
	if got := notified(t, c, arrival); len(got) != 3 {
		t.Errorf("done before: %d due", len(got))
	}
}

func testPredictions(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Predictions")
	worker, phone := driver(t, c, driverTeam(t, c, "T", false), "+12125550405")
	predicted, plans := c.Listen(t, lastmile.TriggerPredictedTaskDelay, 0), c.Listen(t, lastmile.TriggerRoutePlanDelayed, 0)
	phone.at(t, 40.6)
	task := taskOf(t, c, worker, 40.7, map[string]any{"completeBefore": p.Now().Add(time.Minute).UnixMilli()})
	plan := c.Must(t, http.MethodPost, "/routePlans", map[string]any{
		"name": "P", "startTime": p.Now().Add(-time.Hour).UnixMilli(), "tasks": []string{task}, "worker": worker,
	})
	for range 3 {
		p.RefreshDue(t)
		p.Advance(2 * time.Minute)
		phone.at(t, 40.6)
	}
	sent := notified(t, c, predicted)
	if len(sent) != 1 || sent[0]["taskId"] != task || sent[0]["data"].(map[string]any)["delayTime"] == nil {
		t.Errorf("predicted %v", sent)
	}
	late := notified(t, c, plans)
	if len(late) != 1 || late[0]["routePlanId"] != plan["id"] {
		t.Errorf("late plans %v", late)
	}
}

// testBrokenReceiver reports a drive to a task as a broken receiver does: every position
// twice, out of order, mixed with positions of the future, of long ago and on other
// continents.
func testBrokenReceiver(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Broken")
	worker, phone := driver(t, c, driverTeam(t, c, "T", false), "+12125550406")
	eta, arrival := c.Listen(t, lastmile.TriggerTaskEta, 120), c.Listen(t, lastmile.TriggerTaskArrival, 100)
	task := taskOf(t, c, worker, 40.7, nil)
	phone.do(t, "start", task, "s", map[string]any{"time": p.Now().Add(-2 * time.Hour).UnixMilli()})

	const total, inOne = 10_000, 500
	random := rand.New(rand.NewPCG(7, 7))
	now := p.Now()
	position := func(lon, lat float64, at time.Time) any {
		return map[string]any{"location": []float64{lon, lat}, "time": at.UnixMilli()}
	}
	drive := func(i int) any { // an hour to the task, a position a second
		return position(-74, 40.6+0.1*float64(i)/3599, now.Add(time.Duration(i-3599)*time.Second))
	}
	var sent []any
	for i := range 3600 {
		sent = append(sent, drive(i), drive(i))
	}
	for len(sent) < total {
		wrong := now.Add(-time.Duration(random.IntN(3600_000)) * time.Millisecond)
		sent = append(sent, []any{
			position(-74, 40.7, now.Add(2*time.Hour)), position(-74, 40.7, now.Add(-48*time.Hour)), position(100, -30, wrong),
		}[random.IntN(3)])
	}
	random.Shuffle(len(sent)-1, func(i, j int) { sent[i+1], sent[j+1] = sent[j+1], sent[i+1] }) // the first is true
	for i := 0; i < total; i += inOne {
		phone.report(t, sent[i:i+inOne])
		p.RefreshDue(t)
		p.Advance(time.Second)
	}
	p.Advance(time.Minute)
	p.RefreshDue(t)
	shown := c.Must(t, http.MethodGet, "/workers/"+worker, nil)
	if place, _ := json.Marshal(shown["location"]); string(place) != "[-74,40.7]" {
		t.Errorf("the worker is at %s", place)
	}
	if got := notified(t, c, eta); len(got) != 1 {
		t.Errorf("%d notifications of the time to the task, want 1", len(got))
	}
	if got := notified(t, c, arrival); len(got) != 1 {
		t.Errorf("%d notifications of the arrival, want 1", len(got))
	}
}
