package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// taskColumns and taskTables read a task as the API shows it: its document, its estimates
// and state, and its destination and recipient. wholeTask also reads the columns that only
// use cases need. If the task has an origin, the recipient is one of the origin.
const (
	taskColumns = `t.id, t.doc, t.arrival, t.completion, t.eta, t.delay, t.complete_before, t.state, d.doc, r.doc`
	wholeTask   = taskColumns + `, t.tracking, t.history, t.events, t.no_service, t.planned_service, COALESCE(t.plan_place, 0)`
	taskTables  = ` FROM task t` + taskJoins
	taskJoins   = `
		JOIN destination d ON d.org = t.org AND d.id = t.destination
		LEFT JOIN recipient r ON r.org = COALESCE(t.origin, t.org) AND r.id = t.recipient`
)

// Task returns a task.
func (t taskTx) Task(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error) {
	found, err := t.tasks(ctx, org, within(org).and(`t.id = ?`, id))
	return only(ctx, t.base, store.Tasks, string(id), found, err)
}

// VisibleTask returns a task that the organization has, or that it placed with
// another.
func (t taskTx) VisibleTask(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error) {
	found, err := t.tasks(ctx, org, within(org).and(`t.id = ?`, id))
	if err == nil && len(found) == 0 {
		found, err = t.placed(ctx, placedBy(org).and(`t.id = ?`, id))
	}
	return only(ctx, t.base, store.Tasks, string(id), found, err)
}

// TaskByShortID finds a task that the organization has, or that it placed with
// another, by its short id.
func (t taskTx) TaskByShortID(ctx context.Context, org lastmile.OrganizationID, shortID string) (lastmile.Task, error) {
	found, err := t.tasks(ctx, org, within(org).and(`t.short_id = ?`, shortID))
	if err == nil && len(found) == 0 {
		found, err = t.placed(ctx, placedBy(org).and(`t.short_id = ?`, shortID))
	}
	if err == nil && len(found) == 0 {
		err = lastmile.NotFound("task", shortID)
	}
	if err != nil {
		return lastmile.Task{}, err
	}
	return found[0], nil
}

// TaskByToken finds a task of any organization by the token of its tracking
// page, which grants access.
func (t taskTx) TaskByToken(ctx context.Context, token string) (lastmile.Task, error) {
	var (
		org lastmile.OrganizationID
		id  lastmile.TaskID
	)
	err := t.row(ctx, `SELECT org, id FROM task WHERE tracking = $1`, token).Scan(&org, &id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lastmile.Task{}, lastmile.NotFound("page", token)
	case err != nil:
		return lastmile.Task{}, fmt.Errorf("find a task by its link: %w", err)
	}
	return t.Task(ctx, org, id)
}

// TasksOf returns several tasks in the order of their ids.
func (t taskTx) TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	return t.all(ctx, org, ids, func(where *condition) ([]lastmile.Task, error) { return t.tasks(ctx, org, where) })
}

// all returns tasks in the order of their ids. It fails if one does not exist.
func (t taskTx) all(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID, read func(*condition) ([]lastmile.Task, error)) ([]lastmile.Task, error) {
	tasks, err := inChunks(org, ids, read, func(task lastmile.Task) lastmile.TaskID { return task.ID })
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if i >= len(tasks) || tasks[i].ID != id {
			return nil, t.missing(ctx, store.Tasks, string(id))
		}
	}
	return tasks, nil
}

// TaskOutlines returns several tasks in the order of their ids, with only the id, when
// each was modified, and the estimates.
func (t taskTx) TaskOutlines(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	scan := func(r rows) (lastmile.Task, error) {
		var row taskRow
		if err := r.Scan((*string)(&row.id), &row.doc, &row.arrival, &row.completion, &row.eta, &row.delay, &row.completeBefore, &row.state); err != nil {
			return lastmile.Task{}, err
		}
		modified, err := wire.Modified(row.doc)
		return lastmile.Task{ID: row.id, Modified: modified, Estimates: row.estimates(t.now())}, err
	}
	read := func(where *condition) ([]lastmile.Task, error) {
		return collect(ctx, t, scan, `SELECT t.id, t.doc, t.arrival, t.completion, t.eta, t.delay, t.complete_before, t.state FROM task t WHERE `+where.text, where.args...)
	}
	outlines, err := inChunks(org, ids, read, func(task lastmile.Task) lastmile.TaskID { return task.ID })
	if err != nil {
		return nil, fmt.Errorf("read outlines of tasks: %w", err)
	}
	return outlines, nil
}

