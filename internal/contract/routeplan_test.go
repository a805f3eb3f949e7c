package contract_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

// roads is an organization with a hub, two workers of one team, and tasks.
type roads struct {
	*apptest.Client
	north, south  string // teams
	hub, ada, bob string
	begin         func(t testing.TB, task string) // starts a task, as the worker's app does
}

func newRoads(t testing.TB, p *apptest.Platform, name string) roads {
	t.Helper()
	r := roads{Client: p.Organization(t, name)}
	r.north = id(t, r.Client, "/teams", `{"name":"North","workers":[],"managers":[]}`)
	r.south = id(t, r.Client, "/teams", `{"name":"South","workers":[],"managers":[]}`)
	r.hub = id(t, r.Client, "/hubs", `{"name":"Depot","address":{"number":"1","street":"Main St","city":"Springfield","state":"IL","postalCode":"62701","country":"United States"},"location":[-73.99,40.73]}`)
	r.ada = r.driver(t, "+12125550101", `,"vehicle":{"type":"CAR","color":"red"}`)
	r.bob = r.driver(t, "+12125550102")
	r.begin = func(t testing.TB, task string) {
		t.Helper()
		beginTask(t, p.Store.Write, r.Client, task)
	}
	return r
}

// driver creates a worker of the northern team.
func (r roads) driver(t testing.TB, phone string, more ...string) string {
	t.Helper()
	return id(t, r.Client, "/workers", `{"name":"W","phone":"`+phone+`","teams":["`+r.north+`"]`+strings.Join(more, "")+`}`)
}

