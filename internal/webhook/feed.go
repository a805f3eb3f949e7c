package webhook

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// Limits of numbering and following the log.
const (
	numberAtOnce    = 100 // events numbered in one transaction, which rewrites them completely
	followPage      = 100
	MaxFollowedPage = 128 << 10 // bytes of events read at once for a follower, without the last event
	followRate      = 16 << 20  // bytes of events per second that all followers of an organization read

	// Limits of a page of the log: the number of events, and their bytes without the last event.
	MaxLogPage      = 1_000
	MaxLogPageBytes = 1 << 20
)

// Feed numbers the events that have no number since they were stored, and lets clients
// follow the log. Only committed events get numbers, so that a follower that has seen an
// event has seen all events with lower numbers, whichever node it asks next.
type Feed struct {
	Store     store.Transactor[Reader, Writer]
	Log       *slog.Logger
	Hub       *events.Hub
	Committed <-chan struct{} // receives a value after this process has committed events; nil if they have numbers
	Ended     <-chan struct{} // closed when no client may follow any more
	Poll      time.Duration   // interval of checks for unnumbered events of other nodes

	reads rate.Turns // one read for each organization at a time: many followers that catch up must not delay others

	mu    sync.Mutex
	known map[lastmile.OrganizationID]*latest
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
		case <-f.Committed:
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
		err = f.Store.Write(lastmile.Locking(ctx), func(w Writer) (err error) {
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

// Next waits for events after seq that the caller may see, and returns them with the
// number of the last event considered. It returns none if ctx ends first, and ErrEnded
// if the feed does.
func (f *Feed) Next(ctx context.Context, who lastmile.Principal, seq int64) ([]store.LoggedEvent, int64, error) {
	return f.next(ctx, who, seq, managed.seen)
}

// NextOfBoard is Next for boards. It also returns events that moved a task out of a
// manager's sight, without their bodies, so that a board that showed the task removes it.
func (f *Feed) NextOfBoard(ctx context.Context, who lastmile.Principal, seq int64) ([]store.LoggedEvent, int64, error) {
	return f.next(ctx, who, seq, managed.seenOnBoard)
}

func (f *Feed) next(ctx context.Context, who lastmile.Principal, seq int64, seen seenBy) ([]store.LoggedEvent, int64, error) {
	following := f.Hub.Subscribe(events.OrganizationTopic(who.Organization))
	defer following.Close()
	for {
		select {
		case <-f.Ended:
			return nil, seq, ErrEnded
		default:
		}
		found, last, err := f.read(ctx, who, seq, f.followed, seen)
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

// Page returns the existing events after seq that the caller may see, in order, and the
// number of the last event considered, which is seq if there is none.
func (f *Feed) Page(ctx context.Context, who lastmile.Principal, seq int64) (found []store.LoggedEvent, last int64, err error) {
	found, last, err = f.read(ctx, who, seq, func(ctx context.Context, org lastmile.OrganizationID, seq int64) ([]store.LoggedEvent, int, error) {
		return f.stored(ctx, org, seq, MaxLogPage, MaxLogPageBytes)
	}, managed.seen)
	if err == nil {
		err = ctx.Err()
	}
	return found, last, err
}

// pageReader returns events after seq and how many bytes were read for them.
type pageReader func(ctx context.Context, org lastmile.OrganizationID, seq int64) (found []store.LoggedEvent, size int, err error)

// seenBy returns the events that a manager sees.
type seenBy func(managed, []store.LoggedEvent) []store.LoggedEvent

// read waits for the organization's turn, and returns the existing events after seq that
// the caller may see, and the number of the last event considered. It returns none if ctx
// ends before the turn. After that, it reads to the end: what a board waits for ends whenever
// a worker moves, and would often have to be read again.
func (f *Feed) read(ctx context.Context, who lastmile.Principal, seq int64, page pageReader, seen seenBy) (found []store.LoggedEvent, last int64, err error) {
	end, err := f.reads.Take(ctx, string(who.Organization))
	if err != nil {
		return nil, seq, nil // the follower asks again
	}
	ctx = context.WithoutCancel(ctx)
	size := 0
	defer func() { rate.After(time.Duration(size)*time.Second/followRate, end) }()
	if found, size, err = page(ctx, who.Organization, seq); err != nil || len(found) == 0 {
		return nil, seq, err
	}
	last = found[len(found)-1].Seq
	if who.Manager() == "" {
		return found, last, nil
	}
	scope := managed{of: who.Organization}
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		scope.teams, scope.workers, err = r.Managed(ctx, who.Organization, who.Manager())
		return err
	})
	if err != nil {
		return nil, seq, err
	}
	return seen(scope, found), last, nil
}

// stored reads up to limit events from the store, and stops once they have maxBytes.
func (f *Feed) stored(ctx context.Context, org lastmile.OrganizationID, seq int64, limit, maxBytes int) (found []store.LoggedEvent, size int, err error) {
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		found, err = r.EventsAfter(ctx, org, seq, limit, maxBytes)
		return err
	})
	for _, e := range found {
		size += len(e.Body)
	}
	return found, size, err
}

// latest has the events that were read last for followers who had caught up. Other followers
// who are not far behind get the same events, so that each is read once for all of them.
type latest struct {
	after   int64 // number of the event before the first
	found   []store.LoggedEvent
	version uint64 // version of the log before the events were read; while it is current, none follow
}

// latestLifetime is how long the latest events of an organization are kept.
const latestLifetime = time.Second

// since returns the events after seq, and whether they are known. There may be later ones.
func (l *latest) since(seq int64, version uint64) (found []store.LoggedEvent, known bool) {
	if l == nil || seq < l.after || seq > l.last() {
		return nil, false
	}
	i, _ := slices.BinarySearchFunc(l.found, seq+1, func(e store.LoggedEvent, seq int64) int { return cmp.Compare(e.Seq, seq) })
	return l.found[i:], i < len(l.found) || version == l.version
}

// last returns the number of the newest event.
func (l *latest) last() int64 {
	if len(l.found) == 0 {
		return l.after
	}
	return l.found[len(l.found)-1].Seq
}

// extended returns the latest events with those that were read after seq.
func (l *latest) extended(seq int64, found []store.LoggedEvent, version uint64) *latest {
	if l == nil || l.last() != seq {
		return &latest{seq, found, version}
	}
	all := slices.Concat(l.found, found)
	first, size := len(all), 0
	for first > 0 && len(all)-first < followPage && size < MaxFollowedPage {
		first--
		size += len(all[first].Body)
	}
	if first == 0 {
		return &latest{l.after, all, version}
	}
	return &latest{all[first-1].Seq, all[first:], version}
}

// followed is the pageReader for followers. It does not read the store if the latest events
// are known. Later ones are returned when the follower asks again.
func (f *Feed) followed(ctx context.Context, org lastmile.OrganizationID, seq int64) (found []store.LoggedEvent, size int, err error) {
	version := f.Hub.Version(events.OrganizationTopic(org))
	f.mu.Lock()
	before := f.known[org]
	f.mu.Unlock()
	if found, known := before.since(seq, version); known {
		return found, 0, nil
	}
	if found, size, err = f.stored(ctx, org, seq, followPage, MaxFollowedPage); err != nil {
		return nil, 0, err
	}
	if len(found) < followPage && size < MaxFollowedPage { // there are no more
		f.keep(org, before.extended(seq, found, version))
	}
	return found, size, nil
}

// keep keeps the latest events of an organization for a moment.
func (f *Feed) keep(org lastmile.OrganizationID, l *latest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[lastmile.OrganizationID]*latest{}
	}
	f.known[org] = l
	time.AfterFunc(latestLifetime, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.known[org] == l {
			delete(f.known, org)
		}
	})
}
