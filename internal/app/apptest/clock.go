package apptest

import (
	"net/http"
	"sync"
	"time"

	"dray/internal/app"
)

// clock is the time of a platform: the real one, moved ahead and stopped by
// tests.
type clock struct {
	mu     sync.Mutex
	ahead  time.Duration
	stands time.Time // the real time at which it was stopped; zero if it goes
	told   time.Time // the latest time that was told
}

// shown is what the clock shows.
func (c *clock) shown() time.Time {
	if !c.stands.IsZero() {
		return c.stands.Add(c.ahead)
	}
	return app.Clock().Add(c.ahead)
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.shown()
	if now.After(c.told) {
		c.told = now
	}
	return now
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stands = app.Clock()
}

func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += by
}

// pass lets a millisecond pass unless one has passed since the time was told.
func (c *clock) pass() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.shown(); !now.After(c.told) {
		c.ahead += c.told.Sub(now) + time.Millisecond
	}
}

// apart gives each request a time of its own. Records are listed by when they
// were made, so those that a fast machine makes one after the other in the same
// millisecond would be listed in any order.
func (c *clock) apart(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.pass()
		next.ServeHTTP(w, r)
	})
}
