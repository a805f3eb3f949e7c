package storetest

import (
	"errors"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/work"
)

// testEstimateSchedules refreshes the estimates of a worker like a node, while the worker's
// list changes.
func testEstimateSchedules(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	w := worker("w", "+12125550101")
	place, clock := destination(acme, "d"), time.Now().UTC().Truncate(time.Millisecond)
	task := lastmile.Task{
		ID: id[lastmile.TaskID]("t"), ShortID: "t", Organization: acme, Created: now, Modified: now, Destination: place, TrackingToken: "t",
		State: lastmile.TaskAssigned, Worker: w.ID, Container: lastmile.WorkerContainer(w.ID),
	}
	due := func(at time.Time) []work.Item {
		return findWork(t, s, work.Query{Kind: work.Estimates, Now: at, PerOrganization: 10, Limit: 10})
	}
	schedule := func() store.EstimateSchedule {
		return read(t, s, func(r *sqlstore.Tx) (store.EstimateSchedule, error) { return r.EstimateSchedule(ctx, acme, w.ID) })
	}
	write(t, s, func(tx *sqlstore.Tx) error { return errors.Join(tx.SaveWorker(ctx, w), tx.SaveDestination(ctx, place)) })
	if found := due(clock.Add(time.Hour)); len(found) != 0 {
		t.Errorf("a worker with nothing to do is due: %v", found)
	}
	err := s.Read(ctx, func(r *sqlstore.Tx) error {
		_, err := r.EstimateSchedule(ctx, acme, w.ID)
		return err
	})
	if !lastmile.IsNotFound(err) {
		t.Errorf("the schedule of a worker with nothing to do: %v", err)
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.AddTask(ctx, task), tx.ScheduleEstimate(ctx, acme, w.ID, clock))
	})
	soon := clock.Add(time.Hour)
	found := due(soon)
	if len(found) != 1 || found[0].ID != string(w.ID) {
		t.Fatalf("due %v, want the worker", found)
	}
	item := found[0]
	item.Lease = "token"
	write(t, s, func(tx *sqlstore.Tx) error {
		_, err := tx.ClaimWork(ctx, item, soon, soon.Add(time.Minute))
		return errors.Join(err, tx.BeginEstimate(ctx, store.EstimateSchedule{Organization: acme, Worker: w.ID}))
	})
	before := schedule().Changes
	write(t, s, func(tx *sqlstore.Tx) error { return tx.ScheduleEstimate(ctx, acme, w.ID, now) })
	if schedule().Changes <= before {
		t.Error("a change of the list during a refresh is not seen")
	}
	if len(due(soon)) != 0 {
		t.Error("a change of the list ends the lease of a worker")
	}

	eta, delay := 3*time.Minute, 4*time.Minute
	estimates := lastmile.Estimates{Arrival: now.Add(time.Minute), Completion: now.Add(2 * time.Minute), ETA: &eta, Delay: &delay}
	next := schedule()
	next.Refresh, next.Checked, next.CheckedTask = soon, now, task.ID
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(
			tx.FinishWork(ctx, item),
			tx.SaveEstimates(ctx, acme, w.ID, []store.TaskEstimate{{Task: task.ID, State: lastmile.TaskAssigned, Estimates: estimates}}, &delay),
			tx.SaveEstimates(ctx, acme, w.ID, []store.TaskEstimate{{Task: task.ID, State: lastmile.TaskActive}}, &delay),
			tx.SaveEstimateSchedule(ctx, next),
		)
	})
	same(t, "the schedule", schedule(), next)
	saved := read(t, s, func(r *sqlstore.Tx) (lastmile.Task, error) { return r.Task(ctx, acme, task.ID) })
	same(t, "estimates for another state are dropped", saved.Estimates, estimates)
	if got := read(t, s, func(r *sqlstore.Tx) (lastmile.Worker, error) { return r.Worker(ctx, acme, w.ID) }); got.Delay == nil || *got.Delay != delay {
		t.Errorf("delay of the worker %v", got.Delay)
	}
	if len(due(soon.Add(-time.Second))) != 0 || len(due(soon)) != 1 {
		t.Error("a worker is due next when the schedule says so")
	}

	// A worker who moves is checked ThresholdInterval after the last check.
	seen := lastmile.Whereabouts{
		LastSeen: now, Location: &lastmile.Point{Lon: 1, Lat: 2}, LocatedAt: now, Battery: new(0.25),
		Odometer: lastmile.Odometer{Way: 1234.5, From: &lastmile.Point{Lon: 1.5, Lat: 2.5}},
	}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SaveLatestPosition(ctx, acme, w.ID, seen, now.Add(time.Second)) })
	if len(due(now.Add(lastmile.ThresholdInterval-time.Millisecond))) != 0 || len(due(now.Add(lastmile.ThresholdInterval))) != 1 {
		t.Error("a worker who moves is not due half a minute after the last time")
	}
	// A last check that is far ahead is ignored: the clock was set back.
	for ahead, wait := range map[time.Duration]time.Duration{20 * time.Second: 50 * time.Second, 20 * time.Minute: 0} {
		next.Refresh, next.Checked, next.Check = now.Add(ahead+time.Minute), now.Add(ahead), time.Time{}
		write(t, s, func(tx *sqlstore.Tx) error {
			return errors.Join(tx.SaveEstimateSchedule(ctx, next), tx.SaveLatestPosition(ctx, acme, w.ID, seen, now))
		})
		if got := schedule().Check; !got.Equal(now.Add(wait)) || len(due(now.Add(wait))) != 1 || len(due(now.Add(wait-time.Millisecond))) != 0 {
			t.Errorf("the last check was %v ahead: the next one is at %v, want in %v", ahead, got, wait)
		}
	}
	same(t, "whereabouts", read(t, s, func(r *sqlstore.Tx) (lastmile.Whereabouts, error) { return r.Whereabouts(ctx, acme, w.ID) }), seen)
	active := task
	active.State, active.ID, active.ShortID, active.TrackingToken = lastmile.TaskActive, id[lastmile.TaskID]("active"), "a", "a"
	tracked := func() lastmile.TaskID {
		return read(t, s, func(r *sqlstore.Tx) (lastmile.Worker, error) { return r.Tracked(ctx, acme, w.ID) }).ActiveTask
	}
	if got := tracked(); got != "" {
		t.Errorf("the active task is %q, want none", got)
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		assigned := active
		assigned.State = lastmile.TaskAssigned
		return errors.Join(tx.SaveTask(ctx, assigned), tx.SaveTask(ctx, active))
	})
	if got := tracked(); got != active.ID {
		t.Errorf("the active task is %q, want %q", got, active.ID)
	}
	err = s.Read(ctx, func(r *sqlstore.Tx) error {
		_, err := r.Whereabouts(ctx, zenith, w.ID)
		return err
	})
	if code(err) != lastmile.CodeOutsideScope {
		t.Errorf("another organization's worker: %v", err)
	}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.DeleteWorker(ctx, acme, w.ID) })
	if found := due(soon.Add(24 * time.Hour)); len(found) != 0 {
		t.Errorf("a deleted worker is due: %v", found)
	}
}

