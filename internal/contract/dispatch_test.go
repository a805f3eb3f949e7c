package contract_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func init() {
	register("POST /teams/{id}/dispatch", [2]string{`{"maxTasksPerRoute":5}`, `{"maxTasksPerRoute":6}`},
		idPlace{field: "{id}", kind: "team", body: `{}`, missing: notFound})
	register("POST /workers/{id}/dispatch", [2]string{`{"serviceTime":5}`, `{"serviceTime":6}`},
		idPlace{field: "{id}", kind: "worker", body: `{}`, missing: notFound})
	register("GET /dispatches/{id}", [2]string{}, idPlace{field: "{id}", kind: "dispatch", missing: notFound})
	register("POST /dispatches/{id}/stop", [2]string{`{}`, `{"reason":"late"}`}, idPlace{field: "{id}", kind: "dispatch", body: `{}`, missing: notFound, own: preconditionFailed})
	register("POST /dispatches/{id}/discard", [2]string{`{}`, `{"reason":"late"}`}, idPlace{field: "{id}", kind: "dispatch", body: `{}`, missing: notFound, own: preconditionFailed})
	register("POST /dispatches/{id}/undone", [2]string{`{}`, `{"reason":"late"}`}, idPlace{field: "{id}", kind: "dispatch", body: `{}`, missing: notFound})
	register("POST /dispatches/{id}/apply", [2]string{`{}`, `{"reason":"late"}`}, idPlace{field: "{id}", kind: "dispatch", body: `{}`, missing: notFound, own: preconditionFailed})
}

// quick makes the optimizer take as little time as possible.
func quick(c *app.Config) { c.DispatchTime = time.Second }

// depot is an organization with a team, its hub and workers on duty.
type depot struct {
	*apptest.Client
	team, hub string
	workers   []string
}

func newDepot(t testing.TB, p *apptest.Platform, name string, workers int, more string) depot {
	t.Helper()
	d := depot{Client: p.Organization(t, name)}
	d.hub = id(t, d.Client, "/hubs", `{"name":"Depot","address":{"number":"1","street":"Main St","city":"Springfield","country":"United States"},"location":[-73.99,40.73]}`)
	d.team = id(t, d.Client, "/teams", `{"name":"Vans","workers":[],"managers":[],"hub":"`+d.hub+`"}`)
	for range workers {
		d.workers = append(d.workers, d.worker(t, lastmile.Point{Lon: -73.99, Lat: 40.73}, `,"vehicle":{"type":"CAR"}`+more))
	}
	return d
}

// worker makes a worker on duty.
func (d depot) worker(t testing.TB, at lastmile.Point, more string) string {
	t.Helper()
	made := id(t, d.Client, "/workers", `{"name":"W","phone":"`+string(apptest.Phone())+`","teams":["`+d.team+`"]`+more+`}`)
	d.duty(t, made, true, &at)
	return made
}

// duty puts a worker on or off duty.
func (d depot) duty(t testing.TB, worker string, on bool, at *lastmile.Point) {
	t.Helper()
	now := d.Platform.Now()
	place(t, d.Platform.Store.Write, d.Client, worker, lastmile.Whereabouts{OnDuty: on, Location: at, LocatedAt: now, LastSeen: now})
}

// drop makes a task in the team, some meters from the hub.
func (d depot) drop(t testing.TB, east, north float64, more ...string) string {
	t.Helper()
	return id(t, d.Client, "/tasks", fmt.Sprintf(`{"destination":{"address":{"city":"X","country":"Y"},"location":[%f,%f]},"recipients":[],"container":{"type":"TEAM","team":"%s"}%s}`,
		-73.99+east/84_000, 40.73+north/111_000, d.team, strings.Join(more, "")))
}

// run dispatches the team and returns the result.
func (d depot) run(t testing.TB, body string) map[string]any {
	t.Helper()
	started := d.Must(t, "POST", "/teams/"+d.team+"/dispatch", body)
	matches(t, started, `{"dispatchId":"<id>"}`)
	return d.await(t, fmt.Sprint(started["dispatchId"]))
}

// await waits for the end of a dispatch.
func (d depot) await(t testing.TB, id string) (shown map[string]any) {
	t.Helper()
	apptest.Until(t, "the dispatch has ended", func() bool {
		shown = d.Must(t, "GET", "/dispatches/"+id, nil)
		return status(shown) != "pending" && status(shown) != "running" && status(shown) != "applying"
	})
	return shown
}

