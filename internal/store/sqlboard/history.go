package sqlboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// FirstEvent returns when the oldest event was stored; zero if there is none.
func (p Part) FirstEvent(ctx context.Context, org lastmile.OrganizationID) (time.Time, error) {
	_, at, err := p.eventFrom(ctx, org, 0)
	return at, err
}

// eventFrom returns the number and time of the first event whose number is at least the
// given one; 0 if there is none.
func (p Part) eventFrom(ctx context.Context, org lastmile.OrganizationID, number int64) (seq int64, stored time.Time, err error) {
	_, err = engine.Collect(ctx, p.c, func(r engine.Rows) (_ int64, err error) {
		var created int64
		err = r.Scan(&seq, &created)
		stored = instant(&created)
		return seq, err
	}, `SELECT seq, created FROM event WHERE org = $1 AND seq IS NOT NULL AND seq >= $2 ORDER BY seq LIMIT 1`, org, number)
	if err != nil {
		return 0, stored, fmt.Errorf("find an event: %w", err)
	}
	return seq, stored, nil
}

// EventBefore returns the number of the last event stored before a time, or the number
// before the oldest stored event if there is none. It is a binary search, because numbers
// and times grow together.
func (p Part) EventBefore(ctx context.Context, org lastmile.OrganizationID, at time.Time) (int64, error) {
	low, _, err := p.eventFrom(ctx, org, 0)
	if err != nil {
		return 0, err
	}
	var head int64
	_, err = engine.Collect(ctx, p.c, func(r engine.Rows) (int64, error) { return 0, r.Scan(&head) }, `SELECT seq FROM event_head WHERE org = $1`, org)
	if err != nil {
		return 0, fmt.Errorf("read number of the last event: %w", err)
	}
	if low == 0 {
		return head, nil
	}
	for high := head + 1; low < high; {
		middle := low + (high-low)/2
		seq, stored, err := p.eventFrom(ctx, org, middle)
		if err != nil {
			return 0, err
		}
		if seq != 0 && stored.Before(at) {
			low = seq + 1
		} else {
			high = middle
		}
	}
	return low - 1, nil
}

// DutyAt returns which workers were on duty at a time. SQLite keeps the order of a CROSS
// JOIN, so that it looks up the last change of each worker instead of reading all changes.
func (p Part) DutyAt(ctx context.Context, org lastmile.OrganizationID, at time.Time) (map[lastmile.WorkerID]bool, error) {
	all := map[lastmile.WorkerID]bool{}
	_, err := engine.Collect(ctx, p.c, func(r engine.Rows) (id lastmile.WorkerID, err error) {
		var on int64
		err = r.Scan(&id, &on)
		all[id] = on != 0
		return id, err
	}, `SELECT w.id, d.on_duty FROM worker w CROSS JOIN duty_change d WHERE w.org = $1 AND d.org = $1 AND d.worker = w.id
		AND d.at = (SELECT MAX(x.at) FROM duty_change x WHERE x.org = $1 AND x.worker = w.id AND x.at < $2)`, org, at.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("read who was on duty: %w", err)
	}
	return all, nil
}

// MovesAt returns the latest position of each worker before a time, read like DutyAt.
func (p Part) MovesAt(ctx context.Context, org lastmile.OrganizationID, at time.Time) (map[lastmile.WorkerID]lastmile.Position, error) {
	found, err := engine.Collect(ctx, p.c, scanMove, `SELECT w.id, p.at, p.lon, p.lat, p.accuracy, p.speed, p.heading
		FROM worker w CROSS JOIN position p WHERE w.org = $1 AND p.org = $1 AND p.worker = w.id
		AND p.at = (SELECT MAX(x.at) FROM position x WHERE x.org = $1 AND x.worker = w.id AND x.at < $2)`, org, at.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("read where workers were: %w", err)
	}
	all := make(map[lastmile.WorkerID]lastmile.Position, len(found))
	for _, m := range found {
		all[m.Worker] = m.Position
	}
	return all, nil
}

