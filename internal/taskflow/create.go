package taskflow

import (
	"context"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Create makes a task.
func (f *Flow) Create(ctx context.Context, who lastmile.Principal, d Draft) (lastmile.CreatedTask, error) {
	ready, err := f.prepare(ctx, who, d)
	if err != nil {
		return lastmile.CreatedTask{}, err
	}
	now := f.Now()
	return store.Idempotent(ctx, f.Store, who, func(w store.Writer) (lastmile.CreatedTask, error) {
		return f.create(ctx, w, who, ready, now, true)
	})
}

// create makes a prepared task inside a transaction. loud says whether its
// creation is told: that of tasks of batches is not.
func (f *Flow) create(ctx context.Context, w store.Writer, who lastmile.Principal, p prepared, now time.Time, loud bool) (lastmile.CreatedTask, error) {
	change, err := p.change(ctx, w, who.Organization)
	if err != nil {
		return lastmile.CreatedTask{}, err
	}
	task, err := lastmile.NewTask(f.identity(who), who.Organization, change, now)
	if err != nil {
		return lastmile.CreatedTask{}, err
	}
	if err := checkDependencies(ctx, w, task); err != nil {
		return lastmile.CreatedTask{}, err
	}
	made := lastmile.CreatedTask{}
	in := p.draft.Container
	if options := p.draft.AutoAssign; options != nil {
		chosen, err := f.assignNew(ctx, w, who, task, *options, now)
		if err != nil {
			return made, err
		}
		if chosen != "" {
			ref := lastmile.WorkerContainer(chosen)
			in, made.DidAutoAssign = &ref, true
		}
	}
	if in != nil && *in != task.Container {
		if err := checkContainer(ctx, w, who.Organization, *in); err != nil {
			return made, err
		}
		// A new task has been nowhere else: that it moves is no event.
		task.History = nil
		if _, err := task.Put(*in, who.Actor(), now); err != nil {
			return made, err
		}
		task.Modified, task.Events = now, 0
	}
	tell := task.CreateQuietly
	if loud {
		tell = task.Create
	}
	events := tell(who.Actor())
	if err := saveNew(ctx, w, task, now); err != nil {
		return made, err
	}
	made.Task = task
	return made, f.tell(ctx, w, events)
}

// saveNew saves a new task at the end of its container. In the organization's
// it is there without a lock, so that tasks are created side by side.
func saveNew(ctx context.Context, w store.Writer, task lastmile.Task, now time.Time) error {
	if task.Container.Kind == lastmile.InOrganization {
		return w.SaveTask(ctx, task)
	}
	if err := w.LockContainer(ctx, task.Organization, task.Container, now); err != nil {
		return err
	}
	if err := w.SaveTask(ctx, task); err != nil {
		return err
	}
	return w.Enqueue(ctx, task.Organization, task.Container, lastmile.AtEnd, []lastmile.TaskID{task.ID}, now)
}

// assignNew finds a worker for a task in the making, who also gets the tasks
// it goes together with. It returns "" when nobody fits.
func (f *Flow) assignNew(ctx context.Context, w store.Writer, who lastmile.Principal, task lastmile.Task, o assignment.Options, now time.Time) (lastmile.WorkerID, error) {
	crew, err := candidates(ctx, w, who.Organization, o)
	if err != nil {
		return "", err
	}
	var family []lastmile.Task
	if o.ConsiderDependencies {
		if family, err = kin(ctx, w, who.Organization, task.Dependencies); err != nil {
			return "", err
		}
	}
	chosen, err := f.choose(ctx, w, task, family, crew, o, now)
	if err != nil || chosen == "" {
		return "", err
	}
	return chosen, f.transfer(ctx, w, who, lastmile.WorkerContainer(chosen), lastmile.AtEnd, idsOf(family))
}

// Clone makes a new task like an existing one.
func (f *Flow) Clone(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, options lastmile.CloneOptions, overrides Draft) (lastmile.Task, error) {
	now := f.Now()
	options.Overrides = overrides.Change
	if err := options.Check(now); err != nil {
		return lastmile.Task{}, err
	}
	ready, err := f.prepare(ctx, who, overrides)
	if err != nil {
		return lastmile.Task{}, err
	}
	return store.Idempotent(ctx, f.Store, who, func(w store.Writer) (lastmile.Task, error) {
		source, err := w.Task(ctx, who.Organization, id)
		if err != nil {
			return lastmile.Task{}, err
		}
		ready.of, ready.clones = &source, true
		if options.Overrides, err = ready.change(ctx, w, who.Organization); err != nil {
			return lastmile.Task{}, err
		}
		place := source.Destination
		if options.Overrides.Destination == nil {
			place.ID, place.Created, place.Modified = lastmile.DestinationID(f.NewID()), now, now
			if err := w.SaveDestination(ctx, place); err != nil {
				return lastmile.Task{}, err
			}
		}
		clone, events, err := source.Clone(f.identity(who), place, options, now)
		if err != nil {
			return clone, err
		}
		if err := checkDependencies(ctx, w, clone); err != nil {
			return clone, err
		}
		if err := w.SaveTask(ctx, clone); err != nil {
			return clone, err
		}
		return clone, f.tell(ctx, w, events)
	})
}
