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
	// DueNotifications lists what a webhook is owed at now, with bodies, the
	// first first: those after a place, up to limit.
	DueNotifications(ctx context.Context, hook lastmile.WebhookID, now time.Time, after Place, limit int) ([]lastmile.Notification, error)
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
	Claim        string    // of who sends it
	ClaimedUntil time.Time
}

// Place is a place in the order of what a webhook is owed; zero is before all.
type Place struct {
	Next time.Time
	ID   string
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
	// DeleteWebhook deletes a webhook and what it is owed.
	DeleteWebhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error

	// ClaimWebhook lets nobody else send to a webhook until a time. It tells
	// whether it did: not if another claim lasts beyond now, nor if there is no
	// such webhook. Nobody may have used the claim for another webhook.
	ClaimWebhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID, claim string, now, until time.Time) (bool, error)
	// HoldWebhook makes a claim last until a time and tells whether it was still
	// there: nobody has claimed the webhook since.
	HoldWebhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID, claim string, until time.Time) (bool, error)
	// ReleaseWebhooks ends all claims.
	ReleaseWebhooks(ctx context.Context) error
	// SaveTally saves what attempts make of a webhook: how many went well, how
	// many failed in a row, and whether it is enabled.
	SaveTally(ctx context.Context, h lastmile.Webhook) error
	// SaveResult records a notification after an attempt, and the attempt. It
	// tells whether it did: not if another attempt of that number was recorded.
	SaveResult(ctx context.Context, n lastmile.Notification, a lastmile.Attempt) (bool, error)
	// Redeliver makes a notification due again.
	Redeliver(ctx context.Context, n lastmile.Notification, now time.Time) error
	// GiveUpNotifications ends all that a webhook is owed. What is being sent
	// can still be recorded.
	GiveUpNotifications(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error

	// NumberEvents gives committed events their numbers in the log, up to
	// limit of them, and returns the organization of each event it numbered.
	NumberEvents(ctx context.Context, limit int) ([]lastmile.OrganizationID, error)
	// DeleteEvents forgets events of before a time and what was owed of them,
	// unless somebody waits for it or asked for it again since. It forgets so
	// many events at most, and returns how many.
	DeleteEvents(ctx context.Context, before time.Time, most int) (int64, error)
}
