package dispatch

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/planning"
	"dray/internal/rate"
	"dray/internal/store"
	"dray/internal/work"
)

// Dispatches plans and assigns routes.
type Dispatches struct {
	Store   Store
	Lists   Lists
	Travel  Travel
	Events  *events.Log
	Now     func() time.Time
	Elapsed func() time.Duration // monotonic, since any fixed moment
	NewID   func() string
	Wake    *events.Wake  // of the loop that runs dispatches
	MaxTime time.Duration // that the optimizer may take
	Threads int           // that the optimizer uses
	Speed   float64       // of workers, compared with reality; see travel.Learn
	Log     *slog.Logger
	Checks  *rate.Shares // of requests that read all tasks of a plan; nil is no limit
}

// StartTeam begins to dispatch the tasks of a team. Once it has returned, the dispatch
// survives crashes.
func (ds *Dispatches) StartTeam(ctx context.Context, who lastmile.Principal, team lastmile.TeamID, q planning.Request) (lastmile.CreatedRecord[lastmile.Dispatch], error) {
	return ds.start(ctx, who, lastmile.Dispatch{Team: team}, q)
}

// StartWorker begins to optimize the route of one worker.
func (ds *Dispatches) StartWorker(ctx context.Context, who lastmile.Principal, worker lastmile.WorkerID, q planning.Request) (lastmile.CreatedRecord[lastmile.Dispatch], error) {
	if q.RouteEnd != nil && *q.RouteEnd == planning.EndAtTeamHub { // a worker may be in several teams
		return lastmile.CreatedRecord[lastmile.Dispatch]{}, lastmile.Invalid("routeEnd must be %s, %s followed by the id of a hub, or null for the route of one worker", planning.EndAtWorkerAddress, planning.EndAtHub)
	}
	return ds.start(ctx, who, lastmile.Dispatch{Worker: worker}, q)
}

func (ds *Dispatches) start(ctx context.Context, who lastmile.Principal, d lastmile.Dispatch, q planning.Request) (made lastmile.CreatedRecord[lastmile.Dispatch], err error) {
	now := ds.Now()
	if d.Options, err = q.Options(now); err != nil {
		return made, err
	}
	d.ID, d.Organization, d.Key, d.Created = lastmile.DispatchID(ds.NewID()), who.Organization, who.Author(), now
	d.Status, d.DryRun, d.Requester = lastmile.DispatchPending, q.DryRun, d.Key
	end, err := ds.Checks.Request(ctx, who.Organization)
	if err != nil {
		return made, err
	}
	defer end()
	err = ds.Store.Read(ctx, func(r Reader) error { // reject what cannot be planned before it is stored
		if err := checkNoneActive(ctx, r, d); err != nil {
			if who.Receipt != nil { // a repeated request gets the first response, from the transaction
				return nil
			}
			return err
		}
		if d.Team != "" && q.RouteEnd != nil && *q.RouteEnd == planning.EndAtTeamHub {
			team, err := r.Team(ctx, d.Organization, d.Team)
			if err == nil && team.Hub == "" {
				err = lastmile.Invalid("routeEnd is %s, but team %s has no hub", planning.EndAtTeamHub, d.Team)
			}
			if err != nil {
				return err
			}
		}
		situation, err := readSituation(ctx, r, d, now)
		if err != nil {
			return err
		}
		_, err = planning.NewModel(situation)
		return err
	})
	if err != nil {
		return made, err
	}
	return store.Idempotent(ctx, ds.Store, who, func(w Writer) (made lastmile.CreatedRecord[lastmile.Dispatch], err error) {
		made.Record = d
		if err := checkNoneActive(ctx, w, d); err != nil {
			return made, err
		}
		if err := w.AddDispatch(ctx, d); err != nil {
			return made, err
		}
		return made, ds.addJob(ctx, w, d, now)
	})
}

func (ds *Dispatches) addJob(ctx context.Context, w Writer, d lastmile.Dispatch, now time.Time) error {
	w.OnCommit(ds.Wake.Signal)
	return w.AddJob(ctx, work.Job{Organization: d.Organization, ID: string(d.ID), Kind: work.Dispatch, Due: now, Created: now})
}

