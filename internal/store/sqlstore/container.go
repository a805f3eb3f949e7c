package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// Queries of a container: its last change, its active task, the first tasks of its list,
// and all of its tasks.
const (
	selectContainer = `SELECT modified, version FROM container WHERE org = $1 AND kind = $2 AND owner = $3`
	selectActive    = `SELECT id` + inContainer + ` AND rank IS NULL AND state = 2`
	selectListed    = `SELECT id` + ranked + ` ORDER BY rank, id`
	selectQueue     = `SELECT container, id, state FROM task WHERE container IS NOT NULL AND org = $1 AND container_kind = $2 AND container = $3 ORDER BY container, rank, id`
)

// selectOwners are the queries for the creation times of the owners of containers.
var selectOwners = map[lastmile.ContainerKind]string{
	lastmile.InWorker: `SELECT created FROM worker WHERE org = $1 AND id = $2`,
	lastmile.InTeam:   `SELECT created FROM team WHERE org = $1 AND id = $2`,
}

// ExpectContainer announces that a container will be read, with its owner and with
// Unplaced, and also the first most tasks of its list, unless most is 0. A whole list is
// not announced, because the results of announced queries are held in memory. They must
// all be read before anything is written.
func (t containerTx) ExpectContainer(org lastmile.OrganizationID, in lastmile.ContainerRef, most int) {
	if owner := selectOwners[in.Kind]; owner != "" {
		t.ahead(owner, org, in.Owner)
	}
	t.ahead(selectContainer, org, in.Kind, in.Owner)
	t.ahead(selectLastRank, org, in.Kind, in.Owner)
	if most > 0 {
		t.expectHead(org, in, most)
	}
}

// Container returns a container. The caller checks that its owner belongs to
// the organization.
func (t containerTx) Container(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (lastmile.Container, error) {
	c, err := t.unlisted(ctx, org, in)
	if err != nil {
		return c, err
	}
	queues, err := t.queues(ctx, selectQueue, org, in.Kind, in.Owner)
	c.ActiveTask, c.Tasks = queues[in.Owner].active, queues[in.Owner].tasks
	return c, err
}

// ContainerHead returns a container with only the first most tasks of its list. The
// caller checks that its owner belongs to the organization.
func (t containerTx) ContainerHead(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, most int) (lastmile.Container, error) {
	c, err := t.unlisted(ctx, org, in)
	if err != nil {
		return c, err
	}
	q, err := t.headOf(ctx, org, in, most)
	c.ActiveTask, c.Tasks = q.active, q.tasks
	return c, err
}

// unlisted returns a container without its tasks.
func (t containerTx) unlisted(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (lastmile.Container, error) {
	c := lastmile.Container{ContainerRef: in, Organization: org}
	var modified int64
	err := t.row(ctx, selectContainer, org, in.Kind, in.Owner).Scan(&modified, &c.Version)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return c, fmt.Errorf("read container of %s: %w", in.Owner, err)
	}
	if modified != 0 {
		c.Modified = time.UnixMilli(modified).UTC()
	}
	return c, nil
}

// ListVersions returns the versions of workers' containers, without those that
// never changed.
func (t containerTx) ListVersions(ctx context.Context, org lastmile.OrganizationID, workers []lastmile.WorkerID) (map[lastmile.WorkerID]int64, error) {
	versions := make(map[lastmile.WorkerID]int64, len(workers))
	for chunk := range slices.Chunk(workers, 200) {
		where := within(org)
		in(where, `t.owner`, chunk)
		_, err := collect(ctx, t, func(r rows) (version int64, err error) {
			var worker lastmile.WorkerID
			err = r.Scan(&worker, &version)
			versions[worker] = version
			return version, err
		}, `SELECT t.owner, t.version FROM container t WHERE `+where.text+` AND t.kind = 'WORKER'`, where.args...)
		if err != nil {
			return nil, fmt.Errorf("read versions of containers: %w", err)
		}
	}
	return versions, nil
}

// queue is the list of a container and its active task, which is not in the list.
type queue struct {
	active lastmile.TaskID
	tasks  []lastmile.TaskID
}

// queues reads containers by their owners. Its queries need only the index that orders
// tasks in containers.
func (t containerTx) queues(ctx context.Context, query string, args ...any) (map[string]queue, error) {
	found, err := t.query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read containers: %w", err)
	}
	defer found.Close()
	var (
		queues = map[string]queue{}
		of     string // owner of q
		q      queue
	)
	for found.Next() {
		var (
			owner engine.Raw
			id    string
			state int64
		)
		if err := found.Scan(&owner, &id, &state); err != nil {
			return nil, fmt.Errorf("read containers: %w", err)
		}
		if string(owner) != of {
			queues[of] = q
			of, q = string(owner), queue{}
		}
		if lastmile.TaskState(state) == lastmile.TaskActive {
			q.active = lastmile.TaskID(id)
		} else {
			q.tasks = append(q.tasks, lastmile.TaskID(id))
		}
	}
	queues[of] = q
	return queues, found.Err()
}

