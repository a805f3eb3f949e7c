package work

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// End writes the last effects of an item, in the transaction that ends its lease.
// It may run more than once, because the transaction may be retried.
type End[W Writer] func(ctx context.Context, w W) error

// Prepared is an item that is being leased.
type Prepared struct {
	Item
	Value any  // for Do
	Done  bool // Do need not run
}

// Loop finds items of one kind that are due, leases them and runs them.
type Loop[R Reader, W Writer] struct {
	Kind  Kind
	Store Store[R, W]

	// Do processes one item. It may be called again for an item that it has
	// processed in part. Its own transactions begin with Lease.Hold. When it returns
	// no error the item is done, and the lease ends in one transaction with End,
	// which may be nil. Its context ends when the lease is lost and when the Loop is
	// stopped.
	Do func(ctx context.Context, l *Lease) (End[W], error)

	// Prepare, which may be nil, runs in the transaction that leases items. It may
	// attach values for Do and mark items as done.
	Prepare func(ctx context.Context, w W, items []*Prepared) error

	// Locking means that Prepare relies on nothing but the rows of the items, which are
	// locked by leasing them. See lastmile.Locking.
	Locking bool

	// Finished, which may be nil, is called after the commit for items that Prepare
	// has marked as done.
	Finished func(p *Prepared)

	// GiveUp, which may be nil, runs in the transaction that gives up an item
	// that failed too often.
	GiveUp func(ctx context.Context, w W, item Item) error

	Admission  Admission           // default: admits by Limits
	Limits     Limits              // limits of the default Admission
	Candidates Limits              // how many items to find at a time; default derived from Limits
	Order      func(a, b Item) int // which of the found items goes first; by default organizations take turns
	Batch      int                 // items leased in one transaction; default 128
	LeaseFor   time.Duration       // how long a lease lasts without renewal; default 3 s
	Poll       Poll
	Retry      Retry
	Grace      time.Duration   // how long handlers may continue when the Loop is stopped
	Wake       <-chan struct{} // receives a value when items may be due; may be nil
	Alone      bool            // no other process runs work on this database

	Now   func() time.Time
	NewID func() string // returns unique tokens for leases
	Log   *slog.Logger

	mu      sync.Mutex
	offered []Item
	signal  chan struct{} // receives a value when items were offered
}

// Poll is how often a Loop queries the database for due items. Only polling finds
// the items that other nodes add. Wake, Offer and the end of an item query earlier.
type Poll struct {
	Soon time.Duration // interval after items were found; default 250 ms
	Idle time.Duration // interval after none was found for a while; default 2 s
	Gap  time.Duration // minimum time between two queries
}

// Retry says when an item that failed is tried again.
type Retry struct {
	First, Longest time.Duration // the pause doubles from First to Longest; default 250 ms and LongestPause
	Failures       int           // maximum failures of an item; 0 for no limit
	Attempts       int64         // maximum leases of an item; 0 for no limit
}

const (
	// LongestPause is the longest pause before an item that failed is tried again, unless
	// Retry.Longest says otherwise.
	LongestPause = time.Minute

	defaultLease = 3 * time.Second
	defaultBatch = 128
	endPatience  = 2 * time.Second // for the last transaction of an item when the Loop is stopped
)

// defaults sets the fields that are zero.
func (l *Loop[R, W]) defaults() {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&l.LeaseFor, defaultLease)
	l.LeaseFor = min(l.LeaseFor, MaxLease/2)
	set(&l.Poll.Soon, 250*time.Millisecond)
	set(&l.Poll.Idle, 2*time.Second)
	set(&l.Retry.First, 250*time.Millisecond)
	set(&l.Retry.Longest, LongestPause)
	if l.Batch == 0 {
		l.Batch = defaultBatch
	}
	if l.Admission == nil {
		l.Admission = newLimiter(l.Limits)
	}
	if l.Candidates == (Limits{}) {
		// Many more than may run, because some organizations may be at their limit.
		l.Candidates = Limits{Total: 2 * l.Limits.Total * l.Limits.PerOrganization, PerOrganization: l.Limits.PerOrganization}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.signal == nil {
		l.signal = make(chan struct{}, 1)
	}
}

// Offer passes items that are due now, so that no query is needed to find them.
// Call it after the commit; it never blocks. Items beyond Candidates.Total are
// dropped and found by polling. Offer is for kinds whose attempts and failures are
// not counted: those of the items must be zero.
func (l *Loop[R, W]) Offer(items ...Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.signal == nil || len(l.offered) >= l.Candidates.Total {
		return
	}
	l.offered = append(l.offered, items...)
	select {
	case l.signal <- struct{}{}:
	default:
	}
}

// takeOffered returns the items offered since the last call.
func (l *Loop[R, W]) takeOffered() []Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	items := l.offered
	l.offered = nil
	return items
}

// Run processes items until ctx ends. Then it waits for running handlers, at most
// Grace, and releases its leases.
func (l *Loop[R, W]) Run(ctx context.Context) {
	s := newSession(l)
	if l.Alone {
		s.reset(ctx)
	}
	s.loop(ctx)
	s.stop(ctx)
}

// RunDue processes all items that are due now. It returns their number and the first
// error of a handler.
func (l *Loop[R, W]) RunDue(ctx context.Context) (int, error) {
	s := newSession(l)
	for ctx.Err() == nil {
		n, err := s.fill(ctx)
		if err != nil {
			s.stop(ctx)
			return s.ran, err
		}
		if n == 0 {
			break
		}
		s.drain(ctx, ctx.Done())
		s.flush(ctx)
	}
	s.stop(ctx)
	return s.ran, s.failed
}

// key identifies an item among those of its kind.
type key struct {
	organization lastmile.OrganizationID
	id           string
}

func (i Item) key() key { return key{i.Organization, i.ID} }

// compare defines the order in which the rows of items are locked.
func (i Item) compare(other Item) int {
	return cmp.Or(cmp.Compare(i.Organization, other.Organization), cmp.Compare(i.ID, other.ID))
}
