package tracking

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// Limits of correcting the distances of completed tasks.
const (
	correctAfter  = time.Minute         // time without positions; a worker does not get far in less
	minCorrection = lastmile.Meters(50) // smaller corrections are not worth an event
	maxCorrected  = 20                  // tasks per report
)

// measure sets the odometers of positions, which are ordered by time, and returns
// the worker's odometer after them. A position older than the last known location gets
// the odometer of its neighbor, because that way was measured already.
func measure(ctx context.Context, r Reader, who lastmile.Principal, positions []lastmile.Position, last lastmile.Whereabouts) (lastmile.Odometer, error) {
	late := 0
	if last.Location != nil {
		late, _ = slices.BinarySearchFunc(positions, last.LocatedAt, func(p lastmile.Position, at time.Time) int { return p.At.Compare(at) })
	}
	if late > 0 {
		times := make([]time.Time, late)
		for i := range times {
			times[i] = positions[i].At
		}
		measured, err := r.OdometersAt(ctx, who.Organization, who.Worker, times)
		if err != nil {
			return last.Odometer, err
		}
		for i, way := range measured {
			positions[i].Odometer = way
		}
	}
	return travel.Measure(positions[late:], last.Odometer), nil
}

// correctDistances measures again how far a worker went for the tasks completed between
// two positions: after a time without signal, a phone reports positions later than the
// worker's actions. Each task is corrected at most once, by the report of the first
// position after its completion.
func (t *Tracker) correctDistances(ctx context.Context, w Writer, who lastmile.Principal, from, to, now time.Time) error {
	if now.Sub(from) < correctAfter {
		return nil
	}
	completed, err := w.CompletedIn(ctx, who.Organization, who.Worker, from, to, maxCorrected)
	if err != nil {
		return err
	}
	for _, id := range completed {
		task, err := w.Task(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		way, err := wayOf(ctx, w, &task, task.Completion.At)
		if err != nil {
			return err
		}
		if max(way-task.Completion.Distance, task.Completion.Distance-way) < minCorrection {
			continue
		}
		events := task.CorrectDistance(way, now)
		if err := w.SaveTask(ctx, task); err != nil {
			return err
		}
		if err := t.Events.Append(ctx, w, events...); err != nil {
			return err
		}
	}
	return nil
}

// Way returns how far the worker of a task went from its start to a time. It runs in
// the transaction of another use case.
func (t *Tracker) Way(ctx context.Context, tx store.Transaction, task *lastmile.Task, end time.Time) (lastmile.Meters, error) {
	w, err := t.Store.Join(tx)
	if err != nil {
		return 0, err
	}
	return wayOf(ctx, w, task, end)
}

// LocationAt returns where the worker of a task was at a time; nil if it is unknown.
// It runs in the transaction of another use case.
func (t *Tracker) LocationAt(ctx context.Context, tx store.Transaction, task *lastmile.Task, at time.Time) (*lastmile.Point, error) {
	w, err := t.Store.Join(tx)
	if err != nil {
		return nil, err
	}
	near, err := around(ctx, w, task, at)
	return near.Location(), err
}

// wayOf returns how far the worker of a task went from its start to a time.
func wayOf(ctx context.Context, r Reader, task *lastmile.Task, end time.Time) (lastmile.Meters, error) {
	start, err := around(ctx, r, task, task.Completion.TimeOf("start"))
	if err != nil {
		return 0, err
	}
	last, err := around(ctx, r, task, end)
	return travel.WayBetween(start, last), err
}

func around(ctx context.Context, r Reader, task *lastmile.Task, at time.Time) (s travel.Surroundings, err error) {
	s.At = at
	s.Before, s.After, err = r.PositionsAround(ctx, task.Organization, task.Worker, at)
	return s, err
}
