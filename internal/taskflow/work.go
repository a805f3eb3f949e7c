package taskflow

import (
	"context"
	"errors"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// The verbs of a worker's work.
const (
	verbClaim    = "claim"
	verbStart    = "start"
	verbArrive   = "arrive"
	verbDepart   = "depart"
	verbComplete = "complete"
)

// WorkList is what a worker has to do, as the phone shows it.
type WorkList struct {
	Version    int64
	ActiveTask lastmile.TaskID
	Tasks      []lastmile.Task // the active one first
}

// Work lists what a worker has to do.
func (f *Flow) Work(ctx context.Context, who lastmile.Principal) (list WorkList, err error) {
	err = f.Store.Read(ctx, func(r store.Reader) error {
		c, err := r.Container(ctx, who.Organization, lastmile.WorkerContainer(who.Worker))
		if err != nil {
			return err
		}
		ids := c.Tasks
		if c.ActiveTask != "" {
			ids = append([]lastmile.TaskID{c.ActiveTask}, ids...)
		}
		list.Version, list.ActiveTask = c.Version, c.ActiveTask
		list.Tasks, err = r.TasksOf(ctx, who.Organization, ids)
		return err
	})
	return list, err
}

// Available lists the tasks that a worker may claim, team by team.
func (f *Flow) Available(ctx context.Context, who lastmile.Principal) (tasks []lastmile.Task, err error) {
	err = f.Store.Read(ctx, func(r store.Reader) error {
		tasks = nil
		worker, err := r.Worker(ctx, who.Organization, who.Worker)
		if err != nil {
			return err
		}
		for _, id := range worker.Teams {
			team, err := r.Team(ctx, who.Organization, id)
			if err != nil {
				return err
			}
			if !team.EnableSelfAssignment {
				continue
			}
			c, err := r.Container(ctx, who.Organization, lastmile.TeamContainer(id))
			if err != nil {
				return err
			}
			waiting, err := r.TasksOf(ctx, who.Organization, c.Tasks)
			if err != nil {
				return err
			}
			for _, task := range waiting {
				if team.CheckClaim(&task, who.Worker) == nil {
					tasks = append(tasks, task)
				}
			}
		}
		return nil
	})
	return tasks, err
}

// act does something a worker reports, once: the same action sent again changes
// nothing and answers with the task as it is.
func (f *Flow) act(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, verb string, a lastmile.Action,
	do func(store.Writer, *lastmile.Task, lastmile.Action) ([]lastmile.Event, error),
) (task lastmile.Task, err error) {
	now := f.Now()
	a, err = a.Settle(now)
	if err != nil {
		return task, err
	}
	var refused error
	record := store.Action{Organization: who.Organization, Worker: who.Worker, ID: a.ID, Task: id, Verb: verb, At: a.At, Received: now}
	err = f.Store.Write(ctx, func(w store.Writer) (err error) {
		refused = nil
		if task, err = w.Task(ctx, who.Organization, id); err != nil {
			return err
		}
		before, done, err := w.ActionDone(ctx, record)
		if err != nil {
			return err
		}
		if done {
			return repeated(record, before)
		}
		list := task.Container
		events, err := do(w, &task, a)
		if noted, ok := errors.AsType[*notedError](err); ok {
			refused = noted.refusal
			if err := w.SaveTask(ctx, task); err != nil {
				return err
			}
			return f.tell(ctx, w, []lastmile.Event{noted.event})
		}
		if err != nil {
			return err
		}
		if err := saveActed(ctx, w, task, list, now); err != nil {
			return err
		}
		if err := w.SaveAction(ctx, record); err != nil {
			return err
		}
		if err := f.tell(ctx, w, events); err != nil {
			return err
		}
		return f.planProgress(ctx, w, task, a.At)
	})
	if err == nil {
		err = refused
	}
	return task, err
}

// repeated refuses an action that has the id of another one: a phone that gave
// an id twice must not believe that both were done.
func repeated(a, before store.Action) error {
	if a.Task == before.Task && a.Verb == before.Verb {
		return nil
	}
	return lastmile.Invalid("actionId %q is that of another action, %s of task %s: make a new one for each", a.ID, before.Verb, before.Task)
}

// notedError is a refusal that the task remembers.
type notedError struct {
	refusal error
	event   lastmile.Event
}

// Error implements error.
func (n *notedError) Error() string { return n.refusal.Error() }

// saveActed saves a task that its worker did something with, and raises the
// version of the lists it is or was in.
func saveActed(ctx context.Context, w store.Writer, task lastmile.Task, before lastmile.ContainerRef, now time.Time) error {
	if task.Container != before && task.State == lastmile.TaskAssigned {
		return saveMoved(ctx, w, task, before, now)
	}
	if err := w.LockContainer(ctx, task.Organization, before, now); err != nil {
		return err
	}
	return w.SaveTask(ctx, task)
}

// Claim lets a worker take a task of her team by herself.
func (f *Flow) Claim(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action) (lastmile.Task, error) {
	return f.act(ctx, who, id, verbClaim, a, func(w store.Writer, task *lastmile.Task, a lastmile.Action) ([]lastmile.Event, error) {
		if task.Container.Kind != lastmile.InTeam {
			return nil, taken(ctx, w, task, who)
		}
		team, err := w.Team(ctx, who.Organization, lastmile.TeamID(task.Container.Owner))
		if err != nil {
			return nil, err
		}
		if err := team.CheckClaim(task, who.Worker); err != nil {
			return nil, err
		}
		return task.Put(lastmile.WorkerContainer(who.Worker), who.Actor(), a.At)
	})
}

// taken refuses a task that waits in no team: with a reason, when a colleague
// has it. To have it oneself is no error.
func taken(ctx context.Context, r store.Reader, task *lastmile.Task, who lastmile.Principal) error {
	switch task.Worker {
	case who.Worker:
		return nil
	case "":
		return lastmile.OutsideScope(string(task.ID))
	}
	worker, err := r.Worker(ctx, who.Organization, who.Worker)
	if err != nil {
		return err
	}
	colleague, err := r.Worker(ctx, who.Organization, task.Worker)
	if err != nil && !lastmile.IsNotFound(err) {
		return err
	}
	for _, team := range colleague.Teams {
		if slices.Contains(worker.Teams, team) {
			return lastmile.Taken(task.ID)
		}
	}
	return lastmile.OutsideScope(string(task.ID))
}

// Start makes a task the one the worker is doing.
func (f *Flow) Start(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action) (lastmile.Task, error) {
	return f.act(ctx, who, id, verbStart, a, func(w store.Writer, task *lastmile.Task, a lastmile.Action) ([]lastmile.Event, error) {
		if err := task.CheckWorker(who.Worker); err != nil {
			return nil, err
		}
		worker, err := w.Worker(ctx, who.Organization, who.Worker)
		if err != nil {
			return nil, err
		}
		if err := worker.CheckStart(task); err != nil {
			return nil, err
		}
		unfinished, err := w.Unfinished(ctx, who.Organization, task.Dependencies)
		if err != nil {
			return nil, err
		}
		events, err := task.Start(unfinished, who.Actor(), a.At)
		if task.Completion.FirstLocation == nil {
			task.Completion.FirstLocation = a.Location
		}
		return events, err
	})
}

// Arrive notes that the worker is at the place of the active task.
func (f *Flow) Arrive(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action) (lastmile.Task, error) {
	return f.visit(ctx, who, id, verbArrive, "arrival", a)
}

// Depart notes that the worker has left the place of the active task.
func (f *Flow) Depart(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action) (lastmile.Task, error) {
	return f.visit(ctx, who, id, verbDepart, "departure", a)
}

func (f *Flow) visit(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, verb, name string, a lastmile.Action) (lastmile.Task, error) {
	return f.act(ctx, who, id, verb, a, func(w store.Writer, task *lastmile.Task, a lastmile.Action) ([]lastmile.Event, error) {
		if err := task.CheckWorker(who.Worker); err != nil {
			return nil, err
		}
		if err := f.reached(ctx, w, task); err != nil {
			return nil, err
		}
		return task.Visit(name, a, who.Actor())
	})
}

// Finish ends the active task as its worker reports it.
func (f *Flow) Finish(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action, o lastmile.Outcome, e lastmile.Evidence) (lastmile.Task, error) {
	return f.act(ctx, who, id, verbComplete, a, func(w store.Writer, task *lastmile.Task, a lastmile.Action) ([]lastmile.Event, error) {
		if err := task.CheckWorker(who.Worker); err != nil {
			return nil, err
		}
		if err := fence(ctx, w, task, a, who); err != nil {
			return nil, err
		}
		if err := f.reached(ctx, w, task); err != nil {
			return nil, err
		}
		o.At = a.At
		events, err := task.Finish(o, e, a, who.Actor())
		if err != nil {
			return nil, err
		}
		if err := handIn(ctx, w, who, id, e.Uploads()); err != nil {
			return nil, err
		}
		return events, learn(ctx, w, *task, who)
	})
}

// reached tells whoever asked that a worker says to be at a task, or done.
func (f *Flow) reached(ctx context.Context, w store.Writer, task *lastmile.Task) error {
	if f.Reached == nil {
		return nil
	}
	return f.Reached(ctx, w, task, f.Now())
}

// fence holds where the worker is against the organization's geofence.
func fence(ctx context.Context, r store.Reader, task *lastmile.Task, a lastmile.Action, who lastmile.Principal) error {
	settings, err := r.Settings(ctx, who.Organization)
	if err != nil || settings.Geofence.Level == lastmile.GeofenceOff {
		return err
	}
	seen, err := r.Whereabouts(ctx, who.Organization, who.Worker)
	if err != nil {
		return err
	}
	noted := len(task.GeofenceAttempts)
	refusal := task.Fence(settings.Geofence, a.From(seen))
	if refusal != nil && len(task.GeofenceAttempts) > noted {
		return &notedError{refusal, task.Fenced(who.Actor(), a.At)}
	}
	return refusal
}

// handIn gives the images that a worker sent before to the task.
func handIn(ctx context.Context, w store.Writer, who lastmile.Principal, task lastmile.TaskID, ids []lastmile.UploadID) error {
	for _, id := range ids {
		upload, err := w.Upload(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		if err := upload.HandIn(who.Worker, task); err != nil {
			return err
		}
		if err := w.SaveUpload(ctx, upload); err != nil {
			return err
		}
	}
	return nil
}

// learn keeps how long the way to a task took, so that estimates get better.
func learn(ctx context.Context, w store.Writer, task lastmile.Task, who lastmile.Principal) error {
	worker, err := w.Worker(ctx, who.Organization, who.Worker)
	if err != nil {
		return err
	}
	by := lastmile.OnFoot
	if worker.Vehicle != nil {
		by = worker.Vehicle.Type
	}
	trip, ok := travel.TripOf(&task, by)
	if !ok {
		return nil
	}
	return w.SaveTrip(ctx, who.Organization, task.ID, task.Completion.At, trip)
}
