package addressbook

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	store.ReceiptReader
	// HubLocations returns the locations of the oldest hubs, up to a limit.
	HubLocations(ctx context.Context, org lastmile.OrganizationID, limit int) ([]lastmile.Point, error)
	// Organization returns any organization, not only the caller's.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// Recipient returns a recipient.
	Recipient(ctx context.Context, org lastmile.OrganizationID, id lastmile.RecipientID) (lastmile.Recipient, error)
	// Recipients lists recipients, newest first.
	Recipients(ctx context.Context, org lastmile.OrganizationID, f store.RecipientFilter) ([]lastmile.Recipient, error)
	// Settings returns the settings of an organization.
	Settings(ctx context.Context, org lastmile.OrganizationID) (lastmile.Settings, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	store.Receipts
	store.RecipientStore
	// SaveDestination saves a new destination.
	SaveDestination(ctx context.Context, d lastmile.Destination) error
}