// checkNoneActive rejects a dispatch while another of the same team or worker is active.
func checkNoneActive(ctx context.Context, r Reader, d lastmile.Dispatch) error {
	active, err := r.ActiveDispatch(ctx, d)
	if err != nil || active == "" {
		return err
	}
	if d.Team != "" {
		return lastmile.Conflict("auto-dispatch is already in progress for this team: %s", active)
	}
	return lastmile.Conflict("optimization is already in progress for this worker: %s", active)
}

// Dispatch returns a dispatch. If it is a plan that can be applied, it also returns what
// has changed since the plan was made.
func (ds *Dispatches) Dispatch(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID) (d lastmile.Dispatch, changes []planning.Change, err error) {
	err = ds.Store.Read(ctx, func(r Reader) (err error) {
		if d, err = r.Dispatch(ctx, who.Organization, id); err != nil || d.Status != lastmile.DispatchPlanned {
			return err
		}
		if meter := lastmile.MeterOf(ctx); meter != nil { // the tasks are compared and not kept
			if err := meter.Count(comparedBytes * len(d.Tasks)); err != nil {
				return err
			}
		}
		changes, err = changesSince(lastmile.WithMeter(ctx, nil), r, d, ds.Now())
		return err
	})
	return d, changes, err
}

// comparedBytes is what comparing a task with a plan counts as, so that those who read
// large plans often take turns.
const comparedBytes = 1 << 10

// Dispatches returns the latest dispatches of a team without their plans, ready to send,
// the latest first.
func (ds *Dispatches) Dispatches(ctx context.Context, who lastmile.Principal, team lastmile.TeamID) (docs [][]byte, err error) {
	err = ds.Store.Read(ctx, func(r Reader) (err error) {
		if _, err = r.Team(ctx, who.Organization, team); err != nil {
			return err
		}
		docs, err = r.ShowDispatches(ctx, who.Organization, team, MaxListed)
		return err
	})
	return docs, err
}

// Stop ends a dispatch that is being planned: the best plan so far is applied.
func (ds *Dispatches) Stop(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID) (lastmile.Dispatch, error) {
	return ds.change(ctx, who, id, func(d lastmile.Dispatch, _ Reader) error {
		if d.Status != lastmile.DispatchPending && d.Status != lastmile.DispatchRunning {
			return lastmile.Conflict("dispatch %s is %s and cannot be stopped", id, d.Status)
		}
		return nil
	}, func(w Writer, _ *lastmile.Dispatch) error { return w.StopDispatch(ctx, who.Organization, id) })
}

// Apply assigns tasks as a dry run has planned, if nothing has changed since.
func (ds *Dispatches) Apply(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID) (lastmile.Dispatch, error) {
	return ds.change(ctx, who, id, func(d lastmile.Dispatch, r Reader) error {
		if d.Status != lastmile.DispatchPlanned {
			return lastmile.Conflict("dispatch %s is %s: only the plan of a dry run can be applied, and only once", id, d.Status)
		}
		if err := checkNoneActive(ctx, r, d); err != nil {
			return err
		}
		changes, err := changesSince(ctx, r, d, ds.Now())
		if err == nil && len(changes) > 0 {
			err = lastmile.Conflict("the plan of dispatch %s does not fit any more: make a new one", id).Because("%s", inWords(changes))
		}
		return err
	}, func(w Writer, d *lastmile.Dispatch) error {
		d.Status, d.Ended, d.Key = lastmile.DispatchApplying, time.Time{}, who.Author()
		if err := w.SaveDispatch(ctx, *d); err != nil {
			return err
		}
		return ds.addJob(ctx, w, *d, ds.Now())
	})
}

// Discard gives up the plan of a dry run: it cannot be applied any more.
func (ds *Dispatches) Discard(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID) (lastmile.Dispatch, error) {
	return ds.change(ctx, who, id, func(d lastmile.Dispatch, _ Reader) error {
		if d.Status != lastmile.DispatchPlanned {
			return lastmile.Conflict("dispatch %s is %s: only the plan of a dry run that was not applied can be discarded", id, d.Status)
		}
		return nil
	}, func(w Writer, d *lastmile.Dispatch) error {
		d.Status = lastmile.DispatchDiscarded
		return w.SaveDispatch(ctx, *d)
	})
}

