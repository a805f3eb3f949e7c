package tracking

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// How workers are looked at.
const (
	lookEvery   = time.Second            // for what other nodes changed
	lookSoonest = 100 * time.Millisecond // after the look before
	looksAtOnce = 8
	claimAtOnce = 32
	claimFor    = 3 * time.Minute // more than a router may take
	lookAgain   = 5 * time.Second // after a look that failed

	releaseWithin = time.Second
)

// Run looks at workers until ctx ends.
func (t *Tracker) Run(ctx context.Context) {
	tick, soonest := time.NewTicker(lookEvery), time.NewTicker(lookSoonest)
	defer tick.Stop()
	defer soonest.Stop()
	if t.Alone {
		if err := t.Store.Write(ctx, func(w store.Writer) error { return w.ReleaseWatches(ctx) }); err != nil && ctx.Err() == nil {
			t.Log.Error("take over workers", "error", err)
		}
	}
	for ctx.Err() == nil {
		if _, err := t.Look(ctx); err != nil && ctx.Err() == nil {
			t.Log.Error("look at workers", "error", err)
		}
		select { // what happens at the same time is looked at together
		case <-ctx.Done():
		case <-soonest.C:
		}
		select {
		case <-ctx.Done():
		case <-t.Woken:
		case <-tick.C:
		}
	}
}

// Look looks at all workers who are due, and returns how many it looked at.
func (t *Tracker) Look(ctx context.Context) (looked int, err error) {
	for {
		claimed, err := t.claim(ctx)
		if err != nil || len(claimed) == 0 {
			return looked, err
		}
		if err := t.lookAtAll(ctx, claimed); err != nil {
			return looked, err
		}
		looked += len(claimed)
	}
}

// claim claims some workers who are due.
func (t *Tracker) claim(ctx context.Context) (claimed []store.Watch, err error) {
	now := t.Now()
	var due []store.Watch
	err = t.Store.Read(ctx, func(r store.Reader) (err error) {
		due, err = r.DueWatches(ctx, now, claimAtOnce)
		return err
	})
	if err != nil || len(due) == 0 {
		return nil, err
	}
	err = t.Store.Write(ctx, func(w store.Writer) error {
		claimed = claimed[:0]
		for _, watch := range due {
			watch.Claim = t.NewID()
			ok, err := w.ClaimWatch(ctx, watch, now, now.Add(claimFor))
			if err != nil {
				return err
			}
			if ok {
				claimed = append(claimed, watch)
			}
		}
		return nil
	})
	return claimed, err
}

