package store

import (
	"context"

	"dray/internal/lastmile"
)

// EventWriter stores events and their notifications. Package events decides what
// is stored.
type EventWriter interface {
	// WebhookTriggers lists the webhooks of an organization, oldest first, with
	// nothing but their ids and triggers and whether they are enabled.
	WebhookTriggers(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Webhook, error)
	// InsertEvents stores new events.
	InsertEvents(ctx context.Context, events []lastmile.EventRecord) error
	// InsertNotifications stores new notifications that no attempt was made at.
	InsertNotifications(ctx context.Context, notifications []lastmile.Notification) error
}
