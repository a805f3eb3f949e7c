package app

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"dray/internal/access"
	"dray/internal/account"
	"dray/internal/assignment"
	"dray/internal/fleet"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
	"dray/internal/travel"
	"dray/internal/webhook"
	"dray/internal/work"
)

// The intervals of periodic steps of a node.
const (
	saveKeyUseInterval = 30 * time.Second
	clockInterval      = time.Minute
	purgeInterval      = 10 * time.Minute
	accountInterval    = time.Minute // so that streams of expired sessions end soon
	fillInterval       = time.Minute
	positionsInterval  = 10 * time.Second
)

// RefreshKeysEvery returns the interval at which a node refreshes API keys, which is also how
// long a revoked key may still work.
func (a *App) RefreshKeysEvery() time.Duration {
	if a.Config.Poll > 0 {
		return a.Config.Poll
	}
	if a.Store.Engine() == "sqlite" {
		return 100 * time.Millisecond
	}
	return 500 * time.Millisecond
}

func (a *App) startLoops(ctx context.Context) {
	purging := cmp.Or(a.Config.Purge, purgeInterval)
	a.every(ctx, a.RefreshKeysEvery(), "refresh keys", a.Keys.Refresh)
	a.every(ctx, saveKeyUseInterval, "save use of keys", a.Keys.SaveUse)
	a.every(ctx, cmp.Or(a.Config.Poll, auditInterval), "save the audit log", a.Audit.Flush)
	a.every(ctx, purging, "purge the audit log", a.Audit.Purge)
	a.every(ctx, clockInterval, "check the clock", a.checkClock)
	a.every(ctx, cmp.Or(a.Config.Poll, mapsInterval), "refresh maps", a.Maps.Refresh)
	a.every(ctx, cmp.Or(a.Config.Poll, shareInterval), "compare maps", a.Maps.Compare)
	a.every(ctx, cmp.Or(a.Config.Poll, fillInterval), "fill columns for search", a.Reports.Fill)
	a.every(ctx, purging, "purge receipts", a.purgeReceipts)
	a.every(ctx, purging, "purge events", a.purgeEvents)
	a.every(ctx, purging, "purge the log of lists", purgeLists(a))
	a.every(ctx, cmp.Or(a.Config.Poll, logListsInterval), "log lists", a.Lists.Log)
	a.loops.Go(func() { a.Jobs.Run(ctx) })
	a.loops.Go(func() { a.Dispatching.Run(ctx) })
	if a.Accounts.Mailer != nil {
		a.loops.Go(func() { a.Mails.Run(ctx) })
	}
	a.loops.Go(func() { a.Replanning.Run(ctx) })
	a.every(ctx, purging, "purge sessions", a.purgeSessions)
	a.every(ctx, cmp.Or(a.Config.Purge, accountInterval), "end sessions of administrators", a.Accounts.Purge)
	a.every(ctx, purging, "purge positions", a.purgePositions)
	a.every(ctx, purging, "purge explanations", a.purgeExplanations)
	a.every(ctx, purging, "purge dispatches", a.purgeDispatches)
	a.every(ctx, purging, "purge quotes", a.PurgeQuotes)
	a.every(ctx, purging, "purge cached map responses", a.purgeMapCache)
	a.every(ctx, purging, "purge uploads", a.Uploads.Purge)
	a.every(ctx, purging, "purge text messages", a.purgeMessages)
	a.loops.Go(func() { a.Texts.Run(ctx) })
	a.loops.Go(func() { a.Sender.Run(ctx) })
	a.loops.Go(func() { a.Clearing.Run(ctx) })
	a.loops.Go(func() { a.Positions.Run(ctx) })
	a.loops.Go(func() { a.Feed.Run(ctx) })
	a.loops.Go(func() { a.Tracking.Run(ctx) })
	a.loops.Go(func() { a.Hub.Run(ctx) })
}

// steps records when each periodic step of a node last succeeded, by the monotonic clock,
// because alerts must not depend on a clock that people set.
type steps struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func (s *steps) succeeded(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[string]time.Time{}
	}
	s.last[what] = time.Now()
}

// ages returns the time since each step last succeeded, or since the start.
func (s *steps) ages() map[string]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	ages := map[string]time.Duration{}
	for what, at := range s.last {
		ages[what] = time.Since(at)
	}
	return ages
}

// every runs a step at each interval until the context ends.
func (a *App) every(ctx context.Context, interval time.Duration, what string, step func(context.Context) error) {
	a.steps.succeeded(what)
	a.loops.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				err := protect(ctx, step)
				if err == nil {
					a.steps.succeeded(what)
				} else if ctx.Err() == nil {
					a.Log.Error("background step failed", "step", what, "error", err)
				}
			}
		}
	})
}

// protect runs a step and turns a panic into an error, so that one faulty step does not end
// the process.
func protect(ctx context.Context, step func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return step(ctx)
}

// clockTolerance is the maximum time by which a clock that is set back has no effect except
// that work is late by the same time.
const clockTolerance = time.Minute

// longestPauses are the longest times after which work of each kind is due again. Work that
// is due later, such as re-planning at long intervals, is found to be early and scheduled
// again.
var longestPauses = map[work.Kind]time.Duration{
	work.Webhooks:    lastmile.RetryInterval,
	work.Messages:    textmessage.LongestResend,
	work.Estimates:   travel.RefreshOffDuty,
	work.Replans:     assignment.DefaultReplanning.Interval,
	work.CreateBatch: work.LongestPause,
	work.Dispatch:    work.LongestPause,
	webhook.Clearing: work.LongestPause,
	fleet.Clearing:   work.LongestPause,
	account.SendMail: mailRetry.Longest,
}