// lookAtAll looks at some workers, a few at a time. The first error is
// returned, once all are looked at.
func (t *Tracker) lookAtAll(ctx context.Context, claimed []store.Watch) error {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	work := make(chan store.Watch, len(claimed))
	for _, watch := range claimed {
		work <- watch
	}
	close(work)
	for range min(looksAtOnce, len(claimed)) {
		group.Go(func() {
			for watch := range work {
				if err := t.lookAt(ctx, watch); err != nil {
					err = errors.Join(err, t.release(ctx, watch))
					mu.Lock()
					first = cmp.Or(first, err)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return first
}

// release gives a worker back who could not be looked at, also when this node is
// about to stop. It is tried again soon.
func (t *Tracker) release(ctx context.Context, watch store.Watch) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	return t.Store.Write(ctx, func(w store.Writer) error {
		held, ok, err := w.HeldWatch(ctx, watch)
		if err != nil || !ok {
			return err
		}
		held.Refresh = t.Now().Add(lookAgain)
		return w.SaveWatch(ctx, held)
	})
}

// view is what a look sees of a worker.
type view struct {
	travel.Itinerary
	whole bool               // all tasks, not the active one alone
	hooks []lastmile.Webhook // and, in their form, the thresholds for telling recipients
}

// lookAt estimates what a worker has to do and holds the active task against
// thresholds. Most of it is between two transactions: a router may be asked.
func (t *Tracker) lookAt(ctx context.Context, watch store.Watch) error {
	now := t.Now()
	seen, err := t.see(ctx, watch, now)
	if lastmile.IsNotFound(err) { // deleted, and the watch with it
		return nil
	}
	if err != nil {
		return err
	}
	experience, err := t.experience(ctx, watch.Organization)
	if err != nil {
		return err
	}
	var legs []travel.Leg
	if way := seen.Way(); len(way) > 1 {
		if legs, err = t.Travel.Legs(ctx, seen.Worker.TravelsBy(), way); err != nil {
			return err
		}
	}
	estimates := seen.Foresee(legs, experience, now)
	return t.Store.Write(ctx, func(w store.Writer) error {
		held, ok, err := w.HeldWatch(ctx, watch)
		if err != nil || !ok {
			return err
		}
		if err := t.save(ctx, w, &held, seen, estimates, now); err != nil {
			return err
		}
		if held.Changes != watch.Changes { // since the worker was seen: again, at once
			held.Refresh = now
		}
		return w.SaveWatch(ctx, held)
	})
}

// see reads what a look goes by. Between two refreshes that is the active task
// alone, so that what a moving worker costs does not grow with the list.
func (t *Tracker) see(ctx context.Context, watch store.Watch, now time.Time) (v view, err error) {
	v.whole = !watch.Refresh.After(now)
	err = t.Store.Read(ctx, func(r store.Reader) (err error) {
		read := r.Tracked
		if v.whole {
			read = r.Worker
		}
		if v.Worker, err = read(ctx, watch.Organization, watch.Worker); err != nil {
			return err
		}
		if v.Tasks, err = r.TasksOf(ctx, watch.Organization, v.Worker.Route()); err != nil {
			return err
		}
		if v.hooks, err = r.Webhooks(ctx, watch.Organization); err != nil || t.Notify == nil {
			return err
		}
		thresholds, err := r.NotificationThresholds(ctx, watch.Organization)
		v.hooks = append(v.hooks, recipientsOf(watch.Organization, thresholds)...)
		return err
	})
	return v, err
}

// save saves what a look found, and tells of it.
func (t *Tracker) save(ctx context.Context, w store.Writer, watch *store.Watch, seen view, estimates []lastmile.Estimates, now time.Time) error {
	foreseen := make([]store.Foreseen, len(estimates))
	for i, task := range seen.Tasks {
		foreseen[i] = store.Foreseen{Task: task.ID, State: task.State, Estimates: estimates[i]}
	}
	delay := travel.Delay(estimates)
	if !seen.whole {
		delay = seen.Worker.Delay // of all tasks
	} else {
		watch.Refresh = seen.Refresh(now)
	}
	if err := w.SaveForeseen(ctx, watch.Organization, watch.Worker, foreseen, delay); err != nil {
		return err
	}
	told, err := t.judge(ctx, w, watch, seen, estimates, now)
	if err != nil {
		return err
	}
	if seen.whole {
		if told.all, err = t.predict(ctx, w, seen, estimates, now); err != nil {
			return err
		}
	}
	return t.tell(ctx, w, told, now)
}

// fallout is the events that come of a look.
type fallout struct {
	webhooks   []lastmile.Event // thresholds of webhooks that were met, for them alone
	recipients []lastmile.Event // those of the organization, for recipients alone
	all        []lastmile.Event // what concerns everybody
}

// tell stores events with ids of their own, and lets recipients hear of those
// that are for them.
func (t *Tracker) tell(ctx context.Context, w store.Writer, told fallout, now time.Time) error {
	for _, events := range [][]lastmile.Event{told.webhooks, told.recipients, told.all} {
		for i := range events {
			events[i].ID, events[i].Stored = t.NewID(), now
		}
	}
	if err := w.AppendEvents(ctx, slices.Concat(told.webhooks, told.all)); err != nil {
		return err
	}
	heard := slices.Concat(told.recipients, told.all)
	if t.Notify == nil || len(heard) == 0 {
		return nil
	}
	return t.Notify(ctx, w, heard)
}

// current reads a task as it is in the transaction, with its estimates. It
// tells whether the task is still as it was when it was seen.
func current(ctx context.Context, w store.Writer, seen lastmile.Task, e lastmile.Estimates) (lastmile.Task, bool, error) {
	task, err := w.Task(ctx, seen.Organization, seen.ID)
	if lastmile.IsNotFound(err) {
		return task, false, nil
	}
	if err != nil {
		return task, false, err
	}
	task.Estimates = e
	return task, task.State == seen.State && task.Worker == seen.Worker, nil
}
