package platform_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/assignment"
	"dray/internal/dispatch"
	"dray/internal/lastmile"
	"dray/internal/planning"
	"dray/internal/store/sqlstore"
	"dray/internal/work"
)

// enable switches continuous re-planning on.
func (f *fleet) enable(t *testing.T, c assignment.ReplanningChange) {
	t.Helper()
	c.Enabled = new(true)
	f.dispatches.MaxTime = 5 * time.Millisecond
	if _, err := f.Replanner.Configure(t.Context(), f.Principal.Organization, c); err != nil {
		t.Fatal(err)
	}
}

// pass lets time pass, in steps, and does the background work of a node.
func (f *fleet) pass(t *testing.T, time, step time.Duration) {
	t.Helper()
	for ; time > 0; time -= step {
		f.Advance(step)
		f.RefreshDue(t)
		if _, err := f.Replanning.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.loop.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// runs returns the dispatches of the team by continuous re-planning, the latest last.
func (f *fleet) runs(t *testing.T) (all []lastmile.Dispatch) {
	t.Helper()
	var docs [][]byte
	f.Read(t, func(r *sqlstore.Tx) (err error) {
		docs, err = r.ShowDispatches(t.Context(), f.Principal.Organization, f.team, 100)
		return err
	})
	for _, doc := range slices.Backward(docs) {
		_, rest, _ := strings.Cut(string(doc), `"id":"`)
		d, _, err := f.dispatches.Dispatch(t.Context(), f.Principal, lastmile.DispatchID(rest[:24]))
		if err != nil {
			t.Fatal(err)
		}
		if d.Replan != nil {
			all = append(all, d)
		}
	}
	return all
}

// add makes a task some meters east of where workers are.
func (f *fleet) add(t *testing.T, in lastmile.ContainerRef, east float64, before time.Time) lastmile.TaskID {
	t.Helper()
	draft := apptest.Draft(lastmile.Point{Lon: -73.99 + east/84_000, Lat: 40.73})
	draft.Container = &in
	if !before.IsZero() {
		draft.Change.CompleteBefore = &before
	}
	return f.Task(t, draft).ID
}

func (f *fleet) list(t *testing.T, worker lastmile.WorkerID) []lastmile.TaskID {
	t.Helper()
	c, err := f.Containers.Container(t.Context(), f.Principal, lastmile.WorkerContainer(worker))
	if err != nil {
		t.Fatal(err)
	}
	return c.Tasks
}

func TestReplanningIsOffByDefault(t *testing.T) {
	f := newFleet(t, 2, 3)
	f.add(t, lastmile.WorkerContainer(f.workers[0]), 5000, f.Now().Add(time.Minute))
	f.pass(t, 2*24*time.Hour, time.Hour)
	f.add(t, lastmile.TeamContainer(f.team), 100, time.Time{})
	f.pass(t, time.Hour, time.Minute)
	f.Read(t, func(r *sqlstore.Tx) error {
		if _, err := r.ReplanSchedule(t.Context(), f.Principal.Organization, f.team); !lastmile.IsNotFound(err) {
			t.Errorf("re-planning is scheduled: %v", err)
		}
		return nil
	})
	if n := len(f.runs(t)); n > 0 {
		t.Errorf("the routes were planned %d times", n)
	}
}

func TestReplanningAssignsWhatIsAdded(t *testing.T) {
	f := newFleet(t, 2, 0)
	f.enable(t, assignment.ReplanningChange{Assign: new(true)})
	f.pass(t, 24*time.Hour, time.Hour)
	if n := len(f.runs(t)); n > 0 {
		t.Fatalf("nothing has happened, and the routes were planned %d times", n)
	}
	f.Triggers(t)
	team := lastmile.TeamContainer(f.team)
	first, second := f.add(t, team, 100, time.Time{}), f.add(t, team, 200, time.Time{})
	f.pass(t, 10*time.Second, time.Second)
	runs := f.runs(t)
	if len(runs) != 1 {
		t.Fatalf("the routes were planned %d times", len(runs))
	}
	d := runs[0]
	if d.Status != lastmile.DispatchSucceeded || d.Replan.Cause != string(assignment.CauseAdded) || d.Replan.Task != first || !d.Replan.Changed || d.Replan.Unassigned != 2 || d.Key != "" {
		t.Errorf("the dispatch is %+v, because of %+v", d, d.Replan)
	}
	for _, id := range []lastmile.TaskID{first, second} {
		if task := f.Stored(t, id); task.State != lastmile.TaskAssigned {
			t.Errorf("task %s is in state %d", id, task.State)
		}
	}
	if got := f.Triggers(t); !slices.Equal(got, []string{"taskCreated", "taskCreated", "taskAssigned", "taskUpdated", "taskAssigned", "taskUpdated", "autoDispatchJobCompleted"}) {
		t.Errorf("the triggers are %v", got)
	}
	f.pass(t, 48*time.Hour, 10*time.Minute) // what it did itself is no reason for another run
	if n := len(f.runs(t)); n != 1 {
		t.Errorf("the routes were planned %d times", n)
	}
}

func TestReplanningKeepsItsInterval(t *testing.T) {
	f := newFleet(t, 1, 0)
	f.enable(t, assignment.ReplanningChange{Assign: new(true), Interval: new(20 * time.Minute)})
	for range 60 {
		f.add(t, lastmile.TeamContainer(f.team), 100, time.Time{})
		f.pass(t, time.Minute, 10*time.Second)
	}
	runs := f.runs(t)
	for i := range runs {
		if i > 0 && runs[i].Created.Sub(runs[i-1].Created) < 20*time.Minute {
			t.Errorf("the runs are at %v and %v", runs[i-1].Created, runs[i].Created)
		}
	}
	if len(runs) != 3 {
		t.Errorf("the routes were planned %d times in an hour", len(runs))
	}
	f.pass(t, time.Hour, 10*time.Second)
	if n := len(f.runs(t)); n != 4 || len(f.list(t, f.workers[0])) != 60 {
		t.Errorf("the routes were planned %d times, and %d tasks are assigned", n, len(f.list(t, f.workers[0])))
	}
}

// TestReplanningWhenAWorkerIsLate lets a worker fall behind for two days.
func TestReplanningWhenAWorkerIsLate(t *testing.T) {
	f := newFleet(t, 1, 0)
	ada := lastmile.WorkerContainer(f.workers[0])
	far := f.add(t, ada, 8000, time.Time{})
	near := f.add(t, ada, 500, f.Now().Add(30*time.Minute))
	f.pass(t, time.Minute, time.Second)
	f.enable(t, assignment.ReplanningChange{Lateness: new(5 * time.Minute)})
	f.pass(t, 2*time.Minute, time.Second)
	if n := len(f.runs(t)); n > 0 {
		t.Fatalf("the routes were planned %d times for what was known before", n)
	}
	f.pass(t, 40*time.Minute, time.Minute)
	runs := f.runs(t)
	if len(runs) == 0 {
		t.Fatal("the routes were not planned again")
	}
	r := runs[0].Replan
	if r.Cause != string(assignment.CauseLate) || r.Worker != f.workers[0] || r.Lateness < 5*time.Minute || !r.Changed || r.Before.Lateness <= runs[0].Plan.Cost.Lateness {
		t.Errorf("the first run is %+v with the costs %+v", r, runs[0].Plan.Cost)
	}
	if got := f.list(t, f.workers[0]); !slices.Equal(got, []lastmile.TaskID{near, far}) {
		t.Errorf("the list is %v", got)
	}
	f.pass(t, 48*time.Hour, 10*time.Minute)
	runs = f.runs(t)
	for _, d := range runs[1:] {
		if d.Replan.Changed || d.Status != lastmile.DispatchSucceeded || len(d.Plan.Routes[0].Stops) != 2 {
			t.Errorf("a later run is %s %+v with %d stops", d.Status, d.Replan, len(d.Plan.Routes[0].Stops))
		}
	}
	if len(runs) > 12 { // five minutes, doubled until two days
		t.Errorf("the routes were planned %d times", len(runs))
	}
}

func TestReplanningLeavesGoodRoutesAlone(t *testing.T) {
	f := newFleet(t, 2, 0)
	f.enable(t, assignment.ReplanningChange{Move: new(assignment.MoveWorkers), Assign: new(true), Interval: new(time.Minute)})
	ada, bob := lastmile.WorkerContainer(f.workers[0]), lastmile.WorkerContainer(f.workers[1])
	for i := range 4 {
		f.add(t, ada, 500*float64(i+1), time.Time{})
		f.add(t, bob, -500*float64(i+1), time.Time{})
	}
	f.pass(t, time.Hour, time.Minute)
	before := [2][]lastmile.TaskID{f.list(t, f.workers[0]), f.list(t, f.workers[1])}
	f.Triggers(t)
	for range 5 {
		if _, err := f.Tasks.Update(t.Context(), f.Principal, before[0][2], lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new(fmt.Sprint(f.Now()))}}); err != nil {
			t.Fatal(err)
		}
		f.pass(t, 2*time.Minute, 10*time.Second)
	}
	after := [2][]lastmile.TaskID{f.list(t, f.workers[0]), f.list(t, f.workers[1])}
	if !slices.Equal(before[0], after[0]) || !slices.Equal(before[1], after[1]) {
		t.Errorf("the lists were %v and are %v", before, after)
	}
	runs := f.runs(t)
	last := runs[len(runs)-1]
	if last.Replan.Changed || last.Replan.Cause != string(assignment.CauseChanged) || last.Plan.Cost != last.Replan.Before || len(last.Plan.Routes[0].Stops)+len(last.Plan.Routes[1].Stops) != 8 {
		t.Errorf("the last run is %+v with %+v", last.Replan, last.Plan)
	}
	if got := f.Triggers(t); slices.Contains(got, "autoDispatchJobCompleted") {
		t.Errorf("the triggers are %v", got)
	}
}

