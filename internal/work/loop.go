package work

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// End is the last of an item's effects, in the transaction that ends its lease.
// It may run more than once.
type End[W Writer] func(ctx context.Context, w W) error

// Prepared is an item that is being leased.
type Prepared struct {
	Item
	Value any  // for Do
	Done  bool // it need not be run
}

// Loop finds items of one kind that are due, leases them and runs them.
type Loop[R Reader, W Writer] struct {
	Kind  Kind
	Store Store[R, W]

	// Do does one item. It may be called again for an item it has done a part
	// of. Its own transactions begin with Lease.Hold. When it returns without an
	// error the item is done, and the lease ends in one transaction with End,
	// which may be nil. Its context ends when the lease was lost, and when the
	// Loop is stopped.
	Do func(ctx context.Context, l *Lease) (End[W], error)

	// Prepare, which may be nil, runs in the transaction that leases items. It
	// may attach values for Do, and finish items that need not be run.
	Prepare func(ctx context.Context, w W, items []*Prepared) error

	// Finished, which may be nil, is called for items that Prepare has finished,
	// after the commit.
	Finished func(p *Prepared)

	// GiveUp, which may be nil, runs in the transaction that gives up an item
	// that failed too often.
	GiveUp func(ctx context.Context, w W, item Item) error

	Admission  Admission           // nil admits by Limits
	Limits     Limits              // of the default Admission
	Candidates Limits              // how many items to find at a time; zero follows from Limits
	Order      func(a, b Item) int // which of the found items goes first; nil has organizations take turns
	Batch      int                 // items leased in one transaction; 0 is 128
	LeaseFor   time.Duration       // how long a lease outlives its process; 0 is 3 s
	Poll       Poll
	Retry      Retry
	Grace      time.Duration   // how long handlers may go on when the Loop is stopped
	Wake       <-chan struct{} // sent to when there may be something due; may be nil
	Alone      bool            // no other process works on this database

	Now   func() time.Time
	NewID func() string // makes tokens
	Log   *slog.Logger

	mu      sync.Mutex
	offered []Item
	signal  chan struct{} // sent to when something was offered
}

// Poll is how often a Loop asks the database for due items. What is added by
// other nodes is found so; Wake, Offer, and the end of an item make it sooner.
type Poll struct {
	Soon time.Duration // after there was something to do; 0 is 250 ms
	Idle time.Duration // when there has been nothing for a while; 0 is 2 s
	Gap  time.Duration // the least time between two queries
}

// Retry is what happens to an item that failed.
type Retry struct {
	First, Longest time.Duration // pause after the first failure, doubled up to the longest; 0 is 250 ms and 1 min
	Failures       int           // how often an item may fail; 0 is without end
	Attempts       int64         // how often it may be leased; 0 is without end
}

const (
	defaultLease = 3 * time.Second
	defaultBatch = 128
	endPatience  = 2 * time.Second // with the last transaction of an item when the Loop is stopped
)

// defaults fills in what was left zero.
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
	set(&l.Retry.Longest, time.Minute)
	if l.Batch == 0 {
		l.Batch = defaultBatch
	}
	if l.Admission == nil {
		l.Admission = newLimiter(l.Limits)
	}
	if l.Candidates == (Limits{}) {
		// As many organizations may have all they can have already.
		l.Candidates = Limits{Total: 2 * l.Limits.Total * l.Limits.PerOrganization, PerOrganization: l.Limits.PerOrganization}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.signal == nil {
		l.signal = make(chan struct{}, 1)
	}
}

// Offer makes items known that are due by now, so that they need not be found.
// Call it after the commit; it never waits. Those beyond Candidates.Total are
// left to be found by polling. It is for kinds whose failures are not counted:
// what is not given here is taken to be zero.
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

// takeOffered returns what was offered since the last time.
func (l *Loop[R, W]) takeOffered() []Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	items := l.offered
	l.offered = nil
	return items
}

// Run works until ctx ends. Then it gives what is running some time to end, and
// releases the leases it has.
func (l *Loop[R, W]) Run(ctx context.Context) {
	s := newSession(ctx, l)
	if l.Alone {
		s.reset()
	}
	s.loop()
	s.stop()
}

// RunDue does all that is due now. It returns how many items it ran, and the
// first error of one.
func (l *Loop[R, W]) RunDue(ctx context.Context) (int, error) {
	s := newSession(ctx, l)
	for ctx.Err() == nil {
		n, err := s.fill()
		if err != nil {
			s.stop()
			return s.ran, err
		}
		if n == 0 {
			break
		}
		s.drain()
		s.flush()
	}
	s.stop()
	return s.ran, s.failed
}

// key names an item among those of its kind.
type key struct {
	organization lastmile.OrganizationID
	id           string
}

func (i Item) key() key { return key{i.Organization, i.ID} }
