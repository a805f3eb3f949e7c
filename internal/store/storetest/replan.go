package storetest

import (
	"errors"
	"testing"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/work"
)

func testPins(t *testing.T, s *sqlstore.Store) {
	ctx, ada := t.Context(), id[lastmile.WorkerID]("ada")
	held, free := task(acme, "held", lastmile.WorkerContainer(ada), now), task(acme, "free", lastmile.WorkerContainer(ada), now)
	saveTasks(t, s, held, free)
	pins := func(org lastmile.OrganizationID, worker lastmile.WorkerID) map[lastmile.TaskID]lastmile.Pin {
		return read(t, s, func(r *sqlstore.Tx) (map[lastmile.TaskID]lastmile.Pin, error) { return r.Pins(ctx, org, worker) })
	}
	pin := func(to lastmile.Pin) {
		write(t, s, func(w *sqlstore.Tx) error {
			return errors.Join(w.SavePin(ctx, acme, held.ID, to), w.SavePin(ctx, zenith, free.ID, lastmile.PinWorker))
		})
	}
	same(t, "no pins", len(pins(acme, ada)), 0)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SavePlannedService(ctx, acme, []lastmile.TaskID{held.ID}, time.Minute), w.SavePlannedService(ctx, zenith, []lastmile.TaskID{free.ID}, time.Hour))
	})
	planned := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Task, error) {
		return r.TasksOf(ctx, acme, []lastmile.TaskID{held.ID, free.ID})
	})
	same(t, "planned service times", []*time.Duration{planned[0].PlannedService, planned[1].PlannedService}, []*time.Duration{new(time.Minute), nil})
	sameStops(t, s, held.ID, free.ID)
	pin(lastmile.PinWorker)
	pin(lastmile.PinPosition)
	same(t, "the pin that was saved last", pins(acme, ada), map[lastmile.TaskID]lastmile.Pin{held.ID: lastmile.PinPosition})
	same(t, "the pins of another organization", len(pins(zenith, ada)), 0)
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveTask(ctx, held) })
	same(t, "the pin of a task that was saved", len(pins(acme, ada)), 1)
	held.State = lastmile.TaskActive
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveTask(ctx, held) })
	same(t, "the pin of a task that was started", len(pins(acme, ada)), 1)
	moved := held
	moved.State, moved.Worker, moved.Container = lastmile.TaskAssigned, id[lastmile.WorkerID]("bob"), lastmile.WorkerContainer(id[lastmile.WorkerID]("bob"))
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveTask(ctx, moved) })
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveTask(ctx, held) })
	same(t, "the pin of a task that is back", len(pins(acme, ada)), 0)
	pin(lastmile.PinWorker)
	pin("")
	same(t, "a pin that was removed", len(pins(acme, ada)), 0)
}