// TestReplanningThatIsNotApplied reports no change of a route that stayed as it was,
// because its worker got another task while it was planned.
func TestReplanningThatIsNotApplied(t *testing.T) {
	f := newFleet(t, 1, 0)
	ada := lastmile.WorkerContainer(f.workers[0])
	for _, east := range []float64{8000, 500, 7000, 1000} {
		f.add(t, ada, east, time.Time{})
	}
	f.enable(t, assignment.ReplanningChange{Interval: new(time.Hour)})
	before := f.list(t, f.workers[0])
	f.dispatches.Travel = &changing{Travel: f.dispatches.Travel, change: func(int) { f.add(t, ada, 100, time.Time{}) }}
	if _, err := f.Tasks.Update(t.Context(), f.Principal, before[0], lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new("x")}}); err != nil {
		t.Fatal(err)
	}
	f.Triggers(t)
	f.pass(t, 10*time.Second, time.Second)
	if got := f.list(t, f.workers[0]); !slices.Equal(got[:4], before) {
		t.Fatalf("the list is %v", got)
	}
	d := f.runs(t)[0]
	if d.Status != lastmile.DispatchSucceeded || d.Replan.Changed || len(d.Plan.Routes[0].Stops) > 0 || len(d.Plan.Unplanned) != 4 {
		t.Errorf("the run is %s %+v with %+v", d.Status, d.Replan, d.Plan)
	}
	if got := f.Triggers(t); slices.Contains(got, "autoDispatchJobCompleted") {
		t.Errorf("the triggers are %v", got)
	}
}

