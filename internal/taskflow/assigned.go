package taskflow

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// AssignedSince is the default period of the task lists of workers and teams, which ends
// now.
const AssignedSince = 7 * 24 * time.Hour

// Assigned returns one page of the tasks that a worker or a team has now, in the
// form of the API, and the id that the next page starts after.
func (ts *Tasks) Assigned(ctx context.Context, who lastmile.Principal, in lastmile.ContainerRef, q Query) (docs [][]byte, last lastmile.TaskID, err error) {
	err = ts.Store.Read(ctx, func(r TaskReader) error { return checkContainer(ctx, r, who.Organization, in) })
	if err != nil {
		return nil, "", err
	}
	if q.From.IsZero() {
		q.From = ts.Now().Add(-AssignedSince)
	}
	q.Containers, q.Unfinished = []string{in.Owner}, true
	return ts.List(ctx, who, q)
}

// Manifest returns the delivery manifest of a worker who starts from a hub: all
// tasks of the worker, or those that can be done in a window.
func (cs *Containers) Manifest(ctx context.Context, who lastmile.Principal, hub lastmile.HubID, worker lastmile.WorkerID, within lastmile.Window) (m travel.Manifest, err error) {
	switch {
	case hub == "":
		return m, lastmile.Missing("hubId")
	case worker == "":
		return m, lastmile.Missing("workerId")
	}
	err = cs.Store.Read(ctx, func(r ContainerReader) error {
		from, err := r.Hub(ctx, who.Organization, hub)
		if err != nil {
			return err
		}
		driver, err := r.Worker(ctx, who.Organization, worker)
		if err != nil {
			return err
		}
		list, err := r.Container(ctx, who.Organization, lastmile.WorkerContainer(worker))
		if err != nil {
			return err
		}
		tasks, err := r.TasksOf(ctx, who.Organization, list.Route())
		if err != nil {
			return err
		}
		m = travel.NewManifest(driver, from, tasks, within, cs.Now())
		return nil
	})
	return m, err
}
