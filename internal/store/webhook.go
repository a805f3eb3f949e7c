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

// WebhookReader reads webhooks, what they are owed, and the event log.
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

	// WaitingWebhooks lists the webhooks that are owed something, each with the
	// time at which the first of it is to be sent.
	WaitingWebhooks(ctx context.Context) ([]Waiting, error)
	// EventsPending tells whether any event has no number in the log yet.
	EventsPending(ctx context.Context) (bool, error)

	// EventsAfter reads events of the log in order, those after seq.
	EventsAfter(ctx context.Context, org lastmile.OrganizationID, seq int64, limit int) ([]LoggedEvent, error)
	// LastEvent is the number of the newest event of the log.
	LastEvent(ctx context.Context, org lastmile.OrganizationID) (int64, error)
}

// NotificationFilter chooses notifications; zero fields choose all.
type NotificationFilter struct {
	Webhook lastmile.WebhookID
	Before  string // older than this one, by its id
	Since   time.Time
	State   *lastmile.NotificationState
	Limit   int
}

// Waiting is a webhook that is owed something.
type Waiting struct {
	Organization lastmile.OrganizationID
	Webhook      lastmile.WebhookID
	Next         time.Time // when the first of it is to be sent
	Failing      bool      // the last attempt failed
}

// LoggedEvent is an event of the log as it is sent.
type LoggedEvent struct {
	Seq     int64
	ID      string
	Trigger lastmile.Trigger
	Body    []byte
}

// WebhookWriter saves webhooks and what came of their notifications.
type WebhookWriter interface {
	SaveWebhook(ctx context.Context, h lastmile.Webhook) error
	// SaveTally saves what attempts make of a webhook: how many went well, how
	// many failed in a row, and whether it is enabled.
	SaveTally(ctx context.Context, h lastmile.Webhook) error
	// DeleteWebhook deletes a webhook and what it is owed.
	DeleteWebhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error

	// ClaimNotifications takes up to limit notifications of a webhook that are
	// due at now, with their bodies, and keeps others off them until a time.
	// Nobody may have used the claim before.
	ClaimNotifications(ctx context.Context, hook lastmile.WebhookID, now, until time.Time, claim string, limit int) ([]lastmile.Notification, error)
	// ReleaseNotifications gives back all that anybody has claimed.
	ReleaseNotifications(ctx context.Context, now time.Time) error
	// SaveResult records a notification after an attempt, if claim still holds
	// it; the attempt is recorded with it. It tells whether it did.
	SaveResult(ctx context.Context, n lastmile.Notification, a lastmile.Attempt) (bool, error)
	// ReleaseNotification gives a claimed notification back, to be tried at a
	// time, unless it was given up meanwhile.
	ReleaseNotification(ctx context.Context, n lastmile.Notification, at time.Time) error
	// Redeliver makes a notification due again, unless it is being sent.
	Redeliver(ctx context.Context, n lastmile.Notification, now time.Time) error
	// GiveUpNotifications ends all that a webhook is owed. What is being sent
	// can still be recorded.
	GiveUpNotifications(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error

	// NumberEvents gives committed events their numbers in the log, up to
	// limit of them, and returns how many it numbered.
	NumberEvents(ctx context.Context, limit int) (int, error)
	// DeleteEvents forgets events and notifications of before a time that
	// nobody waits for.
	DeleteEvents(ctx context.Context, before time.Time) (int64, error)
}