func status(dispatch map[string]any) string {
	return fmt.Sprint(dispatch["processingDetails"].(map[string]any)["status"])
}

// plan is the plan of a dispatch.
type plan struct {
	Routes []struct {
		RouteID string
		Stops   []struct {
			ID                                string
			ArrivalTime, DepartTime, Lateness int64
		}
	}
	Unplanned []struct {
		ID      string
		Reasons []struct{ Worker, Rule, Detail string }
	}
}

func planOf(t testing.TB, dispatch map[string]any) (p plan) {
	t.Helper()
	if err := json.Unmarshal(encode(t, dispatch["plan"]), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// list returns the tasks of a worker.
func (d depot) list(t testing.TB, worker string) []string {
	t.Helper()
	var tasks []string
	for _, id := range d.Must(t, "GET", "/containers/workers/"+worker, nil)["tasks"].([]any) {
		tasks = append(tasks, id.(string))
	}
	return tasks
}

func TestDispatchContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		t.Run("tasks are assigned along routes", func(t *testing.T) { testDispatchAssigns(t, p) })
		t.Run("the planned service time is used for estimates", func(t *testing.T) { testDispatchServiceTime(t, p) })
		t.Run("every rule at once", func(t *testing.T) { testDispatchRules(t, p) })
		t.Run("full workers and long routes", func(t *testing.T) { testDispatchSizes(t, p) })
		t.Run("where routes end", func(t *testing.T) { testDispatchEnds(t, p) })
		t.Run("invalid requests", func(t *testing.T) { testDispatchRejects(t, p) })
		t.Run("one at a time", func(t *testing.T) { testDispatchOnce(t, p) })
		t.Run("dry run", func(t *testing.T) { testDispatchDryRun(t, p) })
		t.Run("a task that is deleted after a dry run", func(t *testing.T) { testDispatchDeleted(t, p) })
		t.Run("a schedule that changes after a dry run", func(t *testing.T) { testDispatchSchedule(t, p) })
		t.Run("a dry run is compared, discarded and applied", func(t *testing.T) { testDispatchDiscard(t, p) })
		t.Run("the route of one worker", func(t *testing.T) { testDispatchWorker(t, p) })
		t.Run("a task that was moved meanwhile stays where it is", func(t *testing.T) { testDispatchMoved(t, p) })
	}, quick)
}

func testDispatchAssigns(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "vans", 2, "")
	var tasks []string
	for i := range 6 { // a row to the west and one to the east
		tasks = append(tasks, d.drop(t, float64(i%2*2-1)*1000*float64(1+i/2), 0))
	}
	shown := d.run(t, ``)
	has(t, shown, "team", d.team)
	has(t, shown, "dryRun", false)
	if status(shown) != "success" {
		t.Fatalf("the dispatch is %v", shown["processingDetails"])
	}
	var assigned []string
	for _, route := range planOf(t, shown).Routes {
		var stops []string
		last := int64(0)
		for _, stop := range route.Stops {
			stops = append(stops, stop.ID)
			if stop.ArrivalTime <= last || stop.DepartTime != stop.ArrivalTime+120_000 {
				t.Errorf("stop %+v follows %d", stop, last)
			}
			last = stop.DepartTime
		}
		if got := d.list(t, route.RouteID); !slices.Equal(got, stops) {
			t.Errorf("the list of %s is %v, planned %v", route.RouteID, got, stops)
		}
		assigned = append(assigned, stops...)
	}
	slices.Sort(assigned)
	slices.Sort(tasks)
	if !slices.Equal(assigned, tasks) {
		t.Errorf("assigned %v of %v", assigned, tasks)
	}
	var triggers []string
	for _, body := range p.Events(t, d.Organization.ID) {
		var event struct {
			TriggerName, DispatchID string
			Data                    struct{ Dispatch map[string]any }
		}
		if err := json.Unmarshal(body, &event); err != nil {
			t.Fatal(err)
		}
		if event.TriggerName == "taskAssigned" || event.TriggerName == "autoDispatchJobCompleted" {
			triggers = append(triggers, event.TriggerName)
		}
		if event.Data.Dispatch != nil {
			has(t, event.Data.Dispatch, "id", shown["id"])
			if event.DispatchID != shown["id"] || len(event.Data.Dispatch["tasks"].([]any)) != 6 || status(event.Data.Dispatch) != "success" {
				t.Errorf("the event is %s", body)
			}
		}
	}
	if want := append(slices.Repeat([]string{"taskAssigned"}, 6), "autoDispatchJobCompleted"); !slices.Equal(triggers, want) {
		t.Errorf("the triggers are %v", triggers)
	}
	d.drop(t, 500, 500)
	if again := d.run(t, `null`); status(again) != "success" || len(planOf(t, again).Unplanned) > 0 {
		t.Errorf("another dispatch ends with %v", again["plan"])
	}
}

