package rate

import (
	"context"
	"sync"
)

// Gate is a lock per key that operations hold either together or exclusively, like a
// sync.RWMutex. A waiting exclusive operation blocks new ones. The zero Gate is ready to use.
type Gate struct {
	doors Turns // held by an operation that is exclusive or waits for that

	mu     sync.Mutex
	inside map[string]int           // number of operations that hold the gate together
	empty  map[string]chan struct{} // closed when the last of them leaves
}

// Enter holds the gate of a key together with others. It waits while an exclusive operation
// holds the gate or waits for it. If err is nil, leave must be called.
func (g *Gate) Enter(ctx context.Context, key string) (leave func(), err error) {
	shut, err := g.doors.Take(ctx, key)
	if err != nil {
		return nil, err
	}
	defer shut()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside == nil {
		g.inside, g.empty = map[string]int{}, map[string]chan struct{}{}
	}
	g.inside[key]++
	return func() { g.leave(key) }, nil
}

func (g *Gate) leave(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside[key]--; g.inside[key] > 0 {
		return
	}
	delete(g.inside, key)
	if waiting := g.empty[key]; waiting != nil {
		close(waiting)
		delete(g.empty, key)
	}
}

// EnterAlone holds the gate of a key exclusively. It waits until no other operation holds it.
// If err is nil, leave must be called.
func (g *Gate) EnterAlone(ctx context.Context, key string) (leave func(), err error) {
	open, err := g.doors.Take(ctx, key)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	if g.inside[key] == 0 {
		g.mu.Unlock()
		return open, nil
	}
	empty := make(chan struct{})
	g.empty[key] = empty
	g.mu.Unlock()
	select {
	case <-empty:
		return open, nil
	case <-ctx.Done():
		g.mu.Lock()
		delete(g.empty, key)
		g.mu.Unlock()
		open()
		return nil, ctx.Err()
	}
}