func scanMove(r engine.Rows) (m board.Moved, err error) {
	var at int64
	err = r.Scan(&m.Worker, &at, &m.Location.Lon, &m.Location.Lat, &m.Accuracy, &m.Speed, &m.Heading)
	m.At = instant(&at)
	m.Seen = m.At
	return m, err
}

// MovesIn returns positions of workers in a window, at least a step apart for each worker.
func (p Part) MovesIn(ctx context.Context, org lastmile.OrganizationID, workers []lastmile.WorkerID, in lastmile.Window, step time.Duration) (all []board.Moved, err error) {
	for _, id := range workers {
		if all, err = p.movesOf(ctx, org, id, in, step, all); err != nil {
			return nil, fmt.Errorf("read where workers were: %w", err)
		}
	}
	return all, nil
}

// moveBytes is the approximate size of a position in memory and in a response.
const moveBytes = 400

func (p Part) movesOf(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, in lastmile.Window, step time.Duration, all []board.Moved) ([]board.Moved, error) {
	meter := lastmile.MeterOf(ctx)
	// Only the positions that are returned are counted.
	rows, err := p.c.Query(lastmile.WithMeter(ctx, nil), `SELECT worker, at, lon, lat, accuracy, speed, heading FROM position WHERE org = $1 AND worker = $2 AND at >= $3 AND at < $4 ORDER BY at`,
		org, worker, in.From.UnixMilli(), in.To.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var last time.Time
	for rows.Next() {
		m, err := scanMove(rows)
		if err != nil {
			return nil, err
		}
		if m.At.Sub(last) < step {
			continue
		}
		if meter != nil {
			if err := meter.Count(moveBytes); err != nil {
				return nil, err
			}
		}
		all, last = append(all, m), m.At
	}
	return all, rows.Err()
}

// pastDoc is the part of an event about a task that is read.
type pastDoc struct {
	Time int64 `json:"time"`
	Data struct {
		Task *struct {
			taskDoc
			Destination             destinationDoc `json:"destination"`
			Recipients              []recipientDoc `json:"recipients"`
			EstimatedArrivalTime    *int64         `json:"estimatedArrivalTime"`
			EstimatedCompletionTime *int64         `json:"estimatedCompletionTime"`
			ETA                     *wire.Seconds  `json:"eta"`
			DelayTime               *wire.Seconds  `json:"delayTime"`
		} `json:"task"`
		Worker *struct {
			Tasks encodedList `json:"tasks"`
		} `json:"worker"`
	} `json:"data"`
}

// task returns the task as the event shows it, without the list of its worker.
func (doc pastDoc) task() (t board.PastTask, known bool) {
	of := doc.Data.Task
	if of == nil {
		return t, false
	}
	var recipient recipientDoc
	if len(of.Recipients) > 0 {
		recipient = of.Recipients[0]
	}
	t.Task, t.At = of.taskDoc.task(of.Destination, recipient), instant(&doc.Time)
	t.Estimates = lastmile.Estimates{
		Arrival: instant(of.EstimatedArrivalTime), Completion: instant(of.EstimatedCompletionTime), ETA: (*time.Duration)(of.ETA), Delay: (*time.Duration)(of.DelayTime),
	}
	return t, true
}

// shownLists has the list of each worker as the latest event read so far shows it. Every
// event of a worker contains the list, which may be long, but only the latest is needed.
type shownLists map[lastmile.WorkerID]shownList

type shownList struct {
	at   time.Time
	list encodedList
}

// encodedList is a list that is decoded only if it is needed.
type encodedList []byte

// UnmarshalJSON implements json.Unmarshaler.
func (l *encodedList) UnmarshalJSON(text []byte) error {
	*l = slices.Clone(text)
	return nil
}

// add adds the list of the worker of a task.
func (shown shownLists) add(t board.PastTask, doc pastDoc) {
	if doc.Data.Worker != nil && !t.At.Before(shown[t.Worker].at) {
		shown[t.Worker] = shownList{t.At, doc.Data.Worker.Tasks}
	}
}

// attach sets the list of each worker in one of the worker's tasks.
func (shown shownLists) attach(tasks []board.PastTask) error {
	for i := range tasks {
		t := &tasks[i]
		latest := shown[t.Worker]
		if latest.list == nil || !t.At.Equal(latest.at) {
			continue
		}
		delete(shown, t.Worker)
		if err := wire.Unmarshal(latest.list, &t.List); err != nil {
			return fmt.Errorf("decode the list of worker %s: %w", t.Worker, err)
		}
	}
	return nil
}

// lastBody selects the last event of a task up to the number $2. The plus keeps SQLite from
// reading all events up to that number for each task.
func lastBody(task string) string {
	return `(SELECT e.body FROM event e WHERE e.org = $1 AND e.task = ` + task + ` AND e.task IS NOT NULL AND +e.seq <= $2 ORDER BY e.created DESC, e.task_sequence DESC LIMIT 1)`
}

// pastTasks are the queries for the tasks that were not completed at the time $3, each
// with its last event until then: those that are open, those that were completed since,
// and those that were deleted since, with the event of the deletion.
var pastTasks = []string{
	`SELECT t.id, ` + lastBody(`t.id`) + `, NULL FROM task t WHERE t.org = $1 AND t.state IN (0, 1, 2) AND t.created < $3 LIMIT $4`,
	`SELECT t.id, ` + lastBody(`t.id`) + `, NULL FROM task t WHERE t.org = $1 AND t.completed IS NOT NULL AND t.completed >= $3 AND t.created < $3 LIMIT $4`,
	`SELECT t.id, ` + lastBody(`t.id`) + `, NULL FROM task t WHERE t.origin = $1 AND t.state IN (0, 1, 2) AND t.created < $3 LIMIT $4`,
	`SELECT t.id, ` + lastBody(`t.id`) + `, NULL FROM task t WHERE t.origin = $1 AND t.completed IS NOT NULL AND t.completed >= $3 AND t.created < $3 LIMIT $4`,
	`SELECT d.task, ` + lastBody(`d.task`) + `, d.body FROM event d WHERE d.org = $1 AND d.trigger_id = 8 AND d.created >= $3 AND d.seq > $2 AND d.task IS NOT NULL LIMIT $4`,
}

// PastTasks lists at most limit tasks that were not completed at a time, each as its last
// event up to number seq shows it. A task without such an event is returned as it is now
// if it has no later event either, and as unassigned otherwise.
func (p Part) PastTasks(ctx context.Context, org lastmile.OrganizationID, seq int64, at time.Time, limit int) (all []board.PastTask, err error) {
	var unlogged []lastmile.TaskID
	shown := shownLists{}
	for _, query := range pastTasks {
		found, missing, err := p.pastTasks(ctx, shown, query, org, seq, at.UnixMilli(), int64(limit-len(all)))
		if err != nil {
			return nil, fmt.Errorf("read tasks of the past: %w", err)
		}
		all, unlogged = append(all, found...), append(unlogged, missing...)
	}
	all = slices.DeleteFunc(all, func(t board.PastTask) bool { return !t.Created.Before(at) })
	if err := shown.attach(all); err != nil {
		return nil, err
	}
	tasks, err := p.unlogged(ctx, org, unlogged[:min(len(unlogged), limit-len(all))])
	for _, t := range tasks {
		all = append(all, board.PastTask{Task: t})
	}
	return all, err
}

func (p Part) pastTasks(ctx context.Context, shown shownLists, query string, args ...any) (found []board.PastTask, missing []lastmile.TaskID, err error) {
	meter := lastmile.MeterOf(ctx)
	// Only the memory that a task takes is counted, not the size of its event.
	rows, err := p.c.Query(lastmile.WithMeter(ctx, nil), query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id             lastmile.TaskID
			body, deletion engine.Raw
			doc            pastDoc
		)
		if err := rows.Scan(&id, &body, &deletion); err != nil {
			return nil, nil, err
		}
		unlogged := body == nil
		if unlogged && deletion == nil {
			missing = append(missing, id)
			continue
		}
		if unlogged {
			body = deletion
		}
		if err := wire.Unmarshal(body, &doc); err != nil {
			return nil, nil, fmt.Errorf("decode event of task %s: %w", id, err)
		}
		task, known := doc.task()
		if unlogged {
			task, doc.Data.Worker = board.PastTask{Task: asCreated(task.Task)}, nil
		}
		if !known {
			continue
		}
		if err := count(meter, task.Task); err != nil {
			return nil, nil, err
		}
		shown.add(task, doc)
		found = append(found, task)
	}
	return found, missing, rows.Err()
}

