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
)

// Whereabouts implements store.TrackingReader.
func (t *tx) Whereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Whereabouts, error) {
	var row whereaboutsRow
	err := t.row(ctx, `SELECT on_duty, last_seen, lon, lat, located, battery FROM worker WHERE org = $1 AND id = $2`, org, id).Scan(row.fields()...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lastmile.Whereabouts{}, t.missing(ctx, store.Workers, string(id))
	case err != nil:
		return lastmile.Whereabouts{}, fmt.Errorf("read whereabouts of worker %s: %w", id, err)
	}
	return row.domain(), nil
}

// Tracked implements store.TrackingReader.
func (t *tx) Tracked(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error) {
	found, err := collect(ctx, t, scanWorker, workerQuery+`t.org = $1 AND t.id = $2`, org, id)
	worker, err := only(ctx, t, store.Workers, string(id), found, err)
	if err != nil {
		return worker, err
	}
	err = t.row(ctx, `SELECT id`+inWorker+` AND rank IS NULL AND state = 2`, org, id).Scan(&worker.ActiveTask)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return worker, fmt.Errorf("read active task of worker %s: %w", id, err)
	}
	return worker, nil
}

// inWorker is the tasks of a worker's container, in the index that orders them.
const inWorker = ` FROM task WHERE org = $1 AND container_kind = 'WORKER' AND container = $2 AND container IS NOT NULL`

// whereaboutsRow is the part of a worker's row that changes by the minute.
type whereaboutsRow struct {
	onDuty            int64
	lastSeen, located *int64
	lon, lat, battery *float64
}

func (r *whereaboutsRow) fields() []any {
	return []any{&r.onDuty, &r.lastSeen, &r.lon, &r.lat, &r.located, &r.battery}
}

func (r *whereaboutsRow) domain() lastmile.Whereabouts {
	at := lastmile.Whereabouts{OnDuty: r.onDuty != 0, LastSeen: instant(r.lastSeen), Located: instant(r.located), Battery: r.battery}
	if r.lon != nil && r.lat != nil {
		at.Location = &lastmile.Point{Lon: *r.lon, Lat: *r.lat}
	}
	return at
}

