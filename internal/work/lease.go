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
	For  time.Duration // how long a renewal extends the lease
	Last bool          // the item is given up if this attempt fails

	Value any // from Prepare

	until atomic.Int64 // Unix milliseconds
}

// Hold renews the lease and keeps it for the rest of the transaction. It returns
// ErrLost if another process has it; the transaction must then write nothing.
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

// Until returns when the lease expires, as last renewed by its Loop.
func (l *Lease) Until() time.Time { return time.UnixMilli(l.until.Load()).UTC() }

func (l *Lease) renewed(until time.Time) { l.until.Store(until.UnixMilli()) }
