package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Whereabouts returns a worker's duty status and location.
func (t trackingTx) Whereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Whereabouts, error) {
	var row whereaboutsRow
	err := t.row(ctx, `SELECT on_duty, last_seen, lon, lat, located, battery, odometer, odometer_lon, odometer_lat FROM worker WHERE org = $1 AND id = $2`, org, id).Scan(row.fields()...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lastmile.Whereabouts{}, t.missing(ctx, store.Workers, string(id))
	case err != nil:
		return lastmile.Whereabouts{}, fmt.Errorf("read whereabouts of worker %s: %w", id, err)
	}
	return row.domain(), nil
}

// Tracked returns a worker without teams and with only the active task, so that the cost
// does not grow with their number.
func (t trackingTx) Tracked(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error) {
	found, err := collect(ctx, t, scanWorker, workerQuery+`t.org = $1 AND t.id = $2`, org, id)
	worker, err := only(ctx, t.base, store.Workers, string(id), found, err)
	if err != nil {
		return worker, err
	}
	err = t.row(ctx, `SELECT id`+inWorker+` AND rank IS NULL AND state = 2`, org, id).Scan(&worker.ActiveTask)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return worker, fmt.Errorf("read active task of worker %s: %w", id, err)
	}
	return worker, nil
}

// inWorker selects the tasks of a worker's container, in the index that orders them.
const inWorker = ` FROM task WHERE org = $1 AND container_kind = 'WORKER' AND container = $2 AND container IS NOT NULL`

// whereaboutsRow is the part of a worker's row that changes by the minute.
type whereaboutsRow struct {
	onDuty            int64
	lastSeen, located *int64
	lon, lat, battery *float64
	way               float64
	wayLon, wayLat    *float64
}

func (r *whereaboutsRow) fields() []any {
	return []any{&r.onDuty, &r.lastSeen, &r.lon, &r.lat, &r.located, &r.battery, &r.way, &r.wayLon, &r.wayLat}
}

func (r *whereaboutsRow) domain() lastmile.Whereabouts {
	at := lastmile.Whereabouts{OnDuty: r.onDuty != 0, LastSeen: instant(r.lastSeen), LocatedAt: instant(r.located), Battery: r.battery}
	if r.lon != nil && r.lat != nil {
		at.Location = &lastmile.Point{Lon: *r.lon, Lat: *r.lat}
	}
	at.Odometer.Way = lastmile.Meters(r.way)
	if r.wayLon != nil && r.wayLat != nil {
		at.Odometer.From = &lastmile.Point{Lon: *r.wayLon, Lat: *r.wayLat}
	}
	return at
}

// Positions lists at most most positions of a worker since a time, newest first.
func (t trackingTx) Positions(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, since time.Time, most int) ([]lastmile.Position, error) {
	scan := func(r rows) (p lastmile.Position, err error) {
		var at int64
		err = r.Scan(&at, &p.Location.Lon, &p.Location.Lat, &p.Accuracy, &p.Speed, &p.Heading)
		p.At = time.UnixMilli(at).UTC()
		return p, err
	}
	found, err := collect(ctx, t, scan, `SELECT at, lon, lat, accuracy, speed, heading FROM position
		WHERE org = $1 AND worker = $2 AND at >= $3 ORDER BY at DESC`+limit(most), org, id, since.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("read positions of worker %s: %w", id, err)
	}
	return found, nil
}

// PositionsAround returns the last position of a worker at or before a time, and the
// first one after it; nil for none.
func (t trackingTx) PositionsAround(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at time.Time) (before, after *lastmile.Position, err error) {
	const columns = `SELECT at, lon, lat, odometer FROM position WHERE org = $1 AND worker = $2 AND at `
	for _, side := range []struct {
		found     **lastmile.Position
		condition string
	}{{&before, `<= $3 ORDER BY at DESC LIMIT 1`}, {&after, `> $3 ORDER BY at LIMIT 1`}} {
		var (
			p   lastmile.Position
			ms  int64
			way float64
		)
		err := t.row(ctx, columns+side.condition, org, id, at.UnixMilli()).Scan(&ms, &p.Location.Lon, &p.Location.Lat, &way)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("read positions of worker %s: %w", id, err)
		}
		p.At, p.Odometer = time.UnixMilli(ms).UTC(), lastmile.Meters(way)
		*side.found = &p
	}
	return before, after, nil
}

