package platform_test

import (
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

func TestCreatePutsATaskAtTheEndOfItsContainer(t *testing.T) {
	o := apptest.NewOrg(t)
	team, worker := o.Team(t, "North"), o.Worker(t, "Ada", nil)
	for name, c := range map[string]struct {
		in    lastmile.ContainerRef
		state lastmile.TaskState
	}{
		"organization": {home(o), lastmile.TaskUnassigned},
		"team":         {lastmile.TeamContainer(team), lastmile.TaskUnassigned},
		"worker":       {listOf(worker), lastmile.TaskAssigned},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := o.Task(t, in(c.in)), o.Task(t, in(c.in))
			if first.State != c.state || first.Container != c.in || len(first.History) != 1 || first.History[0].Container != c.in {
				t.Errorf("the task is %v in %v with the history %v", first.State, first.Container, first.History)
			}
			expectList(t, o, c.in, first.ID, second.ID)
		})
	}
}

// The sequence of events orders the notifications of a task, so it must start at 1 and have
// no gap, even for a task that is assigned when it is created.
func TestEventsOfATaskThatIsAssignedAtCreation(t *testing.T) {
	o := apptest.NewOrg(t)
	worker := o.Worker(t, "Ada", nil)
	for name, c := range map[string]struct {
		in   lastmile.ContainerRef
		want []string
	}{
		"unassigned": {home(o), []string{"taskCreated"}},
		"assigned":   {listOf(worker), []string{"taskCreated", "taskAssigned"}},
	} {
		t.Run(name, func(t *testing.T) {
			task := o.Task(t, in(c.in))
			expectTriggers(t, o, c.want...)
			if stored := o.Stored(t, task.ID); stored.Events != int64(len(c.want)) {
				t.Errorf("the task has had %d events, want %d", stored.Events, len(c.want))
			}
			if !task.Modified.Equal(task.Created) {
				t.Errorf("the task is created at %v and modified at %v", task.Created, task.Modified)
			}
		})
	}
}

func TestCreateRejects(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	foreign := other.Worker(t, "Eve", nil)
	foreignTask := other.Task(t, apptest.Draft(west))
	change := func(f func(*lastmile.TaskDraft)) lastmile.TaskDraft {
		d := apptest.Draft(middle)
		f(&d)
		return d
	}
	two := []lastmile.RecipientRef{{ID: "a"}, {ID: "b"}}
	for name, c := range map[string]struct {
		draft lastmile.TaskDraft
		want  lastmile.Code
	}{
		"a worker of another organization": {in(listOf(foreign)), lastmile.CodeOutsideScope},
		"an unknown team":                  {in(lastmile.TeamContainer(apptest.NewID[lastmile.TeamID]())), lastmile.CodeNotFound},
		"another organization's container": {in(home(other)), lastmile.CodeOutsideScope},
		"two recipients":                   {change(func(d *lastmile.TaskDraft) { d.Recipients = &two }), lastmile.CodeInvalid},
		"no destination":                   {change(func(d *lastmile.TaskDraft) { d.Destination = nil }), lastmile.CodeMalformed},
		"a dependency of another organization": {
			change(func(d *lastmile.TaskDraft) { d.Change.Dependencies = &[]lastmile.TaskID{foreignTask.ID} }), lastmile.CodeOutsideScope,
		},
		"a merchant that is not connected": {
			change(func(d *lastmile.TaskDraft) { d.Change.Merchant = &other.Principal.Organization }), lastmile.CodeOutsideScope,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.Tasks.Create(t.Context(), o.Principal, c.draft, nil)
			expectCode(t, err, c.want)
		})
	}
	_, err := o.Tasks.Create(t.Context(), o.Principal, in(home(o)), &assignment.Options{Mode: assignment.ByDistance})
	expectCode(t, err, lastmile.CodeInvalid)
	expectTriggers(t, o)
	expectList(t, o, home(o))
}

