package dispatch

import (
	"context"

	"dray/internal/lastmile"
)

// progress returns the tasks of a route that its worker has carried out or started since the
// plan was made, if they are the first ones of the plan, in its order: then the worker follows
// the plan, and the rest of it fits as before. If the worker does anything else, it returns
// nothing.
func progress(ctx context.Context, r Reader, d lastmile.Dispatch, route lastmile.DispatchRoute, active lastmile.TaskID) ([]lastmile.TaskID, error) {
	ids := make([]lastmile.TaskID, len(route.Stops))
	for i, stop := range route.Stops {
		ids[i] = stop.Task
	}
	open, err := r.Unfinished(ctx, d.Organization, ids)
	if err != nil {
		return nil, err
	}
	n := len(ids) - len(open)
	if len(missing(ids[:n], open)) < n {
		return nil, nil // one that comes later was carried out before others, or deleted
	}
	if n > 0 {
		done, err := r.TasksOf(ctx, d.Organization, ids[:n])
		if lastmile.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, t := range done {
			if t.Worker != route.Worker || !t.Completion.Success {
				return nil, nil // what depends on it may be impossible
			}
		}
	}
	if n < len(ids) && ids[n] == active {
		n++
	}
	return ids[:n], nil
}

// followed returns the tasks of the plan of a dry run that its worker has already begun with.
func followed(ctx context.Context, r Reader, d lastmile.Dispatch, route lastmile.DispatchRoute) ([]lastmile.TaskID, error) {
	if !d.DryRun || len(route.Stops) == 0 {
		return nil, nil
	}
	worker, err := r.WholeWorker(ctx, d.Organization, route.Worker)
	if lastmile.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return progress(ctx, r, d, route, worker.ActiveTask)
}
