// Package platform_test tests dispatch as a part of the platform.
package platform_test

import (
	"context"
	"errors"
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
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/travel"
	"dray/internal/work"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// fleet is a team with workers on duty and tasks.
type fleet struct {
	*apptest.Org
	dispatches *dispatch.Dispatches // a copy that tests may change
	loop       *work.Loop[dispatch.Reader, dispatch.Writer]
	team       lastmile.TeamID
	workers    []lastmile.WorkerID
	tasks      []lastmile.TaskID
}

func newFleet(t *testing.T, workers, tasks int) *fleet {
	t.Helper()
	f := &fleet{Org: apptest.NewOrg(t)}
	f.team = f.Team(t, "Vans")
	for i := range workers {
		f.workers = append(f.workers, f.Worker(t, fmt.Sprint("W", i), &lastmile.Point{Lon: -73.99, Lat: 40.73}, f.team).Worker)
	}
	for i := range tasks {
		draft := apptest.Draft(lastmile.Point{Lon: -73.99 + float64(i)/5000, Lat: 40.74})
		in := lastmile.TeamContainer(f.team)
		draft.Container = &in
		f.tasks = append(f.tasks, f.Task(t, draft).ID)
	}
	t.Cleanup(func() { // later tests share the database, and should not estimate their tasks
		for _, id := range f.workers {
			err := f.Fleet.DeleteWorker(context.WithoutCancel(t.Context()), f.Principal, id)
			if _, rejected := errors.AsType[*lastmile.Error](err); err != nil && !rejected { // a worker with an active task cannot be deleted
				t.Error(err)
			}
		}
	})
	own := *f.Dispatches
	own.MaxTime = 100 * time.Millisecond
	f.dispatches = &own
	f.loop = &work.Loop[dispatch.Reader, dispatch.Writer]{
		Kind: work.Dispatch, Store: own.Store, Do: f.dispatches.Run, GiveUp: f.dispatches.GiveUp, Limits: work.Limits{Total: 1, PerOrganization: 1},
		Retry: work.Retry{First: time.Millisecond, Failures: 3}, Alone: true, Now: f.Now, NewID: own.NewID, Log: own.Log,
	}
	return f
}

// start begins a dispatch.
func (f *fleet) start(t *testing.T, q planning.Request) lastmile.DispatchID {
	t.Helper()
	made, err := f.dispatches.StartTeam(t.Context(), f.Principal, f.team, q)
	if err != nil {
		t.Fatal(err)
	}
	return made.Record.ID
}

// end runs the loop until a dispatch has ended.
func (f *fleet) end(t *testing.T, id lastmile.DispatchID) (d lastmile.Dispatch) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.loop.Run(ctx) })
	apptest.Until(t, "the dispatch has ended", func() bool {
		f.Advance(10 * time.Millisecond)
		var err error
		if d, _, err = f.dispatches.Dispatch(t.Context(), f.Principal, id); err != nil {
			t.Fatal(err)
		}
		return !d.Status.Active()
	})
	stop()
	running.Wait()
	return d
}

// assigned returns how many tasks were assigned to a worker once, and how many more often.
func (f *fleet) assigned(t *testing.T) (once, more int) {
	t.Helper()
	for _, id := range f.tasks {
		n := 0
		for _, a := range f.Stored(t, id).History {
			if a.Container.Kind == lastmile.InWorker {
				n++
			}
		}
		switch {
		case n == 1:
			once++
		case n > 1:
			more++
		}
	}
	return once, more
}

// failing are lists for which some calls of PutRoute fail.
type failing struct {
	dispatch.Lists
	calls int
	fails func(call int) bool
}

var errBroken = errors.New("broken")

func (l *failing) PutRoute(ctx context.Context, tx store.Transaction, who lastmile.Principal, worker lastmile.WorkerID, from []lastmile.ContainerRef, ids []lastmile.TaskID) error {
	if l.calls++; l.fails(l.calls) {
		return errBroken
	}
	return l.Lists.PutRoute(ctx, tx, who, worker, from, ids)
}

// flaky is a store in which the first writes fail.
type flaky struct {
	dispatch.Store
	errs []error // of the first writes; nil for one that succeeds
}