func TestReplanningMovesOnlyWhatItMay(t *testing.T) {
	f := newFleet(t, 1, 0)
	far := f.Worker(t, "far", &lastmile.Point{Lon: -73.99 + 20_000.0/84_000, Lat: 40.73}, f.team).Worker
	ada := lastmile.WorkerContainer(f.workers[0])
	var ids []lastmile.TaskID // the last of them where the other worker is
	for _, east := range []float64{100, 400, 200, 300, 20_200, 20_000} {
		ids = append(ids, f.add(t, ada, east, time.Time{}))
	}
	active, pinned, fixed := ids[0], ids[1], ids[3]
	worker := lastmile.Principal{Organization: f.Principal.Organization, Worker: f.workers[0]}
	if _, err := f.Work.Start(t.Context(), worker, active, lastmile.Action{ID: "start", At: f.Now()}); err != nil {
		t.Fatal(err)
	}
	for id, pin := range map[lastmile.TaskID]lastmile.Pin{pinned: lastmile.PinWorker, fixed: lastmile.PinPosition} {
		if _, err := f.dispatches.Pin(t.Context(), f.Principal, id, pin); err != nil {
			t.Fatal(err)
		}
	}
	f.enable(t, assignment.ReplanningChange{})
	f.add(t, ada, 20_100, time.Time{})
	f.pass(t, time.Minute, time.Second)
	if got := f.list(t, far); len(got) > 0 {
		t.Errorf("only the order may change, and the other worker has %v", got)
	}
	f.enable(t, assignment.ReplanningChange{Move: new(assignment.MoveWorkers)})
	loose := f.add(t, lastmile.TeamContainer(f.team), 20_100, time.Time{})
	f.pass(t, 20*time.Minute, 10*time.Second)
	left, moved := f.list(t, f.workers[0]), f.list(t, far)
	if at := slices.Index(left, fixed); at != 2 || !slices.Contains(left, pinned) || !slices.Contains(left, ids[2]) {
		t.Errorf("the list is %v: %s is at %d", left, fixed, at)
	}
	if len(moved) != 3 || f.Stored(t, active).State != lastmile.TaskActive || f.Stored(t, active).Worker != f.workers[0] {
		t.Errorf("moved are %v", moved)
	}
	if f.Stored(t, loose).State != lastmile.TaskUnassigned {
		t.Error("a task was assigned, which is not enabled")
	}
}

