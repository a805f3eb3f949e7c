package abuse

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Sizes of lists. Creating them takes most of the time of the preparations.
const (
	movedTasks  = 3_000
	planTasks   = 500
	teamTasks   = 20_000
	crewWorkers = 900 // invitations are text messages, 1,000 in an hour
	crewTasks   = 1_000
)

// taskAttacks make lists long and work on all of them.
var taskAttacks = []attack{
	{name: "thousands of tasks back and forth", prepare: func(t *testing.T, w *world) {
		t.Helper()
		for _, o := range w.tenants {
			o.tasks = o.createTasks(t, movedTasks, nil)
		}
	}, run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 2, 200*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.put(ctx, "/api/v2/containers/workers/"+by.workers[(member+turn)%2], map[string]any{"tasks": by.tasks})
			by.put(ctx, "/api/v2/containers/organizations/"+by.org, map[string]any{"tasks": append([]any{-1}, anys(by.tasks)...)})
		})
	}},
	{name: "tasks for a team of 20,000", prepare: func(t *testing.T, w *world) {
		t.Helper()
		o := w.tenants[0]
		o.createTasks(t, teamTasks, map[string]any{"container": map[string]any{"type": "TEAM", "team": o.team}})
	}, run: func(ctx context.Context, w *world, by *tenant) {
		task := taskBody("one more")
		task["container"] = map[string]any{"type": "TEAM", "team": by.team}
		mob(ctx, 6, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			id := by.post(ctx, "/api/v2/tasks", task).id()
			by.put(ctx, "/api/v2/containers/teams/"+by.team, map[string]any{"tasks": []any{0, id}})
			switch turn % 4 {
			case 0:
				by.get(ctx, "/api/v2/containers/teams/"+by.team)
			case 1:
				by.get(ctx, "/api/v2/teams/"+by.team+"/tasks")
			case 2:
				by.session.get(ctx, "/driver/v1/tasks/available")
			}
			by.do(ctx, http.MethodDelete, "/api/v2/tasks/"+id, nil)
		})
	}},
	{name: "automatic assignment of 1,000 tasks among 900 workers", prepare: prepareCrew, run: func(ctx context.Context, w *world, by *tenant) {
		if by != w.tenants[1] {
			return
		}
		all := append([]any{-1}, anys(by.crewTasks)...)
		mob(ctx, 2, 200*time.Millisecond, func(ctx context.Context, member, turn int) {
			mode := []string{"distance", "load"}[turn%2]
			by.post(ctx, "/api/v2/tasks/autoAssign", map[string]any{"tasks": by.crewTasks, "options": map[string]any{"mode": mode}})
			by.put(ctx, "/api/v2/containers/organizations/"+by.org, map[string]any{"tasks": all})
			by.get(ctx, "/api/v2/workers")
		})
	}},
	{name: "route plans of 500 tasks", prepare: func(t *testing.T, w *world) {
		t.Helper()
		for _, o := range w.tenants {
			o.planTasks = o.createTasks(t, planTasks, nil)
		}
	}, run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 2, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			plan := map[string]any{"name": "P", "startTime": time.Now().Add(time.Hour).UnixMilli(), "tasks": by.planTasks, "worker": by.workers[turn%2]}
			if a := by.post(ctx, "/api/v2/routePlans", plan); a.status == http.StatusOK {
				by.do(ctx, http.MethodDelete, "/api/v2/routePlans/"+a.id(), nil)
			}
		})
	}},
	{name: "lists with extreme filters", run: func(ctx context.Context, w *world, by *tenant) {
		ids := strings.TrimSuffix(strings.Repeat(by.workers[0]+",", 300), ",")
		queries := []string{
			"/tasks/all?from=0&to=99999999999999999999", "/tasks/all?from=-9223372036854775808", "/tasks/all?from=1e308", "/tasks/all?from=NaN",
			"/tasks/all?from=1&state=" + strings.TrimSuffix(strings.Repeat("0,", 4000), ","), "/tasks/all?from=1&containers=" + ids,
			"/tasks/all?from=1&dependencies=" + ids, "/tasks/all?from=1&lastId=" + ids, "/tasks/all?from=1&worker=" + by.workers[0],
			"/tasks/all?from=1&completeBeforeBefore=1&completeAfterAfter=9999999999999", "/workers?filter=" + strings.Repeat("id,", 3000),
			"/workers/location?longitude=0&latitude=90&radius=10000", "/workers/location?longitude=-74&latitude=40.7&radius=1e9",
			"/workers/" + by.workers[0] + "?analytics=true", "/teams/" + by.team + "/estimate?dropoffLocation=-74,40.7&pickupTime=1",
			"/recipients/name/" + strings.Repeat("%25", 1000), "/routePlans?limit=1000000", "/messages?limit=1000000",
			"/workers/" + by.workers[0] + "/tasks?from=0&isPickupTask=x", "/containers/workers/" + by.workers[0], "/admins", "/hubs",
		}
		mob(ctx, 8, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			by.get(ctx, "/api/v2"+queries[(member+turn)%len(queries)])
		})
	}},
	{name: "dependent and linked tasks", run: func(ctx context.Context, w *world, by *tenant) {
		mob(ctx, 4, 100*time.Millisecond, func(ctx context.Context, member, turn int) {
			var ids []string
			for range 60 {
				task := taskBody("dependent")
				task["dependencies"] = ids
				a := by.post(ctx, "/api/v2/tasks", task)
				if a.status != http.StatusOK {
					break
				}
				ids = append(ids, a.id())
			}
			if len(ids) > 0 {
				by.put(ctx, "/api/v2/tasks/"+ids[0], map[string]any{"dependencies": ids})
				by.put(ctx, "/api/v2/containers/workers/"+by.workers[1], map[string]any{"tasks": append([]any{0}, anys(ids)...)})
				by.do(ctx, http.MethodDelete, "/api/v2/tasks/"+ids[0], nil)
			}
		})
	}},
}

func anys[T any](list []T) (out []any) {
	for _, one := range list {
		out = append(out, one)
	}
	return out
}

// prepareCrew gives one organization many workers and tasks.
func prepareCrew(t *testing.T, w *world) {
	t.Helper()
	o := w.tenants[1]
	var all sync.WaitGroup
	for part := range 4 {
		all.Go(func() {
			for i := part; i < crewWorkers; i += 4 {
				worker := map[string]any{"name": fmt.Sprint("Crew ", i), "phone": fmt.Sprintf("+1646555%04d", i), "teams": []string{o.team}}
				o.post(t.Context(), "/api/v2/workers", worker)
			}
		})
	}
	all.Wait()
	o.crewTasks = o.createTasks(t, crewTasks, nil)
}