func (s *flaky) Write(ctx context.Context, fn func(dispatch.Writer) error) error {
	if len(s.errs) > 0 {
		err := s.errs[0]
		if s.errs = s.errs[1:]; err != nil {
			return err
		}
	}
	return s.Store.Write(ctx, fn)
}

func TestDispatchWaitsForAnOverloadedDatabase(t *testing.T) {
	f := newFleet(t, 1, 3)
	id := f.start(t, planning.Request{})
	f.dispatches.Store = &flaky{Store: f.dispatches.Store, errs: []error{lastmile.Overloaded("busy")}}
	if d := f.end(t, id); d.Status != lastmile.DispatchSucceeded {
		t.Errorf("the dispatch is %s (%s)", d.Status, d.Failure)
	}
}

func TestInterruptedPlanningIsNoRound(t *testing.T) {
	f := newFleet(t, 1, 3)
	id := f.start(t, planning.Request{})
	f.dispatches.Store = &flaky{Store: f.dispatches.Store, errs: []error{nil, errBroken}} // the plan is not saved
	if d := f.end(t, id); d.Status != lastmile.DispatchSucceeded || d.Rounds != 1 {
		t.Errorf("the dispatch is %s (%s) after %d rounds", d.Status, d.Failure, d.Rounds)
	}
}

func TestLargePlansAreResumed(t *testing.T) {
	f := newFleet(t, 2, dispatch.MaxAtOnce+20)
	lists := &failing{Lists: f.dispatches.Lists, fails: func(call int) bool { return call == 3 }}
	f.dispatches.Lists = lists
	d := f.end(t, f.start(t, planning.Request{}))
	once, more := f.assigned(t)
	if d.Status != lastmile.DispatchSucceeded || once != len(f.tasks) || more > 0 {
		t.Errorf("the dispatch is %s (%s): %d tasks were assigned once, %d more often", d.Status, d.Failure, once, more)
	}
	if lists.calls < 1+5 {
		t.Errorf("%d transactions changed lists", lists.calls)
	}
	for _, route := range d.Plan.Routes {
		list := f.Stored(t, route.Stops[0].Task)
		if list.Worker != route.Worker {
			t.Errorf("the first task of %s has worker %s", route.Worker, list.Worker)
		}
	}
}

func TestSmallPlansAreAppliedAtOnce(t *testing.T) {
	f := newFleet(t, 2, 10)
	f.dispatches.Lists = &failing{Lists: f.dispatches.Lists, fails: func(call int) bool { return call == 2 }}
	id := f.start(t, planning.Request{})
	d := f.end(t, id)
	if once, more := f.assigned(t); d.Status != lastmile.DispatchSucceeded || once != 10 || more > 0 {
		t.Errorf("the dispatch is %s: %d tasks were assigned once, %d more often", d.Status, once, more)
	}
}

func TestTeamIsReleasedAfterFailures(t *testing.T) {
	f := newFleet(t, 1, 3)
	f.dispatches.Lists = &failing{fails: func(int) bool { return true }}
	d := f.end(t, f.start(t, planning.Request{}))
	if once, _ := f.assigned(t); d.Status != lastmile.DispatchFailed || once != 0 || d.Failure == "" || strings.Contains(d.Failure, "broken") {
		t.Errorf("the dispatch is %s (%s), with %d tasks assigned", d.Status, d.Failure, once)
	}
	f.start(t, planning.Request{})
}

func TestStopKeepsTheBestPlan(t *testing.T) {
	f := newFleet(t, 2, 20)
	f.dispatches.MaxTime = time.Hour
	id := f.start(t, planning.Request{})
	if _, err := f.dispatches.Stop(t.Context(), f.Principal, id); err != nil {
		t.Fatal(err)
	}
	if d := f.end(t, id); d.Status != lastmile.DispatchSucceeded || len(d.Plan.Unplanned) > 0 {
		t.Errorf("the dispatch is %s, with %d tasks left out", d.Status, len(d.Plan.Unplanned))
	}
}

