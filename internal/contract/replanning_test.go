package contract_test

import (
	"fmt"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

func init() {
	register("GET /teams/{id}/dispatches", [2]string{}, idPlace{field: "{id}", kind: "team", missing: notFound})
}

func TestReplanningContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		t.Run("settings", func(t *testing.T) { testReplanSettings(t, p) })
		t.Run("a task is added", func(t *testing.T) { testReplanAdded(t, p) })
	}, quick)
}

func testReplanSettings(t *testing.T, p *apptest.Platform) {
	c, other := p.Organization(t, "settings"), p.Organization(t, "others")
	const path, off = "/organization/replanning", `{"enabled":false,"move":"order","assign":false,"interval":10,"lateness":10,"ahead":240}`
	matches(t, c.Must(t, "GET", path, nil), off)
	for body, want := range map[string]rejection{
		`{"enabled":"maybe"}`:   malformed,
		`{"move":"everything"}`: invalid,
		`{"interval":0.5}`:      invalid,
		`{"interval":1441}`:     invalid,
		`{"lateness":0}`:        invalid,
		`{"lateness":"late"}`:   malformed,
		`{"ahead":721}`:         invalid,
		`{"ahead":-1}`:          invalid,
		`[]`:                    malformed,
	} {
		want.check(t, send(t, c, "PUT", path, body))
	}
	matches(t, c.Must(t, "GET", path, nil), off)
	const on = `{"enabled":true,"move":"workers","assign":true,"interval":1,"lateness":7.5,"ahead":60}`
	matches(t, c.Must(t, "PUT", path, on), on)
	matches(t, c.Must(t, "PUT", path, `{}`), on)
	matches(t, c.Must(t, "GET", path, nil), on)
	matches(t, other.Must(t, "GET", path, nil), off)
	has(t, c.Must(t, "PUT", path, `{"enabled":false}`), "move", "workers")
}

func testReplanAdded(t *testing.T, p *apptest.Platform) {
	d := newDepot(t, p, "added", 1, "")
	d.Must(t, "PUT", "/organization/replanning", `{"enabled":true,"assign":true}`)
	runs := func() []map[string]any { return list(t, d.Client, "/teams/"+d.team+"/dispatches") }
	if got := runs(); len(got) > 0 {
		t.Fatalf("the dispatches are %v", got)
	}
	task := d.drop(t, 300, 0)
	p.Advance(time.Minute)
	apptest.Until(t, "the task is assigned", func() bool { return d.Must(t, "GET", "/tasks/"+task, nil)["worker"] != nil })
	var run map[string]any
	apptest.Until(t, "the dispatch has ended", func() bool {
		run = runs()[0]
		return status(run) == "success"
	})
	replanning := run["replanning"].(map[string]any)
	has(t, replanning, "cause", "taskAdded")
	has(t, replanning, "task", task)
	has(t, replanning, "changed", true)
	has(t, run, "tasksPlanned", 1.0)
	shown := d.Must(t, "GET", fmt.Sprint("/dispatches/", run["id"]), nil)
	has(t, shown["replanning"].(map[string]any), "unassignedBefore", 1.0)
	if got := planOf(t, shown); len(got.Routes) != 1 || len(got.Routes[0].Stops) != 1 {
		t.Errorf("the plan is %+v", got)
	}
	asked := d.run(t, `{}`)
	if got := runs(); len(got) != 2 || got[0]["id"] != asked["id"] || got[0]["replanning"] != nil {
		t.Errorf("the dispatches are %v", got)
	}
}
