package webhook

import (
	"context"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Registry manages the webhooks of all organizations and the log of their
// notifications.
type Registry struct {
	Store    store.Transactor[Reader, Writer]
	Events   *events.Log
	Egress   Handshaker
	Now      func() time.Time
	NewID    func() string
	NewCheck func() string // returns the random text of a handshake

	Handshakes *Handshakes
}

// Handshaker verifies that a server agrees to be a webhook.
type Handshaker interface {
	Handshake(ctx context.Context, url, check string) error
}

// Create registers a webhook after a handshake with its server.
func (r *Registry) Create(ctx context.Context, who lastmile.Principal, change lastmile.WebhookChange) (lastmile.CreatedRecord[lastmile.Webhook], error) {
	none := lastmile.CreatedRecord[lastmile.Webhook]{}
	made, err := lastmile.NewWebhook(lastmile.WebhookID(r.NewID()), who.Organization, change, r.Now())
	if err != nil {
		return none, err
	}
	err = r.Store.Read(ctx, func(tx Reader) error { return checkLimit(ctx, tx, made) })
	if err != nil {
		return none, err
	}
	if err := r.handshake(ctx, who, made.URL); err != nil {
		return none, err
	}
	return store.Idempotent(ctx, r.Store, who, func(w Writer) (lastmile.CreatedRecord[lastmile.Webhook], error) {
		if err := checkLimit(ctx, w, made); err != nil {
			return none, err
		}
		return lastmile.CreatedRecord[lastmile.Webhook]{Record: made}, w.SaveWebhook(ctx, made)
	})
}

// handshake verifies that the server of a webhook agrees to be one.
func (r *Registry) handshake(ctx context.Context, who lastmile.Principal, url string) error {
	if err := r.Handshakes.admit(who.Organization, url); err != nil {
		return err
	}
	return r.Egress.Handshake(ctx, url, r.NewCheck())
}

func checkLimit(ctx context.Context, r Reader, h lastmile.Webhook) error {
	others, err := r.Webhooks(ctx, h.Organization)
	if err != nil {
		return err
	}
	return h.CheckLimit(others)
}

// List returns the organization's webhooks.
func (r *Registry) List(ctx context.Context, who lastmile.Principal) (hooks []lastmile.Webhook, err error) {
	err = r.Store.Read(ctx, func(tx Reader) (err error) {
		hooks, err = tx.Webhooks(ctx, who.Organization)
		return err
	})
	return hooks, err
}

// Update changes a webhook. A new URL requires a handshake. Disabling a webhook
// gives up its pending notifications.
func (r *Registry) Update(ctx context.Context, who lastmile.Principal, id lastmile.WebhookID, change lastmile.WebhookChange) (hook lastmile.Webhook, err error) {
	now := r.Now()
	err = r.Store.Read(ctx, func(tx Reader) (err error) {
		hook, err = tx.Webhook(ctx, who.Organization, id)
		return err
	})
	if err != nil {
		return hook, err
	}
	before := hook.URL
	if _, err := hook.Update(change, now); err != nil {
		return hook, err
	}
	if hook.URL != before {
		if err := r.handshake(ctx, who, hook.URL); err != nil {
			return hook, err
		}
	}
	err = r.Store.Write(ctx, func(w Writer) (err error) {
		if hook, err = w.Webhook(ctx, who.Organization, id); err != nil {
			return err
		}
		changed, err := hook.Update(change, now)
		if err != nil || !changed {
			return err
		}
		if change.Trigger != nil {
			others, err := w.Webhooks(ctx, who.Organization)
			if err != nil {
				return err
			}
			if err := hook.CheckTrigger(others); err != nil {
				return err
			}
		}
		if err := w.SaveWebhook(ctx, hook); err != nil || hook.Enabled {
			return err
		}
		return w.GiveUpNotifications(ctx, hook.Organization, hook.ID)
	})
	return hook, err
}

// Delete deletes a webhook and its notifications.
func (r *Registry) Delete(ctx context.Context, who lastmile.Principal, id lastmile.WebhookID) error {
	return r.Store.Write(ctx, func(w Writer) error {
		if _, err := w.Webhook(ctx, who.Organization, id); err != nil {
			return err
		}
		return w.DeleteWebhook(ctx, who.Organization, id)
	})
}

// LogSize is the number of notifications in a page of the log.
const LogSize = 64

// LogQuery selects notifications of a webhook.
type LogQuery struct {
	Before string // an id: only older notifications
	Failed bool   // only notifications that were given up
}

// Log lists the notifications of a webhook, newest first.
func (r *Registry) Log(ctx context.Context, who lastmile.Principal, id lastmile.WebhookID, q LogQuery) (log []lastmile.Notification, err error) {
	err = r.Store.Read(ctx, func(tx Reader) (err error) {
		if _, err := tx.Webhook(ctx, who.Organization, id); err != nil {
			return err
		}
		if q.Before != "" {
			if _, err := notification(ctx, tx, who, id, q.Before); err != nil {
				return err
			}
		}
		f := store.NotificationFilter{Webhook: id, Before: q.Before, Limit: LogSize}
		if q.Failed {
			givenUp := lastmile.NotificationGivenUp
			f.State = &givenUp
		}
		log, err = tx.Notifications(ctx, who.Organization, f)
		return err
	})
	return log, err
}

// Notification returns a notification of a webhook with all its attempts.
func (r *Registry) Notification(ctx context.Context, who lastmile.Principal, hook lastmile.WebhookID, id string) (d lastmile.DetailedNotification, err error) {
	err = r.Store.Read(ctx, func(tx Reader) (err error) {
		if d.Notification, err = notification(ctx, tx, who, hook, id); err != nil {
			return err
		}
		d.Attempts, err = tx.Attempts(ctx, who.Organization, id)
		return err
	})
	return d, err
}

func notification(ctx context.Context, r Reader, who lastmile.Principal, hook lastmile.WebhookID, id string) (lastmile.Notification, error) {
	if _, err := r.Webhook(ctx, who.Organization, hook); err != nil {
		return lastmile.Notification{}, err
	}
	n, err := r.Notification(ctx, who.Organization, id)
	if err == nil && n.Webhook != hook {
		err = lastmile.NotFound("notification", id)
	}
	return n, err
}

// Redeliver makes one notification due again, whatever its state.
func (r *Registry) Redeliver(ctx context.Context, who lastmile.Principal, hook lastmile.WebhookID, id string) (lastmile.Redelivered, error) {
	now := r.Now()
	return store.Idempotent(ctx, r.Store, who, func(w Writer) (lastmile.Redelivered, error) {
		n, err := notification(ctx, w, who, hook, id)
		if err != nil {
			return 0, err
		}
		r.Events.HandOver(w, n)
		return 1, w.Redeliver(ctx, n, now)
	})
}

// maxRedelivered limits the notifications that one request makes due again.
const maxRedelivered = 10_000

// RedeliverFailed makes the notifications of a webhook due again that were given
// up since a time.
func (r *Registry) RedeliverFailed(ctx context.Context, who lastmile.Principal, hook lastmile.WebhookID, since time.Time) (lastmile.Redelivered, error) {
	now, givenUp := r.Now(), lastmile.NotificationGivenUp
	return store.Idempotent(ctx, r.Store, who, func(w Writer) (lastmile.Redelivered, error) {
		if _, err := w.Webhook(ctx, who.Organization, hook); err != nil {
			return 0, err
		}
		failed, err := w.Notifications(ctx, who.Organization, store.NotificationFilter{
			Webhook: hook, Since: since, State: &givenUp, Limit: maxRedelivered,
		})
		if err != nil {
			return 0, err
		}
		r.Events.HandOver(w, failed...)
		for _, n := range failed {
			if err := w.Redeliver(ctx, n, now); err != nil {
				return 0, err
			}
		}
		return lastmile.Redelivered(len(failed)), nil
	})
}

// Test sends a webhook an event of its trigger that is marked as a test.
func (r *Registry) Test(ctx context.Context, who lastmile.Principal, id lastmile.WebhookID) (lastmile.Redelivered, error) {
	now := r.Now()
	return store.Idempotent(ctx, r.Store, who, func(w Writer) (lastmile.Redelivered, error) {
		hook, err := w.Webhook(ctx, who.Organization, id)
		if err != nil {
			return 0, err
		}
		return 1, r.Events.Append(ctx, w, lastmile.Event{
			Organization: who.Organization, Trigger: hook.Trigger, At: now,
			Actor: who.Actor(), Webhooks: []lastmile.WebhookID{id}, Test: true,
		})
	})
}
