package sqlreport

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// PositionsBetween lists at most limit positions of a worker in a window, oldest first.
func (p Part) PositionsBetween(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, in lastmile.Window, limit int) ([]lastmile.Position, error) {
	scan := func(r engine.Rows) (at lastmile.Position, err error) {
		var ms int64
		err = r.Scan(&ms, &at.Location.Lon, &at.Location.Lat, &at.Accuracy, &at.Speed, &at.Heading)
		at.At = time.UnixMilli(ms).UTC()
		return at, err
	}
	const query = `
		SELECT at, lon, lat, accuracy, speed, heading FROM position
		WHERE org = $1 AND worker = $2 AND at >= $3 AND at < $4 ORDER BY at LIMIT $5`
	found, err := engine.Collect(ctx, p.c, scan, query, org, worker, in.From.UnixMilli(), in.To.UnixMilli(), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read positions of worker %s: %w", worker, err)
	}
	return found, nil
}

// CompletedBy lists at most limit tasks that a worker completed in a window, in the order
// of completion.
func (p Part) CompletedBy(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, in lastmile.Window, limit int) ([]store.Promised, error) {
	return p.promised(ctx, `worker = $2 AND completed IS NOT NULL AND completed >= $3 AND completed < $4 ORDER BY completed, id LIMIT $5`,
		org, worker, in.From.UnixMilli(), in.To.UnixMilli(), int64(limit))
}

// OpenOf lists at most limit tasks that a worker has, the active one first and the others
// in order. It begins with task from, unless that is empty, and returns none if the worker
// does not have that task.
func (p Part) OpenOf(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, from lastmile.TaskID, limit int) ([]store.Promised, error) {
	const position = `CASE WHEN state = 2 THEN 0 ELSE 1 END, COALESCE(rank, 0), id`
	const list = `container_kind = 'WORKER' AND container = $2 AND container IS NOT NULL`
	where, args := list, []any{org, worker, int64(limit)}
	if from != "" {
		where += ` AND (` + position + `) >= (SELECT ` + position + ` FROM task WHERE org = $1 AND id = $4 AND ` + list + `)`
		args = append(args, from)
	}
	return p.promised(ctx, where+` ORDER BY `+position+` LIMIT $3`, args...)
}

func (p Part) promised(ctx context.Context, where string, args ...any) ([]store.Promised, error) {
	scan := func(r engine.Rows) (t store.Promised, err error) {
		var ms *int64
		if err = r.Scan(&t.Task, &ms); ms != nil {
			t.Arrival = time.UnixMilli(*ms).UTC()
		}
		return t, err
	}
	found, err := engine.Collect(ctx, p.c, scan, `SELECT id, promised FROM task WHERE org = $1 AND `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read tasks of a worker: %w", err)
	}
	return found, nil
}

// CreatedIn counts the tasks that were created in a window and not deleted since.
func (p Part) CreatedIn(ctx context.Context, by store.Viewer, in lastmile.Window) (int, error) {
	and, args := visible(by, in)
	return engine.Count(ctx, p.c, `SELECT COUNT(*) FROM task t WHERE t.org = $1 AND t.state IN (0, 1, 2, 3) AND t.created >= $2 AND t.created < $3`+and, args...)
}

// visible returns the condition for tasks t that the caller may see, and the arguments
// of a statement about a window.
func visible(by store.Viewer, in lastmile.Window) (and string, args []any) {
	args = []any{by.Organization, in.From.UnixMilli(), in.To.UnixMilli()}
	if by.Manager == "" {
		return "", args
	}
	return ` AND ` + engine.OwnTask(`$4`), append(args, by.Manager)
}