func (t taskTx) tasks(ctx context.Context, org lastmile.OrganizationID, where *condition) ([]lastmile.Task, error) {
	query := `SELECT ` + wholeTask + taskTables + ` WHERE ` + where.text
	scan := func(found rows) (lastmile.Task, error) {
		var row taskRow
		if err := row.scanWhole(found); err != nil {
			return lastmile.Task{}, err
		}
		return row.domain(ctx, org, t.now())
	}
	found, err := collect(ctx, t, scan, query, where.args...)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	return found, nil
}

// placedBy returns the condition for tasks that an organization placed with others.
func placedBy(origin lastmile.OrganizationID) *condition {
	return &condition{text: `t.origin = $1`, args: []any{origin}}
}

// CountPlaced counts the open tasks that an organization placed with others, up to limit.
func (t taskTx) CountPlaced(ctx context.Context, origin lastmile.OrganizationID, limit int) (int, error) {
	return t.count(ctx, `SELECT COUNT(*) FROM (SELECT 1 FROM task WHERE origin = $1 AND state < 3 LIMIT $2) AS open`, origin, limit)
}

// placed returns tasks that an organization placed with others.
func (t taskTx) placed(ctx context.Context, where *condition) ([]lastmile.Task, error) {
	return t.placedFrom(ctx, taskTables+` WHERE `+where.text, where.args...)
}

func (t taskTx) placedFrom(ctx context.Context, tables string, args ...any) ([]lastmile.Task, error) {
	scan := func(found rows) (lastmile.Task, error) {
		var (
			row taskRow
			org lastmile.OrganizationID
		)
		if err := row.scanWhole(found, &org); err != nil {
			return lastmile.Task{}, err
		}
		return row.domain(ctx, org, t.now())
	}
	found, err := collect(ctx, t, scan, `SELECT `+wholeTask+`, t.org`+tables, args...)
	if err != nil {
		return nil, fmt.Errorf("read tasks of connections: %w", err)
	}
	return found, nil
}

// ExpectTask announces the queries that the creation of a task needs: the organization's
// custom fields, settings and webhooks. They run together with the next statement.
func (t taskTx) ExpectTask(org lastmile.OrganizationID) {
	for _, query := range []string{selectCustomFields, selectSettings, selectWebhookTriggers} {
		t.ahead(query, org)
	}
}

// AddTask saves a new task at the end of its container. In the container of the
// organization, its position is fixed only by PlaceTasks, because transactions add tasks
// there concurrently.
func (t taskTx) AddTask(ctx context.Context, task lastmile.Task) error {
	if task.Container.Kind != lastmile.InOrganization {
		return t.SaveNew(ctx, store.NewRecords{Tasks: []lastmile.Task{task}})
	}
	if err := t.claimKeys(ctx, []lastmile.Task{task}); err != nil {
		return err
	}
	if err := t.putTask(ctx, task); err != nil {
		return err
	}
	if err := t.addDependencies(ctx, task); err != nil {
		return err
	}
	return t.insertTaskMetadata(ctx, task)
}

// insertTaskMetadata saves the searchable entries of a task, for each organization
// that can find it.
func (t taskTx) insertTaskMetadata(ctx context.Context, task lastmile.Task) error {
	if err := t.insert(ctx, metadataInsertion, taskMetadataRows(task)); err != nil {
		return fmt.Errorf("save metadata of task %s: %w", task.ID, err)
	}
	return nil
}

func taskMetadataRows(task lastmile.Task) [][]any {
	rows := metadataRows(store.Tasks, task.Organization, string(task.ID), task.Metadata)
	if task.Origin != "" {
		rows = append(rows, metadataRows(store.Tasks, task.Origin, string(task.ID), task.Metadata)...)
	}
	return rows
}