// TestReplanningRunsOnce lets two nodes look for teams at the same time.
func TestReplanningRunsOnce(t *testing.T) {
	f := newFleet(t, 2, 0)
	f.enable(t, assignment.ReplanningChange{Assign: new(true), Interval: new(time.Minute)})
	for range 5 {
		f.add(t, lastmile.TeamContainer(f.team), 100, time.Time{})
		f.Advance(2 * time.Minute)
		var nodes sync.WaitGroup
		for range 2 {
			loop := &work.Loop[dispatch.ReplanReader, dispatch.ReplanWriter]{
				Kind: work.Replans, Store: f.Replanner.Store, Do: f.Replanner.Run, Limits: work.Limits{Total: 4, PerOrganization: 4},
				Now: f.Now, NewID: f.dispatches.NewID, Log: f.Log,
			}
			nodes.Go(func() {
				if _, err := loop.RunDue(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		nodes.Wait()
		if _, err := f.loop.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.runs(t)); n != 5 {
		t.Errorf("five changes led to %d runs", n)
	}
}

func TestReplanningWaitsForOtherDispatches(t *testing.T) {
	f := newFleet(t, 1, 2)
	f.enable(t, assignment.ReplanningChange{Assign: new(true)})
	id := f.start(t, planning.Request{MaxTasksPerRoute: new(7), ServiceTime: new(3 * time.Minute)})
	f.add(t, lastmile.TeamContainer(f.team), 100, time.Time{})
	f.Advance(time.Minute)
	if _, err := f.Replanning.RunDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(f.runs(t)); n > 0 {
		t.Fatal("two dispatches of a team run at once")
	}
	f.end(t, id)
	f.pass(t, time.Minute, 10*time.Second)
	runs := f.runs(t)
	if len(runs) != 1 || runs[0].Options.MaxTasksPerRoute != 7 || runs[0].Options.ServiceTime != 3*time.Minute {
		t.Errorf("%d runs, with the rules %+v", len(runs), runs)
	}
}

func TestReplanningNeedsWorkersOnDuty(t *testing.T) {
	f := newFleet(t, 0, 0)
	off := f.Worker(t, "off", nil, f.team)
	f.enable(t, assignment.ReplanningChange{Assign: new(true)})
	task := f.add(t, lastmile.TeamContainer(f.team), 100, time.Time{})
	f.pass(t, 12*time.Hour, 10*time.Minute)
	if n := len(f.runs(t)); n > 0 {
		t.Errorf("without a worker the routes were planned %d times", n)
	}
	if _, err := f.Fleet.SetDuty(t.Context(), off, true, nil); err != nil {
		t.Fatal(err)
	}
	f.Write(t, func(w *sqlstore.Tx) error {
		seen := lastmile.Whereabouts{OnDuty: true, Location: &lastmile.Point{Lon: -73.99, Lat: 40.73}, LocatedAt: f.Now(), LastSeen: f.Now()}
		return w.SaveWhereabouts(t.Context(), off.Organization, off.Worker, seen)
	})
	f.pass(t, time.Minute, 10*time.Second)
	if runs := f.runs(t); len(runs) != 1 || runs[0].Replan.Cause != string(assignment.CauseOnDuty) || f.Stored(t, task).Worker != off.Worker {
		t.Errorf("the runs are %+v", runs)
	}
}

func TestReplanningWhenAWorkerGoesOnDutyMeanwhile(t *testing.T) {
	f := newFleet(t, 0, 0)
	off := f.Worker(t, "off", nil, f.team)
	f.enable(t, assignment.ReplanningChange{Assign: new(true)})
	f.add(t, lastmile.TeamContainer(f.team), 100, time.Time{})
	end, err := f.Replanner.Run(t.Context(), &work.Lease{Item: work.Item{Organization: f.Principal.Organization, ID: string(f.team)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fleet.SetDuty(t.Context(), off, true, nil); err != nil {
		t.Fatal(err)
	}
	f.Write(t, func(w *sqlstore.Tx) error { return end(t.Context(), w) })
	if n := len(f.runs(t)); n != 1 {
		t.Errorf("the routes were planned %d times", n)
	}
}

func TestOldRunsAreDeleted(t *testing.T) {
	f := newFleet(t, 1, 0)
	f.enable(t, assignment.ReplanningChange{Interval: new(time.Minute)})
	task := f.add(t, lastmile.WorkerContainer(f.workers[0]), 100, time.Time{})
	for i := range dispatch.MaxReplans + 5 {
		if _, err := f.Tasks.Update(t.Context(), f.Principal, task, lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new(fmt.Sprint(i))}}); err != nil {
			t.Fatal(err)
		}
		f.pass(t, 2*time.Minute, time.Minute)
	}
	if n := len(f.runs(t)); n != dispatch.MaxReplans {
		t.Errorf("%d runs are kept", n)
	}
}
