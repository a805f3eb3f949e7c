package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// RoutePlan returns a route plan.
func (t routePlanTx) RoutePlan(ctx context.Context, org lastmile.OrganizationID, id lastmile.RoutePlanID) (lastmile.RoutePlan, error) {
	found, err := t.routePlans(ctx, org, within(org).and(`t.id = ?`, id), 0)
	return only(ctx, t.base, store.RoutePlans, string(id), found, err)
}

// RoutePlans lists route plans, oldest first.
func (t routePlanTx) RoutePlans(ctx context.Context, org lastmile.OrganizationID, f store.RoutePlanFilter) ([]lastmile.RoutePlan, error) {
	where := within(org).own(engine.OwnPlan, f.Manager)
	if f.Worker != "" {
		where.and(`t.worker = ?`, f.Worker)
	}
	for _, bound := range []struct {
		test string
		at   time.Time
	}{
		{`t.starts >= ?`, f.StartFrom},
		{`t.starts < ?`, f.StartTo},
		{`t.created >= ?`, f.CreatedFrom},
		{`t.created < ?`, f.CreatedTo},
	} {
		if !bound.at.IsZero() {
			where.and(bound.test, bound.at.UnixMilli())
		}
	}
	if f.HasTasks != nil {
		not := ``
		if !*f.HasTasks {
			not = `NOT `
		}
		where.text += ` AND ` + not + `EXISTS (SELECT 1 FROM task k WHERE k.org = t.org AND k.route_plan = t.id)`
	}
	if f.After != "" {
		var created int64
		err := t.row(ctx, `SELECT created FROM route_plan WHERE org = $1 AND id = $2`, org, f.After).Scan(&created)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, t.missing(ctx, store.RoutePlans, string(f.After))
		}
		if err != nil {
			return nil, fmt.Errorf("read route plan %s: %w", f.After, err)
		}
		where.and(`(t.created > ?`, created)
		where.text += fmt.Sprintf(` OR (t.created = $%d`, len(where.args))
		where.and(`t.id > ?))`, f.After)
	}
	return t.routePlans(ctx, org, where, f.Limit)
}

func (t routePlanTx) routePlans(ctx context.Context, org lastmile.OrganizationID, where *condition, most int) ([]lastmile.RoutePlan, error) {
	scan := func(r rows) (lastmile.RoutePlan, error) {
		var (
			doc          []byte
			worker, team *string
			form         wire.RoutePlanRecord
		)
		if err := r.Scan(&doc, &worker, &team); err != nil {
			return lastmile.RoutePlan{}, err
		}
		err := wire.Unmarshal(doc, &form)
		plan := form.Domain()
		if worker != nil {
			plan.Worker = lastmile.WorkerID(*worker)
		}
		if team != nil {
			plan.Team = lastmile.TeamID(*team)
		}
		return plan, err
	}
	plans, err := collect(ctx, t, scan, `SELECT t.doc, t.worker, t.team FROM route_plan t WHERE `+where.text+
		` ORDER BY t.created, t.id`+limit(most), where.args...)
	if err != nil {
		return nil, fmt.Errorf("read route plans: %w", err)
	}
	return plans, t.planTasks(ctx, org, plans)
}

// planned is a task in a plan.
type planned struct {
	plan  lastmile.RoutePlanID
	task  lastmile.TaskID
	state int64
}

// planTasks reads the tasks of plans into them.
func (t routePlanTx) planTasks(ctx context.Context, org lastmile.OrganizationID, plans []lastmile.RoutePlan) error {
	places := make(map[lastmile.RoutePlanID]*lastmile.RoutePlan, len(plans))
	for i := range plans {
		places[plans[i].ID] = &plans[i]
	}
	for chunk := range slices.Chunk(plans, 200) {
		where := within(org)
		ids := make([]lastmile.RoutePlanID, len(chunk))
		for i, p := range chunk {
			ids[i] = p.ID
		}
		in(where, `t.route_plan`, ids)
		found, err := collect(ctx, t, func(r rows) (p planned, err error) {
			err = r.Scan(&p.plan, &p.task, &p.state)
			return p, err
		}, `SELECT t.route_plan, t.id, t.state FROM task t WHERE `+where.text+` ORDER BY t.route_plan, t.plan_place, t.id`, where.args...)
		if err != nil {
			return fmt.Errorf("read tasks of route plans: %w", err)
		}
		for _, p := range found {
			plan := places[p.plan]
			plan.Tasks, plan.TaskStates = append(plan.Tasks, p.task), append(plan.TaskStates, lastmile.TaskState(p.state))
		}
	}
	return nil
}

