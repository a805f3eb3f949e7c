package abuse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// The amounts of data that boards and reports of an organization have to read.
const (
	boardTasks     = 3_000
	boardPositions = 20_000 // as many as a phone may report at once
	taskChanges    = 300
	importedTasks  = 100
)

// prepareDay gives each organization a day with much to show: tasks, positions, and a task
// that was often changed, with requests that changed nothing between.
func prepareDay(t *testing.T, w *world) {
	t.Helper()
	if w.prepared["day"] {
		return // it was prepared for another attack
	}
	w.prepared["day"] = true
	for _, o := range w.tenants {
		ids := o.createTasks(t, boardTasks, nil)
		o.put(t.Context(), "/api/v2/containers/workers/"+o.workers[1], map[string]any{"tasks": ids[:900]})
		o.changed = ids[len(ids)-1]
		for i := range taskChanges {
			o.put(t.Context(), "/api/v2/tasks/"+o.changed, map[string]any{"notes": fmt.Sprint("change ", i/2)})
		}
		now := time.Now()
		for from := 0; from < boardPositions; from += 500 {
			var positions []any
			for i := range 500 {
				at := now.Add(-time.Duration(boardPositions-from-i) * time.Second / 8)
				positions = append(positions, map[string]any{"location": []float64{-74 + float64(i)/1e4, 40.7}, "time": at.UnixMilli()})
			}
			o.session.post(t.Context(), "/driver/v1/positions", map[string]any{"positions": positions}) // fewer after another attack
		}
	}
}

// dispatchTasks is the number of tasks of a plan.
const dispatchTasks = 300

func prepareDispatch(t *testing.T, w *world) {
	t.Helper()
	for _, o := range w.tenants {
		o.dispatched = o.must(t, "/api/v2/teams", map[string]any{"name": "Dispatched", "workers": []any{o.workers[0]}, "managers": []any{}}).id()
		o.createTasks(t, dispatchTasks, map[string]any{
			"container": map[string]any{"type": "TEAM", "team": o.dispatched}, "notes": strings.Repeat("é", 5_000), "metadata": largeMetadata(8 << 10),
		})
		position := map[string]any{"location": []float64{-74, 40.7}, "time": time.Now().UnixMilli()}
		o.session.post(t.Context(), "/driver/v1/positions", map[string]any{"positions": []any{position}})
	}
}

// reads lets several callers read paths in turn.
func (o *tenant) reads(ctx context.Context, callers int, paths ...string) {
	mob(ctx, callers, 50*time.Millisecond, func(ctx context.Context, member, turn int) {
		o.get(ctx, "/api/v2"+paths[(member+turn)%len(paths)])
	})
}

