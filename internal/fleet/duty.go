package fleet

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// Self returns the worker who is the caller.
func (f *Fleet) Self(ctx context.Context, who lastmile.Principal) (worker lastmile.Worker, err error) {
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		worker, err = r.WholeWorker(ctx, who.Organization, who.Worker)
		return err
	})
	return worker, err
}

// SetDuty puts the calling worker on or off duty, and stores the worker's phone if
// the app reports it.
func (f *Fleet) SetDuty(ctx context.Context, who lastmile.Principal, onDuty bool, phone *lastmile.DeviceReport) (worker lastmile.Worker, err error) {
	now := f.Now()
	err = f.Store.Write(ctx, func(w Writer) (err error) {
		if worker, err = w.Worker(ctx, who.Organization, who.Worker); err != nil {
			return err
		}
		if phone != nil {
			if err := updateDevice(ctx, w, &worker, *phone, now); err != nil {
				return err
			}
		}
		events := worker.SetDuty(onDuty, who.Actor(), now)
		if len(events) == 0 && phone == nil {
			return nil
		}
		if err := w.SaveWhereabouts(ctx, who.Organization, who.Worker, worker.Whereabouts); err != nil {
			return err
		}
		if err := w.ScheduleEstimate(ctx, who.Organization, who.Worker, now); err != nil {
			return err
		}
		return f.Events.Append(ctx, w, events...)
	})
	if err != nil {
		return worker, err
	}
	return worker, f.addTasks(ctx, &worker)
}

// addTasks adds the tasks that a worker has beyond those that a transaction reads
// when it changes a worker.
func (f *Fleet) addTasks(ctx context.Context, worker *lastmile.Worker) error {
	if len(worker.Tasks) < lastmile.MaxEventTasks {
		return nil
	}
	return f.Store.Read(ctx, func(r Reader) error {
		whole, err := r.WholeWorker(ctx, worker.Organization, worker.ID)
		worker.Tasks = whole.Tasks
		return err
	})
}

// updateDevice saves a worker's phone if it has changed.
func updateDevice(ctx context.Context, w Writer, worker *lastmile.Worker, phone lastmile.DeviceReport, now time.Time) error {
	changed, err := worker.UpdateDevice(phone, now)
	if err != nil || !changed {
		return err
	}
	return w.SaveWorker(ctx, *worker)
}