func testReplanRequests(t *testing.T, s *sqlstore.Store) {
	ctx, north, south, ada := t.Context(), id[lastmile.TeamID]("north"), id[lastmile.TeamID]("south"), id[lastmile.WorkerID]("ada")
	settings := func(org lastmile.OrganizationID) assignment.Replanning {
		return read(t, s, func(r *sqlstore.Tx) (assignment.Replanning, error) { return r.Replanning(ctx, org) })
	}
	schedule := func(team lastmile.TeamID) (found store.ReplanSchedule, err error) {
		err = s.Read(ctx, func(r *sqlstore.Tx) (err error) {
			found, err = r.ReplanSchedule(ctx, acme, team)
			return err
		})
		return found, err
	}
	request := func(team lastmile.TeamID, worker lastmile.WorkerID, cause string, at time.Time) {
		t.Helper()
		write(t, s, func(w *sqlstore.Tx) error {
			return w.RequestReplan(ctx, acme, team, worker, lastmile.Replan{Cause: cause, Task: "task", Worker: "worker", Lateness: time.Minute}, at)
		})
	}
	first, second := team("north"), team("south")
	first.Workers, second.Workers = []lastmile.WorkerID{ada}, []lastmile.WorkerID{ada}
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveWorker(ctx, worker("ada", "+12125550100")), w.SaveTeam(ctx, first), w.SaveTeam(ctx, second))
	})
	same(t, "the settings of an organization that has set nothing", settings(acme), assignment.DefaultReplanning)
	request(north, "", "early", now)
	if _, err := schedule(north); !lastmile.IsNotFound(err) {
		t.Errorf("a request of an organization that has not enabled it is kept: %v", err)
	}
	on := assignment.Replanning{Enabled: true, Move: assignment.MoveWorkers, Assign: true, Interval: 7 * time.Minute, Lateness: 8 * time.Minute, Ahead: 9 * time.Minute}
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveReplanning(ctx, acme, assignment.DefaultReplanning), w.SaveReplanning(ctx, acme, on))
	})
	same(t, "the settings that were saved last", settings(acme), on)
	same(t, "the settings of another organization", settings(zenith), assignment.DefaultReplanning)

	request(north, "", "first", now)
	request(north, "", "again", now.Add(time.Second))
	request(id[lastmile.TeamID]("none"), "", "no team", now)
	got, err := schedule(north)
	if err != nil {
		t.Fatal(err)
	}
	wanted := store.ReplanSchedule{
		Organization: acme, Team: north, Due: now, Requested: true, Request: lastmile.Replan{Cause: "first", Task: "task", Worker: "worker", Lateness: time.Minute},
	}
	same(t, "the first request", got, wanted)
	if due := findWork(t, s, work.Query{Kind: work.Replans, Now: now, PerOrganization: 10, Limit: 10}); len(due) != 1 || due[0].ID != string(north) {
		t.Errorf("due is %+v", due)
	}
	wanted.Due, wanted.Requested, wanted.Last = time.Time{}, false, now
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveReplanSchedule(ctx, wanted) })
	request("", ada, "late", now.Add(time.Minute)) // for both teams
	got, _ = schedule(north)
	same(t, "a request soon after a run", []any{got.Due, got.Requested, got.Request.Cause, got.Last}, []any{now.Add(7 * time.Minute), true, "late", now})
	on.Interval = 3 * time.Minute
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveReplanning(ctx, acme, on) })
	got, _ = schedule(north)
	same(t, "a request that waits when the pause changes", got.Due, now.Add(3*time.Minute))
	got, _ = schedule(south)
	same(t, "a request for a team that had no run", []any{got.Due, got.Requested, got.Last}, []any{now.Add(time.Minute), true, time.Time{}})
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteTeam(ctx, acme, south) })
	if _, err := schedule(south); !lastmile.IsNotFound(err) {
		t.Errorf("the schedule of a deleted team is kept: %v", err)
	}
}

func testDispatchLists(t *testing.T, s *sqlstore.Store) {
	ctx, north := t.Context(), id[lastmile.TeamID]("north")
	window := lastmile.Window{From: now, To: now}
	save := func(org lastmile.OrganizationID, name string, at time.Duration, status lastmile.DispatchStatus, replan *lastmile.Replan) {
		write(t, s, func(w *sqlstore.Tx) error {
			return w.AddDispatch(ctx, lastmile.Dispatch{
				ID: id[lastmile.DispatchID](name), Organization: org, Team: north, Created: now.Add(at), Status: status, Replan: replan,
				Options: lastmile.DispatchOptions{TaskWindow: window, ScheduleWindow: window, MaxTasksPerRoute: len(name)},
			})
		})
	}
	listed := func() int {
		return len(read(t, s, func(r *sqlstore.Tx) ([][]byte, error) { return r.ShowDispatches(ctx, acme, north, 3) }))
	}
	latest := func() (size int) {
		read(t, s, func(r *sqlstore.Tx) (bool, error) {
			d, found, err := r.LatestDispatch(ctx, acme, north)
			size = d.Options.MaxTasksPerRoute
			return found, err
		})
		return size
	}
	same(t, "no dispatch", []int{listed(), latest()}, []int{0, 0})
	save(acme, "a", 0, lastmile.DispatchSucceeded, nil)
	save(acme, "by", time.Second, lastmile.DispatchFailed, nil)
	save(zenith, "theirs", time.Minute, lastmile.DispatchSucceeded, nil)
	same(t, "the latest that was requested", []int{listed(), latest()}, []int{2, 2})
	for i, name := range []string{"one", "two", "three", "four"} {
		save(acme, "re"+name, time.Duration(i+2)*time.Second, lastmile.DispatchSucceeded, &lastmile.Replan{Cause: "x"})
	}
	same(t, "a bounded list", []int{listed(), latest()}, []int{3, 2})
	write(t, s, func(w *sqlstore.Tx) error { return w.TrimReplans(ctx, acme, north, 1) })
	kept := read(t, s, func(r *sqlstore.Tx) ([][]byte, error) { return r.ShowDispatches(ctx, acme, north, 10) })
	same(t, "what is left of the list", len(kept), 3)
	d := read(t, s, func(r *sqlstore.Tx) (lastmile.Dispatch, error) {
		return r.Dispatch(ctx, acme, id[lastmile.DispatchID]("refour"))
	})
	same(t, "the cause", d.Replan.Cause, "x")
}