// Positions implements store.TrackingReader.
func (t *tx) Positions(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, since time.Time, most int) ([]lastmile.Position, error) {
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

// SaveSighting implements store.TrackingWriter.
func (t *tx) SaveSighting(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts, now time.Time) error {
	const place = `UPDATE worker SET last_seen = $3, lon = $4, lat = $5, located = $6, battery = $7 WHERE org = $1 AND id = $2`
	err := t.send(ctx, place, org, id, millis(at.LastSeen), at.Location.Lon, at.Location.Lat, millis(at.Located), at.Battery)
	if err != nil {
		return fmt.Errorf("save whereabouts of worker %s: %w", id, err)
	}
	// Whoever looks at the worker now may have read the place before this one.
	const judge = `
		UPDATE worker_watch SET judge_at = CASE WHEN judged + $4 > $3 THEN judged + $4 ELSE $3 END,
			next_at = CASE
				WHEN claim <> '' OR next_at <= $3 THEN next_at
				WHEN judged + $4 <= $3 OR judged IS NULL THEN $3
				WHEN next_at <= judged + $4 THEN next_at
				ELSE judged + $4 END
		WHERE org = $1 AND worker = $2 AND refresh_at IS NOT NULL AND judge_at IS NULL`
	if err := t.send(ctx, judge, org, id, now.UnixMilli(), lastmile.ThresholdInterval.Milliseconds()); err != nil {
		return fmt.Errorf("look at worker %s: %w", id, err)
	}
	return nil
}

// Watch implements store.TrackingWriter.
func (t *tx) Watch(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, now time.Time) error {
	return t.watch(ctx, org, string(id), now)
}

// watch makes a worker be looked at at once, because the worker's list or a
// task in it has changed.
func (t *tx) watch(ctx context.Context, org lastmile.OrganizationID, worker string, now time.Time) error {
	const query = `
		INSERT INTO worker_watch (org, worker, next_at, refresh_at, judged_task, changes, claim) VALUES ($1, $2, $3, $3, '', 1, '')
		ON CONFLICT (org, worker) DO UPDATE SET changes = worker_watch.changes + 1, refresh_at = excluded.refresh_at,
			next_at = CASE WHEN worker_watch.claim = '' THEN excluded.next_at ELSE worker_watch.next_at END`
	if err := t.send(ctx, query, org, worker, now.UnixMilli()); err != nil {
		return fmt.Errorf("watch worker %s: %w", worker, err)
	}
	return nil
}

const watchColumns = `org, worker, refresh_at, judge_at, judged, judged_task, changes, claim`

func scanWatch(r scanner) (store.Watch, error) {
	var (
		w                      store.Watch
		refresh, judge, judged *int64
	)
	err := r.Scan(&w.Organization, &w.Worker, &refresh, &judge, &judged, &w.JudgedTask, &w.Changes, &w.Claim)
	w.Refresh, w.Judge, w.Judged = instant(refresh), instant(judge), instant(judged)
	return w, err
}

// DueWatches implements store.TrackingReader.
func (t *tx) DueWatches(ctx context.Context, now time.Time, most int) ([]store.Watch, error) {
	found, err := collect(ctx, t, func(r rows) (store.Watch, error) { return scanWatch(r) },
		`SELECT `+watchColumns+` FROM worker_watch WHERE next_at IS NOT NULL AND next_at <= $1 ORDER BY next_at`+limit(most), now.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("read who is to be looked at: %w", err)
	}
	return found, nil
}

// ClaimWatch implements store.TrackingWriter. The claim takes up what waits to
// be judged: whatever comes after it is looked at next time.
func (t *tx) ClaimWatch(ctx context.Context, w store.Watch, now, until time.Time) (bool, error) {
	n, err := t.exec(ctx, `UPDATE worker_watch SET claim = $3, next_at = $4, judge_at = NULL WHERE org = $1 AND worker = $2 AND next_at <= $5`,
		w.Organization, w.Worker, w.Claim, until.UnixMilli(), now.UnixMilli())
	if err != nil {
		return false, fmt.Errorf("claim worker %s: %w", w.Worker, err)
	}
	return n > 0, nil
}

// ReleaseWatches implements store.TrackingWriter.
func (t *tx) ReleaseWatches(ctx context.Context) error {
	if _, err := t.exec(ctx, `UPDATE worker_watch SET claim = '', next_at = refresh_at WHERE claim <> ''`); err != nil {
		return fmt.Errorf("release workers: %w", err)
	}
	return nil
}

// HeldWatch implements store.TrackingReader.
func (t *tx) HeldWatch(ctx context.Context, w store.Watch) (store.Watch, bool, error) {
	held, err := scanWatch(t.row(ctx, `SELECT `+watchColumns+` FROM worker_watch WHERE org = $1 AND worker = $2 AND claim = $3`,
		w.Organization, w.Worker, w.Claim))
	if errors.Is(err, sql.ErrNoRows) {
		return held, false, nil
	}
	if err != nil {
		return held, false, fmt.Errorf("read claim on worker %s: %w", w.Worker, err)
	}
	return held, true, nil
}

// SaveWatch implements store.TrackingWriter.
func (t *tx) SaveWatch(ctx context.Context, w store.Watch) error {
	const query = `
		UPDATE worker_watch SET claim = '', next_at = $4, refresh_at = $5, judge_at = $6, judged = $7, judged_task = $8
		WHERE org = $1 AND worker = $2 AND claim = $3`
	_, err := t.exec(ctx, query, w.Organization, w.Worker, w.Claim, millis(w.Next()), millis(w.Refresh), millis(w.Judge),
		millis(w.Judged), w.JudgedTask)
	if err != nil {
		return fmt.Errorf("save watch of worker %s: %w", w.Worker, err)
	}
	return nil
}

// SaveForeseen implements store.TrackingWriter.
func (t *tx) SaveForeseen(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, foreseen []store.Foreseen, delay *time.Duration) error {
	for _, f := range foreseen {
		const query = `
			UPDATE task SET arrival = $5, completion = $6, eta = $7, delay = $8
			WHERE org = $1 AND id = $2 AND worker = $3 AND state = $4`
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

// TrackerByHash implements store.TrackingReader.
func (t *tx) TrackerByHash(ctx context.Context, hash string) (lastmile.Session, error) {
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

// SaveTracker implements store.TrackingWriter.
func (t *tx) SaveTracker(ctx context.Context, s lastmile.Session) error {
	const query = `INSERT INTO worker_tracker (hash, org, worker, created) VALUES ($1, $2, $3, $4)`
	if _, err := t.exec(ctx, query, s.Hash, s.Organization, s.Worker, s.Created.UnixMilli()); err != nil {
		return fmt.Errorf("save tracker of worker %s: %w", s.Worker, err)
	}
	return nil
}

// DeleteTracker implements store.TrackingWriter.
func (t *tx) DeleteTracker(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) error {
	return t.erase(ctx, org, string(worker), [2]string{"worker_tracker", "worker"})
}

// Fired implements store.TrackingReader.
func (t *tx) Fired(ctx context.Context, org lastmile.OrganizationID, id string) ([]string, error) {
	found, err := collect(ctx, t, func(r rows) (name string, err error) {
		err = r.Scan(&name)
		return name, err
	}, `SELECT webhook FROM firing WHERE org = $1 AND task = $2`, org, id)
	if err != nil {
		return nil, fmt.Errorf("read what %s fired: %w", id, err)
	}
	return found, nil
}

// FiredAmong implements store.TrackingReader.
func (t *tx) FiredAmong(ctx context.Context, org lastmile.OrganizationID, name string, tasks []lastmile.TaskID) ([]lastmile.TaskID, error) {
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

// Fire implements store.TrackingWriter.
func (t *tx) Fire(ctx context.Context, org lastmile.OrganizationID, name, id string, at time.Time) (bool, error) {
	n, err := t.exec(ctx, `INSERT INTO firing (org, webhook, task, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, org, name, id, at.UnixMilli())
	if err != nil {
		return false, fmt.Errorf("fire %s of %s: %w", name, id, err)
	}
	return n > 0, nil
}

// forgetFired forgets what fired of a task, or a route plan, that is completed.
func (t *tx) forgetFired(ctx context.Context, org lastmile.OrganizationID, id string) error {
	if err := t.send(ctx, `DELETE FROM firing WHERE org = $1 AND task = $2`, org, id); err != nil {
		return fmt.Errorf("forget what %s fired: %w", id, err)
	}
	return nil
}
