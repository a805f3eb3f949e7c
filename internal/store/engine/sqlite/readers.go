package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// readers is a pool of connections that can only read. They are opened when needed; the
// one that was used last is used next, because its cache is warm.
type readers struct {
	open  func() (*handle, error)
	log   *slog.Logger
	slots *engine.Slots // limits the connections in use
	used  atomic.Uint64 // number of uses of connections
	count engine.Counters

	mu     sync.Mutex
	idle   []*handle
	opened int
	closed bool
}

// newReaders returns a pool of connections that callers share.
func newReaders(o Options, open func() (*handle, error)) *readers {
	r := &readers{open: open, log: o.Logger}
	each, shared, burst := shares(runtime.GOMAXPROCS(0))
	r.slots = engine.NewSlots(engine.SlotOptions{
		Most: o.Readers, Each: each, Shared: shared, Burst: burst, MaxWaiting: queueLength,
		Patience: o.Patience, Now: o.Timer, Count: &r.count,
	})
	return r
}

// shares returns how many connections every caller may use, how many all callers may use
// together before one that has its share must wait, and how many a caller may use that has
// used few lately.
func shares(processors int) (each, shared, burst int) {
	half := processors / 2
	return max(half, ofCaller), max(half, burstOfCaller), max(half, burstOfCaller)
}

// use runs fn with a connection.
func (r *readers) use(ctx context.Context, fn func(*handle) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	caller := lastmile.CallerOf(ctx)
	if err := r.slots.Take(ctx, caller); err != nil {
		return err
	}
	defer r.slots.Give(caller)
	h, err := r.take()
	if err != nil {
		return outOfMemory(&r.count, err)
	}
	r.used.Add(1)
	h.stop = ctx.Done()
	defer r.give(h) // even if fn ends its goroutine
	return outOfMemory(&r.count, interrupted(ctx, fn(h)))
}

// take returns an idle connection or a new one.
func (r *readers) take() (*handle, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, engine.ErrClosed
	}
	if n := len(r.idle); n > 0 {
		h := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return h, nil
	}
	r.opened++
	r.mu.Unlock()
	h, err := r.open()
	if err != nil {
		r.mu.Lock()
		r.opened--
		r.mu.Unlock()
		return nil, err
	}
	return h, nil
}

// give returns a connection to the pool. If its transaction cannot be ended it is
// closed: the next reader must not see an old snapshot.
func (r *readers) give(h *handle) {
	h.stop = nil
	h.settle()
	clean := h.idle()
	if !clean {
		clean = h.run("ROLLBACK") == nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if clean && !r.closed {
		r.idle = append(r.idle, h)
		return
	}
	r.opened--
	h.close()
}

// direct runs fn without a transaction.
func (r *readers) direct(ctx context.Context, fn func(engine.Conn) error) error {
	return r.use(ctx, func(h *handle) error { return r.call(h, fn) })
}

// snapshot runs fn in a transaction, so that all reads see one snapshot.
func (r *readers) snapshot(ctx context.Context, fn func(engine.Conn) error) error {
	return r.use(ctx, func(h *handle) error {
		if err := h.run("BEGIN"); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		if err := r.call(h, fn); err != nil {
			return err // give rolls back
		}
		return h.run("COMMIT")
	})
}

// call runs fn over a connection.
func (r *readers) call(h *handle, fn func(engine.Conn) error) error {
	c := &conn{h: h}
	err := engine.Protect(r.log, c, fn)
	c.end()
	if err == nil && c.failed != nil {
		return c.failed
	}
	return err
}

// trim closes connections that are not in use until at most kept of them are left, those
// that were used last.
func (r *readers) trim(kept int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.idle) > kept {
		r.idle[0].close()
		r.idle = r.idle[1:]
		r.opened--
	}
}

// size returns how many connections are open.
func (r *readers) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opened
}

// close waits for every reader and closes the connections.
func (r *readers) close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return errors.New("closed twice")
	}
	r.closed = true
	r.mu.Unlock()
	r.slots.Drain()
	r.trim(0)
	return nil
}
