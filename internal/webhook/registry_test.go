package webhook_test

import (
	"context"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
)

// TestANewTriggerHasThresholdsOfItsOwn changes a webhook of a threshold that a task has reached.
func TestANewTriggerHasThresholdsOfItsOwn(t *testing.T) {
	for name, test := range map[string]struct {
		change lastmile.WebhookChange
		again  bool
	}{
		"another threshold": {lastmile.WebhookChange{Threshold: new(60.0)}, false},
		"the same trigger":  {lastmile.WebhookChange{Trigger: new(lastmile.TriggerTaskEta)}, false},
		"another trigger":   {lastmile.WebhookChange{Trigger: new(lastmile.TriggerTaskDelayed)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			defer w.close()
			hook := w.hook(lastmile.TriggerTaskEta)
			fire := func() (first bool) {
				w.write(func(ctx context.Context, tx *sqlstore.Tx) (err error) {
					first, err = tx.Fire(ctx, acme, string(hook), "task", now())
					return err
				})
				return first
			}
			fire()
			registry := &webhook.Registry{Store: sqlstore.For[webhook.Reader, webhook.Writer](w.store), Events: w.log, Now: now}
			if _, err := registry.Update(t.Context(), caller, hook, test.change); err != nil {
				t.Fatal(err)
			}
			if got := fire(); got != test.again {
				t.Errorf("the task reaches the threshold again: %v, want %v", got, test.again)
			}
		})
	}
}