// testDispatchServiceTime: a task without its own service time is estimated with that of
// the dispatch.
func testDispatchServiceTime(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "services", 0, "")
	_, phone := driver(t, d.Client, d.team, "+12125550471")
	phone.at(t, 40.73)
	planned, own := d.drop(t, 500, 0), d.drop(t, 1000, 0, `,"serviceTime":5`)
	for _, minutes := range []float64{23, 11} { // the second dispatch moves nothing
		if shown := d.run(t, fmt.Sprintf(`{"serviceTime":%v}`, minutes)); status(shown) != "success" {
			t.Fatalf("the dispatch is %v", shown["processingDetails"])
		}
		phone.at(t, 40.73)
		for task, want := range map[string]float64{planned: minutes, own: 5} {
			apptest.Until(t, fmt.Sprintf("the task is estimated with %v minutes", want), func() bool {
				p.Advance(time.Second) // estimates are refreshed at intervals
				p.RefreshDue(t)
				shown := d.Must(t, "GET", "/tasks/"+task, nil)
				arrival, known := shown["estimatedArrivalTime"].(float64)
				return known && near(shown["estimatedCompletionTime"], arrival+want*60_000, 0)
			})
		}
	}
}

// testDispatchRules dispatches tasks with windows, pairs and capacities among workers
// who have some already.
func testDispatchRules(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "rules", 8, `,"capacity":20`)
	rng := rand.New(rand.NewPCG(1, 2))
	far := func() float64 { return rng.Float64()*8000 - 4000 }
	now := p.Now()
	type rule struct {
		after, before int64
		pickup        string
		holder        string
	}
	rules := map[string]rule{}
	for i := range 40 {
		var r rule
		more := fmt.Sprintf(`,"quantity":%d`, 1+rng.IntN(3))
		if i%2 == 0 {
			from := now.Add(time.Duration(rng.IntN(120)) * time.Minute)
			r.after, r.before = from.UnixMilli(), from.Add(time.Hour).UnixMilli()
			more += fmt.Sprintf(`,"completeAfter":%d,"completeBefore":%d`, r.after, r.before)
		}
		if i%5 == 0 {
			r.pickup = d.drop(t, far(), far(), `,"pickupTask":true,"quantity":2`)
			rules[r.pickup] = rule{}
			more += `,"dependencies":["` + r.pickup + `"]`
		}
		made := d.drop(t, far(), far(), more)
		if i%8 == 1 {
			r.holder = d.workers[i/8]
			d.Must(t, "PUT", "/containers/workers/"+r.holder, `{"tasks":[-1,"`+made+`"]}`)
		}
		rules[made] = r
	}
	impossible := d.drop(t, 20, 20, `,"quantity":21`)
	rules[impossible] = rule{}
	shown := d.run(t, `{"maxAllowedDelay":5,"routeEnd":"hub://`+d.hub+`"}`)
	if status(shown) != "success" {
		t.Fatalf("the dispatch is %v", shown["processingDetails"])
	}
	seen := map[string]string{}
	left := map[string]int64{}
	planned := planOf(t, shown)
	for _, route := range planned.Routes {
		for _, stop := range route.Stops {
			r := rules[stop.ID]
			start := stop.DepartTime - 120_000
			if r.before > 0 && (start < r.after-1000 || start > r.before+5*60_000) {
				t.Errorf("task %s starts at %d, outside of %d to %d", stop.ID, start, r.after, r.before)
			}
			if r.holder != "" && r.holder != route.RouteID {
				t.Errorf("task %s of worker %s is now on the route of %s", stop.ID, r.holder, route.RouteID)
			}
			if r.pickup != "" && (seen[r.pickup] != route.RouteID || left[r.pickup] > start) {
				t.Errorf("task %s is not after its pickup %s", stop.ID, r.pickup)
			}
			seen[stop.ID], left[stop.ID] = route.RouteID, stop.DepartTime
		}
	}
	for _, task := range planned.Unplanned {
		if len(task.Reasons) != 8 {
			t.Errorf("task %s has %d reasons", task.ID, len(task.Reasons))
		}
		for _, reason := range task.Reasons {
			if task.ID == impossible && reason.Rule != "capacity" || reason.Detail == "" {
				t.Errorf("task %s is left out because of %+v", task.ID, reason)
			}
		}
		seen[task.ID] = "none"
	}
	if len(seen) != len(rules) || seen[impossible] != "none" || len(planned.Unplanned) != 1 {
		t.Errorf("%d of %d tasks are planned, %d are not", len(seen), len(rules), len(planned.Unplanned))
	}
}