// expectHead announces what headOf reads.
func (t containerTx) expectHead(org lastmile.OrganizationID, in lastmile.ContainerRef, most int) {
	t.ahead(selectActive, org, in.Kind, in.Owner)
	t.ahead(selectListed+limit(most), org, in.Kind, in.Owner)
}

// headOf reads the active task of a container and the first most tasks of its list.
func (t containerTx) headOf(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, most int) (q queue, err error) {
	err = t.row(ctx, selectActive, org, in.Kind, in.Owner).Scan(&q.active)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return q, fmt.Errorf("read the active task of the container of %s: %w", in.Owner, err)
	}
	q.tasks, err = t.ListHead(ctx, org, in, most)
	return q, err
}

// ListHead returns the first most tasks of the list of a container.
func (t containerTx) ListHead(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, most int) ([]lastmile.TaskID, error) {
	return t.taskIDs(ctx, selectListed+limit(most), org, in.Kind, in.Owner)
}

// StillListed returns the given tasks that are in the list of a container, in the given
// order.
func (t containerTx) StillListed(ctx context.Context, org lastmile.OrganizationID, list lastmile.ContainerRef, ids []lastmile.TaskID) ([]lastmile.TaskID, error) {
	listed := map[lastmile.TaskID]bool{}
	for chunk := range slices.Chunk(ids, 200) {
		where := within(org).and(`t.container_kind = ?`, list.Kind).and(`t.container = ?`, list.Owner)
		in(where, `t.id`, chunk)
		found, err := t.taskIDs(ctx, `SELECT t.id FROM task t WHERE `+where.text+` AND t.rank IS NOT NULL`, where.args...)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			listed[id] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id lastmile.TaskID) bool { return !listed[id] }), nil
}

// queuesOf reads the containers of all workers or teams, or of one.
func (t containerTx) queuesOf(ctx context.Context, org lastmile.OrganizationID, kind lastmile.ContainerKind, one bool, owner string) (map[string]queue, error) {
	if one {
		return t.queues(ctx, selectQueue, org, kind, owner)
	}
	return t.queues(ctx, `SELECT container, id, state FROM task WHERE container IS NOT NULL AND org = $1 AND container_kind = $2 ORDER BY container, rank, id`, org, kind)
}

// Containers lists the containers that have ever changed, in no particular order.
func (t containerTx) Containers(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.ContainerRef, error) {
	found, err := collect(ctx, t, func(r rows) (c lastmile.ContainerRef, err error) {
		err = r.Scan(&c.Kind, &c.Owner)
		return c, err
	}, `SELECT kind, owner FROM container WHERE org = $1`, org)
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	return found, nil
}

