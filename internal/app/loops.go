package app

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// How often the small loops of a node run.
const (
	saveKeyUseEvery    = 30 * time.Second
	forgetReceiptEvery = 10 * time.Minute
)

// RefreshKeysEvery is how soon a node learns that a key was revoked.
func (a *App) RefreshKeysEvery() time.Duration {
	if a.Store.Engine() == "sqlite" {
		return 100 * time.Millisecond
	}
	return 500 * time.Millisecond
}

func (a *App) startLoops(ctx context.Context) {
	a.every(ctx, a.RefreshKeysEvery(), "refresh keys", a.Keys.Refresh)
	a.every(ctx, saveKeyUseEvery, "save use of keys", a.Keys.SaveUse)
	a.every(ctx, forgetReceiptEvery, "forget receipts", a.forgetReceipts)
	a.every(ctx, forgetReceiptEvery, "forget events", a.forgetEvents)
	a.loops.Go(func() { a.Jobs.Run(ctx) })
	a.every(ctx, forgetReceiptEvery, "forget positions", a.forgetPositions)
	a.every(ctx, forgetReceiptEvery, "forget explanations", a.forgetExplanations)
	a.every(ctx, forgetReceiptEvery, "forget answers of map services", a.forgetAnswers)
	a.every(ctx, forgetReceiptEvery, "forget uploads", a.Uploads.Purge)
	a.every(ctx, forgetReceiptEvery, "forget text messages", a.forgetMessages)
	a.loops.Go(func() { a.Texts.Run(ctx) })
	a.loops.Go(func() { a.Sender.Run(ctx) })
	a.loops.Go(func() { a.Feed.Run(ctx) })
	a.loops.Go(func() { a.Tracking.Run(ctx) })
	a.loops.Go(func() { a.Hub.Run(ctx) })
}

// every runs a step again and again until the context ends.
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

// kept is how long it is kept what happened: events and notifications,
// positions, text messages, explanations of automatic assignment.
func (a *App) kept() time.Duration {
	if a.Config.ShortRetention {
		return 24 * time.Hour
	}
	return 30 * 24 * time.Hour
}

// forgottenAtOnce is how much one transaction deletes, so that nobody waits long
// for it.
const forgottenAtOnce = 500

// forget deletes what is of before a time, some of it after the other.
func (a *App) forget(ctx context.Context, before time.Time, some func(w store.Writer, before time.Time, most int) (int64, error)) error {
	for {
		var gone int64
		err := a.Store.Write(ctx, func(w store.Writer) (err error) {
			gone, err = some(w, before, forgottenAtOnce)
			return err
		})
		if err != nil || gone < forgottenAtOnce {
			return err
		}
	}
}

func (a *App) forgetEvents(ctx context.Context) error {
	return a.forget(ctx, a.Now().Add(-a.kept()), func(w store.Writer, before time.Time, most int) (int64, error) {
		return w.DeleteEvents(ctx, before, most)
	})
}

func (a *App) forgetReceipts(ctx context.Context) error {
	return a.forget(ctx, a.Now().Add(-lastmile.ReceiptLifetime), func(w store.Writer, before time.Time, most int) (int64, error) {
		return w.DeleteReceipts(ctx, before, most)
	})
}

func (a *App) forgetPositions(ctx context.Context) error {
	return a.forget(ctx, a.Now().Add(-a.kept()), func(w store.Writer, before time.Time, most int) (int64, error) {
		return w.DeletePositions(ctx, before, most)
	})
}

func (a *App) forgetExplanations(ctx context.Context) error {
	return a.forget(ctx, a.Now().Add(-a.kept()), func(w store.Writer, before time.Time, most int) (int64, error) {
		return w.DeleteExplanations(ctx, before, most)
	})
}

func (a *App) forgetAnswers(ctx context.Context) error {
	return a.forget(ctx, a.Now(), func(w store.Writer, now time.Time, most int) (int64, error) { return w.DeleteAnswers(ctx, now, most) })
}
