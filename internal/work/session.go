package work

import (
	"context"
	"errors"
	"time"

	"dray/internal/lastmile"
)

// session is one call of Run. Its fields belong to one goroutine.
type session[R Reader, W Writer] struct {
	*Loop[R, W]
	ctx     context.Context // of the Loop: no item is leased after it has ended
	working context.Context // of handlers
	cancel  context.CancelFunc

	held       map[key]*holding // by this session, until the release is committed
	ended      chan *holding
	endings    []*holding // ended, not yet committed
	candidates []Item     // due, not admitted yet
	next       time.Time  // when another becomes due; zero if that is not known
	after      lastmile.OrganizationID
	ran        int
	failed     error // the first failure of a handler
}

// holding is an item that the session has leased.
type holding struct {
	lease  *Lease
	cancel context.CancelCauseFunc
	valid  *time.Timer // ends the work when the lease could not be renewed in time
	done   bool        // the handler has returned
	err    error

	release *Release // how to end the lease; nil when the item is done
	ended   bool     // the lease was ended already, or lost
}

func newSession[R Reader, W Writer](ctx context.Context, l *Loop[R, W]) *session[R, W] {
	l.defaults()
	s := &session[R, W]{Loop: l, ctx: ctx, held: map[key]*holding{}, ended: make(chan *holding)}
	s.working, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// running reports whether any handler is running.
func (s *session[R, W]) running() bool { return len(s.held) > len(s.endings) }

// loop works until the context ends.
func (s *session[R, W]) loop() {
	renew := time.NewTicker(s.LeaseFor / 3)
	defer renew.Stop()
	poll, gap := time.NewTimer(0), time.NewTimer(0)
	defer poll.Stop()
	defer gap.Stop()
	var (
		pause   = s.Poll.Soon
		resting = true  // no query until gap fires
		query   = false // one is wanted
	)
	for {
		var err error
		select {
		case <-s.ctx.Done():
			return
		case <-renew.C:
			s.renew()
			continue
		case h := <-s.ended:
			s.end(h)
			s.flush()
			pause = s.Poll.Soon
			query, err = s.reuse(query)
		case <-s.signal:
			s.candidates = append(s.candidates, s.takeOffered()...)
			pause = s.Poll.Soon
			_, err = s.startAdmitted()
		case <-s.Wake:
			pause, query = s.Poll.Soon, true
		case <-poll.C:
			s.flush()
			pause, query = min(2*pause, s.Poll.Idle), true
		case <-gap.C:
			resting = false
		}
		if query && !resting && err == nil {
			_, err = s.fill()
			query, resting = false, s.Poll.Gap > 0
			gap.Reset(s.Poll.Gap)
			poll.Reset(s.wait(pause))
		}
		if err != nil && s.ctx.Err() == nil {
			s.Log.Warn("work cannot be leased", "kind", s.Kind, "error", err)
			poll.Reset(s.wait(pause))
		}
	}
}

// reuse starts what was found before, now that there is room, and reports
// whether it takes another query to find more.
func (s *session[R, W]) reuse(query bool) (bool, error) {
	if len(s.candidates) == 0 || query {
		return true, nil
	}
	n, err := s.startAdmitted()
	return n == 0 || len(s.candidates) == 0, err
}

// wait is how long to wait until the next poll: not beyond the time at which an
// item is known to become due.
func (s *session[R, W]) wait(pause time.Duration) time.Duration {
	if s.next.IsZero() {
		return pause
	}
	return min(pause, max(s.next.Sub(s.Now()), time.Millisecond))
}

// stop waits for handlers that are running, and releases all leases.
func (s *session[R, W]) stop() {
	defer s.cancel()
	if s.Grace == 0 {
		s.cancel()
	} else {
		grace := time.AfterFunc(s.Grace, s.cancel)
		defer grace.Stop()
	}
	s.drain()
	s.flush()
}

// drain waits for all handlers.
func (s *session[R, W]) drain() {
	renew := time.NewTicker(s.LeaseFor / 3)
	defer renew.Stop()
	for s.running() {
		select {
		case h := <-s.ended:
			s.end(h)
		case <-renew.C:
			s.renew()
		}
	}
}

// reset ends the leases of processes that are gone.
func (s *session[R, W]) reset() {
	err := s.Store.Write(s.ctx, func(w W) error { return w.ResetWork(s.ctx, s.Kind, s.Now()) })
	if err != nil && s.ctx.Err() == nil {
		s.Log.Warn("work of an earlier process cannot be taken over at once: it will be when its leases end", "kind", s.Kind, "error", err)
	}
}

// renew makes the leases of running handlers last longer. A handler whose lease
// was lost all the same is stopped.
func (s *session[R, W]) renew() {
	var items []Item
	for _, h := range s.held {
		if !h.done {
			items = append(items, h.lease.Item)
		}
	}
	if len(items) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(s.working, s.LeaseFor)
	defer cancel()
	var (
		lost  []Item
		until = s.Now().Add(s.LeaseFor)
	)
	err := s.Store.Write(ctx, func(w W) (err error) {
		lost, err = w.HoldWork(ctx, items, until)
		return err
	})
	if err != nil {
		if s.working.Err() == nil {
			s.Log.Warn("leases cannot be renewed", "kind", s.Kind, "count", len(items), "error", err)
		}
		return
	}
	for _, item := range items {
		h := s.held[item.key()]
		h.lease.renewed(until)
		h.valid.Reset(s.LeaseFor)
	}
	for _, item := range lost {
		s.held[item.key()].cancel(ErrLost)
	}
}

// end notes that a handler has returned.
func (s *session[R, W]) end(h *holding) {
	h.valid.Stop()
	h.done = true
	s.Admission.Done(h.lease.Item)
	if h.err != nil && s.failed == nil {
		s.failed = h.err
	}
	if h.ended {
		delete(s.held, h.lease.key())
		return
	}
	s.endings = append(s.endings, h)
}

// flush ends the leases of items whose handlers have returned, all in one
// transaction. What cannot be written now is tried again; those leases are not
// renewed meanwhile.
func (s *session[R, W]) flush() {
	for { // together with those that have returned in the meantime
		select {
		case h := <-s.ended:
			s.end(h)
			continue
		default:
		}
		break
	}
	if len(s.endings) == 0 {
		return
	}
	ctx, cancel := outlive(s.ctx, endPatience)
	defer cancel()
	err := s.Store.Write(ctx, func(w W) error {
		for _, h := range s.endings {
			if err := h.commit(ctx, w); err != nil && !errors.Is(err, ErrLost) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.Log.Warn("leases cannot be released yet", "kind", s.Kind, "count", len(s.endings), "error", err)
		return
	}
	for _, h := range s.endings {
		delete(s.held, h.lease.key())
	}
	s.endings = nil
}

// commit ends the lease in the database.
func (h *holding) commit(ctx context.Context, w Writer) error {
	if h.release == nil {
		return w.FinishWork(ctx, h.lease.Item)
	}
	return w.ReleaseWork(ctx, h.lease.Item, *h.release)
}

// outlive returns a context that ends some time after another.
func outlive(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(patience, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}
