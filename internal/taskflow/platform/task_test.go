package platform_test

import (
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestUpdateMovesATask(t *testing.T) {
	o := apptest.NewOrg(t)
	ada, bob := o.Worker(t, "Ada", nil), o.Worker(t, "Bob", nil)
	task, last := o.Task(t, in(listOf(ada))), o.Task(t, in(listOf(bob)))
	o.Triggers(t)
	for _, step := range []struct {
		to       lastmile.ContainerRef
		state    lastmile.TaskState
		worker   lastmile.WorkerID
		triggers []string
	}{
		{listOf(bob), lastmile.TaskAssigned, bob.Worker, []string{"taskUnassigned", "taskAssigned", "taskUpdated"}},
		{home(o), lastmile.TaskUnassigned, "", []string{"taskUnassigned", "taskUpdated"}},
		{listOf(bob), lastmile.TaskAssigned, bob.Worker, []string{"taskAssigned", "taskUpdated"}},
		{listOf(bob), lastmile.TaskAssigned, bob.Worker, nil}, // where it is already
	} {
		o.Advance(time.Second)
		before := o.Now()
		if step.triggers == nil {
			before = before.Add(-time.Second)
		}
		moved, err := o.Tasks.Update(t.Context(), o.Principal, task.ID, lastmile.TaskDraft{Container: &step.to})
		if err != nil {
			t.Fatal(err)
		}
		if moved.State != step.state || moved.Worker != step.worker || moved.Container != step.to || moved.Modified.Before(before) {
			t.Errorf("to %v: the task is %v, with the worker %q, in %v", step.to, moved.State, moved.Worker, moved.Container)
		}
		expectTriggers(t, o, step.triggers...)
	}
	expectList(t, o, listOf(ada))
	expectList(t, o, listOf(bob), last.ID, task.ID)
}

// The estimates of a task are those of its worker's list.
func TestATaskThatIsTakenFromItsWorkerHasNoEstimates(t *testing.T) {
	for name, move := range map[string]func(*apptest.Org, lastmile.TaskID, lastmile.Principal) error{
		"given back by an update": func(o *apptest.Org, id lastmile.TaskID, _ lastmile.Principal) error {
			to := home(o)
			_, err := o.Tasks.Update(t.Context(), o.Principal, id, lastmile.TaskDraft{Container: &to})
			return err
		},
		"given to another worker by an update": func(o *apptest.Org, id lastmile.TaskID, bob lastmile.Principal) error {
			to := listOf(bob)
			_, err := o.Tasks.Update(t.Context(), o.Principal, id, lastmile.TaskDraft{Container: &to})
			return err
		},
		"put into another list": func(o *apptest.Org, id lastmile.TaskID, bob lastmile.Principal) error {
			_, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(bob), lastmile.ContainerChange{Tasks: []lastmile.TaskID{id}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := apptest.NewOrg(t)
			ada, bob := o.Worker(t, "Ada", nil), o.Worker(t, "Bob", nil)
			task := o.Task(t, in(listOf(ada)))
			arrival := o.Now().Add(time.Hour)
			estimate(t, o, task.ID, lastmile.Estimates{Arrival: arrival, Completion: arrival.Add(time.Minute), ETA: new(time.Hour), Delay: new(time.Minute)})
			if got := o.Stored(t, task.ID).Estimates; !got.Arrival.Equal(arrival) {
				t.Fatalf("the estimates are %+v", got)
			}
			if err := move(o, task.ID, bob); err != nil {
				t.Fatal(err)
			}
			if got := o.Stored(t, task.ID).Estimates; got != (lastmile.Estimates{}) {
				t.Errorf("the estimates are still %+v", got)
			}
		})
	}
}

func TestUpdateIgnoresWhatAStartedTaskKeeps(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	task := o.Task(t, in(listOf(ada)))
	if _, err := o.Work.Start(t.Context(), ada, task.ID, action(&west)); err != nil {
		t.Fatal(err)
	}
	draft := in(home(o))
	draft.Destination.Draft.Location = &east
	draft.Change.Notes = new("Second door.")
	updated, err := o.Tasks.Update(t.Context(), o.Principal, task.ID, draft)
	if err != nil {
		t.Fatal(err)
	}
	if updated.State != lastmile.TaskActive || updated.Destination.Location != middle || updated.Notes != "Second door." {
		t.Errorf("the task is %v at %v with the notes %q", updated.State, updated.Destination.Location, updated.Notes)
	}
}

func TestUpdateRejectsACycleOfDependencies(t *testing.T) {
	o := apptest.NewOrg(t)
	first := o.Task(t, apptest.Draft(west))
	d := apptest.Draft(east)
	d.Change.Dependencies = &[]lastmile.TaskID{first.ID}
	second := o.Task(t, d)
	_, err := o.Tasks.Update(t.Context(), o.Principal, first.ID, lastmile.TaskDraft{Change: lastmile.TaskChange{Dependencies: &[]lastmile.TaskID{second.ID}}})
	expectCode(t, err, lastmile.CodeInvalid)
	if got := o.Stored(t, first.ID).Dependencies; len(got) != 0 {
		t.Errorf("the first task depends on %v", got)
	}
}

func TestComplete(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	for name, c := range map[string]struct {
		success bool
		trigger string
	}{"success": {true, "taskCompleted"}, "failure": {false, "taskFailed"}} {
		t.Run(name, func(t *testing.T) {
			task := o.Task(t, in(listOf(ada)))
			outcome := lastmile.Outcome{Success: c.success, Notes: "Done."}
			expectCode(t, o.Tasks.Complete(t.Context(), o.Principal, task.ID, outcome), lastmile.CodeInvalid)
			if _, err := o.Work.Start(t.Context(), ada, task.ID, action(nil)); err != nil {
				t.Fatal(err)
			}
			o.Triggers(t)
			if err := o.Tasks.Complete(t.Context(), o.Principal, task.ID, outcome); err != nil {
				t.Fatal(err)
			}
			done := o.Stored(t, task.ID)
			if done.State != lastmile.TaskCompleted || done.Completion.Success != c.success || done.Completion.Notes != "Done." || done.Worker != ada.Worker {
				t.Errorf("the task is %v: %+v", done.State, done.Completion)
			}
			expectTriggers(t, o, c.trigger, "taskUpdated")
			expectList(t, o, listOf(ada))
		})
	}
}

func TestDelete(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	task, other := o.Task(t, in(listOf(ada))), o.Task(t, in(listOf(ada)))
	d := apptest.Draft(east)
	d.Change.Dependencies = &[]lastmile.TaskID{task.ID}
	child := o.Task(t, d)
	o.Triggers(t)
	if err := o.Tasks.Delete(t.Context(), o.Principal, task.ID); err != nil {
		t.Fatal(err)
	}
	_, err := o.Tasks.Task(t.Context(), o.Principal, task.ID)
	expectCode(t, err, lastmile.CodeNotFound)
	expectList(t, o, listOf(ada), other.ID)
	expectTriggers(t, o, "taskDeleted", "taskUpdated")
	if got := o.Stored(t, child.ID).Dependencies; len(got) != 0 {
		t.Errorf("the child still depends on %v", got)
	}
	if _, err := o.Work.Start(t.Context(), ada, other.ID, action(nil)); err != nil {
		t.Fatal(err)
	}
	expectCode(t, o.Tasks.Delete(t.Context(), o.Principal, other.ID), lastmile.CodeInvalid)
}

func TestTasksOfAnotherOrganization(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	task := other.Task(t, apptest.Draft(west))
	_, err := o.Tasks.Task(t.Context(), o.Principal, task.ID)
	expectCode(t, err, lastmile.CodeOutsideScope)
	_, err = o.Tasks.Update(t.Context(), o.Principal, task.ID, lastmile.TaskDraft{})
	expectCode(t, err, lastmile.CodeOutsideScope)
	expectCode(t, o.Tasks.Delete(t.Context(), o.Principal, task.ID), lastmile.CodeOutsideScope)
	expectCode(t, o.Tasks.Complete(t.Context(), o.Principal, task.ID, lastmile.Outcome{}), lastmile.CodeOutsideScope)
}

func TestListIsPagedAndFiltered(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", nil)
	from := o.Now()
	o.Task(t, in(listOf(ada)))
	for range 64 {
		o.Task(t, apptest.Draft(west))
	}
	page, last, err := o.Tasks.List(t.Context(), o.Principal, since(from))
	if err != nil || len(page) != 64 || last == "" {
		t.Fatalf("the first page has %d tasks and ends with %q: %v", len(page), last, err)
	}
	rest := since(from)
	rest.After = last
	page, last, err = o.Tasks.List(t.Context(), o.Principal, rest)
	if err != nil || len(page) != 1 || last != "" {
		t.Errorf("the second page has %d tasks and ends with %q: %v", len(page), last, err)
	}
	page, _, err = o.Tasks.Assigned(t.Context(), o.Principal, listOf(ada), since(from))
	if err != nil || len(page) != 1 {
		t.Errorf("the worker has %d tasks: %v", len(page), err)
	}
}