// beginTask makes an assigned task active.
func beginTask[W interface {
	Task(context.Context, lastmile.OrganizationID, lastmile.TaskID) (lastmile.Task, error)
	SaveTask(context.Context, lastmile.Task) error
}](t testing.TB, write func(context.Context, func(W) error) error, c *apptest.Client, id string) {
	t.Helper()
	err := write(t.Context(), func(w W) error {
		task, err := w.Task(t.Context(), c.Organization.ID, lastmile.TaskID(id))
		if err != nil {
			return err
		}
		if _, err := task.Start(nil, lastmile.Estimates{}, lastmile.Actor{Type: lastmile.ActorWorker}, app.Clock()); err != nil {
			return err
		}
		return w.SaveTask(t.Context(), task)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// task creates a task.
func (r roads) task(t testing.TB, more ...string) string {
	t.Helper()
	return id(t, r.Client, "/tasks", `{"destination":{"address":{"city":"X","country":"Y"},"location":[-73.98,40.75]},"recipients":[]`+strings.Join(more, "")+`}`)
}

// tasks creates several tasks.
func (r roads) tasks(t testing.TB, n int) []string {
	t.Helper()
	made := make([]string, n)
	for i := range made {
		made[i] = r.task(t)
	}
	return made
}

// complete starts and completes an assigned task.
func (r roads) complete(t testing.TB, task string, success bool) {
	t.Helper()
	r.begin(t, task)
	r.Call(t, "POST", "/tasks/"+task+"/complete", fmt.Sprintf(`{"completionDetails":{"success":%v}}`, success)).OK(t)
}

// plan creates a route plan.
func (r roads) plan(t testing.TB, more ...string) map[string]any {
	t.Helper()
	return r.Must(t, "POST", "/routePlans", `{"name":"Round","startTime":1894021200000`+strings.Join(more, "")+`}`)
}

// read reads a record.
func (r roads) read(t testing.TB, path string, id any) map[string]any {
	t.Helper()
	return r.Must(t, "GET", path+"/"+fmt.Sprint(id), nil)
}

// has fails the test unless a field of a record is the JSON of want.
func has(t testing.TB, record map[string]any, field string, want any) {
	t.Helper()
	for _, fault := range faults(t, record[field], string(encode(t, want))) {
		t.Errorf("%s %s", field, fault)
	}
}

// idList returns a JSON array of ids.
func idList(ids ...string) string { return `["` + strings.Join(ids, `","`) + `"]` }

// queue returns the tasks of a container.
func (r roads) queue(t testing.TB, path string) []any {
	t.Helper()
	return r.Must(t, "GET", "/containers/"+path, nil)["tasks"].([]any)
}

func TestRoutePlanContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		t.Run("a plan with only a name and a start", func(t *testing.T) {
			made := r.plan(t)
			matches(t, made, `{"id":"<id>","shortId":`+text(fmt.Sprint(made["shortId"]))+`,"timeCreated":"<now>","timeLastModified":"<now>",
				"organization":"`+string(r.Organization.ID)+`","name":"Round","state":"PENDING","color":null,"vehicleType":null,"timezone":null,
				"startTime":1894021200000,"endTime":null,"actualStartTime":null,"actualEndTime":null,"startAt":null,"endAt":null,
				"startingHubId":null,"endingHubId":null,"plannedDistance":0,"plannedDuration":0,"travelSource":"formula","team":null,"worker":null,"tasks":[],
				"taskStates":[],"isOverdue":false,"status":"ON_TIME","statusTimeDifference":0}`)
			if short := fmt.Sprint(made["shortId"]); len(short) != 8 || strings.Trim(short, "0123456789abcdef") != "" {
				t.Errorf("shortId is %q", short)
			}
			matches(t, r.read(t, "/routePlans", made["id"]), string(encode(t, made)))
		})
		t.Run("every field is accepted", func(t *testing.T) { testRoutePlanFields(t, r) })
		t.Run("an invalid plan is rejected", func(t *testing.T) { testRoutePlanFaults(t, r) })
		t.Run("tasks move to the worker or team of the plan, in its order", func(t *testing.T) { testRoutePlanContainers(t, r) })
		t.Run("tasks are added to a plan and removed from it", func(t *testing.T) { testRoutePlanTasks(t, r) })
		t.Run("tasks that cannot be planned are rejected", func(t *testing.T) { testRoutePlanTaskFaults(t, p, r) })
		t.Run("tasks start and complete their plan", func(t *testing.T) { testRoutePlanProgress(t, r) })
		t.Run("a plan that does not keep its times is late", func(t *testing.T) {
			late := r.Must(t, "POST", "/routePlans", `{"name":"Late","startTime":1700000000000,"endTime":1700003600000}`)
			has(t, late, "status", "LATE")
			has(t, late, "isOverdue", true)
			if by := late["statusTimeDifference"].(float64); by < 60_000_000 || by != float64(int64(by)) {
				t.Errorf("late by %v s", by)
			}
		})
		t.Run("a plan outlives its worker and its team", func(t *testing.T) {
			carl := r.driver(t, "+12125550103")
			team := id(t, r.Client, "/teams", `{"name":"East","workers":[],"managers":[]}`)
			plan := r.plan(t, `,"worker":"`+carl+`","team":"`+team+`"`)
			r.Call(t, "DELETE", "/workers/"+carl, nil).OK(t)
			r.Call(t, "DELETE", "/teams/"+team, nil).OK(t)
			left := r.read(t, "/routePlans", plan["id"])
			has(t, left, "worker", nil)
			has(t, left, "team", nil)
		})
		t.Run("a plan that is deleted leaves its tasks where they are", func(t *testing.T) {
			tasks := r.tasks(t, 2)
			plan := r.plan(t, `,"worker":"`+r.bob+`","tasks":`+idList(tasks...))
			if a := r.Call(t, "DELETE", "/routePlans/"+fmt.Sprint(plan["id"]), nil).OK(t); len(a.Body) > 0 {
				t.Errorf("responded with %s", a.Body)
			}
			notFound.check(t, r.Call(t, "GET", "/routePlans/"+fmt.Sprint(plan["id"]), nil), "route plan")
			for _, task := range tasks {
				left := r.read(t, "/tasks", task)
				if _, planned := left["routePlan"]; planned || left["worker"] != r.bob {
					t.Errorf("the task is %v", left)
				}
			}
		})
		t.Run("concurrent additions lose no task", func(t *testing.T) { testRoutePlanRace(t, r) })
	})
}