func testDispatchRejects(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "wrong", 1, "")
	path := "/teams/" + d.team + "/dispatch"
	now := p.Now().Unix()
	for body, c := range map[string]struct {
		want rejection
		word string
	}{
		`{"maxTasksPerRoute":201}`:                                     {invalid, "maxTasksPerRoute"},
		`{"maxTasksPerRoute":-1}`:                                      {invalid, "maxTasksPerRoute"},
		`{"maxTasksPerRoute":"many"}`:                                  {malformed, "maxTasksPerRoute"},
		`{"maxTasksPerRoute":5.5}`:                                     {malformed, "maxTasksPerRoute"},
		`{"maxAllowedDelay":0}`:                                        {invalid, "maxAllowedDelay"},
		`{"serviceTime":-1}`:                                           {invalid, "serviceTime"},
		`{"serviceTime":1.5}`:                                          {malformed, "serviceTime must be a whole number of minutes"},
		`{"serviceTime":"1.5"}`:                                        {malformed, "serviceTime"},
		`{"serviceTime":99999999999}`:                                  {invalid, "serviceTime must be between 0 and 10080 minutes"},
		`{"maxAllowedDelay":1.5}`:                                      {malformed, "maxAllowedDelay"},
		`{"routeEnd":"nowhere"}`:                                       {invalid, "routeEnd"},
		`{"routeEnd":""}`:                                              {invalid, "routeEnd"},
		`{"routeEnd":"hub://` + unknownID + `"}`:                       {notFound, unknownID},
		`{"taskTimeWindow":[1767225600]}`:                              {malformed, "taskTimeWindow"},
		`{"taskTimeWindow":5}`:                                         {malformed, "taskTimeWindow"},
		fmt.Sprintf(`{"taskTimeWindow":[%d,%d]}`, now, now+13*3600):    {invalid, "taskTimeWindow"},
		fmt.Sprintf(`{"scheduleTimeWindow":[%d,%d]}`, now-4*3600, now): {invalid, "scheduleTimeWindow"},
		`{"filters":{"workers":{"maxContainerSize":101}}}`:             {invalid, "maxContainerSize"},
		`{"filters":{"workers":{"vehicleType":"BOAT"}}}`:               {invalid, "vehicleType"},
		`{"filters":{"workers":{"vehicleType":""}}}`:                   {invalid, "vehicleType"},
	} {
		c.want.check(t, send(t, d.Client, "POST", path, body), c.word)
	}
	for message, hours := range map[string][2]int64{ // from now
		"taskTimeWindow must not end in the past":     {-2, -1},
		"taskTimeWindow must not be longer":           {-6, 11},
		"scheduleTimeWindow must not end in the past": {-2, -1},
		"scheduleTimeWindow must end within":          {1, 17},
		"scheduleTimeWindow must not be longer":       {-2, 15},
	} {
		field, _, _ := strings.Cut(message, " ")
		invalid.check(t, d.Call(t, "POST", path, fmt.Sprintf(`{%q:[%d,%d]}`, field, now+hours[0]*3600, now+hours[1]*3600)), message)
	}
	// As long as allowed.
	d.run(t, fmt.Sprintf(`{"maxTasksPerRoute":200,"serviceTime":21.0,"maxAllowedDelay":3.0,"taskTimeWindow":[%d,%d],"scheduleTimeWindow":[%d,%d],"dryRun":true}`, now-4*3600, now+12*3600, now-2*3600, now+14*3600))
	d.worker(t, lastmile.Point{Lon: -73.99, Lat: 40.73}, `,"vehicle":{"type":"BICYCLE"}`)
	invalid.check(t, send(t, d.Client, "POST", path, `{}`), "filters.workers.vehicleType is required")
	if shown := d.run(t, `{"filters":{"workers":{"vehicleType":"BICYCLE"}}}`); status(shown) != "success" {
		t.Errorf("the dispatch is %v", shown["processingDetails"])
	}
	invalid.check(t, send(t, d.Client, "POST", path, `{"filters":{"workers":{"vehicleType":"BICYCLE","anyVehicle":true}}}`), "anyVehicle")
	shown := d.run(t, `{"filters":{"workers":{"anyVehicle":true}}}`)
	options := shown["options"].(map[string]any)
	if status(shown) != "success" || len(planOf(t, shown).Routes) != 2 || options["anyVehicle"] != true || options["vehicleType"] != nil {
		t.Errorf("the dispatch for any vehicle is %v", shown)
	}
	far := newDepot(t, p, "far", 1, "")
	far.drop(t, 400_000, 0)
	invalid.check(t, send(t, far.Client, "POST", "/teams/"+far.team+"/dispatch", `{}`), "200 miles")
	alone := newDepot(t, p, "alone", 0, "")
	task := alone.drop(t, 100, 0)
	lonely := alone.run(t, `{}`)
	if left := planOf(t, lonely).Unplanned; len(left) != 1 || left[0].ID != task || len(left[0].Reasons) != 1 || left[0].Reasons[0].Rule != "schedule" {
		t.Errorf("without workers: %+v", lonely)
	}
}