// checkClock makes work due that was scheduled before the clock was set back and would
// otherwise be late. It runs at the start and every clockInterval, and writes only if the
// clock was set back by more than clockTolerance.
func (a *App) checkClock(ctx context.Context) error {
	wall, elapsed := a.Now(), time.Now()
	back := elapsed.Sub(a.clock.elapsed) - wall.Sub(a.clock.wall)
	if started := a.clock.wall.IsZero(); !started && back < clockTolerance {
		a.clock.wall, a.clock.elapsed = wall, elapsed
		return nil
	} else if !started {
		a.Log.Warn("the clock was set back", "by", back)
	}
	err := a.Store.Write(ctx, func(w *sqlstore.Tx) error {
		for _, kind := range workKinds {
			if err := w.AdvanceWork(ctx, kind, wall, wall.Add(longestPauses[kind]+clockTolerance)); err != nil {
				return err
			}
		}
		return w.AdvanceOnDuty(ctx, wall, wall.Add(travel.RefreshOnDuty+clockTolerance))
	})
	if err == nil {
		a.clock.wall, a.clock.elapsed = wall, elapsed
	}
	return err
}

// retention returns how long events, notifications, positions, text messages and the
// explanations of automatic assignment are kept.
func (a *App) retention() time.Duration {
	if a.Config.ShortRetention {
		return 24 * time.Hour
	}
	return 30 * 24 * time.Hour
}

// purgeBatch is the number of rows that one transaction deletes. A larger one would delay
// other writes.
const purgeBatch = 500

// purge deletes rows older than t, in batches.
func (a *App) purge(ctx context.Context, t time.Time, deleteBatch func(w *sqlstore.Tx, t time.Time, limit int) (int64, error)) error {
	for {
		var deleted int64
		err := a.Store.Write(ctx, func(w *sqlstore.Tx) (err error) {
			deleted, err = deleteBatch(w, t, purgeBatch)
			return err
		})
		if err != nil || deleted < purgeBatch {
			return err
		}
	}
}

func (a *App) purgeEvents(ctx context.Context) error {
	return a.purge(ctx, a.Now().Add(-a.retention()), func(w *sqlstore.Tx, before time.Time, limit int) (int64, error) {
		return w.DeleteEvents(ctx, before, limit)
	})
}

// purgeLists returns a function that purges the log of lists.
func purgeLists(a *App) func(context.Context) error {
	return func(ctx context.Context) error {
		return a.purge(ctx, a.Now().Add(-a.retention()), func(w *sqlstore.Tx, before time.Time, limit int) (int64, error) {
			return withParts(w).DeleteLists(ctx, before, limit)
		})
	}
}

func (a *App) purgeReceipts(ctx context.Context) error {
	return a.purge(ctx, a.Now().Add(-lastmile.ReceiptLifetime), func(w *sqlstore.Tx, before time.Time, limit int) (int64, error) {
		return w.DeleteReceipts(ctx, before, limit)
	})
}

func (a *App) purgeSessions(ctx context.Context) error {
	err := a.purge(ctx, a.Now().Add(-access.SessionLifetime), func(w *sqlstore.Tx, before time.Time, limit int) (int64, error) {
		return w.DeleteUnusedSessions(ctx, before, limit)
	})
	if err != nil {
		return err
	}
	return a.purge(ctx, a.Now(), func(w *sqlstore.Tx, now time.Time, limit int) (int64, error) {
		return w.DeleteSignInAllowances(ctx, now, limit)
	})
}

// positionLoop deletes the positions of deleted workers.
type positionLoop = work.Loop[work.Reader, fleet.ClearingWriter]

func newPositionLoop(a *App, newID func() string) *positionLoop {
	clearer := &fleet.Clearer{Store: sqlstore.For[work.Reader, fleet.ClearingWriter](a.Store), Now: a.Now}
	return &positionLoop{
		Kind: fleet.Clearing, Store: clearer.Store, Do: clearer.Clear,
		Limits: work.Limits{Total: 2, PerOrganization: 1},
		Poll:   work.Poll{Idle: cmp.Or(a.Config.Poll, positionsInterval)},
		Alone:  a.Store.Engine() == "sqlite",
		Now:    a.Now, NewID: newID, Log: a.Log,
	}
}

func (a *App) purgePositions(ctx context.Context) error {
	return a.purge(ctx, a.Now().Add(-a.retention()), func(w *sqlstore.Tx, before time.Time, limit int) (int64, error) {
		return w.DeletePositions(ctx, before, limit)
	})
}

func (a *App) purgeExplanations(ctx context.Context) error {
	return a.purge(ctx, a.Now().Add(-a.retention()), func(w *sqlstore.Tx, before time.Time, limit int) (int64, error) {
		return w.DeleteExplanations(ctx, before, limit)
	})
}

func (a *App) purgeDispatches(ctx context.Context) error {
	return a.purge(ctx, a.Now().Add(-a.retention()), func(w *sqlstore.Tx, before time.Time, limit int) (int64, error) {
		return w.DeleteDispatches(ctx, before, limit)
	})
}

// expiredQuotes is the time for which quotes are kept after they have expired, so that the error
// for an order says that its quote has expired, not that it does not exist.
const expiredQuotes = 24 * time.Hour

// PurgeQuotes deletes quotes that expired long ago.
func (a *App) PurgeQuotes(ctx context.Context) error {
	return a.purge(ctx, a.Now().Add(-expiredQuotes), func(w *sqlstore.Tx, before time.Time, limit int) (int64, error) {
		return withParts(w).DeleteQuotes(ctx, before, limit)
	})
}

func (a *App) purgeMapCache(ctx context.Context) error {
	return a.purge(ctx, a.Now(), func(w *sqlstore.Tx, now time.Time, limit int) (int64, error) {
		return w.DeleteCachedResponses(ctx, now, limit)
	})
}
