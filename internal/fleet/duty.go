package fleet

import (
	"context"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Self reads the worker who is asking.
func (f *Fleet) Self(ctx context.Context, who access.Principal) (worker lastmile.Worker, err error) {
	err = f.Store.Read(ctx, func(r store.Reader) (err error) {
		worker, err = r.Worker(ctx, who.Organization, who.Worker)
		return err
	})
	return worker, err
}

// SetDuty puts the worker who is asking on or off duty.
func (f *Fleet) SetDuty(ctx context.Context, who access.Principal, onDuty bool) (worker lastmile.Worker, err error) {
	now := f.Now()
	err = f.Store.Write(ctx, func(w store.Writer) (err error) {
		if worker, err = w.Worker(ctx, who.Organization, who.Worker); err != nil {
			return err
		}
		events := worker.SetDuty(onDuty, who.Actor(), now)
		if len(events) == 0 {
			return nil
		}
		for i := range events {
			events[i].ID, events[i].Stored = f.NewID(), now
		}
		if err := w.SaveWhereabouts(ctx, who.Organization, who.Worker, worker.Whereabouts); err != nil {
			return err
		}
		return f.append(ctx, w, events)
	})
	return worker, err
}

// Report takes in where the worker who is asking was. It returns how many
// positions were believed.
func (f *Fleet) Report(ctx context.Context, who access.Principal, positions []lastmile.Position) (believed int, err error) {
	if len(positions) > lastmile.MaxPositions {
		return 0, lastmile.Invalid("positions has %d entries; at most %d are allowed", len(positions), lastmile.MaxPositions)
	}
	now := f.Now()
	err = f.Store.Write(ctx, func(w store.Writer) error {
		worker, err := w.Worker(ctx, who.Organization, who.Worker)
		if err != nil {
			return err
		}
		kept := lastmile.Believe(positions, worker.Whereabouts, now)
		believed = len(kept)
		if believed == 0 {
			return nil
		}
		if err := w.SavePositions(ctx, who.Organization, who.Worker, kept); err != nil {
			return err
		}
		return w.SaveWhereabouts(ctx, who.Organization, who.Worker, worker.Whereabouts.See(kept))
	})
	return believed, err
}
