package edge

import (
	"hash/maphash"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// unlimited is the limit that responses show when there is none. Published
// clients break without the header, and slow down when little seems to remain.
const unlimited = 200

// Bounds on the memory of a limiter.
const (
	maxCallers    = 1 << 16 // callers with a bucket of their own at the same time
	sharedBuckets = 1 << 8  // buckets for callers beyond that
)

// limiter is a token bucket for each caller: an organization, or an address.
//
// A bucket is dropped only when it has been unused for as long as an empty one
// takes to refill, so dropping it gives the caller nothing. Callers that arrive
// while maxCallers buckets are in use share a few more, chosen by a hash of the
// caller, until buckets become free. No caller loses its bucket to another.
type limiter struct {
	rate   float64       // tokens per second; 0 means no limit
	burst  float64       // size of a bucket
	refill time.Duration // until an empty bucket is full
	now    func() time.Time

	limit []string // value of X-RateLimit-Limit
	half  []string // least value of X-RateLimit-Remaining for a caller within its limit

	mu      sync.Mutex
	rotated time.Time          // when recent was begun
	recent  map[string]*bucket // used since rotated
	older   map[string]*bucket // used in the generation before, and not since
	shared  [sharedBuckets]bucket
	seed    maphash.Seed
}

// bucket is the tokens of a caller. The zero bucket was full long ago.
type bucket struct {
	tokens  float64
	updated time.Time
}

func newLimiter(rate float64, now func() time.Time) *limiter {
	if rate == 0 {
		return newBurstLimiter(0, unlimited, now)
	}
	return newBurstLimiter(rate, math.Floor(math.Max(1, rate)), now)
}

// newBurstLimiter returns a limiter whose buckets hold more than a second's tokens.
func newBurstLimiter(rate, burst float64, now func() time.Time) *limiter {
	l := &limiter{rate: rate, burst: burst, now: now, seed: maphash.MakeSeed(), recent: map[string]*bucket{}}
	if rate > 0 {
		l.refill = time.Duration(math.Min(l.burst/rate*float64(time.Second), 1<<62))
	}
	l.limit = []string{strconv.Itoa(int(l.burst))}
	l.half = []string{strconv.Itoa((int(l.burst) + 1) / 2)}
	return l
}

// setHeaders sets the headers of a response before the caller is known.
func (l *limiter) setHeaders(header http.Header) {
	header["X-Ratelimit-Limit"], header["X-Ratelimit-Remaining"] = l.limit, l.limit
}

// take uses one of a caller's requests, or rejects the request. A caller within
// its limit is never shown that less than half remains, because clients pause
// for long when it is. Requests without a known caller are never limited.
func (l *limiter) take(header http.Header, caller string) error {
	if l.rate == 0 || caller == "" {
		return nil
	}
	remaining, ok := l.spend(caller)
	switch {
	case !ok:
		header["X-Ratelimit-Remaining"] = []string{"0"}
		return lastmile.TooMany()
	case remaining <= (int(l.burst)+1)/2:
		header["X-Ratelimit-Remaining"] = l.half
	default:
		header["X-Ratelimit-Remaining"] = []string{strconv.Itoa(remaining)}
	}
	return nil
}

// spend takes a token out of the caller's bucket. It returns how many whole
// tokens remain, and false if there was none to take.
func (l *limiter) spend(caller string) (remaining int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.rotate(now)
	b := l.find(caller)
	b.fill(now, l.rate, l.burst)
	if b.tokens < 1 {
		return 0, false
	}
	b.tokens--
	return int(b.tokens), true
}

// rotate begins a new generation when every bucket of the older one has been
// unused for long enough to be full, and drops those.
func (l *limiter) rotate(now time.Time) {
	switch passed := now.Sub(l.rotated); {
	case passed >= l.refill:
		l.older, l.recent, l.rotated = l.recent, make(map[string]*bucket, len(l.recent)/2), now
	case passed < 0: // the clock was set back
		l.rotated = now
	}
}

// find returns the bucket that counts the caller's requests.
func (l *limiter) find(caller string) *bucket {
	if b := l.recent[caller]; b != nil {
		return b
	}
	b := l.older[caller]
	switch {
	case b != nil:
		delete(l.older, caller)
	case len(l.recent)+len(l.older) < maxCallers:
		b = &bucket{}
	default:
		return &l.shared[maphash.String(l.seed, caller)%sharedBuckets]
	}
	l.recent[caller] = b
	return b
}

// fill adds the tokens of the time since the last update. When the clock was
// set back, the bucket keeps its tokens and goes on from the new time.
func (b *bucket) fill(now time.Time, rate, burst float64) {
	if passed := now.Sub(b.updated).Seconds(); passed > 0 {
		b.tokens = math.Min(burst, b.tokens+passed*rate)
	}
	b.updated = now
}
