package tracking

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// Preview describes the list of a worker as it would be with other tasks.
type Preview struct {
	Worker lastmile.WorkerID
	Tasks  []PreviewedTask
	Before RouteTotals // totals of the worker's current list
	After  RouteTotals
}

// PreviewedTask is a task of a previewed list.
type PreviewedTask struct {
	ID        lastmile.TaskID
	Estimates lastmile.Estimates
}

// RouteTotals are the totals of a list, including the active task.
type RouteTotals struct {
	Travel   time.Duration
	Distance lastmile.Meters
	Late     int           // number of late tasks
	Delay    time.Duration // sum of the delays of all tasks
	Known    bool          // the worker's location and all legs are known
}

// Preview returns what the estimates would be if a worker had these tasks, in this order,
// after the active one. Nothing is saved.
func (t *Tracker) Preview(ctx context.Context, who lastmile.Principal, worker lastmile.WorkerID, tasks []lastmile.TaskID) (p Preview, err error) {
	if len(tasks) >= MaxEstimated {
		return p, lastmile.Invalid("tasks has %d ids; fewer than %d are allowed", len(tasks), MaxEstimated)
	}
	if unique := lastmile.Unique(tasks); len(unique) < len(tasks) {
		return p, lastmile.Invalid("tasks names a task more than once")
	}
	end, err := t.previews.Request(ctx, who.Organization)
	if err != nil {
		return p, err
	}
	defer end()
	var (
		before, after travel.Itinerary
		experience    travel.Experience
	)
	err = t.Store.Read(ctx, func(r Reader) error {
		of, err := r.WholeWorker(ctx, who.Organization, worker)
		if err != nil {
			return err
		}
		before.Worker, after.Worker = of, of
		route := of.Route()
		if before.Tasks, err = tasksOf(ctx, r, of, route[:min(len(route), MaxEstimated)]); err != nil {
			return err
		}
		ids := slices.DeleteFunc(slices.Clone(tasks), func(id lastmile.TaskID) bool { return id == of.ActiveTask })
		if of.ActiveTask != "" {
			ids = slices.Insert(ids, 0, of.ActiveTask)
		}
		if after.Tasks, err = tasksOf(ctx, r, of, ids); err != nil {
			return err
		}
		experience, err = t.experience(ctx, r, who.Organization)
		return err
	})
	if err != nil {
		return p, err
	}
	for _, task := range after.Tasks {
		if task.ID != after.Worker.ActiveTask && task.State >= lastmile.TaskActive {
			return p, lastmile.Invalid("tasks: task %s is %v and cannot be moved", task.ID, task.State)
		}
	}
	p.Worker = worker
	now := t.Now()
	if _, p.Before, err = t.sumUp(ctx, before, experience, now); err != nil {
		return p, err
	}
	estimates, totals, err := t.sumUp(ctx, after, experience, now)
	p.After = totals
	for i, task := range after.Tasks {
		if err == nil {
			p.Tasks = append(p.Tasks, PreviewedTask{ID: task.ID, Estimates: estimates[i]})
		}
	}
	return p, err
}

// sumUp estimates the tasks of a list, and returns the totals.
func (t *Tracker) sumUp(ctx context.Context, i travel.Itinerary, e travel.Experience, now time.Time) (estimates []lastmile.Estimates, totals RouteTotals, err error) {
	var legs []travel.Leg
	way := i.Waypoints()
	if len(way) > 1 {
		if legs, err = t.Travel.Legs(ctx, i.Worker.TravelsBy(), way); err != nil {
			return nil, totals, err
		}
	}
	totals.Known = len(way) > 0
	for _, leg := range legs {
		if leg.Duration == travel.Unreachable {
			totals.Known = false
			continue
		}
		leg = leg.Adjusted(e.Travel)
		totals.Travel += leg.Duration
		totals.Distance += leg.Distance
	}
	estimates = i.Estimate(legs, e, now)
	for _, each := range estimates {
		if each.Delay != nil {
			totals.Late++
			totals.Delay += *each.Delay
		}
	}
	return estimates, totals, nil
}
