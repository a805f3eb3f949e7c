package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// Team returns a team without its tasks, so that the cost does not grow with their number.
func (t fleetTx) Team(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error) {
	found, err := t.teams(ctx, org, within(org).and(`t.id = ?`, id), false)
	return only(ctx, t.base, store.Teams, string(id), found, err)
}

// WholeTeam returns a team with its tasks.
func (t fleetTx) WholeTeam(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error) {
	found, err := t.teams(ctx, org, within(org).and(`t.id = ?`, id), true)
	return only(ctx, t.base, store.Teams, string(id), found, err)
}

// Teams lists teams, oldest first.
func (t fleetTx) Teams(ctx context.Context, org lastmile.OrganizationID, f store.TeamFilter) ([]lastmile.Team, error) {
	where := within(org).has(store.Teams, f.Metadata).own(ownTeam, f.Manager)
	if f.Name != "" {
		where.and(`t.name = ?`, f.Name)
	}
	return t.teams(ctx, org, where, !f.NoTasks)
}

func (t fleetTx) teams(ctx context.Context, org lastmile.OrganizationID, where *condition, tasks bool) ([]lastmile.Team, error) {
	scan := func(r rows) (lastmile.Team, error) {
		var (
			doc  []byte
			hub  *string
			form wire.TeamRecord
		)
		if err := r.Scan(&doc, &hub); err != nil {
			return lastmile.Team{}, err
		}
		err := wire.Unmarshal(doc, &form)
		team := form.Domain(org)
		if hub != nil {
			team.Hub = lastmile.HubID(*hub)
		}
		return team, err
	}
	found, err := collect(ctx, t, scan, `SELECT t.doc, t.hub FROM team t WHERE `+where.text, where.args...)
	if err != nil {
		return nil, fmt.Errorf("read teams: %w", err)
	}
	engine.OldestFirst(found, func(team lastmile.Team) (time.Time, string) { return team.Created, string(team.ID) })
	if len(found) == 0 {
		return nil, nil
	}
	members := within(org)
	if len(found) == 1 {
		members.and(`t.team = ?`, found[0].ID)
	}
	workers, err := pairs[lastmile.TeamID, lastmile.WorkerID](ctx, t.base,
		`SELECT t.team, t.worker FROM team_worker t WHERE `+members.text+` ORDER BY t.in_team, t.worker`, members.args...)
	if err != nil {
		return nil, fmt.Errorf("read workers of teams: %w", err)
	}
	managers, err := pairs[lastmile.TeamID, lastmile.AdminID](ctx, t.base,
		`SELECT t.team, t.admin FROM team_manager t WHERE `+members.text+` ORDER BY t.in_team, t.admin`, members.args...)
	if err != nil {
		return nil, fmt.Errorf("read managers of teams: %w", err)
	}
	var queues map[string]queue
	if tasks {
		if queues, err = containerTx(t).queuesOf(ctx, org, lastmile.InTeam, len(found) == 1, string(found[0].ID)); err != nil {
			return nil, err
		}
	}
	for i := range found {
		team := &found[i]
		team.Workers, team.Managers, team.Tasks = workers[team.ID], managers[team.ID], queues[string(team.ID)].tasks
	}
	return found, nil
}

// SaveTeam saves a team, its workers and its managers.
func (t fleetTx) SaveTeam(ctx context.Context, team lastmile.Team) error {
	doc, err := wire.Marshal(wire.NewTeamRecord(team))
	if err != nil {
		return err
	}
	var hub *lastmile.HubID
	if team.Hub != "" {
		hub = &team.Hub
	}
	const query = `
		INSERT INTO team (org, id, doc, v, name, hub, created) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v, name = excluded.name, hub = excluded.hub`
	_, err = t.exec(ctx, query, team.Organization, team.ID, doc, documentVersion, team.Name, (*string)(hub), team.Created.UnixMilli())
	if err != nil {
		return fmt.Errorf("save team %s: %w", team.ID, err)
	}
	if err := t.saveTeamMembers(ctx, team); err != nil {
		return fmt.Errorf("save members of team %s: %w", team.ID, err)
	}
	if err := t.saveMetadata(ctx, store.Teams, team.Organization, string(team.ID), team.Metadata); err != nil {
		return err
	}
	return t.raiseFleet(ctx, team.Organization)
}

// raiseFleet raises the version of the organization's teams, hubs and schedules.
func (t fleetTx) raiseFleet(ctx context.Context, org lastmile.OrganizationID) error {
	const query = `INSERT INTO fleet_version (org, version) VALUES ($1, 1) ON CONFLICT (org) DO UPDATE SET version = fleet_version.version + 1`
	if _, err := t.exec(ctx, query, org); err != nil {
		return fmt.Errorf("raise the version of the fleet: %w", err)
	}
	return nil
}

