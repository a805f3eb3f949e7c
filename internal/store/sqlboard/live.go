package sqlboard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// EventKept returns the number of the oldest stored event, or of the next one if there is
// none, and when event seq was stored; the zero time if it is not stored.
func (p Part) EventKept(ctx context.Context, org lastmile.OrganizationID, seq int64) (oldest int64, at time.Time, err error) {
	number := func(r engine.Rows) (n int64, err error) {
		err = r.Scan(&n)
		return n, err
	}
	found, err := engine.Collect(ctx, p.c, number, `SELECT seq FROM event WHERE org = $1 AND seq IS NOT NULL ORDER BY seq LIMIT 1`, org)
	if err == nil && len(found) == 0 {
		found, err = engine.Collect(ctx, p.c, number, `SELECT seq + 1 FROM event_head WHERE org = $1`, org)
	}
	if err != nil {
		return 0, at, fmt.Errorf("find the oldest event: %w", err)
	}
	if len(found) > 0 {
		oldest = found[0]
	}
	created, err := engine.Collect(ctx, p.c, number, `SELECT created FROM event WHERE org = $1 AND seq IS NOT NULL AND seq = $2`, org, seq)
	if err != nil {
		return 0, at, fmt.Errorf("find an event: %w", err)
	}
	if len(created) > 0 {
		at = instant(&created[0])
	}
	return oldest, at, nil
}

// FleetVersion returns the version of the teams, hubs and schedules of an organization, which
// grows with each change.
func (p Part) FleetVersion(ctx context.Context, org lastmile.OrganizationID) (int64, error) {
	found, err := engine.Collect(ctx, p.c, func(r engine.Rows) (version int64, err error) {
		err = r.Scan(&version)
		return version, err
	}, `SELECT version FROM fleet_version WHERE org = $1`, org)
	if err != nil {
		return 0, fmt.Errorf("read the version of the fleet: %w", err)
	}
	if len(found) == 0 {
		return 0, nil
	}
	return found[0], nil
}

// LastPositions returns the last position of each worker that has one.
func (p Part) LastPositions(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID]board.Moved, error) {
	all, err := engine.Index(ctx, p.c, func(r engine.Rows) (id lastmile.WorkerID, m board.Moved, err error) {
		var at, seen *int64
		err = r.Scan(&m.Worker, &m.Location.Lon, &m.Location.Lat, &at, &seen, &m.Battery, &m.Accuracy, &m.Speed, &m.Heading)
		m.At, m.Seen = instant(at), instant(seen)
		return m.Worker, m, err
	}, `SELECT w.id, w.lon, w.lat, w.located, w.last_seen, w.battery, p.accuracy, p.speed, p.heading
		FROM worker w LEFT JOIN position p ON p.org = $1 AND p.worker = w.id AND p.at = w.located WHERE w.org = $1 AND w.lon IS NOT NULL`, org)
	if err != nil {
		return nil, fmt.Errorf("read positions: %w", err)
	}
	return all, nil
}

// LastEstimates returns when each worker's tasks were last estimated, and the worker's
// delay, without the tasks.
func (p Part) LastEstimates(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID]board.Estimated, error) {
	all, err := engine.Index(ctx, p.c, func(r engine.Rows) (id lastmile.WorkerID, e board.Estimated, err error) {
		var (
			at    int64
			delay *int64
		)
		err = r.Scan(&e.Worker, &at, &delay)
		e.At, e.Delay = instant(&at), duration(delay)
		return e.Worker, e, err
	}, `SELECT t.worker, t.estimated, w.delay FROM worker_watch t JOIN worker w ON w.org = $1 AND w.id = t.worker WHERE t.org = $1 AND t.estimated > 0`, org)
	if err != nil {
		return nil, fmt.Errorf("read when tasks were estimated: %w", err)
	}
	return all, nil
}

// estimatedAtOnce is the maximum number of workers whose tasks one statement reads.
const estimatedAtOnce = 100

// EstimatesOf returns the estimates of the workers' tasks, at most limit in all.
func (p Part) EstimatesOf(ctx context.Context, org lastmile.OrganizationID, workers []lastmile.WorkerID, limit int) (map[lastmile.WorkerID][]board.EstimatedTask, error) {
	all := map[lastmile.WorkerID][]board.EstimatedTask{}
	for chunk := range slices.Chunk(workers, estimatedAtOnce) {
		args, places := []any{org}, make([]string, len(chunk))
		for i, id := range chunk {
			args = append(args, id)
			places[i] = `$` + strconv.Itoa(len(args))
		}
		found, err := engine.Collect(ctx, p.c, func(r engine.Rows) (id lastmile.TaskID, err error) {
			var (
				worker                                  lastmile.WorkerID
				t                                       board.EstimatedTask
				before, arrival, completion, eta, delay *int64
				state                                   int64
			)
			err = r.Scan(&worker, &t.ID, &state, &before, &arrival, &completion, &eta, &delay)
			t.State, t.CompleteBefore = lastmile.TaskState(state), instant(before)
			t.Estimates = lastmile.Estimates{Arrival: instant(arrival), Completion: instant(completion), ETA: duration(eta), Delay: duration(delay)}
			all[worker] = append(all[worker], t)
			return t.ID, err
		}, `SELECT container, id, state, complete_before, arrival, completion, eta, delay FROM task
			WHERE org = $1 AND container_kind = 'WORKER' AND container IN (`+strings.Join(places, `, `)+`) AND container IS NOT NULL LIMIT `+strconv.Itoa(max(limit, 1)), args...)
		if err != nil {
			return nil, fmt.Errorf("read estimates: %w", err)
		}
		if limit -= len(found); limit <= 0 {
			break
		}
	}
	return all, nil
}
