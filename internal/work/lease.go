package work

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Lease is an item that this process works on.
type Lease struct {
	Item
	For  time.Duration // how long it lasts after it was renewed
	Last bool          // a failure now is the last: the item is then given up

	Value any // from Prepare

	until atomic.Int64 // Unix milliseconds
}

// Hold proves, for the rest of the transaction, that the lease is still there,
// and renews it. It returns ErrLost when it is not: then the transaction must
// write nothing.
func (l *Lease) Hold(ctx context.Context, w Writer, now time.Time) error {
	lost, err := w.HoldWork(ctx, []Item{l.Item}, now.Add(l.For))
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return fmt.Errorf("%s %s: %w", l.Kind, l.ID, ErrLost)
	}
	return nil
}

// Until is when the lease ends, as far as its Loop has renewed it.
func (l *Lease) Until() time.Time { return time.UnixMilli(l.until.Load()).UTC() }

func (l *Lease) renewed(until time.Time) { l.until.Store(until.UnixMilli()) }