// UnloggedTasks lists at most limit tasks that were created in a window without an event,
// in the same way as PastTasks.
func (p Part) UnloggedTasks(ctx context.Context, org lastmile.OrganizationID, in lastmile.Window, limit int) ([]board.Task, error) {
	const query = ` = $1 AND t.state IN (0, 1, 2, 3) AND t.created >= $2 AND t.created < $3
		AND NOT EXISTS (SELECT 1 FROM event e WHERE e.org = $1 AND e.task = t.id AND e.task IS NOT NULL AND e.trigger_id IN (6, 13)) LIMIT $4`
	var ids []lastmile.TaskID
	for _, owner := range []string{`t.org`, `t.origin`} {
		found, err := engine.Collect(ctx, p.c, func(r engine.Rows) (id lastmile.TaskID, err error) {
			err = r.Scan(&id)
			return id, err
		}, `SELECT t.id FROM task t WHERE `+owner+query, org, in.From.UnixMilli(), in.To.UnixMilli(), int64(limit-len(ids)))
		if err != nil {
			return nil, fmt.Errorf("read tasks without events: %w", err)
		}
		ids = append(ids, found...)
	}
	return p.unlogged(ctx, org, ids)
}

// unloggedAtOnce is the maximum number of tasks that one statement reads.
const unloggedAtOnce = 200

