package fleet

import (
	"cmp"
	"context"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// The radius of a search by location.
const (
	DefaultRadius lastmile.Meters = 1_000
	MaxRadius     lastmile.Meters = 10_000
)

// WorkerQuery selects workers; zero fields select all.
type WorkerQuery struct {
	Teams    []lastmile.TeamID      // in any of these
	States   []lastmile.WorkerState // in any of these
	Phones   []string               // with any of these, as sent
	Metadata lastmile.Metadata      // all of these entries
}

// Workers returns workers, oldest first.
func (f *Fleet) Workers(ctx context.Context, who lastmile.Principal, q WorkerQuery) ([]lastmile.Worker, error) {
	filter := store.WorkerFilter{Teams: q.Teams, Metadata: q.Metadata}
	if len(q.Phones) > 0 {
		org, err := f.organization(ctx, who)
		if err != nil {
			return nil, err
		}
		for _, raw := range q.Phones {
			phone, err := f.ParsePhone(raw, org.Country)
			if err != nil {
				return nil, lastmile.Within("phones: ", err)
			}
			filter.Phones = append(filter.Phones, phone)
		}
	}
	workers, err := f.list(ctx, who, filter)
	if len(q.States) > 0 {
		workers = slices.DeleteFunc(workers, func(w lastmile.Worker) bool { return !slices.Contains(q.States, w.State()) })
	}
	return workers, err
}

// WorkersNear returns the workers on duty within a radius of a point, nearest
// first. A radius of zero means DefaultRadius.
func (f *Fleet) WorkersNear(ctx context.Context, who lastmile.Principal, center lastmile.Point, radius lastmile.Meters) ([]lastmile.Worker, error) {
	if radius == 0 {
		radius = DefaultRadius
	}
	if radius < 0 || radius > MaxRadius {
		return nil, lastmile.Invalid("radius must be between 0 and %.0f metres", float64(MaxRadius))
	}
	workers, err := f.list(ctx, who, store.WorkerFilter{OnDuty: true, Located: true})
	if err != nil {
		return nil, err
	}
	away := make(map[lastmile.WorkerID]lastmile.Meters, len(workers))
	for _, w := range workers {
		away[w.ID] = center.Distance(*w.Whereabouts.Location)
	}
	workers = slices.DeleteFunc(workers, func(w lastmile.Worker) bool { return away[w.ID] > radius })
	slices.SortStableFunc(workers, func(a, b lastmile.Worker) int { return cmp.Compare(away[a.ID], away[b.ID]) })
	return workers, nil
}

func (f *Fleet) list(ctx context.Context, who lastmile.Principal, filter store.WorkerFilter) (workers []lastmile.Worker, err error) {
	filter.Manager = who.Manager()
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		workers, err = r.Workers(ctx, who.Organization, filter)
		return err
	})
	return workers, err
}
