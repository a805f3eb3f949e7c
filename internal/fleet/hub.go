package fleet

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// HubDraft is a hub as sent, to create or to change one.
type HubDraft struct {
	Change  lastmile.HubChange
	Address *lastmile.DestinationDraft
	Phone   *string // as sent
}

// CreateHub creates a hub.
func (f *Fleet) CreateHub(ctx context.Context, who lastmile.Principal, draft HubDraft) (lastmile.Hub, error) {
	change, err := f.hubChange(ctx, who, draft)
	if err != nil {
		return lastmile.Hub{}, err
	}
	made, err := lastmile.NewHub(lastmile.HubID(f.NewID()), who.Organization, change, f.Now())
	if err != nil {
		return lastmile.Hub{}, err
	}
	return store.Idempotent(ctx, f.Store, who, func(w Writer) (lastmile.Hub, error) {
		if err := checkTeams(ctx, w, who.Organization, made.Teams); err != nil {
			return made, err
		}
		f.showChange(w, who.Organization)
		return made, w.SaveHub(ctx, made)
	})
}

// UpdateHub changes a hub.
func (f *Fleet) UpdateHub(ctx context.Context, who lastmile.Principal, id lastmile.HubID, draft HubDraft) (hub lastmile.Hub, err error) {
	change, err := f.hubChange(ctx, who, draft)
	if err != nil {
		return hub, err
	}
	now := f.Now()
	err = f.Store.Write(ctx, func(w Writer) (err error) {
		if hub, err = w.Hub(ctx, who.Organization, id); err != nil {
			return err
		}
		changed, err := hub.Update(change, now)
		if err != nil || !changed {
			return err
		}
		if err := checkTeams(ctx, w, who.Organization, hub.Teams); err != nil {
			return err
		}
		f.showChange(w, who.Organization)
		return w.SaveHub(ctx, hub)
	})
	return hub, err
}

// Hubs returns the organization's hubs.
func (f *Fleet) Hubs(ctx context.Context, who lastmile.Principal) (hubs []lastmile.Hub, err error) {
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		hubs, err = r.Hubs(ctx, who.Organization)
		return err
	})
	return hubs, err
}

// hubChange geocodes the address of a draft and parses its phone number.
func (f *Fleet) hubChange(ctx context.Context, who lastmile.Principal, draft HubDraft) (lastmile.HubChange, error) {
	change := draft.Change
	if draft.Phone != nil {
		phone, err := f.hubPhone(ctx, who, *draft.Phone)
		if err != nil {
			return change, err
		}
		change.Phone = &phone
	}
	if draft.Address == nil {
		return change, nil
	}
	place, err := f.Places.Locate(ctx, who, "", *draft.Address)
	change.Destination = &place
	return change, err
}

// hubPhone parses a phone number; an empty one removes it.
func (f *Fleet) hubPhone(ctx context.Context, who lastmile.Principal, sent string) (lastmile.Phone, error) {
	if sent == "" {
		return "", nil
	}
	org, err := f.organization(ctx, who)
	if err != nil {
		return "", err
	}
	return f.ParsePhone(sent, org.Country)
}
