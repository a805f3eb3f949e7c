package contract_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

// pageIDs returns the ids of a page of tasks, and its lastId.
func pageIDs(t testing.TB, c *apptest.Client, path string) (got []string, last any) {
	t.Helper()
	page := c.Must(t, "GET", path, nil)
	for _, task := range page["tasks"].([]any) {
		got = append(got, fmt.Sprint(task.(map[string]any)["id"]))
	}
	return got, page["lastId"]
}

func TestAssignedTasksContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		for owner, container := range map[string]string{"/workers/" + r.ada: `{"type":"WORKER","worker":"` + r.ada + `"}`, "/teams/" + r.north: `{"type":"TEAM","team":"` + r.north + `"}`} {
			t.Run(owner[:3]+": current tasks, in the order of their creation", func(t *testing.T) {
				testAssignedTasks(t, r, owner, container)
			})
		}
		t.Run("a worker's list has the active task and no completed ones", func(t *testing.T) {
			in := `,"container":{"type":"WORKER","worker":"` + r.bob + `"}`
			done, active, waiting := r.task(t, in), r.task(t, in), r.task(t, in)
			r.complete(t, done, true)
			r.begin(t, active)
			if got, _ := pageIDs(t, r.Client, "/workers/"+r.bob+"/tasks"); !slices.Equal(got, []string{active, waiting}) {
				t.Errorf("got %v", got)
			}
		})
		t.Run("a page has 64 tasks", func(t *testing.T) {
			carl := r.driver(t, "+12125550107")
			var made []string
			for range 70 {
				made = append(made, r.task(t, `,"container":{"type":"WORKER","worker":"`+carl+`"}`))
			}
			first, last := pageIDs(t, r.Client, "/workers/"+carl+"/tasks")
			second, end := pageIDs(t, r.Client, "/workers/"+carl+"/tasks?lastId="+fmt.Sprint(last))
			if len(first) != 64 || last != first[63] || end != nil || !slices.Equal(slices.Sorted(slices.Values(append(first, second...))), slices.Sorted(slices.Values(made))) {
				t.Errorf("pages of %d (%v) and %d (%v)", len(first), last, len(second), end)
			}
		})
		t.Run("the worker or team must exist", func(t *testing.T) {
			theirs := newRoads(t, p, "Zenith")
			notFound.check(t, r.Call(t, "GET", "/workers/"+unknownID+"/tasks", nil))
			notFound.check(t, r.Call(t, "GET", "/teams/"+r.ada+"/tasks", nil))
			outsideScope.check(t, r.Call(t, "GET", "/workers/"+theirs.ada+"/tasks", nil))
			outsideScope.check(t, r.Call(t, "GET", "/teams/"+theirs.north+"/tasks", nil))
		})
	})
}

func testAssignedTasks(t *testing.T, r roads, owner, container string) {
	matches(t, r.Must(t, "GET", owner+"/tasks", nil), `{"tasks":[]}`)
	in := `,"container":` + container
	pickup, dropoff := r.task(t, in, `,"pickupTask":true`), r.task(t, in)
	r.task(t) // somewhere else
	now := time.Now()
	for query, want := range map[string][]string{
		"":                    {pickup, dropoff},
		"?isPickupTask=true":  {pickup},
		"?isPickupTask=false": {dropoff},
		"?isPickupTask=":      {pickup, dropoff},
		"?isPickupTask=1":     {pickup},
		"?isPickupTask=0":     {dropoff},
		"?lastId=" + pickup:   {dropoff},
		"?lastId=" + dropoff:  nil,
		fmt.Sprintf("?from=%d", now.Add(time.Hour).UnixMilli()):                                           nil,
		fmt.Sprintf("?from=%d.0&to=%d", now.Add(-time.Hour).UnixMilli(), now.Add(time.Hour).UnixMilli()):  {pickup, dropoff},
		fmt.Sprintf("?from=%d&to=%d", now.Add(-2*time.Hour).UnixMilli(), now.Add(-time.Hour).UnixMilli()): nil,
		fmt.Sprintf("?to=%d", now.Add(-8*24*time.Hour).UnixMilli()):                                       nil,
		fmt.Sprintf("?from=%d&isPickupTask=true&lastId=%s", now.Add(-time.Hour).UnixMilli(), pickup):      nil,
		fmt.Sprintf("?from=%s&isPickupTask=FALSE", url.QueryEscape(fmt.Sprintf("%e", float64(1.7e12)))):   {dropoff},
	} {
		if got, _ := pageIDs(t, r.Client, owner+"/tasks"+query); !slices.Equal(got, want) {
			t.Errorf("%s/tasks%s: %v, want %v", owner, query, got, want)
		}
	}
	matches(t, r.Must(t, "GET", owner+"/tasks?isPickupTask=true", nil)["tasks"], `[`+string(encode(t, r.read(t, "/tasks", pickup)))+`]`)
	for query, want := range map[string]rejection{
		"?from=yesterday": malformed, "?to=-1": invalid, "?isPickupTask=maybe": malformed, "?lastId=" + unknownID: notFound,
	} {
		want.check(t, r.Call(t, "GET", owner+"/tasks"+query, nil))
	}
}

