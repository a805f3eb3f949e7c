package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/wire"
)

// AddDispatch saves a new dispatch.
func (t dispatchTx) AddDispatch(ctx context.Context, d lastmile.Dispatch) error {
	doc, err := wire.Marshal(wire.NewDispatch(d))
	if err != nil {
		return err
	}
	const query = `INSERT INTO dispatch (org, id, scope, active, key_id, doc, created) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	if _, err := t.exec(ctx, query, d.Organization, d.ID, dispatchScope(d), flag(d.Status.Active()), d.Key, doc, d.Created.UnixMilli()); err != nil {
		return fmt.Errorf("add dispatch %s: %w", d.ID, err)
	}
	return nil
}

// dispatchScope returns the id of the owner of the routes that a dispatch changes.
func dispatchScope(d lastmile.Dispatch) string {
	return cmp.Or(string(d.Worker), string(d.Team))
}

// SaveDispatch saves a dispatch.
func (t dispatchTx) SaveDispatch(ctx context.Context, d lastmile.Dispatch) error {
	doc, err := wire.Marshal(wire.NewDispatch(d))
	if err != nil {
		return err
	}
	const query = `UPDATE dispatch SET active = $3, doc = $4 WHERE org = $1 AND id = $2`
	if _, err := t.exec(ctx, query, d.Organization, d.ID, flag(d.Status.Active()), doc); err != nil {
		return fmt.Errorf("save dispatch %s: %w", d.ID, err)
	}
	return nil
}

// Dispatch returns a dispatch.
func (t dispatchTx) Dispatch(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) (lastmile.Dispatch, error) {
	var (
		key  lastmile.KeyID
		doc  []byte
		form wire.Dispatch
	)
	err := t.row(ctx, `SELECT key_id, doc FROM dispatch WHERE org = $1 AND id = $2`, org, id).Scan(&key, &doc)
	if errors.Is(err, sql.ErrNoRows) {
		return lastmile.Dispatch{}, t.missing(ctx, store.Dispatches, string(id))
	}
	if err == nil {
		err = json.Unmarshal(doc, &form)
	}
	if err != nil {
		return lastmile.Dispatch{}, fmt.Errorf("read dispatch %s: %w", id, err)
	}
	found := form.Domain()
	found.Key = key
	return found, nil
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

// StopDispatch requests the end of a dispatch.
func (t dispatchTx) StopDispatch(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) error {
	if _, err := t.exec(ctx, `UPDATE dispatch SET stopped = 1 WHERE org = $1 AND id = $2`, org, id); err != nil {
		return fmt.Errorf("stop dispatch %s: %w", id, err)
	}
	return nil
}

// DispatchStopped reports whether the end of a dispatch was requested.
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

// DeleteDispatches deletes about limit dispatches older than a time that have ended,
// and returns how many it deleted.
func (t dispatchTx) DeleteDispatches(ctx context.Context, before time.Time, most int) (int64, error) {
	return t.deleteOld(ctx, `dispatch`, `created`, ` AND active = 0`, before.UnixMilli(), most)
}

// pins are the pins of tasks by the number that is stored.
var pins = []lastmile.Pin{"", lastmile.PinWorker, lastmile.PinPosition}

// Pins returns the pins of the tasks of a worker that have one.
func (t dispatchTx) Pins(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) (map[lastmile.TaskID]lastmile.Pin, error) {
	found := map[lastmile.TaskID]lastmile.Pin{}
	scan := func(r rows) (none struct{}, err error) {
		var (
			id  lastmile.TaskID
			pin int64
		)
		err = r.Scan(&id, &pin)
		found[id] = pins[pin]
		return none, err
	}
	if _, err := collect(ctx, t, scan, `SELECT id, pin`+inWorker+` AND pin <> 0`, org, worker); err != nil {
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
