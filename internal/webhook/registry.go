package webhook

import (
	"context"
	"slices"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/rate"
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

	redeliveries rate.Turns // one RedeliverRange for each organization at a time
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
	for portions, done := 0, false; err == nil && !done; portions++ {
		if portions == maxPortions {
			return hook, errClearing(id)
		}
		err = r.Store.Write(ctx, func(w Writer) (err error) {
			hook, done, err = update(ctx, w, who, id, change, now)
			return err
		})
	}
	return hook, err
}

// update changes a webhook in a transaction, unless it is to be enabled and notifications
// from before it was disabled are left to be given up: it then gives up some of them and
// reports that it is not done.
func update(ctx context.Context, w Writer, who lastmile.Principal, id lastmile.WebhookID, change lastmile.WebhookChange, now time.Time) (hook lastmile.Webhook, done bool, err error) {
	if hook, err = w.Webhook(ctx, who.Organization, id); err != nil {
		return hook, false, err
	}
	enabled, trigger := hook.Enabled, hook.Trigger
	changed, err := hook.Update(change, now)
	if err != nil || !changed {
		return hook, true, err
	}
	if change.Trigger != nil {
		others, err := w.Webhooks(ctx, who.Organization)
		if err != nil {
			return hook, false, err
		}
		if err := hook.CheckTrigger(others); err != nil {
			return hook, false, err
		}
	}
	if hook.Enabled && !enabled {
		if cleared, err := finishClearing(ctx, w, who.Organization, id); err != nil || !cleared {
			return hook, false, err
		}
	}
	if hook.Trigger != trigger { // its thresholds were other ones
		if err := w.DeleteFiredOf(ctx, who.Organization, id); err != nil {
			return hook, false, err
		}
	}
	if err := w.SaveWebhook(ctx, hook); err != nil || !enabled || hook.Enabled {
		return hook, true, err
	}
	_, err = giveUp(ctx, w, hook, clearedAtOnce, now)
	return hook, true, err
}

// Delete deletes a webhook and its notifications; a job deletes those that are too many
// for one transaction.
func (r *Registry) Delete(ctx context.Context, who lastmile.Principal, id lastmile.WebhookID) error {
	now := r.Now()
	return r.Store.Write(ctx, func(w Writer) error {
		if _, err := w.Webhook(ctx, who.Organization, id); err != nil {
			return err
		}
		if err := w.DeleteWebhook(ctx, who.Organization, id); err != nil {
			return err
		}
		more, err := w.DeleteNotifications(ctx, who.Organization, id, clearedAtOnce)
		if err != nil || !more {
			return err
		}
		return addClearing(ctx, w, who.Organization, id, now)
	})
}

// LogSize is the maximum number of notifications in a page of the log.
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

// TaskLogSize is the maximum number of notifications that TaskLog returns.
const TaskLogSize = 100

// TaskLog lists the latest notifications of events of a task, newest first.
func (r *Registry) TaskLog(ctx context.Context, who lastmile.Principal, id lastmile.TaskID) (log []store.TaskNotification, err error) {
	err = r.Store.Read(ctx, func(tx Reader) (err error) {
		if _, err = tx.VisibleTask(ctx, who.Organization, id); err != nil {
			return err
		}
		log, err = tx.TaskNotifications(ctx, who.Organization, id, TaskLogSize)
		return err
	})
	return log, err
}

// Notification returns a notification of a webhook with its latest attempts.
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
	if err := r.finishClearing(ctx, who.Organization, hook); err != nil {
		return 0, err
	}
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

// redeliveredAtOnce is the maximum number of notifications that one transaction makes due
// again, so that other writers do not wait long. If a request fails in between, repeating
// it does the rest.
const redeliveredAtOnce = 100

// maxNamed limits the notifications that one request names.
const maxNamed = 1_000

