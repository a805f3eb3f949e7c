package rate

import (
	"hash/maphash"
	"math"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// Limit is how much each key may use: Burst at once, and PerSecond in the long run.
type Limit struct {
	Burst     float64
	PerSecond float64
}

// Bounds on the memory of a limiter.
const (
	maxKeys       = 1 << 16 // keys with their own bucket at the same time
	sharedBuckets = 1 << 8  // buckets for keys beyond that
)

// Limiter is a token bucket for each key.
//
// A bucket is dropped only after it has been unused for as long as an empty one
// takes to refill, so dropping it gives its key nothing. Keys that arrive while
// maxKeys buckets are in use share a few more, chosen by a hash of the key. No key
// loses its bucket to another. Only keys that exist should be counted, so that a
// caller cannot invent them.
type Limiter struct {
	limit  Limit
	refill time.Duration // until an empty bucket is full
	now    func() time.Time
	seed   maphash.Seed

	mu      sync.Mutex
	rotated time.Time          // when recent was begun
	recent  map[string]*bucket // used since rotated
	older   map[string]*bucket // used in the generation before, and not since
	shared  [sharedBuckets]bucket
}

// bucket is the tokens of a key. The zero bucket was full long ago.
type bucket struct {
	tokens  float64
	updated time.Time
}

// New returns a limiter.
func New(limit Limit, now func() time.Time) *Limiter {
	return &Limiter{
		limit: limit, refill: time.Duration(math.Min(limit.Burst/limit.PerSecond*float64(time.Second), 1<<62)), now: now,
		seed: maphash.MakeSeed(), recent: map[string]*bucket{},
	}
}

// Take uses n tokens of a key, or none if there are fewer, and then returns an
// error that says how long to wait. A nil Limiter has no limit.
func (l *Limiter) Take(key string, n int) *lastmile.Error {
	_, wait := l.Spend(key, n)
	if wait == 0 {
		return nil
	}
	rejected := lastmile.TooMany()
	rejected.RetryAfter = wait
	return rejected
}

// Spend uses n tokens of a key, or none if there are fewer. It returns how many
// whole tokens remain, and how long to wait, in whole seconds, if none was used.
func (l *Limiter) Spend(key string, n int) (remaining int, wait time.Duration) {
	if l == nil {
		return math.MaxInt, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.rotate(now)
	b := l.find(key)
	b.fill(now, l.limit)
	if lacking := float64(n) - b.tokens; lacking > 0 {
		return 0, time.Duration(math.Ceil(lacking/l.limit.PerSecond)) * time.Second
	}
	b.tokens -= float64(n)
	return int(b.tokens), 0
}

// Return gives back tokens that were taken for something that did not happen.
func (l *Limiter) Return(key string, n int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.find(key)
	b.tokens = math.Min(l.limit.Burst, b.tokens+float64(n))
}

// rotate begins a new generation when every bucket of the older one has been
// unused for long enough to be full, and drops those. The caller holds the lock.
func (l *Limiter) rotate(now time.Time) {
	switch passed := now.Sub(l.rotated); {
	case passed >= l.refill:
		l.older, l.recent, l.rotated = l.recent, make(map[string]*bucket, len(l.recent)/2), now
	case passed < 0: // the clock was set back
		l.rotated = now
	}
}

// find returns the bucket of a key. The caller holds the lock.
func (l *Limiter) find(key string) *bucket {
	if b := l.recent[key]; b != nil {
		return b
	}
	b := l.older[key]
	switch {
	case b != nil:
		delete(l.older, key)
	case len(l.recent)+len(l.older) < maxKeys:
		b = &bucket{}
	default:
		return &l.shared[maphash.String(l.seed, key)%sharedBuckets]
	}
	l.recent[key] = b
	return b
}

// fill adds the tokens of the time since the last update. When the clock was set
// back, the bucket keeps its tokens and goes on from the new time.
func (b *bucket) fill(now time.Time, limit Limit) {
	if passed := now.Sub(b.updated).Seconds(); passed > 0 {
		b.tokens = math.Min(limit.Burst, b.tokens+passed*limit.PerSecond)
	}
	b.updated = now
}
