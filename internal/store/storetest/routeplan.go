package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// plannedTask returns an unassigned task in a plan, or in none.
func plannedTask(name string, plan lastmile.RoutePlanID) lastmile.Task {
	return lastmile.Task{
		ID: id[lastmile.TaskID](name), ShortID: name, Organization: acme, Created: now, Modified: now, Merchant: acme, Executor: acme,
		TrackingToken: name, Container: lastmile.OrganizationContainer(acme), RoutePlan: plan, Destination: destination(acme, "d"),
		Completion: lastmile.Completion{FailureReason: lastmile.NoFailure},
	}
}

func routePlan(name string, minutes int) lastmile.RoutePlan {
	at := now.Add(time.Duration(minutes) * time.Minute)
	return lastmile.RoutePlan{
		ID: id[lastmile.RoutePlanID](name), ShortID: "1a2b3c4d", Organization: acme, Created: at, Modified: at, Name: name,
		State: lastmile.RoutePlanPending, Start: at.Add(time.Hour),
	}
}

func testRoutePlans(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	full := routePlan("full", 0)
	full.Color, full.VehicleType, full.Timezone, full.State = "#00FF7f", lastmile.Truck, "Europe/Paris", lastmile.RoutePlanCompleted
	full.End, full.ActualStart, full.ActualEnd = now.Add(2*time.Hour), now.Add(61*time.Minute), now.Add(122*time.Minute)
	full.StartAt, full.EndAt, full.StartingHub, full.EndingHub = lastmile.AtHub, lastmile.AtWorkerAddress, id[lastmile.HubID]("h"), id[lastmile.HubID]("h")
	full.PlannedDistance, full.PlannedDuration, full.OnRoads = 12_345, 67*time.Minute, true
	full.Worker, full.Team = id[lastmile.WorkerID]("w"), id[lastmile.TeamID]("t")
	full.Tasks = []lastmile.TaskID{id[lastmile.TaskID]("second"), id[lastmile.TaskID]("first")}
	full.TaskStates = []lastmile.TaskState{lastmile.TaskUnassigned, lastmile.TaskUnassigned}
	first, second := plannedTask("first", full.ID), plannedTask("second", full.ID)
	first.PlanPosition = 1
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(
			w.SaveDestination(ctx, destination(acme, "d")), w.SaveHub(ctx, hub(acme, "h")), w.SaveTeam(ctx, team("t")),
			w.SaveWorker(ctx, worker("w", "+12125550101")), w.SaveRoutePlan(ctx, full), w.SaveRoutePlan(ctx, routePlan("bare", 1)),
			w.SaveRoutePlan(ctx, routePlan("last", 2)),
			w.SaveTask(ctx, plannedTask("first", "")), w.SaveTask(ctx, plannedTask("second", "")), w.SaveTask(ctx, plannedTask("alone", "")),
			w.SavePlanned(ctx, []lastmile.Task{first, second}),
		)
	})
	plan := func(name string) lastmile.RoutePlan {
		t.Helper()
		return read(t, s, func(r *sqlstore.Tx) (lastmile.RoutePlan, error) {
			return r.RoutePlan(ctx, acme, id[lastmile.RoutePlanID](name))
		})
	}
	same(t, "a plan of everything", plan("full"), full)
	same(t, "a plan of little", plan("bare"), routePlan("bare", 1))
	t.Run("a plan is visible only to its organization", func(t *testing.T) { testRoutePlanScope(t, s) })
	t.Run("plans are filtered", func(t *testing.T) { testRoutePlanFilter(t, s) })
	t.Run("a task keeps its position when it is saved", func(t *testing.T) {
		write(t, s, func(w *sqlstore.Tx) error {
			task, err := w.Task(ctx, acme, first.ID)
			return errors.Join(err, w.SaveTask(ctx, task))
		})
		if got := plan("full").Tasks; !slices.Equal(got, full.Tasks) {
			t.Errorf("got %v, want %v", got, full.Tasks)
		}
	})
	t.Run("a plan has the current states of its tasks", func(t *testing.T) {
		done := first
		done.State, done.Container, done.Completion.At = lastmile.TaskCompleted, lastmile.ContainerRef{}, now
		write(t, s, func(w *sqlstore.Tx) error { return w.SaveTask(ctx, done) })
		if got := plan("full").TaskStates; !slices.Equal(got, []lastmile.TaskState{lastmile.TaskUnassigned, lastmile.TaskCompleted}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a plan outlives its worker and its team", func(t *testing.T) {
		write(t, s, func(w *sqlstore.Tx) error {
			return errors.Join(w.DeleteWorker(ctx, acme, full.Worker), w.DeleteTeam(ctx, acme, full.Team))
		})
		if got := plan("full"); got.Worker != "" || got.Team != "" {
			t.Errorf("the plan is of worker %q and team %q", got.Worker, got.Team)
		}
	})
	t.Run("a plan that is deleted is gone", func(t *testing.T) {
		write(t, s, func(w *sqlstore.Tx) error {
			return errors.Join(w.DeleteRoutePlan(ctx, zenith, full.ID), w.DeleteRoutePlan(ctx, acme, id[lastmile.RoutePlanID]("bare")))
		})
		plan("full")
		err := s.Read(ctx, func(r *sqlstore.Tx) error {
			_, err := r.RoutePlan(ctx, acme, id[lastmile.RoutePlanID]("bare"))
			return err
		})
		if code(err) != lastmile.CodeNotFound {
			t.Errorf("got %v", err)
		}
	})
}

