package app_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/tracking"
	"dray/internal/travel"
)

// TestThresholdsFireOnceAcrossNodes reports positions of the same workers to
// several nodes and refreshes their estimates on all nodes at the same time. Each
// webhook must get one notification for each task.
func TestThresholdsFireOnceAcrossNodes(t *testing.T) {
	t.Run("one node on sqlite", func(t *testing.T) { testThresholdsFireOnce(t, 1, app.Config{Data: storetest.Folder(t)}) })
	t.Run("three nodes on postgres", func(t *testing.T) {
		testThresholdsFireOnce(t, 3, app.Config{Data: t.TempDir(), Database: storetest.Postgres(t)})
	})
}

func testThresholdsFireOnce(t *testing.T, count int, c app.Config) {
	const workers, rounds = 12, 8
	var ahead atomic.Int64
	clock := func() time.Time { return app.Clock().Add(time.Duration(ahead.Load())) }
	nodes := make([]*app.App, count)
	c.Patience = time.Minute
	for i := range nodes {
		node, err := app.New(t.Context(), c, slog.New(slog.DiscardHandler), clock, true)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := node.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		nodes[i] = node
	}
	made, err := nodes[0].Organizations.Create(t.Context(), lastmile.OrganizationDraft{Name: "Fleet", Country: "US", Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	org := made.Organization.ID
	hooks, drivers := saveTracked(t, nodes[0], org, workers)

	for round := range rounds { // each round is nearer to the destination
		location := lastmile.Point{Lon: -74, Lat: 40.7 - 0.01*float64(rounds-1-round)}
		var group sync.WaitGroup
		for _, node := range nodes {
			group.Go(func() {
				for _, worker := range drivers {
					who := lastmile.Principal{Organization: org, Worker: worker}
					if _, err := node.Tracking.Report(t.Context(), who, []lastmile.Position{{Location: location, At: clock()}}); err != nil {
						t.Errorf("report: %v", err)
					}
				}
				if _, err := node.Tracking.RefreshDue(t.Context()); err != nil {
					t.Errorf("refresh estimates: %v", err)
				}
			})
		}
		group.Wait()
		ahead.Add(int64(lastmile.ThresholdInterval + time.Second))
	}
	for range 2 {
		if _, err := nodes[0].Tracking.RefreshDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		ahead.Add(int64(travel.RefreshOnDuty))
	}
	err = nodes[0].Store.Read(t.Context(), func(r *sqlstore.Tx) error {
		for trigger, hook := range hooks {
			notifications, err := r.Notifications(t.Context(), org, store.NotificationFilter{Webhook: hook})
			if err != nil {
				return err
			}
			perTask := map[lastmile.TaskID]int{}
			for _, n := range notifications {
				perTask[n.Task]++
			}
			if len(notifications) != workers || len(perTask) != workers {
				t.Errorf("%s: %d notifications of %d tasks, want one for each of %d", trigger, len(notifications), len(perTask), workers)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// saveTracked saves webhooks with thresholds and workers with an overdue active
// task.
func saveTracked(t *testing.T, a *app.App, org lastmile.OrganizationID, workers int) (hooks map[lastmile.Trigger]lastmile.WebhookID, drivers []lastmile.WorkerID) {
	t.Helper()
	now := a.Now()
	err := a.Store.Write(t.Context(), func(w *sqlstore.Tx) error {
		hooks, drivers = map[lastmile.Trigger]lastmile.WebhookID{}, nil
		for trigger, threshold := range map[lastmile.Trigger]float64{
			lastmile.TriggerTaskEta: 300, lastmile.TriggerTaskArrival: 100, lastmile.TriggerTaskDelayed: 60,
		} {
			hook := lastmile.Webhook{
				ID: lastmile.WebhookID(access.RandomSecret(lastmile.IDLength)), Organization: org, Created: now, Modified: now,
				URL: "https://hooks.example.com/", Trigger: trigger, Threshold: &threshold, Enabled: true,
			}
			if err := w.SaveWebhook(t.Context(), hook); err != nil {
				return err
			}
			hooks[trigger] = hook.ID
		}
		for i := range workers {
			worker := lastmile.Worker{
				ID: lastmile.WorkerID(access.RandomSecret(lastmile.IDLength)), Organization: org, Created: now, Modified: now, Name: "W",
				Phone: lastmile.Phone("+1212555" + strconv.Itoa(1000+i)), Vehicle: &lastmile.Vehicle{Type: lastmile.Car},
			}
			destination := lastmile.Destination{
				ID: lastmile.DestinationID(access.RandomSecret(lastmile.IDLength)), Organization: org, Created: now, Modified: now,
				Location: lastmile.Point{Lon: -74, Lat: 40.7}, Address: lastmile.Address{City: "New York", Country: "United States"},
			}
			task := lastmile.Task{
				ID: lastmile.TaskID(access.RandomSecret(lastmile.IDLength)), ShortID: strconv.Itoa(i), Organization: org, Created: now, Modified: now,
				Destination: destination, TrackingToken: access.RandomSecret(lastmile.IDLength), State: lastmile.TaskAssigned, Worker: worker.ID,
				Container: lastmile.WorkerContainer(worker.ID), CompleteBefore: now.Add(-time.Hour),
			}
			err := errors.Join(
				w.SaveWorker(t.Context(), worker), w.SaveWhereabouts(t.Context(), org, worker.ID, lastmile.Whereabouts{OnDuty: true, LastSeen: now}),
				w.SaveDestination(t.Context(), destination), w.AddTask(t.Context(), task), w.SaveTask(t.Context(), started(task)),
				w.ScheduleEstimate(t.Context(), org, worker.ID, now),
			)
			if err != nil {
				return err
			}
			drivers = append(drivers, worker.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hooks, drivers
}

// started returns the task as its worker has started it.
func started(task lastmile.Task) lastmile.Task {
	task.State = lastmile.TaskActive
	task.Completion.Events = []lastmile.CompletionEvent{{Name: "start", At: task.Created}}
	return task
}

// callers records on whose behalf positions are saved.
type callers struct {
	tracking.Store
	seen []string
}

func (c *callers) Write(ctx context.Context, fn func(tracking.Writer) error) error {
	c.seen = append(c.seen, lastmile.CallerOf(ctx))
	return c.Store.Write(ctx, fn)
}

// TestTrackerAppsAreTheirOrganization: the route is public, but the positions are saved like
// those of phones, and do not wait for requests without credentials.
func TestTrackerAppsAreTheirOrganization(t *testing.T) {
	a, err := app.New(t.Context(), app.Config{Data: storetest.Folder(t)}, slog.New(slog.DiscardHandler), app.Clock, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	made, err := a.Organizations.Create(t.Context(), lastmile.OrganizationDraft{Name: "Fleet", Country: "US", Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	org := made.Organization.ID
	_, drivers := saveTracked(t, a, org, 1)
	token, err := a.Sessions.NewTracker(t.Context(), lastmile.Principal{Organization: org, Worker: drivers[0]})
	if err != nil {
		t.Fatal(err)
	}
	saved := &callers{Store: a.Tracking.Store}
	a.Tracking.Store = saved
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/driver/v1/osmand?lat=40.7&lon=-74&id="+token, nil))
	if w.Code != http.StatusOK || !slices.Equal(saved.seen, []string{string(org)}) {
		t.Errorf("responded %d %s, and saved for %q, want %q", w.Code, w.Body, saved.seen, org)
	}
}