func TestWorkerWhoGoesOffDutyGetsNothing(t *testing.T) {
	f := newFleet(t, 1, 3)
	f.dispatches.Lists = &failing{Lists: f.dispatches.Lists, fails: func(int) bool { return false }}
	id := f.start(t, planning.Request{DryRun: true})
	if d := f.end(t, id); d.Status != lastmile.DispatchPlanned {
		t.Fatalf("the dispatch is %s", d.Status)
	}
	if _, err := f.dispatches.Apply(t.Context(), f.Principal, id); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Fleet.SetDuty(t.Context(), lastmile.Principal{Organization: f.Principal.Organization, Worker: f.workers[0]}, false, nil); err != nil {
		t.Fatal(err)
	}
	d := f.end(t, id)
	if once, _ := f.assigned(t); d.Status != lastmile.DispatchSucceeded || once != 0 || len(d.Plan.Unplanned) != 3 || d.Plan.Unplanned[0].Reasons[0].Rule != lastmile.RuleChanged {
		t.Errorf("the dispatch is %s with %d tasks assigned, left out: %+v", d.Status, once, d.Plan.Unplanned)
	}
}

// TestWorkerWithOtherTasksByNowGetsNoMore lets a worker get a task, or leave the team,
// while a plan is being applied.
func TestWorkerWithOtherTasksByNowGetsNoMore(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *fleet){
		"another task": func(t *testing.T, f *fleet) {
			draft := apptest.Draft(lastmile.Point{Lon: -73.99, Lat: 40.73})
			in := lastmile.WorkerContainer(f.workers[0])
			draft.Container = &in
			f.Task(t, draft)
		},
		"no team": func(t *testing.T, f *fleet) {
			if _, err := f.Fleet.UpdateTeam(t.Context(), f.Principal, f.team, lastmile.TeamChange{Workers: &[]lastmile.WorkerID{}}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 1, 3)
			id := f.start(t, planning.Request{DryRun: true})
			f.end(t, id)
			if _, err := f.dispatches.Apply(t.Context(), f.Principal, id); err != nil {
				t.Fatal(err)
			}
			change(t, f)
			d := f.end(t, id)
			if once, _ := f.assigned(t); d.Status != lastmile.DispatchSucceeded || once != 0 || len(d.Plan.Unplanned) != 3 || d.Plan.Unplanned[0].Reasons[0].Rule != lastmile.RuleChanged {
				t.Errorf("the dispatch is %s with %d tasks assigned, left out: %+v", d.Status, once, d.Plan.Unplanned)
			}
		})
	}
}

// changing calls a function before it returns travel times, so that something else happens
// during a dispatch.
type changing struct {
	dispatch.Travel
	calls  int
	change func(call int)
}

func (c *changing) Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
	c.calls++
	c.change(c.calls)
	return c.Travel.Matrix(ctx, by, from, to)
}

// TestListsThatChangeMeanwhile lets workers get tasks while a dispatch plans, as if another
// dispatch shared the workers.
func TestListsThatChangeMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		name     string
		changes  int
		rounds   int
		assigned int
	}{{"once", 1, 2, 3}, {"again and again", 9, 2, 0}, {"never", 0, 1, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(t, 1, 3)
			f.dispatches.Travel = &changing{Travel: f.dispatches.Travel, change: func(call int) {
				if call <= tt.changes {
					f.add(t, lastmile.WorkerContainer(f.workers[0]), 100, time.Time{})
				}
			}}
			f.Triggers(t)
			d := f.end(t, f.start(t, planning.Request{}))
			once, more := f.assigned(t)
			if d.Status != lastmile.DispatchSucceeded || d.Rounds != tt.rounds || once != tt.assigned || more > 0 {
				t.Errorf("the dispatch is %s (%s) after %d rounds, with %d tasks assigned", d.Status, d.Failure, d.Rounds, once)
			}
			if left := d.Plan.Unplanned; len(left) != 3-tt.assigned || len(left) > 0 && left[0].Reasons[0].Rule != lastmile.RuleChanged {
				t.Errorf("left out: %+v", left)
			}
			ends := slices.DeleteFunc(f.Triggers(t), func(name string) bool { return name != "autoDispatchJobCompleted" })
			if len(ends) != 1 {
				t.Errorf("the end is reported %d times", len(ends))
			}
		})
	}
}