func inWords(changes []planning.Change) string {
	words := make([]string, len(changes))
	for i, c := range changes {
		words[i] = c.String()
	}
	return strings.Join(words, "; ")
}

// change changes a dispatch if check permits, which is called before the transaction as
// well: a request that is rejected keeps no other writer waiting.
func (ds *Dispatches) change(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID, check func(lastmile.Dispatch, Reader) error, change func(Writer, *lastmile.Dispatch) error) (d lastmile.Dispatch, err error) {
	checked := func(r Reader) (err error) {
		if d, err = r.Dispatch(ctx, who.Organization, id); err != nil {
			return err
		}
		return check(d, r)
	}
	end, err := ds.Checks.Request(ctx, who.Organization)
	if err != nil {
		return d, err
	}
	defer end()
	ctx = store.Remember(ctx) // the transaction decodes only tasks that have changed
	rejected := ds.Store.Read(ctx, checked)
	if rejected != nil && who.Receipt == nil {
		return d, rejected
	}
	return store.Idempotent(ctx, ds.Store, who, func(w Writer) (lastmile.Dispatch, error) {
		if rejected != nil { // and the request was not done before
			return d, rejected
		}
		if err := checked(w); err != nil {
			return d, err
		}
		err := change(w, &d)
		return d, err
	})
}

// maxChanges is how many changes are listed.
const maxChanges = 20

// changesSince returns how the lists that a plan is about differ from what they were
// when it was made, up to maxChanges.
func changesSince(ctx context.Context, r Reader, d lastmile.Dispatch, now time.Time) ([]planning.Change, error) {
	all, err := allChanges(ctx, r, d, now)
	all = planning.WithoutImplied(all)
	return all[:min(len(all), maxChanges)], err
}

func allChanges(ctx context.Context, r Reader, d lastmile.Dispatch, now time.Time) (changes []planning.Change, err error) {
	note := func(what planning.Difference, worker lastmile.WorkerID, task lastmile.TaskID) {
		changes = append(changes, planning.Change{What: what, Worker: worker, Task: task, Age: now.Sub(d.Ended)})
	}
	had := map[lastmile.TaskID]bool{}
	went := map[lastmile.WorkerID][]lastmile.TaskID{} // along the plan
	var fresh []lastmile.TaskID
	for _, route := range d.Plan.Routes {
		if len(route.Stops) == 0 {
			continue // the plan does not need the worker
		}
		for _, id := range route.Before {
			had[id] = true
		}
		list, err := r.WholeWorker(ctx, d.Organization, route.Worker)
		if lastmile.IsNotFound(err) {
			note(planning.WorkerGone, route.Worker, "")
			continue
		}
		if err != nil {
			return nil, err
		}
		if d.Team != "" && !list.Whereabouts.OnDuty {
			note(planning.WorkerOffDuty, route.Worker, "")
		}
		if d.Team != "" && !slices.Contains(list.Teams, d.Team) {
			note(planning.WorkerTeam, route.Worker, "")
		}
		if list.TravelsBy() != route.Vehicle {
			note(planning.WorkerVehicle, route.Worker, "")
		}
		if planning.Capacity(list) != route.Capacity {
			note(planning.WorkerCapacity, route.Worker, "")
		}
		if len(route.Shifts) > 0 { // which plans of older versions do not have
			schedule, err := r.Schedule(ctx, d.Organization, route.Worker)
			if err != nil {
				return nil, err
			}
			if !planning.SameShifts(route.Shifts, planning.Shifts(schedule, d.Options), now) {
				note(planning.WorkerSchedule, route.Worker, "")
			}
		}
		done, err := progress(ctx, r, d, route, list.ActiveTask)
		if err != nil {
			return nil, err
		}
		went[route.Worker] = done
		before := missing(route.Before, done)
		for _, id := range missing(before, list.Tasks) {
			note(planning.TaskRemoved, route.Worker, id)
		}
		for _, id := range missing(list.Tasks, before) {
			note(planning.TaskAdded, route.Worker, id)
		}
		if len(before) == len(list.Tasks) && len(missing(before, list.Tasks)) == 0 && !slices.Equal(before, list.Tasks) {
			note(planning.WorkerOrder, route.Worker, "")
		}
		pinned, err := newPins(ctx, r, d, route)
		if err != nil {
			return nil, err
		}
		for _, id := range pinned {
			note(planning.TaskPinned, route.Worker, id)
		}
		for _, stop := range route.Stops {
			switch {
			case slices.Contains(done, stop.Task):
			case stop.Active && stop.Task != list.ActiveTask:
				note(planning.TaskNotActive, route.Worker, stop.Task)
			case !stop.Active && !had[stop.Task]:
				fresh = append(fresh, stop.Task)
			}
		}
	}
	if err := taskChanges(ctx, r, d, went, now, note); err != nil || d.Team == "" || len(fresh) == 0 {
		return changes, err
	}
	list, err := r.Container(ctx, d.Organization, lastmile.TeamContainer(d.Team))
	if err != nil {
		return nil, err
	}
	for _, id := range missing(fresh, list.Tasks) {
		note(planning.TaskTeam, "", id)
	}
	return changes, nil
}

