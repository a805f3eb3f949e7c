package webhook

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// How the log is numbered and followed.
const (
	numberAtOnce = 500
	numberEvery  = 250 * time.Millisecond
	followPage   = 100
)

// Feed numbers the event log and lets clients follow it. Numbers are given to
// committed events only, so that whoever has seen one has seen all before it,
// whatever node it asks next.
type Feed struct {
	Store store.Store
	Log   *slog.Logger
	Woken <-chan struct{}
	Ended <-chan struct{} // closed when nobody may follow any more

	mu      sync.Mutex
	waiting map[lastmile.OrganizationID]*followers
}

// ErrEnded tells a follower that the feed has ended here, and goes on
// elsewhere.
var ErrEnded = errors.New("the feed has ended")

// followers are the clients of one organization that wait for what comes next.
type followers struct {
	moved chan struct{} // closed when there is something new
	head  int64
	count int
}

// Run numbers events and wakes followers until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	tick := time.NewTicker(numberEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := f.step(ctx); err != nil && ctx.Err() == nil {
			f.Log.Error("number events", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-f.Woken:
		case <-tick.C:
		}
	}
}

// step numbers what is new, here or on other nodes, and wakes who waits for
// it.
func (f *Feed) step(ctx context.Context) error {
	for {
		pending := false
		err := f.Store.Read(ctx, func(r store.Reader) (err error) {
			pending, err = r.EventsPending(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if !pending {
			break
		}
		err = f.Store.Write(ctx, func(w store.Writer) error {
			_, err := w.NumberEvents(ctx, numberAtOnce)
			return err
		})
		if err != nil {
			return err
		}
	}
	return f.wake(ctx)
}

// wake looks how far the log of each followed organization has come.
func (f *Feed) wake(ctx context.Context) error {
	f.mu.Lock()
	orgs := make([]lastmile.OrganizationID, 0, len(f.waiting))
	for org := range f.waiting {
		orgs = append(orgs, org)
	}
	f.mu.Unlock()
	if len(orgs) == 0 {
		return nil
	}
	heads := make(map[lastmile.OrganizationID]int64, len(orgs))
	err := f.Store.Read(ctx, func(r store.Reader) (err error) {
		for _, org := range orgs {
			if heads[org], err = r.LastEvent(ctx, org); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for org, head := range heads {
		if w := f.waiting[org]; w != nil && head > w.head {
			w.head = head
			close(w.moved)
			w.moved = make(chan struct{})
		}
	}
	return nil
}

// Head is the number of the newest event of the caller's organization.
func (f *Feed) Head(ctx context.Context, who lastmile.Principal) (seq int64, err error) {
	err = f.Store.Read(ctx, func(r store.Reader) (err error) {
		seq, err = r.LastEvent(ctx, who.Organization)
		return err
	})
	return seq, err
}

// Next returns the events after seq, waiting for one until ctx ends. It returns
// none when ctx ended first, and ErrEnded when the feed did.
func (f *Feed) Next(ctx context.Context, who lastmile.Principal, seq int64) ([]store.LoggedEvent, error) {
	w, leave := f.join(who.Organization)
	defer leave()
	for {
		select {
		case <-f.Ended:
			return nil, ErrEnded
		default:
		}
		f.mu.Lock()
		moved := w.moved
		f.mu.Unlock()
		var found []store.LoggedEvent
		err := f.Store.Read(ctx, func(r store.Reader) (err error) {
			found, err = r.EventsAfter(ctx, who.Organization, seq, followPage)
			return err
		})
		if err != nil || len(found) > 0 {
			return found, err
		}
		select {
		case <-moved:
		case <-f.Ended:
			return nil, ErrEnded
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// join adds a follower of an organization; leave takes it away again.
func (f *Feed) join(org lastmile.OrganizationID) (w *followers, leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting == nil {
		f.waiting = map[lastmile.OrganizationID]*followers{}
	}
	w = f.waiting[org]
	if w == nil {
		w = &followers{moved: make(chan struct{})}
		f.waiting[org] = w
	}
	w.count++
	return w, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if w.count--; w.count == 0 && f.waiting[org] == w {
			delete(f.waiting, org)
		}
	}
}
