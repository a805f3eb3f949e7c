package edge

import (
	"log/slog"
	"math/bits"
	"net"
	"net/http"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
)

// The limits of callers whose requests are denied: attempts of one address, or of
// one IPv6 network.
const (
	DeniedPerMinute = 300 // with invalid credentials, or for records of other organizations
	DeniedBurst     = 600
)

// Bounds on the log of denied requests.
const (
	trailPeriod  = time.Minute
	trailCallers = 1_000 // addresses with separate lines in a period
)

// Trail logs and counts requests that were denied: with invalid credentials, or
// for records of other organizations. The number of log lines grows with the logarithm of
// the number of requests: for each address, the first, second, fourth, eighth and so on
// in a minute are logged.
type Trail struct {
	log     *slog.Logger
	now     func() time.Time
	limiter *rate.Limiter

	mu     sync.Mutex
	began  time.Time
	seen   map[denial]uint
	counts TrailCounts
}

// denial is a reason why requests of an address are denied.
type denial struct {
	code    lastmile.Code
	address string
}

// TrailCounts are the requests denied since the start.
type TrailCounts struct {
	Credentials int64 // unknown or revoked key, token or password
	Scope       int64 // record of another organization
	Limited     int64 // requests among these that got a 429 instead
}

// NewTrail returns a trail that writes to a log.
func NewTrail(log *slog.Logger, now func() time.Time) *Trail {
	return &Trail{log: log, now: now, limiter: rate.New(rate.Limit{Burst: DeniedBurst, PerSecond: DeniedPerMinute / 60.}, now), seen: map[denial]uint{}}
}

// Counts returns how many requests were denied.
func (t *Trail) Counts() TrailCounts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

// isDenial reports whether an error means that the caller has no right to what
// it asks for.
func isDenial(e *lastmile.Error) bool {
	return e.Code == lastmile.CodeUnauthenticated || e.Code == lastmile.CodeOutsideScope
}

// deny records a denied request. It returns the error that the caller gets: a
// different one when the address had too many. A nil Trail records nothing.
func (t *Trail) deny(e *lastmile.Error, address string, r *http.Request, requestID string) *lastmile.Error {
	if t == nil {
		return e
	}
	limited := false
	if address != "" {
		limited = t.limiter.Take(address, 1) != nil
	}
	if n, log := t.count(denial{e.Code, address}, limited); log {
		what := "credentials"
		if e.Code == lastmile.CodeOutsideScope {
			what = "scope"
		}
		if address == "" { // a trusted proxy has not named its client, or there is no proxy
			address, _, _ = net.SplitHostPort(r.RemoteAddr)
		}
		t.log.Warn("request denied", "denied", what, "address", address, "peer", r.RemoteAddr, "times", n, "request", requestID, "method", r.Method, "route", r.Pattern)
	}
	if limited {
		return lastmile.TooMany().Because("too many denied requests from this address")
	}
	return e
}

// caller returns the caller that an address is before its credentials are verified: the
// usual one, or the address itself if it had too many denied requests. The look-ups of
// invalid credentials then delay only others from this address, and those only a little.
func (t *Trail) caller(address, usual string) string {
	if t == nil || address == "" || !t.limiter.Lacks(address, 1) {
		return usual
	}
	return "address " + address
}

// count returns how often an address was denied in this period, and whether that
// is logged.
func (t *Trail) count(d denial, limited bool) (n uint, log bool) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.code == lastmile.CodeOutsideScope {
		t.counts.Scope++
	} else {
		t.counts.Credentials++
	}
	if limited {
		t.counts.Limited++
	}
	if passed := now.Sub(t.began); passed >= trailPeriod || passed < 0 {
		t.began = now
		clear(t.seen)
	}
	if _, known := t.seen[d]; !known && len(t.seen) >= trailCallers {
		d.address = "others"
	}
	t.seen[d]++
	return t.seen[d], bits.OnesCount(t.seen[d]) == 1
}
