package taskflow

import (
	"context"
	"sync"

	"dray/internal/lastmile"
)

// turns lets the requests of an organization that need several transactions run one
// after the other, so that other organizations wait for at most one of them.
type turns struct {
	mu   sync.Mutex
	busy map[lastmile.OrganizationID]chan struct{} // closed when the turn ends
}

// take waits for the organization's turn, which end ends.
func (t *turns) take(ctx context.Context, org lastmile.OrganizationID) (end func(), err error) {
	for {
		t.mu.Lock()
		busy := t.busy[org]
		if busy == nil {
			break
		}
		t.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer t.mu.Unlock()
	if t.busy == nil {
		t.busy = map[lastmile.OrganizationID]chan struct{}{}
	}
	mine := make(chan struct{})
	t.busy[org] = mine
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.busy, org)
		close(mine)
	}, nil
}
