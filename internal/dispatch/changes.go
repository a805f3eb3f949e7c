package dispatch

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/planning"
)

// maxChanges is the maximum number of changes that are listed.
const maxChanges = 20

// changesSince returns the changes of tasks and workers of a plan since it was made, up to
// maxChanges.
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
	went := map[lastmile.WorkerID][]lastmile.TaskID{} // tasks that were done or begun according to the plan
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
		if len(route.Shifts) > 0 { // plans of older versions have none
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
// would now be later than allowed. went has the tasks that workers have done or begun
// according to the plan.
func taskChanges(ctx context.Context, r Reader, d lastmile.Dispatch, went map[lastmile.WorkerID][]lastmile.TaskID, now time.Time, note func(planning.Difference, lastmile.WorkerID, lastmile.TaskID)) error {
	then := make(map[lastmile.TaskID]lastmile.DispatchTask, len(d.Tasks))
	for _, t := range d.Tasks {
		then[t.ID] = t
	}
	for _, route := range d.Plan.Routes {
		var ids []lastmile.TaskID
		shifts := shiftsAfter(route.Shifts, d.Ended)
		behind := max(now.Sub(shifts[0]), 0) // how far a worker who leaves now is behind the plan
		left := route.Stops[len(went[route.Worker]):]
		if len(left) < len(route.Stops) && len(left) > 0 { // the worker has left
			behind = max(now.Sub(left[0].Arrival), 0)
		}
		free := now // when the worker is done with the stops so far
		for _, stop := range left {
			ids = append(ids, stop.Task)
			t := then[stop.Task]
			if len(shifts) > 1 && !stop.Arrival.Before(shifts[1]) { // the break makes up for it
				shifts = shifts[1:]
				behind = max(free.Sub(shifts[0]), 0)
			}
			start := stop.Arrival
			if wait := t.CompleteAfter.Sub(start); !t.CompleteAfter.IsZero() && wait > 0 {
				start, behind = t.CompleteAfter, max(behind-wait, 0)
			}
			allowed := d.Options.MaxAllowedDelay
			if stop.Late > allowed { // the worker had the task before, and it is late in any case
				allowed += stop.Late
			}
			free = stop.Depart.Add(behind)
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
			if t.Quantity != was.Quantity || t.AdditionalQuantities != was.AdditionalQuantities {
				note(planning.TaskQuantity, route.Worker, t.ID)
			}
			if t.Pickup != was.Pickup {
				note(planning.TaskKind, route.Worker, t.ID)
			}
			if len(t.Dependencies) != len(was.Dependencies) || len(missing(t.Dependencies, was.Dependencies)) > 0 {
				note(planning.TaskDependencies, route.Worker, t.ID)
			}
		}
	}
	return nil
}

// shiftsAfter returns when the shifts begin that have not ended at a time, the first of them
// not before that time.
func shiftsAfter(all []lastmile.Window, at time.Time) []time.Time {
	var begin []time.Time
	for _, shift := range all {
		if !shift.To.After(at) {
			continue
		}
		if begin = append(begin, shift.From); len(begin) == 1 && begin[0].Before(at) {
			begin[0] = at
		}
	}
	if len(begin) == 0 { // the plan is of an older version
		return []time.Time{at}
	}
	return begin
}

// missing returns those of the tasks that are not in a list.
func missing(ids, from []lastmile.TaskID) []lastmile.TaskID {
	in := make(map[lastmile.TaskID]bool, len(from))
	for _, id := range from {
		in[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id lastmile.TaskID) bool { return in[id] })
}

// stillApplied reports whether an applied route still has an effect: its worker has tasks
// that it assigned, or has tasks in its order, or some of these tasks have ended.
func stillApplied(ctx context.Context, r Reader, org lastmile.OrganizationID, route lastmile.DispatchRoute) (bool, error) {
	next := planned(route)
	moved := missing(next, route.Before)
	open, err := r.Unfinished(ctx, org, moved)
	if err != nil || len(open) < len(moved) {
		return true, err
	}
	tasks, err := r.TasksOf(ctx, org, open)
	if err != nil || slices.ContainsFunc(tasks, func(t lastmile.Task) bool { return t.Worker == route.Worker }) {
		return true, err
	}
	list, err := r.Container(ctx, org, lastmile.WorkerContainer(route.Worker))
	if err != nil {
		return false, err
	}
	among := func(ids, others []lastmile.TaskID) []lastmile.TaskID { return missing(ids, missing(ids, others)) }
	now := among(list.Tasks, next)
	next = among(next, now)
	return slices.Equal(now, next) && !slices.Equal(next, among(route.Before, now)), nil
}
