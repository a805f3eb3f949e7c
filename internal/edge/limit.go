package edge

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// quietLimit is the limit that answers show when there is none. Published
// clients break without the header, and slow down when little seems to remain.
const quietLimit = 200

// maxBuckets bounds the memory of the limiter.
const maxBuckets = 10_000

// limiter is a token bucket for each organization, or each address.
type limiter struct {
	rate  float64 // tokens a second; 0 is no limit
	now   func() time.Time
	shown []string // the limit, as the value of a header

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	filled time.Time
}

func newLimiter(rate float64, now func() time.Time) *limiter {
	l := &limiter{rate: rate, now: now, buckets: map[string]*bucket{}}
	l.shown = []string{strconv.Itoa(l.most())}
	return l
}

// head puts the headers on an answer before anything is known of the caller.
func (l *limiter) head(header http.Header) {
	header["X-Ratelimit-Limit"], header["X-Ratelimit-Remaining"] = l.shown, l.shown
}

func (l *limiter) most() int {
	if l.rate == 0 {
		return quietLimit
	}
	return int(math.Max(1, l.rate))
}

// take uses one request of a caller's, or refuses it. A caller who is not
// refused is never told that less than half remains: clients stop for long when
// they are. Nobody in particular is not refused.
func (l *limiter) take(header http.Header, caller string) error {
	if l.rate == 0 || caller == "" {
		return nil
	}
	l.mu.Lock()
	left := l.fill(caller)
	if left.tokens >= 1 {
		left.tokens--
	} else {
		l.mu.Unlock()
		header.Set("X-RateLimit-Remaining", "0")
		return lastmile.TooMany()
	}
	remaining := int(left.tokens)
	l.mu.Unlock()
	header.Set("X-RateLimit-Remaining", strconv.Itoa(max(remaining, (l.most()+1)/2)))
	return nil
}

// fill returns the caller's bucket as it stands now.
func (l *limiter) fill(caller string) *bucket {
	now := l.now()
	b := l.buckets[caller]
	if b == nil {
		if len(l.buckets) >= maxBuckets {
			clear(l.buckets)
		}
		b = &bucket{tokens: float64(l.most()), filled: now}
		l.buckets[caller] = b
	}
	if passed := now.Sub(b.filled).Seconds(); passed > 0 {
		b.tokens = math.Min(float64(l.most()), b.tokens+passed*l.rate)
		b.filled = now
	}
	return b
}