// TestTaskDeletedMeanwhile deletes a task while a dispatch plans.
func TestTaskDeletedMeanwhile(t *testing.T) {
	f := newFleet(t, 1, 2)
	f.dispatches.Travel = &changing{Travel: f.dispatches.Travel, change: func(int) {
		if err := f.Tasks.Delete(t.Context(), f.Principal, f.tasks[0]); err != nil {
			t.Error(err)
		}
	}}
	d := f.end(t, f.start(t, planning.Request{}))
	if left := d.Plan.Unplanned; len(left) != 1 || left[0].Task != f.tasks[0] || !strings.Contains(left[0].Reasons[0].Detail, "deleted") {
		t.Errorf("left out: %+v", left)
	}
}

// TestTasksThatChangeAfterADryRun checks that changes of the tasks of a plan are listed, and
// that the plan is then not applied.
func TestTasksThatChangeAfterADryRun(t *testing.T) {
	for want, change := range map[string]lastmile.TaskDraft{
		"has another destination":  {Destination: apptest.Draft(lastmile.Point{Lon: -73.9, Lat: 40.7}).Destination},
		"has another recipient":    {Recipients: &[]lastmile.RecipientRef{{Draft: &lastmile.RecipientDraft{Name: "Eve", Phone: "+12125550199"}}}},
		"has another service time": {Change: lastmile.TaskChange{ServiceTime: new(time.Hour)}},
		"or has become one":        {Change: lastmile.TaskChange{Pickup: new(true)}},
		"has another time window":  {Change: lastmile.TaskChange{CompleteAfter: new(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}},
	} {
		t.Run(want, func(t *testing.T) {
			f := newFleet(t, 1, 1)
			id := f.start(t, planning.Request{DryRun: true})
			f.end(t, id)
			if _, err := f.Tasks.Update(t.Context(), f.Principal, f.tasks[0], change); err != nil {
				t.Fatal(err)
			}
			if _, changes, err := f.dispatches.Dispatch(t.Context(), f.Principal, id); err != nil || len(changes) != 1 || !strings.HasSuffix(changes[0].String(), want) {
				t.Errorf("the changes are %q: %v", changes, err)
			}
			if _, err := f.dispatches.Apply(t.Context(), f.Principal, id); err == nil {
				t.Error("the plan is applied")
			}
		})
	}
}

// changeWorker changes the first worker.
func (f *fleet) changeWorker(t *testing.T, change func(*lastmile.Worker)) error {
	t.Helper()
	f.Write(t, func(w *sqlstore.Tx) error {
		worker, err := w.WholeWorker(t.Context(), f.Principal.Organization, f.workers[0])
		if err != nil {
			return err
		}
		change(&worker)
		return w.SaveWorker(t.Context(), worker)
	})
	return nil
}

// TestDependenciesWorkersAndDeletionsAfterADryRun does the same for other changes since the
// plan was made.
func TestDependenciesWorkersAndDeletionsAfterADryRun(t *testing.T) {
	for want, change := range map[string]func(t *testing.T, f *fleet) error{
		"was completed or deleted": func(t *testing.T, f *fleet) error {
			return f.Tasks.Delete(t.Context(), f.Principal, f.tasks[0])
		},
		"has other dependencies": func(t *testing.T, f *fleet) error {
			change := lastmile.TaskChange{Dependencies: &[]lastmile.TaskID{f.tasks[1]}}
			_, err := f.Tasks.Update(t.Context(), f.Principal, f.tasks[0], lastmile.TaskDraft{Change: change})
			return err
		},
		"has another capacity": func(t *testing.T, f *fleet) error {
			return f.changeWorker(t, func(w *lastmile.Worker) { w.Capacity = 7 })
		},
		"has another vehicle": func(t *testing.T, f *fleet) error {
			return f.changeWorker(t, func(w *lastmile.Worker) { w.Vehicle = &lastmile.Vehicle{Type: lastmile.Bicycle} })
		},
	} {
		t.Run(want, func(t *testing.T) {
			f := newFleet(t, 1, 2)
			id := f.start(t, planning.Request{DryRun: true})
			f.end(t, id)
			if err := change(t, f); err != nil {
				t.Fatal(err)
			}
			if _, changes, err := f.dispatches.Dispatch(t.Context(), f.Principal, id); err != nil || !strings.Contains(fmt.Sprint(changes), want) {
				t.Errorf("the changes are %q: %v", changes, err)
			}
			_, err := f.dispatches.Apply(t.Context(), f.Principal, id)
			if rejected, ok := errors.AsType[*lastmile.Error](err); !ok || rejected.Code != lastmile.Conflict("").Code || !strings.Contains(rejected.Cause, want) {
				t.Errorf("applying it: %v", err)
			}
		})
	}
}

// TestWorkersGoOnAfterADryRun: a worker who follows the plan does not make it unfit, and one
// who does anything else does.
func TestWorkersGoOnAfterADryRun(t *testing.T) {
	for name, tt := range map[string]struct {
		task      int // index in the plan
		completed bool
		fits      bool
	}{
		"the first task was started": {0, false, true},
		"the first was completed":    {0, true, true},
		"the second was started":     {1, false, false},
		"the second was completed":   {1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, 1, 0)
			who := lastmile.Principal{Organization: f.Principal.Organization, Worker: f.workers[0]}
			var plan []lastmile.TaskID
			for i := range 3 {
				plan = append(plan, f.add(t, lastmile.WorkerContainer(f.workers[0]), float64(100*i+100), time.Time{}))
			}
			plan = append(plan, f.add(t, lastmile.TeamContainer(f.team), 400, time.Time{}))
			id := f.start(t, planning.Request{DryRun: true})
			for i, stop := range f.end(t, id).Plan.Routes[0].Stops {
				if stop.Task != plan[i] {
					t.Fatalf("the plan has %s, want %s", stop.Task, plan[i])
				}
			}
			if _, err := f.Work.Start(t.Context(), who, plan[tt.task], lastmile.Action{ID: "start", At: f.Now()}); err != nil {
				t.Fatal(err)
			}
			if tt.completed {
				if err := f.Tasks.Complete(t.Context(), f.Principal, plan[tt.task], lastmile.Outcome{Success: true}); err != nil {
					t.Fatal(err)
				}
			}
			_, changes, err := f.dispatches.Dispatch(t.Context(), f.Principal, id)
			if err != nil || (len(changes) == 0) != tt.fits {
				t.Fatalf("the changes are %v: %v", changes, err)
			}
			if _, err = f.dispatches.Apply(t.Context(), f.Principal, id); (err == nil) != tt.fits {
				t.Fatalf("applying it: %v", err)
			}
			if !tt.fits {
				return
			}
			applied := f.end(t, id)
			if got := f.list(t, f.workers[0]); applied.Status != lastmile.DispatchSucceeded || !slices.Equal(got, plan[1:]) || len(applied.Plan.Unplanned) > 0 || len(applied.Plan.Routes[0].Stops) != 4 {
				t.Errorf("the list is %v, want %v; the plan is %+v", got, plan[1:], applied.Plan)
			}
		})
	}
}

