package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// AddDispatch saves a new dispatch.
func (t dispatchTx) AddDispatch(ctx context.Context, d lastmile.Dispatch) error {
	const query = `
		INSERT INTO dispatch (org, id, active, doc, summary, scope, key_id, created, replan) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	return t.putDispatch(ctx, query, d, dispatchScope(d), d.Key, d.Created.UnixMilli(), engine.Flag(d.Replan != nil))
}

// putDispatch saves the documents of a dispatch with a statement.
func (t dispatchTx) putDispatch(ctx context.Context, query string, d lastmile.Dispatch, more ...any) error {
	doc, err := wire.Marshal(wire.NewDispatch(d))
	if err != nil {
		return err
	}
	summary, err := wire.Marshal(wire.NewDispatchSummary(d))
	if err != nil {
		return err
	}
	args := append([]any{d.Organization, d.ID, engine.Flag(d.Status.Active()), doc, summary}, more...)
	if _, err := t.exec(ctx, query, args...); err != nil {
		return fmt.Errorf("save dispatch %s: %w", d.ID, err)
	}
	return nil
}

// dispatchScope returns the id of the owner of the routes that a dispatch changes.
func dispatchScope(d lastmile.Dispatch) string {
	return cmp.Or(string(d.Worker), string(d.Team))
}

// SaveDispatch saves a dispatch.
func (t dispatchTx) SaveDispatch(ctx context.Context, d lastmile.Dispatch) error {
	return t.putDispatch(ctx, `UPDATE dispatch SET active = $3, doc = $4, summary = $5, key_id = $6 WHERE org = $1 AND id = $2`, d, d.Key)
}

// Dispatch returns a dispatch.
func (t dispatchTx) Dispatch(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) (lastmile.Dispatch, error) {
	found, err := t.dispatches(ctx, `SELECT key_id, doc FROM dispatch WHERE org = $1 AND id = $2`, org, id)
	return only(ctx, t.base, store.Dispatches, string(id), found, err)
}

func (t dispatchTx) dispatches(ctx context.Context, query string, args ...any) ([]lastmile.Dispatch, error) {
	scan := func(r rows) (lastmile.Dispatch, error) {
		var (
			key  lastmile.KeyID
			doc  []byte
			form wire.Dispatch
		)
		if err := r.Scan(&key, &doc); err != nil {
			return lastmile.Dispatch{}, err
		}
		err := wire.Unmarshal(doc, &form)
		found := form.Domain()
		found.Key = key
		return found, err
	}
	found, err := collect(ctx, t, scan, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read dispatches: %w", err)
	}
	return found, nil
}

// LatestDispatch returns the latest dispatch of a team that a caller requested, unlike
// those of continuous re-planning, and reports whether there is one.
func (t dispatchTx) LatestDispatch(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID) (lastmile.Dispatch, bool, error) {
	found, err := t.dispatches(ctx, `SELECT key_id, doc FROM dispatch WHERE org = $1 AND scope = $2 AND replan = 0 ORDER BY created DESC, id DESC LIMIT 1`, org, team)
	if err != nil || len(found) == 0 {
		return lastmile.Dispatch{}, false, err
	}
	return found[0], true, nil
}

// ShowDispatches returns the summaries of the latest dispatches of a team as JSON, newest
// first.
func (t dispatchTx) ShowDispatches(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID, most int) ([][]byte, error) {
	scan := func(r rows) (summary []byte, err error) {
		err = r.Scan(&summary)
		return summary, err
	}
	found, err := collect(ctx, t, scan, `SELECT summary FROM dispatch WHERE org = $1 AND scope = $2 AND summary IS NOT NULL
		ORDER BY created DESC, id DESC`+limit(most), org, team)
	if err != nil {
		return nil, fmt.Errorf("list dispatches of team %s: %w", team, err)
	}
	return found, nil
}

// TrimReplans deletes the ended dispatches of continuous re-planning for a team, except
// for the latest ones.
func (t dispatchTx) TrimReplans(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID, keep int) error {
	const query = `
		DELETE FROM dispatch WHERE org = $1 AND scope = $2 AND replan = 1 AND active = 0 AND created < (
			SELECT MIN(created) FROM (SELECT created FROM dispatch WHERE org = $1 AND scope = $2 AND replan = 1 ORDER BY created DESC LIMIT $3) latest)`
	if _, err := t.exec(ctx, query, org, team, keep); err != nil {
		return fmt.Errorf("delete old dispatches of team %s: %w", team, err)
	}
	return nil
}

// ActiveDispatch returns the id of the active dispatch of a team or worker; empty if
// there is none.
func (t dispatchTx) ActiveDispatch(ctx context.Context, d lastmile.Dispatch) (id lastmile.DispatchID, err error) {
	err = t.row(ctx, `SELECT id FROM dispatch WHERE org = $1 AND scope = $2 AND active = 1`, d.Organization, dispatchScope(d)).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look for an active dispatch: %w", err)
	}
	return id, nil
}

// StopDispatch requests that a dispatch stops.
func (t dispatchTx) StopDispatch(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) error {
	if _, err := t.exec(ctx, `UPDATE dispatch SET stopped = 1 WHERE org = $1 AND id = $2`, org, id); err != nil {
		return fmt.Errorf("stop dispatch %s: %w", id, err)
	}
	return nil
}

// DispatchStopped reports whether a dispatch was requested to stop.
func (t dispatchTx) DispatchStopped(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) (stopped bool, err error) {
	var n int64
	err = t.row(ctx, `SELECT stopped FROM dispatch WHERE org = $1 AND id = $2`, org, id).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("read whether dispatch %s was stopped: %w", id, err)
	}
	return n != 0, nil
}

// AppliedSteps returns how many steps of a plan were applied.
func (t dispatchTx) AppliedSteps(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) (n int, err error) {
	if err = t.row(ctx, `SELECT steps FROM dispatch WHERE org = $1 AND id = $2`, org, id).Scan(&n); err != nil {
		return 0, fmt.Errorf("read the progress of dispatch %s: %w", id, err)
	}
	return n, nil
}

// SaveAppliedSteps saves how many steps of a plan were applied.
func (t dispatchTx) SaveAppliedSteps(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID, n int) error {
	if _, err := t.exec(ctx, `UPDATE dispatch SET steps = $3 WHERE org = $1 AND id = $2`, org, id, n); err != nil {
		return fmt.Errorf("save the progress of dispatch %s: %w", id, err)
	}
	return nil
}

// DeleteDispatches deletes about most ended dispatches older than a time, and returns how
// many it deleted.
func (t dispatchTx) DeleteDispatches(ctx context.Context, before time.Time, most int) (int64, error) {
	return t.deleteOld(ctx, `dispatch`, `created`, ` AND active = 0`, before.UnixMilli(), most)
}

// pins are the pins of tasks, indexed by the stored number.
var pins = []lastmile.Pin{"", lastmile.PinWorker, lastmile.PinPosition}

// Pins returns the pins of the tasks of a worker, without tasks that have none.
func (t dispatchTx) Pins(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) (map[lastmile.TaskID]lastmile.Pin, error) {
	found, err := engine.Index(ctx, t.whole(), func(r rows) (id lastmile.TaskID, pin lastmile.Pin, err error) {
		var number int64
		err = r.Scan(&id, &number)
		return id, pins[number], err
	}, `SELECT id, pin`+inWorker+` AND pin <> 0`, org, worker)
	if err != nil {
		return nil, fmt.Errorf("read pins of the tasks of worker %s: %w", worker, err)
	}
	return found, nil
}

// SavePin saves the pin of a task; an empty one removes it.
func (t dispatchTx) SavePin(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID, pin lastmile.Pin) error {
	if _, err := t.exec(ctx, `UPDATE task SET pin = $3 WHERE org = $1 AND id = $2`, org, id, slices.Index(pins, pin)); err != nil {
		return fmt.Errorf("save the pin of task %s: %w", id, err)
	}
	return nil
}

// SavePlannedService saves the service time with which tasks were planned.
func (t dispatchTx) SavePlannedService(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID, service time.Duration) error {
	for _, id := range ids {
		if err := t.send(ctx, `UPDATE task SET planned_service = $3 WHERE org = $1 AND id = $2 AND planned_service IS DISTINCT FROM $3`, org, id, service.Milliseconds()); err != nil {
			return fmt.Errorf("save the planned service time of task %s: %w", id, err)
		}
	}
	return nil
}

// Replanning returns an organization's settings of continuous re-planning.
func (t dispatchTx) Replanning(ctx context.Context, org lastmile.OrganizationID) (assignment.Replanning, error) {
	const query = `SELECT enabled, move, assign, pause, lateness, ahead FROM replan_setting WHERE org = $1`
	var (
		s                      assignment.Replanning
		enabled, assign        int64
		pause, lateness, ahead int64
	)
	err := t.row(ctx, query, org).Scan(&enabled, &s.Move, &assign, &pause, &lateness, &ahead)
	if errors.Is(err, sql.ErrNoRows) {
		return assignment.DefaultReplanning, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the settings of re-planning of %s: %w", org, err)
	}
	s.Enabled, s.Assign = enabled != 0, assign != 0
	s.Interval, s.Lateness, s.Ahead = *duration(&pause), *duration(&lateness), *duration(&ahead)
	return s, nil
}

// SaveReplanning saves an organization's settings of continuous re-planning. Runs that
// wait for the interval since the last run to end are rescheduled to the new interval.
func (t dispatchTx) SaveReplanning(ctx context.Context, org lastmile.OrganizationID, s assignment.Replanning) error {
	const shift = `
		UPDATE replan SET next_at = last_at + $2 WHERE org = $1 AND requested = 1 AND claim = ''
			AND next_at = last_at + (SELECT pause FROM replan_setting WHERE org = $1)`
	if _, err := t.exec(ctx, shift, org, s.Interval.Milliseconds()); err != nil {
		return fmt.Errorf("move re-planning of %s: %w", org, err)
	}
	const query = `
		INSERT INTO replan_setting (org, enabled, move, assign, pause, lateness, ahead) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org) DO UPDATE SET enabled = excluded.enabled, move = excluded.move, assign = excluded.assign,
			pause = excluded.pause, lateness = excluded.lateness, ahead = excluded.ahead`
	_, err := t.exec(ctx, query, org, engine.Flag(s.Enabled), s.Move, engine.Flag(s.Assign), s.Interval.Milliseconds(), s.Lateness.Milliseconds(), s.Ahead.Milliseconds())
	if err != nil {
		return fmt.Errorf("save the settings of re-planning of %s: %w", org, err)
	}
	return nil
}

// RequestReplan requests that the routes of a team, or of all teams of a worker, are
// planned again at a time, but not before the interval since the last run has passed. It
// does nothing if the organization has not enabled re-planning, or for teams that already
// have a request.
func (t dispatchTx) RequestReplan(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID, worker lastmile.WorkerID, r lastmile.Replan, at time.Time) error {
	from, of := `team_worker m JOIN replan_setting s ON s.org = m.org WHERE m.org = $1 AND m.worker = $2 AND s.enabled = 1`, string(worker)
	if team != "" {
		from, of = `(SELECT org, id AS team FROM team WHERE org = $1 AND id = $2) m JOIN replan_setting s ON s.org = m.org WHERE s.enabled = 1`, string(team)
	}
	query := `
		INSERT INTO replan (org, team, next_at, claim, claimed_until, requested, cause, task, worker, late, last_at)
		SELECT m.org, m.team, CAST($3 AS BIGINT), '', 0, 1, $4, $5, $6, CAST($7 AS BIGINT), 0 FROM ` + from + `
		ON CONFLICT (org, team) DO UPDATE SET requested = 1, cause = excluded.cause, task = excluded.task, worker = excluded.worker, late = excluded.late,
			next_at = CASE
				WHEN replan.claim <> '' THEN replan.next_at
				WHEN replan.last_at + (SELECT pause FROM replan_setting WHERE org = $1) > excluded.next_at
					THEN replan.last_at + (SELECT pause FROM replan_setting WHERE org = $1)
				ELSE excluded.next_at END
		WHERE replan.requested = 0`
	if err := t.send(ctx, query, org, of, at.UnixMilli(), r.Cause, r.Task, r.Worker, r.Lateness.Milliseconds()); err != nil {
		return fmt.Errorf("request to plan routes again: %w", err)
	}
	return nil
}

// ReplanSchedule returns when the routes of a team will be planned again, or
// lastmile.NotFound if that was never requested.
func (t dispatchTx) ReplanSchedule(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID) (store.ReplanSchedule, error) {
	s := store.ReplanSchedule{Organization: org, Team: team}
	var (
		due             *int64
		requested, late int64
		last            int64
	)
	err := t.row(ctx, `SELECT next_at, requested, cause, task, worker, late, last_at FROM replan WHERE org = $1 AND team = $2`, org, team).
		Scan(&due, &requested, &s.Request.Cause, &s.Request.Task, &s.Request.Worker, &late, &last)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s, lastmile.NotFound(string(store.Teams), string(team))
	case err != nil:
		return s, fmt.Errorf("read when the routes of team %s are planned again: %w", team, err)
	}
	s.Due, s.Requested, s.Request.Lateness = instant(due), requested != 0, *duration(&late)
	if last != 0 {
		s.Last = time.UnixMilli(last).UTC()
	}
	return s, nil
}

// SaveReplanSchedule saves when the routes of a team will be planned again. It runs in
// the transaction that ends the lease.
func (t dispatchTx) SaveReplanSchedule(ctx context.Context, s store.ReplanSchedule) error {
	var last int64
	if !s.Last.IsZero() {
		last = s.Last.UnixMilli()
	}
	const query = `UPDATE replan SET next_at = $3, requested = $4, last_at = $5 WHERE org = $1 AND team = $2`
	if _, err := t.exec(ctx, query, s.Organization, s.Team, millis(s.Due), engine.Flag(s.Requested), last); err != nil {
		return fmt.Errorf("save when the routes of team %s are planned again: %w", s.Team, err)
	}
	return nil
}
