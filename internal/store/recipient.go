package store

import (
	"context"

	"dray/internal/lastmile"
)

// RecipientStore finds recipients and saves them.
type RecipientStore interface {
	Recipients(ctx context.Context, org lastmile.OrganizationID, f RecipientFilter) ([]lastmile.Recipient, error)
	// AddRecipient saves a new recipient.
	AddRecipient(ctx context.Context, r lastmile.Recipient) error
	// SaveRecipient saves a recipient.
	SaveRecipient(ctx context.Context, r lastmile.Recipient) error
}

// SavePreparedRecipient saves a recipient, or updates the one who has the phone
// number already.
func SavePreparedRecipient(ctx context.Context, w RecipientStore, p lastmile.PreparedRecipient) (lastmile.Recipient, error) {
	found, err := w.Recipients(ctx, p.New.Organization, RecipientFilter{Phone: p.New.Phone, Keeper: p.New.Keeper, Limit: 1})
	if err != nil {
		return lastmile.Recipient{}, err
	}
	var known *lastmile.Recipient
	if len(found) > 0 {
		known = &found[0]
	}
	recipient, changed, err := p.Merge(known)
	if err != nil || !changed {
		return recipient, err
	}
	if known == nil {
		return recipient, w.AddRecipient(ctx, recipient)
	}
	return recipient, w.SaveRecipient(ctx, recipient)
}
