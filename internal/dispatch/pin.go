package dispatch

import (
	"context"
	"maps"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/planning"
)

// Pin pins a task to its worker, or to its position in the worker's list as well. It
// replaces another pin of the task.
func (ds *Dispatches) Pin(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, pin lastmile.Pin) (planning.PinnedTask, error) {
	return ds.changePin(ctx, who, id, pin)
}

// Unpin removes the pin of a task, if it has one.
func (ds *Dispatches) Unpin(ctx context.Context, who lastmile.Principal, id lastmile.TaskID) error {
	_, err := ds.changePin(ctx, who, id, "")
	return err
}

// Pinned returns how a task is pinned.
func (ds *Dispatches) Pinned(ctx context.Context, who lastmile.Principal, id lastmile.TaskID) (p planning.PinnedTask, err error) {
	err = ds.Store.Read(ctx, func(r Reader) (err error) {
		p, err = pinned(ctx, r, who, id)
		return err
	})
	return p, err
}

func pinned(ctx context.Context, r Reader, who lastmile.Principal, id lastmile.TaskID) (planning.PinnedTask, error) {
	tasks, err := r.TasksOf(ctx, who.Organization, []lastmile.TaskID{id})
	if err != nil {
		return planning.PinnedTask{}, err
	}
	p := planning.PinnedTask{Task: tasks[0]}
	if p.Task.Worker == "" {
		return p, nil
	}
	pins, err := r.Pins(ctx, who.Organization, p.Task.Worker)
	p.Pin = pins[id]
	return p, err
}

// changePin saves a pin under the lock of the worker's list: a plan that is being applied
// either knows the pin or is applied before it.
func (ds *Dispatches) changePin(ctx context.Context, who lastmile.Principal, id lastmile.TaskID, pin lastmile.Pin) (p planning.PinnedTask, err error) {
	err = ds.Store.Write(ctx, func(w Writer) error {
		if p, err = pinned(ctx, w, who, id); err != nil {
			return err
		}
		before := p.Pin
		if err := p.Set(pin); err != nil || before == pin {
			return err
		}
		if err := w.LockContainer(ctx, who.Organization, p.Task.Container, ds.Now()); err != nil {
			return err
		}
		return w.SavePin(ctx, who.Organization, id, pin)
	})
	return p, err
}

// newPins returns the tasks of a worker that were pinned since a plan was made, in a way
// that the plan does not know. A pin that was removed makes no difference.
func newPins(ctx context.Context, r Reader, d lastmile.Dispatch, route lastmile.DispatchRoute) ([]lastmile.TaskID, error) {
	pins, err := r.Pins(ctx, d.Organization, route.Worker)
	if err != nil || len(pins) == 0 {
		return nil, err
	}
	known := map[lastmile.TaskID]lastmile.Pin{}
	for _, planned := range d.Plan.Routes {
		for _, stop := range planned.Stops {
			known[stop.Task] = stop.Pin
			if planned.Worker == route.Worker && stop.Pin == "" {
				known[stop.Task] = lastmile.PinWorker // where it stays anyway
			}
		}
	}
	var fresh []lastmile.TaskID
	for _, id := range slices.Sorted(maps.Keys(pins)) {
		if was, planned := known[id]; planned && was != pins[id] && was != lastmile.PinPosition {
			fresh = append(fresh, id)
		}
	}
	return fresh, nil
}
