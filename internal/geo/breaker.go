package geo

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// Limits of a circuit breaker.
const (
	failuresToOpen = 4
	openFor        = 30 * time.Second
	maxOpen        = 5 * time.Minute // whatever the service's Retry-After says
)

// ErrCircuitOpen is returned for a request that was not sent, because the map
// service has failed too often recently.
var ErrCircuitOpen = errors.New("it has failed too often and is not queried for a while")

// breaker is a circuit breaker. It opens after several failures in a row, or when
// the service asks for a pause, so that callers do not wait for a service that is
// down. After the pause one request is let through: if it succeeds, the breaker
// closes.
type breaker struct {
	now func() time.Time

	mu       sync.Mutex
	failures int       // number of failures in a row
	until    time.Time // the breaker is open until then
	probing  bool      // the one request that was let through is running
}

// allow returns ErrCircuitOpen if the service must not be queried. After it has returned nil,
// done or skip must be called with probe, which reports whether the request is the one that
// was let through.
func (b *breaker) allow() (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < failuresToOpen {
		return false, nil
	}
	wait := b.until.Sub(b.now())
	if wait > maxOpen { // the clock was set back
		wait = 0
	}
	if b.probing || wait > 0 {
		return false, ErrCircuitOpen
	}
	b.probing = true
	return true, nil
}

// done records the result of a request.
func (b *breaker) done(probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = b.probing && !probe
	response, rejected := errors.AsType[*statusError](err)
	if err == nil || rejected && (response.status == http.StatusBadRequest || response.status == http.StatusNotFound) {
		b.failures = 0 // the service works, even if it rejects the query
		return
	}
	wait := openFor
	if rejected && response.retryAfter > 0 {
		b.failures = failuresToOpen
		wait = min(max(response.retryAfter, openFor), maxOpen)
	}
	b.failures++
	if b.failures >= failuresToOpen {
		b.until = b.now().Add(wait)
	}
}

// skip records that an allowed request was not sent, or that its result was not awaited.
func (b *breaker) skip(probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = b.probing && !probe
}
