package taskflow

import (
	"context"
	"time"

	"dray/internal/assignment"
	"dray/internal/customfield"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Create creates a task, and finds a worker for it unless assign is nil.
func (f *Flow) Create(ctx context.Context, who lastmile.Principal, d lastmile.TaskDraft, assign *assignment.Options) (lastmile.CreatedTask, error) {
	if err := checkAssign(d, assign); err != nil {
		return lastmile.CreatedTask{}, err
	}
	ready, err := f.prepare(ctx, who, d)
	if err != nil {
		return lastmile.CreatedTask{}, err
	}
	now := f.Now()
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (lastmile.CreatedTask, error) {
		return f.create(ctx, w, who, ready, assign, now)
	})
}

// checkAssign rejects options for the assignment of a new task that make no
// sense.
func checkAssign(d lastmile.TaskDraft, assign *assignment.Options) error {
	switch {
	case assign == nil:
		return nil
	case d.Container != nil:
		return lastmile.Invalid("autoAssign cannot be combined with container")
	}
	return assign.Check("autoAssign")
}

// create creates a prepared task in a transaction, and finds a worker for it
// unless assign is nil.
func (f *Flow) create(ctx context.Context, w Writer, who lastmile.Principal, p prepared, assign *assignment.Options, now time.Time) (lastmile.CreatedTask, error) {
	made := lastmile.CreatedTask{}
	task, err := f.newTask(ctx, w, who, p, now)
	if err != nil {
		return made, err
	}
	in := p.draft.Container
	if assign != nil {
		chosen, err := f.assignNew(ctx, w, who, task, *assign, now)
		if err != nil {
			return made, err
		}
		if chosen != "" {
			ref := lastmile.WorkerContainer(chosen)
			in, made.DidAutoAssign = &ref, true
		}
	}
	if err := putNew(ctx, w, who, &task, in, now); err != nil {
		return made, err
	}
	events := task.CreationEvents(who.Actor())
	if err := f.saveNew(ctx, w, task, now); err != nil {
		return made, err
	}
	made.Task = task
	return made, f.Events.Append(ctx, w, events...)
}

// createInBatch creates a prepared task of a batch and returns its events, which
// the caller appends.
func (f *Flow) createInBatch(ctx context.Context, w creationStore, who lastmile.Principal, p prepared, now time.Time) (lastmile.Task, []lastmile.Event, error) {
	task, err := f.newTask(ctx, w, who, p, now)
	if err != nil {
		return task, nil, err
	}
	if err := putNew(ctx, w, who, &task, p.draft.Container, now); err != nil {
		return task, nil, err
	}
	events := task.BatchCreationEvents(who.Actor())
	return task, events, f.saveNew(ctx, w, task, now)
}

// creationStore has the methods of a transaction that the creation of a task needs.
// A batch buffers writes behind it: a method added here must take the buffer of
// bulkWriter into account.
type creationStore interface {
	store.RecipientStore
	containerReader
	containerLocker
	Destination(ctx context.Context, org lastmile.OrganizationID, id lastmile.DestinationID) (lastmile.Destination, error)
	SaveDestination(ctx context.Context, d lastmile.Destination) error
	Recipient(ctx context.Context, org lastmile.OrganizationID, id lastmile.RecipientID) (lastmile.Recipient, error)
	CustomFields(ctx context.Context, org lastmile.OrganizationID) (customfield.Fields, error)
	Template(ctx context.Context, org lastmile.OrganizationID, id lastmile.TemplateID) (customfield.Template, error)
	TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error)
	SaveTask(ctx context.Context, t lastmile.Task) error
	Enqueue(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, index int, tasks []lastmile.TaskID, now time.Time) error
}

