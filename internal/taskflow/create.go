package taskflow

import (
	"context"
	"errors"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Create creates a task, and finds a worker for it unless assign is nil. The workers are read
// before the transaction. If their lists change meanwhile, it tries again, and in the end it
// reads them in the transaction.
func (ts *Tasks) Create(ctx context.Context, who lastmile.Principal, d lastmile.TaskDraft, assign *assignment.Options) (lastmile.CreatedTask, error) {
	if err := checkAssign(who, d, assign); err != nil {
		return lastmile.CreatedTask{}, err
	}
	ready, err := ts.prepareNew(ctx, who, d)
	if err != nil {
		return lastmile.CreatedTask{}, err
	}
	now := ts.Now()
	if assign == nil {
		return store.Idempotent(ctx, ts.Store, who, func(w TaskWriter) (lastmile.CreatedTask, error) {
			return ts.create(ctx, w, who, ready, nil, now)
		})
	}
	for range planTries {
		var known *crew
		err := ts.Store.Read(ctx, func(r TaskReader) (err error) {
			known, err = readCrew(ctx, r, who, *assign)
			return err
		})
		if err != nil {
			return lastmile.CreatedTask{}, err
		}
		made, err := store.Idempotent(ctx, ts.Store, who, func(w TaskWriter) (lastmile.CreatedTask, error) {
			return ts.create(ctx, w, who, ready, &assigner{*assign, known}, now)
		})
		if !errors.Is(err, errListChanged) {
			return made, err
		}
	}
	return store.Idempotent(ctx, ts.Store, who, func(w TaskWriter) (lastmile.CreatedTask, error) {
		known, err := readCrew(ctx, w, who, *assign)
		if err != nil {
			return lastmile.CreatedTask{}, err
		}
		return ts.create(ctx, w, who, ready, &assigner{*assign, known}, now)
	})
}

// assigner has the options and the workers to choose from for a new task.
type assigner struct {
	assignment.Options
	crew *crew
}

// checkAssign rejects options for the assignment of a new task that make no
// sense.
func checkAssign(who lastmile.Principal, d lastmile.TaskDraft, assign *assignment.Options) error {
	switch {
	case assign == nil:
		return nil
	case d.Change.Executor != nil && *d.Change.Executor != who.Organization:
		return lastmile.Invalid("autoAssign cannot be combined with another executor, which assigns the task itself")
	case d.Container != nil:
		return lastmile.Invalid("autoAssign cannot be combined with container")
	}
	return assign.Check("autoAssign")
}

// create creates a prepared task in a transaction, and finds a worker for it
// unless assign is nil.
func (ts *Tasks) create(ctx context.Context, w TaskWriter, who lastmile.Principal, p prepared, assign *assigner, now time.Time) (lastmile.CreatedTask, error) {
	made := lastmile.CreatedTask{}
	if p.home(who.Organization) == who.Organization {
		w.ExpectTask(who.Organization)
	}
	task, err := ts.newTask(ctx, w, who, p, now)
	if err != nil {
		return made, err
	}
	in := p.draft.Container
	if assign != nil {
		chosen, err := ts.assignNew(ctx, w, who, task, *assign, now)
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
	events := task.CreationEvents(inside(who, task.Organization).Actor())
	if err := ts.saveNew(ctx, w, task, now); err != nil {
		return made, err
	}
	made.Task = task
	return made, ts.Events.Append(ctx, w, events...)
}

// createInBatch creates a prepared task of a batch and returns its events, which
// the caller appends.
func (c *Creator) createInBatch(ctx context.Context, w creationWriter, who lastmile.Principal, p prepared, now time.Time) (lastmile.Task, []lastmile.Event, error) {
	task, err := c.newTask(ctx, w, who, p, now)
	if err != nil {
		return task, nil, err
	}
	if err := putNew(ctx, w, who, &task, p.draft.Container, now); err != nil {
		return task, nil, err
	}
	events := task.BatchCreationEvents(inside(who, task.Organization).Actor())
	return task, events, c.saveNew(ctx, w, task, now)
}

// newTask makes a task from a prepared draft, in the container of its executor. It saves
// the draft's destination and recipient, but not the task.
func (c *Creator) newTask(ctx context.Context, w creationWriter, who lastmile.Principal, p prepared, now time.Time) (lastmile.Task, error) {
	change, err := p.change(ctx, w, who)
	if err != nil {
		return lastmile.Task{}, err
	}
	home := p.home(who.Organization)
	if err := placeWith(ctx, w, who.Organization, home, &change); err != nil {
		return lastmile.Task{}, err
	}
	task, err := lastmile.NewTask(c.identity(inside(who, home)), home, change, now)
	if err != nil {
		return lastmile.Task{}, err
	}
	task.OrderShortID = p.order
	if home != who.Organization {
		task.Origin = who.Organization
	}
	settings, err := w.Settings(ctx, home)
	if err != nil {
		return lastmile.Task{}, err
	}
	task.ApplyGeofence(settings.Geofence)
	lastmile.Set(&task.ImportKey, p.draft.ImportKey)
	return task, checkDependencies(ctx, w, who.Organization, task)
}

// putNew puts a new task into the container that the draft names, if any. This is
// not a move, so it causes no event.
func putNew(ctx context.Context, r ownerChecker, who lastmile.Principal, task *lastmile.Task, in *lastmile.ContainerRef, now time.Time) error {
	if in == nil || *in == task.Container {
		return nil
	}
	if task.Origin != "" {
		return checkPlaced(ctx, r, who, *task, *in)
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
func (c *Creator) saveNew(ctx context.Context, w creationWriter, task lastmile.Task, now time.Time) error {
	if task.Container.Kind != lastmile.InOrganization {
		if err := c.lock(ctx, w, task.Organization, task.Container, now); err != nil {
			return err
		}
	}
	return rejectUsed(w.AddTask(ctx, task), task)
}

// assignNew finds a worker for a task that is not saved yet, and gives the related
// tasks to that worker. It returns "" if no worker is suitable, and errListChanged
// if the list of the best one has changed since the crew was read.
func (ts *Tasks) assignNew(ctx context.Context, w TaskWriter, who lastmile.Principal, task lastmile.Task, o assigner, now time.Time) (chosen lastmile.WorkerID, err error) {
	var family []lastmile.Task
	if o.ConsiderDependencies {
		if family, err = relatedTasks(ctx, w, who, task.Dependencies); err != nil {
			return "", err
		}
	}
	why := ts.pick(ctx, task, family, o.crew, o.Options, now)
	if _, err := checkCrew(ctx, w, who.Organization, []choice{{why: why}}, o.crew); err != nil {
		return "", err
	}
	if err := w.SaveExplanation(ctx, who.Organization, why); err != nil || why.Chosen == "" {
		return "", err
	}
	return why.Chosen, ts.transfer(ctx, w, who, lastmile.WorkerContainer(why.Chosen), store.Position{}, idsOf(family))
}

// Clone creates a copy of a task, with overrides.
func (ts *Tasks) Clone(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, options lastmile.CloneOptions, overrides lastmile.TaskDraft) (lastmile.Task, error) {
	now := ts.Now()
	options.Overrides = overrides.Change
	if err := options.Check(now); err != nil {
		return lastmile.Task{}, err
	}
	source, err := ts.Task(ctx, who, id)
	if err != nil {
		return lastmile.Task{}, err
	}
	if err := ts.checkRoom(ctx, who.Organization, source.Organization, 0); err != nil {
		return lastmile.Task{}, err
	}
	ready, err := ts.prepare(ctx, who, overrides)
	if err != nil {
		return lastmile.Task{}, err
	}
	return store.Idempotent(ctx, ts.Store, who, func(w TaskWriter) (lastmile.Task, error) {
		source, err := w.VisibleTask(ctx, who.Organization, id)
		if err != nil {
			return lastmile.Task{}, err
		}
		home := source.Organization
		copied := lastmile.TaskChange{Executor: &home}
		if overrides.Change.Merchant == nil {
			copied.Merchant = &source.Merchant
		}
		if err := checkConnections(ctx, w, who.Organization, copied); err != nil {
			return lastmile.Task{}, err
		}
		if overrides.Recipients != nil {
			source.Recipient = nil
		}
		if home == who.Organization && source.Origin != "" {
			if err := ts.adopt(ctx, w, &source); err != nil {
				return lastmile.Task{}, err
			}
		}
		ready.of, ready.clones = &source, true
		if options.Overrides, err = ready.change(ctx, w, who); err != nil {
			return lastmile.Task{}, err
		}
		destination := source.Destination
		if options.Overrides.Destination == nil {
			destination.ID, destination.Created, destination.Modified = lastmile.DestinationID(ts.NewID()), now, now
			destination.Organization = who.Organization
			if err := w.SaveDestination(ctx, destination); err != nil {
				return lastmile.Task{}, err
			}
			options.Overrides.Destination = &destination
		}
		if err := shareDestination(ctx, w, home, options.Overrides.Destination); err != nil {
			return lastmile.Task{}, err
		}
		settings, err := w.Settings(ctx, home)
		if err != nil {
			return lastmile.Task{}, err
		}
		options.Geofence = settings.Geofence
		clone, events, err := source.Clone(ts.identity(inside(who, home)), destination, options, now)
		if err != nil {
			return clone, err
		}
		if err := checkDependencies(ctx, w, who.Organization, clone); err != nil {
			return clone, err
		}
		if err := w.AddTask(ctx, clone); err != nil {
			return clone, err
		}
		return clone, ts.Events.Append(ctx, w, events...)
	})
}