// saveTeamMembers replaces the workers and managers of a team. For a worker who was in
// it, the team keeps its position in the worker's list of teams; otherwise it comes last.
func (t fleetTx) saveTeamMembers(ctx context.Context, team lastmile.Team) error {
	gone := &condition{text: `org = $1 AND team = $2`, args: []any{team.Organization, team.ID}}
	notIn(gone, `worker`, team.Workers)
	if _, err := t.exec(ctx, `DELETE FROM team_worker WHERE `+gone.text, gone.args...); err != nil {
		return err
	}
	for i, worker := range team.Workers {
		const query = `
			INSERT INTO team_worker (org, team, worker, in_team, in_worker) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (org, team, worker) DO UPDATE SET in_team = excluded.in_team`
		if _, err := t.exec(ctx, query, team.Organization, team.ID, worker, i, team.Modified.UnixMilli()); err != nil {
			return err
		}
	}
	if _, err := t.exec(ctx, `DELETE FROM team_manager WHERE org = $1 AND team = $2`, team.Organization, team.ID); err != nil {
		return err
	}
	for i, admin := range team.Managers {
		const query = `INSERT INTO team_manager (org, team, admin, in_team) VALUES ($1, $2, $3, $4)`
		if _, err := t.exec(ctx, query, team.Organization, team.ID, admin, i); err != nil {
			return err
		}
	}
	return nil
}

// DeleteTeam deletes a team.
func (t fleetTx) DeleteTeam(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) error {
	if err := routePlanTx(t).unplan(ctx, org, "team", string(id)); err != nil {
		return err
	}
	if err := t.raiseFleet(ctx, org); err != nil {
		return err
	}
	return t.erase(ctx, org, string(id), [][2]string{
		{"team", "id"},
		{"team_worker", "team"},
		{"team_manager", "team"},
		{"replan", "team"},
		{"metadata_entry", "id"},
	}...)
}

// notIn adds a test that a column has none of the values. An empty list adds none.
func notIn[T any](c *condition, column string, values []T) {
	in(c, `NOT `+column, values)
}

// Hub returns a hub.
func (t fleetTx) Hub(ctx context.Context, org lastmile.OrganizationID, id lastmile.HubID) (lastmile.Hub, error) {
	found, err := t.hubs(ctx, org, within(org).and(`t.id = ?`, id))
	return only(ctx, t.base, store.Hubs, string(id), found, err)
}

// Hubs lists hubs, oldest first.
func (t fleetTx) Hubs(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Hub, error) {
	return t.hubs(ctx, org, within(org))
}

// HubLocations returns the locations of the oldest hubs, at most limit of them.
func (t fleetTx) HubLocations(ctx context.Context, org lastmile.OrganizationID, limit int) ([]lastmile.Point, error) {
	scan := func(r rows) (lastmile.Point, error) {
		var doc []byte
		var form wire.HubRecord
		if err := r.Scan(&doc); err != nil {
			return lastmile.Point{}, err
		}
		err := wire.Unmarshal(doc, &form)
		return form.Location.Point(), err
	}
	found, err := collect(ctx, t, scan, `SELECT t.doc FROM hub t WHERE t.org = $1 ORDER BY t.created, t.id LIMIT $2`, org, limit)
	if err != nil {
		return nil, fmt.Errorf("read the locations of hubs: %w", err)
	}
	return found, nil
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
		err := wire.Unmarshal(doc, &form)
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

// SaveHub saves a hub. Its list of teams is saved in their rows, which name the hub.
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
	return t.raiseFleet(ctx, h.Organization)
}

// CheckMembers returns the id of the first member that the organization does not have, and the
// error for it.
func (t fleetTx) CheckMembers(ctx context.Context, org lastmile.OrganizationID, m store.Members) (id string, err error) {
	if id, err := checkAll(ctx, t.base, org, store.Teams, m.Teams); err != nil {
		return id, err
	}
	if id, err := checkAll(ctx, t.base, org, store.Workers, m.Workers); err != nil {
		return id, err
	}
	return checkAll(ctx, t.base, org, store.Admins, m.Admins)
}

// checkAll returns the id of the first record that the organization does not have, and the
// error for it.
func checkAll[ID ~string](ctx context.Context, t *base, org lastmile.OrganizationID, kind store.Kind, ids []ID) (string, error) {
	for chunk := range slices.Chunk(lastmile.Unique(ids), chunkSize) {
		where := within(org)
		in(where, `t.id`, chunk)
		known, err := collect(ctx, t, scanID[ID], `SELECT t.id FROM `+string(kind)+` t WHERE `+where.text, where.args...)
		if err != nil {
			return "", fmt.Errorf("look for members: %w", err)
		}
		for _, id := range chunk {
			if !slices.Contains(known, id) {
				return string(id), t.missing(ctx, kind, string(id))
			}
		}
	}
	return "", nil
}