func testRoutePlanFields(t *testing.T, r roads) {
	tasks := r.tasks(t, 2)
	body := `{"name":"Tour","startTime":1894021200000,"endTime":1894035600000,"color":"#12abEF","vehicleType":"TRUCK","worker":"` + r.ada + `",
		"team":"` + r.north + `","startAt":"HUB","endAt":"WORKER_LOCATION","startingHubId":"` + r.hub + `","endingHubId":"` + r.hub + `",
		"timezone":"America/New_York","tasks":` + idList(tasks...) + `}`
	made := r.Must(t, "POST", "/routePlans", body)
	for field, want := range map[string]any{
		"name": "Tour", "startTime": 1894021200000, "endTime": 1894035600000, "color": "#12abEF", "vehicleType": "TRUCK", "worker": r.ada,
		"team": r.north, "startAt": "HUB", "endAt": "WORKER_LOCATION", "startingHubId": r.hub, "endingHubId": r.hub,
		"timezone": "America/New_York", "tasks": tasks, "taskStates": []int{1, 1}, "state": "PENDING",
	} {
		has(t, made, field, want)
	}
	if d := made["plannedDistance"].(float64); d < 2_000 || d > 6_000 || d != float64(int64(d)) {
		t.Errorf("plannedDistance is %v m", d)
	}
	if d := made["plannedDuration"].(float64); d < 60 || d > 1_800 || d != float64(int64(d)) {
		t.Errorf("plannedDuration is %v s", d)
	}
	matches(t, r.read(t, "/routePlans", made["id"]), string(encode(t, made)))

	aliases := r.plan(t, `,"taskIds":`+idList(r.task(t))+`,"start":"WORKER_ADDRESS","end":"HUB","endingHubId":"`+r.hub+`"`)
	has(t, aliases, "startAt", "WORKER_ADDRESS")
	has(t, aliases, "endAt", "HUB")
	if len(aliases["tasks"].([]any)) != 1 {
		t.Errorf("tasks is %v", aliases["tasks"])
	}
	path := "/routePlans/" + fmt.Sprint(made["id"])
	emptied := r.Must(t, "PUT", path, `{"color":null,"vehicleType":null,"endTime":null,"startAt":null,"endAt":null,"startingHubId":null,
		"endingHubId":null,"timezone":null,"team":null}`)
	for _, field := range []string{"color", "vehicleType", "endTime", "startAt", "endAt", "startingHubId", "endingHubId", "timezone", "team"} {
		has(t, emptied, field, nil)
	}
	changed(t, "a change of everything that can be taken away", made, emptied,
		"color", "vehicleType", "endTime", "startAt", "endAt", "startingHubId", "endingHubId", "timezone", "team", "plannedDistance", "plannedDuration")
	named := r.Must(t, "PUT", path, `{"name":"Second"}`)
	changed(t, "a change of the name", emptied, named, "name")
	// A published client always sends a name and a start, empty if they do not change.
	colored := send(t, r.Client, "PUT", path, `{"name":"","startTime":0,"color":"#000000"}`).OK(t).Object(t)
	changed(t, "a change of the color", named, colored, "color")
	for _, task := range tasks {
		has(t, r.read(t, "/tasks", task), "routePlan", made["id"])
	}
}

