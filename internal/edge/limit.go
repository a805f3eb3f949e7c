package edge

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
)

// unlimited is the limit that responses show when there is none. Published
// clients break without the header, and slow down when little seems to remain.
const unlimited = 200

// limiter limits the requests of each caller, an organization or an address, and
// shows the limit in the headers of responses.
type limiter struct {
	buckets *rate.Limiter // nil means no limit
	most    int           // requests in a row
	limit   []string      // value of X-RateLimit-Limit
	half    []string      // least value of X-RateLimit-Remaining for a caller within its limit
}

// newLimiter returns a limiter of perSecond requests per second; 0 for no limit.
func newLimiter(perSecond float64, now func() time.Time) *limiter {
	l := &limiter{most: unlimited}
	if perSecond > 0 {
		burst := math.Floor(math.Max(1, perSecond))
		l.most, l.buckets = int(burst), rate.New(rate.Limit{Burst: burst, PerSecond: perSecond}, now)
	}
	l.limit = []string{strconv.Itoa(l.most)}
	l.half = []string{strconv.Itoa((l.most + 1) / 2)}
	return l
}

// setHeaders sets the headers of a response before the caller is known.
func (l *limiter) setHeaders(header http.Header) {
	header["X-Ratelimit-Limit"], header["X-Ratelimit-Remaining"] = l.limit, l.limit
}

// take uses one of a caller's requests, or rejects the request. A caller within
// its limit is never shown that less than half remains, because clients pause
// for long when they see that. Requests without a known caller are never limited.
func (l *limiter) take(header http.Header, caller string) error {
	if l.buckets == nil || caller == "" {
		return nil
	}
	remaining, wait := l.buckets.Spend(caller, 1)
	switch {
	case wait > 0:
		header["X-Ratelimit-Remaining"] = []string{"0"}
		return lastmile.TooMany()
	case remaining <= (l.most+1)/2:
		header["X-Ratelimit-Remaining"] = l.half
	default:
		header["X-Ratelimit-Remaining"] = []string{strconv.Itoa(remaining)}
	}
	return nil
}
