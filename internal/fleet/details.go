package fleet

import (
	"context"

	"dray/internal/analytics"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// WorkerDetails returns a worker, with an analysis of the work in a window if
// there is one.
func (f *Fleet) WorkerDetails(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID, in *lastmile.Window) (d analytics.WorkerDetails, err error) {
	err = f.Store.Read(ctx, func(r Reader) error {
		worker, err := r.WholeWorker(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		d = analytics.WorkerDetails{Worker: worker}
		var active []lastmile.Task
		if worker.ActiveTask != "" {
			task, err := r.Task(ctx, who.Organization, worker.ActiveTask)
			if err != nil {
				return err
			}
			d.ETA, active = travel.TimeToTask(worker, task), []lastmile.Task{task}
		}
		if in == nil {
			return nil
		}
		duty, err := r.Duty(ctx, who.Organization, id, *in)
		if err != nil {
			return err
		}
		done, err := r.CompletedBy(ctx, who.Organization, id, *in)
		if err != nil {
			return err
		}
		analytics := analytics.Summarize(*in, duty, append(done, active...))
		d.Analytics = &analytics
		return nil
	})
	return d, err
}
