package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// Webhooks is the kind of webhooks.
const Webhooks Kind = "webhook"

// Notifications is the kind of notifications.
const Notifications Kind = "notification"

// WebhookReader reads webhooks, their notifications, and the event log.
type WebhookReader interface {
	Webhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) (lastmile.Webhook, error)
	// Webhooks lists webhooks, oldest first.
	Webhooks(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Webhook, error)

	// Notification reads a notification with its body.
	Notification(ctx context.Context, org lastmile.OrganizationID, id string) (lastmile.Notification, error)
	// Notifications lists notifications without their bodies, newest first.
	Notifications(ctx context.Context, org lastmile.OrganizationID, f NotificationFilter) ([]lastmile.Notification, error)
	// Attempts lists the attempts at a notification, oldest first.
	Attempts(ctx context.Context, org lastmile.OrganizationID, notification string) ([]lastmile.Attempt, error)

	// DueNotifications lists the notifications of a webhook that are due at now,
	// with bodies, in order of due time: those following after, up to limit.
	DueNotifications(ctx context.Context, hook lastmile.WebhookID, now time.Time, after NotificationCursor, limit int) ([]lastmile.Notification, error)
	// EventsPending reports whether any event has no number in the log yet.
	EventsPending(ctx context.Context) (bool, error)

	// EventsAfter reads events of the log in order, those after seq.
	EventsAfter(ctx context.Context, org lastmile.OrganizationID, seq int64, limit int) ([]LoggedEvent, error)
	// LastEvent is the number of the newest event of the log.
	LastEvent(ctx context.Context, org lastmile.OrganizationID) (int64, error)
}

// NotificationFilter selects notifications; zero fields select all.
type NotificationFilter struct {
	Webhook lastmile.WebhookID
	Before  string // an id: only older notifications
	Since   time.Time
	State   *lastmile.NotificationState
	Limit   int
}

// NotificationCursor is a position in the order of a webhook's due
// notifications; the zero value precedes all.
type NotificationCursor struct {
	Next time.Time
	ID   string
}

// LoggedEvent is an event of the log in its encoded form.
type LoggedEvent struct {
	Seq     int64
	ID      string
	Trigger lastmile.Trigger
	Body    []byte
}

// WebhookWriter saves webhooks and the attempts at their notifications.
type WebhookWriter interface {
	SaveWebhook(ctx context.Context, h lastmile.Webhook) error
	// DeleteWebhook deletes a webhook and its notifications.
	DeleteWebhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error

	// SaveCounts saves the effect of attempts on a webhook: how many succeeded,
	// how many failed in a row, and whether it is enabled.
	SaveCounts(ctx context.Context, h lastmile.Webhook) error
	// SaveAttempt saves an attempt and the state of its notification after it.
	// It reports whether it did: not if an attempt of that number exists.
	SaveAttempt(ctx context.Context, n lastmile.Notification, a lastmile.Attempt) (bool, error)
	// Redeliver makes a notification due again.
	Redeliver(ctx context.Context, n lastmile.Notification, now time.Time) error
	// GiveUpNotifications gives up the pending notifications of a webhook. An
	// attempt under way can still be saved.
	GiveUpNotifications(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error

	// NumberEvents gives committed events their numbers in the log, up to
	// limit of them, and returns the organization of each event it numbered.
	NumberEvents(ctx context.Context, limit int) ([]lastmile.OrganizationID, error)
	// DeleteEvents deletes events older than a time with their notifications,
	// except those with a notification that is pending or was redelivered since.
	// It deletes at most so many events, and returns how many.
	DeleteEvents(ctx context.Context, before time.Time, most int) (int64, error)
}
