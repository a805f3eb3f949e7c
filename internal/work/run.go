package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// errExhausted means that an item has no attempts left.
var errExhausted = errors.New("it was tried too often")

// errLapsed stops a handler whose lease could not be renewed in time.
var errLapsed = errors.New("the lease could not be renewed")

// start runs the handler of a leased item in a goroutine.
func (s *session[R, W]) start(ctx context.Context, p *Prepared) {
	item := p.Item
	ctx = lastmile.WithCaller(context.WithoutCancel(ctx), string(item.Organization))
	ctx, cancel := context.WithCancelCause(ctx) // see stop
	lease := &Lease{Item: item, For: s.LeaseFor, Last: s.last(item), Value: p.Value}
	lease.renewed(s.Now().Add(s.LeaseFor))
	h := &holding{lease: lease, cancel: cancel}
	h.valid = time.AfterFunc(s.LeaseFor, func() {
		if !s.Alone { // another process may take over
			cancel(errLapsed)
		}
	})
	s.held[item.key()] = h
	go func() {
		defer cancel(nil)
		s.do(ctx, h)
		s.ended <- h
	}()
}

// last reports whether an item has no attempts left if it fails now.
func (s *session[R, W]) last(item Item) bool {
	return s.Retry.Failures > 0 && item.Failures >= s.Retry.Failures-1 || s.Retry.Attempts > 0 && item.Attempt >= s.Retry.Attempts
}

// exhausted reports whether an item has no attempts left.
func (s *session[R, W]) exhausted(item Item) bool {
	return s.Retry.Failures > 0 && item.Failures >= s.Retry.Failures || s.Retry.Attempts > 0 && item.Attempt > s.Retry.Attempts
}

// do runs a leased item and decides how its lease ends.
func (s *session[R, W]) do(ctx context.Context, h *holding) {
	item := h.lease.Item
	log := s.Log.With("kind", item.Kind, "item", item.ID, "organization", item.Organization, "attempt", item.Attempt)
	err := errExhausted
	if !s.exhausted(item) {
		err = s.attempt(ctx, h)
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrLost), errors.Is(context.Cause(ctx), ErrLost):
		log.Info("the lease of work was lost: another process has taken it over or ended it")
		h.ended = true
	case ctx.Err() != nil && !errors.Is(err, errExhausted): // stopped, which is no failure
		h.release = &Release{Due: s.Now(), Failures: item.Failures}
	case h.lease.Last || errors.Is(err, errExhausted):
		h.err = err
		s.giveUp(ctx, h, err, log)
	default:
		h.err = err
		pause := s.backoff(item.Failures)
		log.Warn("work failed and will be tried again", "failures", item.Failures+1, "after", pause, "error", err)
		h.release = &Release{Due: s.Now().Add(pause), Failures: item.Failures + 1, Reason: reason(err)}
	}
}

// maxReason is the maximum length of a stored error, in characters.
const maxReason = 1_000

// reason returns the text of an error in a form that every database can store. The error may
// quote a response of another server, which can contain anything.
func reason(err error) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "\uFFFD"), "\x00", "")
	return lastmile.Truncate(text, maxReason)
}

// backoff returns the pause after another failure of an item that has failed the given
// number of times before.
func (s *session[R, W]) backoff(failures int) time.Duration {
	return min(s.Retry.First<<min(failures, 20), s.Retry.Longest)
}

// attempt runs the handler of an item and, if that succeeds, its End.
func (s *session[R, W]) attempt(ctx context.Context, h *holding) (err error) {
	defer recovered(&err)
	end, err := s.Do(ctx, h.lease)
	if err != nil || end == nil {
		return err
	}
	// Record the result even if the Loop is stopping.
	ctx, cancel := outlive(ctx, endPatience)
	defer cancel()
	err = s.Store.Write(ctx, func(w W) error {
		if err := w.FinishWork(ctx, h.lease.Item); err != nil {
			return err
		}
		return end(ctx, w)
	})
	h.ended = err == nil
	return err
}

// giveUp ends an item that is not tried again. Kinds that keep such items list
// them as given up.
func (s *session[R, W]) giveUp(ctx context.Context, h *holding, cause error, log *slog.Logger) {
	log.Error("work is given up", "failures", h.lease.Failures+1, "error", cause)
	ctx, cancel := outlive(ctx, endPatience)
	defer cancel()
	err := s.endForGood(ctx, h.lease.Item, cause)
	switch {
	case err == nil || errors.Is(err, ErrLost):
		h.ended = true
	default: // try again later to give it up
		log.Warn("work cannot be given up yet", "error", err)
		h.release = &Release{Due: s.Now().Add(s.Retry.Longest), Failures: max(s.Retry.Failures, h.lease.Failures), Reason: reason(cause)}
	}
}

func (s *session[R, W]) endForGood(ctx context.Context, item Item, cause error) (err error) {
	defer recovered(&err)
	return s.Store.Write(ctx, func(w W) error {
		if err := w.ReleaseWork(ctx, item, Release{Failures: item.Failures + 1, Reason: reason(cause)}); err != nil || s.GiveUp == nil {
			return err
		}
		return s.GiveUp(ctx, w, item)
	})
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}
