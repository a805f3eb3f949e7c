package fleet

import (
	"context"
	"slices"

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

// SetSchedule replaces a worker's schedule. An unchanged one is not saved, so that boards
// do not read it again.
func (f *Fleet) SetSchedule(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID, entries []lastmile.ScheduleEntry) (lastmile.Schedule, error) {
	schedule, err := lastmile.NewSchedule(entries, f.Now())
	if err != nil {
		return nil, err
	}
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (lastmile.Schedule, error) {
		if _, err := w.Worker(ctx, who.Organization, id); err != nil {
			return nil, err
		}
		was, err := w.Schedule(ctx, who.Organization, id)
		if err != nil || sameSchedule(was, schedule) {
			return schedule, err
		}
		f.showChange(w, who.Organization)
		return schedule, w.SaveSchedule(ctx, who.Organization, id, schedule)
	})
}

func sameSchedule(a, b lastmile.Schedule) bool {
	return slices.EqualFunc(a, b, func(a, b lastmile.ScheduleEntry) bool {
		return a.Date == b.Date && a.Timezone == b.Timezone && slices.EqualFunc(a.Shifts, b.Shifts, func(a, b lastmile.Shift) bool {
			return a.Start.Equal(b.Start) && a.End.Equal(b.End)
		})
	})
}
