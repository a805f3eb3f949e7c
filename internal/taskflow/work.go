package taskflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
	"dray/internal/travel"
)

// The verbs of workers' actions, as they are stored.
const (
	verbClaim    = "claim"
	verbStart    = "start"
	verbArrive   = "arrive"
	verbDepart   = "depart"
	verbComplete = "complete"
)

// Work shows workers their tasks, and performs their actions.
type Work struct {
	Base
	Store    WorkStore
	Arrivals Arrivals
	Hub      *events.Hub
	NewID    func() string

	outlines rate.Turns // one outline for each organization at a time
}

// Arrivals estimates when workers arrive at active tasks, and checks the
// thresholds that they have reached.
type Arrivals interface {
	// Started is called in the transaction in which a worker starts a task. It
	// returns the estimates of the task as the active one.
	Started(ctx context.Context, tx store.Transaction, worker lastmile.Worker, task lastmile.Task, a lastmile.Action, now time.Time) (lastmile.Estimates, error)
	// Reached is called in the transaction of the worker's report, before the
	// task is changed by it. It may change the task.
	Reached(ctx context.Context, tx store.Transaction, task *lastmile.Task, report lastmile.CompletionEvent, now time.Time) error
	Tracks
}

// Tracks evaluates the recorded positions of workers.
type Tracks interface {
	// LocationAt returns where the worker of a task was at a time; nil if it is
	// unknown.
	LocationAt(ctx context.Context, tx store.Transaction, task *lastmile.Task, at time.Time) (*lastmile.Point, error)
	// Way returns how far the worker of a task went from its start to a time.
	Way(ctx context.Context, tx store.Transaction, task *lastmile.Task, end time.Time) (lastmile.Meters, error)
}

// WorkList is the task list of a worker.
type WorkList struct {
	Version    int64
	ActiveTask lastmile.TaskID
	Tasks      []lastmile.Task // the active one first
	Claimable  string          // different after every change of the tasks to claim; set by Following.List only
}

// List returns the task list of a worker.
func (wk *Work) List(ctx context.Context, who lastmile.Principal) (list WorkList, err error) {
	err = wk.Store.Read(ctx, func(r WorkReader) error {
		c, err := r.Container(ctx, who.Organization, lastmile.WorkerContainer(who.Worker))
		if err != nil {
			return err
		}
		list.Version, list.ActiveTask = c.Version, c.ActiveTask
		list.Tasks, err = r.TasksOf(ctx, who.Organization, c.Route())
		return err
	})
	return list, err
}

// Outline returns the task list of a worker with only the ids of the tasks, when they
// were modified, and their estimates. The outlines of an organization are read one at a
// time, so that a long list with many followers does not keep others waiting.
func (wk *Work) Outline(ctx context.Context, who lastmile.Principal) (list WorkList, err error) {
	end, err := wk.outlines.Take(ctx, string(who.Organization))
	if err != nil {
		return list, err
	}
	defer end()
	err = wk.Store.Read(ctx, func(r WorkReader) error {
		c, err := r.Container(ctx, who.Organization, lastmile.WorkerContainer(who.Worker))
		if err != nil {
			return err
		}
		list.Version, list.ActiveTask = c.Version, c.ActiveTask
		list.Tasks, err = r.TaskOutlines(ctx, who.Organization, c.Route())
		return err
	})
	return list, err
}

// MaxAvailable is the maximum number of tasks that Available returns.
const MaxAvailable = 500

