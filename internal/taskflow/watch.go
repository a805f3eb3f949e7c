package taskflow

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// lookEvery is how soon a phone hears of a change that another node made, or
// this one.
const lookEvery = 300 * time.Millisecond

// Watch wakes the phones whose lists have changed. Each node looks at the
// lists that it is asked about, so it does not matter where a change is made.
type Watch struct {
	Store store.Store
	Log   *slog.Logger

	mu      sync.Mutex
	watched map[watchedList]*watchers
}

// watchedList is the list of one worker.
type watchedList struct {
	organization lastmile.OrganizationID
	worker       lastmile.WorkerID
}

// watchers are the phones that wait for one list.
type watchers struct {
	moved   chan struct{} // closed when the list has changed
	version int64
	count   int
}

// Run looks for changes until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := w.look(ctx); err != nil && ctx.Err() == nil {
				w.Log.Error("look for changed lists", "error", err)
			}
		}
	}
}

// look reads the versions of all lists that somebody waits for.
func (w *Watch) look(ctx context.Context) error {
	w.mu.Lock()
	wanted := map[lastmile.OrganizationID][]lastmile.WorkerID{}
	for list := range w.watched {
		wanted[list.organization] = append(wanted[list.organization], list.worker)
	}
	w.mu.Unlock()
	for org, workers := range wanted {
		var versions map[lastmile.WorkerID]int64
		err := w.Store.Read(ctx, func(r store.Reader) (err error) {
			versions, err = r.ListVersions(ctx, org, workers)
			return err
		})
		if err != nil {
			return err
		}
		w.mu.Lock()
		for worker, version := range versions {
			if waiting := w.watched[watchedList{org, worker}]; waiting != nil && waiting.version != version {
				waiting.version = version
				close(waiting.moved)
				waiting.moved = make(chan struct{})
			}
		}
		w.mu.Unlock()
	}
	return nil
}

// Join begins to watch the list of the worker who is asking. moved returns a
// channel that is closed at the next change; leave ends it.
func (w *Watch) Join(who lastmile.Principal) (moved func() <-chan struct{}, leave func()) {
	list := watchedList{who.Organization, who.Worker}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched == nil {
		w.watched = map[watchedList]*watchers{}
	}
	waiting := w.watched[list]
	if waiting == nil {
		waiting = &watchers{moved: make(chan struct{})}
		w.watched[list] = waiting
	}
	waiting.count++
	moved = func() <-chan struct{} {
		w.mu.Lock()
		defer w.mu.Unlock()
		return waiting.moved
	}
	return moved, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if waiting.count--; waiting.count == 0 {
			delete(w.watched, list)
		}
	}
}