// taskChanges notes which tasks of a plan were changed since it was made, and which
// would now be later than allowed. went are those that workers have begun with, by plan.
func taskChanges(ctx context.Context, r Reader, d lastmile.Dispatch, went map[lastmile.WorkerID][]lastmile.TaskID, now time.Time, note func(planning.Difference, lastmile.WorkerID, lastmile.TaskID)) error {
	then := make(map[lastmile.TaskID]lastmile.DispatchTask, len(d.Tasks))
	for _, t := range d.Tasks {
		then[t.ID] = t
	}
	for _, route := range d.Plan.Routes {
		var ids []lastmile.TaskID
		behind := now.Sub(d.Ended) // of a worker who leaves now
		left := route.Stops[len(went[route.Worker]):]
		if len(left) < len(route.Stops) && len(left) > 0 { // the worker has left
			behind = max(now.Sub(left[0].Arrival), 0)
		}
		for _, stop := range left {
			ids = append(ids, stop.Task)
			t := then[stop.Task]
			start := stop.Arrival
			if wait := t.CompleteAfter.Sub(start); !t.CompleteAfter.IsZero() && wait > 0 {
				start, behind = t.CompleteAfter, max(behind-wait, 0)
			}
			allowed := d.Options.MaxAllowedDelay
			if stop.Late > allowed { // what a worker has already is late in any case, and later every second
				allowed += stop.Late
			}
			if !t.CompleteBefore.IsZero() && start.Add(behind).Sub(t.CompleteBefore) > allowed {
				note(planning.TaskLate, route.Worker, stop.Task)
			}
		}
		open, err := r.Unfinished(ctx, d.Organization, ids)
		if err != nil {
			return err
		}
		for _, id := range missing(ids, open) {
			note(planning.TaskEnded, route.Worker, id)
		}
		tasks, err := r.TasksOf(ctx, d.Organization, open)
		if err != nil {
			return err
		}
		for _, t := range tasks {
			was := then[t.ID]
			if !t.CompleteAfter.Equal(was.CompleteAfter) || !t.CompleteBefore.Equal(was.CompleteBefore) {
				note(planning.TaskWindow, route.Worker, t.ID)
			}
			if t.Destination.ID != was.Destination {
				note(planning.TaskDestination, route.Worker, t.ID)
			}
			if t.Recipient == nil && was.Recipient != "" || t.Recipient != nil && t.Recipient.ID != was.Recipient {
				note(planning.TaskRecipient, route.Worker, t.ID)
			}
			if (t.ServiceTime == nil) != (was.ServiceTime == nil) || t.ServiceTime != nil && *t.ServiceTime != *was.ServiceTime {
				note(planning.TaskServiceTime, route.Worker, t.ID)
			}
			if t.Quantity != was.Quantity || t.AdditionalQuantities != was.AdditionalQuantities || t.Pickup != was.Pickup {
				note(planning.TaskQuantity, route.Worker, t.ID)
			}
			if len(t.Dependencies) != len(was.Dependencies) || len(missing(t.Dependencies, was.Dependencies)) > 0 {
				note(planning.TaskDependencies, route.Worker, t.ID)
			}
		}
	}
	return nil
}

