package postgres

import (
	"errors"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// unreachableError is the error of a database that cannot be reached. Clients see
// the *lastmile.Error that it wraps; the cause, in which the driver names the host
// and the user, is for the log.
type unreachableError struct {
	shown *lastmile.Error
	cause error
}

// Error implements error.
func (e *unreachableError) Error() string { return e.shown.Message + " " + e.cause.Error() }

// Unwrap returns only the error that clients may see. It hides the cause, which may be the
// end of a context other than the caller's.
func (e *unreachableError) Unwrap() error { return e.shown }

// outage limits the log lines about a database that cannot be reached: each
// request would write one.
type outage struct {
	mu     sync.Mutex
	logged time.Time
}

// outageInterval is the time between two log lines about an outage.
const outageInterval = time.Second

// due reports whether an error at a time is to be logged.
func (o *outage) due(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if passed := now.Sub(o.logged); passed >= 0 && passed < outageInterval { // less than 0: the clock was set back
		return false
	}
	o.logged = now
	return true
}

// unreachable logs why the database cannot be reached and returns an error that does not
// show clients the reason.
func (e *Engine) unreachable(err error) error {
	if lost, ok := errors.AsType[*unreachableError](err); ok {
		return lost
	}
	if e.outage.due(e.now()) {
		e.log.Warn("the database cannot be reached", "error", err)
	}
	return &unreachableError{
		shown: lastmile.Overloaded("The server cannot reach its data: try again in a moment."),
		cause: err,
	}
}
