package ordering

import (
	"cmp"
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// A courier that orders for its client cannot use the recipients that the client keeps: the
// tasks would show everything that the client has stored about them, which a connection does
// not grant. Recipients that the courier sends are kept by the courier.

// named returns the tasks of a draft, with recipients that the caller may use for a client.
// before is the order to change; nil for a new one.
func (os *Orders) named(ctx context.Context, who lastmile.Principal, client store.Client, d Draft, before *Placed) (pickup, dropoff lastmile.TaskDraft, err error) {
	pickup, dropoff = *d.Pickup, *d.Dropoff
	if who.Organization == client.Organization {
		return pickup, dropoff, nil
	}
	var known [2]*lastmile.Recipient
	if before != nil {
		known = [2]*lastmile.Recipient{before.PickupTask.Recipient, before.DropoffTask.Recipient}
	}
	err = os.Store.Read(ctx, func(r OrderReader) error {
		b := behalf{r: r, courier: who.Organization, client: client.Organization}
		if err := b.check(ctx, &pickup, known[0]); err != nil {
			return lastmile.Within("pickupTask.", err)
		}
		return lastmile.Within("dropoffTask.", b.check(ctx, &dropoff, known[1]))
	})
	return pickup, dropoff, err
}

// behalf is a courier that acts for a client.
type behalf struct {
	r               OrderReader
	courier, client lastmile.OrganizationID
}

// check rejects records that the courier cannot see. Unless the recipient is the known one,
// it becomes one that the courier keeps.
func (b behalf) check(ctx context.Context, d *lastmile.TaskDraft, known *lastmile.Recipient) error {
	if m := d.Change.Merchant; m != nil && *m != b.client && *m != b.courier {
		return lastmile.OutsideScope(string(*m))
	}
	if at := d.Destination; at != nil && at.Draft == nil {
		if _, err := b.r.Destination(ctx, b.courier, at.ID); err != nil {
			return err
		}
	}
	if d.Recipients == nil {
		return nil
	}
	refs := make([]lastmile.RecipientRef, 0, len(*d.Recipients))
	for _, ref := range *d.Recipients {
		ref, err := b.recipient(ctx, ref, known)
		if err != nil {
			return err
		}
		refs = append(refs, ref)
	}
	d.Recipients = &refs
	return nil
}

func (b behalf) recipient(ctx context.Context, ref lastmile.RecipientRef, known *lastmile.Recipient) (lastmile.RecipientRef, error) {
	if ref.Draft == nil {
		if known != nil && known.ID == ref.ID {
			return ref, nil
		}
		_, err := b.r.Recipient(ctx, b.courier, ref.ID)
		return ref, cmp.Or[error](err, lastmile.OutsideScope(string(ref.ID)))
	}
	draft := *ref.Draft
	if known != nil && draft.Phone == string(known.Phone) {
		// Clients may send back the recipient that they have read.
		if _, changed, err := (lastmile.PreparedRecipient{Draft: draft}).Merge(known); err == nil && !changed {
			return lastmile.RecipientRef{ID: known.ID}, nil
		}
	}
	if len(draft.Change.Metadata.Replace) > 0 || len(draft.Change.Metadata.Set) > 0 {
		return ref, lastmile.Invalid("recipients[0].metadata can be set only by the client")
	}
	draft.Keeper = b.courier
	return lastmile.RecipientRef{Draft: &draft}, nil
}
