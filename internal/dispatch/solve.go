package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
	"dray/internal/optimize"
	"dray/internal/planning"
	"dray/internal/work"
)

const (
	// progressEvery is the interval at which the progress of a dispatch is saved, and the
	// maximum time until a request to stop it has an effect.
	progressEvery = time.Second

	// stopGrace is how long the optimizer takes to end with a good plan when it is stopped.
	stopGrace = time.Second
)

// solve runs the optimizer and saves its progress meanwhile. A request to stop ends it
// early. The solution is checked independently.
func (ds *Dispatches) solve(ctx context.Context, job *work.Lease, d lastmile.Dispatch, model *planning.Model, budget time.Duration) (*optimize.Solution, error) {
	if len(model.Problem.Vehicles) == 0 {
		return model.Nothing(), nil
	}
	within, stop := context.WithCancel(ctx)
	var (
		latest atomic.Pointer[optimize.Progress]
		watch  sync.WaitGroup
		lost   error
	)
	watch.Go(func() { lost = ds.watch(within, stop, job, d, model, &latest) })
	threads := min(optimize.UsefulThreads(&model.Problem), ds.Processors.total)
	allowed, end := ds.Processors.search(threads)
	defer end()
	options := optimize.Options{
		Seed: 1, Budget: budget, Now: ds.Elapsed, Grace: stopGrace, Threads: threads, Allowed: allowed,
		Progress: func(p optimize.Progress) { latest.Store(&p) },
	}
	if d.Replan != nil {
		options.Initial = model.Initial()
	}
	solution, err := optimize.Solve(within, &model.Problem, options)
	stop()
	watch.Wait()
	if err := errors.Join(err, lost, ctx.Err()); err != nil {
		return nil, err
	}
	if err := optimize.Check(&model.Problem, solution); err != nil {
		return nil, fmt.Errorf("the plan of dispatch %s breaks a rule: %w", d.ID, err)
	}
	return solution, nil
}

// watch saves the progress of a dispatch until ctx ends, and calls stop when that is
// requested.
func (ds *Dispatches) watch(ctx context.Context, stop func(), job *work.Lease, d lastmile.Dispatch, model *planning.Model, latest *atomic.Pointer[optimize.Progress]) error {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		var stopped bool
		err := ds.Store.Read(ctx, func(r Reader) (err error) {
			stopped, err = r.DispatchStopped(ctx, d.Organization, d.ID)
			return err
		})
		if stopped {
			stop()
			return nil
		}
		if p := latest.Load(); p != nil && err == nil {
			d.Progress.Phase = string(p.Phase)
			d.Progress.Planned, d.Progress.Cost = model.Cost(p.Best)
			err = ds.save(ctx, job, d)
		}
		switch {
		case errors.Is(err, work.ErrLost):
			stop()
			return err
		case err != nil && ctx.Err() == nil: // the plan does not depend on it
			ds.Log.WarnContext(ctx, "the progress of a dispatch was not saved", "dispatch", d.ID, "error", err)
		}
	}
}