// queuesQuery reads the tasks of workers on duty. CROSS JOIN makes SQLite begin with the
// workers, and not with all tasks of the organization. Queues sorts the tasks, because
// SQLite would hold those of all workers in memory to sort them. Only an active task has
// no rank.
const queuesQuery = `
	SELECT t.container, t.state, COALESCE(t.rank, 0), t.id, t.lon, t.lat, t.quantity, t.quantity_a, t.quantity_b, t.quantity_c
	FROM worker w CROSS JOIN task t
	WHERE w.org = $1 AND w.on_duty = 1
		AND t.org = $1 AND t.container_kind = 'WORKER' AND t.container = w.id AND t.container IS NOT NULL`

// Queues returns the unfinished tasks of workers on duty, the active task
// first.
func (t containerTx) Queues(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID][]assignment.QueuedTask, error) {
	type placed struct {
		assignment.QueuedTask
		state, rank int64
	}
	found, err := t.query(ctx, queuesQuery, org)
	if err != nil {
		return nil, fmt.Errorf("read queues: %w", err)
	}
	defer found.Close()
	unsorted := map[lastmile.WorkerID][]placed{}
	for found.Next() {
		var (
			worker lastmile.WorkerID
			q      placed
			more   = &q.AdditionalQuantities
		)
		if err := found.Scan(&worker, &q.state, &q.rank, &q.ID, &q.Location.Lon, &q.Location.Lat, &q.Quantity, &more.A, &more.B, &more.C); err != nil {
			return nil, fmt.Errorf("read queues: %w", err)
		}
		unsorted[worker] = append(unsorted[worker], q)
	}
	queues := make(map[lastmile.WorkerID][]assignment.QueuedTask, len(unsorted))
	for worker, tasks := range unsorted {
		slices.SortFunc(tasks, func(a, b placed) int {
			return cmp.Or(cmp.Compare(b.state, a.state), cmp.Compare(a.rank, b.rank), cmp.Compare(a.ID, b.ID))
		})
		queue := make([]assignment.QueuedTask, len(tasks))
		for i, task := range tasks {
			queue[i] = task.QueuedTask
		}
		queues[worker] = queue
		delete(unsorted, worker) // frees the memory of a long list
	}
	return queues, found.Err()
}

