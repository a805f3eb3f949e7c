package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"dray/internal/lastmile"
)

// session is one call of Run or RunDue. Its fields belong to one goroutine.
type session[R Reader, W Writer] struct {
	*Loop[R, W]
	held       map[key]*holding // leased, until the release is committed
	ended      chan *holding    // receives items whose handlers have returned
	endings    []*holding       // returned, but not released yet
	candidates []Item           // due, but not admitted yet
	next       time.Time        // when another item becomes due; zero if unknown
	after      lastmile.OrganizationID
	ran        int
	failed     error // the first failure of a handler
}

// holding is an item that the session has leased.
type holding struct {
	lease  *Lease
	cancel context.CancelCauseFunc
	valid  *time.Timer // stops the handler if the lease was not renewed in time
	done   bool        // the handler has returned
	err    error

	release *Release // how to end the lease; nil if the item is done
	ended   bool     // the lease was ended or lost already
}

func newSession[R Reader, W Writer](l *Loop[R, W]) *session[R, W] {
	l.defaults()
	return &session[R, W]{Loop: l, held: map[key]*holding{}, ended: make(chan *holding)}
}

// running reports whether any handler is running.
func (s *session[R, W]) running() bool { return len(s.held) > len(s.endings) }

// loop processes items until the context ends.
func (s *session[R, W]) loop(ctx context.Context) {
	renew, renewing := time.NewTicker(s.LeaseFor/3), true
	defer renew.Stop()
	poll, gap := time.NewTimer(s.Poll.Soon), time.NewTimer(max(s.Poll.Gap, s.Poll.Soon))
	defer poll.Stop()
	defer gap.Stop()
	var (
		pause   = s.Poll.Soon
		query   = true  // a query is needed
		resting = false // no query until gap fires
		err     error
	)
	for {
		if query && !resting && err == nil {
			_, err = s.fill(ctx)
			query = false
			if s.Poll.Gap > 0 {
				resting = true
				gap.Reset(s.Poll.Gap)
			}
			poll.Reset(s.wait(pause))
		}
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("work cannot be leased", "kind", s.Kind, "error", err)
			poll.Reset(s.wait(pause))
		}
		err = nil
		switch running := s.running(); { // an idle node need not wake up to renew nothing
		case running && !renewing:
			renew.Reset(s.LeaseFor / 3)
			renewing = true
		case !running && renewing:
			renew.Stop()
			renewing = false
		}
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
			s.renew(ctx)
		case h := <-s.ended:
			s.end(h)
			s.flush(ctx)
			pause = s.Poll.Soon
			query, err = s.reuse(ctx, query)
		case <-s.signal:
			s.candidates = append(s.candidates, s.takeOffered()...)
			pause = s.Poll.Soon
			_, err = s.startAdmitted(ctx)
		case <-s.Wake:
			pause, query = s.Poll.Soon, true
		case <-poll.C:
			s.flush(ctx)
			pause, query = min(2*pause, s.Poll.Idle), true
		case <-gap.C:
			resting = false
		}
	}
}

// reuse starts earlier candidates after an item has ended, and reports whether a
// query is needed to find more.
func (s *session[R, W]) reuse(ctx context.Context, query bool) (bool, error) {
	if len(s.candidates) == 0 || query {
		return true, nil
	}
	n, err := s.startAdmitted(ctx)
	return n == 0 || len(s.candidates) == 0, err
}

// wait returns how long to wait until the next poll: at most pause, and not beyond
// the time at which the next known item becomes due.
func (s *session[R, W]) wait(pause time.Duration) time.Duration {
	if s.next.IsZero() {
		return pause
	}
	return min(pause, max(s.next.Sub(s.Now()), time.Millisecond))
}

// stop waits for running handlers and releases all leases.
func (s *session[R, W]) stop(ctx context.Context) {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
	defer cancel()
	s.drain(ctx, grace.Done())
	s.flush(ctx)
}

// drain waits for all handlers. It cancels their contexts once patience is closed.
func (s *session[R, W]) drain(ctx context.Context, patience <-chan struct{}) {
	renew := time.NewTicker(s.LeaseFor / 3)
	defer renew.Stop()
	for s.running() {
		select {
		case h := <-s.ended:
			s.end(h)
		case <-renew.C:
			s.renew(ctx)
		case <-patience:
			patience = nil
			for _, h := range s.held {
				if !h.done {
					h.cancel(context.Canceled)
				}
			}
		}
	}
}

// reset ends the leases of earlier processes.
func (s *session[R, W]) reset(ctx context.Context) {
	err := s.Store.Write(lastmile.Locking(ctx), func(w W) error { return w.ResetWork(ctx, s.Kind, s.Now()) })
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("work of an earlier process cannot be taken over at once: it will be when its leases end", "kind", s.Kind, "error", err)
	}
}

// renew renews the leases of running handlers and stops handlers whose leases were
// lost.
func (s *session[R, W]) renew(ctx context.Context) {
	var items []Item
	for _, h := range s.held {
		if !h.done {
			items = append(items, h.lease.Item)
		}
	}
	if len(items) == 0 {
		return
	}
	// Handlers may continue for a while after the Loop was stopped.
	ctx, end := outlive(ctx, s.Grace+endPatience)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, s.LeaseFor)
	defer cancel()
	var (
		lost  []Item
		until = s.Now().Add(s.LeaseFor)
	)
	err := s.Store.Write(lastmile.Locking(ctx), func(w W) (err error) {
		lost, err = w.HoldWork(ctx, items, until)
		return err
	})
	if err != nil {
		s.Log.Warn("leases cannot be renewed", "kind", s.Kind, "count", len(items), "error", err)
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

// end records that a handler has returned.
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

// flush ends the leases of items whose handlers have returned, in one transaction.
// If that fails, the next call tries again; the leases are not renewed meanwhile.
func (s *session[R, W]) flush(ctx context.Context) {
	for { // include handlers that have returned in the meantime
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
	ctx, cancel := outlive(ctx, endPatience)
	defer cancel()
	slices.SortFunc(s.endings, func(a, b *holding) int { return a.lease.compare(b.lease.Item) })
	err := s.Store.Write(lastmile.Locking(ctx), func(w W) error {
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

// outlive returns a context that ends some time after ctx.
func outlive(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(patience, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}
