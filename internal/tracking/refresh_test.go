package tracking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/tracking"
	"dray/internal/travel"
	"dray/internal/wire"
)

// router implements Travel; it calls the function before it returns legs.
type router func(ctx context.Context) error

func (r router) Legs(ctx context.Context, _ lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error) {
	legs := make([]travel.Leg, len(way)-1)
	for i := range legs {
		legs[i].Duration = 10 * time.Minute
	}
	return legs, r(ctx)
}

// fixture is a database with a worker who has an active task.
type fixture struct {
	store  *sqlstore.Store
	now    time.Time
	worker lastmile.Worker
	ids    atomic.Int64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	r := &fixture{now: time.Now().UTC().Truncate(time.Millisecond)}
	db, err := sqlstore.Open(t.Context(), sqlstore.Options{
		Data: storetest.Folder(t), Serve: true, Patience: time.Minute, Now: func() time.Time { return r.now }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	const org lastmile.OrganizationID = "acmeacmeacmeacmeacmeacme"
	r.store, r.worker = db, lastmile.Worker{
		ID: "workerworkerworkerworker", Organization: org, Created: r.now, Modified: r.now, Name: "W", Phone: "+12125550101",
	}
	place := lastmile.Destination{
		ID: "destinationdestinationde", Organization: org, Created: r.now, Modified: r.now, Location: lastmile.Point{Lon: -74, Lat: 40.7},
	}
	task := lastmile.Task{
		ID: "tasktasktasktasktasktask", ShortID: "t", Organization: org, Created: r.now, Modified: r.now, Destination: place, TrackingToken: "t",
		State: lastmile.TaskActive, Worker: r.worker.ID, Container: lastmile.WorkerContainer(r.worker.ID),
	}
	at := lastmile.Whereabouts{OnDuty: true, LastSeen: r.now, Location: &lastmile.Point{Lon: -74, Lat: 40.5}, LocatedAt: r.now}
	r.write(t, func(ctx context.Context, w *sqlstore.Tx) error {
		assigned := task
		assigned.State = lastmile.TaskAssigned
		return errors.Join(w.SaveWorker(ctx, r.worker), w.SaveWhereabouts(ctx, org, r.worker.ID, at), w.SaveDestination(ctx, place),
			w.AddTask(ctx, assigned), w.SaveTask(ctx, task), w.ScheduleEstimate(ctx, org, r.worker.ID, r.now))
	})
	return r
}

func (r *fixture) write(t *testing.T, fn func(ctx context.Context, w *sqlstore.Tx) error) {
	t.Helper()
	ctx := t.Context()
	if err := r.store.Write(ctx, func(w *sqlstore.Tx) error { return fn(ctx, w) }); err != nil {
		t.Fatal(err)
	}
}

func (r *fixture) tracker(ask router) *tracking.Tracker {
	now, newID := func() time.Time { return r.now }, func() string { return fmt.Sprintf("id%022d", r.ids.Add(1)) }
	log := events.NewLog(events.Options{
		Now: now, NewID: newID, Hub: events.NewHub(events.HubOptions{}),
		Encode:   func(_ context.Context, all []lastmile.Event) ([][]byte, error) { return wire.EncodeEvents(nil, all) },
		Messages: func(context.Context, events.Transaction, []lastmile.Event) error { return nil },
	})
	return &tracking.Tracker{Store: sqlstore.For[tracking.Reader, tracking.Writer](r.store), Events: log, Travel: ask, Now: now, Log: slog.New(slog.DiscardHandler), NewID: newID, Routes: noRoutes{}}
}

func TestChangeDuringRefresh(t *testing.T) {
	r, asked := newFixture(t), 0
	tracker := r.tracker(func(context.Context) error {
		if asked++; asked == 1 {
			r.write(t, func(ctx context.Context, w *sqlstore.Tx) error {
				return w.ScheduleEstimate(ctx, r.worker.Organization, r.worker.ID, r.now)
			})
		}
		return nil
	})
	n, err := tracker.RefreshDue(t.Context())
	if n != 2 || asked != 2 || err != nil {
		t.Errorf("%d refreshes, %d routes: %v; want 2 of each", n, asked, err)
	}
	if n, err := tracker.RefreshDue(t.Context()); n != 0 || err != nil {
		t.Errorf("%d more are due: %v", n, err)
	}
}

// TestLongListRests changes lists again and again, without and with time between.
func TestLongListRests(t *testing.T) {
	for _, tt := range []struct {
		tasks int
		rest  time.Duration
	}{{19, 0}, {20, 200 * time.Millisecond}, {tracking.MaxEstimated + 1, store.MaxEstimateRest}} {
		r := newFixture(t)
		for i := range tt.tasks - 1 {
			r.write(t, func(ctx context.Context, w *sqlstore.Tx) error {
				return w.AddTask(ctx, lastmile.Task{
					ID: lastmile.TaskID(fmt.Sprintf("task%020d", i)), ShortID: fmt.Sprint("t", i), Organization: r.worker.Organization, Created: r.now, Modified: r.now,
					Destination:   lastmile.Destination{ID: "destinationdestinationde", Organization: r.worker.Organization},
					TrackingToken: fmt.Sprint("t", i), State: lastmile.TaskAssigned, Worker: r.worker.ID, Container: lastmile.WorkerContainer(r.worker.ID),
				})
			})
		}
		tracker := r.tracker(func(context.Context) error { return nil })
		due := func() int {
			t.Helper()
			n, err := tracker.RefreshDue(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		changed := func() {
			r.write(t, func(ctx context.Context, w *sqlstore.Tx) error {
				return w.ScheduleEstimate(ctx, r.worker.Organization, r.worker.ID, r.now)
			})
		}
		if due() != 1 {
			t.Fatalf("%d tasks: the first change is not due", tt.tasks)
		}
		for range 3 { // the second and third rest too
			changed()
			if at := tt.rest - time.Millisecond; at > 0 {
				if n := due(); n != 0 {
					t.Errorf("%d tasks: %d refreshes at once", tt.tasks, n)
				}
				r.now = r.now.Add(at)
				changed()
				if n := due(); n != 0 {
					t.Errorf("%d tasks: %d refreshes after %v", tt.tasks, n, at)
				}
				r.now = r.now.Add(time.Millisecond)
			}
			if n := due(); n != 1 {
				t.Errorf("%d tasks: %d refreshes after %v, want 1", tt.tasks, n, tt.rest)
			}
		}
		changed()
		var schedule store.EstimateSchedule
		r.write(t, func(ctx context.Context, w *sqlstore.Tx) (err error) {
			schedule, err = w.EstimateSchedule(ctx, r.worker.Organization, r.worker.ID)
			return err
		})
		if rests := !schedule.Rest.IsZero(); rests != (tt.rest > 0) || rests && !schedule.Refresh.Equal(schedule.Rest) {
			t.Errorf("%d tasks: after a change, the refresh is at %v and the rest ends at %v", tt.tasks, schedule.Refresh, schedule.Rest)
		}
		tracker.Ways = router(func(context.Context) error { return nil })
		who, task := r.worker, lastmile.Task{
			ID: "task", Organization: r.worker.Organization, Destination: lastmile.Destination{Location: lastmile.Point{Lon: -74, Lat: 40.7}},
			Estimates: lastmile.Estimates{Arrival: r.now.Add(9 * time.Minute)}, // before the change
		}
		who.Tasks, who.Whereabouts.Location = []lastmile.TaskID{task.ID}, &lastmile.Point{Lon: -74, Lat: 40.5}
		r.write(t, func(ctx context.Context, w *sqlstore.Tx) error {
			e, err := tracker.Started(ctx, w, who, task, lastmile.Action{At: r.now}, r.now)
			if err == nil && (e.ETA == nil || *e.ETA != 10*time.Minute) {
				t.Errorf("%d tasks: the estimate of a start after a change is %+v; want the ten minutes of the road", tt.tasks, e)
			}
			return err
		})
		r.now = r.now.Add(-24 * time.Hour) // the clock was ahead
		changed()
		if n := due(); n != 1 {
			t.Errorf("%d tasks: %d refreshes after the clock was set back, want 1", tt.tasks, n)
		}
	}
}

func TestPositionDuringRefresh(t *testing.T) {
	r, asked := newFixture(t), 0
	who := lastmile.Principal{Organization: r.worker.Organization, Worker: r.worker.ID}
	tracker := r.tracker(nil)
	tracker.Travel = router(func(ctx context.Context) error {
		if asked++; asked > 1 {
			return nil
		}
		r.now = r.now.Add(time.Second)
		n, err := tracker.Report(ctx, who, []lastmile.Position{{Location: lastmile.Point{Lon: -74, Lat: 40.5001}, At: r.now}})
		if n != 1 {
			t.Errorf("%d positions were accepted", n)
		}
		return err
	})
	if n, err := tracker.RefreshDue(t.Context()); n != 1 || err != nil {
		t.Fatalf("%d refreshes: %v", n, err)
	}
	r.now = r.now.Add(lastmile.ThresholdInterval)
	if n, err := tracker.RefreshDue(t.Context()); n != 1 || asked != 2 || err != nil {
		t.Errorf("%d refreshes after the interval, %d routes: %v; want 1 and 2", n, asked, err)
	}
}

func TestPositionAfterTheClockWasSetBack(t *testing.T) {
	r := newFixture(t)
	who := lastmile.Principal{Organization: r.worker.Organization, Worker: r.worker.ID}
	r.now = r.now.Add(-2 * time.Hour)
	far := lastmile.Point{Lon: -74, Lat: 41} // the worker may have driven for a long time
	if n, err := r.tracker(nil).Report(t.Context(), who, []lastmile.Position{{Location: far, At: r.now}}); n != 1 || err != nil {
		t.Fatalf("%d positions were accepted: %v", n, err)
	}
	r.write(t, func(ctx context.Context, w *sqlstore.Tx) error {
		at, err := w.Whereabouts(ctx, who.Organization, who.Worker)
		if err == nil && (*at.Location != far || !at.LocatedAt.Equal(r.now) || !at.LastSeen.Equal(r.now)) {
			t.Errorf("the worker is at %v, at %v, last seen at %v; it is %v", *at.Location, at.LocatedAt, at.LastSeen, r.now)
		}
		return err
	})
}

func TestFailedRefreshIsRetried(t *testing.T) {
	r, asked := newFixture(t), 0
	broken := errors.New("the router is broken")
	tracker := r.tracker(func(context.Context) error {
		if asked++; asked == 1 {
			return broken
		}
		return nil
	})
	if _, err := tracker.RefreshDue(t.Context()); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	r.now = r.now.Add(4 * time.Second)
	if n, _ := tracker.RefreshDue(t.Context()); n != 0 {
		t.Error("it is tried again at once")
	}
	r.now = r.now.Add(time.Second)
	if n, err := tracker.RefreshDue(t.Context()); n != 1 || err != nil {
		t.Errorf("%d refreshes after five seconds: %v", n, err)
	}
}

// The first message to a recipient says when the worker will be there, before routers
// were asked.
func TestStartIsEstimatedOnImportedRoads(t *testing.T) {
	r := newFixture(t)
	tracker := r.tracker(func(context.Context) error { return errors.New("a router was asked in a transaction") })
	tracker.Ways = router(func(context.Context) error { return nil })
	who := r.worker
	who.Whereabouts.Location = &lastmile.Point{Lon: -74, Lat: 40.5}
	task := lastmile.Task{Organization: who.Organization, Destination: lastmile.Destination{Location: lastmile.Point{Lon: -74, Lat: 40.7}}}
	r.write(t, func(ctx context.Context, w *sqlstore.Tx) error {
		e, err := tracker.Started(ctx, w, who, task, lastmile.Action{At: r.now}, r.now)
		if err == nil && (e.ETA == nil || *e.ETA != 10*time.Minute) {
			t.Errorf("the estimate is %+v; want the ten minutes of the road", e)
		}
		return err
	})
}

func TestWorkerDeletedDuringRefresh(t *testing.T) {
	r := newFixture(t)
	tracker := r.tracker(func(ctx context.Context) error {
		return r.store.Write(ctx, func(w *sqlstore.Tx) error { return w.DeleteWorker(ctx, r.worker.Organization, r.worker.ID) })
	})
	for range 2 {
		if _, err := tracker.RefreshDue(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// noRoutes ignores delays.
type noRoutes struct{}

func (noRoutes) Delayed(context.Context, store.Transaction, lastmile.Worker, *time.Duration) error {
	return nil
}