func testRoutePlanFaults(t *testing.T, r roads) {
	for body, want := range map[string]rejection{
		`{}`:                                         malformed,
		`{"name":"A"}`:                               malformed,
		`{"startTime":1894021200000}`:                malformed,
		`{"name":"","startTime":1894021200000}`:      malformed,
		`{"name":"A","startTime":0}`:                 malformed,
		`{"name":"A","startTime":"tomorrow"}`:        malformed,
		`{"name":"A","startTime":1894021200}`:        invalid,
		`{"name":7,"startTime":1894021200000}`:       malformed,
		`{"name":"A","startTime":1894021200000,"x":`: invalid,
	} {
		want.check(t, send(t, r.Client, "POST", "/routePlans", body))
	}
	path := "/routePlans/" + fmt.Sprint(r.plan(t)["id"])
	for field, want := range map[string]rejection{
		`"endTime":1894021200000`:             invalid,
		`"color":"red"`:                       invalid,
		`"color":"#12345"`:                    invalid,
		`"vehicleType":"BOAT"`:                invalid,
		`"startAt":"HOME"`:                    invalid,
		`"startAt":"HUB"`:                     malformed,
		`"end":"HUB"`:                         malformed,
		`"timezone":"Mars/Base"`:              invalid,
		`"tasks":"all"`:                       malformed,
		`"worker":"` + unknownID + `"`:        notFound,
		`"team":"` + unknownID + `"`:          notFound,
		`"startingHubId":"` + unknownID + `"`: notFound,
		`"endingHubId":"` + unknownID + `"`:   notFound,
		`"taskIds":["` + unknownID + `"]`:     notFound,
	} {
		want.check(t, send(t, r.Client, "POST", "/routePlans", `{"name":"A","startTime":1894021200000,`+field+`}`))
		before := r.Must(t, "GET", path, nil)
		want.check(t, send(t, r.Client, "PUT", path, `{"name":"Changed",`+field+`}`))
		matches(t, r.Must(t, "GET", path, nil), string(encode(t, before)))
	}
}

func testRoutePlanContainers(t *testing.T, r roads) {
	first, tasks, last := r.task(t), r.tasks(t, 3), r.task(t)
	worker := func(who string) []any { t.Helper(); return r.queue(t, "workers/"+who) }
	tail := func(queue []any, n int) []any { return queue[max(0, len(queue)-n):] }
	carl := r.driver(t, "+12125550104")
	r.Must(t, "PUT", "/containers/workers/"+carl, `{"tasks":[-1,"`+first+`"]}`)
	slices.Reverse(tasks)

	plan := r.plan(t, `,"worker":"`+carl+`","team":"`+r.south+`","tasks":`+idList(tasks...))
	matches(t, worker(carl), idList(append([]string{first}, tasks...)...))
	for _, id := range tasks {
		task := r.read(t, "/tasks", id)
		has(t, task, "state", 1)
		has(t, task, "worker", carl)
		has(t, task, "container", map[string]string{"type": "WORKER", "worker": carl})
		has(t, task, "routePlan", plan["id"])
	}
	path := "/routePlans/" + fmt.Sprint(plan["id"])

	r.Must(t, "PUT", path, `{"name":"Only a name"}`)
	matches(t, worker(carl), idList(append([]string{first}, tasks...)...))

	r.Must(t, "PUT", path, `{"worker":"`+r.bob+`"}`)
	matches(t, worker(carl), idList(first))
	matches(t, tail(worker(r.bob), 3), idList(tasks...))

	r.Must(t, "PUT", path, `{"worker":null}`)
	matches(t, r.queue(t, "teams/"+r.south), idList(tasks...))
	has(t, r.read(t, "/tasks", tasks[0]), "state", 0)

	r.Must(t, "PUT", path, `{"team":null}`)
	matches(t, r.queue(t, "teams/"+r.south), `[]`)
	matches(t, tail(r.queue(t, "organizations/"+string(r.Organization.ID)), 3), idList(tasks...))

	loose := r.plan(t, `,"tasks":`+idList(last))
	has(t, r.read(t, "/tasks", last), "state", 0)
	has(t, loose, "taskStates", []int{0})
	r.Must(t, "PUT", "/routePlans/"+fmt.Sprint(loose["id"]), `{"team":"`+r.north+`"}`)
	matches(t, tail(r.queue(t, "teams/"+r.north), 1), idList(last))
}