// testDispatchSizes dispatches two tasks to a worker who has three.
func testDispatchSizes(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "sizes", 1, "")
	for i := range 3 {
		d.Must(t, "PUT", "/containers/workers/"+d.workers[0], `{"tasks":[-1,"`+d.drop(t, float64(100*i), 100)+`"]}`)
	}
	d.drop(t, 400, 0)
	d.drop(t, 500, 0)
	for body, want := range map[string]struct {
		left int
		rule lastmile.DispatchRule
	}{
		`{"dryRun":true,"maxTasksPerRoute":4,"filters":{"workers":{"maxContainerSize":2}}}`: {2, lastmile.RuleFilter},
		`{"dryRun":true,"maxTasksPerRoute":2}`:                                              {2, lastmile.RuleFilter}, // the default of maxContainerSize
		`{"dryRun":true,"maxTasksPerRoute":4,"filters":{"workers":{"maxContainerSize":3}}}`: {1, lastmile.RuleRouteLength},
		`{"dryRun":true,"maxTasksPerRoute":5}`:                                              {0, ""},
	} {
		left := planOf(t, d.run(t, body)).Unplanned
		if len(left) != want.left {
			t.Errorf("%s leaves %d tasks, want %d: %+v", body, len(left), want.left, left)
		}
		for _, task := range left {
			if len(task.Reasons) != 1 || task.Reasons[0].Rule != string(want.rule) {
				t.Errorf("%s leaves a task because of %+v, want %s", body, task.Reasons, want.rule)
			}
		}
	}
}

// testDispatchEnds dispatches a task one kilometer from the hub to a worker whose address
// is three kilometers from it.
func testDispatchEnds(t *testing.T, p *apptest.Platform) {
	at := func(km float64) string {
		return fmt.Sprintf(`{"address":{"number":"1","street":"Main St","city":"X","country":"Y"},"location":[%f,40.73]`, -73.99+km*1000/84_000)
	}
	d := newDepot(t, p, "ends", 1, `,"addresses":{"routing":`+at(3)+`}}`)
	other := id(t, d.Client, "/hubs", at(6)+`,"name":"Other"}`)
	d.drop(t, 1000, 0)
	distance := func(end string) float64 {
		t.Helper()
		shown := d.run(t, `{"dryRun":true`+end+`}`)
		return shown["plan"].(map[string]any)["cost"].(map[string]any)["distance"].(float64)
	}
	one := distance(`,"routeEnd":null`)
	for end, want := range map[string]float64{
		``: 2, `,"routeEnd":"teams://DEFAULT"`: 2, `,"routeEnd":"workers://ROUTING_ADDRESS"`: 3, `,"routeEnd":"hub://` + other + `"`: 6,
	} {
		if got := distance(end); !near(got, want*one, one/20) {
			t.Errorf("with %s the route has %v m, want about %v", end, got, want*one)
		}
	}
}