// testAdvanceOnDuty checks that estimates of workers on duty are refreshed if they were
// scheduled too far ahead, even if a check of thresholds is due before.
func testAdvanceOnDuty(t *testing.T, s *sqlstore.Store) {
	ctx, later := t.Context(), now.Add(6*time.Minute)
	schedules := map[string]store.EstimateSchedule{
		"on":      {Refresh: later},
		"checked": {Refresh: later, Check: now.Add(10 * time.Second)},
		"soon":    {Refresh: now.Add(time.Minute)},
		"off":     {Refresh: later},
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		var errs []error
		for name, schedule := range schedules {
			w := worker(name, lastmile.Phone("+1212555"+name))
			schedule.Organization, schedule.Worker = acme, w.ID
			errs = append(errs, tx.SaveWorker(ctx, w), tx.SaveWhereabouts(ctx, acme, w.ID, lastmile.Whereabouts{OnDuty: name != "off"}),
				tx.ScheduleEstimate(ctx, acme, w.ID, now), tx.SaveEstimateSchedule(ctx, schedule))
		}
		return errors.Join(errs...)
	})
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.AdvanceWork(ctx, work.Estimates, now, now.Add(11*time.Minute)), tx.AdvanceOnDuty(ctx, now, now.Add(2*time.Minute)))
	})
	for name, before := range schedules {
		want := before.Refresh
		if name == "on" || name == "checked" {
			want = now
		}
		got := read(t, s, func(r *sqlstore.Tx) (store.EstimateSchedule, error) {
			return r.EstimateSchedule(ctx, acme, id[lastmile.WorkerID](name))
		})
		if !got.Refresh.Equal(want) {
			t.Errorf("%s: the refresh is at %v, want %v", name, got.Refresh, want)
		}
	}
	if got := findWork(t, s, work.Query{Kind: work.Estimates, Now: now, PerOrganization: 10, Limit: 10}); len(got) != 2 {
		t.Errorf("due are %+v", got)
	}
}

