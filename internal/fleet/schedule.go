package fleet

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Schedule reads a worker's schedule.
func (f *Fleet) Schedule(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID) (schedule lastmile.Schedule, err error) {
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		if _, err := r.Worker(ctx, who.Organization, id); err != nil {
			return err
		}
		schedule, err = r.Schedule(ctx, who.Organization, id)
		return err
	})
	return schedule, err
}

// SetSchedule replaces a worker's schedule.
func (f *Fleet) SetSchedule(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID, entries []lastmile.ScheduleEntry) (lastmile.Schedule, error) {
	schedule, err := lastmile.NewSchedule(entries, f.Now())
	if err != nil {
		return nil, err
	}
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (lastmile.Schedule, error) {
		if _, err := w.Worker(ctx, who.Organization, id); err != nil {
			return nil, err
		}
		f.showChange(w, who.Organization)
		return schedule, w.SaveSchedule(ctx, who.Organization, id, schedule)
	})
}
