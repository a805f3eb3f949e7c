package webhook

import (
	"context"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/work"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	work.Reader
	// Attempts lists the attempts at a notification, oldest first.
	Attempts(ctx context.Context, org lastmile.OrganizationID, notification string) ([]lastmile.Attempt, error)
	// DueNotifications lists the notifications of a webhook that are due at now,
	// with bodies, in order of due time: those following after, up to limit. It stops
	// once the bodies have the given number of bytes.
	DueNotifications(ctx context.Context, hook lastmile.WebhookID, now time.Time, after store.NotificationCursor, limit, bytes int) ([]lastmile.Notification, error)
	// HasJob reports whether there is a job of any kind with an id.
	HasJob(ctx context.Context, org lastmile.OrganizationID, id string) (bool, error)
	// Managed returns the teams that an administrator manages, and their workers.
	Managed(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) ([]lastmile.TeamID, []lastmile.WorkerID, error)
	// EventsAfter returns up to limit events of the log after seq, in order. It
	// stops once they have the given number of bytes, unless that is 0.
	EventsAfter(ctx context.Context, org lastmile.OrganizationID, seq int64, limit, bytes int) ([]store.LoggedEvent, error)
	// EventsPending reports whether any event has no number in the log yet.
	EventsPending(ctx context.Context) (bool, error)
	// LastEvent returns the number of the newest event of the log, or 0.
	LastEvent(ctx context.Context, org lastmile.OrganizationID) (int64, error)
	// Notification reads a notification with its body.
	Notification(ctx context.Context, org lastmile.OrganizationID, id string) (lastmile.Notification, error)
	// Notifications lists notifications without their bodies, newest first.
	Notifications(ctx context.Context, org lastmile.OrganizationID, f store.NotificationFilter) ([]lastmile.Notification, error)
	// TaskNotifications lists up to limit notifications of the events of a task without
	// their bodies, those of the newest events first. It searches the latest 10*limit
	// events.
	TaskNotifications(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, limit int) ([]store.TaskNotification, error)
	// VisibleTask returns a task that the organization has, or that it placed with another.
	VisibleTask(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
	// Webhook returns a webhook.
	Webhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) (lastmile.Webhook, error)
	// Webhooks lists webhooks, oldest first.
	Webhooks(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Webhook, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	work.Writer
	store.Receipts
	events.Transaction
	// AddJob adds a job.
	AddJob(ctx context.Context, j work.Job) error
	// DeleteFiredOf deletes the thresholds that were met for a webhook.
	DeleteFiredOf(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error
	// DeleteJob deletes a job. A process that has leased it loses the lease.
	DeleteJob(ctx context.Context, org lastmile.OrganizationID, id string) error
	// DeleteNotifications deletes notifications of a webhook that is deleted, their
	// attempts and the thresholds that were met for it: about limit rows together. It
	// reports whether there may be more.
	DeleteNotifications(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID, limit int) (more bool, err error)
	// DeleteWebhook deletes a webhook, but not its notifications.
	DeleteWebhook(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error
	// GiveUpNotifications gives up pending notifications of a webhook, up to limit, and
	// returns how many. A running attempt can still be saved.
	GiveUpNotifications(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID, limit int) (int, error)

	// NumberEvents assigns numbers in the log to up to limit committed events,
	// and returns the organization of each of them.
	NumberEvents(ctx context.Context, limit int) ([]lastmile.OrganizationID, error)
	// Redeliver makes a notification due again.
	Redeliver(ctx context.Context, n lastmile.Notification, now time.Time) error
	// SaveAttempt saves an attempt and the state of its notification after it,
	// unless an attempt of that number exists. It reports whether it saved them.
	SaveAttempt(ctx context.Context, n lastmile.Notification, a lastmile.Attempt) (bool, error)
	// SaveCounts saves the effect of attempts on a webhook: how many succeeded,
	// how many failed in a row, and whether it is enabled.
	SaveCounts(ctx context.Context, h lastmile.Webhook) error
	// SaveWebhook saves a webhook.
	SaveWebhook(ctx context.Context, h lastmile.Webhook) error
}
