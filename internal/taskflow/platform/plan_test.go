package platform_test

import (
	"slices"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/taskflow"
)

// plan creates a route plan with tasks for a worker.
func plan(t *testing.T, o *apptest.Org, worker lastmile.WorkerID, tasks ...lastmile.TaskID) lastmile.RoutePlan {
	t.Helper()
	made, err := o.RoutePlans.Create(t.Context(), o.Principal, lastmile.RoutePlanChange{
		Name: new("Morning"), Start: new(o.Now()), Worker: &worker, Tasks: &tasks,
	})
	if err != nil {
		t.Fatalf("create a route plan: %v", err)
	}
	return made
}

func TestARoutePlanGivesItsTasksToItsWorker(t *testing.T) {
	o := apptest.NewOrg(t)
	ada, bob := o.Worker(t, "Ada", &west), o.Worker(t, "Bob", &west)
	first, second, third := o.Task(t, in(home(o))).ID, o.Task(t, in(home(o))).ID, o.Task(t, in(home(o))).ID
	made := plan(t, o, ada.Worker, second, first)
	expectList(t, o, listOf(ada), second, first)
	if made.State != lastmile.RoutePlanPending || made.PlannedDistance < 0 || !slices.Equal(made.Tasks, []lastmile.TaskID{second, first}) {
		t.Errorf("the plan is %+v", made)
	}
	added, err := o.RoutePlans.AddTasks(t.Context(), o.Principal, made.ID, []lastmile.TaskID{first, third})
	if err != nil || !slices.Equal(added.Tasks, []lastmile.TaskID{second, first, third}) {
		t.Fatalf("the plan has the tasks %v: %v", added.Tasks, err)
	}
	expectList(t, o, listOf(ada), second, first, third)

	moved, err := o.RoutePlans.Update(t.Context(), o.Principal, made.ID, lastmile.RoutePlanChange{Worker: &bob.Worker})
	if err != nil || moved.Worker != bob.Worker {
		t.Fatalf("the plan is of %q: %v", moved.Worker, err)
	}
	expectList(t, o, listOf(ada))
	expectList(t, o, listOf(bob), second, first, third)

	if err := o.RoutePlans.Delete(t.Context(), o.Principal, made.ID); err != nil {
		t.Fatal(err)
	}
	expectList(t, o, listOf(bob), second, first, third)
	if got := o.Stored(t, first).RoutePlan; got != "" {
		t.Errorf("the task is still in plan %s", got)
	}
}

func TestARoutePlanFollowsItsTasks(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	first, second := o.Task(t, in(home(o))).ID, o.Task(t, in(home(o))).ID
	made := plan(t, o, ada.Worker, first, second)
	expectState := func(want lastmile.RoutePlanState) {
		t.Helper()
		got, err := o.RoutePlans.Read(t.Context(), o.Principal, made.ID)
		if err != nil || got.State != want {
			t.Fatalf("the plan is %s, want %s: %v", got.State, want, err)
		}
	}
	finish := func(id lastmile.TaskID) {
		t.Helper()
		if err := o.Tasks.Complete(t.Context(), o.Principal, id, lastmile.Outcome{Success: true}); err != nil {
			t.Fatal(err)
		}
	}
	expectState(lastmile.RoutePlanPending)
	if _, err := o.Work.Start(t.Context(), ada, first, action(nil)); err != nil {
		t.Fatal(err)
	}
	expectState(lastmile.RoutePlanStarted)
	finish(first)
	expectState(lastmile.RoutePlanStarted)
	if err := o.Tasks.Delete(t.Context(), o.Principal, second); err != nil {
		t.Fatal(err)
	}
	expectState(lastmile.RoutePlanCompleted)
}

func TestRoutePlansReject(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	foreign, task := other.Worker(t, "Eve", nil), other.Task(t, apptest.Draft(west))
	name, start := new("Morning"), new(o.Now())
	for what, c := range map[string]struct {
		change lastmile.RoutePlanChange
		want   lastmile.Code
	}{
		"another organization's worker": {lastmile.RoutePlanChange{Name: name, Start: start, Worker: &foreign.Worker}, lastmile.CodeOutsideScope},
		"another organization's task":   {lastmile.RoutePlanChange{Name: name, Start: start, Tasks: &[]lastmile.TaskID{task.ID}}, lastmile.CodeOutsideScope},
		"no name":                       {lastmile.RoutePlanChange{Start: start}, lastmile.CodeMalformed},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := o.RoutePlans.Create(t.Context(), o.Principal, c.change)
			expectCode(t, err, c.want)
		})
	}
	_, _, err := o.RoutePlans.List(t.Context(), o.Principal, taskflow.RoutePlanQuery{})
	expectCode(t, err, lastmile.CodeInvalid)
}
