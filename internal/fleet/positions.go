package fleet

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// Clearing is the kind of jobs that delete the positions of deleted workers. The id of the job
// is that of the worker.
const Clearing work.Kind = "positionClearing"

// positionsAtOnce is the number of positions that one transaction deletes. A larger one
// would delay other writes.
const positionsAtOnce = 500

// Clearer runs jobs of the kind Clearing.
type Clearer struct {
	Store work.Store[work.Reader, ClearingWriter]
	Now   func() time.Time
}

// ClearingWriter is what a Clearer saves in a transaction.
type ClearingWriter interface {
	work.Writer
	// DeletePositionsOf deletes at most most positions of a worker, oldest first, and
	// returns how many it deleted.
	DeletePositionsOf(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, most int) (int64, error)
}

// Clear runs a job. It may be killed at any time: another run does the rest.
func (c *Clearer) Clear(ctx context.Context, l *work.Lease) (work.End[ClearingWriter], error) {
	for {
		var n int64
		err := c.Store.Write(ctx, func(w ClearingWriter) (err error) {
			if err := l.Hold(ctx, w, c.Now()); err != nil {
				return err
			}
			n, err = w.DeletePositionsOf(ctx, l.Organization, lastmile.WorkerID(l.ID), positionsAtOnce)
			return err
		})
		if err != nil || n < positionsAtOnce {
			return nil, err
		}
	}
}