// duty saves the times at which a worker goes on and off duty in turn, beginning with on.
func (r roads) duty(t testing.TB, p *apptest.Platform, worker string, at ...time.Time) {
	t.Helper()
	for i, when := range at {
		place(t, p.Store.Write, r.Client, worker, lastmile.Whereabouts{OnDuty: i%2 == 0, LastSeen: when, Location: &lastmile.Point{Lon: -73.98, Lat: 40.75}})
	}
}

// completeAt has a worker complete a task at a time.
func completeAt[W interface {
	Task(context.Context, lastmile.OrganizationID, lastmile.TaskID) (lastmile.Task, error)
	SaveTask(context.Context, lastmile.Task) error
}](t testing.TB, write func(context.Context, func(W) error) error, c *apptest.Client, id string, success bool, started, ended time.Time) {
	t.Helper()
	err := write(t.Context(), func(w W) error {
		task, err := w.Task(t.Context(), c.Organization.ID, lastmile.TaskID(id))
		if err != nil {
			return err
		}
		if _, err := task.Start(nil, lastmile.Estimates{}, lastmile.Actor{}, started); err != nil {
			return err
		}
		if _, err := task.Complete(lastmile.Outcome{Success: success, At: ended}, lastmile.Actor{}); err != nil {
			return err
		}
		task.Completion.Distance = 1_250.5
		return w.SaveTask(t.Context(), task)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWorkerAnalyticsContract(t *testing.T) {
	t.Parallel()
	const nothing = `{"events":[],"distances":{"enroute":0,"idle":0},"times":{"enroute":0,"idle":0},"taskCounts":{"succeeded":0,"failed":0}}`
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		path := "/workers/" + r.ada
		now := app.Clock()
		ago := func(hours float64) time.Time {
			return now.Add(-time.Duration(hours * float64(time.Hour))).Truncate(time.Millisecond)
		}
		plain := r.Must(t, "GET", path, nil)
		has(t, plain, "eta", nil)
		if _, there := plain["analytics"]; there {
			t.Error("analytics are there unasked")
		}
		has(t, r.Must(t, "GET", path+"?analytics=true", nil), "analytics", jsonText(nothing))

		in := `,"container":{"type":"WORKER","worker":"` + r.ada + `"}`
		completeAt(t, p.Store.Write, r.Client, r.task(t, in), true, ago(30), ago(29.5))
		completeAt(t, p.Store.Write, r.Client, r.task(t, in), false, ago(29), ago(28))
		completeAt(t, p.Store.Write, r.Client, r.task(t, in), true, ago(200), ago(199))
		r.duty(t, p, r.ada, ago(200), ago(198), ago(31), ago(27))

		ms := func(at time.Time) string { return fmt.Sprint(at.UnixMilli()) }
		week := `{"events":[{"action":"onduty","time":` + ms(ago(31)) + `},{"action":"offduty","time":` + ms(ago(27)) + `}],
			"distances":{"enroute":2501,"idle":0},"times":{"enroute":5400,"idle":9000},"taskCounts":{"succeeded":1,"failed":1}}`
		has(t, r.Must(t, "GET", path+"?analytics=true", nil), "analytics", jsonText(week))
		part := `{"events":[{"action":"offduty","time":` + ms(ago(27)) + `}],
			"distances":{"enroute":1250.5,"idle":0},"times":{"enroute":1800,"idle":3600},"taskCounts":{"succeeded":0,"failed":1}}`
		has(t, r.Must(t, "GET", path+"?analytics=true&from="+ms(ago(28.5))+"&to="+ms(ago(20)), nil), "analytics", jsonText(part))
		has(t, r.Must(t, "GET", path+"?analytics=true&from="+ms(ago(20)), nil), "analytics", jsonText(nothing))
		has(t, r.Must(t, "GET", path+"?analytics=true&to="+ms(ago(100)), nil), "analytics", jsonText(nothing))

		filtered := r.Must(t, "GET", path+"?analytics=true&filter=analytics,eta", nil)
		matches(t, filtered, `{"id":"`+r.ada+`","eta":null,"analytics":`+week+`}`)
		matches(t, r.Must(t, "GET", path+"?analytics=true&filter=eta", nil), `{"id":"`+r.ada+`","eta":null,"analytics":`+week+`}`)
		matches(t, r.Must(t, "GET", path+"?analytics=false&filter=eta", nil), `{"id":"`+r.ada+`","eta":null}`)
		for query, want := range map[string]rejection{
			"?analytics=perhaps": malformed,
			"?analytics=true&from=" + ms(ago(25)) + "&to=" + ms(now):   invalid,
			"?analytics=true&from=" + ms(ago(1)) + "&to=" + ms(ago(2)): invalid,
			"?analytics=true&from=monday":                              malformed,
		} {
			want.check(t, r.Call(t, "GET", path+query, nil))
		}
		if listed := record(t, list(t, r.Client, "/workers"), r.ada); listed["eta"] != nil || len(listed) != len(plain)-1 {
			t.Errorf("a list shows %v", listed)
		}
		t.Run("a worker on the way has an eta", func(t *testing.T) {
			task := r.task(t, `,"container":{"type":"WORKER","worker":"`+r.bob+`"}`)
			place(t, p.Store.Write, r.Client, r.bob, lastmile.Whereabouts{OnDuty: true, LastSeen: now, Location: &lastmile.Point{Lon: -73.99, Lat: 40.75}})
			r.begin(t, task)
			if eta, ok := r.Must(t, "GET", "/workers/"+r.bob, nil)["eta"].(float64); !ok || eta < 30 || eta != float64(int64(eta)) {
				t.Errorf("eta is %v", eta)
			}
		})
	})
}

// jsonText is a value given as JSON.
type jsonText string

// MarshalJSON implements json.Marshaler.
func (j jsonText) MarshalJSON() ([]byte, error) { return []byte(j), nil }

func TestTeamEstimateContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		path := "/teams/" + r.north + "/estimate"
		const both = "?pickupLocation=-73.97,40.76&dropoffLocation=-73.95,40.77"
		notFound.check(t, r.Call(t, "GET", path+both, nil), "hub")
		r.Must(t, "PUT", "/teams/"+r.north, `{"hub":"`+r.hub+`"}`)
		notFound.check(t, r.Call(t, "GET", path+both, nil), "on duty")
		place(t, p.Store.Write, r.Client, r.ada, lastmile.Whereabouts{OnDuty: true, Location: &lastmile.Point{Lon: -73.98, Lat: 40.75}})
		place(t, p.Store.Write, r.Client, r.bob, lastmile.Whereabouts{OnDuty: true, Location: &lastmile.Point{Lon: -73.98, Lat: 40.75}})

		now := time.Now().Unix()
		got := r.Must(t, "GET", path+both, nil)
		has(t, got, "workerId", r.ada)
		has(t, got, "vehicle", "CAR")
		steps := got["steps"].([]any)
		if len(steps) != 2 {
			t.Fatalf("steps %v", steps)
		}
		for i, want := range []string{`[-73.97,40.76]`, `[-73.95,40.77]`} {
			step := steps[i].(map[string]any)
			has(t, step, "location", jsonText(want))
			has(t, step, "serviceTime", 120)
			has(t, step, "travelSource", "formula")
			arrival, done := int64(step["arrivalTime"].(float64)), int64(step["completionTime"].(float64))
			if step["travelTime"].(float64) < 30 || step["distance"].(float64) < 500 || arrival < now+30 || arrival > now+7200 || done != arrival+120 {
				t.Errorf("step %v", step)
			}
			now = arrival
		}
		later := time.Now().Add(2 * time.Hour).Unix()
		walked := r.Must(t, "GET", path+fmt.Sprintf("?pickupLocation=-73.97,40.76&pickupTime=%d&restrictedVehiclesTypes=CAR,TRUCK&serviceTime=60", later), nil)
		has(t, walked, "workerId", r.bob)
		has(t, walked, "vehicle", nil)
		step := walked["steps"].([]any)[0].(map[string]any)
		has(t, step, "arrivalTime", later)
		has(t, step, "completionTime", later+60)
		has(t, r.Must(t, "GET", path+both+"&restrictedVehicleTypes=car", nil), "workerId", r.bob)
		for query, want := range map[string]rejection{
			"":                                    malformed,
			"?dropoffLocation=here":               malformed,
			"?dropoffLocation=1":                  malformed,
			"?dropoffLocation=200,1":              malformed,
			both + "&serviceTime=-1":              invalid,
			both + "&serviceTime=soon":            malformed,
			both + "&pickupTime=-1":               invalid,
			both + "&restrictedVehicleTypes=BOAT": invalid,
		} {
			want.check(t, r.Call(t, "GET", path+query, nil))
		}
		outsideScope.check(t, r.Call(t, "GET", "/teams/"+newRoads(t, p, "Zenith").north+"/estimate"+both, nil))
	})
}