// newTask makes a task of a prepared draft, in the organization's container. It
// saves the draft's destination and recipient, but not the task.
func (f *Flow) newTask(ctx context.Context, w creationStore, who lastmile.Principal, p prepared, now time.Time) (lastmile.Task, error) {
	change, err := p.change(ctx, w, who.Organization)
	if err != nil {
		return lastmile.Task{}, err
	}
	task, err := lastmile.NewTask(f.identity(who), who.Organization, change, now)
	if err != nil {
		return lastmile.Task{}, err
	}
	return task, checkDependencies(ctx, w, task)
}

// putNew puts a new task into the container that the draft names, if any. This is
// not a move, so it causes no event.
func putNew(ctx context.Context, r containerReader, who lastmile.Principal, task *lastmile.Task, in *lastmile.ContainerRef, now time.Time) error {
	if in == nil || *in == task.Container {
		return nil
	}
	if err := checkContainer(ctx, r, who.Organization, *in); err != nil {
		return err
	}
	task.History = nil
	if _, err := task.Put(*in, who.Actor(), now); err != nil {
		return err
	}
	task.Modified, task.Events = now, 0
	return nil
}

// saveNew saves a new task at the end of its container. The organization's
// container needs no lock, so that tasks can be created concurrently.
func (f *Flow) saveNew(ctx context.Context, w creationStore, task lastmile.Task, now time.Time) error {
	if task.Container.Kind == lastmile.InOrganization {
		return w.SaveTask(ctx, task)
	}
	if err := f.lock(ctx, w, task.Organization, task.Container, now); err != nil {
		return err
	}
	if err := w.SaveTask(ctx, task); err != nil {
		return err
	}
	return w.Enqueue(ctx, task.Organization, task.Container, lastmile.AtEnd, []lastmile.TaskID{task.ID}, now)
}

// assignNew finds a worker for a task that is not saved yet, and gives the related
// tasks to that worker. It returns "" if no worker is suitable.
func (f *Flow) assignNew(ctx context.Context, w Writer, who lastmile.Principal, task lastmile.Task, o assignment.Options, now time.Time) (lastmile.WorkerID, error) {
	crew, err := candidates(ctx, w, who.Organization, o)
	if err != nil {
		return "", err
	}
	var family []lastmile.Task
	if o.ConsiderDependencies {
		if family, err = relatedTasks(ctx, w, who.Organization, task.Dependencies); err != nil {
			return "", err
		}
	}
	chosen, err := f.choose(ctx, w, task, family, crew, o, now)
	if err != nil || chosen == "" {
		return "", err
	}
	return chosen, f.transfer(ctx, w, who, lastmile.WorkerContainer(chosen), lastmile.AtEnd, idsOf(family))
}

// Clone creates a copy of a task, with overrides.
func (f *Flow) Clone(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, options lastmile.CloneOptions, overrides lastmile.TaskDraft) (lastmile.Task, error) {
	now := f.Now()
	options.Overrides = overrides.Change
	if err := options.Check(now); err != nil {
		return lastmile.Task{}, err
	}
	ready, err := f.prepare(ctx, who, overrides)
	if err != nil {
		return lastmile.Task{}, err
	}
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (lastmile.Task, error) {
		source, err := w.Task(ctx, who.Organization, id)
		if err != nil {
			return lastmile.Task{}, err
		}
		ready.of, ready.clones = &source, true
		if options.Overrides, err = ready.change(ctx, w, who.Organization); err != nil {
			return lastmile.Task{}, err
		}
		destination := source.Destination
		if options.Overrides.Destination == nil {
			destination.ID, destination.Created, destination.Modified = lastmile.DestinationID(f.NewID()), now, now
			if err := w.SaveDestination(ctx, destination); err != nil {
				return lastmile.Task{}, err
			}
		}
		clone, events, err := source.Clone(f.identity(who), destination, options, now)
		if err != nil {
			return clone, err
		}
		if err := checkDependencies(ctx, w, clone); err != nil {
			return clone, err
		}
		if err := w.SaveTask(ctx, clone); err != nil {
			return clone, err
		}
		return clone, f.Events.Append(ctx, w, events...)
	})
}
