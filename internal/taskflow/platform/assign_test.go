package platform_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
)

func TestAutoAssignChoosesTheNearestWorker(t *testing.T) {
	o := apptest.NewOrg(t)
	ada, bob := o.Worker(t, "Ada", &west), o.Worker(t, "Bob", &east)
	o.Worker(t, "Off duty", nil)
	inWest, inEast := o.Task(t, apptest.Draft(west)), o.Task(t, apptest.Draft(east))
	taken := o.Task(t, in(listOf(ada)))
	got, err := o.Containers.AutoAssign(t.Context(), o.Principal, []lastmile.TaskID{inWest.ID, inEast.ID, taken.ID},
		assignment.Options{Mode: assignment.ByDistance, MaxAssignedTaskCount: 2})
	want := assignment.Assigned{inWest.ID: ada.Worker, inEast.ID: bob.Worker}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("assigned %v, want %v: %v", got, want, err)
	}
	expectList(t, o, listOf(ada), taken.ID, inWest.ID)
	expectList(t, o, listOf(bob), inEast.ID)
}

// Tasks that a request moves from one worker to another no longer count for the
// first, so the request may assign others to that worker.
func TestAutoAssignTakesTasksFromTheFormerWorker(t *testing.T) {
	o := apptest.NewOrg(t)
	ada, bob := o.Worker(t, "Ada", &west), o.Worker(t, "Bob", &east)
	parent := o.Task(t, in(listOf(ada)))
	stays := o.Task(t, in(listOf(ada)))
	d := apptest.Draft(east)
	d.Change.Dependencies = &[]lastmile.TaskID{parent.ID}
	child, next := o.Task(t, d), o.Task(t, apptest.Draft(west))
	got, err := o.Containers.AutoAssign(t.Context(), o.Principal, []lastmile.TaskID{child.ID, next.ID},
		assignment.Options{Mode: assignment.ByDistance, MaxAssignedTaskCount: 2, ConsiderDependencies: true})
	want := assignment.Assigned{parent.ID: bob.Worker, child.ID: bob.Worker, next.ID: ada.Worker}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("assigned %v, want %v: %v", got, want, err)
	}
	expectList(t, o, listOf(ada), stays.ID, next.ID)
	expectList(t, o, listOf(bob), parent.ID, child.ID)
}

func TestAutoAssignRejects(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	task, foreign := o.Task(t, apptest.Draft(west)), other.Worker(t, "Eve", nil)
	distance := assignment.ByDistance
	for name, c := range map[string]struct {
		tasks   []lastmile.TaskID
		options assignment.Options
		want    lastmile.Code
	}{
		"no mode":                       {nil, assignment.Options{}, lastmile.CodeMalformed},
		"too many tasks":                {make([]lastmile.TaskID, 1_001), assignment.Options{Mode: distance}, lastmile.CodeInvalid},
		"another organization's worker": {[]lastmile.TaskID{task.ID}, assignment.Options{Mode: distance, ExcludedWorkers: []lastmile.WorkerID{foreign.Worker}}, lastmile.CodeOutsideScope},
		"an unknown team":               {[]lastmile.TaskID{task.ID}, assignment.Options{Mode: distance, Teams: []lastmile.TeamID{apptest.NewID[lastmile.TeamID]()}}, lastmile.CodeNotFound},
		"an unknown task":               {[]lastmile.TaskID{apptest.NewID[lastmile.TaskID]()}, assignment.Options{Mode: distance}, lastmile.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.Containers.AutoAssign(t.Context(), o.Principal, c.tasks, c.options)
			expectCode(t, err, c.want)
		})
	}
}

// TestAutoAssignRejectsBeforeItAssigns assigns a task together with one that has too many
// related tasks.
func TestAutoAssignRejectsBeforeItAssigns(t *testing.T) {
	o := apptest.NewOrg(t)
	o.Worker(t, "Ada", &west)
	first, parent := o.Task(t, apptest.Draft(west)), o.Task(t, apptest.Draft(west))
	withChildren(t, o, parent.ID, taskflow.MaxRelated)
	_, err := o.Containers.AutoAssign(t.Context(), o.Principal, []lastmile.TaskID{first.ID, parent.ID},
		assignment.Options{Mode: assignment.ByDistance, ConsiderDependencies: true})
	expectCode(t, err, lastmile.CodeInvalid)
	if got := o.Stored(t, first.ID); got.State != lastmile.TaskUnassigned {
		t.Errorf("the first task is %v, though the request was rejected", got.State)
	}
}

// interrupted calls a function after every transaction that writes.
type interrupted struct {
	sqlstore.View[taskflow.ContainerReader, taskflow.ContainerWriter]
	after func()
}

func (s interrupted) Write(ctx context.Context, fn func(taskflow.ContainerWriter) error) error {
	err := s.View.Write(ctx, fn)
	s.after()
	return err
}

// TestAutoAssignLeavesOutDeletedTasks deletes a task after others of the same request were
// assigned.
func TestAutoAssignLeavesOutDeletedTasks(t *testing.T) {
	o := apptest.NewOrg(t)
	ada, tasks := o.Worker(t, "Ada", &west), many(t, o, 30)
	gone := tasks[28]
	cs := &taskflow.Containers{Base: o.Containers.Base, Store: interrupted{
		sqlstore.For[taskflow.ContainerReader, taskflow.ContainerWriter](o.Store),
		sync.OnceFunc(func() {
			if err := o.Tasks.Delete(t.Context(), o.Principal, gone); err != nil {
				t.Error(err)
			}
		}),
	}}
	got, err := cs.AutoAssign(t.Context(), o.Principal, tasks, assignment.Options{Mode: assignment.ByDistance})
	if _, has := got[gone]; err != nil || has || len(got) != len(tasks)-1 {
		t.Errorf("%d tasks were assigned, want all but one: %v", len(got), err)
	}
	expectList(t, o, listOf(ada), slices.Delete(tasks, 28, 29)...)
}