func TestCreateSavesItsRecipientOnce(t *testing.T) {
	o := apptest.NewOrg(t)
	phone := string(apptest.Phone())
	for _, name := range []string{"Boris", "Boris Foster"} {
		d := apptest.Draft(middle)
		d.Recipients = &[]lastmile.RecipientRef{{Draft: &lastmile.RecipientDraft{Name: name, Phone: phone}}}
		if task := o.Task(t, d); task.Recipient == nil || task.Recipient.Name != name {
			t.Errorf("the recipient is %+v, want %s", task.Recipient, name)
		}
	}
	o.Read(t, func(r *sqlstore.Tx) error {
		found, err := r.Recipients(t.Context(), o.Principal.Organization, store.RecipientFilter{})
		if len(found) != 1 || found[0].Name != "Boris Foster" {
			t.Errorf("the recipients are %+v, want one", found)
		}
		return err
	})
}

func TestCreateAssignsAutomatically(t *testing.T) {
	o := apptest.NewOrg(t)
	near, far := o.Worker(t, "Ada", &middle), o.Worker(t, "Bob", &west)
	d := apptest.Draft(east)
	made, err := o.Tasks.Create(t.Context(), o.Principal, d, &assignment.Options{Mode: assignment.ByDistance})
	if err != nil || !made.DidAutoAssign || made.Task.Worker != near.Worker {
		t.Fatalf("assigned to %q (%v), want the nearest worker: %v", made.Task.Worker, made.DidAutoAssign, err)
	}
	why, err := o.Containers.Explanation(t.Context(), o.Principal, made.Task.ID)
	if err != nil || why.Chosen != near.Worker || len(why.Considered) != 2 {
		t.Errorf("the explanation is %+v: %v", why, err)
	}
	made, err = o.Tasks.Create(t.Context(), o.Principal, d,
		&assignment.Options{Mode: assignment.ByDistance, ExcludedWorkers: []lastmile.WorkerID{near.Worker, far.Worker}})
	if err != nil || made.DidAutoAssign || made.Task.State != lastmile.TaskUnassigned {
		t.Errorf("assigned to %q although all workers are excluded: %v", made.Task.Worker, err)
	}
}

func TestClone(t *testing.T) {
	o := apptest.NewOrg(t)
	worker := o.Worker(t, "Ada", nil)
	d := in(listOf(worker))
	d.Change.Notes, d.Change.Quantity = new("Ring twice."), new(3.0)
	d.Change.Metadata = lastmile.MetadataChange{Set: lastmile.Metadata{{Name: "order", Type: lastmile.MetadataNumber, Value: 7.0, Visibility: []string{"api"}}}}
	source := o.Task(t, d)
	o.Triggers(t)
	clone, err := o.Tasks.Clone(t.Context(), o.Principal, source.ID, lastmile.CloneOptions{}, lastmile.TaskDraft{Change: lastmile.TaskChange{Quantity: new(4.0)}})
	if err != nil {
		t.Fatal(err)
	}
	stored := o.Stored(t, clone.ID)
	if stored.ID == source.ID || stored.SourceTask != source.ID || stored.State != lastmile.TaskUnassigned || stored.Worker != "" {
		t.Errorf("the clone is %v of %s with the worker %q", stored.State, stored.SourceTask, stored.Worker)
	}
	if stored.Notes != "Ring twice." || stored.Quantity != 4 || len(stored.Metadata) != 0 {
		t.Errorf("the clone has the notes %q, the quantity %v and the metadata %v", stored.Notes, stored.Quantity, stored.Metadata)
	}
	if stored.Destination.ID == source.Destination.ID || stored.Destination.Location != source.Destination.Location {
		t.Errorf("the clone shares destination %s", stored.Destination.ID)
	}
	expectTriggers(t, o, "taskCloned")
	_, err = o.Tasks.Clone(t.Context(), o.Principal, source.ID, lastmile.CloneOptions{},
		lastmile.TaskDraft{Change: lastmile.TaskChange{CompleteAfter: new(o.Now().Add(-time.Hour))}})
	expectCode(t, err, lastmile.CodeInvalid)
}