// Range selects notifications of a webhook that were due since From and before Until;
// zero times are no bound.
type Range struct {
	IDs         []string // exactly these, whatever their state and time; nil to select by the other fields
	From, Until time.Time
	Delivered   bool // delivered notifications as well as those that were given up
}

// RedeliverFailed redelivers the notifications of a webhook that were due since a time
// and were given up.
func (r *Registry) RedeliverFailed(ctx context.Context, who lastmile.Principal, hook lastmile.WebhookID, since time.Time) (lastmile.Redelivered, error) {
	return r.RedeliverRange(ctx, who, hook, Range{From: since})
}

// RedeliverRange makes notifications of a webhook due again. Pending ones are included
// only if they are named.
func (r *Registry) RedeliverRange(ctx context.Context, who lastmile.Principal, hook lastmile.WebhookID, in Range) (lastmile.Redelivered, error) {
	now := r.Now()
	switch {
	case in.IDs != nil && (!in.From.IsZero() || !in.Until.IsZero() || in.Delivered):
		return 0, lastmile.Invalid("ids cannot be combined with from, to and delivered")
	case len(in.IDs) > maxNamed:
		return 0, lastmile.Invalid("ids has %d entries; at most %d are allowed", len(in.IDs), maxNamed)
	case !in.From.IsZero() && !in.Until.IsZero() && !in.From.Before(in.Until):
		return 0, lastmile.Invalid("from must be before to")
	}
	end, err := r.redeliveries.Request(ctx, who.Organization)
	if err != nil {
		return 0, err
	}
	defer end()
	if err := r.finishClearing(ctx, who.Organization, hook); err != nil {
		return 0, err
	}
	var found []lastmile.Notification
	err = r.Store.Read(ctx, func(tx Reader) (err error) {
		if _, err := tx.Webhook(ctx, who.Organization, hook); err != nil {
			return err
		}
		found, err = in.find(ctx, tx, who, hook)
		return err
	})
	if err != nil {
		return 0, err
	}
	redeliver := func(w Writer, some []lastmile.Notification) error {
		r.Events.HandOver(w, some...)
		for _, n := range some {
			if err := w.Redeliver(ctx, n, now); err != nil {
				return err
			}
		}
		return nil
	}
	rest := found
	for ; len(rest) > redeliveredAtOnce; rest = rest[redeliveredAtOnce:] {
		err := r.Store.Write(ctx, func(w Writer) error { return redeliver(w, rest[:redeliveredAtOnce]) })
		if err != nil {
			return 0, err
		}
	}
	return store.Idempotent(ctx, r.Store, who, func(w Writer) (lastmile.Redelivered, error) {
		return lastmile.Redelivered(len(found)), redeliver(w, rest)
	})
}

// find returns the notifications of a range.
func (in Range) find(ctx context.Context, r Reader, who lastmile.Principal, hook lastmile.WebhookID) (found []lastmile.Notification, err error) {
	if in.IDs != nil {
		for _, id := range slices.Compact(slices.Sorted(slices.Values(in.IDs))) {
			n, err := notification(ctx, r, who, hook, id)
			if err != nil {
				return nil, err
			}
			found = append(found, n)
		}
		return found, nil
	}
	states := []lastmile.NotificationState{lastmile.NotificationGivenUp}
	if in.Delivered {
		states = append(states, lastmile.NotificationDelivered)
	}
	for _, state := range states {
		some, err := r.Notifications(ctx, who.Organization, store.NotificationFilter{
			Webhook: hook, Since: in.From, Until: in.Until, State: &state, Limit: max(1, maxRedelivered-len(found)),
		})
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return found[:min(len(found), maxRedelivered)], nil
}

// Test sends a webhook an event of its trigger that is marked as a test.
func (r *Registry) Test(ctx context.Context, who lastmile.Principal, id lastmile.WebhookID) (lastmile.Redelivered, error) {
	now := r.Now()
	if err := r.finishClearing(ctx, who.Organization, id); err != nil {
		return 0, err
	}
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
