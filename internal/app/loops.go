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

// refreshKeysEvery is how soon a node hears that a key was revoked.
func (a *App) refreshKeysEvery() time.Duration {
	if a.Store.Engine() == "sqlite" {
		return 100 * time.Millisecond
	}
	return 500 * time.Millisecond
}

func (a *App) startLoops(ctx context.Context) {
	a.every(ctx, a.refreshKeysEvery(), "refresh keys", a.Keys.Refresh)
	a.every(ctx, saveKeyUseEvery, "save use of keys", a.Keys.SaveUse)
	a.every(ctx, forgetReceiptEvery, "forget receipts", a.forgetReceipts)
	a.every(ctx, forgetReceiptEvery, "forget events", a.forgetEvents)
	a.loops.Go(func() { a.Jobs.Run(ctx) })
	a.every(ctx, forgetReceiptEvery, "forget positions", a.forgetPositions)
	a.every(ctx, forgetReceiptEvery, "forget answers of map services", a.forgetAnswers)
	a.every(ctx, forgetReceiptEvery, "forget uploads", a.Uploads.Forget)
	a.every(ctx, forgetReceiptEvery, "forget text messages", a.forgetMessages)
	a.loops.Go(func() { a.Texts.Run(ctx) })
	a.loops.Go(func() { a.Sender.Run(ctx) })
	a.loops.Go(func() { a.Feed.Run(ctx) })
	a.loops.Go(func() { a.Tracking.Run(ctx) })
	a.loops.Go(func() { a.Watch.Run(ctx) })
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

// eventsKept is how long the log of events and notifications goes back.
const eventsKept = 30 * 24 * time.Hour

// kept is how long something is kept that is usually kept so long.
func (a *App) kept(usually time.Duration) time.Duration {
	if a.Config.keepShort {
		return min(usually, 24*time.Hour)
	}
	return usually
}

func (a *App) forgetEvents(ctx context.Context) error {
	return a.Store.Write(ctx, func(w store.Writer) error {
		_, err := w.DeleteEvents(ctx, a.Now().Add(-a.kept(eventsKept)))
		return err
	})
}

func (a *App) forgetReceipts(ctx context.Context) error {
	return a.Store.Write(ctx, func(w store.Writer) error {
		_, err := w.DeleteReceipts(ctx, a.Now().Add(-lastmile.ReceiptLifetime))
		return err
	})
}

func (a *App) forgetPositions(ctx context.Context) error {
	return a.Store.Write(ctx, func(w store.Writer) error {
		_, err := w.DeletePositions(ctx, a.Now().Add(-a.kept(lastmile.PositionsKept)))
		return err
	})
}

func (a *App) forgetAnswers(ctx context.Context) error {
	return a.Store.Write(ctx, func(w store.Writer) error {
		_, err := w.DeleteAnswers(ctx, a.Now())
		return err
	})
}