// Owner returns when the worker or team that owns a container was created, and an error
// if the organization does not have it.
func (t containerTx) Owner(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (time.Time, error) {
	var created int64
	switch err := t.row(ctx, selectOwners[in.Kind], org, in.Owner).Scan(&created); {
	case errors.Is(err, sql.ErrNoRows):
		kind := store.Workers
		if in.Kind == lastmile.InTeam {
			kind = store.Teams
		}
		return time.Time{}, t.missing(ctx, kind, in.Owner)
	case err != nil:
		return time.Time{}, fmt.Errorf("look for the owner of a container: %w", err)
	}
	return time.UnixMilli(created).UTC(), nil
}

// LockContainer serializes the writers of a container until the transaction
// ends. If now is before the last modification, because another transaction was
// faster or the clock was set back, the modification time is a millisecond later.
func (t containerTx) LockContainer(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error {
	const query = `
		INSERT INTO container (org, kind, owner, modified, version) VALUES ($1, $2, $3, $4, 1)
		ON CONFLICT (org, kind, owner) DO UPDATE SET version = container.version + 1,
			modified = CASE WHEN excluded.modified < container.modified THEN container.modified + 1 ELSE excluded.modified END`
	if err := t.send(ctx, query, org, in.Kind, in.Owner, now.UnixMilli()); err != nil {
		return fmt.Errorf("lock container of %s: %w", in.Owner, err)
	}
	return t.noteChange(ctx, org, in, now)
}

// lastNote is the number of the last note of this process. It makes numbers unique.
var lastNote atomic.Int64

// noteChange records, for the log of lists, that the list of a worker or a team changes.
// The number of the note is the time and random bits, so that nodes choose different
// numbers without reading rows that transactions could conflict over.
func (t containerTx) noteChange(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error {
	if in.Kind == lastmile.InOrganization {
		return nil
	}
	const bits = 21
	id := now.UnixMilli()<<bits | rand.Int64N(1<<bits)
	for last := lastNote.Load(); ; last = lastNote.Load() {
		id = max(id, last+1)
		if lastNote.CompareAndSwap(last, id) {
			break
		}
	}
	const query = `INSERT INTO changed_list (org, kind, owner, id) VALUES ($1, $2, $3, $4)`
	if err := t.send(ctx, query, org, in.Kind, in.Owner, id); err != nil {
		return fmt.Errorf("note a change of the list of %s: %w", in.Owner, err)
	}
	return nil
}

// MoveTasks inserts tasks at a position of the list of a container, in order, after
// removing them from their former positions. moved are those that come from another
// container; they are saved as well, and their dependencies and metadata must not have
// changed. It returns store.ErrMoved if the task of the position is not in the list.
func (t containerTx) MoveTasks(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, at store.Position, tasks []lastmile.TaskID, moved []lastmile.Task, now time.Time) error {
	if len(tasks) == 0 {
		return nil
	}
	arrived := make(map[lastmile.TaskID]lastmile.Task, len(moved))
	for _, task := range moved {
		arrived[task.ID] = task
	}
	stayed := slices.DeleteFunc(slices.Clone(tasks), func(id lastmile.TaskID) bool { return arrived[id].ID != "" })
	if err := t.clearRanks(ctx, org, stayed); err != nil {
		return err
	}
	ranks, err := t.ranksAt(ctx, org, in, at, len(tasks), now)
	if err != nil {
		return err
	}
	for i, id := range tasks {
		if task, ok := arrived[id]; ok {
			err = taskTx(t).move(ctx, task, ranks[i])
		} else {
			err = t.setRanks(ctx, org, tasks[i:i+1], ranks[i:i+1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ranksAt returns ranks for n tasks at a position of the list of a container.
func (t containerTx) ranksAt(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, at store.Position, n int, now time.Time) ([]int64, error) {
	if at == (store.Position{}) && in.Kind != lastmile.InOrganization {
		first, err := t.claimEnd(ctx, org, in, n, now)
		return inSteps(first, rankStep, n), err
	}
	before, after, err := t.neighbours(ctx, org, in, at)
	if err != nil {
		return nil, err
	}
	if max(rankOf(before), rankOf(after)) >= unplaced {
		if err := t.PlaceTasks(ctx, org, in, now); err != nil {
			return nil, err
		}
		if before, after, err = t.neighbours(ctx, org, in, at); err != nil {
			return nil, err
		}
	}
	if after == nil && in.Kind != lastmile.InOrganization { // after the last task
		first, err := t.claimEnd(ctx, org, in, n, now)
		return inSteps(first, rankStep, n), err
	}
	ranks, fits := between(before, after, n, now)
	if fits {
		return ranks, nil
	}
	if err := t.PlaceTasks(ctx, org, in, now); err != nil {
		return nil, err
	}
	if err := t.spread(ctx, org, in, *before, n); err != nil {
		return nil, err
	}
	if before, after, err = t.neighbours(ctx, org, in, at); err != nil {
		return nil, err
	}
	if ranks, fits = between(before, after, n, now); !fits {
		return nil, fmt.Errorf("no room for %d tasks in the container of %s", n, in.Owner)
	}
	return ranks, nil
}

// claimEnd returns the first of n ranks, a step apart, at the end of the list of a worker
// or a team, without reading the list: the row of the container has the highest rank.
func (t containerTx) claimEnd(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, n int, now time.Time) (first int64, err error) {
	const query = `
		INSERT INTO container (org, kind, owner, modified, version, last) VALUES ($1, $2, $3, 0, 1, $4)
		ON CONFLICT (org, kind, owner) DO UPDATE SET version = container.version + 1,
			last = CASE WHEN container.last >= $5 THEN container.last + $6 ELSE excluded.last END
		RETURNING last`
	var (
		last  int64
		size  = int64(n) * rankStep
		begin = nextRanks(now, n, 0)
	)
	err = t.row(ctx, query, org, in.Kind, in.Owner, begin+size-rankStep, begin, size).Scan(&last)
	if err != nil {
		return 0, fmt.Errorf("extend the list of %s: %w", in.Owner, err)
	}
	return last - size + rankStep, nil
}

func rankOf(task *int64) int64 {
	if task == nil {
		return 0
	}
	return *task
}

// ListState returns a value that changes whenever the list of a container does: its
// version and its last task, because a new task of the organization does not change the
// version.
func (t containerTx) ListState(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (s store.ListState, err error) {
	const last = `SELECT id` + ranked + ` ORDER BY rank DESC, id DESC LIMIT 1`
	t.ahead(last, org, in.Kind, in.Owner)
	err = t.row(ctx, `SELECT version FROM container WHERE org = $1 AND kind = $2 AND owner = $3`, org, in.Kind, in.Owner).Scan(&s.Version)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		err = t.row(ctx, last, org, in.Kind, in.Owner).Scan(&s.Last)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return s, fmt.Errorf("read the state of the container of %s: %w", in.Owner, err)
	}
	return s, nil
}

// Unplaced reports whether the list of a container ends with new tasks whose
// order is not fixed yet.
func (t containerTx) Unplaced(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (bool, error) {
	last, _, err := t.neighbours(ctx, org, in, store.Position{})
	return rankOf(last) >= unplaced, err
}

// PlaceTasks fixes the order of the new tasks at the end of a container, so
// that tasks committed later follow them.
func (t containerTx) PlaceTasks(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error {
	// Not LockContainer, because fixing the order does not change the list.
	const lock = `
		INSERT INTO container (org, kind, owner, modified, version) VALUES ($1, $2, $3, 0, 1)
		ON CONFLICT (org, kind, owner) DO UPDATE SET version = container.version + 1`
	const place = `
		UPDATE task SET rank = $4 + (p.n - 1) * $5
		FROM (SELECT id AS task, ROW_NUMBER() OVER (ORDER BY rank, id) AS n` + ranked + ` AND rank >= $6) p
		WHERE task.org = $1 AND task.id = p.task`
	if waiting, err := t.Unplaced(ctx, org, in); err != nil || !waiting {
		return err
	}
	if _, err := t.exec(ctx, lock, org, in.Kind, in.Owner); err != nil {
		return fmt.Errorf("lock container of %s: %w", in.Owner, err)
	}
	var (
		n    int
		last *int64
	)
	if err := t.row(ctx, `SELECT COUNT(*)`+ranked+` AND rank >= $4`, org, in.Kind, in.Owner, int64(unplaced)).Scan(&n); err != nil {
		return fmt.Errorf("count tasks without a place: %w", err)
	}
	if err := t.row(ctx, `SELECT rank`+ranked+` AND rank < $4 ORDER BY rank DESC LIMIT 1`, org, in.Kind, in.Owner, int64(unplaced)).Scan(&last); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read the last place of the container of %s: %w", in.Owner, err)
	}
	first := nextRanks(now, n, rankOf(last))
	if _, err := t.exec(ctx, place, org, in.Kind, in.Owner, first, int64(rankStep), int64(unplaced)); err != nil {
		return fmt.Errorf("place tasks in the container of %s: %w", in.Owner, err)
	}
	return nil
}

// PlaceNewTasks fixes the order of all new tasks of a copied database. The database that
// it was copied from may have ranked them by another clock.
func PlaceNewTasks(ctx context.Context, c engine.Conn) error {
	t := containerTx{&base{conn: newConn(c)}}
	lists, err := collect(ctx, t, func(r rows) (list lastmile.Container, err error) {
		err = r.Scan(&list.Organization, &list.Kind, &list.Owner)
		return list, err
	}, `SELECT DISTINCT org, container_kind, container FROM task WHERE container IS NOT NULL AND rank >= $1`, int64(unplaced))
	if err != nil {
		return fmt.Errorf("look for tasks without a place: %w", err)
	}
	for _, list := range lists {
		if err := t.PlaceTasks(ctx, list.Organization, list.ContainerRef, time.UnixMilli(0)); err != nil {
			return err
		}
	}
	return nil
}
