package addressbook

import (
	"context"
	"errors"
	"strings"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// CreateRecipient creates a recipient, or updates the one with the same phone
// number.
func (b *Book) CreateRecipient(ctx context.Context, who lastmile.Principal, draft lastmile.RecipientDraft) (lastmile.Recipient, error) {
	ready, err := b.PrepareRecipient(ctx, who, "", draft)
	if err != nil {
		return lastmile.Recipient{}, err
	}
	return store.Idempotent(ctx, b.Store, who, func(w Writer) (lastmile.Recipient, error) {
		return store.SavePreparedRecipient(ctx, w, ready)
	})
}

// PrepareRecipient checks a draft and returns what there is to save. field is the
// prefix of field names in error messages.
func (b *Book) PrepareRecipient(ctx context.Context, who lastmile.Principal, field string, draft lastmile.RecipientDraft) (lastmile.PreparedRecipient, error) {
	if err := draft.Check(field); err != nil {
		return lastmile.PreparedRecipient{}, err
	}
	phone, err := b.phone(ctx, who, draft.Phone, draft.SkipPhoneNumberValidation)
	if err != nil {
		return lastmile.PreparedRecipient{}, lastmile.Within(field, err)
	}
	recipient, err := lastmile.NewRecipient(lastmile.RecipientID(b.NewID()), who.Organization, draft, phone, b.Now())
	return lastmile.PreparedRecipient{Draft: draft, New: recipient}, lastmile.Within(field, err)
}

// ShowRecipient returns a recipient in the form of the API.
func (b *Book) ShowRecipient(ctx context.Context, who lastmile.Principal, id lastmile.RecipientID) ([]byte, error) {
	return b.Documents.Show(ctx, store.Recipients, who.Organization, string(id))
}

// RecipientByName returns the newest recipient with a name, ignoring letter case.
func (b *Book) RecipientByName(ctx context.Context, who lastmile.Principal, name string) (lastmile.Recipient, error) {
	return b.findRecipient(ctx, who, store.RecipientFilter{Name: name}, name)
}

// RecipientByPhone returns the recipient with a phone number.
func (b *Book) RecipientByPhone(ctx context.Context, who lastmile.Principal, raw string, unchecked bool) (lastmile.Recipient, error) {
	phone, err := b.phone(ctx, who, raw, unchecked)
	if err != nil {
		return lastmile.Recipient{}, err
	}
	return b.findRecipient(ctx, who, store.RecipientFilter{Phone: phone}, raw)
}

func (b *Book) findRecipient(ctx context.Context, who lastmile.Principal, f store.RecipientFilter, query string) (lastmile.Recipient, error) {
	f.Limit = 1
	var found []lastmile.Recipient
	err := b.Store.Read(ctx, func(r Reader) (err error) {
		found, err = r.Recipients(ctx, who.Organization, f)
		return err
	})
	if err != nil {
		return lastmile.Recipient{}, err
	}
	if len(found) == 0 {
		return lastmile.Recipient{}, lastmile.NotFound("recipient", query)
	}
	return found[0], nil
}

// FindRecipients returns the ids of the recipients that have all of the metadata
// entries.
func (b *Book) FindRecipients(ctx context.Context, who lastmile.Principal, metadata lastmile.Metadata) ([]string, error) {
	return b.find(ctx, store.Recipients, who, metadata)
}

// ShowRecipients returns recipients that were found, in the form of the API.
func (b *Book) ShowRecipients(ctx context.Context, who lastmile.Principal, ids []string) ([][]byte, error) {
	return b.Documents.ShowAll(ctx, store.Recipients, who.Organization, ids)
}

// UpdateRecipient changes a recipient.
func (b *Book) UpdateRecipient(ctx context.Context, who lastmile.Principal, id lastmile.RecipientID, change lastmile.RecipientChange) (recipient lastmile.Recipient, err error) {
	now := b.Now()
	err = b.Store.Write(ctx, func(w Writer) (err error) {
		if recipient, err = w.Recipient(ctx, who.Organization, id); err != nil {
			return err
		}
		changed, err := recipient.Update(change, now)
		if err != nil || !changed {
			return err
		}
		return w.SaveRecipient(ctx, recipient)
	})
	return recipient, err
}

// phone parses and normalizes a valid number. With unchecked it also accepts any
// other number in international format.
func (b *Book) phone(ctx context.Context, who lastmile.Principal, raw string, unchecked bool) (lastmile.Phone, error) {
	phone, err := b.validPhone(ctx, who, raw)
	if _, rejected := errors.AsType[*lastmile.Error](err); rejected && unchecked {
		return lastmile.UncheckedPhone(raw)
	}
	return phone, err
}

func (b *Book) validPhone(ctx context.Context, who lastmile.Principal, raw string) (lastmile.Phone, error) {
	if strings.HasPrefix(raw, "+") { // does not depend on the country
		if phone, err := b.ParsePhone(raw, ""); err == nil {
			return phone, nil
		}
	}
	org, err := b.organization(ctx, who)
	if err != nil {
		return "", err
	}
	return b.ParsePhone(raw, org.Country)
}
