package sqlstore

import (
	"context"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// Connect adds delegatee to the connections of org.
func (t connectionTx) Connect(ctx context.Context, org, delegatee lastmile.OrganizationID) error {
	const query = `INSERT INTO organization_link (org, delegatee) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	if _, err := t.exec(ctx, query, org, delegatee); err != nil {
		return fmt.Errorf("connect %s with %s: %w", org, delegatee, err)
	}
	return nil
}

// Disconnect removes delegatee from the connections of org.
func (t connectionTx) Disconnect(ctx context.Context, org, delegatee lastmile.OrganizationID) error {
	if _, err := t.exec(ctx, `DELETE FROM organization_link WHERE org = $1 AND delegatee = $2`, org, delegatee); err != nil {
		return fmt.Errorf("disconnect %s from %s: %w", org, delegatee, err)
	}
	return nil
}

// Connected reports whether org is connected with another organization.
func (t connectionTx) Connected(ctx context.Context, org, other lastmile.OrganizationID) (bool, error) {
	found, err := t.exists(ctx, `SELECT 1 FROM organization_link WHERE org = $1 AND delegatee = $2`, org, other)
	if err != nil {
		return false, fmt.Errorf("read connection of %s with %s: %w", org, other, err)
	}
	return found, nil
}

// Connection returns what an organization may do with another. It has its own name
// shown unless it is a client that does not want that.
func (t connectionTx) Connection(ctx context.Context, org, other lastmile.OrganizationID) (c store.Connection, err error) {
	if c.Connected, err = t.Connected(ctx, org, other); err != nil || !c.Connected {
		return c, err
	}
	hidden, err := t.exists(ctx, `SELECT 1 FROM client WHERE org = $1 AND organization = $2 AND show_name = 0 AND status = 'active'`, other, org)
	if err != nil {
		return c, fmt.Errorf("read client %s of %s: %w", org, other, err)
	}
	c.ShowName = !hidden
	return c, nil
}

// Delegatees lists the organizations that org is connected with.
func (t connectionTx) Delegatees(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.OrganizationID, error) {
	scan := func(r rows) (id lastmile.OrganizationID, err error) { return id, r.Scan(&id) }
	found, err := collect(ctx, t, scan, `SELECT delegatee FROM organization_link WHERE org = $1 ORDER BY delegatee`, org)
	if err != nil {
		return nil, fmt.Errorf("read connections of %s: %w", org, err)
	}
	return found, nil
}

const clientColumns = `SELECT t.org, t.id, t.organization, t.name, t.status, t.show_name, t.opened, t.created, t.modified FROM client t`

func (t connectionTx) clients(ctx context.Context, where string, args ...any) ([]store.Client, error) {
	scan := func(r rows) (c store.Client, err error) {
		var showName, opened, created, modified int64
		err = r.Scan(&c.Courier, &c.ID, &c.Organization, &c.Name, &c.Status, &showName, &opened, &created, &modified)
		c.ShowName, c.Opened = showName != 0, opened != 0
		c.Created, c.Modified = time.UnixMilli(created).UTC(), time.UnixMilli(modified).UTC()
		return c, err
	}
	found, err := collect(ctx, t, scan, clientColumns+where+` ORDER BY t.created, t.id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read clients: %w", err)
	}
	return found, nil
}

// Client finds a client of a courier, by its id or by that of its organization. It
// may be deleted.
func (t connectionTx) Client(ctx context.Context, courier lastmile.OrganizationID, id string) (store.Client, error) {
	found, err := t.clients(ctx, ` WHERE t.org = $1 AND (t.id = $2 OR t.organization = $2)`, courier, id)
	return only(ctx, t.base, store.Clients, id, found, err)
}

// Clients lists the clients of a courier, oldest first, without those that were
// deleted.
func (t connectionTx) Clients(ctx context.Context, courier lastmile.OrganizationID) ([]store.Client, error) {
	return t.clients(ctx, ` WHERE t.org = $1 AND t.status <> 'deleted'`, courier)
}

// Couriers lists what an organization is as a client of couriers, oldest first,
// without what was deleted.
func (t connectionTx) Couriers(ctx context.Context, organization lastmile.OrganizationID) ([]store.Client, error) {
	return t.clients(ctx, ` WHERE t.organization = $1 AND t.status <> 'deleted'`, organization)
}

// Courier returns what an organization is as a client, by the id of the client or of
// the courier. It may be deleted.
func (t connectionTx) Courier(ctx context.Context, organization lastmile.OrganizationID, id string) (store.Client, error) {
	found, err := t.clients(ctx, ` WHERE t.organization = $1 AND (t.id = $2 OR t.org = $2)`, organization, id)
	return only(ctx, t.base, store.Clients, id, found, err)
}

// CountClients returns how many clients a courier ever had.
func (t connectionTx) CountClients(ctx context.Context, courier lastmile.OrganizationID) (int, error) {
	return t.count(ctx, `SELECT COUNT(*) FROM client WHERE org = $1`, courier)
}

// IsOpened reports whether a courier opened the organization.
func (t connectionTx) IsOpened(ctx context.Context, organization lastmile.OrganizationID) (bool, error) {
	found, err := t.exists(ctx, `SELECT 1 FROM client WHERE organization = $1 AND opened = 1 LIMIT 1`, organization)
	if err != nil {
		return false, fmt.Errorf("read who opened %s: %w", organization, err)
	}
	return found, nil
}

// SaveClient saves a client. A courier has one for each organization.
func (t connectionTx) SaveClient(ctx context.Context, c store.Client) error {
	const query = `
		INSERT INTO client (org, id, organization, name, status, show_name, opened, created, modified)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (org, id) DO UPDATE
		SET name = excluded.name, status = excluded.status, show_name = excluded.show_name, modified = excluded.modified`
	_, err := t.exec(ctx, query, c.Courier, c.ID, c.Organization, c.Name, c.Status, engine.Flag(c.ShowName), engine.Flag(c.Opened),
		c.Created.UnixMilli(), c.Modified.UnixMilli())
	if err != nil {
		return fmt.Errorf("save client %s: %w", c.ID, err)
	}
	return nil
}
