package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// Worker returns a worker with the first lastmile.MaxEventTasks tasks, so that the cost
// does not grow with their number.
func (t fleetTx) Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error) {
	list := lastmile.WorkerContainer(id)
	containerTx(t).expectHead(org, list, lastmile.MaxEventTasks)
	return t.oneWorker(ctx, org, id, func() (queue, error) {
		return containerTx(t).headOf(ctx, org, list, lastmile.MaxEventTasks)
	})
}

// WholeWorker returns a worker with all tasks.
func (t fleetTx) WholeWorker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error) {
	list := lastmile.WorkerContainer(id)
	return t.oneWorker(ctx, org, id, func() (queue, error) {
		queues, err := containerTx(t).queues(ctx, selectQueue, org, list.Kind, list.Owner)
		return queues[list.Owner], err
	})
}

// oneWorker returns a worker with tasks, in one round trip with the announced queries.
// Their results are read even if there is no such worker, or they would be out of date
// when they are read later.
func (t fleetTx) oneWorker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, tasks func() (queue, error)) (worker lastmile.Worker, err error) {
	t.ahead(selectTeamsOfWorker, org, id)
	found, err := collect(ctx, t, scanWorker, workerQuery+`t.org = $1 AND t.id = $2`, org, id)
	if err != nil {
		return worker, fmt.Errorf("read worker %s: %w", id, err)
	}
	teams, err := pairs[lastmile.WorkerID, lastmile.TeamID](ctx, t.base, selectTeamsOfWorker, org, id)
	if err != nil {
		return worker, fmt.Errorf("read teams of worker %s: %w", id, err)
	}
	q, err := tasks()
	if err != nil {
		return worker, err
	}
	worker, err = only(ctx, t.base, store.Workers, string(id), found, nil)
	worker.Teams, worker.ActiveTask, worker.Tasks = teams[id], q.active, q.tasks
	return worker, err
}

const selectTeamsOfWorker = `SELECT t.worker, t.team FROM team_worker t WHERE t.org = $1 AND t.worker = $2 ORDER BY t.in_worker, t.team`

// Workers lists workers, oldest first.
func (t fleetTx) Workers(ctx context.Context, org lastmile.OrganizationID, f store.WorkerFilter) ([]lastmile.Worker, error) {
	where := within(org).has(store.Workers, f.Metadata).own(ownWorker, f.Manager)
	in(where, `t.phone`, f.Phones)
	if len(f.Teams) > 0 {
		members := &condition{args: where.args}
		in(members, `tw.team`, f.Teams)
		where.args = members.args
		where.text += ` AND t.id IN (SELECT tw.worker FROM team_worker tw WHERE tw.org = $1` + members.text + `)`
	}
	if f.OnDuty {
		where.text += ` AND t.on_duty = 1`
	}
	if f.Located {
		where.text += ` AND t.lon IS NOT NULL`
	}
	found, err := t.listWorkers(ctx, org, where)
	if err != nil || f.NoTasks {
		return found, err
	}
	return found, t.addTasks(ctx, org, found)
}

// listWorkers reads any number of workers without their tasks.
func (t fleetTx) listWorkers(ctx context.Context, org lastmile.OrganizationID, where *condition) ([]lastmile.Worker, error) {
	ids, err := collect(ctx, t, scanID[lastmile.WorkerID], `SELECT t.id FROM worker t WHERE `+where.text+` ORDER BY t.created, t.id`, where.args...)
	if err != nil {
		return nil, fmt.Errorf("find workers: %w", err)
	}
	read := func(where *condition) ([]lastmile.Worker, error) {
		return collect(ctx, t, scanWorker, workerQuery+where.text, where.args...)
	}
	found, err := inChunks(org, ids, read, func(w lastmile.Worker) lastmile.WorkerID { return w.ID })
	return t.withTeams(ctx, org, found, err)
}

