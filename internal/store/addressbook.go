package store

import (
	"context"

	"dray/internal/lastmile"
)

// AddressReader reads destinations and recipients.
type AddressReader interface {
	Destination(ctx context.Context, org lastmile.OrganizationID, id lastmile.DestinationID) (lastmile.Destination, error)
	// Destinations lists destinations, oldest first.
	Destinations(ctx context.Context, org lastmile.OrganizationID, f DestinationFilter) ([]lastmile.Destination, error)

	Recipient(ctx context.Context, org lastmile.OrganizationID, id lastmile.RecipientID) (lastmile.Recipient, error)
	// Recipients lists recipients, newest first.
	Recipients(ctx context.Context, org lastmile.OrganizationID, f RecipientFilter) ([]lastmile.Recipient, error)
}

// DestinationFilter chooses destinations.
type DestinationFilter struct {
	Metadata lastmile.Metadata // all of these entries
	Limit    int               // 0: no limit
}

// RecipientFilter chooses recipients; zero fields choose all.
type RecipientFilter struct {
	Name     string // compared without letter case
	Phone    lastmile.Phone
	Phones   []lastmile.Phone  // any of these
	Metadata lastmile.Metadata // all of these entries
	Limit    int               // 0: no limit
}

// AddressWriter saves destinations and recipients.
type AddressWriter interface {
	SaveDestination(ctx context.Context, d lastmile.Destination) error
	SaveRecipient(ctx context.Context, r lastmile.Recipient) error
}
