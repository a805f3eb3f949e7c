package sqlaudit

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"dray/internal/audit"
	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// FirstTaskEvent returns the oldest stored event of a task, without its body; nil if there
// is none.
func (p Part) FirstTaskEvent(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID) (*audit.TaskEvent, error) {
	found, err := engine.Collect(ctx, p.c, func(r engine.Rows) (e audit.TaskEvent, err error) {
		var at, trigger int64
		err = r.Scan(&e.Event, &trigger, &at, &e.Sequence)
		e.Trigger, e.At = lastmile.Trigger(trigger), time.UnixMilli(at).UTC()
		return e, err
	}, `SELECT id, trigger_id, created, task_sequence FROM event WHERE org = $1 AND task = $2 AND task IS NOT NULL ORDER BY created, task_sequence LIMIT 1`, org, task)
	if err != nil {
		return nil, fmt.Errorf("read the first event of task %s: %w", task, err)
	}
	if len(found) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	return &found[0], nil
}

// TaskEvents returns events of a task after a position, newest first: up to limit, and at
// least two, but then not more than the given number of bytes. It reports whether there
// are more.
func (p Part) TaskEvents(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, after audit.Mark, limit, bytes int) (all []audit.TaskEvent, more bool, err error) {
	rows, err := p.c.Query(ctx, `SELECT id, trigger_id, created, task_sequence, body FROM event
		WHERE org = $1 AND task = $2 AND task IS NOT NULL AND (created, task_sequence) < ($3, $4)
		ORDER BY created DESC, task_sequence DESC LIMIT `+strconv.Itoa(limit+1), org, task, after.At.UnixMilli(), after.Sequence)
	if err != nil {
		return nil, false, fmt.Errorf("read the events of task %s: %w", task, err)
	}
	defer rows.Close()
	for size := 0; rows.Next(); {
		if len(all) == limit || len(all) >= 2 && size >= bytes {
			return all, true, nil
		}
		var (
			e           audit.TaskEvent
			at, trigger int64
		)
		if err := rows.Scan(&e.Event, &trigger, &at, &e.Sequence, &e.Body); err != nil {
			return nil, false, fmt.Errorf("read the events of task %s: %w", task, err)
		}
		e.Trigger, e.At = lastmile.Trigger(trigger), time.UnixMilli(at).UTC()
		all, size = append(all, e), size+len(e.Body)
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("read the events of task %s: %w", task, err)
	}
	return all, false, nil
}

// TaskRequests returns at most limit requests that changed a task before a position, newest
// first, without those after a time that events report as well.
func (p Part) TaskRequests(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, after audit.Mark, reported time.Time, limit int) ([]audit.Entry, error) {
	since := int64(math.MinInt64)
	if !reported.IsZero() {
		since = reported.UnixMilli()
	}
	const where = `t.org = $1 AND t.record <> '' AND t.record = $2 AND (t.at, t.id) < ($3, $4) AND t.status < 400
		AND NOT (t.method = 'POST' AND t.route = '/tasks')
		AND NOT (t.at >= $5 AND (t.route = '/tasks/{id}' OR t.route = '/tasks/{id}/complete'))`
	return p.entries(ctx, org, where, newestFirst, limit, []any{org, task, after.At.UnixMilli(), after.ID, since})
}

// HistoryMark returns the position of an event of a task or of a request about it.
func (p Part) HistoryMark(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, id string) (audit.Mark, error) {
	found, err := engine.Collect(ctx, p.c, func(r engine.Rows) (m audit.Mark, err error) {
		var at int64
		err = r.Scan(&at, &m.Sequence, &m.ID)
		m.At = time.UnixMilli(at).UTC()
		return m, err
	}, `SELECT created, task_sequence, '' FROM event WHERE org = $1 AND id = $2 AND task = $3
		UNION ALL SELECT at, `+strconv.FormatInt(math.MaxInt64, 10)+`, id FROM audit WHERE org = $1 AND id = $2 AND record = $3`, org, id, task)
	if err != nil {
		return audit.Mark{}, fmt.Errorf("find an entry in the history of task %s: %w", task, err)
	}
	if len(found) == 0 {
		return audit.Mark{}, lastmile.NotFound("history entry", lastmile.Truncate(id, 64))
	}
	return found[0], nil
}