// withTeams adds the teams of workers that were read.
func (t fleetTx) withTeams(ctx context.Context, org lastmile.OrganizationID, found []lastmile.Worker, err error) ([]lastmile.Worker, error) {
	if err != nil {
		return nil, fmt.Errorf("read workers: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	members := within(org)
	if len(found) == 1 {
		members.and(`t.worker = ?`, found[0].ID)
	}
	teams, err := pairs[lastmile.WorkerID, lastmile.TeamID](ctx, t.base,
		`SELECT t.worker, t.team FROM team_worker t WHERE `+members.text+` ORDER BY t.in_worker, t.team`, members.args...)
	if err != nil {
		return nil, fmt.Errorf("read teams of workers: %w", err)
	}
	for i := range found {
		found[i].Teams = teams[found[i].ID]
	}
	return found, nil
}

// addTasks reads the tasks of workers into them.
func (t fleetTx) addTasks(ctx context.Context, org lastmile.OrganizationID, workers []lastmile.Worker) error {
	if len(workers) == 0 {
		return nil
	}
	queues, err := containerTx(t).queuesOf(ctx, org, lastmile.InWorker, len(workers) == 1, string(workers[0].ID))
	for i := range workers {
		w := &workers[i]
		w.ActiveTask, w.Tasks = queues[string(w.ID)].active, queues[string(w.ID)].tasks
	}
	return err
}

// workerQuery reads the columns that scanWorker scans.
const workerQuery = `SELECT t.doc, t.on_duty, t.last_seen, t.lon, t.lat, t.located, t.battery, t.odometer, t.odometer_lon, t.odometer_lat, t.delay FROM worker t WHERE `

func scanWorker(r rows) (lastmile.Worker, error) {
	var (
		doc   []byte
		at    whereaboutsRow
		delay *int64
		form  wire.WorkerRecord
	)
	if err := r.Scan(slices.Concat([]any{&doc}, at.fields(), []any{&delay})...); err != nil {
		return lastmile.Worker{}, err
	}
	if err := wire.Unmarshal(doc, &form); err != nil {
		return lastmile.Worker{}, err
	}
	w := form.Domain()
	w.Whereabouts, w.Delay = at.domain(), duration(delay)
	return w, nil
}

// pairs reads two columns into lists of the second, by the first.
func pairs[K, V ~string](ctx context.Context, t *base, query string, args ...any) (map[K][]V, error) {
	type pair struct {
		key   K
		value V
	}
	found, err := collect(ctx, t, func(r rows) (p pair, err error) {
		err = r.Scan(&p.key, &p.value)
		return p, err
	}, query, args...)
	lists := map[K][]V{}
	for _, p := range found {
		lists[p.key] = append(lists[p.key], p.value)
	}
	return lists, err
}

// SaveWorker saves a worker and its teams. Other methods save whereabouts, tasks and
// delay.
func (t fleetTx) SaveWorker(ctx context.Context, w lastmile.Worker) error {
	doc, err := wire.Marshal(wire.NewWorkerRecord(w))
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO worker (org, id, doc, v, phone, created, on_duty, name) VALUES ($1, $2, $3, $4, $5, $6, 0, $7)
		ON CONFLICT (org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v, name = excluded.name`
	_, err = t.exec(ctx, query, w.Organization, w.ID, doc, documentVersion, w.Phone, w.Created.UnixMilli(), lastmile.FoldName(w.Name))
	if err != nil {
		return fmt.Errorf("save worker %s: %w", w.ID, err)
	}
	if err := t.saveWorkerTeams(ctx, w); err != nil {
		return fmt.Errorf("save teams of worker %s: %w", w.ID, err)
	}
	return t.saveMetadata(ctx, store.Workers, w.Organization, string(w.ID), w.Metadata)
}

// saveWorkerTeams replaces the teams of a worker. In a team that the worker was in, the
// worker keeps the position; in a new one, the worker comes last.
func (t fleetTx) saveWorkerTeams(ctx context.Context, w lastmile.Worker) error {
	gone := &condition{text: `org = $1 AND worker = $2`, args: []any{w.Organization, w.ID}}
	notIn(gone, `team`, w.Teams)
	left, err := t.exec(ctx, `DELETE FROM team_worker WHERE `+gone.text, gone.args...)
	if err != nil {
		return err
	}
	if left > 0 { // managers of the teams that the worker left get no event of the worker
		if err := t.raiseFleet(ctx, w.Organization); err != nil {
			return err
		}
	}
	for i, team := range w.Teams {
		const query = `
			INSERT INTO team_worker (org, team, worker, in_team, in_worker) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (org, team, worker) DO UPDATE SET in_worker = excluded.in_worker`
		if _, err := t.exec(ctx, query, w.Organization, team, w.ID, w.Modified.UnixMilli(), i); err != nil {
			return err
		}
	}
	return nil
}

// SaveWhereabouts saves a worker's duty status and location, without the odometer.
func (t fleetTx) SaveWhereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts) error {
	var lon, lat *float64
	if at.Location != nil {
		lon, lat = &at.Location.Lon, &at.Location.Lat
	}
	if err := routePlanTx(t).saveDuty(ctx, org, id, at); err != nil {
		return err
	}
	_, err := t.exec(ctx, `UPDATE worker SET on_duty = $3, last_seen = $4, lon = $5, lat = $6, located = $7, battery = $8 WHERE org = $1 AND id = $2`,
		org, id, engine.Flag(at.OnDuty), millis(at.LastSeen), lon, lat, millis(at.LocatedAt), at.Battery)
	if err != nil {
		return fmt.Errorf("save whereabouts of worker %s: %w", id, err)
	}
	return nil
}

// DeleteWorker deletes a worker. Callers delete the worker's positions afterwards, because
// there may be very many.
func (t fleetTx) DeleteWorker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) error {
	if err := routePlanTx(t).unplan(ctx, org, "worker", string(id)); err != nil {
		return err
	}
	if err := t.endSessionsWhere(ctx, `org = $1 AND worker = $2`, org, id); err != nil {
		return err
	}
	return t.erase(ctx, org, string(id), [][2]string{
		{"worker", "id"},
		{"team_worker", "worker"},
		{"worker_credential", "worker"},
		{"worker_schedule", "worker"},
		{"worker_action", "worker"},
		{"worker_watch", "worker"},
		{"worker_tracker", "worker"},
		{"duty_change", "worker"},
		{"metadata_entry", "id"},
	}...)
}

// Schedule reads a worker's schedule, the latest day first.
func (t fleetTx) Schedule(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Schedule, error) {
	var doc []byte
	err := t.row(ctx, `SELECT doc FROM worker_schedule WHERE org = $1 AND worker = $2`, org, id).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read schedule of worker %s: %w", id, err)
	}
	var form wire.Schedule
	err = wire.Unmarshal(doc, &form)
	return form.Domain(), err
}

// SaveSchedule saves the schedule of a worker.
func (t fleetTx) SaveSchedule(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, schedule lastmile.Schedule) error {
	doc, err := wire.Marshal(wire.NewSchedule(schedule))
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO worker_schedule (org, worker, doc) VALUES ($1, $2, $3)
		ON CONFLICT (org, worker) DO UPDATE SET doc = excluded.doc`
	if _, err := t.exec(ctx, query, org, id, doc); err != nil {
		return fmt.Errorf("save schedule of worker %s: %w", id, err)
	}
	return t.raiseFleet(ctx, org)
}

// SaveCredential saves the password of a worker.
func (t fleetTx) SaveCredential(ctx context.Context, c store.Credential) error {
	const query = `
		INSERT INTO worker_credential (org, worker, hash, temporary, expires) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org, worker) DO UPDATE SET hash = excluded.hash, temporary = excluded.temporary, expires = excluded.expires`
	if _, err := t.exec(ctx, query, c.Organization, c.Worker, c.Hash, engine.Flag(c.Temporary), millis(c.Expires)); err != nil {
		return fmt.Errorf("save credential of worker %s: %w", c.Worker, err)
	}
	return nil
}