// TestActiveTaskAfterADryRun: a worker who arrived in time is not late in the plan, and
// however long she stays, the plan for what comes next can be applied.
func TestActiveTaskAfterADryRun(t *testing.T) {
	f := newFleet(t, 1, 0)
	who := lastmile.Principal{Organization: f.Principal.Organization, Worker: f.workers[0]}
	active := f.add(t, lastmile.WorkerContainer(f.workers[0]), 100, f.Now().Add(time.Minute))
	f.add(t, lastmile.TeamContainer(f.team), 200, time.Time{})
	if _, err := f.Work.Start(t.Context(), who, active, lastmile.Action{ID: "start", At: f.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Work.Arrive(t.Context(), who, active, lastmile.Action{ID: "arrive", At: f.Now()}); err != nil {
		t.Fatal(err)
	}
	f.Advance(8 * time.Minute)
	id := f.start(t, planning.Request{DryRun: true})
	if plan := f.end(t, id).Plan; plan.Cost.Lateness != 0 || plan.Routes[0].Stops[0].Task != active || plan.Routes[0].Stops[0].Late != 0 {
		t.Errorf("arrived in time, and the plan is %+v", plan)
	}
	f.Advance(8 * time.Minute)
	if _, err := f.dispatches.Apply(t.Context(), f.Principal, id); err != nil {
		t.Errorf("applying it: %v", err)
	}
}

// TestPlansThatDoNotFitAnyMore checks the reasons why a plan can no longer be applied.
func TestPlansThatDoNotFitAnyMore(t *testing.T) {
	f := newFleet(t, 2, 3)
	window := f.Now().Add(30 * time.Minute)
	if _, err := f.Tasks.Update(t.Context(), f.Principal, f.tasks[0], lastmile.TaskDraft{Change: lastmile.TaskChange{CompleteBefore: &window}}); err != nil {
		t.Fatal(err)
	}
	id := f.start(t, planning.Request{DryRun: true})
	routes := f.end(t, id).Plan.Routes
	if len(routes[0].Stops) == 0 {
		slices.Reverse(routes)
	}
	duty := func(of lastmile.WorkerID, on bool) {
		t.Helper()
		if _, err := f.Fleet.SetDuty(t.Context(), lastmile.Principal{Organization: f.Principal.Organization, Worker: of}, on, nil); err != nil {
			t.Fatal(err)
		}
	}
	duty(routes[1].Worker, false)
	if _, changes, err := f.dispatches.Dispatch(t.Context(), f.Principal, id); err != nil || len(routes[1].Stops) == 0 && len(changes) > 0 {
		t.Errorf("a worker without tasks makes a difference: %v, %v", changes, err)
	}
	expect := func(want string) {
		t.Helper()
		_, err := f.dispatches.Apply(t.Context(), f.Principal, id)
		_, changes, _ := f.dispatches.Dispatch(t.Context(), f.Principal, id)
		if got := fmt.Sprint(changes); err == nil || !strings.Contains(got, want) {
			t.Errorf("the plan is applied (%v) after %q, want %q", err, got, want)
		}
	}
	duty(routes[0].Worker, false)
	expect("is off duty")
	duty(routes[0].Worker, true)
	f.Advance(2 * time.Hour)
	expect("would be later than allowed, because the plan is 2h0m")
	if _, err := f.Tasks.Update(t.Context(), f.Principal, f.tasks[0], lastmile.TaskDraft{Change: lastmile.TaskChange{CompleteBefore: &time.Time{}}}); err != nil {
		t.Fatal(err)
	}
	expect("has another time window")
}

// TestAPlanWithWorkThatIsLateAlready checks that such a plan fits for a while after it was
// made, but not forever.
func TestAPlanWithWorkThatIsLateAlready(t *testing.T) {
	f := newFleet(t, 1, 1)
	late := f.add(t, lastmile.WorkerContainer(f.workers[0]), 100, f.Now().Add(time.Second))
	f.Advance(time.Hour)
	id := f.start(t, planning.Request{DryRun: true})
	f.end(t, id)
	for wait, want := range map[time.Duration]int{9 * time.Minute: 0, 12 * time.Minute: 1} {
		f.dispatches.Now = func() time.Time { return f.Now().Add(wait) }
		if _, changes, err := f.dispatches.Dispatch(t.Context(), f.Principal, id); err != nil || len(changes) != want || want > 0 && changes[0].Task != late {
			t.Errorf("after %s, the changes are %v: %v", wait, changes, err)
		}
	}
}

// TestAPlanForLater checks that the age of a plan does not matter before its routes begin.
func TestAPlanForLater(t *testing.T) {
	f := newFleet(t, 1, 1)
	window := lastmile.Window{From: f.Now().Add(2 * time.Hour), To: f.Now().Add(8 * time.Hour)}
	due := window.From.Add(20 * time.Minute)
	if _, err := f.Tasks.Update(t.Context(), f.Principal, f.tasks[0], lastmile.TaskDraft{Change: lastmile.TaskChange{CompleteBefore: &due}}); err != nil {
		t.Fatal(err)
	}
	id := f.start(t, planning.Request{DryRun: true, ScheduleWindow: &window})
	f.end(t, id)
	for wait, want := range map[time.Duration]int{100 * time.Minute: 0, 180 * time.Minute: 1} {
		f.dispatches.Now = func() time.Time { return f.Now().Add(wait) }
		if _, changes, err := f.dispatches.Dispatch(t.Context(), f.Principal, id); err != nil || len(changes) != want {
			t.Errorf("after %s, the changes are %v: %v", wait, changes, err)
		}
	}
}

// TestLaterTasksStayBehind dispatches a worker whose list begins with a task for another day.
func TestLaterTasksStayBehind(t *testing.T) {
	f := newFleet(t, 1, 0)
	ada := lastmile.WorkerContainer(f.workers[0])
	draft := apptest.Draft(lastmile.Point{Lon: -73.99, Lat: 40.74})
	draft.Container, draft.Change.CompleteAfter = &ada, new(f.Now().Add(30*time.Hour))
	later := f.Task(t, draft).ID
	first, second := f.add(t, ada, 100, time.Time{}), f.add(t, ada, 200, time.Time{})
	f.enable(t, assignment.ReplanningChange{Interval: new(time.Minute)})
	if _, err := f.Tasks.Update(t.Context(), f.Principal, first, lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new("x")}}); err != nil {
		t.Fatal(err)
	}
	f.pass(t, 10*time.Second, time.Second)
	if runs, got := f.runs(t), f.list(t, f.workers[0]); len(runs) != 1 || runs[0].Replan.Changed || !slices.Equal(got, []lastmile.TaskID{later, first, second}) {
		t.Errorf("after %d runs that are not better, the list is %v", len(runs), got)
	}
	f.end(t, f.start(t, planning.Request{}))
	if got := f.list(t, f.workers[0]); !slices.Equal(got, []lastmile.TaskID{first, second, later}) {
		t.Errorf("the list is %v, and the task for another day is %s", got, later)
	}
}