func testDispatchOnce(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "once", 1, "")
	d.drop(t, 100, 100)
	var (
		mu      sync.Mutex
		started []string
		calls   sync.WaitGroup
	)
	release := p.HoldPlanning() // until all have called, and it is stopped
	defer release()
	for range 8 {
		calls.Go(func() {
			a := send(t, d.Client, "POST", "/teams/"+d.team+"/dispatch", `{}`)
			if a.Status != 200 {
				preconditionFailed.check(t, a, "auto-dispatch is already in progress for this team")
				return
			}
			mu.Lock()
			defer mu.Unlock()
			started = append(started, fmt.Sprint(a.Object(t)["dispatchId"]))
		})
	}
	calls.Wait()
	if len(started) != 1 {
		t.Fatalf("%d dispatches run", len(started))
	}
	preconditionFailed.check(t, send(t, d.Client, "POST", "/dispatches/"+started[0]+"/apply", `{}`), "only the plan of a dry run")
	send(t, d.Client, "POST", "/dispatches/"+started[0]+"/stop", ``).OK(t)
	release()
	d.await(t, started[0])
	preconditionFailed.check(t, send(t, d.Client, "POST", "/dispatches/"+started[0]+"/stop", `{}`), "cannot be stopped")
}

func testDispatchDryRun(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "dry", 1, "")
	first, second := d.drop(t, 100, 100), d.drop(t, 200, 100)
	shown := d.run(t, `{"dryRun":true}`)
	if status(shown) != "planned" || len(d.list(t, d.workers[0])) > 0 || len(shown["changes"].([]any)) > 0 {
		t.Fatalf("the dry run is %v", shown)
	}
	path := fmt.Sprint("/dispatches/", shown["id"])
	d.Must(t, "PUT", "/containers/workers/"+d.workers[0], `{"tasks":[-1,"`+first+`"]}`)
	changed := d.Must(t, "GET", path, nil)
	if got := fmt.Sprint(changed["changes"]); !strings.Contains(got, "task "+first+" is now on the list of worker "+d.workers[0]) || !strings.Contains(got, "task "+first+" is no longer in the team") {
		t.Errorf("the changes are %s", got)
	}
	if cause := fmt.Sprint(preconditionFailed.check(t, send(t, d.Client, "POST", path+"/apply", `{}`))); !strings.Contains(cause, first) || strings.Contains(cause, second) {
		t.Errorf("the cause is %s", cause)
	}
	again := d.run(t, `{"dryRun":true}`)
	path = fmt.Sprint("/dispatches/", again["id"])
	d.Must(t, "POST", path+"/apply", `{}`)
	if applied := d.await(t, fmt.Sprint(again["id"])); status(applied) != "success" || len(d.list(t, d.workers[0])) != 2 {
		t.Errorf("the applied plan is %v", applied)
	}
	preconditionFailed.check(t, send(t, d.Client, "POST", path+"/apply", `{}`), "only once")
}

// testDispatchDeleted: a task of a plan that was deleted is one difference, and the plan
// still has its short id and address.
func testDispatchDeleted(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "deleted", 1, "")
	had, waits := d.drop(t, 100, 100), d.drop(t, 200, 100)
	ada := d.workers[0]
	d.Must(t, "PUT", "/containers/workers/"+ada, `{"tasks":[-1,"`+had+`"]}`)
	path := fmt.Sprint("/dispatches/", d.run(t, `{"dryRun":true}`)["id"])
	short := d.Must(t, "GET", "/tasks/"+had, nil)["shortId"]
	for _, gone := range []string{had, waits} {
		d.Call(t, "DELETE", "/tasks/"+gone, nil).OK(t)
	}
	shown := d.Must(t, "GET", path, nil)
	all := shown["differences"].([]any)
	if len(all) != 2 || len(shown["changes"].([]any)) != 2 {
		t.Fatalf("two deleted tasks are %s", encode(t, all))
	}
	for _, one := range all {
		matches(t, one, `{"what":"taskEnded","task":"<id>","worker":"`+ada+`"}`)
	}
	for _, task := range shown["tasks"].([]any) {
		if task := task.(map[string]any); task["address"] != "X, Y" || task["id"] == had && task["shortId"] != short {
			t.Errorf("the plan knows the task as %v", task)
		}
	}
	preconditionFailed.check(t, send(t, d.Client, "POST", path+"/apply", `{}`), "does not fit any more")
}

