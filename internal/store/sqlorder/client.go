package sqlorder

import (
	"context"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// Connect adds delegatee to the connections of org.
func (p Part) Connect(ctx context.Context, org, delegatee lastmile.OrganizationID) error {
	const query = `INSERT INTO organization_link (org, delegatee) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	if _, err := p.c.Exec(ctx, query, org, delegatee); err != nil {
		return fmt.Errorf("connect %s with %s: %w", org, delegatee, err)
	}
	return nil
}

// Disconnect removes delegatee from the connections of org.
func (p Part) Disconnect(ctx context.Context, org, delegatee lastmile.OrganizationID) error {
	if _, err := p.c.Exec(ctx, `DELETE FROM organization_link WHERE org = $1 AND delegatee = $2`, org, delegatee); err != nil {
		return fmt.Errorf("disconnect %s from %s: %w", org, delegatee, err)
	}
	return nil
}

const clientColumns = `SELECT t.org, t.id, t.organization, t.name, t.status, t.show_name, t.opened, t.created, t.modified FROM client t`

func (p Part) clients(ctx context.Context, where string, args ...any) ([]store.Client, error) {
	scan := func(r engine.Rows) (c store.Client, err error) {
		var showName, opened, created, modified int64
		err = r.Scan(&c.Courier, &c.ID, &c.Organization, &c.Name, &c.Status, &showName, &opened, &created, &modified)
		c.ShowName, c.Opened = showName != 0, opened != 0
		c.Created, c.Modified = time.UnixMilli(created).UTC(), time.UnixMilli(modified).UTC()
		return c, err
	}
	found, err := engine.Collect(ctx, p.c, scan, clientColumns+where+` ORDER BY t.created, t.id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read clients: %w", err)
	}
	return found, nil
}

// Client returns a client of a courier, by the id of the client or of its organization,
// even if the client is deleted.
func (p Part) Client(ctx context.Context, courier lastmile.OrganizationID, id string) (store.Client, error) {
	found, err := p.clients(ctx, ` WHERE t.org = $1 AND (t.id = $2 OR t.organization = $2)`, courier, id)
	return engine.Only(ctx, p.c, store.Clients, id, found, err)
}

// Clients lists the clients of a courier, oldest first, without those that were
// deleted.
func (p Part) Clients(ctx context.Context, courier lastmile.OrganizationID) ([]store.Client, error) {
	return p.clients(ctx, ` WHERE t.org = $1 AND t.status <> 'deleted'`, courier)
}

// Couriers lists the client records of an organization with its couriers, oldest first,
// without deleted ones.
func (p Part) Couriers(ctx context.Context, organization lastmile.OrganizationID) ([]store.Client, error) {
	return p.clients(ctx, ` WHERE t.organization = $1 AND t.status <> 'deleted'`, organization)
}

// Courier returns the client record of an organization with a courier, by the id of the
// client or of the courier, even if the client is deleted.
func (p Part) Courier(ctx context.Context, organization lastmile.OrganizationID, id string) (store.Client, error) {
	found, err := p.clients(ctx, ` WHERE t.organization = $1 AND (t.id = $2 OR t.org = $2)`, organization, id)
	return engine.Only(ctx, p.c, store.Clients, id, found, err)
}

// CountClients returns how many clients a courier has ever had, including deleted ones.
func (p Part) CountClients(ctx context.Context, courier lastmile.OrganizationID) (int, error) {
	return engine.Count(ctx, p.c, `SELECT COUNT(*) FROM client WHERE org = $1`, courier)
}

// IsOpened reports whether a courier opened the organization.
func (p Part) IsOpened(ctx context.Context, organization lastmile.OrganizationID) (bool, error) {
	found, err := engine.Exists(ctx, p.c, `SELECT 1 FROM client WHERE organization = $1 AND opened = 1 LIMIT 1`, organization)
	if err != nil {
		return false, fmt.Errorf("read who opened %s: %w", organization, err)
	}
	return found, nil
}

// SaveClient saves a client. A courier has one for each organization.
func (p Part) SaveClient(ctx context.Context, c store.Client) error {
	const query = `
		INSERT INTO client (org, id, organization, name, status, show_name, opened, created, modified)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (org, id) DO UPDATE
		SET name = excluded.name, status = excluded.status, show_name = excluded.show_name, modified = excluded.modified`
	_, err := p.c.Exec(ctx, query, c.Courier, c.ID, c.Organization, c.Name, c.Status, engine.Flag(c.ShowName), engine.Flag(c.Opened),
		c.Created.UnixMilli(), c.Modified.UnixMilli())
	if err != nil {
		return fmt.Errorf("save client %s: %w", c.ID, err)
	}
	return nil
}
