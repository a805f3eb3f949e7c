package webhook

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// record stores the results of attempts in one transaction: the attempt, what
// becomes of its notification, and what that means for the webhook.
func (s *Sender) record(ctx context.Context, batch []result) error {
	if len(batch) == 0 {
		return nil
	}
	return s.Store.Write(ctx, func(w store.Writer) error {
		hooks := map[lastmile.WebhookID]*lastmile.Webhook{}
		for _, r := range batch {
			if r.attempt.Number == 0 {
				if err := w.ReleaseNotification(ctx, r.n, r.again); err != nil {
					return err
				}
				continue
			}
			if err := recordOne(ctx, w, r, hooks); err != nil {
				return err
			}
		}
		for _, hook := range hooks {
			if err := w.SaveWebhook(ctx, *hook); err != nil {
				return err
			}
			if hook.Enabled {
				continue
			}
			if err := w.GiveUpNotifications(ctx, hook.Organization, hook.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// recordOne stores one result. A webhook that is gone, and a notification that
// another process has claimed since, are left as they are.
func recordOne(ctx context.Context, w store.Writer, r result, hooks map[lastmile.WebhookID]*lastmile.Webhook) error {
	hook := hooks[r.n.Webhook]
	if hook == nil {
		found, err := w.Webhook(ctx, r.n.Organization, r.n.Webhook)
		if lastmile.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		hook = &found
	}
	after, n := *hook, r.n
	n.Record(&after, r.attempt)
	saved, err := w.SaveResult(ctx, n, r.attempt)
	if err != nil || !saved {
		return err
	}
	hooks[n.Webhook] = &after
	return nil
}
