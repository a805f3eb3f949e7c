package contract_test

import (
	"fmt"
	"slices"
	"testing"

	"dray/internal/app/apptest"
)

func init() {
	register("GET /tasks/{id}/pin", [2]string{}, idPlace{field: "{id}", kind: "task", missing: notFound})
	register("PUT /tasks/{id}/pin", [2]string{}, idPlace{field: "{id}", kind: "task", body: `{}`, missing: notFound, own: invalid}) // it has no worker
	register("DELETE /tasks/{id}/pin", [2]string{}, idPlace{field: "{id}", kind: "task", missing: notFound})
}

func TestPinContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		t.Run("dispatches leave pinned tasks where they are", func(t *testing.T) { testPinnedTasks(t, p) })
		t.Run("pins end", func(t *testing.T) { testPinsEnd(t, p) })
		t.Run("a plan does not move a task that was pinned since", func(t *testing.T) { testPinnedSince(t, p) })
	}, quick)
}

func testPinnedTasks(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "pins", 1, "")
	ada := d.workers[0]
	far, near, mid := d.drop(t, 3000, 0), d.drop(t, 1000, 0), d.drop(t, 2000, 0)
	invalid.check(t, send(t, d.Client, "PUT", "/tasks/"+far+"/pin", `{}`), "has no worker")
	malformed.check(t, send(t, d.Client, "PUT", "/tasks/"+far+"/pin", `{"position":"first"}`), "position")
	d.Must(t, "PUT", "/containers/workers/"+ada, fmt.Sprintf(`{"tasks":[%q,%q,%q]}`, far, near, mid))
	before := d.Must(t, "GET", "/tasks/"+far, nil)
	matches(t, d.Must(t, "GET", "/tasks/"+far+"/pin", nil), `{"task":"`+far+`","worker":"`+ada+`","pinned":null}`)
	matches(t, d.Must(t, "PUT", "/tasks/"+far+"/pin", `{"position":true}`), `{"task":"`+far+`","worker":"`+ada+`","pinned":"position"}`)
	if after := d.Must(t, "GET", "/tasks/"+far, nil); string(encode(t, after)) != string(encode(t, before)) {
		t.Errorf("the task is shown as %v, and was as %v", after, before)
	}
	last := d.drop(t, 500, 0)
	shown := d.run(t, `{"routeEnd":null}`)
	if got := d.list(t, ada); !slices.Equal(got, []string{far, mid, near, last}) {
		t.Errorf("the list is %v, want %v", got, []string{far, mid, near, last})
	}
	stop := shown["plan"].(map[string]any)["routes"].([]any)[0].(map[string]any)["stops"].([]any)[0].(map[string]any)
	has(t, stop, "pinned", "position")
	if response := send(t, d.Client, "DELETE", "/tasks/"+far+"/pin", ``); response.Status != 200 {
		t.Errorf("the pin is removed with %d", response.Status)
	}
	d.await(t, fmt.Sprint(d.Must(t, "POST", "/workers/"+ada+"/dispatch", `{}`)["dispatchId"]))
	if got := d.list(t, ada); !slices.Equal(got, []string{last, near, mid, far}) {
		t.Errorf("without the pin, the list is %v", got)
	}
}

func testPinsEnd(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "ends", 2, "")
	task := d.drop(t, 100, 0)
	path := "/tasks/" + task + "/pin"
	list := func(worker string) string { return "/containers/workers/" + worker }
	d.Must(t, "PUT", list(d.workers[0]), `{"tasks":["`+task+`"]}`)
	d.Must(t, "PUT", path, `{}`)
	d.Must(t, "PUT", "/tasks/"+task, `{"notes":"changed"}`)
	d.Must(t, "PUT", list(d.workers[0]), `{"tasks":["`+task+`"]}`)
	has(t, d.Must(t, "GET", path, nil), "pinned", "worker") // none of these requests moved it
	for _, worker := range []string{d.workers[1], d.workers[0]} {
		d.Must(t, "PUT", list(worker), `{"tasks":["`+task+`"]}`)
		has(t, d.Must(t, "GET", path, nil), "worker", worker)
		has(t, d.Must(t, "GET", path, nil), "pinned", nil)
	}
	d.Must(t, "PUT", path, `{"position":true}`)
	d.Must(t, "PUT", "/containers/teams/"+d.team, `{"tasks":[-1,"`+task+`"]}`)
	matches(t, d.Must(t, "GET", path, nil), `{"task":"`+task+`","worker":null,"pinned":null}`)
	d.Must(t, "PUT", list(d.workers[0]), `{"tasks":["`+task+`"]}`)
	d.Must(t, "PUT", path, `{}`)
	beginTask(t, p.Store.Write, d.Client, task)
	has(t, d.Must(t, "GET", path, nil), "pinned", "worker")
	send(t, d.Client, "POST", "/tasks/"+task+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	has(t, d.Must(t, "GET", path, nil), "pinned", nil)
	invalid.check(t, send(t, d.Client, "PUT", path, `{}`), "is completed")
	gone := d.drop(t, 100, 0)
	d.Must(t, "PUT", list(d.workers[0]), `{"tasks":["`+gone+`"]}`)
	d.Must(t, "PUT", "/tasks/"+gone+"/pin", `{}`)
	send(t, d.Client, "DELETE", "/tasks/"+gone, ``).OK(t)
	notFound.check(t, send(t, d.Client, "GET", "/tasks/"+gone+"/pin", ``))
}

func testPinnedSince(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "since", 1, "")
	ada := d.workers[0]
	far, near := d.drop(t, 3000, 0), d.drop(t, 1000, 0)
	d.Must(t, "PUT", "/containers/workers/"+ada, fmt.Sprintf(`{"tasks":[%q,%q]}`, far, near))
	shown := d.await(t, fmt.Sprint(d.Must(t, "POST", "/workers/"+ada+"/dispatch", `{"dryRun":true}`)["dispatchId"]))
	d.Must(t, "PUT", "/tasks/"+far+"/pin", `{}`) // it stays with the worker anyway
	path := fmt.Sprint("/dispatches/", shown["id"])
	if changes := d.Must(t, "GET", path, nil)["changes"].([]any); len(changes) > 0 {
		t.Errorf("the changes are %v", changes)
	}
	d.Must(t, "PUT", "/tasks/"+far+"/pin", `{"position":true}`)
	preconditionFailed.check(t, send(t, d.Client, "POST", path+"/apply", `{}`), "does not fit any more")
	if got := fmt.Sprint(d.Must(t, "GET", path, nil)["changes"]); got != "[task "+far+" is now pinned]" {
		t.Errorf("the changes are %s", got)
	}
}
