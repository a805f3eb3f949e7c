package lastmile

import (
	"slices"
	"strings"
	"time"
)

// TaskState is the state of a task.
type TaskState int

// The states of a task.
const (
	TaskUnassigned TaskState = iota // in the organization's or a team's container
	TaskAssigned                    // in a worker's container
	TaskActive                      // started by its worker
	TaskCompleted                   // succeeded or failed
)

// String returns the name of the state.
func (s TaskState) String() string {
	return [...]string{"unassigned", "assigned", "active", "completed"}[s]
}

// taskMoves lists all state transitions of tasks. docs/states.md is generated from it.
var taskMoves = map[TaskState][]TaskState{
	TaskUnassigned: {TaskAssigned},
	TaskAssigned:   {TaskUnassigned, TaskActive},
	TaskActive:     {TaskCompleted},
	TaskCompleted:  {},
}

// move is the only function that changes the state of a task.
func (t *Task) move(to TaskState, at time.Time) error {
	if !slices.Contains(taskMoves[t.State], to) {
		return Invalid("task %s is %v and cannot become %v", t.ID, t.State, to)
	}
	t.State, t.Modified = to, nextModified(t.Modified, at)
	return nil
}

// event returns an event with a copy of the task.
func (t *Task) event(trigger Trigger, by Actor, at time.Time) Event {
	return t.events(by, at, trigger)[0]
}

// events returns several events that share a copy of the task, so that it is encoded once.
func (t *Task) events(by Actor, at time.Time, triggers ...Trigger) (events []Event) {
	copied := *t
	for _, trigger := range triggers {
		t.Events++
		events = append(events, Event{Organization: t.Organization, Sequence: t.Events, Trigger: trigger, Actor: by, At: at, Task: &copied})
	}
	return events
}

// MaxHistory is the maximum number of assignments of a task that are kept: the first and the
// latest ones. It is limited because every save of the task writes all of them.
const MaxHistory = 50

// place puts the task into a container and records that in its history.
func (t *Task) place(in ContainerRef, by Actor, at time.Time) {
	t.Container = in
	t.History = append(t.History, Assignment{Actor: by, Container: in, At: at})
	if extra := len(t.History) - MaxHistory; extra > 0 {
		t.History = slices.Concat(t.History[:1], t.History[1+extra:])
	}
}

// CreationEvents returns the events of a new task.
func (t *Task) CreationEvents(by Actor) []Event {
	if t.State == TaskAssigned {
		return t.events(by, t.Created, TriggerTaskCreated, TriggerTaskAssigned)
	}
	return t.events(by, t.Created, TriggerTaskCreated)
}

// Put moves a task that is not started into a container, which makes it assigned or
// unassigned. It does nothing if the task is in that container: a change of the position
// within a container is not an event.
func (t *Task) Put(in ContainerRef, by Actor, at time.Time) ([]Event, error) {
	if t.State == TaskActive || t.State == TaskCompleted {
		return nil, Invalid("task %s is %v and cannot be moved", t.ID, t.State)
	}
	if in == t.Container {
		return nil, nil
	}
	var events []Event
	if t.State == TaskAssigned {
		if err := t.move(TaskUnassigned, at); err != nil {
			return nil, err
		}
		t.Worker, t.Estimates = "", Estimates{}
		t.updateDelay(at)
		if in.Kind != InWorker { // the task is not about to be assigned to another worker
			t.Container = in
		}
		events = append(events, t.event(TriggerTaskUnassigned, by, at))
	}
	t.place(in, by, at)
	if in.Kind != InWorker {
		t.Modified = nextModified(t.Modified, at)
		return append(events, t.event(TriggerTaskUpdated, by, at)), nil
	}
	if err := t.move(TaskAssigned, at); err != nil {
		return nil, err
	}
	t.Worker = WorkerID(in.Owner)
	return append(events, t.events(by, at, TriggerTaskAssigned, TriggerTaskUpdated)...), nil
}

// Start makes an assigned task the active task of its worker and sets its estimates. It fails
// if unfinished, the tasks that it depends on and that are not completed, is not empty.
func (t *Task) Start(unfinished []TaskID, e Estimates, by Actor, at time.Time) ([]Event, error) {
	if len(unfinished) > 0 {
		return nil, Invalid("task %s cannot be started before the tasks it depends on are completed: %s", t.ID, strings.Join(idStrings(unfinished), ", ")).
			WithMissing(MissingDependencies, idStrings(unfinished))
	}
	if err := t.move(TaskActive, at); err != nil {
		return nil, err
	}
	t.Completion.Events = append(t.Completion.Events, CompletionEvent{Name: "start", At: at})
	t.Estimates = e
	return []Event{t.event(TriggerTaskStarted, by, at)}, nil
}

func idStrings(ids []TaskID) (all []string) {
	for _, id := range ids {
		all = append(all, string(id))
	}
	return all
}

// Complete ends an active task as succeeded or failed.
func (t *Task) Complete(o Outcome, by Actor) ([]Event, error) {
	if err := CheckText("completionDetails.notes", o.Notes, MaxNotes); err != nil {
		return nil, err
	}
	if err := t.move(TaskCompleted, o.At); err != nil {
		return nil, err
	}
	t.Completion.At, t.Completion.Success, t.Completion.Notes = o.At, o.Success, o.Notes
	t.Container, t.Estimates = ContainerRef{}, Estimates{}
	ended := TriggerTaskCompleted
	if o.Success {
		t.Completion.SuccessNotes = o.Notes
	} else {
		t.Completion.FailureNotes = o.Notes
		ended = TriggerTaskFailed
	}
	return t.events(by, o.At, ended, TriggerTaskUpdated), nil
}

