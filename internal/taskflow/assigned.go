package taskflow

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// AssignedSince is how far back the lists of a worker's and of a team's tasks
// go unless the request says otherwise.
const AssignedSince = 7 * 24 * time.Hour

// Assigned reads one page of the tasks that a worker or a team has now, as the
// interface shows them, and the id to ask for the next with.
func (f *Flow) Assigned(ctx context.Context, who lastmile.Principal, in lastmile.ContainerRef, q Query) (docs [][]byte, last lastmile.TaskID, err error) {
	err = f.Store.Read(ctx, func(r store.Reader) error { return checkContainer(ctx, r, who.Organization, in) })
	if err != nil {
		return nil, "", err
	}
	if q.From.IsZero() {
		q.From = f.Now().Add(-AssignedSince)
	}
	q.Containers, q.Unfinished = []string{in.Owner}, true
	return f.List(ctx, who, q)
}

// Manifest makes the delivery manifest of a worker who starts from a hub: all
// that the worker has to do, or what can be done in a window.
func (f *Flow) Manifest(ctx context.Context, who lastmile.Principal, hub lastmile.HubID, worker lastmile.WorkerID, within lastmile.Window) (m travel.Manifest, err error) {
	switch {
	case hub == "":
		return m, lastmile.Missing("hubId")
	case worker == "":
		return m, lastmile.Missing("workerId")
	}
	err = f.Store.Read(ctx, func(r store.Reader) error {
		from, err := r.Hub(ctx, who.Organization, hub)
		if err != nil {
			return err
		}
		driver, err := r.Worker(ctx, who.Organization, worker)
		if err != nil {
			return err
		}
		tasks, err := r.TasksOf(ctx, who.Organization, driver.Route())
		if err != nil {
			return err
		}
		m = travel.NewManifest(driver, from, tasks, within, f.Now())
		return nil
	})
	return m, err
}
