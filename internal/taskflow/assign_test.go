package taskflow_test

import (
	"maps"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/assignment"
	"dray/internal/lastmile"
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