func testRoutePlanTasks(t *testing.T, r roads) {
	tasks := r.tasks(t, 5)
	carl := r.driver(t, "+12125550105")
	plan := r.plan(t, `,"worker":"`+carl+`","tasks":`+idList(tasks[0]))
	path := "/routePlans/" + fmt.Sprint(plan["id"])
	check := func(what string, got map[string]any, want ...string) {
		t.Helper()
		for _, fault := range faults(t, got["tasks"], idList(want...)) {
			t.Errorf("%s: tasks%s", what, fault)
		}
		for _, fault := range faults(t, r.queue(t, "workers/"+carl), idList(want...)) {
			t.Errorf("%s: the worker's%s", what, fault)
		}
		if len(got["taskStates"].([]any)) != len(want) {
			t.Errorf("%s: taskStates is %v", what, got["taskStates"])
		}
	}
	check("added by path", r.Must(t, "PUT", path+"/tasks", `{"tasks":`+idList(tasks[1])+`}`), tasks[:2]...)
	check("added by a body of tasks alone", r.Must(t, "PUT", path, `{"tasks":`+idList(tasks[2])+`}`), tasks[:3]...)
	check("added by another name", r.Must(t, "PUT", path+"/tasks", `{"taskIds":`+idList(tasks[3])+`}`), tasks[:4]...)
	check("added again", r.Must(t, "PUT", path+"/tasks", `{"tasks":`+idList(tasks[0], tasks[4])+`}`), tasks...)
	malformed.check(t, r.Call(t, "PUT", path+"/tasks", `{}`), "tasks")

	r.Must(t, "PUT", path, `{"name":"Other","tasks":`+idList(tasks[4], tasks[0])+`}`)
	has(t, r.Must(t, "GET", path, nil), "tasks", []string{tasks[4], tasks[0]})
	matches(t, r.queue(t, "workers/"+carl), idList(tasks[1], tasks[2], tasks[3], tasks[4], tasks[0]))
	left := r.read(t, "/tasks", tasks[1])
	if _, planned := left["routePlan"]; planned || left["worker"] != carl {
		t.Errorf("a task that left is %v", left)
	}
	r.Call(t, "DELETE", "/tasks/"+tasks[4], nil).OK(t)
	has(t, r.Must(t, "GET", path, nil), "tasks", []string{tasks[0]})
	clone := r.Must(t, "POST", "/tasks/"+tasks[0]+"/clone", nil)
	if _, planned := clone["routePlan"]; planned {
		t.Error("a clone is in the plan of its source")
	}
}

func testRoutePlanTaskFaults(t *testing.T, p *apptest.Platform, r roads) {
	stranger := newRoads(t, p, "Zenith")
	theirs := stranger.task(t)
	planned, active, done, free := r.task(t), r.task(t), r.task(t), r.task(t)
	for _, task := range []string{active, done} {
		r.Must(t, "PUT", "/containers/workers/"+r.bob, `{"tasks":[-1,"`+task+`"]}`)
	}
	r.complete(t, done, true)
	r.begin(t, active)
	r.plan(t, `,"tasks":`+idList(planned))
	path := "/routePlans/" + fmt.Sprint(r.plan(t, `,"worker":"`+r.ada+`"`)["id"])
	for name, test := range map[string]struct {
		task string
		want rejection
	}{
		"a task of another plan":               {planned, invalid},
		"an active task":                       {active, invalid},
		"a completed task":                     {done, invalid},
		"another organization's task":          {theirs, outsideScope},
		"a task that does not exist":           {unknownID, notFound},
		"a task twice":                         {free + `","` + free, invalid},
		"a malformed id":                       {"short", notFound},
		"one of two is in another plan":        {free + `","` + planned, invalid},
		"one of two is another organization's": {free + `","` + theirs, outsideScope},
	} {
		t.Run(name, func(t *testing.T) {
			before := r.Must(t, "GET", path, nil)
			tasks := idList(test.task)
			test.want.check(t, send(t, r.Client, "POST", "/routePlans", `{"name":"A","startTime":1894021200000,"tasks":`+tasks+`}`))
			test.want.check(t, send(t, r.Client, "PUT", path+"/tasks", `{"tasks":`+tasks+`}`))
			test.want.check(t, send(t, r.Client, "PUT", path, `{"name":"B","tasks":`+tasks+`}`))
			matches(t, r.Must(t, "GET", path, nil), string(encode(t, before)))
			has(t, r.read(t, "/tasks", free), "state", 0)
		})
	}
}