// testDispatchSchedule: a plan is not applied if the schedule of a worker has changed since
// it was made.
func testDispatchSchedule(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "shifts", 2, "")
	ada := d.workers[0]
	d.duty(t, d.workers[1], false, nil)
	task := d.drop(t, 100, 100)
	now := p.Now()
	works := func(from, to time.Duration) {
		t.Helper()
		start, end := now.Add(from), now.Add(to)
		d.Must(t, "POST", "/workers/"+ada+"/schedule", fmt.Sprintf(`{"entries":[{"date":%q,"timezone":"UTC","shifts":[[%d,%d]]}]}`, start.UTC().Format(time.DateOnly), start.UnixMilli(), end.UnixMilli()))
	}
	works(time.Minute, 4*time.Hour)
	shown := d.run(t, `{"dryRun":true}`)
	path := fmt.Sprint("/dispatches/", shown["id"])
	shifts := shown["plan"].(map[string]any)["routes"].([]any)[0].(map[string]any)["shifts"].([]any)
	if len(shifts) != 1 || fmt.Sprintf("%.0f", shifts[0].([]any)[1]) != fmt.Sprint(now.Add(4*time.Hour).UnixMilli()) {
		t.Errorf("the shifts are %v", shifts)
	}
	differences := func() string { return string(encode(t, d.Must(t, "GET", path, nil)["differences"])) }

	works(time.Minute, 2*time.Hour)
	if got, want := differences(), `[{"task":null,"what":"workerSchedule","worker":"`+ada+`"}]`; got != want {
		t.Errorf("the differences are %s, want %s", got, want)
	}
	if cause := fmt.Sprint(preconditionFailed.check(t, send(t, d.Client, "POST", path+"/apply", `{}`))); !strings.Contains(cause, "worker "+ada+" has another schedule") {
		t.Errorf("the cause is %s", cause)
	}
	if got := d.list(t, ada); len(got) > 0 {
		t.Errorf("a plan for another schedule has assigned %v", got)
	}
	d.Must(t, "POST", "/workers/"+ada+"/schedule", `{"entries":[]}`) // works all day
	if got := differences(); !strings.Contains(got, "workerSchedule") {
		t.Errorf("a schedule that was removed makes no difference: %s", got)
	}
	works(time.Minute, 4*time.Hour)
	d.Must(t, "POST", path+"/apply", `{}`)
	if applied := d.await(t, fmt.Sprint(shown["id"])); status(applied) != "success" || !slices.Equal(d.list(t, ada), []string{task}) {
		t.Errorf("the plan that fits again is %v", applied)
	}
}

// testDispatchDiscard: a dry run shows the routes as they were, and who has requested and
// applied it. A plan that was discarded is not applied.
func testDispatchDiscard(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "compare", 1, "")
	ada := d.workers[0]
	far, near, next, fresh := d.drop(t, 5000, 0), d.drop(t, 1000, 0), d.drop(t, 5000, 200), d.drop(t, 2000, 0)
	d.Must(t, "PUT", "/containers/workers/"+ada, fmt.Sprintf(`{"tasks":[%q,%q,%q]}`, far, near, next))
	shown := d.run(t, `{"dryRun":true}`)
	type routes []struct {
		RouteID string
		Stops   []struct{ ID string }
		Cost    struct{ Travel, Distance int64 }
	}
	var before, after routes
	if err := errors.Join(json.Unmarshal(encode(t, shown["before"]), &before), json.Unmarshal(encode(t, shown["plan"].(map[string]any)["routes"]), &after)); err != nil {
		t.Fatal(err)
	}
	if len(before) != 1 || before[0].RouteID != ada || len(before[0].Stops) != 3 || before[0].Stops[0].ID != far || before[0].Stops[1].ID != near {
		t.Fatalf("the routes before are %+v", before)
	}
	if len(after) != 1 || len(after[0].Stops) != 4 || before[0].Cost.Travel <= 0 || before[0].Cost.Distance <= after[0].Cost.Distance {
		t.Errorf("the routes are %+v before and %+v after", before, after)
	}
	has(t, shown, "appliedBy", nil)
	if by := shown["requestedBy"].(map[string]any); by["type"] != "API" || by["id"] == "" {
		t.Errorf("the dispatch was requested by %v", by)
	}

	path := fmt.Sprint("/dispatches/", shown["id"])
	if discarded := d.Must(t, "POST", path+"/discard", `{}`); status(discarded) != "discarded" {
		t.Errorf("the plan that was discarded is %s", status(discarded))
	}
	preconditionFailed.check(t, send(t, d.Client, "POST", path+"/discard", `{}`), "is discarded")
	preconditionFailed.check(t, send(t, d.Client, "POST", path+"/apply", `{}`), "is discarded")
	if got := d.list(t, ada); !slices.Equal(got, []string{far, near, next}) {
		t.Errorf("a plan that was discarded has changed the list to %v", got)
	}

	again := fmt.Sprint(d.run(t, `{"dryRun":true}`)["id"])
	d.Must(t, "POST", "/dispatches/"+again+"/apply", `{}`)
	applied := d.await(t, again)
	if fmt.Sprint(applied["appliedBy"]) != fmt.Sprint(shown["requestedBy"]) || !slices.Contains(d.list(t, ada), fresh) {
		t.Errorf("the plan was applied by %v, and the list is %v", applied["appliedBy"], d.list(t, ada))
	}
	preconditionFailed.check(t, send(t, d.Client, "POST", "/dispatches/"+again+"/discard", `{}`), "is success")
	if listed := list(t, d.Client, "/teams/"+d.team+"/dispatches"); len(listed) != 2 || status(listed[1]) != "discarded" || listed[0]["requestedBy"] == nil {
		t.Errorf("the dispatches of the team are %v", listed)
	}

	undoTime := func() any {
		return list(t, d.Client, "/teams/"+d.team+"/dispatches")[0]["processingDetails"].(map[string]any)["undoTime"]
	}
	preconditionFailed.check(t, send(t, d.Client, "POST", "/dispatches/"+again+"/undone", `{}`), "is not undone")
	d.Must(t, "PUT", "/containers/teams/"+d.team, fmt.Sprintf(`{"tasks":[-1,%q]}`, fresh))
	preconditionFailed.check(t, send(t, d.Client, "POST", "/dispatches/"+again+"/undone", `{}`), "is not undone") // the order
	if at := undoTime(); at != nil {
		t.Errorf("undone at %v, before it was", at)
	}
	d.Must(t, "PUT", "/containers/workers/"+ada, fmt.Sprintf(`{"tasks":[%q,%q,%q]}`, far, near, next))
	d.Must(t, "POST", "/dispatches/"+again+"/undone", `{}`)
	first := undoTime()
	d.Must(t, "POST", "/dispatches/"+again+"/undone", `{}`)
	if first == nil || undoTime() != first {
		t.Errorf("undone at %v, then at %v", first, undoTime())
	}

	done := fmt.Sprint(d.run(t, `{}`)["id"])
	d.Call(t, "DELETE", "/tasks/"+fresh, nil).OK(t)
	preconditionFailed.check(t, send(t, d.Client, "POST", "/dispatches/"+done+"/undone", `{}`), "or have ended")
}

