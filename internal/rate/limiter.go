package rate

import (
	"hash/maphash"
	"math"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// Limit is the number of tokens that each key may use: Burst at once, and PerSecond on average.
type Limit struct {
	Burst     float64
	PerSecond float64
}

// Bounds on the memory of a limiter.
const (
	maxKeys       = 1 << 16 // keys with their own bucket at the same time
	sharedBuckets = 1 << 8  // buckets for keys beyond that
)

// Limiter has a token bucket for each key.
//
// A bucket is dropped only if it has been unused for long enough to be full, so that dropping
// it does not change the limit of its key. No key loses its bucket to another: keys that arrive
// while maxKeys buckets are in use share sharedBuckets more, chosen by a hash of the key.
// Callers should pass only keys that exist, so that clients cannot invent keys.
type Limiter struct {
	limit  Limit
	refill time.Duration // time in which an empty bucket becomes full
	now    func() time.Time
	seed   maphash.Seed

	mu      sync.Mutex
	rotated time.Time          // start of the current generation
	recent  map[string]*bucket // buckets used in the current generation
	older   map[string]*bucket // buckets last used in the previous generation
	shared  [sharedBuckets]bucket
}

// bucket holds the tokens of a key. The zero bucket counts as full, because it was last updated
// long ago.
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

// Take uses n tokens of a key. If there are fewer, it uses none and returns an error with the
// time to wait. A nil Limiter has no limit.
func (l *Limiter) Take(key string, n int) *lastmile.Error {
	_, wait := l.Spend(key, n)
	if wait == 0 {
		return nil
	}
	rejected := lastmile.TooMany()
	rejected.RetryAfter = wait
	return rejected
}

// Spend uses n tokens of a key and returns the number of whole tokens that remain. If there are
// fewer than n, it uses none and returns how long to wait, in whole seconds.
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

// Lacks reports whether fewer than n tokens of a key are left. It uses none, and a key
// without a bucket does not get one.
func (l *Limiter) Lacks(key string, n int) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.recent[key]
	if b == nil {
		b = l.older[key]
	}
	switch {
	case b != nil:
	case len(l.recent)+len(l.older) < maxKeys:
		return float64(n) > l.limit.Burst
	default:
		b = l.sharedBucket(key)
	}
	filled := *b
	filled.fill(l.now(), l.limit)
	return filled.tokens < float64(n)
}

// Return gives back tokens that were taken for an operation that was not performed.
func (l *Limiter) Return(key string, n int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.find(key)
	b.tokens = math.Min(l.limit.Burst, b.tokens+float64(n))
}

// rotate begins a new generation if the current one has lasted for the refill time. It drops
// the buckets in older, which have been unused for long enough to be full. The caller holds the
// lock.
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
		return l.sharedBucket(key)
	}
	l.recent[key] = b
	return b
}

// sharedBucket returns the bucket of a key that has none of its own. The caller holds the lock.
func (l *Limiter) sharedBucket(key string) *bucket {
	return &l.shared[maphash.String(l.seed, key)%sharedBuckets]
}

// fill adds the tokens for the time since the last update. If the clock was set back, the
// bucket keeps its tokens and continues from the new time.
func (b *bucket) fill(now time.Time, limit Limit) {
	if passed := now.Sub(b.updated).Seconds(); passed > 0 {
		b.tokens = math.Min(limit.Burst, b.tokens+passed*limit.PerSecond)
	}
	b.updated = now
}