func testRoutePlanProgress(t *testing.T, r roads) {
	tasks := r.tasks(t, 3)
	carl := r.driver(t, "+12125550106")
	plan := r.plan(t, `,"worker":"`+carl+`","tasks":`+idList(tasks...))
	path := "/routePlans/" + fmt.Sprint(plan["id"])
	state := func(want string, states ...int) map[string]any {
		t.Helper()
		got := r.Must(t, "GET", path, nil)
		has(t, got, "state", want)
		has(t, got, "taskStates", states)
		return got
	}
	state("PENDING", 1, 1, 1)
	r.complete(t, tasks[1], false)
	started := state("STARTED", 1, 3, 1)
	has(t, started, "actualStartTime", "<now>")
	has(t, started, "actualEndTime", nil)

	r.begin(t, tasks[0])
	state("STARTED", 2, 3, 1)
	invalid.check(t, r.Call(t, "PUT", path, `{"worker":"`+r.ada+`"}`), "active")
	invalid.check(t, r.Call(t, "PUT", path, `{"name":"A","tasks":`+idList(tasks[0], tasks[2])+`}`), tasks[1])
	r.Must(t, "PUT", path, `{"name":"Still the same"}`)
	r.Call(t, "POST", "/tasks/"+tasks[0]+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	state("STARTED", 3, 3, 1)

	r.Call(t, "DELETE", "/tasks/"+tasks[2], nil).OK(t) // the last open task
	ended := state("COMPLETED", 3, 3)
	has(t, ended, "actualEndTime", "<now>")
	has(t, ended, "isOverdue", false)
	invalid.check(t, r.Call(t, "PUT", path+"/tasks", `{"tasks":`+idList(r.task(t))+`}`), "completed")
	has(t, r.read(t, "/tasks", tasks[0]), "routePlan", plan["id"])
	r.Call(t, "DELETE", path, nil).OK(t)
	if _, planned := r.read(t, "/tasks", tasks[0])["routePlan"]; planned {
		t.Error("a completed task shows a plan that is gone")
	}
}

func testRoutePlanRace(t *testing.T, r roads) {
	const writers = 8
	wanted, tasks := r.task(t), r.tasks(t, writers)
	path := "/routePlans/" + fmt.Sprint(r.plan(t, `,"worker":"`+r.ada+`"`)["id"])
	responses, rivals := make([]apptest.Response, writers), make([]apptest.Response, writers)
	var group sync.WaitGroup
	for i, task := range tasks {
		group.Go(func() { responses[i] = send(t, r.Client, "PUT", path+"/tasks", `{"tasks":`+idList(task)+`}`) })
		group.Go(func() {
			rivals[i] = send(t, r.Client, "POST", "/routePlans", `{"name":"Rival","startTime":1894021200000,"tasks":`+idList(wanted)+`}`)
		})
	}
	group.Wait()
	won := 0
	for i := range writers {
		responses[i].OK(t)
		if rivals[i].Status == 200 {
			won++
		} else {
			invalid.check(t, rivals[i], wanted)
		}
	}
	if won != 1 {
		t.Errorf("the task is in %d plans", won)
	}
	got := r.Must(t, "GET", path, nil)["tasks"].([]any)
	for _, task := range tasks {
		if !slices.Contains(got, any(task)) {
			t.Errorf("%s is not in the plan", task)
		}
	}
	queue := r.queue(t, "workers/"+r.ada)
	matches(t, queue[len(queue)-writers:], string(encode(t, got)))
}

func TestRoutePlanListContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		newRoads(t, p, "Zenith").plan(t)
		var plans []string
		for i, more := range []string{`,"worker":"` + r.ada + `"`, `,"tasks":` + idList(r.task(t)), `,"worker":"` + r.ada + `","tasks":` + idList(r.task(t))} {
			made := r.Must(t, "POST", "/routePlans", fmt.Sprintf(`{"name":"P%d","startTime":%d%s}`, i, 1894021200000+i, more))
			plans = append(plans, fmt.Sprint(made["id"]))
		}
		oldest := int64(r.read(t, "/routePlans", plans[0])["timeCreated"].(float64))
		future := time.Now().Add(time.Hour).UnixMilli()
		for query, want := range map[string][]string{
			"":                             plans,
			"?":                            plans,
			"?workerId=" + r.ada:           {plans[0], plans[2]},
			"?workerId=" + r.bob:           {},
			"?workerId=" + unknownID:       {},
			"?startTimeFrom=1894021200001": plans[1:],
			"?startTimeTo=1894021200001":   plans[:1],
			"?startTimeFrom=1.894021200001e%2B12&startTimeTo=1894021200002.0": plans[1:2],
			fmt.Sprintf("?createdTimeFrom=%d", oldest):                        plans,
			fmt.Sprintf("?createdTimeFrom=%d", future):                        {},
			fmt.Sprintf("?createdTimeTo=%d", oldest):                          {},
			fmt.Sprintf("?createdTimeTo=%d", future):                          plans,
			"?hasTasks=true":                                                  plans[1:],
			"?hasTasks=false":                                                 plans[:1],
			"?limit=2":                                                        plans[:2],
			"?limit=500":                                                      plans,
			"?hasTasks=true&workerId=" + r.ada:                                plans[2:],
			"?lastId=" + plans[0]:                                             plans[1:],
		} {
			if got := ids(list(t, r.Client, "/routePlans"+query)); !slices.Equal(got, want) {
				t.Errorf("GET /routePlans%s: %v, want %v", query, got, want)
			}
		}
		for query, want := range map[string]rejection{
			"?limit=0":                    invalid,
			"?limit=501":                  invalid,
			"?limit=-1":                   invalid,
			"?limit=many":                 malformed,
			"?hasTasks=some":              malformed,
			"?startTimeFrom=now":          malformed,
			"?createdTimeTo=-5":           invalid,
			"?lastId=" + unknownID:        notFound,
			"?lastId=short":               notFound,
			"?startTimeTo=99999999999999": invalid,
		} {
			want.check(t, r.Call(t, "GET", "/routePlans"+query, nil))
			want.check(t, r.Call(t, "GET", "/routePlans/all"+query, nil))
		}
		t.Run("pages hold every plan once, and the last has no lastId", func(t *testing.T) {
			var got []string
			for query := "?limit=2"; query != ""; {
				page := r.Must(t, "GET", "/routePlans/all"+query, nil)
				for _, plan := range page["routePlans"].([]any) {
					got = append(got, fmt.Sprint(plan.(map[string]any)["id"]))
				}
				last, more := page["lastId"]
				if query = ""; more {
					query = "?limit=2&lastId=" + fmt.Sprint(last)
				}
			}
			if !slices.Equal(got, plans) {
				t.Errorf("%v, want %v", got, plans)
			}
		})
	})
}
