package edge

import (
	"context"
	"runtime"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
)

// How the memory for requests is shared.
const (
	// UncountedBytes is the memory that every request may hold without being counted.
	// The number of such requests is limited by the number of connections.
	UncountedBytes = 16 << 10
	// sharePerFree is the number of bytes a caller may hold for each byte that is free.
	// A caller alone gets two thirds of the memory, three callers get two sevenths
	// each, and there is always some left for others.
	sharePerFree = 2
	// AdmissionWait is how long a large body waits for memory before the request is
	// rejected.
	AdmissionWait  = 2 * time.Second
	admissionRetry = 20 * time.Millisecond
)

// Budget bounds the memory that requests hold together: bodies that arrive, rows
// that are read for a response, and responses that clients have not read yet. A
// nil Budget has no bound.
type Budget struct {
	total int64

	mu       sync.Mutex
	held     int64
	callers  map[string]int64 // bytes held by organizations and addresses
	sizes    map[list]size    // sizes of lists that were read recently
	rejected int64

	lists rate.Turns // reads of large lists, for each organization
	reads rate.Turns // reads of large lists, for all organizations together
}

// turnRate is the number of bytes per second that an organization reads in turn.
const turnRate = 32 << 20

// pauseAfter returns the pause after a turn in which the given number of bytes was read.
func pauseAfter(bytes int64) time.Duration {
	return time.Duration(bytes) * time.Second / turnRate
}

// Sizes above which the requests of an organization take turns.
const (
	largeList = 256 << 10 // size of a list; half as many at a time as there are processors
	largeBody = 32 << 10  // size of a JSON body; one at a time
)

// list identifies what an organization reads on a route.
type list struct {
	organization lastmile.OrganizationID
	route        string
}

// size is the memory that a list took when it was read last.
type size struct {
	bytes int64
	at    time.Time
}

// Expectations about lists that were not read recently.
const (
	unknownBytes = 4 << 20          // memory that such a list is assumed to take
	sizeLifetime = 10 * time.Second // how long the size of a list is remembered
	maxSizes     = 10_000
)

// expected returns how much memory a list will probably take: as much as last time.
// Without this, many reads of a long list would begin at once and all take the
// database's time before they are rejected.
func (b *Budget) expected(l list, now time.Time) int64 {
	if b == nil {
		return 0
	}
	if bytes := b.known(l, now); bytes > 0 {
		return bytes
	}
	return unknownBytes
}

// known returns how much memory a list took last time; 0 if that is not known.
func (b *Budget) known(l list, now time.Time) int64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.sizes[l]; ok && now.Sub(s.at).Abs() < sizeLifetime {
		return s.bytes
	}
	return 0
}

// remember saves how much memory a list has taken. A list that takes more than there can be
// was rejected, and the client asks for less of it next: how much, is unknown.
func (b *Budget) remember(l list, bytes int64, now time.Time) {
	if b == nil {
		return
	}
	if bytes > b.most() {
		bytes = unknownBytes
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.sizes) >= maxSizes {
		clear(b.sizes)
	}
	if s, ok := b.sizes[l]; ok && now.Sub(s.at).Abs() < sizeLifetime {
		bytes = max(bytes, s.bytes/2) // another query of the same list may be smaller
	}
	b.sizes[l] = size{max(bytes, 1), now}
}

// listTurn waits until an organization may read a list that is large or of unknown size,
// or its next part. The next turn begins after the pause that is passed to end.
func (b *Budget) listTurn(ctx context.Context, org lastmile.OrganizationID, next bool) (end func(pause time.Duration), err error) {
	if b == nil {
		return func(time.Duration) {}, nil
	}
	take := b.lists.Request
	if next { // the client has read the parts before
		take = func(ctx context.Context, org lastmile.OrganizationID) (func(), error) {
			return b.lists.Take(ctx, string(org))
		}
	}
	leave, err := take(ctx, org)
	return func(pause time.Duration) { rate.After(pause, leave) }, err
}