// missing returns those of the tasks that are not in a list.
func missing(ids, from []lastmile.TaskID) []lastmile.TaskID {
	in := make(map[lastmile.TaskID]bool, len(from))
	for _, id := range from {
		in[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id lastmile.TaskID) bool { return in[id] })
}

// readSituation reads what a dispatch begins with.
func readSituation(ctx context.Context, r Reader, d lastmile.Dispatch, now time.Time) (s planning.Situation, err error) {
	s = planning.Situation{Options: d.Options, Now: now, Completed: map[lastmile.TaskID]bool{}, Pins: map[lastmile.TaskID]lastmile.Pin{}}
	if d.Replan != nil {
		s.AnyVehicle, s.Between = true, d.Replan.Between
	}
	workers, err := readCrew(ctx, r, d, &s)
	if err != nil {
		return s, err
	}
	for _, worker := range workers {
		c := planning.Candidate{Worker: worker}
		if c.Tasks, err = r.TasksOf(ctx, d.Organization, worker.Route()); err != nil {
			return s, err
		}
		c.Tasks = slim(c.Tasks)
		if c.Schedule, err = r.Schedule(ctx, d.Organization, worker.ID); err != nil {
			return s, err
		}
		pins, err := r.Pins(ctx, d.Organization, worker.ID)
		if err != nil {
			return s, err
		}
		maps.Copy(s.Pins, pins)
		s.Candidates = append(s.Candidates, c)
	}
	return s, readDependencies(ctx, r, d.Organization, &s)
}

// readCrew reads the workers of a dispatch, and its hubs and tasks.
func readCrew(ctx context.Context, r Reader, d lastmile.Dispatch, s *planning.Situation) ([]lastmile.Worker, error) {
	if id, ok := planning.EndHub(d.Options.RouteEnd); ok {
		hub, err := r.Hub(ctx, d.Organization, id)
		if err != nil {
			return nil, err
		}
		s.EndHub = &hub
	}
	if d.Worker != "" {
		worker, err := r.WholeWorker(ctx, d.Organization, d.Worker)
		return []lastmile.Worker{worker}, err
	}
	team, err := r.Team(ctx, d.Organization, d.Team)
	if err != nil {
		return nil, err
	}
	if team.Hub != "" {
		hub, err := r.Hub(ctx, d.Organization, team.Hub)
		if err != nil {
			return nil, err
		}
		s.Hub = &hub
	}
	list, err := r.Container(ctx, d.Organization, lastmile.TeamContainer(d.Team))
	if err != nil {
		return nil, err
	}
	if d.Replan != nil && !d.Replan.Assign {
		list.Tasks = nil
	}
	for chunk := range slices.Chunk(list.Tasks, readChunk) {
		tasks, err := r.TasksOf(ctx, d.Organization, chunk)
		if err != nil {
			return nil, err
		}
		s.Tasks = append(s.Tasks, slim(slices.DeleteFunc(tasks, func(t lastmile.Task) bool { return !planning.Considers(d.Options, t) }))...)
		if len(s.Tasks) > planning.MaxTasks {
			break // NewModel rejects it
		}
	}
	return r.Workers(ctx, d.Organization, store.WorkerFilter{Teams: []lastmile.TeamID{d.Team}, OnDuty: true})
}

// slim removes what no plan depends on from tasks: the notes and metadata of thousands of
// tasks may take more memory than all else.
func slim(tasks []lastmile.Task) []lastmile.Task {
	for i := range tasks {
		t := &tasks[i]
		t.Notes, t.Metadata, t.CustomFields, t.Barcodes, t.History = "", nil, nil, lastmile.Barcodes{}, nil
	}
	return tasks
}

// readChunk is how many tasks are read at a time: a team may have many more than a
// dispatch considers.
const readChunk = 200

// readDependencies reads which tasks that others depend on are completed.
func readDependencies(ctx context.Context, r Reader, org lastmile.OrganizationID, s *planning.Situation) error {
	var ids []lastmile.TaskID
	for _, t := range s.Tasks {
		for _, id := range t.Dependencies {
			if !s.Completed[id] {
				s.Completed[id] = true
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	unfinished, err := r.Unfinished(ctx, org, ids)
	for _, id := range unfinished {
		delete(s.Completed, id)
	}
	return err
}
