package dispatch

import (
	"context"
	"slices"

	"dray/internal/lastmile"
)

// movable returns the tasks of a step without those that were pinned to another worker while
// the routes were planned, and without those whose pickup or drop-off is planned for the same
// worker but cannot get there any more: it was moved, pinned, deleted, or begun by another
// worker.
func movable(ctx context.Context, w Writer, d lastmile.Dispatch, s step) ([]lastmile.TaskID, error) {
	from := sources(d, step{s.worker, planned(routeOf(d, s.worker))})
	var pinned []lastmile.TaskID
	for _, list := range from {
		if list.Kind != lastmile.InWorker {
			continue
		}
		more, err := newPins(ctx, w, d, routeOf(d, lastmile.WorkerID(list.Owner)))
		if err != nil {
			return nil, err
		}
		pinned = append(pinned, more...)
	}
	s.tasks = missing(s.tasks, pinned)
	pairs := pairsOf(d, s.worker)
	if len(pairs) == 0 {
		return s.tasks, nil
	}
	var paired []lastmile.TaskID
	for _, p := range pairs {
		paired = append(paired, p[:]...)
	}
	paired = lastmile.Unique(paired)
	there := map[lastmile.TaskID]bool{}
	for _, list := range append(from, lastmile.WorkerContainer(s.worker)) {
		listed, err := w.StillListed(ctx, d.Organization, list, paired)
		if err != nil {
			return nil, err
		}
		for _, id := range listed {
			there[id] = true
		}
	}
	for _, id := range pinned {
		delete(there, id)
	}
	for _, id := range paired {
		if there[id] {
			continue
		}
		begun, err := isBegun(ctx, w, d.Organization, id, s.worker)
		if err != nil {
			return nil, err
		}
		there[id] = begun
	}
	for again := true; again; {
		again = false
		for _, p := range pairs {
			if there[p[0]] != there[p[1]] {
				there[p[0]], there[p[1]], again = false, false, true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(s.tasks), func(id lastmile.TaskID) bool { return slices.Contains(paired, id) && !there[id] }), nil
}

// pairsOf returns the pickups and drop-offs that are planned for one worker.
func pairsOf(d lastmile.Dispatch, worker lastmile.WorkerID) (pairs [][2]lastmile.TaskID) {
	here := map[lastmile.TaskID]bool{}
	for _, stop := range routeOf(d, worker).Stops {
		here[stop.Task] = true
	}
	pickups := map[lastmile.TaskID]bool{}
	for _, t := range d.Tasks {
		pickups[t.ID] = t.Pickup && here[t.ID]
	}
	for _, t := range d.Tasks {
		if t.Pickup || !here[t.ID] {
			continue
		}
		for _, id := range t.Dependencies {
			if pickups[id] {
				pairs = append(pairs, [2]lastmile.TaskID{id, t.ID})
			}
		}
	}
	return pairs
}

// isBegun reports whether a worker has started or completed a task.
func isBegun(ctx context.Context, r Reader, org lastmile.OrganizationID, id lastmile.TaskID, worker lastmile.WorkerID) (bool, error) {
	tasks, err := r.TasksOf(ctx, org, []lastmile.TaskID{id})
	if lastmile.IsNotFound(err) {
		return false, nil
	}
	return err == nil && tasks[0].Worker == worker && tasks[0].State >= lastmile.TaskActive, err
}
