package geo

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"
)

var errBusy = errors.New("its rate limit leaves no time for this request")

// pacer spaces the requests to a service that limits them.
type pacer struct {
	limiter  *rate.Limiter
	exchange time.Duration // time to leave for the request itself
}

// newPacer returns a pacer of one request per interval.
func newPacer(interval, exchange time.Duration) *pacer {
	return &pacer{limiter: rate.NewLimiter(rate.Every(interval), 1), exchange: exchange}
}

// wait blocks until the request may be sent. It fails at once if that would be too late for
// the deadline of ctx. A nil pacer does not wait.
func (p *pacer) wait(ctx context.Context) error {
	if p == nil {
		return nil
	}
	waiting := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		waiting, cancel = context.WithDeadline(ctx, deadline.Add(-p.exchange))
		defer cancel()
	}
	if err := p.limiter.Wait(waiting); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errBusy
	}
	return nil
}
