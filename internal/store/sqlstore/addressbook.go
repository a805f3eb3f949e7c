package sqlstore

import (
	"context"
	"fmt"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// Destination returns a destination.
func (t addressTx) Destination(ctx context.Context, org lastmile.OrganizationID, id lastmile.DestinationID) (lastmile.Destination, error) {
	found, err := t.destinations(ctx, org, within(org).and(`t.id = ?`, id), 1)
	return only(ctx, t.base, store.Destinations, string(id), found, err)
}

func (t addressTx) destinations(ctx context.Context, org lastmile.OrganizationID, where *condition, most int) ([]lastmile.Destination, error) {
	scan := func(r rows) (lastmile.Destination, error) {
		var (
			doc      []byte
			geocoded int64
			form     wire.Destination
		)
		if err := r.Scan(&doc, &geocoded); err != nil {
			return lastmile.Destination{}, err
		}
		err := wire.Unmarshal(doc, &form)
		d := form.Domain(org)
		d.WasGeocoded = geocoded != 0
		return d, err
	}
	found, err := collect(ctx, t, scan,
		`SELECT t.doc, t.geocoded FROM destination t WHERE `+where.text+` ORDER BY t.created, t.id`+limit(most), where.args...)
	if err != nil {
		return nil, fmt.Errorf("read destinations: %w", err)
	}
	return found, nil
}

// SaveDestination saves a new destination, unless the organization has it already.
// Destinations do not change, so those of tasks are kept.
func (t addressTx) SaveDestination(ctx context.Context, d lastmile.Destination) error {
	row, err := destinationRow(d)
	if err != nil {
		return err
	}
	if err := t.send(ctx, destinationInsertion.one, row...); err != nil {
		return fmt.Errorf("save destination %s: %w", d.ID, err)
	}
	return t.addMetadata(ctx, store.Destinations, d.Organization, string(d.ID), d.Metadata)
}

var destinationInsertion = newInsertion(`destination`, `org, id, doc, v, created, geocoded, street`, `(org, id) DO NOTHING`)

// destinationRow returns a destination as destinationInsertion saves it.
func destinationRow(d lastmile.Destination) ([]any, error) {
	doc, err := wire.Marshal(wire.NewDestination(d))
	return []any{d.Organization, d.ID, doc, documentVersion, d.Created.UnixMilli(), engine.Flag(d.WasGeocoded), lastmile.FoldName(d.Address.Street)}, err
}

// Recipient returns a recipient.
func (t addressTx) Recipient(ctx context.Context, org lastmile.OrganizationID, id lastmile.RecipientID) (lastmile.Recipient, error) {
	found, err := t.recipients(ctx, within(org).and(`t.id = ?`, id), 1)
	return only(ctx, t.base, store.Recipients, string(id), found, err)
}

// Recipients lists recipients, newest first.
func (t addressTx) Recipients(ctx context.Context, org lastmile.OrganizationID, f store.RecipientFilter) ([]lastmile.Recipient, error) {
	where := within(org)
	if f.Name != "" {
		where.and(`t.name = ?`, lastmile.FoldName(f.Name))
	}
	if f.Phone != "" {
		where.and(`t.phone = ?`, f.Phone)
	}
	in(where, `t.phone`, f.Phones)
	if f.Name != "" || f.Phone != "" || len(f.Phones) > 0 {
		where.and(`t.keeper = ?`, f.Keeper)
	}
	return t.recipients(ctx, where, f.Limit)
}

func (t addressTx) recipients(ctx context.Context, where *condition, most int) ([]lastmile.Recipient, error) {
	scan := func(r rows) (lastmile.Recipient, error) {
		var (
			doc  []byte
			form wire.Recipient
		)
		if err := r.Scan(&doc); err != nil {
			return lastmile.Recipient{}, err
		}
		err := wire.Unmarshal(doc, &form)
		return form.Domain(), err
	}
	found, err := collect(ctx, t, scan,
		`SELECT t.doc FROM recipient t WHERE `+where.text+` ORDER BY t.created DESC, t.id`+limit(most), where.args...)
	if err != nil {
		return nil, fmt.Errorf("read recipients: %w", err)
	}
	return found, nil
}

// AddRecipient saves a new recipient.
func (t addressTx) AddRecipient(ctx context.Context, r lastmile.Recipient) error {
	if err := t.putRecipient(ctx, r); err != nil {
		return err
	}
	return t.addMetadata(ctx, store.Recipients, r.Organization, string(r.ID), r.Metadata)
}

// SaveRecipient saves a recipient.
func (t addressTx) SaveRecipient(ctx context.Context, r lastmile.Recipient) error {
	if err := t.putRecipient(ctx, r); err != nil {
		return err
	}
	return t.saveMetadata(ctx, store.Recipients, r.Organization, string(r.ID), r.Metadata)
}

func (t addressTx) putRecipient(ctx context.Context, r lastmile.Recipient) error {
	row, err := recipientRow(r)
	if err != nil {
		return err
	}
	if err := t.send(ctx, recipientInsertion.one, row...); err != nil {
		return fmt.Errorf("save recipient %s: %w", r.ID, err)
	}
	return nil
}

var recipientInsertion = newInsertion(`recipient`, `org, id, doc, v, phone, name, created, keeper`,
	`(org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v, name = excluded.name`)

// recipientRow returns a recipient as recipientInsertion saves it.
func recipientRow(r lastmile.Recipient) ([]any, error) {
	doc, err := wire.Marshal(wire.NewRecipient(r))
	return []any{r.Organization, r.ID, doc, documentVersion, r.Phone, lastmile.FoldName(r.Name), r.Created.UnixMilli(), r.Keeper}, err
}
