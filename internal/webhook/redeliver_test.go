package webhook_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
)

// countingStore counts the notifications that each transaction makes due again.
type countingStore struct {
	store.Transactor[webhook.Reader, webhook.Writer]
	mu    sync.Mutex
	steps []int
}

// Write implements store.Transactor.
func (s *countingStore) Write(ctx context.Context, fn func(webhook.Writer) error) error {
	return s.Transactor.Write(ctx, func(w webhook.Writer) error {
		counting := &countingWriter{Writer: w}
		err := fn(counting)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.steps = append(s.steps, counting.again)
		return err
	})
}

type countingWriter struct {
	webhook.Writer
	again int
}

// Redeliver implements webhook.Writer.
func (w *countingWriter) Redeliver(ctx context.Context, n lastmile.Notification, now time.Time) error {
	w.again++
	return w.Writer.Redeliver(ctx, n, now)
}

// TestManyNotificationsAreSentAgainInSteps: no transaction takes longer because many
// notifications are sent again.
func TestManyNotificationsAreSentAgainInSteps(t *testing.T) {
	w := newFixture(t)
	defer w.close()
	hook := w.hook(lastmile.TriggerWorkerDuty)
	w.appendEvents(lastmile.TriggerWorkerDuty, 250)
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		_, err := tx.GiveUpNotifications(ctx, acme, hook, 250)
		return err
	})
	counting := &countingStore{Transactor: sqlstore.For[webhook.Reader, webhook.Writer](w.store)}
	registry := &webhook.Registry{Store: counting, Events: w.log, Now: now}
	count, err := registry.RedeliverRange(t.Context(), lastmile.Principal{Organization: acme}, hook, webhook.Range{})
	if err != nil || count != 250 {
		t.Errorf("%d notifications are sent again, want 250: %v", count, err)
	}
	total := 0
	for _, n := range counting.steps {
		if total += n; n > 100 {
			t.Errorf("a transaction makes %d notifications due", n)
		}
	}
	if total != 250 {
		t.Errorf("the transactions make %v notifications due, want 250", counting.steps)
	}
	pending := lastmile.NotificationPending
	w.read(func(ctx context.Context, tx *sqlstore.Tx) error {
		found, err := tx.Notifications(ctx, acme, store.NotificationFilter{Webhook: hook, State: &pending, Limit: 1000})
		if len(found) != 250 {
			t.Errorf("%d notifications are due", len(found))
		}
		return err
	})
}
