package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dray/internal/calendar"
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

// Settings returns the organization of the calling worker, its settings, and the
// location of the worker's hub: the first one of the worker's teams, or else of the
// organization; nil if there is none.
func (f *Fleet) Settings(ctx context.Context, who lastmile.Principal) (org lastmile.Organization, settings lastmile.Settings, home *lastmile.Point, err error) {
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		if org, err = r.Organization(ctx, who.Organization); err != nil {
			return err
		}
		if settings, err = r.Settings(ctx, who.Organization); err != nil {
			return err
		}
		worker, err := r.Worker(ctx, who.Organization, who.Worker)
		if err != nil {
			return err
		}
		hubs, err := r.Hubs(ctx, who.Organization)
		home = homeOf(worker, hubs)
		return err
	})
	return org, settings, home, err
}

// homeOf returns the location of a worker's hub.
func homeOf(w lastmile.Worker, hubs []lastmile.Hub) (home *lastmile.Point) {
	for _, hub := range hubs {
		if slices.ContainsFunc(hub.Teams, func(t lastmile.TeamID) bool { return slices.Contains(w.Teams, t) }) {
			return &hub.Location
		}
		if home == nil {
			home = &hub.Location
		}
	}
	return home
}

// CompletedToday returns the tasks that the calling worker completed since midnight
// in the time zone of the organization, the latest first.
func (f *Fleet) CompletedToday(ctx context.Context, who lastmile.Principal) (tasks []lastmile.Task, err error) {
	now := f.Now()
	err = f.Store.Read(ctx, func(r Reader) error {
		org, err := r.Organization(ctx, who.Organization)
		if err != nil {
			return err
		}
		zone := calendar.Zone(org.Timezone)
		begin, _, err := calendar.Day(now.In(zone).Format(time.DateOnly), zone)
		if err != nil {
			return fmt.Errorf("find today in %s: %w", zone, err)
		}
		today := lastmile.Window{From: begin, To: now.Add(time.Minute)}
		tasks, err = r.CompletedBy(ctx, who.Organization, who.Worker, today)
		return err
	})
	slices.SortStableFunc(tasks, func(a, b lastmile.Task) int { return b.Completion.At.Compare(a.Completion.At) })
	return tasks, err
}

// SetDuty puts the calling worker on or off duty, and stores the worker's phone if
// the app reports it.
func (f *Fleet) SetDuty(ctx context.Context, who lastmile.Principal, onDuty bool, phone *lastmile.DeviceReport) (worker lastmile.Worker, err error) {
	now := f.Now()
	err = f.Store.Write(ctx, func(w Writer) (err error) {
		if worker, err = w.Worker(ctx, who.Organization, who.Worker); err != nil {
			return err
		}
		if phone == nil && worker.Whereabouts.OnDuty == onDuty {
			return nil
		}
		// Before the worker is saved: saving estimates locks in this order, too.
		if err := w.ScheduleEstimate(ctx, who.Organization, who.Worker, now); err != nil {
			return err
		}
		if phone != nil {
			if err := updateDevice(ctx, w, &worker, *phone, now); err != nil {
				return err
			}
		}
		events := worker.SetDuty(onDuty, who.Actor(), now)
		if err := w.SaveWhereabouts(ctx, who.Organization, who.Worker, worker.Whereabouts); err != nil {
			return err
		}
		return f.Events.Append(ctx, w, events...)
	})
	if err != nil {
		return worker, err
	}
	return worker, f.addTasks(ctx, &worker)
}

// addTasks adds the remaining tasks to a worker, because Reader.Worker returns only the
// first lastmile.MaxEventTasks.
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
