package store

import (
	"context"

	"dray/internal/lastmile"
)

// MessageReader reads text messages.
type MessageReader interface {
	// Messages lists text messages, oldest first.
	Messages(ctx context.Context, f MessageFilter) ([]lastmile.TextMessage, error)
	// NotificationThresholds are when recipients of an organization are told
	// that the worker is near or late.
	NotificationThresholds(ctx context.Context, org lastmile.OrganizationID) (lastmile.NotificationThresholds, error)
}

// MessageFilter chooses text messages; zero fields choose all.
type MessageFilter struct {
	Organization lastmile.OrganizationID
	To           lastmile.Phone
	Limit        int // the newest so many
}

// MessageWriter saves text messages.
type MessageWriter interface {
	SaveMessage(ctx context.Context, m lastmile.TextMessage) error
}
