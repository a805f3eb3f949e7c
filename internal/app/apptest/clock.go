package apptest

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"dray/internal/app"
)

// clock is the clock of a platform: the real one, which tests can stop and move
// forward.
type clock struct {
	mu      sync.Mutex
	ahead   time.Duration
	stopped time.Time // the real time at which it was stopped; zero if it runs
	latest  time.Time // the latest time that now has returned
}

// current returns the time of the clock. The caller holds the lock.
func (c *clock) current() time.Time {
	if !c.stopped.IsZero() {
		return c.stopped.Add(c.ahead)
	}
	return app.Clock().Add(c.ahead)
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.current()
	if now.After(c.latest) {
		c.latest = now
	}
	return now
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = app.Clock()
}

func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += by
}

// tick moves the clock to at least a millisecond after the latest time that now has
// returned.
func (c *clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.current(); !now.After(c.latest) {
		c.ahead += c.latest.Sub(now) + time.Millisecond
	}
}

// tickEachRequest gives each request a different time. Records are listed in the
// order of their creation, which is not defined within a millisecond.
func (c *clock) tickEachRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.tick()
		next.ServeHTTP(w, r)
	})
}

// planningClock is the optimizer's clock in tests. It advances by planningStep whenever
// it is read, so that the number of attempts does not depend on the machine.
type planningClock struct {
	passed atomic.Int64
	held   atomic.Int32 // unreleased calls of HoldPlanning; the clock stands still unless it is 0
}

// planningStep is the time that passes whenever the optimizer reads the clock, which it does
// every few attempts.
const planningStep = time.Millisecond

func (c *planningClock) elapsed() time.Duration {
	if c.held.Load() > 0 {
		return time.Duration(c.passed.Load())
	}
	return time.Duration(c.passed.Add(int64(planningStep)))
}