// SaveTask saves a task. If its container has changed, the caller must also move it to a
// position of the list.
func (t taskTx) SaveTask(ctx context.Context, task lastmile.Task) error {
	if err := t.putTask(ctx, task); err != nil {
		return err
	}
	if err := t.send(ctx, `DELETE FROM task_dependency WHERE org = $1 AND task = $2`, task.Organization, task.ID); err != nil {
		return fmt.Errorf("clear dependencies of task %s: %w", task.ID, err)
	}
	if err := t.addDependencies(ctx, task); err != nil {
		return err
	}
	for _, org := range sides(task.Organization, task.Origin) {
		if err := t.send(ctx, `DELETE FROM metadata_entry WHERE org = $1 AND id = $2`, org, task.ID); err != nil {
			return fmt.Errorf("clear metadata of task %s: %w", task.ID, err)
		}
	}
	return t.insertTaskMetadata(ctx, task)
}

// sides returns the organizations that see a task.
func sides(org, origin lastmile.OrganizationID) []lastmile.OrganizationID {
	if origin == "" {
		return []lastmile.OrganizationID{org}
	}
	return []lastmile.OrganizationID{org, origin}
}

// move saves a task that was put into a container, with its rank there. It saves only the
// columns that this and joining a route plan change: there may be many tasks, and other
// columns would need changes of indexes.
func (t taskTx) move(ctx context.Context, task lastmile.Task, rank int64) error {
	const query = `
		UPDATE task SET doc = $3, v = $4, state = $5, worker = $6, container_kind = $7, container = $8, rank = $9,
			arrival = $10, completion = $11, eta = $12, delay = $13, history = $14, events = $15, route_plan = $16, plan_place = $17,
			pin = CASE WHEN worker = $6 THEN pin ELSE 0 END
		WHERE org = $1 AND id = $2`
	doc, history, err := encodeMoved(ctx, task)
	if err != nil {
		return err
	}
	estimates := stored(task)
	err = t.send(ctx, query, task.Organization, task.ID, doc, documentVersion, int64(task.State), orNull(string(task.Worker)),
		string(task.Container.Kind), task.Container.Owner, rank, millis(estimates.Arrival), millis(estimates.Completion),
		durationMillis(estimates.ETA), durationMillis(estimates.Delay), history, task.Events, orNull(string(task.RoutePlan)), task.PlanPosition)
	if err != nil {
		return fmt.Errorf("move task %s: %w", task.ID, err)
	}
	return nil
}

// encodeMoved returns the documents of a task that is moved, and remembers them in a context
// of store.Remember.
func encodeMoved(ctx context.Context, task lastmile.Task) (doc, history []byte, err error) {
	known := store.Remembered(ctx)
	if doc, err = wire.EncodeTask(known, task, wire.NewTaskRecord); err == nil {
		history, err = wire.EncodeAssignments(known, task)
	}
	return doc, history, err
}

func (t taskTx) putTask(ctx context.Context, task lastmile.Task) error {
	insertion, rank := t.taskInsertion(), t.newRank(task, 0)
	if task.Container.Kind != lastmile.InOrganization { // only there may tasks have no position yet
		insertion, rank = placedTasks, nextRanks(task.Created, 1, 0)
	}
	row, err := t.taskRow(task, rank)
	if err != nil {
		return err
	}
	if err := t.send(ctx, insertion.one, row...); err != nil {
		return fmt.Errorf("save task %s: %w", task.ID, err)
	}
	return nil
}

// taskInsertion returns the insertion of tasks in the container of the organization.
func (t taskTx) taskInsertion() insertion {
	if t.inOrder() {
		return placedTasks
	}
	return unplacedTasks
}

// On PostgreSQL, new tasks are ordered by the clock of the database server, which is the
// same for all nodes.
var (
	placedTasks   = newInsertion(`task`, taskInserted, taskUpdated)
	unplacedTasks = newComputed(`task`, taskInserted, taskUpdated, `rank`, `? + (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT * 256`)
)

