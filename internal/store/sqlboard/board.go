package sqlboard

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// Part is a part of a transaction, with the statements of this package.
type Part struct{ c engine.Conn }

// New returns the part of the transaction with a connection.
func New(c engine.Conn) Part { return Part{c} }

// CheckTeam returns an error if the organization does not have a team.
func (p Part) CheckTeam(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) error {
	found, err := engine.Exists(ctx, p.c, `SELECT 1 FROM team WHERE org = $1 AND id = $2`, org, id)
	switch {
	case err != nil:
		return fmt.Errorf("look for team %s: %w", id, err)
	case !found:
		return engine.Missing(ctx, p.c, `team`, string(id))
	}
	return nil
}

// BoardVersions returns the versions of an organization's lists, without lists that have
// never changed.
func (p Part) BoardVersions(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.ContainerRef]int64, error) {
	versions, err := engine.Index(ctx, p.c, func(r engine.Rows) (of lastmile.ContainerRef, version int64, err error) {
		err = r.Scan(&of.Kind, &of.Owner, &version)
		return of, version, err
	}, `SELECT kind, owner, version FROM container WHERE org = $1`, org)
	if err != nil {
		return nil, fmt.Errorf("read versions of containers: %w", err)
	}
	return versions, nil
}

// LastMoves returns when each located worker was last located, with the accuracy, speed
// and heading.
func (p Part) LastMoves(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID]lastmile.Position, error) {
	moves, err := engine.Index(ctx, p.c, func(r engine.Rows) (id lastmile.WorkerID, at lastmile.Position, err error) {
		var time int64
		err = r.Scan(&id, &time, &at.Accuracy, &at.Speed, &at.Heading)
		at.At = instant(&time)
		return id, at, err
	}, `SELECT w.id, p.at, p.accuracy, p.speed, p.heading FROM worker w JOIN position p ON p.org = $1 AND p.worker = w.id AND p.at = w.located
		WHERE w.org = $1 AND w.located IS NOT NULL`, org)
	if err != nil {
		return nil, fmt.Errorf("read the latest positions: %w", err)
	}
	return moves, nil
}

// Schedules returns the schedules of all workers.
func (p Part) Schedules(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID]lastmile.Schedule, error) {
	all, err := engine.Index(ctx, p.c, func(r engine.Rows) (id lastmile.WorkerID, s lastmile.Schedule, err error) {
		var (
			doc  []byte
			form wire.Schedule
		)
		if err = r.Scan(&id, &doc); err == nil {
			err = wire.Unmarshal(doc, &form)
		}
		return id, form.Domain(), err
	}, `SELECT worker, doc FROM worker_schedule WHERE org = $1`, org)
	if err != nil {
		return nil, fmt.Errorf("read schedules: %w", err)
	}
	return all, nil
}

// BoardTasks lists the tasks of a day that an organization has or placed with others, up
// to limit, and reports whether there are more. If there are, open tasks come before
// others, the organization's own before those that it placed, and those whose windows end
// first.
func (p Part) BoardTasks(ctx context.Context, org lastmile.OrganizationID, f board.Filter, limit int) (all []board.Task, more bool, err error) {
	owners := []string{`t.org`}
	placed, err := engine.Exists(ctx, p.c, `SELECT 1 FROM task t WHERE t.origin = $1 LIMIT 1`, org)
	if err != nil {
		return nil, false, fmt.Errorf("look for tasks of connections: %w", err)
	}
	if placed {
		owners = append(owners, `t.origin`)
	}
	all, err = p.dayTasks(ctx, org, f, owners, false, limit+1)
	if more = len(all) > limit; more {
		// These tasks take the place of the first ones, which have been counted.
		all, err = p.dayTasks(lastmile.WithMeter(ctx, replacing(all, lastmile.MeterOf(ctx))), org, f, owners, true, limit)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the tasks of the board: %w", err)
	}
	return all, more, nil
}