// Pending reports whether the task is not started yet.
func (t *Task) Pending() bool { return t.State == TaskUnassigned || t.State == TaskAssigned }

// CustomFieldsEditable reports whether Update changes custom fields in the state of the task.
func (t *Task) CustomFieldsEditable() bool { return t.State != TaskActive }

// Update applies the part of a change that the state of the task permits and ignores the
// rest. Everything can change before a task is started; notes and metadata while it is
// active; metadata and custom fields after it is completed. An update that changes nothing
// has no event.
func (t *Task) Update(c TaskChange, newID func() string, by Actor, now time.Time) ([]Event, error) {
	allowed := c
	switch t.State {
	case TaskActive:
		allowed = TaskChange{Notes: c.Notes, Metadata: c.Metadata}
	case TaskCompleted:
		allowed = TaskChange{Metadata: c.Metadata, CustomFields: c.CustomFields}
	case TaskUnassigned, TaskAssigned:
	}
	changed, err := t.apply(allowed, newID, now)
	if err != nil || !changed {
		return nil, err
	}
	return []Event{t.event(TriggerTaskUpdated, by, now)}, nil
}

// SeenBy returns the task as an organization sees it. An organization that placed the task
// with another does not see how the other organizes its work.
func (t Task) SeenBy(org OrganizationID) Task {
	if org != t.Origin {
		return t
	}
	t.History, t.RoutePlan = nil, ""
	if t.Container.Kind == InTeam {
		t.Container = OrganizationContainer(t.Organization)
	}
	return t
}

// RemoveDependency removes the dependency on a deleted task.
func (t *Task) RemoveDependency(of TaskID, by Actor, now time.Time) Event {
	t.Dependencies = slices.DeleteFunc(slices.Clone(t.Dependencies), func(id TaskID) bool { return id == of })
	t.Modified = nextModified(t.Modified, now)
	return t.event(TriggerTaskUpdated, by, now)
}

// CheckDelete rejects deleting a task that is started or completed.
func (t *Task) CheckDelete() error {
	if t.State == TaskActive || t.State == TaskCompleted {
		return Invalid("task %s is %v and cannot be deleted", t.ID, t.State)
	}
	return nil
}

// DeletionEvent returns the event of deleting the task.
func (t *Task) DeletionEvent(by Actor, now time.Time) Event {
	return t.event(TriggerTaskDeleted, by, now)
}

// CloneOptions define what a clone of a task copies and what it overrides.
type CloneOptions struct {
	Metadata, Barcodes, Dependencies bool
	Overrides                        TaskChange
	Geofence                         Geofence
}

// Check rejects times in the past.
func (o CloneOptions) Check(now time.Time) error {
	past := func(field string, at *time.Time) error {
		if at != nil && !at.IsZero() && !at.After(now) {
			return Invalid("%s must be in the future", field)
		}
		return nil
	}
	return FirstError(past("completeAfter", o.Overrides.CompleteAfter), past("completeBefore", o.Overrides.CompleteBefore))
}

// Clone returns a new, unassigned copy of the task with another destination. Times in the
// past are dropped.
func (t *Task) Clone(id Identity, to Destination, o CloneOptions, now time.Time) (Task, []Event, error) {
	base := TaskChange{
		Merchant: &t.Merchant, Executor: &t.Executor, Pickup: &t.Pickup, Notes: &t.Notes,
		Quantity: &t.Quantity, AdditionalQuantities: &t.AdditionalQuantities, ServiceTime: t.ServiceTime,
		Priority: &t.Priority, Group: &t.Group, Overrides: t.Overrides.change(), Requirements: &t.Requirements,
		ScanOnlyRequiredBarcodes: &t.ScanOnlyRequiredBarcodes, TriangleColor: &t.TriangleColor,
		CustomFields: &t.CustomFields, Destination: &to, Recipients: &[]Recipient{},
	}
	if t.Recipient != nil {
		base.Recipients = &[]Recipient{*t.Recipient}
	}
	if t.CompleteAfter.After(now) {
		base.CompleteAfter = &t.CompleteAfter
	}
	if t.CompleteBefore.After(now) {
		base.CompleteBefore = &t.CompleteBefore
	}
	if o.Metadata {
		base.Metadata = MetadataChange{Replace: t.Metadata, Replaced: true}
	}
	if o.Barcodes {
		base.Barcodes = &t.Barcodes.Required
	}
	if o.Dependencies {
		base.Dependencies = &t.Dependencies
	}
	clone, err := NewTask(id, t.Organization, base, now)
	if err != nil {
		return clone, nil, err
	}
	clone.SourceTask, clone.Origin, clone.Modified = t.ID, t.Origin, time.Time{}
	clone.ApplyGeofence(o.Geofence)
	if _, err := clone.apply(o.Overrides, id.NewID, now); err != nil {
		return clone, nil, err
	}
	return clone, []Event{clone.event(TriggerTaskCloned, id.Creator, now)}, nil
}

// CheckCycle rejects dependencies that lead back to the task. parents returns the dependencies
// of any task.
func (t *Task) CheckCycle(parents func(TaskID) ([]TaskID, error)) error {
	seen := map[TaskID]bool{}
	next := slices.Clone(t.Dependencies)
	for len(next) > 0 {
		id := next[0]
		next = next[1:]
		if id == t.ID {
			return Invalid("dependencies must not form a cycle")
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		further, err := parents(id)
		if err != nil {
			return err
		}
		next = append(next, further...)
	}
	return nil
}