// TestRouteThatCannotBePlanned requests the route of a worker with no shift and no location.
func TestRouteThatCannotBePlanned(t *testing.T) {
	f := newFleet(t, 1, 0)
	lost := f.Worker(t, "lost", nil, f.team).Worker
	if _, err := f.dispatches.StartWorker(t.Context(), f.Principal, lost, planning.Request{RouteEnd: new(*string)}); err == nil || !strings.Contains(err.Error(), "no known location") {
		t.Errorf("without a location: %v", err)
	}
	today := f.Now().UTC().Format(time.DateOnly)
	off := lastmile.Schedule{{Date: today, Timezone: "UTC"}, {Date: f.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly), Timezone: "UTC"}}
	if _, err := f.Fleet.SetSchedule(t.Context(), f.Principal, f.workers[0], off); err != nil {
		t.Fatal(err)
	}
	if _, err := f.dispatches.StartWorker(t.Context(), f.Principal, f.workers[0], planning.Request{RouteEnd: new(*string)}); err == nil || !strings.Contains(err.Error(), "no shift between") {
		t.Errorf("without a shift: %v", err)
	}
}

func TestEstimateNeedsAHubAndAWorkerOnDuty(t *testing.T) {
	o := apptest.NewOrg(t)
	team := o.Team(t, "North")
	east, west := lastmile.Point{Lon: -73.95, Lat: 40.75}, lastmile.Point{Lon: -73.99, Lat: 40.75}
	estimate := func() (lastmile.WorkerID, error) {
		got, err := o.Dispatches.Estimate(t.Context(), o.Principal, team, travel.EstimateRequest{Dropoff: &east})
		return got.Worker, err
	}
	if _, err := estimate(); !lastmile.IsNotFound(err) {
		t.Errorf("without a hub: %v", err)
	}
	hub := lastmile.Hub{ID: apptest.NewID[lastmile.HubID](), Organization: o.Principal.Organization, Name: "H", Location: west}
	o.Write(t, func(w *sqlstore.Tx) error { return w.SaveHub(t.Context(), hub) })
	if _, err := o.Fleet.UpdateTeam(t.Context(), o.Principal, team, lastmile.TeamChange{Hub: &hub.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := estimate(); !lastmile.IsNotFound(err) {
		t.Errorf("without a worker: %v", err)
	}
	worker := o.Worker(t, "Ada", &west, team)
	if got, err := estimate(); err != nil || got != worker.Worker {
		t.Errorf("the first worker would be %q, want %q: %v", got, worker.Worker, err)
	}
}