// dayTasks lists at most limit tasks of a day, open ones before others. If sorted is set,
// those of the earliest windows are read.
func (p Part) dayTasks(ctx context.Context, org lastmile.OrganizationID, f board.Filter, owners []string, sorted bool, limit int) (all []board.Task, err error) {
	due := f.Day
	if f.Overdue {
		due.From = time.UnixMilli(0)
	}
	for i, condition := range []string{open, done} {
		for _, owner := range owners {
			if len(all) == limit {
				return all, nil
			}
			found, err := p.tasks(ctx, org, f, []lastmile.Window{due, f.Day}[i], owner+` = $1 AND `+condition, sorted, limit-len(all))
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// The tasks of a day, from $2 until $3: open ones that have no window or one that overlaps
// the day, and those completed on it.
const (
	open = `t.state IN (0, 1, 2) AND (t.complete_after IS NULL OR t.complete_after < $3) AND (t.complete_before IS NULL OR t.complete_before >= $2)`
	done = `t.completed IS NOT NULL AND t.completed >= $2 AND t.completed < $3`
)

func (p Part) tasks(ctx context.Context, org lastmile.OrganizationID, f board.Filter, in lastmile.Window, where string, sorted bool, limit int) ([]board.Task, error) {
	args := []any{org, in.From.UnixMilli(), in.To.UnixMilli()}
	if f.Manager != "" {
		args = append(args, f.Manager)
		where += ` AND ` + engine.OwnTask(`$`+strconv.Itoa(len(args)))
	}
	if len(f.Teams) > 0 {
		places := make([]string, len(f.Teams))
		for i, id := range f.Teams {
			args = append(args, id)
			places[i] = `$` + strconv.Itoa(len(args))
		}
		teams := `(` + strings.Join(places, `, `) + `)`
		where += ` AND ((t.org <> $1 OR t.container_kind = 'ORGANIZATION' OR t.container IN ` + teams + `
			OR t.worker IN (SELECT tw.worker FROM team_worker tw WHERE tw.org = $1 AND tw.team IN ` + teams + `)) IS TRUE)`
	}
	args = append(args, limit)
	tail := ` LIMIT $` + strconv.Itoa(len(args))
	if !sorted {
		return p.readTasks(ctx, org, `task t`, where+tail, args...)
	}
	// SQLite sorts in memory, so only ids are sorted.
	first := `(SELECT t.org, t.id FROM task t WHERE ` + where + ` ORDER BY COALESCE(t.complete_before, t.completed, t.complete_after, t.created), t.id` + tail + `) AS f`
	return p.readTasks(ctx, org, first+` JOIN task t ON t.org = f.org AND t.id = f.id`, `TRUE`, args...)
}

// readTasks reads tasks t as the board of an organization shows them.
func (p Part) readTasks(ctx context.Context, org lastmile.OrganizationID, from, where string, args ...any) ([]board.Task, error) {
	query := `SELECT t.org, t.doc, t.arrival, t.completion, t.eta, t.delay, t.pin, d.doc, r.doc FROM ` + from + `
		JOIN destination d ON d.org = t.org AND d.id = t.destination
		LEFT JOIN recipient r ON r.org = COALESCE(t.origin, t.org) AND r.id = t.recipient WHERE `
	meter := lastmile.MeterOf(ctx)
	// Only the memory that a task takes is counted, not the size of the stored documents.
	rows, err := p.c.Query(lastmile.WithMeter(ctx, nil), query+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	d := newDecoder(org, meter)
	for rows.Next() {
		var row taskRow
		if err := rows.Scan(&row.org, &row.doc, &row.arrival, &row.completion, &row.eta, &row.delay, &row.pin, &row.destination, &row.recipient); err != nil {
			return nil, errors.Join(err, d.abort())
		}
		if !d.add(row) {
			break
		}
	}
	all, err := d.end()
	return all, errors.Join(err, rows.Err())
}

// instant returns a stored time; the zero time for null.
func instant(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}

// duration converts a stored number of milliseconds; null is nil.
func duration(ms *int64) *time.Duration {
	if ms == nil {
		return nil
	}
	return new(time.Duration(*ms) * time.Millisecond)
}