func testDispatchWorker(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "one", 1, "")
	ada := d.workers[0]
	a, b, c := d.drop(t, 3000, 0), d.drop(t, 1000, 0), d.drop(t, 2000, 0)
	d.Must(t, "PUT", "/containers/workers/"+ada, fmt.Sprintf(`{"tasks":[%q,%q,%q]}`, a, b, c))
	invalid.check(t, send(t, d.Client, "POST", "/workers/"+ada+"/dispatch", `{"routeEnd":"teams://DEFAULT"}`), "routeEnd")
	started := d.Must(t, "POST", "/workers/"+ada+"/dispatch", `{}`)
	shown := d.await(t, fmt.Sprint(started["dispatchId"]))
	has(t, shown, "worker", ada)
	if got := d.list(t, ada); status(shown) != "success" || !slices.Equal(got, []string{b, c, a}) {
		t.Errorf("the list is %v, want %v", got, []string{b, c, a})
	}
}

func testDispatchMoved(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "moved", 2, "")
	var tasks []string
	for i := range 30 { // enough for a second of planning
		tasks = append(tasks, d.drop(t, float64(100*i), 300))
	}
	started := fmt.Sprint(d.Must(t, "POST", "/teams/"+d.team+"/dispatch", `{}`)["dispatchId"])
	apptest.Until(t, "planning has begun", func() bool { return status(d.Must(t, "GET", "/dispatches/"+started, nil)) != "pending" })
	d.Must(t, "PUT", "/containers/organizations/"+string(d.Organization.ID), `{"tasks":[-1,"`+tasks[7]+`"]}`)
	shown := d.await(t, started)
	left := planOf(t, shown).Unplanned
	if status(shown) != "success" || len(left) != 1 || left[0].ID != tasks[7] || left[0].Reasons[0].Rule != "changed" {
		t.Errorf("left out: %+v", left)
	}
	if got := d.Must(t, "GET", "/tasks/"+tasks[7], nil)["worker"]; got != nil {
		t.Errorf("the task that moved has the worker %v", got)
	}
	if n := len(d.list(t, d.workers[0])) + len(d.list(t, d.workers[1])); n != 29 {
		t.Errorf("%d tasks are assigned", n)
	}
}