// SaveRoutePlan saves a route plan without its tasks.
func (t routePlanTx) SaveRoutePlan(ctx context.Context, p lastmile.RoutePlan) error {
	doc, err := wire.Marshal(wire.NewRoutePlanRecord(p))
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO route_plan (org, id, doc, v, worker, team, starts, created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v, worker = excluded.worker, team = excluded.team,
			starts = excluded.starts`
	_, err = t.exec(ctx, query, p.Organization, p.ID, doc, documentVersion, orNull(string(p.Worker)), orNull(string(p.Team)),
		p.Start.UnixMilli(), p.Created.UnixMilli())
	if err != nil {
		return fmt.Errorf("save route plan %s: %w", p.ID, err)
	}
	return nil
}

// SavePlanned saves tasks that have joined or left a route plan, or have another
// position in it.
func (t routePlanTx) SavePlanned(ctx context.Context, tasks []lastmile.Task) error {
	for _, task := range tasks {
		doc, err := wire.EncodeTask(store.Remembered(ctx), task, wire.NewTaskRecord)
		if err != nil {
			return err
		}
		const query = `UPDATE task SET doc = $3, v = $4, events = $5, route_plan = $6, plan_place = $7 WHERE org = $1 AND id = $2`
		err = t.send(ctx, query, task.Organization, task.ID, doc, documentVersion, task.Events, orNull(string(task.RoutePlan)), task.PlanPosition)
		if err != nil {
			return fmt.Errorf("save the route plan of task %s: %w", task.ID, err)
		}
	}
	return nil
}

// RehearseMove encodes a task as MoveTasks and SavePlanned save it, so that they find it encoded
// if ctx is one of store.Remember. It returns the size.
func (t routePlanTx) RehearseMove(ctx context.Context, task lastmile.Task) (bytes int) {
	doc, history, err := encodeMoved(ctx, task)
	if err != nil {
		return 0 // the transaction returns the error
	}
	return len(doc) + len(history)
}

// DeleteRoutePlan deletes a route plan that has no tasks.
func (t routePlanTx) DeleteRoutePlan(ctx context.Context, org lastmile.OrganizationID, id lastmile.RoutePlanID) error {
	return t.erase(ctx, org, string(id), [2]string{"route_plan", "id"}, [2]string{"firing", "task"})
}

// unplan removes a worker or a team from its plans. column is "worker" or "team".
func (t routePlanTx) unplan(ctx context.Context, org lastmile.OrganizationID, column, id string) error {
	if _, err := t.exec(ctx, `UPDATE route_plan SET `+column+` = NULL WHERE org = $1 AND `+column+` = $2`, org, id); err != nil {
		return fmt.Errorf("take %s %s off route plans: %w", column, id, err)
	}
	return nil
}

// saveDuty records that a worker goes on or off duty, if that is a change and its time is
// known.
func (t routePlanTx) saveDuty(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts) error {
	if at.LastSeen.IsZero() {
		return nil
	}
	var onDuty int64
	err := t.row(ctx, `SELECT on_duty FROM worker WHERE org = $1 AND id = $2`, org, id).Scan(&onDuty)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("read duty of worker %s: %w", id, err)
	case onDuty == engine.Flag(at.OnDuty):
		return nil
	}
	const query = `
		INSERT INTO duty_change (org, worker, at, on_duty) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org, worker, at) DO UPDATE SET on_duty = excluded.on_duty`
	if _, err := t.exec(ctx, query, org, id, at.LastSeen.UnixMilli(), engine.Flag(at.OnDuty)); err != nil {
		return fmt.Errorf("save duty of worker %s: %w", id, err)
	}
	return nil
}

// Duty returns when a worker was on duty in a window.
func (t routePlanTx) Duty(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, window lastmile.Window) (lastmile.Duty, error) {
	scan := func(r rows) (c lastmile.DutyChange, err error) {
		var at, onDuty int64
		err = r.Scan(&at, &onDuty)
		return lastmile.DutyChange{At: time.UnixMilli(at).UTC(), OnDuty: onDuty != 0}, err
	}
	changes, err := collect(ctx, t, scan, `SELECT at, on_duty FROM duty_change
		WHERE org = $1 AND worker = $2 AND at >= $3 AND at < $4 ORDER BY at`,
		org, id, window.From.UnixMilli(), window.To.UnixMilli())
	if err != nil {
		return lastmile.Duty{}, fmt.Errorf("read duty of worker %s: %w", id, err)
	}
	before, err := collect(ctx, t, scan, `SELECT at, on_duty FROM duty_change
		WHERE org = $1 AND worker = $2 AND at < $3 ORDER BY at DESC LIMIT 1`, org, id, window.From.UnixMilli())
	if err != nil {
		return lastmile.Duty{}, fmt.Errorf("read duty of worker %s: %w", id, err)
	}
	return lastmile.Duty{Before: len(before) > 0 && before[0].OnDuty, Changes: changes}, nil
}

// CompletedBy returns the tasks that a worker completed in a window.
func (t routePlanTx) CompletedBy(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, window lastmile.Window) ([]lastmile.Task, error) {
	where := within(org).and(`t.worker = ?`, id)
	where.and(`t.completed >= ?`, window.From.UnixMilli()).and(`t.completed < ?`, window.To.UnixMilli())
	return taskTx(t).tasks(ctx, org, where)
}
