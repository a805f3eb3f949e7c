package abuse

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// largeSearch finds the tasks that prepareLargeTasks creates.
var largeSearch = []any{map[string]any{"name": "large", "type": "boolean", "value": true}}

// prepareLargeTasks gives each organization tasks that are as large as possible.
func prepareLargeTasks(t *testing.T, w *world) {
	t.Helper()
	if w.prepared["large tasks"] {
		return // they were created for another attack
	}
	w.prepared["large tasks"] = true
	for _, o := range w.tenants {
		o.createTasks(t, 1000, map[string]any{"metadata": largeMetadata(15 << 10), "notes": strings.Repeat("é", 10_000)})
	}
}

func largeMetadata(size int) []any {
	return []any{largeSearch[0], map[string]any{"name": "padding", "type": "string", "value": strings.Repeat("x", size)}}
}

// dataAttacks send large and deeply nested data, and ids of other organizations.
var dataAttacks = []attack{
	{name: "deep and wide JSON", run: func(ctx context.Context, w *world, by *tenant) {
		bodies := []string{
			strings.Repeat("[", 1<<19) + strings.Repeat("]", 1<<19),
			strings.Repeat(`{"a":`, 1<<17) + "1" + strings.Repeat("}", 1<<17),
			`{"metadata":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
			`{"metadata":[` + strings.Repeat(`{"name":"a","type":"array","subtype":"object","value":[{}]},`, 15_000) + `{}]}`,
			`{` + strings.Repeat(`"a":1,`, 100_000) + `"a":1}`,
			`{"notes":"` + strings.Repeat(`\u0000`, 100_000) + `"}`,
			`{"quantity":` + strings.Repeat("9", 500_000) + `}`,
			`{"recipients":[` + strings.Repeat(`{"name":"R","phone":"+12125550000"},`, 20_000) + `{}]}`,
			`{"tasks":[` + strings.Repeat(`{"destination":{},"recipients":[]},`, 20_000) + `{}]}`,
			`{"barcodes":[` + strings.Repeat(`{"data":"","blockCompletion":true},`, 20_000) + `{}]}`,
		}
		paths := []string{"/tasks", "/tasks/batch", "/recipients", "/workers", "/teams", "/customFields", "/routePlans", "/tasks/metadata", "/hubs", "/admins"}
		mob(ctx, 8, 400*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.post(ctx, "/api/v2"+paths[turn%len(paths)], bodies[(member+turn/len(paths))%len(bodies)])
		})
	}},
	{name: "tasks with large metadata", run: func(ctx context.Context, w *world, by *tenant) {
		task := taskBody("large")
		task["metadata"] = largeMetadata(900 << 10)
		tooLarge := encode(task)
		task["metadata"] = largeMetadata(15 << 10)
		large := encode(task)
		mob(ctx, 8, 200*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.post(ctx, "/api/v2/tasks", tooLarge)
			id := by.post(ctx, "/api/v2/tasks", large).id()
			by.put(ctx, "/api/v2/tasks/"+id, map[string]any{"metadata": map[string]any{"$set": []any{map[string]any{"name": fmt.Sprint(turn), "type": "number", "value": 1}}}})
		})
	}},
	{name: "batches with idempotency keys", run: func(ctx context.Context, w *world, by *tenant) {
		var tasks []any
		for range 100 {
			task := taskBody("batch")
			task["metadata"] = largeMetadata(10 << 10)
			tasks = append(tasks, task)
		}
		text := encode(map[string]any{"tasks": tasks})
		mob(ctx, 4, 200*time.Millisecond, func(ctx context.Context, member, turn int) {
			path := []string{"/api/v2/tasks/batch", "/api/v2/tasks/batch-async"}[turn%2]
			by.post(ctx, path, text, "Idempotency-Key", fmt.Sprintf("batch %d", rand.Uint64()))
		})
	}},
	{name: "searches with idempotency keys", prepare: prepareLargeTasks, run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 6, 200*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.post(ctx, "/api/v2/tasks/metadata", largeSearch, "Idempotency-Key", fmt.Sprintf("search %d", rand.Uint64()))
		})
	}},
	{name: "the same idempotency key at once", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 50, 250*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.post(ctx, "/api/v2/destinations", taskBody("")["destination"], "Idempotency-Key", fmt.Sprint("turn ", turn/10))
		})
	}},
	{name: "ids of another organization", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 10, 500*time.Millisecond, func(ctx context.Context, member, turn int) {
			task := w.honest.anyTask()
			worker, team := w.honest.workers[turn%2], w.honest.team
			for _, a := range []reply{
				by.get(ctx, "/api/v2/tasks/"+task),
				by.put(ctx, "/api/v2/tasks/"+task, map[string]any{"notes": "stolen"}),
				by.do(ctx, http.MethodDelete, "/api/v2/tasks/"+task, nil),
				by.post(ctx, "/api/v2/tasks/"+task+"/complete", map[string]any{"completionDetails": map[string]any{"success": true}}),
				by.post(ctx, "/api/v2/tasks/"+task+"/clone", nil),
				by.put(ctx, "/api/v2/containers/workers/"+worker, map[string]any{"tasks": []any{}}),
				by.put(ctx, "/api/v2/containers/workers/"+by.workers[0], map[string]any{"tasks": []any{-1, task}}),
				by.get(ctx, "/api/v2/workers/"+worker),
				by.do(ctx, http.MethodDelete, "/api/v2/workers/"+worker, nil),
				by.do(ctx, http.MethodDelete, "/api/v2/workers/"+worker+"/sessions", nil),
				by.do(ctx, http.MethodDelete, "/api/v2/teams/"+team, nil),
				by.session.post(ctx, "/driver/v1/tasks/"+task+"/complete", map[string]any{"actionId": fmt.Sprint(turn), "success": true}),
			} {
				if a.status/100 == 2 {
					by.statuses.fault("another organization's record was used: %s", a.body)
				}
			}
		})
	}},
}

// anyTask returns the id of a task.
func (h *honest) anyTask() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.tasks {
		return id
	}
	return ""
}
