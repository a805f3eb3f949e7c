package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/wire"
)

// Hub returns a hub.
func (t fleetTx) Hub(ctx context.Context, org lastmile.OrganizationID, id lastmile.HubID) (lastmile.Hub, error) {
	found, err := t.hubs(ctx, org, within(org).and(`t.id = ?`, id))
	return only(ctx, t.base, store.Hubs, string(id), found, err)
}

// Hubs lists hubs, oldest first.
func (t fleetTx) Hubs(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Hub, error) {
	return t.hubs(ctx, org, within(org))
}

func (t fleetTx) hubs(ctx context.Context, org lastmile.OrganizationID, where *condition) ([]lastmile.Hub, error) {
	scan := func(r rows) (lastmile.Hub, error) {
		var (
			doc     []byte
			created int64
			form    wire.HubRecord
		)
		if err := r.Scan(&doc, &created); err != nil {
			return lastmile.Hub{}, err
		}
		err := json.Unmarshal(doc, &form)
		hub := form.Domain(org)
		hub.Created = time.UnixMilli(created).UTC()
		return hub, err
	}
	found, err := collect(ctx, t, scan, `SELECT t.doc, t.created FROM hub t WHERE `+where.text+` ORDER BY t.created, t.id`, where.args...)
	if err != nil {
		return nil, fmt.Errorf("read hubs: %w", err)
	}
	teams, err := pairs[lastmile.HubID, lastmile.TeamID](ctx, t.base,
		`SELECT t.hub, t.id FROM team t WHERE t.org = $1 AND t.hub IS NOT NULL ORDER BY t.created, t.id`, org)
	if err != nil {
		return nil, fmt.Errorf("read teams of hubs: %w", err)
	}
	for i := range found {
		found[i].Teams = teams[found[i].ID]
	}
	return found, nil
}

// SaveHub saves a hub. That a team has this hub is saved with the team, so the
// list of teams is written there.
func (t fleetTx) SaveHub(ctx context.Context, h lastmile.Hub) error {
	doc, err := wire.Marshal(wire.NewHubRecord(h))
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO hub (org, id, doc, v, created) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v`
	if _, err := t.exec(ctx, query, h.Organization, h.ID, doc, documentVersion, h.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save hub %s: %w", h.ID, err)
	}
	gone := &condition{text: `org = $1 AND hub = $2`, args: []any{h.Organization, h.ID}}
	notIn(gone, `id`, h.Teams)
	if _, err := t.exec(ctx, `UPDATE team SET hub = NULL WHERE `+gone.text, gone.args...); err != nil {
		return fmt.Errorf("save teams of hub %s: %w", h.ID, err)
	}
	for _, team := range h.Teams {
		if _, err := t.exec(ctx, `UPDATE team SET hub = $3 WHERE org = $1 AND id = $2`, h.Organization, team, h.ID); err != nil {
			return fmt.Errorf("save teams of hub %s: %w", h.ID, err)
		}
	}
	return nil
}