func testFiring(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	fire := func(name string) (first bool) {
		write(t, s, func(tx *sqlstore.Tx) (err error) {
			first, err = tx.Fire(ctx, acme, name, "t", now)
			return err
		})
		return first
	}
	if !fire("a") || fire("a") || !fire("b") {
		t.Error("a task fires once under each name")
	}
	if got := read(t, s, func(r *sqlstore.Tx) ([]string, error) { return r.Fired(ctx, acme, "t") }); len(got) != 2 {
		t.Errorf("fired %v", got)
	}
	among := read(t, s, func(r *sqlstore.Tx) ([]lastmile.TaskID, error) {
		return r.FiredAmong(ctx, acme, "a", []lastmile.TaskID{"s", "t", "u"})
	})
	same(t, "tasks that fired under a name", among, []lastmile.TaskID{"t"})
	if got := read(t, s, func(r *sqlstore.Tx) ([]string, error) { return r.Fired(ctx, zenith, "t") }); len(got) != 0 {
		t.Errorf("another organization's task fired %v", got)
	}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.DeleteFiredOf(ctx, zenith, "a") })
	if fire("a") {
		t.Error("what has fired was deleted for another organization")
	}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.DeleteFiredOf(ctx, acme, "a") })
	if !fire("a") || fire("b") {
		t.Error("a task fires again only under the name that was deleted")
	}
}

func testPositionHistory(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	at := func(minutes int) lastmile.Position {
		return lastmile.Position{Location: lastmile.Point{Lon: float64(minutes), Lat: 1}, At: now.Add(time.Duration(minutes) * time.Minute)}
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		return tx.SavePositions(ctx, acme, "w", []lastmile.Position{at(0), at(1), at(2), at(1)})
	})
	got := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Position, error) {
		return r.Positions(ctx, acme, "w", now.Add(time.Minute), 10)
	})
	same(t, "positions since a time, newest first", got, []lastmile.Position{at(2), at(1)})
	got = read(t, s, func(r *sqlstore.Tx) ([]lastmile.Position, error) { return r.Positions(ctx, acme, "w", now, 1) })
	same(t, "the newest position", got, []lastmile.Position{at(2)})
	measured := at(3)
	measured.Odometer = 7.5
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SavePositions(ctx, acme, "w", []lastmile.Position{measured}) })
	around := func(org lastmile.OrganizationID, at time.Time) []*lastmile.Position {
		return read(t, s, func(r *sqlstore.Tx) ([]*lastmile.Position, error) {
			before, after, err := r.PositionsAround(ctx, org, "w", at)
			return []*lastmile.Position{before, after}, err
		})
	}
	same(t, "positions around a time", around(acme, now.Add(2*time.Minute)), []*lastmile.Position{new(at(2)), &measured})
	same(t, "positions around an early time", around(acme, now.Add(-time.Minute)), []*lastmile.Position{nil, new(at(0))})
	same(t, "positions around a late time", around(acme, now.Add(time.Hour)), []*lastmile.Position{&measured, nil})
	same(t, "positions of another organization", around(zenith, now.Add(2*time.Minute)), []*lastmile.Position{nil, nil})
	odometers := func(org lastmile.OrganizationID, minutes ...int) []lastmile.Meters {
		times := make([]time.Time, len(minutes))
		for i, minute := range minutes {
			times[i] = now.Add(time.Duration(minute) * time.Minute)
		}
		return read(t, s, func(r *sqlstore.Tx) ([]lastmile.Meters, error) { return r.OdometersAt(ctx, org, "w", times) })
	}
	same(t, "odometers at times", odometers(acme, 60, 3, 2, 1, 4), []lastmile.Meters{7.5, 7.5, 0, 0, 7.5})
	same(t, "odometers of another organization", odometers(zenith, 60, 3), []lastmile.Meters{0, 0})
	same(t, "odometers at many times", len(odometers(acme, make([]int, 250)...)), 250)
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SavePositions(ctx, zenith, "w", []lastmile.Position{measured}) })
	same(t, "the odometer before the first position", odometers(zenith, 0), []lastmile.Meters{7.5})
	for _, most := range []int{1, 10} {
		var gone int64
		write(t, s, func(tx *sqlstore.Tx) (err error) {
			gone, err = tx.DeletePositions(ctx, now.Add(2*time.Minute), most)
			return err
		})
		if gone != 1 {
			t.Errorf("%d positions were deleted of %d at most, want the older one, then the other", gone, most)
		}
	}
	got = read(t, s, func(r *sqlstore.Tx) ([]lastmile.Position, error) { return r.Positions(ctx, acme, "w", now, 10) })
	same(t, "what is kept", got, []lastmile.Position{at(3), at(2)})
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SavePositions(ctx, acme, "v", []lastmile.Position{at(1)}) })
	for range 2 {
		var gone int64
		write(t, s, func(tx *sqlstore.Tx) (err error) {
			gone, err = tx.DeletePositionsOf(ctx, acme, "w", 1)
			return err
		})
		if gone != 1 {
			t.Errorf("%d positions of a worker were deleted of one at most", gone)
		}
	}
	for worker, want := range map[lastmile.WorkerID]int{"w": 0, "v": 1} {
		got = read(t, s, func(r *sqlstore.Tx) ([]lastmile.Position, error) { return r.Positions(ctx, acme, worker, now, 10) })
		if len(got) != want {
			t.Errorf("worker %s has the positions %v, want %d", worker, got, want)
		}
	}
}
