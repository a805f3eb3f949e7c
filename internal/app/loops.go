package app

import (
	"context"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// How often the periodic steps of a node run.
const (
	saveKeyUseInterval = 30 * time.Second
	purgeInterval      = 10 * time.Minute
)

// RefreshKeysEvery returns how often a node refreshes API keys, and so how long a
// revoked key may still work.
func (a *App) RefreshKeysEvery() time.Duration {
	if a.Store.Engine() == "sqlite" {
		return 100 * time.Millisecond
	}
	return 500 * time.Millisecond
}

func (a *App) startLoops(ctx context.Context) {
	a.every(ctx, a.RefreshKeysEvery(), "refresh keys", a.Keys.Refresh)
	a.every(ctx, saveKeyUseInterval, "save use of keys", a.Keys.SaveUse)
	a.every(ctx, purgeInterval, "purge receipts", a.purgeReceipts)
	a.every(ctx, purgeInterval, "purge sessions", a.purgeSessions)
	a.every(ctx, purgeInterval, "purge events", a.purgeEvents)
	a.loops.Go(func() { a.Jobs.Run(ctx) })
	a.every(ctx, purgeInterval, "purge positions", a.purgePositions)
	a.every(ctx, purgeInterval, "purge explanations", a.purgeExplanations)
	a.every(ctx, purgeInterval, "purge cached map responses", a.purgeMapCache)
	a.every(ctx, purgeInterval, "purge uploads", a.Uploads.Purge)
	a.every(ctx, purgeInterval, "purge text messages", a.purgeMessages)
	a.loops.Go(func() { a.Texts.Run(ctx) })
	a.loops.Go(func() { a.Sender.Run(ctx) })
	a.loops.Go(func() { a.Feed.Run(ctx) })
	a.loops.Go(func() { a.Tracking.Run(ctx) })
	a.loops.Go(func() { a.Hub.Run(ctx) })
}

// every runs a step at each interval until the context ends.
func (a *App) every(ctx context.Context, interval time.Duration, what string, step func(context.Context) error) {
	a.loops.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if err := step(ctx); err != nil && ctx.Err() == nil {
					a.Log.Error("background step failed", "step", what, "error", err)
				}
			}
		}
	})
}

// retention is how long events, notifications, positions, text messages and the
// explanations of automatic assignment are kept.
func (a *App) retention() time.Duration {
	if a.Config.ShortRetention {
		return 24 * time.Hour
	}
	return 30 * 24 * time.Hour
}

// purgeBatch is how many rows one transaction deletes; a larger one would delay
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

func (a *App) purgeMapCache(ctx context.Context) error {
	return a.purge(ctx, a.Now(), func(w *sqlstore.Tx, now time.Time, limit int) (int64, error) { return w.DeleteAnswers(ctx, now, limit) })
}