func testRoutePlanScope(t *testing.T, s *sqlstore.Store) {
	for name, test := range map[string]struct {
		org  lastmile.OrganizationID
		id   lastmile.RoutePlanID
		want lastmile.Code
	}{
		"another organization's": {zenith, id[lastmile.RoutePlanID]("full"), lastmile.CodeOutsideScope},
		"unknown":                {acme, id[lastmile.RoutePlanID]("missing"), lastmile.CodeNotFound},
		"malformed":              {acme, "short", lastmile.CodeNotFound},
	} {
		for how, err := range map[string]error{
			"read": s.Read(t.Context(), func(r *sqlstore.Tx) error {
				_, err := r.RoutePlan(t.Context(), test.org, test.id)
				return err
			}),
			"list after": s.Read(t.Context(), func(r *sqlstore.Tx) error {
				_, err := r.RoutePlans(t.Context(), test.org, store.RoutePlanFilter{After: test.id})
				return err
			}),
		} {
			if code(err) != test.want {
				t.Errorf("%s %s: %v, want code %v", how, name, err, test.want)
			}
		}
	}
}

func testRoutePlanFilter(t *testing.T, s *sqlstore.Store) {
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	yes, no := true, false
	for name, test := range map[string]struct {
		filter store.RoutePlanFilter
		want   []string
	}{
		"all, oldest first":         {store.RoutePlanFilter{}, []string{"full", "bare", "last"}},
		"of a worker":               {store.RoutePlanFilter{Worker: id[lastmile.WorkerID]("w")}, []string{"full"}},
		"of an unknown worker":      {store.RoutePlanFilter{Worker: id[lastmile.WorkerID]("x")}, nil},
		"made from a time":          {store.RoutePlanFilter{CreatedFrom: at(1)}, []string{"bare", "last"}},
		"made before a time":        {store.RoutePlanFilter{CreatedTo: at(1)}, []string{"full"}},
		"starting from a time":      {store.RoutePlanFilter{StartFrom: at(62)}, []string{"last"}},
		"starting before a time":    {store.RoutePlanFilter{StartTo: at(61)}, []string{"full"}},
		"with tasks":                {store.RoutePlanFilter{HasTasks: &yes}, []string{"full"}},
		"without tasks":             {store.RoutePlanFilter{HasTasks: &no}, []string{"bare", "last"}},
		"after one":                 {store.RoutePlanFilter{After: id[lastmile.RoutePlanID]("full")}, []string{"bare", "last"}},
		"after one, with a filter":  {store.RoutePlanFilter{After: id[lastmile.RoutePlanID]("full"), StartFrom: at(62)}, []string{"last"}},
		"after the last":            {store.RoutePlanFilter{After: id[lastmile.RoutePlanID]("last")}, nil},
		"with a limit":              {store.RoutePlanFilter{Limit: 2}, []string{"full", "bare"}},
		"by all of these at a time": {store.RoutePlanFilter{CreatedFrom: at(0), CreatedTo: at(2), StartFrom: at(60), StartTo: at(62), HasTasks: &no}, []string{"bare"}},
	} {
		found := read(t, s, func(r *sqlstore.Tx) ([]lastmile.RoutePlan, error) {
			return r.RoutePlans(t.Context(), acme, test.filter)
		})
		var got []string
		for _, p := range found {
			got = append(got, p.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func testDuty(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	w := worker("w", "+12125550101")
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	done := func(name string, minute int, by lastmile.WorkerID) lastmile.Task {
		task := plannedTask(name, "")
		task.State, task.Container, task.Worker, task.Completion.At = lastmile.TaskCompleted, lastmile.ContainerRef{}, by, at(minute)
		return task
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(
			tx.SaveWorker(ctx, w), tx.SaveDestination(ctx, destination(acme, "d")),
			tx.SaveTask(ctx, done("early", 9, w.ID)), tx.SaveTask(ctx, done("in", 10, w.ID)), tx.SaveTask(ctx, done("late", 20, w.ID)),
			tx.SaveTask(ctx, done("other", 15, id[lastmile.WorkerID]("x"))),
		)
	})
	for _, c := range []struct {
		minute int
		onDuty bool
	}{{0, false}, {1, true}, {2, true}, {12, false}, {13, false}, {18, true}} {
		write(t, s, func(tx *sqlstore.Tx) error {
			return tx.SaveWhereabouts(ctx, acme, w.ID, lastmile.Whereabouts{OnDuty: c.onDuty, LastSeen: at(c.minute)})
		})
	}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SaveWhereabouts(ctx, acme, w.ID, lastmile.Whereabouts{}) }) // at an unknown time
	for name, test := range map[string]struct {
		from, to int
		want     lastmile.Duty
	}{
		"before anything happened": {-10, 1, lastmile.Duty{}},
		"in between":               {10, 20, lastmile.Duty{Before: true, Changes: []lastmile.DutyChange{{At: at(12)}, {At: at(18), OnDuty: true}}}},
		"from a change on":         {12, 18, lastmile.Duty{Before: true, Changes: []lastmile.DutyChange{{At: at(12)}}}},
		"afterwards":               {30, 40, lastmile.Duty{Before: true}},
	} {
		in := lastmile.Window{From: at(test.from), To: at(test.to)}
		same(t, name, read(t, s, func(r *sqlstore.Tx) (lastmile.Duty, error) { return r.Duty(ctx, acme, w.ID, in) }), test.want)
	}
	completed := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Task, error) {
		return r.CompletedBy(ctx, acme, w.ID, lastmile.Window{From: at(10), To: at(20)})
	})
	if len(completed) != 1 || completed[0].ID != id[lastmile.TaskID]("in") {
		t.Errorf("completed %v", completed)
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.DeleteWorker(ctx, acme, w.ID), tx.SaveWorker(ctx, w))
	})
	same(t, "a worker deleted and made again", read(t, s, func(r *sqlstore.Tx) (lastmile.Duty, error) {
		return r.Duty(ctx, acme, w.ID, lastmile.Window{From: now, To: at(100)})
	}), lastmile.Duty{})
}