// The sums of a group of tasks. As in lastmile.TimeWindow, a task is early if it was
// completed before its window, and late if its service began after it. Service begins at
// the arrival, or at the completion if no earlier arrival is known.
var sums = `success, failure, COUNT(*),
	SUM(CASE WHEN completed < complete_after THEN 1 ELSE 0 END),
	SUM(CASE WHEN completed > complete_before AND COALESCE(arrived, completed) > complete_before THEN 1 ELSE 0 END),
	SUM(CASE WHEN complete_after IS NULL AND complete_before IS NULL THEN 0 ELSE 1 END),
	COALESCE(SUM(distance), 0),
	CAST(COALESCE(SUM(CASE WHEN arrived >= started THEN arrived - started END), 0) AS BIGINT),
	CAST(COALESCE(SUM(CASE WHEN completed >= arrived THEN completed - arrived END), 0) AS BIGINT),
	COUNT(rating), CAST(COALESCE(SUM(rating), 0) AS BIGINT),
	COUNT(arrived - promised), SUM(CASE WHEN ABS(arrived - promised) <= ` + strconv.FormatInt(store.CloseArrival.Milliseconds(), 10) + ` THEN 1 ELSE 0 END),
	CAST(COALESCE(SUM(ABS(arrived - promised)), 0) AS BIGINT), CAST(COALESCE(SUM(arrived - promised), 0) AS BIGINT)
	FROM task t WHERE org = $1 AND completed >= $2 AND completed < $3 AND completed IS NOT NULL AND success IS NOT NULL`

// TotalsIn sums up the tasks completed in a window, by outcome.
func (p Part) TotalsIn(ctx context.Context, by store.Viewer, in lastmile.Window) ([]store.Totals, error) {
	return p.totals(ctx, `''`, `success, failure`, by, in)
}

// TotalsByWorker sums up the tasks completed in a window, by worker and outcome. The
// worker is empty for tasks without one.
func (p Part) TotalsByWorker(ctx context.Context, by store.Viewer, in lastmile.Window) ([]store.Totals, error) {
	return p.totals(ctx, `COALESCE(worker, '')`, `worker, success, failure`, by, in)
}

func (p Part) totals(ctx context.Context, worker, groups string, by store.Viewer, in lastmile.Window) ([]store.Totals, error) {
	scan := func(r engine.Rows) (t store.Totals, err error) {
		var (
			success, count, early, late, windows, drive, service, ratings, rated, estimated, near, off, delay int64
			failure                                                                                           *string
			distance                                                                                          float64
		)
		err = r.Scan(&t.Worker, &success, &failure, &count, &early, &late, &windows, &distance, &drive, &service, &ratings, &rated, &estimated, &near, &off, &delay)
		if success != 0 {
			t.Succeeded = int(count)
		} else {
			t.Failed = int(count)
			if failure != nil && *failure != "" {
				t.Failures = map[string]int{*failure: int(count)}
			}
		}
		t.Early, t.Late, t.OnTime = int(early), int(late), int(windows-early-late)
		t.Distance, t.DriveTime, t.ServiceTime = lastmile.Meters(distance), time.Duration(drive)*time.Millisecond, time.Duration(service)*time.Millisecond
		t.Ratings, t.RatingTotal = int(ratings), int(rated)
		t.Estimated, t.Close, t.ArrivalError, t.ArrivalDelay = int(estimated), int(near), time.Duration(off)*time.Millisecond, time.Duration(delay)*time.Millisecond
		return t, err
	}
	and, args := visible(by, in)
	found, err := engine.Collect(ctx, p.c, scan, `SELECT `+worker+`, `+sums+and+` GROUP BY `+groups, args...)
	if err != nil {
		return nil, fmt.Errorf("sum up tasks: %w", err)
	}
	return found, nil
}

// Memberships lists the teams of every worker of an organization.
func (p Part) Memberships(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID][]lastmile.TeamID, error) {
	type member struct {
		worker lastmile.WorkerID
		team   lastmile.TeamID
	}
	scan := func(r engine.Rows) (m member, err error) {
		err = r.Scan(&m.worker, &m.team)
		return m, err
	}
	found, err := engine.Collect(ctx, p.c, scan, `SELECT worker, team FROM team_worker WHERE org = $1`, org)
	if err != nil {
		return nil, fmt.Errorf("read teams of workers: %w", err)
	}
	teams := map[lastmile.WorkerID][]lastmile.TeamID{}
	for _, m := range found {
		teams[m.worker] = append(teams[m.worker], m.team)
	}
	return teams, nil
}
