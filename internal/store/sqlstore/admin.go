package sqlstore

import (
	"context"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// Managed returns the teams that an administrator manages, and their workers.
func (t fleetTx) Managed(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) (teams []lastmile.TeamID, workers []lastmile.WorkerID, err error) {
	teams, err = collect(ctx, t, scanID[lastmile.TeamID], `SELECT * FROM `+engine.OwnTeams(`$2`)+` AS own`, org, admin)
	if err == nil {
		workers, err = collect(ctx, t, scanID[lastmile.WorkerID], `SELECT DISTINCT * FROM `+engine.OwnWorkers(`$2`)+` AS own`, org, admin)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read teams of administrator %s: %w", admin, err)
	}
	return teams, workers, nil
}

// Admin returns an administrator.
func (t organizationTx) Admin(ctx context.Context, org lastmile.OrganizationID, id lastmile.AdminID) (lastmile.Admin, error) {
	found, err := t.admins(ctx, within(org).and(`t.id = ?`, id))
	return only(ctx, t.base, store.Admins, string(id), found, err)
}

// Admins lists administrators, oldest first.
func (t organizationTx) Admins(ctx context.Context, org lastmile.OrganizationID, f store.AdminFilter) ([]lastmile.Admin, error) {
	return t.admins(ctx, within(org).has(store.Admins, f.Metadata))
}

// AdminByEmail finds an administrator of any organization.
func (t organizationTx) AdminByEmail(ctx context.Context, email string) (lastmile.Admin, error) {
	found, err := t.admins(ctx, &condition{text: `t.email = $1`, args: []any{email}})
	if err == nil && len(found) == 0 {
		err = lastmile.NotFound("administrator", email)
	}
	if err != nil {
		return lastmile.Admin{}, err
	}
	return found[0], nil
}

func (t organizationTx) admins(ctx context.Context, where *condition) ([]lastmile.Admin, error) {
	scan := func(r rows) (lastmile.Admin, error) {
		var (
			doc  []byte
			form wire.AdminRecord
		)
		if err := r.Scan(&doc); err != nil {
			return lastmile.Admin{}, err
		}
		err := wire.Unmarshal(doc, &form)
		return form.Domain(), err
	}
	found, err := collect(ctx, t, scan, `SELECT t.doc FROM admin t WHERE `+where.text, where.args...)
	if err != nil {
		return nil, fmt.Errorf("read administrators: %w", err)
	}
	engine.OldestFirst(found, func(admin lastmile.Admin) (time.Time, string) { return admin.Created, string(admin.ID) })
	if len(found) == 0 {
		return nil, nil
	}
	teams, err := pairs[lastmile.AdminID, lastmile.TeamID](ctx, t.base,
		`SELECT t.admin, t.team FROM team_manager t WHERE t.org = $1 ORDER BY t.team`, found[0].Organization)
	if err != nil {
		return nil, fmt.Errorf("read teams of administrators: %w", err)
	}
	for i := range found {
		found[i].Teams = teams[found[i].ID]
	}
	return found, nil
}

// SaveAdmin saves an administrator.
func (t organizationTx) SaveAdmin(ctx context.Context, a lastmile.Admin) error {
	doc, err := wire.Marshal(wire.NewAdminRecord(a))
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO admin (org, id, doc, v, email, created) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v, email = excluded.email`
	if _, err := t.exec(ctx, query, a.Organization, a.ID, doc, documentVersion, a.Email, a.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save administrator %s: %w", a.ID, err)
	}
	return t.saveMetadata(ctx, store.Admins, a.Organization, string(a.ID), a.Metadata)
}

// DeleteAdmin deletes an administrator with its sessions and links.
func (t organizationTx) DeleteAdmin(ctx context.Context, org lastmile.OrganizationID, id lastmile.AdminID) error {
	err := t.erase(ctx, org, string(id), [][2]string{
		{"admin", "id"},
		{"team_manager", "admin"},
		{"metadata_entry", "id"},
		{"admin_account", "admin"},
		{"admin_recovery", "admin"},
		{"admin_session", "admin"},
		{"one_time_link", "admin"},
	}...)
	if err != nil {
		return err
	}
	return t.RaiseKeyGeneration(ctx)
}