// Available returns the tasks that a worker may claim, team by team, up to
// MaxAvailable.
func (wk *Work) Available(ctx context.Context, who lastmile.Principal) (tasks []lastmile.Task, err error) {
	err = wk.Store.Read(ctx, func(r WorkReader) error {
		tasks = nil
		teams, err := claimableTeams(ctx, r, who)
		if err != nil {
			return err
		}
		for _, team := range teams {
			ids, err := r.ListHead(ctx, who.Organization, lastmile.TeamContainer(team.ID), MaxAvailable)
			if err != nil {
				return err
			}
			waiting, err := r.TasksOf(ctx, who.Organization, ids[:min(len(ids), MaxAvailable-len(tasks))])
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

// claimableTeams returns the teams of a worker that let workers claim tasks.
func claimableTeams(ctx context.Context, r ownerReader, who lastmile.Principal) ([]lastmile.Team, error) {
	worker, err := r.Worker(ctx, who.Organization, who.Worker)
	if err != nil {
		return nil, err
	}
	var teams []lastmile.Team
	for _, id := range worker.Teams {
		team, err := r.Team(ctx, who.Organization, id)
		if err != nil {
			return nil, err
		}
		if team.EnableSelfAssignment {
			teams = append(teams, team)
		}
	}
	return teams, nil
}

// act performs an action of a worker once: the same action sent again changes
// nothing and returns the task as it is.
func (wk *Work) act(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, verb string, a lastmile.Action,
	do func(WorkWriter, *lastmile.Task, lastmile.Action) ([]lastmile.Event, error),
) (task lastmile.Task, err error) {
	now := wk.Now()
	a, err = a.Normalize(now)
	if err != nil {
		return task, err
	}
	var rejected error
	record := store.Action{Organization: who.Organization, Worker: who.Worker, ID: a.ID, Task: id, Verb: verb, At: a.At, Received: now}
	err = wk.Store.Write(ctx, func(w WorkWriter) (err error) {
		rejected = nil
		if task, err = w.Task(ctx, who.Organization, id); err != nil {
			return err
		}
		before, done, err := w.ActionDone(ctx, record)
		if err != nil {
			return err
		}
		if done {
			return checkRepeated(record, before)
		}
		list, located := task.Container, notBefore(a, task.Completion.Events)
		if a.Location == nil && task.Worker == who.Worker {
			if located.Location, err = wk.Arrivals.LocationAt(ctx, w, &task, located.At); err != nil {
				return err
			}
		}
		events, err := do(w, &task, located)
		if recorded, ok := errors.AsType[*recordedError](err); ok {
			rejected = recorded.rejection
			if err := w.SaveTask(ctx, task); err != nil {
				return err
			}
			return wk.Events.Append(ctx, w, recorded.event)
		}
		if err != nil {
			return err
		}
		if err := wk.saveActed(ctx, w, task, list, now); err != nil {
			return err
		}
		if err := w.SaveAction(ctx, record); err != nil {
			return err
		}
		if err := wk.Events.Append(ctx, w, events...); err != nil {
			return err
		}
		return wk.planProgress(ctx, w, task, located.At)
	})
	if err == nil {
		err = rejected
	}
	return task, err
}

// notBefore returns an action that is not before the last event of its task. A phone whose
// clock was set back reports earlier times, and its actions must not be lost.
func notBefore(a lastmile.Action, events []lastmile.CompletionEvent) lastmile.Action {
	if n := len(events); n > 0 && a.At.Before(events[n-1].At) {
		a.At = events[n-1].At
	}
	return a
}

// checkRepeated rejects an action that has the id of a different one: a phone that
// used an id twice must not conclude that both actions were done.
func checkRepeated(a, before store.Action) error {
	if a.Task == before.Task && a.Verb == before.Verb {
		return nil
	}
	return lastmile.Invalid("actionId %q is that of another action, %s of task %s: make a new one for each", a.ID, before.Verb, before.Task)
}

// recordedError is a rejection that is stored with the task.
type recordedError struct {
	rejection error
	event     lastmile.Event
}

// Error implements error.
func (n *recordedError) Error() string { return n.rejection.Error() }

// saveActed saves a task after an action of its worker, and increments the version
// of the lists that it is or was in.
func (wk *Work) saveActed(ctx context.Context, w WorkWriter, task lastmile.Task, before lastmile.ContainerRef, now time.Time) error {
	if task.Container != before && task.State == lastmile.TaskAssigned {
		return wk.saveMoved(ctx, w, task, before, now)
	}
	return wk.saveProgress(ctx, w, task, before, now)
}

// Claim assigns a task of a team to a worker of the team who asks for it.
func (wk *Work) Claim(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action) (lastmile.Task, error) {
	return wk.act(ctx, who, id, verbClaim, a, func(w WorkWriter, task *lastmile.Task, a lastmile.Action) ([]lastmile.Event, error) {
		if task.Container.Kind != lastmile.InTeam {
			return nil, claimRefusal(ctx, w, task, who)
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

// claimRefusal returns why a task that is in no team's container cannot be claimed.
// Only workers of the same team learn that the task is taken. Claiming a task one
// already has succeeds.
func claimRefusal(ctx context.Context, r ownerReader, task *lastmile.Task, who lastmile.Principal) error {
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
			return lastmile.AlreadyTaken(task.ID)
		}
	}
	return lastmile.OutsideScope(string(task.ID))
}

// Start makes a task the active task of its worker.
func (wk *Work) Start(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action) (lastmile.Task, error) {
	return wk.act(ctx, who, id, verbStart, a, func(w WorkWriter, task *lastmile.Task, a lastmile.Action) ([]lastmile.Event, error) {
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
		estimates, err := wk.Arrivals.Started(ctx, w, worker, *task, a, wk.Now())
		if err != nil {
			return nil, err
		}
		settings, err := w.Settings(ctx, who.Organization)
		if err != nil {
			return nil, err
		}
		task.ApplyGeofence(settings.Geofence)
		if task.Completion.FirstLocation == nil {
			task.Completion.FirstLocation = a.Location
		}
		return task.Start(unfinished, estimates, who.Actor(), a.At)
	})
}

// Arrive records that the worker is at the destination of the active task.
func (wk *Work) Arrive(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action) (lastmile.Task, error) {
	return wk.visit(ctx, who, id, verbArrive, "arrival", a)
}

// Depart records that the worker has left the destination of the active task.
func (wk *Work) Depart(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action) (lastmile.Task, error) {
	return wk.visit(ctx, who, id, verbDepart, "departure", a)
}

func (wk *Work) visit(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, verb, name string, a lastmile.Action) (lastmile.Task, error) {
	return wk.act(ctx, who, id, verb, a, func(w WorkWriter, task *lastmile.Task, a lastmile.Action) ([]lastmile.Event, error) {
		if err := task.CheckWorker(who.Worker); err != nil {
			return nil, err
		}
		report := lastmile.CompletionEvent{Name: name, At: a.At, Location: a.Location}
		if err := wk.Arrivals.Reached(ctx, w, task, report, wk.Now()); err != nil {
			return nil, err
		}
		return task.Visit(name, a, who.Actor())
	})
}

// Finish completes the active task of a worker.
func (wk *Work) Finish(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, a lastmile.Action, o lastmile.Outcome, e lastmile.Evidence) (lastmile.Task, error) {
	return wk.act(ctx, who, id, verbComplete, a, func(w WorkWriter, task *lastmile.Task, a lastmile.Action) ([]lastmile.Event, error) {
		if err := task.CheckWorker(who.Worker); err != nil {
			return nil, err
		}
		if err := checkGeofence(ctx, w, task, a, who); err != nil {
			return nil, err
		}
		report := lastmile.CompletionEvent{Name: verbComplete, At: a.At, Location: a.Location}
		if err := wk.Arrivals.Reached(ctx, w, task, report, wk.Now()); err != nil {
			return nil, err
		}
		var err error
		if task.Completion.Distance, err = wk.Arrivals.Way(ctx, w, task, a.At); err != nil {
			return nil, err
		}
		o.At = a.At
		events, err := task.Finish(o, e, a, who.Actor())
		if err != nil {
			return nil, err
		}
		if err := attach(ctx, w, who, id, e.Uploads()); err != nil {
			return nil, err
		}
		return events, saveTrip(ctx, w, *task, who)
	})
}

// checkGeofence checks the worker's location against the organization's geofence.
func checkGeofence(ctx context.Context, r WorkReader, task *lastmile.Task, a lastmile.Action, who lastmile.Principal) error {
	settings, err := r.Settings(ctx, who.Organization)
	if err != nil || settings.Geofence.Level == lastmile.GeofenceOff {
		return err
	}
	seen, err := r.Whereabouts(ctx, who.Organization, who.Worker)
	if err != nil {
		return err
	}
	recorded := len(task.GeofenceAttempts)
	rejection := task.CheckGeofence(settings.Geofence, a.WithLocation(seen))
	if rejection != nil && len(task.GeofenceAttempts) > recorded {
		return &recordedError{rejection, task.GeofenceEvent(who.Actor(), a.At)}
	}
	return rejection
}

// attach attaches images that a worker has uploaded to the task.
func attach(ctx context.Context, w WorkWriter, who lastmile.Principal, task lastmile.TaskID, ids []lastmile.UploadID) error {
	for _, id := range ids {
		upload, err := w.Upload(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		if err := upload.Attach(who.Worker, task); err != nil {
			return err
		}
		if err := w.SaveUpload(ctx, upload); err != nil {
			return err
		}
	}
	return nil
}

// saveTrip stores how long the trip to a task took, from which estimates learn.
func saveTrip(ctx context.Context, w WorkWriter, task lastmile.Task, who lastmile.Principal) error {
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

// Following is a subscription to a worker's list and to the lists of the teams whose
// tasks the worker may claim.
type Following struct {
	*events.Subscription
	work *Work
	who  lastmile.Principal
}

// Follow subscribes to the lists of the worker who is asking. The subscription must
// be closed.
func (wk *Work) Follow(who lastmile.Principal) Following {
	return Following{wk.Hub.Subscribe(events.ListTopic(who.Worker)), wk, who}
}

// List returns the outline of the worker's task list with the state of the lists of
// tasks to claim. It follows the teams that the worker is in now.
func (f Following) List(ctx context.Context) (list WorkList, err error) {
	var teams []lastmile.Team
	err = f.work.Store.Read(ctx, func(r WorkReader) (err error) {
		teams, err = claimableTeams(ctx, r, f.who)
		return err
	})
	if err != nil {
		return list, err
	}
	topics := []events.Topic{events.ListTopic(f.who.Worker)}
	for _, team := range teams {
		topics = append(topics, events.TeamTopic(team.ID))
	}
	f.Subscription.Follow(topics...)
	if list, err = f.work.Outline(ctx, f.who); err != nil {
		return list, err
	}
	err = f.work.Store.Read(ctx, func(r WorkReader) error {
		list.Claimable = ""
		for _, team := range teams {
			state, err := r.ListState(ctx, f.who.Organization, lastmile.TeamContainer(team.ID))
			if err != nil {
				return err
			}
			list.Claimable += fmt.Sprintf("%s %d %s,", team.ID, state.Version, state.Last)
		}
		return nil
	})
	return list, err
}
