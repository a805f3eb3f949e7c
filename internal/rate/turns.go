package rate

import (
	"context"
	"sync"
	"time"

	"dray/internal/lastmile"
)

// Patience is the maximum time that a request waits for the turn of its organization. After
// that, it is rejected, so that it is repeated later.
const Patience = 15 * time.Second

// Turns limits how many operations of each key run at the same time. Others wait. The zero
// Turns allows one.
type Turns struct {
	Most int // maximum for each key; 0 means 1

	mu   sync.Mutex
	keys map[string]*turn
}

// turn is a key that is in use.
type turn struct {
	slots chan struct{}
	users int // number of operations that wait or have a slot
}

// Take waits for a turn of a key. If err is nil, end must be called.
func (t *Turns) Take(ctx context.Context, key string) (end func(), err error) {
	return t.take(ctx, key, nil)
}

// Request is like Take for a request of an organization, but rejects the request if it waits
// longer than Patience.
func (t *Turns) Request(ctx context.Context, org lastmile.OrganizationID) (end func(), err error) {
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	return t.take(ctx, string(org), timer.C)
}

func (t *Turns) take(ctx context.Context, key string, late <-chan time.Time) (end func(), err error) {
	k := t.join(key)
	select {
	case k.slots <- struct{}{}:
		return func() {
			<-k.slots
			t.leave(key, k)
		}, nil
	case <-late:
		t.leave(key, k)
		return nil, lastmile.TooMany().Because("large requests of the organization take turns, and this one has waited %v", Patience)
	case <-ctx.Done():
		t.leave(key, k)
		return nil, ctx.Err()
	}
}

// After calls end, which Take returned, after a pause, so that the key uses only a part of the
// machine's time. Pauses of less than a millisecond are skipped.
func After(pause time.Duration, end func()) {
	if pause < time.Millisecond {
		end()
		return
	}
	time.AfterFunc(pause, end)
}

func (t *Turns) join(key string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.keys[key]
	if k == nil {
		if t.keys == nil {
			t.keys = map[string]*turn{}
		}
		k = &turn{slots: make(chan struct{}, max(t.Most, 1))}
		t.keys[key] = k
	}
	k.users++
	return k
}

func (t *Turns) leave(key string, k *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(t.keys, key)
	}
}