// A row that exists keeps its rank while the task stays in its container; a task that
// leaves it or is started loses the rank. A pin ends when the task changes its worker or
// is completed. promised keeps the arrival that was estimated when the task was started,
// for analytics.
const (
	taskInserted = `org, id, doc, v, short_id, state, created, completed, worker, container_kind, container, rank,
		destination, recipient, lon, lat, quantity, quantity_a, quantity_b, quantity_c, complete_after, complete_before,
		tracking, arrival, completion, eta, delay, history, events, pickup, route_plan, plan_place, no_service, origin,
		success, failure, distance, started, arrived, rating`
	taskUpdated = `(org, id) DO UPDATE SET doc = excluded.doc, v = excluded.v, state = excluded.state,
		completed = excluded.completed, worker = excluded.worker, container_kind = excluded.container_kind,
		container = excluded.container,
		rank = CASE WHEN excluded.state < 2 AND task.container = excluded.container THEN task.rank END,
		destination = excluded.destination, recipient = excluded.recipient, lon = excluded.lon, lat = excluded.lat,
		quantity = excluded.quantity, quantity_a = excluded.quantity_a, quantity_b = excluded.quantity_b,
		quantity_c = excluded.quantity_c, complete_after = excluded.complete_after,
		complete_before = excluded.complete_before, arrival = excluded.arrival, completion = excluded.completion,
		eta = excluded.eta, delay = excluded.delay, history = excluded.history, events = excluded.events,
		pickup = excluded.pickup, route_plan = excluded.route_plan, plan_place = excluded.plan_place,
		no_service = excluded.no_service, success = excluded.success, failure = excluded.failure, distance = excluded.distance,
		started = excluded.started, arrived = excluded.arrived, rating = excluded.rating,
		promised = CASE WHEN excluded.state = 3 OR (excluded.state = 2 AND task.state = 2) THEN task.promised WHEN excluded.state = 2 THEN excluded.arrival END,
		pin = CASE WHEN excluded.state IN (1, 2) AND task.worker = excluded.worker THEN task.pin ELSE 0 END`
)

// newRank returns the rank of a new task in the container of the organization. n is its
// number among the tasks that are saved together.
func (t taskTx) newRank(task lastmile.Task, n int) int64 {
	if t.inOrder() {
		return nextRanks(task.Created, 1, 0)
	}
	return int64(unplaced + n%rankStep)
}

// taskRow returns a task as taskInsertion saves it.
func (t taskTx) taskRow(task lastmile.Task, rank int64) ([]any, error) {
	doc, err := wire.Marshal(wire.NewTaskRecord(task))
	if err != nil {
		return nil, err
	}
	history, err := wire.Marshal(wire.NewAssignments(task))
	if err != nil {
		return nil, err
	}
	var recipient *string
	if task.Recipient != nil {
		recipient = (*string)(&task.Recipient.ID)
	}
	more, estimates := task.AdditionalQuantities, stored(task)
	return append([]any{
		task.Organization, task.ID, doc, documentVersion, task.ShortID, int64(task.State),
		task.Created.UnixMilli(), millis(task.Completion.At), orNull(string(task.Worker)),
		orNull(string(task.Container.Kind)), orNull(task.Container.Owner), rank,
		task.Destination.ID, recipient, task.Destination.Location.Lon, task.Destination.Location.Lat,
		task.Quantity, more.A, more.B, more.C, millis(task.CompleteAfter), millis(task.CompleteBefore), task.TrackingToken,
		millis(estimates.Arrival), millis(estimates.Completion), durationMillis(estimates.ETA), durationMillis(estimates.Delay), history, task.Events, engine.Flag(task.Pickup),
		orNull(string(task.RoutePlan)), task.PlanPosition, engine.Flag(task.ServiceTime != nil && *task.ServiceTime == 0),
		orNull(string(task.Origin)),
	}, resultRow(store.ResultOf(task))...), nil
}

// resultRow returns the result of a task as taskInsertion saves it; nulls for none.
func resultRow(r *store.Result) []any {
	if r == nil {
		return []any{nil, nil, nil, nil, nil, nil}
	}
	var rating *int64
	if r.Rating != 0 {
		rating = new(int64(r.Rating))
	}
	return []any{engine.Flag(r.Success), r.Failure, float64(r.Distance), millis(r.Started), millis(r.Arrived), rating}
}

// stored returns the estimates that are stored with a task.
func stored(task lastmile.Task) lastmile.Estimates {
	if task.State == lastmile.TaskUnassigned { // only its delay is known, which is computed when it is read
		return lastmile.Estimates{}
	}
	return task.Estimates
}