// unlogged reads tasks whose creation has no event: as they are now if they have no later
// event either, and as unassigned otherwise.
func (p Part) unlogged(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) (all []board.Task, err error) {
	for chunk := range slices.Chunk(ids, unloggedAtOnce) {
		args, places := []any{org}, make([]string, len(chunk))
		for i, id := range chunk {
			args = append(args, id)
			places[i] = `$` + strconv.Itoa(len(args))
		}
		in := `(` + strings.Join(places, `, `) + `)`
		tasks, err := p.readTasks(ctx, org, `task t`, `(t.org = $1 OR t.origin = $1) AND t.id IN `+in, args...)
		later, more := engine.Collect(ctx, p.c, func(r engine.Rows) (id lastmile.TaskID, err error) {
			err = r.Scan(&id)
			return id, err
		}, `SELECT DISTINCT e.task FROM event e WHERE e.org = $1 AND e.task IN `+in+` AND e.task IS NOT NULL`, args...)
		if err := errors.Join(err, more); err != nil {
			return nil, fmt.Errorf("read tasks without events: %w", err)
		}
		for _, t := range tasks {
			if slices.Contains(later, t.ID) {
				t = asCreated(t)
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// asCreated returns a task as if it were new and unassigned.
func asCreated(t board.Task) board.Task {
	t.State, t.Worker, t.Pin, t.Estimates, t.Container = lastmile.TaskUnassigned, "", "", lastmile.Estimates{}, lastmile.ContainerRef{Kind: lastmile.InOrganization}
	t.Started, t.Completed, t.Success, t.FailureReason, t.Modified = time.Time{}, time.Time{}, false, "", t.Created
	return t
}