// OdometersAt returns the odometer of a worker at each time: that of the last position
// before or at the time, else of the first one after it; 0 without a position.
func (t trackingTx) OdometersAt(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, times []time.Time) ([]lastmile.Meters, error) {
	all := make([]lastmile.Meters, 0, len(times))
	for chunk := range slices.Chunk(times, chunkSize) {
		args, values := []any{org, id}, make([]string, len(chunk))
		for i, at := range chunk {
			args = append(args, int64(i), at.UnixMilli())
			values[i] = fmt.Sprintf("(CAST($%d AS BIGINT), CAST($%d AS BIGINT))", len(args)-1, len(args))
		}
		query := `WITH wanted (n, at) AS (VALUES ` + strings.Join(values, ", ") + `)
			SELECT COALESCE(
				(SELECT p.odometer FROM position p WHERE p.org = $1 AND p.worker = $2 AND p.at <= wanted.at ORDER BY p.at DESC LIMIT 1),
				(SELECT p.odometer FROM position p WHERE p.org = $1 AND p.worker = $2 AND p.at > wanted.at ORDER BY p.at LIMIT 1), 0)
			FROM wanted ORDER BY n`
		found, err := collect(ctx, t, func(r rows) (lastmile.Meters, error) {
			var way float64
			err := r.Scan(&way)
			return lastmile.Meters(way), err
		}, query, args...)
		if err != nil {
			return nil, fmt.Errorf("read odometers of worker %s: %w", id, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// CompletedIn lists at most most tasks that a worker completed after one time and not
// after another, in the order of completion.
func (t trackingTx) CompletedIn(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, after, until time.Time, most int) ([]lastmile.TaskID, error) {
	return t.taskIDs(ctx, `SELECT t.id FROM task t WHERE t.org = $1 AND t.worker = $2 AND t.completed > $3 AND t.completed <= $4
		ORDER BY t.completed`+limit(most), org, id, after.UnixMilli(), until.UnixMilli())
}

// SaveLatestPosition saves where a worker is and when the worker was last seen. If the
// worker has tasks, it schedules a check of thresholds, no earlier than ThresholdInterval
// after the last one. A last check that is further ahead than that is ignored: the clock was
// ahead.
func (t trackingTx) SaveLatestPosition(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts, now time.Time) error {
	// A refresh that is running may have read the position before this one. The schedule
	// is locked before the worker, as when estimates are saved.
	const check = `
		UPDATE worker_watch SET judge_at = CASE WHEN judged + $4 > $3 AND judged - $4 <= $3 THEN judged + $4 ELSE $3 END,
			next_at = CASE
				WHEN claim <> '' OR next_at <= $3 THEN next_at
				WHEN judged + $4 <= $3 OR judged - $4 > $3 OR judged IS NULL THEN $3
				WHEN next_at <= judged + $4 THEN next_at
				ELSE judged + $4 END
		WHERE org = $1 AND worker = $2 AND refresh_at IS NOT NULL AND judge_at IS NULL`
	if err := t.send(ctx, check, org, id, now.UnixMilli(), lastmile.ThresholdInterval.Milliseconds()); err != nil {
		return fmt.Errorf("schedule the check of worker %s: %w", id, err)
	}
	const location = `
		UPDATE worker SET last_seen = $3, lon = $4, lat = $5, located = $6, battery = $7, odometer = $8, odometer_lon = $9, odometer_lat = $10
		WHERE org = $1 AND id = $2`
	var wayLon, wayLat *float64
	if from := at.Odometer.From; from != nil {
		wayLon, wayLat = &from.Lon, &from.Lat
	}
	err := t.send(ctx, location, org, id, millis(at.LastSeen), at.Location.Lon, at.Location.Lat, millis(at.LocatedAt), at.Battery,
		float64(at.Odometer.Way), wayLon, wayLat)
	if err != nil {
		return fmt.Errorf("save whereabouts of worker %s: %w", id, err)
	}
	return nil
}

// ScheduleEstimate makes a worker due for a refresh of all estimates, at once or at the
// end of the rest after the last refresh. A rest that ends later than store.LatestRest is
// ignored: it was set by a clock that was ahead.
func (t trackingTx) ScheduleEstimate(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, now time.Time) error {
	const query = `
		INSERT INTO worker_watch (org, worker, next_at, refresh_at, judged_task, changes, claim) VALUES ($1, $2, $3, $3, '', 1, '')
		ON CONFLICT (org, worker) DO UPDATE SET changes = worker_watch.changes + 1,
			refresh_at = CASE WHEN worker_watch.rest_until BETWEEN $3 AND $4 THEN worker_watch.rest_until ELSE $3 END,
			next_at = CASE
				WHEN worker_watch.claim <> '' OR worker_watch.next_at <= $3 THEN worker_watch.next_at
				WHEN worker_watch.rest_until NOT BETWEEN $3 AND $4 THEN $3
				WHEN worker_watch.next_at <= worker_watch.rest_until THEN worker_watch.next_at
				ELSE worker_watch.rest_until END`
	if err := t.send(ctx, query, org, worker, now.UnixMilli(), store.LatestRest(now).UnixMilli()); err != nil {
		return fmt.Errorf("schedule estimate of worker %s: %w", worker, err)
	}
	return nil
}

// EstimateSchedule returns when the estimates of a worker are refreshed, or
// lastmile.NotFound if the worker has had no task yet.
func (t trackingTx) EstimateSchedule(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) (store.EstimateSchedule, error) {
	const query = `SELECT refresh_at, judge_at, judged, judged_task, changes, rest_until FROM worker_watch WHERE org = $1 AND worker = $2`
	var (
		s                       = store.EstimateSchedule{Organization: org, Worker: worker}
		refresh, check, checked *int64
		rest                    int64
	)
	err := t.row(ctx, query, org, worker).Scan(&refresh, &check, &checked, &s.CheckedTask, &s.Changes, &rest)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s, lastmile.NotFound(string(store.Workers), string(worker))
	case err != nil:
		return s, fmt.Errorf("read estimate schedule of worker %s: %w", worker, err)
	}
	s.Refresh, s.Check, s.Checked = instant(refresh), instant(check), instant(checked)
	if rest != 0 {
		s.Rest = time.UnixMilli(rest).UTC()
	}
	return s, nil
}

// BeginEstimate clears the time of the next check, so that a position that is
// reported during the refresh sets it again. The caller has the lease.
func (t trackingTx) BeginEstimate(ctx context.Context, s store.EstimateSchedule) error {
	err := t.send(ctx, `UPDATE worker_watch SET judge_at = NULL WHERE org = $1 AND worker = $2`, s.Organization, s.Worker)
	if err != nil {
		return fmt.Errorf("begin estimate of worker %s: %w", s.Worker, err)
	}
	return nil
}

// SaveEstimateSchedule saves when the worker is due next. It runs in the
// transaction that ends the lease.
func (t trackingTx) SaveEstimateSchedule(ctx context.Context, s store.EstimateSchedule) error {
	const query = `
		UPDATE worker_watch SET next_at = $3, refresh_at = $4, judge_at = $5, judged = $6, judged_task = $7,
			estimated = CASE WHEN estimated >= $8 THEN estimated + 1 ELSE $8 END, rest_until = $9
		WHERE org = $1 AND worker = $2`
	var rest int64
	if !s.Rest.IsZero() {
		rest = s.Rest.UnixMilli()
	}
	err := t.send(ctx, query, s.Organization, s.Worker, millis(s.Next()), millis(s.Refresh), millis(s.Check), millis(s.Checked), s.CheckedTask, t.now().UnixMilli(), rest)
	if err != nil {
		return fmt.Errorf("save estimate schedule of worker %s: %w", s.Worker, err)
	}
	return nil
}

// SaveEstimates saves the estimates of the tasks that the worker still has in the same
// state, and the worker's delay.
func (t trackingTx) SaveEstimates(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, tasks []store.TaskEstimate, delay *time.Duration) error {
	for _, f := range tasks {
		const query = `
			UPDATE task SET arrival = $5, completion = $6, eta = $7, delay = $8
			WHERE org = $1 AND id = $2 AND COALESCE(worker, '') = $3 AND +state = $4`
		e := f.Estimates
		err := t.send(ctx, query, org, f.Task, worker, int64(f.State), millis(e.Arrival), millis(e.Completion),
			durationMillis(e.ETA), durationMillis(e.Delay))
		if err != nil {
			return fmt.Errorf("save estimates of task %s: %w", f.Task, err)
		}
	}
	if err := t.send(ctx, `UPDATE worker SET delay = $3 WHERE org = $1 AND id = $2 AND delay IS DISTINCT FROM $3`, org, worker, durationMillis(delay)); err != nil {
		return fmt.Errorf("save delay of worker %s: %w", worker, err)
	}
	return nil
}

// TrackerByHash finds the worker of a tracker app by the hash of its token, or
// returns lastmile.Unauthenticated.
func (t trackingTx) TrackerByHash(ctx context.Context, hash string) (lastmile.Session, error) {
	s := lastmile.Session{Hash: hash}
	var created int64
	err := t.row(ctx, `SELECT org, worker, created FROM worker_tracker WHERE hash = $1`, hash).Scan(&s.Organization, &s.Worker, &created)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s, lastmile.UnknownToken()
	case err != nil:
		return s, fmt.Errorf("read tracker: %w", err)
	}
	s.Created = time.UnixMilli(created).UTC()
	return s, nil
}

// SaveTracker saves the token of a worker's tracker app. The worker must have
// none.
func (t trackingTx) SaveTracker(ctx context.Context, s lastmile.Session) error {
	const query = `INSERT INTO worker_tracker (hash, org, worker, created) VALUES ($1, $2, $3, $4)`
	if _, err := t.exec(ctx, query, s.Hash, s.Organization, s.Worker, s.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save tracker of worker %s: %w", s.Worker, err)
	}
	return nil
}

// DeleteTracker deletes the token of a worker's tracker app.
func (t trackingTx) DeleteTracker(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) error {
	return t.erase(ctx, org, string(worker), [2]string{"worker_tracker", "worker"})
}

// Fired lists the names under which a task or a route plan has fired; see Fire.
func (t trackingTx) Fired(ctx context.Context, org lastmile.OrganizationID, id string) ([]string, error) {
	found, err := collect(ctx, t, func(r rows) (name string, err error) {
		err = r.Scan(&name)
		return name, err
	}, `SELECT webhook FROM firing WHERE org = $1 AND task = $2`, org, id)
	if err != nil {
		return nil, fmt.Errorf("read what %s fired: %w", id, err)
	}
	return found, nil
}

// FiredAmong returns the given tasks that have fired under a name.
func (t trackingTx) FiredAmong(ctx context.Context, org lastmile.OrganizationID, name string, tasks []lastmile.TaskID) ([]lastmile.TaskID, error) {
	var fired []lastmile.TaskID
	for chunk := range slices.Chunk(tasks, 200) {
		where := within(org).and(`t.webhook = ?`, name)
		in(where, `t.task`, chunk)
		some, err := t.taskIDs(ctx, `SELECT t.task FROM firing t WHERE `+where.text, where.args...)
		if err != nil {
			return nil, err
		}
		fired = append(fired, some...)
	}
	return fired, nil
}

// Fire records that a task or a route plan has fired under a name, such as the id of a
// webhook, and reports whether it was the first time.
func (t trackingTx) Fire(ctx context.Context, org lastmile.OrganizationID, name, id string, at time.Time) (bool, error) {
	n, err := t.exec(ctx, `INSERT INTO firing (org, webhook, task, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, org, name, id, at.UnixMilli())
	if err != nil {
		return false, fmt.Errorf("fire %s of %s: %w", name, id, err)
	}
	return n > 0, nil
}

// DeleteFiredOf deletes what has fired for a webhook. Only active tasks have, so that there are
// few rows.
func (t trackingTx) DeleteFiredOf(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID) error {
	if err := t.send(ctx, `DELETE FROM firing WHERE org = $1 AND webhook = $2`, org, id); err != nil {
		return fmt.Errorf("delete what has fired for webhook %s: %w", id, err)
	}
	return nil
}

// DeleteFired deletes the names under which a task or a route plan has fired.
func (t trackingTx) DeleteFired(ctx context.Context, org lastmile.OrganizationID, id string) error {
	if err := t.send(ctx, `DELETE FROM firing WHERE org = $1 AND task = $2`, org, id); err != nil {
		return fmt.Errorf("delete what %s has fired: %w", id, err)
	}
	return nil
}
