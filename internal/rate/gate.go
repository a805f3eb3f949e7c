package rate

import (
	"context"
	"sync"
)

// Gate lets things of a key happen at the same time, or one of them alone. The zero
// Gate is open.
type Gate struct {
	doors Turns // held by one that waits to be alone, or is

	mu     sync.Mutex
	inside map[string]int
	empty  map[string]chan struct{} // closed when no more are inside
}

// Enter waits while one thing of the key is alone or waits for that. After it has
// returned nil, leave must be called.
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

// EnterAlone waits until nothing of the key happens. Until leave is called, nothing
// else of the key begins.
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