// readAttacks read as much as possible.
var readAttacks = []attack{
	{name: "boards and replays of a day", prepare: prepareDay, run: func(ctx context.Context, w *world, by *tenant) {
		now := time.Now()
		yesterday := now.AddDate(0, 0, -1).Format(time.DateOnly)
		by.reads(ctx, 20, "/board", "/board/history", "/board/history?date="+yesterday, "/board?teams="+by.team,
			fmt.Sprintf("/board/positions?from=%d", now.Add(-time.Hour).UnixMilli()), "/events/log?since=0",
			fmt.Sprintf("/board/positions?from=%d", now.Add(-10*time.Minute).UnixMilli()), "/events/log?since=1000&until=3000")
	}},
	{name: "replays only", prepare: prepareDay, run: func(ctx context.Context, w *world, by *tenant) {
		by.reads(ctx, 30, "/board/history")
	}},
	{name: "the history of a task", prepare: prepareDay, run: func(ctx context.Context, w *world, by *tenant) {
		at := "/tasks/" + by.changed
		by.reads(ctx, 20, at+"/history", at+"/notifications", at+"/history?lastId=x", "/audit?record="+by.changed, "/audit?route=PUT%20/tasks/{id}")
	}},
	{name: "reports of a year", prepare: prepareDay, run: func(ctx context.Context, w *world, by *tenant) {
		now := time.Now()
		year, month := now.AddDate(-1, 0, 0).UnixMilli(), now.AddDate(0, 0, -31).Add(time.Minute).UnixMilli()
		worker := "/workers/" + by.workers[0]
		by.reads(ctx, 20, fmt.Sprintf("/analytics?from=%d&to=%d", year, now.UnixMilli()), fmt.Sprintf("/analytics?from=%d&to=%d&by=worker", month, now.UnixMilli()),
			fmt.Sprintf("/analytics?from=%d&to=%d&by=team", month, now.UnixMilli()), fmt.Sprintf(worker+"/positions?from=%d&simplify=0.001", month),
			fmt.Sprintf(worker+"/stops?from=%d", month), "/search?q=ma", "/search?q="+strings.Repeat("9", 100), worker+"?analytics=true&from=0&to=9999999999999")
	}},
	{name: "dry runs that are discarded", prepare: prepareDispatch, run: func(ctx context.Context, w *world, by *tenant) {
		key := func() string { return fmt.Sprintf("dispatch %d", rand.Uint64()) }
		mob(ctx, 8, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			made := by.post(ctx, "/api/v2/teams/"+by.dispatched+"/dispatch", map[string]any{"dryRun": true, "maxTasksPerRoute": 200}, "Idempotency-Key", key())
			id := fmt.Sprint(made.object()["dispatchId"])
			if made.status == http.StatusOK {
				by.post(ctx, "/api/v2/dispatches/"+id+"/stop", nil)
				by.planned.Store(&id)
			}
			if last := by.planned.Load(); last != nil {
				at := "/api/v2/dispatches/" + *last
				by.get(ctx, at)
				by.post(ctx, at+[]string{"/apply", "/discard"}[turn/4%2], nil, "Idempotency-Key", key())
			}
			by.get(ctx, "/api/v2/teams/"+by.dispatched+"/dispatches")
		})
	}},
	{name: "imports of the same keys", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 6, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			var tasks []any
			for i := range importedTasks {
				task := taskBody("imported")
				task["importKey"] = fmt.Sprintf("%d/%d/%s", turn/3, i, strings.Repeat("k", 80))
				tasks = append(tasks, task)
			}
			by.post(ctx, "/api/v2/tasks/batch", map[string]any{"tasks": tasks})
			by.post(ctx, "/api/v2/tasks", tasks[0])
		})
	}},
	{name: "lists of orders", prepare: prepareServices, run: func(ctx context.Context, w *world, by *tenant) {
		lists := []string{"/taskOrders", "/taskOrders?status=failed", "/taskOrders?side=placed&status=rejected,cancelled", "/taskOrders?from=0&to=9999999999999&service=" + by.service, "/deliveryServices"}
		mob(ctx, 12, 50*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.get(ctx, "/api/v2"+lists[(member+turn)%len(lists)])
			by.shops[member%clientsOfCourier].get(ctx, "/api/v2"+lists[turn%len(lists)])
		})
	}},
	{name: "addresses and routes", run: func(ctx context.Context, w *world, by *tenant) {
		var stops []string
		for i := range 50 {
			stops = append(stops, fmt.Sprintf("%v,%v", -74+float64(i%7)*20, 40.7-float64(i%5)*15))
		}
		words := url.QueryEscape(strings.Repeat("san saint new a ", 15))
		by.reads(ctx, 20, "/geocode?limit=20&q="+words, "/geocode?limit=20&q=s", "/geocode?q="+strings.Repeat("x", 250), "/geocode?location=-74,40.7&limit=20",
			"/geocode?limit=20&q=12+Rue+de+Rivoli+75001+France", "/route?stops="+strings.Join(stops, ";"), "/route?vehicle=FOOT&stops="+strings.Join(stops, ";"))
	}},
	{name: "streams of boards", prepare: prepareDay, run: func(ctx context.Context, w *world, by *tenant) {
		go mob(ctx, 200, 2*time.Second, func(ctx context.Context, member, _ int) {
			by.listen(ctx, "/api/v2/events?lists=true&positions=true"+[]string{"", "&since=0"}[member%2])
		})
		mob(ctx, 4, 50*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.put(ctx, "/api/v2/teams/"+by.team, map[string]any{"name": fmt.Sprint("Team ", member, turn)})
			position := map[string]any{"location": []float64{-74, 40.7 + float64(turn%100)/1e4}, "time": time.Now().UnixMilli()}
			by.session.post(ctx, "/driver/v1/positions", map[string]any{"positions": []any{position}})
			by.put(ctx, "/api/v2/containers/workers/"+by.workers[1], map[string]any{"tasks": []any{turn % 10, by.changed}})
		})
	}},
	{name: "notifications sent again", prepare: func(t *testing.T, w *world) {
		t.Helper()
		for _, o := range w.tenants {
			o.hook = o.must(t, "/api/v2/webhooks", map[string]any{"url": w.receiver + "/again", "trigger": 9}).id() // taskAssigned
			ids := o.createTasks(t, 1_000, nil)
			o.put(t.Context(), "/api/v2/containers/workers/"+o.workers[1], map[string]any{"tasks": append([]any{-1}, anys(ids)...)})
		}
	}, run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 8, 50*time.Millisecond, func(ctx context.Context, member, turn int) {
			at := "/api/v2/webhooks/" + by.hook
			by.post(ctx, at+"/redeliver", map[string]any{"from": 1, "delivered": true})
			by.get(ctx, at+"/notifications")
			by.post(ctx, at+"/test", nil)
		})
	}},
}
