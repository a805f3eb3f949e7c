package webhook

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// How the log is numbered and followed.
const (
	numberAtOnce    = 100 // events in one transaction, which writes all of each
	followPage      = 100
	MaxFollowedPage = 128 << 10 // bytes of events that are read at once for a follower, and one event
	followRate      = 16 << 20  // bytes of events a second that all followers of an organization read

	// Limits of a page of the log: events, and bytes of them before the last one.
	MaxLogPage      = 1_000
	MaxLogPageBytes = 1 << 20
)

// Feed numbers the event log and lets clients follow it. Only committed events
// get numbers, so that a follower that has seen one has seen all before it,
// whichever node it asks next.
type Feed struct {
	Store store.Transactor[Reader, Writer]
	Log   *slog.Logger
	Hub   *events.Hub
	Woken <-chan struct{} // receives after events were committed by this process
	Ended <-chan struct{} // closed when no client may follow any more
	Poll  time.Duration   // between two checks for events of other nodes without a number

	reads rate.Turns // of organizations: many followers that catch up must not keep others waiting
}

// ErrEnded means that this node stops; the follower can continue on another node.
var ErrEnded = errors.New("the feed has ended")

// Run numbers events and wakes followers until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	tick := time.NewTicker(f.Poll)
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

// step numbers the new events of all nodes and wakes the clients that wait for
// them.
func (f *Feed) step(ctx context.Context) error {
	for {
		pending := false
		err := f.Store.Read(ctx, func(r Reader) (err error) {
			pending, err = r.EventsPending(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if !pending {
			return nil
		}
		var numbered []lastmile.OrganizationID
		err = f.Store.Write(ctx, func(w Writer) (err error) {
			numbered, err = w.NumberEvents(ctx, numberAtOnce)
			return err
		})
		if err != nil {
			return err
		}
		f.publish(numbered)
	}
}

// publish wakes the clients that follow organizations.
func (f *Feed) publish(orgs []lastmile.OrganizationID) {
	slices.Sort(orgs)
	for _, org := range slices.Compact(orgs) {
		f.Hub.Publish(events.OrganizationTopic(org))
	}
}

// Head returns the number of the newest event of the caller's organization.
func (f *Feed) Head(ctx context.Context, who lastmile.Principal) (seq int64, err error) {
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		seq, err = r.LastEvent(ctx, who.Organization)
		return err
	})
	return seq, err
}

// Next returns the events after seq that the caller may see, waiting for one until ctx
// ends, and the number of the last one that was considered. It returns none when ctx
// ended first, and ErrEnded when the feed did.
func (f *Feed) Next(ctx context.Context, who lastmile.Principal, seq int64) ([]store.LoggedEvent, int64, error) {
	following := f.Hub.Subscribe(events.OrganizationTopic(who.Organization))
	defer following.Close()
	for {
		select {
		case <-f.Ended:
			return nil, seq, ErrEnded
		default:
		}
		found, last, err := f.read(ctx, who, seq, followPage, MaxFollowedPage)
		if err != nil && ctx.Err() != nil { // while it was reading
			return nil, seq, nil // the follower asks again
		}
		if err != nil || len(found) > 0 {
			return found, last, err
		}
		if last > seq { // the caller may see none of these, but perhaps the next
			seq = last
			continue
		}
		select {
		case <-following.Changed():
		case <-f.Ended:
			return nil, seq, ErrEnded
		case <-ctx.Done():
			return nil, seq, nil
		}
	}
}

// Page returns the events after seq that the caller may see and that are there already, in
// order, and the number of the last one that was considered: seq if there is none.
func (f *Feed) Page(ctx context.Context, who lastmile.Principal, seq int64) (found []store.LoggedEvent, last int64, err error) {
	found, last, err = f.read(ctx, who, seq, MaxLogPage, MaxLogPageBytes)
	if err == nil {
		err = ctx.Err()
	}
	return found, last, err
}

// read returns the events after seq that are there already, when it is the
// organization's turn, up to so many and so many bytes, and the number of the last one. It
// returns none if ctx ends before.
func (f *Feed) read(ctx context.Context, who lastmile.Principal, seq int64, most, size int) (found []store.LoggedEvent, last int64, err error) {
	end, err := f.reads.Take(ctx, string(who.Organization))
	if err != nil {
		return nil, seq, nil // the follower asks again
	}
	bytes := 0
	defer func() { rate.After(time.Duration(bytes)*time.Second/followRate, end) }()
	var scope managed
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		if found, err = r.EventsAfter(ctx, who.Organization, seq, most, size); err != nil || len(found) == 0 || who.Manager() == "" {
			return err
		}
		scope.teams, scope.workers, err = r.Managed(ctx, who.Organization, who.Manager())
		return err
	})
	if err != nil || len(found) == 0 {
		return nil, seq, err
	}
	for _, e := range found {
		bytes += len(e.Body)
	}
	last = found[len(found)-1].Seq
	if who.Manager() != "" {
		found = slices.DeleteFunc(found, func(e store.LoggedEvent) bool { return !scope.has(e) })
	}
	return found, last, nil
}
