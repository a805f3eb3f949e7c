package dispatch

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/optimize"
	"dray/internal/planning"
	"dray/internal/travel"
	"dray/internal/work"
)

const (
	// taskTime is the time that the optimizer gets for each task, up to MaxTime in all.
	taskTime = 100 * time.Millisecond

	// MaxAtOnce is the maximum number of tasks that one transaction assigns. A plan for
	// more is applied in several transactions of applyChunk tasks.
	MaxAtOnce  = 100
	applyChunk = 25

	// largeMatrix is the number of pairs of locations from which on the memory of a matrix is
	// freed before the next one. A model keeps a half of it or less, and the garbage collector,
	// which lets the heap grow several times, would otherwise keep the matrices of all types of
	// vehicles.
	largeMatrix = 250_000

	// maxRounds is the maximum number of times that a dispatch plans its routes. It plans
	// them again if workers, or lists that it shares with other dispatches, have changed.
	maxRounds = 2

	// replanTime is the maximum time that the optimizer gets for continuous re-planning,
	// which begins with good routes and is repeated.
	replanTime = 10 * time.Second
)

// Run plans and assigns the routes of a dispatch. It returns the function that ends it.
func (ds *Dispatches) Run(ctx context.Context, job *work.Lease) (work.End[Writer], error) {
	defer ds.Processors.run()()
	var d lastmile.Dispatch
	err := ds.Store.Read(ctx, func(r Reader) (err error) {
		d, err = r.Dispatch(ctx, job.Organization, lastmile.DispatchID(job.ID))
		return err
	})
	if err != nil || !d.Status.Active() {
		return nil, err
	}
	if d.Status != lastmile.DispatchApplying {
		err := ds.plan(ctx, job, &d)
		if rejected, ok := errors.AsType[*lastmile.Error](err); ok && (!rejected.Transient() || job.Last) && ctx.Err() == nil {
			return func(ctx context.Context, w Writer) error { return ds.fail(ctx, w, d, rejected.Error()) }, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if d.DryRun && d.Status == lastmile.DispatchPlanned {
		return func(ctx context.Context, w Writer) error { return w.SaveDispatch(ctx, d) }, nil
	}
	return ds.apply(asDispatch(ctx), job, d)
}

// GiveUp ends a dispatch that could not be carried out, so that its team can be
// dispatched again.
func (ds *Dispatches) GiveUp(ctx context.Context, w Writer, job work.Item) error {
	d, err := w.Dispatch(ctx, job.Organization, lastmile.DispatchID(job.ID))
	if err != nil || !d.Status.Active() {
		return err
	}
	return ds.fail(ctx, w, d, lastmile.Internal().Message)
}

func (ds *Dispatches) fail(ctx context.Context, w Writer, d lastmile.Dispatch, why string) error {
	event := d.Fail(why, ds.Now())
	return ds.end(ctx, w, d, event)
}

// end saves a dispatch that has ended, with its event. Continuous re-planning that changes
// nothing causes none.
func (ds *Dispatches) end(ctx context.Context, w Writer, d lastmile.Dispatch, event lastmile.Event) error {
	if err := w.SaveDispatch(ctx, d); err != nil || d.Replan != nil && !d.Replan.Changed {
		return err
	}
	return ds.Events.Append(ctx, w, event)
}

// plan plans the routes of a dispatch, and saves the plan unless it is a dry run, whose
// end saves it.
func (ds *Dispatches) plan(ctx context.Context, job *work.Lease, d *lastmile.Dispatch) error {
	now := ds.Now()
	model, err := ds.model(ctx, *d, now)
	if err != nil {
		return err
	}
	most := ds.MaxTime
	if d.Replan != nil {
		most = min(most, replanTime)
	}
	budget := min(max(time.Duration(len(model.Problem.Stops))*taskTime, time.Second), most)
	if d.Started.IsZero() {
		d.Started = now
	}
	// The tasks come with the plan: progress is saved often, and should be small.
	d.Status, d.Progress = lastmile.DispatchRunning, lastmile.DispatchProgress{Phase: "starting", Until: now.Add(budget)}
	if err := ds.save(ctx, job, *d); err != nil {
		return err
	}
	model, solution, err := model.Solve(func(m *planning.Model) (*optimize.Solution, error) {
		d.Progress.Until = ds.Now().Add(budget)
		return ds.solve(ctx, job, *d, m, budget)
	})
	if err != nil {
		return err
	}
	d.Rounds++ // an interrupted attempt does not count
	d.Plan, d.Tasks, d.Progress = model.Plan(solution), model.Tasks(), lastmile.DispatchProgress{}
	if d.Replan != nil {
		keepUnlessBetter(d, model, model.Plan(model.Current()))
	}
	if d.DryRun {
		d.Before = model.Before()
		d.Status, d.Ended = lastmile.DispatchPlanned, ds.Now()
		return nil
	}
	d.Status = lastmile.DispatchApplying
	return ds.save(ctx, job, *d)
}

// keepUnlessBetter keeps the routes as they are if the plan is not better.
func keepUnlessBetter(d *lastmile.Dispatch, model *planning.Model, current lastmile.DispatchPlan) {
	if d.Rounds == 1 {
		d.Replan.Before, d.Replan.Unassigned = current.Cost, len(current.Unplanned)
	}
	if model.Better(d.Plan, current) {
		d.Replan.Changed = true
		return
	}
	d.Plan = current
}

// save saves a dispatch while it is in progress.
func (ds *Dispatches) save(ctx context.Context, job *work.Lease, d lastmile.Dispatch) error {
	return ds.Store.Write(ctx, func(w Writer) error {
		if err := job.Hold(ctx, w, ds.Now()); err != nil {
			return err
		}
		return w.SaveDispatch(ctx, d)
	})
}

// model reads the situation and the travel times of a dispatch.
func (ds *Dispatches) model(ctx context.Context, d lastmile.Dispatch, now time.Time) (*planning.Model, error) {
	var (
		model *planning.Model
		trips []lastmile.Trip
	)
	err := ds.Store.Read(ctx, func(r Reader) error {
		situation, err := readSituation(ctx, r, d, now)
		if err != nil {
			return err
		}
		if trips, err = r.Trips(ctx, d.Organization, travel.LearnedTrips); err != nil {
			return err
		}
		model, err = planning.NewModel(situation)
		return err
	})
	if err != nil {
		return nil, err
	}
	learned := travel.Learn(trips, ds.Speed)
	for _, by := range model.Types {
		times, err := ds.Travel.Matrix(ctx, by, model.Places, model.Places)
		if err != nil {
			return nil, err
		}
		times = times.Adjusted(learned.Travel)
		byFormula := travel.Times{Estimated: times.Estimated, Gaps: times.Gaps}.ByFormula // does not keep the matrices
		model.Fill(by, times.Durations, times.Distances, byFormula)
		if n := len(model.Places); n*n >= largeMatrix {
			runtime.GC()
		}
	}
	model.KeepExisting(ctx)
	return model, nil
}

// step is a part of a plan that one transaction applies.
type step struct {
	worker lastmile.WorkerID
	tasks  []lastmile.TaskID
}

// steps divides the plan of a dispatch. Tasks go to the start of lists, so that the last of a
// route are put first. kept are the tasks of routes that need no step: those that only lose
// tasks to others, and all of continuous re-planning that is not better.
func steps(d lastmile.Dispatch) (all []step, kept []lastmile.TaskID, tasks int) {
	considered := map[lastmile.TaskID]bool{}
	for _, route := range d.Plan.Routes {
		for _, stop := range route.Stops {
			considered[stop.Task] = true
		}
	}
	for _, u := range d.Plan.Unplanned {
		considered[u.Task] = true
	}
	for _, route := range d.Plan.Routes {
		ids := planned(route)
		if d.Replan != nil && !d.Replan.Changed || isInPlace(ids, route.Before, considered) {
			kept = append(kept, ids...)
			continue
		}
		tasks += len(ids)
		chunks := slices.Collect(slices.Chunk(ids, applyChunk))
		slices.Reverse(chunks)
		for _, chunk := range chunks {
			all = append(all, step{worker: route.Worker, tasks: chunk})
		}
	}
	return all, kept, tasks
}

// isInPlace reports whether planned tasks are in a list already, in order and before the tasks
// for later, which the plan did not consider.
func isInPlace(ids, list []lastmile.TaskID, considered map[lastmile.TaskID]bool) bool {
	list = slices.DeleteFunc(slices.Clone(list), func(id lastmile.TaskID) bool { return considered[id] && !slices.Contains(ids, id) })
	return slices.Equal(ids, list[:min(len(ids), len(list))])
}

// planned returns the tasks of a route, without the active one.
func planned(route lastmile.DispatchRoute) (ids []lastmile.TaskID) {
	for _, stop := range route.Stops {
		if !stop.Active {
			ids = append(ids, stop.Task)
		}
	}
	return ids
}

// apply assigns tasks as planned: a small plan in the transaction that ends the dispatch,
// a large one in several before it. Instead of ending, the dispatch is planned again if
// tasks are left that could not be assigned because of what has changed meanwhile.
func (ds *Dispatches) apply(ctx context.Context, job *work.Lease, d lastmile.Dispatch) (work.End[Writer], error) {
	all, kept, tasks := steps(d)
	if tasks > MaxAtOnce {
		for done := false; !done; {
			err := ds.Store.Write(ctx, func(w Writer) error {
				if err := job.Hold(ctx, w, ds.Now()); err != nil {
					return err
				}
				n, err := w.AppliedSteps(ctx, d.Organization, d.ID)
				if done = n >= len(all); err != nil || done {
					return err
				}
				if err := ds.applySteps(ctx, w, d, all[n]); err != nil {
					return err
				}
				return w.SaveAppliedSteps(ctx, d.Organization, d.ID, n+1)
			})
			if err != nil {
				return nil, err
			}
		}
		all = nil
	}
	return func(ctx context.Context, w Writer) error {
		if err := ds.applySteps(asDispatch(ctx), w, d, all...); err != nil {
			return err
		}
		if err := w.SavePlannedService(ctx, d.Organization, kept, d.Options.ServiceTime); err != nil { // steps save it for the others
			return err
		}
		ended, left := d, false
		var err error
		if ended.Plan, left, err = asApplied(ctx, w, d); err != nil {
			return err
		}
		if d.Rounds == 1 && d.Replan != nil { // the plan may be better without having been applied
			replan := *d.Replan
			changed, _, _ := steps(ended)
			replan.Changed = replan.Changed && len(changed) > 0
			ended.Replan = &replan
		}
		if left && !d.DryRun && d.Rounds < maxRounds {
			return ds.planAgain(ctx, w, d, ended.Replan)
		}
		event := ended.Complete(ds.Now())
		return ds.end(ctx, w, ended, event)
	}, nil
}

// planAgain makes a dispatch plan its routes once more.
func (ds *Dispatches) planAgain(ctx context.Context, w Writer, d lastmile.Dispatch, replan *lastmile.Replan) error {
	d.Status, d.Replan = lastmile.DispatchRunning, replan
	if err := w.SaveDispatch(ctx, d); err != nil {
		return err
	}
	if err := w.SaveAppliedSteps(ctx, d.Organization, d.ID, 0); err != nil {
		return err
	}
	return ds.addJob(ctx, w, d, ds.Now())
}

// applySteps applies parts of a plan.
func (ds *Dispatches) applySteps(ctx context.Context, w Writer, d lastmile.Dispatch, all ...step) error {
	var lists []lastmile.ContainerRef
	for _, s := range all {
		lists = append(append(lists, sources(d, s)...), lastmile.WorkerContainer(s.worker))
	}
	if err := ds.Lists.Lock(ctx, w, d.Organization, lists); err != nil {
		return err
	}
	for _, s := range all {
		if err := ds.applyStep(ctx, w, d, s); err != nil {
			return err
		}
	}
	return nil
}

// sources returns the lists that tasks of a step come from, besides that of its worker.
func sources(d lastmile.Dispatch, s step) (from []lastmile.ContainerRef) {
	if d.Team != "" {
		from = append(from, lastmile.TeamContainer(d.Team))
	}
	for _, route := range d.Plan.Routes {
		if route.Worker != s.worker && slices.ContainsFunc(route.Before, func(id lastmile.TaskID) bool { return slices.Contains(s.tasks, id) }) {
			from = append(from, lastmile.WorkerContainer(route.Worker))
		}
	}
	return from
}

// applyStep applies a part of a plan, unless the plan does not fit its worker any more.
func (ds *Dispatches) applyStep(ctx context.Context, w Writer, d lastmile.Dispatch, s step) error {
	fits, err := stillFits(ctx, w, d, s.worker)
	if err != nil || !fits {
		return err
	}
	if s.tasks, err = movable(ctx, w, d, s); err != nil {
		return err
	}
	if err := w.SavePlannedService(ctx, d.Organization, s.tasks, d.Options.ServiceTime); err != nil {
		return err
	}
	who := lastmile.AuthoredBy(d.Organization, d.Key)
	return ds.Lists.PutRoute(ctx, w, who, s.worker, sources(d, s), s.tasks)
}

// routeOf returns the route that is planned for a worker.
func routeOf(d lastmile.Dispatch, id lastmile.WorkerID) lastmile.DispatchRoute {
	return d.Plan.Routes[slices.IndexFunc(d.Plan.Routes, func(r lastmile.DispatchRoute) bool { return r.Worker == id })]
}

// stillFits reports whether a worker can do a route as planned: one who is gone, off duty or
// in other teams cannot, tasks that were added meanwhile might make it too much, and those
// that were pinned meanwhile stay where they are.
func stillFits(ctx context.Context, r Reader, d lastmile.Dispatch, id lastmile.WorkerID) (bool, error) {
	worker, err := r.WholeWorker(ctx, d.Organization, id)
	if lastmile.IsNotFound(err) {
		return false, nil
	}
	if err != nil || d.Team != "" && (!worker.Whereabouts.OnDuty || !slices.Contains(worker.Teams, d.Team)) {
		return false, err
	}
	route := routeOf(d, id)
	known := slices.Clone(route.Before)
	for _, stop := range route.Stops {
		known = append(known, stop.Task)
	}
	if len(missing(worker.Route(), known)) > 0 {
		return false, nil
	}
	pinned, err := newPins(ctx, r, d, route)
	return len(pinned) == 0, err
}

// asApplied returns a plan without the tasks that are not where it puts them: those were
// moved, started or deleted while it was made, or kept their order. left reports whether some
// of them could still be assigned.
func asApplied(ctx context.Context, w Writer, d lastmile.Dispatch) (plan lastmile.DispatchPlan, left bool, err error) {
	plan = d.Plan
	plan.Routes, plan.Unplanned = slices.Clone(plan.Routes), slices.Clone(plan.Unplanned)
	for i, route := range plan.Routes {
		ids := planned(route)
		listed, err := w.StillListed(ctx, d.Organization, lastmile.WorkerContainer(route.Worker), ids)
		if err != nil {
			return plan, false, err
		}
		done, err := followed(ctx, w, d, route)
		if err != nil {
			return plan, false, err
		}
		gone := missing(missing(ids, listed), done)
		if d.Team != "" && len(gone) > 0 {
			waiting, err := w.StillListed(ctx, d.Organization, lastmile.TeamContainer(d.Team), gone)
			if err != nil {
				return plan, false, err
			}
			left = left || len(waiting) > 0
		}
		inOrder, err := isInOrder(ctx, w, d, route.Worker, missing(missing(ids, gone), done))
		if err != nil {
			return plan, false, err
		}
		if !inOrder {
			gone = slices.DeleteFunc(ids, func(id lastmile.TaskID) bool {
				return !slices.Contains(gone, id) && !slices.Contains(route.Before, id)
			})
		}
		plan.Routes[i].Stops = slices.DeleteFunc(slices.Clone(route.Stops), func(s lastmile.DispatchStop) bool { return slices.Contains(gone, s.Task) })
		for _, id := range gone {
			plan.Unplanned = append(plan.Unplanned, lastmile.UnplannedTask{Task: id, Reasons: []lastmile.DispatchReason{{
				Worker: route.Worker, Rule: lastmile.RuleChanged, Detail: "the task was moved, started or deleted, or the worker went off duty, left the team or got other tasks, while the routes were planned",
			}}})
		}
	}
	return plan, left, nil
}

// isInOrder reports whether a worker has tasks in the order of ids.
func isInOrder(ctx context.Context, r Reader, d lastmile.Dispatch, worker lastmile.WorkerID, ids []lastmile.TaskID) (bool, error) {
	if len(ids) == 0 {
		return true, nil
	}
	list, err := r.Container(ctx, d.Organization, lastmile.WorkerContainer(worker))
	return slices.Equal(ids, slices.DeleteFunc(list.Tasks, func(id lastmile.TaskID) bool { return !slices.Contains(ids, id) })), err
}
