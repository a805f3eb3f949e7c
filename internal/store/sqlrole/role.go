package sqlrole

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dray/internal/lastmile"
	"dray/internal/role"
	"dray/internal/store/engine"
)

// Part is a part of a transaction, with the statements of this package.
type Part struct{ c engine.Conn }

// New returns the part of the transaction with a connection.
func New(c engine.Conn) Part { return Part{c} }

// chunk is the maximum number of ids in a statement.
const chunk = 500

// manager is the parameter with the administrator.
const manager = `$2`

// tests are, for each kind, the table, the column of the ids, and the condition that a record
// belongs to the administrator's teams.
var tests = map[role.Kind][]test{
	role.Team:        {team},
	role.Worker:      {worker},
	role.Container:   {team, worker},
	role.Task:        {{`task`, `id`, engine.OwnTask(manager)}},
	role.ShortID:     {{`task`, `short_id`, engine.OwnTask(manager)}},
	role.Plan:        {{`route_plan`, `id`, engine.OwnPlan(manager)}},
	role.Dispatch:    {{`dispatch`, `id`, `t.scope IN ` + engine.OwnTeams(manager) + ` OR t.scope IN ` + engine.OwnWorkers(manager)}},
	role.Batch:       {{`batch`, `id`, `t.key_id = 'admin ' || ` + manager}},
	role.Upload:      {{`upload`, `id`, `t.worker = '' OR t.worker IN ` + engine.OwnWorkers(manager) + ` OR ` + engine.OfOwnTask(manager)}},
	role.AllOfWorker: {worker, {`worker`, `id`, `NOT EXISTS (SELECT 1 FROM team_worker x WHERE x.org = $1 AND x.worker = t.id AND (x.team IN ` + engine.OwnTeams(manager) + `) IS NOT TRUE)`}},
}

var (
	team   = test{`team`, `id`, `t.id IN ` + engine.OwnTeams(manager)}
	worker = test{`worker`, `id`, `t.id IN ` + engine.OwnWorkers(manager)}
)

type test = struct{ table, column, own string }

// Foreign returns one of the named ids that belongs to a record of the organization that is
// not the administrator's; "" if there is none.
func (p Part) Foreign(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, at role.Named) (string, error) {
	ids := at.IDs
	switch at.Kind {
	case role.TeamsOfWorker:
		return p.foreignMembership(ctx, org, admin, at)
	case role.ManagersOfTeam:
		return p.changedManager(ctx, org, at)
	case role.ShortID:
	default:
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !lastmile.ValidID(id) }) // no record has such an id
	}
	for _, t := range tests[at.Kind] {
		for part := range slices.Chunk(ids, chunk) {
			id, err := p.first(ctx, org, admin, t, part)
			if err != nil || id != "" {
				return id, err
			}
		}
	}
	return "", nil
}

// first returns one of the ids whose records fail a test.
func (p Part) first(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, t test, ids []string) (id string, err error) {
	args, places := []any{org, admin}, make([]string, len(ids))
	for i, id := range ids {
		args = append(args, id)
		places[i] = `$` + strconv.Itoa(len(args))
	}
	err = p.c.Row(ctx, `SELECT t.`+t.column+` FROM `+t.table+` t WHERE t.org = $1 AND t.`+t.column+` IN (`+strings.Join(places, `, `)+`)
		AND (`+t.own+`) IS NOT TRUE LIMIT 1`, args...).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("find a foreign %s: %w", t.table, err)
	}
	return id, nil
}

// foreignMembership returns a team, not managed by the administrator, that a worker would
// enter or leave.
func (p Part) foreignMembership(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, at role.Named) (string, error) {
	others, err := p.ids(ctx, `SELECT x.team FROM team_worker x WHERE x.org = $1 AND x.worker = $3 AND (x.team IN `+engine.OwnTeams(manager)+`) IS NOT TRUE`,
		org, admin, at.Of)
	if err != nil {
		return "", err
	}
	for _, id := range others {
		if !slices.Contains(at.IDs, id) {
			return id, nil
		}
	}
	entered := slices.DeleteFunc(slices.Clone(at.IDs), func(id string) bool { return slices.Contains(others, id) })
	return p.Foreign(ctx, org, admin, role.Named{Place: role.Place{Kind: role.Team}, IDs: entered})
}

// changedManager returns an administrator who would begin or cease to manage a team.
func (p Part) changedManager(ctx context.Context, org lastmile.OrganizationID, at role.Named) (string, error) {
	current, err := p.ids(ctx, `SELECT tm.admin FROM team_manager tm WHERE tm.org = $1 AND tm.team = $2`, org, at.Of)
	if err != nil {
		return "", err
	}
	for _, lists := range [][2][]string{{current, at.IDs}, {at.IDs, current}} {
		for _, id := range lists[0] {
			if !slices.Contains(lists[1], id) {
				return id, nil
			}
		}
	}
	return "", nil
}

func (p Part) ids(ctx context.Context, query string, args ...any) ([]string, error) {
	found, err := engine.Collect(ctx, p.c, func(r engine.Rows) (id string, err error) {
		err = r.Scan(&id)
		return id, err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read teams and their members: %w", err)
	}
	return found, nil
}