// share waits until a list may be read, once there is memory for it: all large lists
// together leave processors for other requests. Lists of unknown size are mostly small and
// do not wait.
func (b *Budget) share(ctx context.Context, large bool) (end func(), err error) {
	if b == nil || !large {
		return func() {}, nil
	}
	return b.reads.Take(ctx, "")
}

// isLarge reports whether a list is known to be large.
func (b *Budget) isLarge(l list, now time.Time) bool { return b.known(l, now) > largeList }

// NewBudget returns a budget of total bytes.
func NewBudget(total int64) *Budget {
	half := runtime.GOMAXPROCS(0) / 2
	return &Budget{
		total: total, callers: map[string]int64{}, sizes: map[list]size{},
		lists: rate.Turns{Most: half}, reads: rate.Turns{Most: half},
	}
}

// BudgetStats is the state of a budget.
type BudgetStats struct {
	Held     int64 // bytes
	Total    int64 // bytes
	Rejected int64 // requests since the start
}

// Stats returns the state of the budget.
func (b *Budget) Stats() BudgetStats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return BudgetStats{Held: b.held, Total: b.total, Rejected: b.rejected}
}

// hold is the memory that one request holds.
type hold struct {
	budget       *Budget
	organization string // empty when it is not known
	address      string // empty when it is not known
	bytes        int64  // as counted
}

// resize sets the number of bytes that the request holds, or returns why it cannot.
func (h *hold) resize(bytes int64) error {
	if bytes <= UncountedBytes {
		bytes = 0
	}
	if h.budget == nil || bytes == h.bytes {
		return nil
	}
	b := h.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > h.bytes {
		if err := b.check(h, bytes-h.bytes); err != nil {
			return err
		}
	}
	b.move(h, bytes)
	return nil
}

// force sets the number of bytes that the request holds, however little is free: the
// response reports a change that has been made.
func (h *hold) force(bytes int64) {
	if bytes <= UncountedBytes {
		bytes = 0
	}
	if h.budget == nil || bytes == h.bytes {
		return
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.budget.move(h, bytes)
}

// await is resize for a request that can wait a little.
func (h *hold) await(ctx context.Context, bytes int64) error {
	for waited := time.Duration(0); ; waited += admissionRetry {
		err := h.resize(bytes)
		if err == nil {
			return nil
		}
		if waited >= AdmissionWait {
			if h.budget != nil {
				h.budget.countRejection()
			}
			return err
		}
		timer := time.NewTimer(admissionRetry)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

func (b *Budget) countRejection() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rejected++
}

// check rejects more bytes for a request if a caller would then hold more than
// its share. The caller holds the lock.
func (b *Budget) check(h *hold, more int64) error {
	free := b.total - b.held - more
	fits := free >= 0
	for _, caller := range h.callers() {
		if caller == "" {
			continue
		}
		after := b.callers[caller] + more
		if after > b.most() {
			return lastmile.TooMany().Because("large requests of this caller hold %d MiB of memory at once", b.callers[caller]>>20)
		}
		fits = fits && after <= sharePerFree*free
	}
	if !fits {
		return lastmile.Overloaded("The server has no memory left for this request: try again in a moment.")
	}
	return nil
}

// most returns the number of bytes that one caller can hold when there is no other.
func (b *Budget) most() int64 { return b.total * sharePerFree / (1 + sharePerFree) }

// move sets the number of bytes that a request holds. The caller holds the lock.
func (b *Budget) move(h *hold, bytes int64) {
	more := bytes - h.bytes
	b.held += more
	for _, caller := range h.callers() {
		if caller == "" {
			continue
		}
		if b.callers[caller] += more; b.callers[caller] == 0 {
			delete(b.callers, caller)
		}
	}
	h.bytes = bytes
}

// callers returns the keys under which the request is counted. An id and an address
// are never the same.
func (h *hold) callers() [2]string { return [2]string{h.organization, h.address} }