func (t taskTx) addDependencies(ctx context.Context, task lastmile.Task) error {
	for _, parent := range task.Dependencies {
		const query = `INSERT INTO task_dependency (org, parent, task) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
		if err := t.send(ctx, query, task.Organization, parent, task.ID); err != nil {
			return fmt.Errorf("save dependencies of task %s: %w", task.ID, err)
		}
	}
	return nil
}

// orNull returns nil, which is stored as null, for an empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// DeleteTask deletes a task and all dependencies on it.
func (t taskTx) DeleteTask(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) error {
	for _, query := range []string{
		`INSERT INTO deleted_task (org, id, created) SELECT org, id, created FROM task WHERE org = $1 AND id = $2`,
		`INSERT INTO deleted_task (org, id, created) SELECT origin, id, created FROM task WHERE org = $1 AND id = $2 AND origin IS NOT NULL`,
		`DELETE FROM metadata_entry WHERE id = $2 AND org = (SELECT origin FROM task WHERE org = $1 AND id = $2)`,
		`DELETE FROM import_key WHERE task = $2 AND org = (SELECT origin FROM task WHERE org = $1 AND id = $2)`,
	} {
		if err := t.send(ctx, query, org, id); err != nil {
			return fmt.Errorf("remember task %s: %w", id, err)
		}
	}
	return t.erase(ctx, org, string(id), [][2]string{
		{"task", "id"},
		{"task_dependency", "task"},
		{"task_dependency", "parent"},
		{"explanation", "task"},
		{"firing", "task"},
		{"metadata_entry", "id"},
		{"import_key", "task"},
	}...)
}

// Parents returns the dependencies of a task.
func (t taskTx) Parents(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) ([]lastmile.TaskID, error) {
	return t.taskIDs(ctx, `SELECT parent FROM task_dependency WHERE org = $1 AND task = $2 ORDER BY parent`, org, id)
}

// Children returns the tasks that depend on a task, up to n of them; 0 for all.
func (t taskTx) Children(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID, n int) ([]lastmile.TaskID, error) {
	return t.taskIDs(ctx, `SELECT task FROM task_dependency WHERE org = $1 AND parent = $2 ORDER BY task`+limit(n), org, id)
}

func (t *base) taskIDs(ctx context.Context, query string, args ...any) ([]lastmile.TaskID, error) {
	ids, err := collect(ctx, t, func(r rows) (id lastmile.TaskID, err error) {
		err = r.Scan(&id)
		return id, err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read ids of tasks: %w", err)
	}
	return ids, nil
}

// Explanation returns the explanation of why a task was assigned to its worker.
func (t taskTx) Explanation(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (assignment.Explanation, error) {
	var doc []byte
	err := t.row(ctx, `SELECT doc FROM explanation WHERE org = $1 AND task = $2`, org, id).Scan(&doc)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return assignment.Explanation{}, lastmile.NotFound("explanation of task", string(id))
	case err != nil:
		return assignment.Explanation{}, fmt.Errorf("read explanation of task %s: %w", id, err)
	}
	var form wire.Explanation
	err = wire.Unmarshal(doc, &form)
	return form.Domain(), err
}

// SaveExplanation saves the explanation of why a task was assigned to its worker.
func (t taskTx) SaveExplanation(ctx context.Context, org lastmile.OrganizationID, e assignment.Explanation) error {
	doc, err := wire.Marshal(wire.NewExplanation(&e))
	if err != nil {
		return err
	}
	const query = `
		INSERT INTO explanation (org, task, doc, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org, task) DO UPDATE SET doc = excluded.doc, at = excluded.at`
	if _, err := t.exec(ctx, query, org, e.Task, doc, e.At.UnixMilli()); err != nil {
		return fmt.Errorf("save explanation of task %s: %w", e.Task, err)
	}
	return nil
}

// DeleteExplanations deletes about most explanations older than a time, and returns how
// many it deleted.
func (t taskTx) DeleteExplanations(ctx context.Context, before time.Time, most int) (int64, error) {
	return t.deleteOld(ctx, `explanation`, `at`, ``, before.UnixMilli(), most)
}
