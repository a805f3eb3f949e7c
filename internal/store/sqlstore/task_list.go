package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// ShowTasks returns tasks as the API's JSON, in the order in which they were created. The
// window of the filter is compared with the completion time of completed tasks and the
// creation time of others. No index has both, so a page is combined from ranges, each read
// in the order of an index: the tasks created in the window, and those created before it
// but completed in it. The cost of a page does not grow with the number of stored tasks.
func (s *Store) ShowTasks(ctx context.Context, org lastmile.OrganizationID, f store.TaskFilter) ([]store.ShownTask, error) {
	var page []store.ShownTask
	err := s.engine.Read(ctx, func(c engine.Conn) error {
		t := newTx(newConn(c), s.now)
		after, err := t.createdAt(ctx, org, f.After)
		if err != nil {
			return err
		}
		placed, err := t.listsPlaced(ctx, org, f)
		if err != nil {
			return err
		}
		if placed {
			page, err = t.showWithPlaced(ctx, org, f, after)
			return err
		}
		query, args := listQuery(org, f, after)
		page, err = collect(ctx, t, t.scanShown, query, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return page, nil
}

// listsPlaced reports whether a list may have tasks that the organization placed with
// others. Such tasks are in no container of the organization and have none of its workers.
func (t taskTx) listsPlaced(ctx context.Context, org lastmile.OrganizationID, f store.TaskFilter) (bool, error) {
	if f.Worker != "" || len(f.Containers) > 0 {
		return false, nil
	}
	return t.exists(ctx, `SELECT 1 FROM task t WHERE t.origin = $1 LIMIT 1`, org)
}

// showWithPlaced reads a page of the organization's own tasks and of those that it
// placed with others.
func (t taskTx) showWithPlaced(ctx context.Context, org lastmile.OrganizationID, f store.TaskFilter, after int64) (page []store.ShownTask, err error) {
	query, args := listAll(org, f, after)
	ids, err := collect(ctx, t, scanID[string], query, args...)
	if err != nil {
		return nil, err
	}
	docs, err := t.showTasks(ctx, org, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		page = append(page, store.ShownTask{ID: lastmile.TaskID(id), Doc: docs[id]})
	}
	return page, nil
}

// listAll returns the query for the ids of a page of the tasks that an organization has
// or placed with others.
func listAll(org lastmile.OrganizationID, f store.TaskFilter, after int64) (string, []any) {
	own, args := listPage(byOrg, org, f, after)
	placed, _ := listPage(byOrigin, org, f, after) // with the same arguments
	return `SELECT id FROM (SELECT * FROM (` + own + `) AS o UNION ALL SELECT * FROM (` + placed + `) AS e) AS p ORDER BY created, id` + limit(f.Limit), args
}

func (t taskTx) scanShown(found rows) (store.ShownTask, error) {
	var row taskRow
	if err := row.scan(found); err != nil {
		return store.ShownTask{}, err
	}
	return store.ShownTask{ID: row.id, Doc: row.shown(t.now())}, nil
}

// createdAt returns the creation time of the task after which a page begins. The task
// may be deleted by now.
func (t taskTx) createdAt(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (created int64, err error) {
	if id == "" {
		return 0, nil
	}
	err = t.row(ctx, `SELECT created FROM task WHERE org = $1 AND id = $2
		UNION ALL SELECT created FROM deleted_task WHERE org = $1 AND id = $2
		UNION ALL SELECT created FROM task WHERE origin = $1 AND id = $2`, org, id).Scan(&created)
	if errors.Is(err, sql.ErrNoRows) {
		err = t.missing(ctx, store.Tasks, string(id))
	}
	return created, err
}

// listQuery returns the query for a page that begins after task f.After, whose creation
// time is after.
func listQuery(org lastmile.OrganizationID, f store.TaskFilter, after int64) (string, []any) {
	ids, args := listPage(byOrg, org, f, after)
	return `SELECT ` + taskColumns + ` FROM (` + ids + `) AS p JOIN task t ON t.org = $1 AND t.id = p.id` + taskJoins +
		` ORDER BY p.created, p.id`, args
}

// The columns by which a list selects tasks: those that an organization has, or those
// that it placed with others.
const (
	byOrg    = `t.org`
	byOrigin = `t.origin`
)

// listPage returns the query for the ids and creation times of the tasks of a page.
func listPage(by string, org lastmile.OrganizationID, f store.TaskFilter, after int64) (string, []any) {
	l := &lister{by: by, where: within(org), TaskFilter: f, after: after, each: ` ORDER BY t.created, t.id` + limit(f.Limit)}
	if f.After != "" {
		l.where.args = append(l.where.args, after, f.After)
		l.each = ` AND (t.created > $2 OR (t.created = $2 AND t.id > $3))` + l.each
	}
	l.ranges(org)
	return `SELECT id, created FROM (` + strings.Join(l.queries, ` UNION ALL `) + `) AS r ORDER BY created, id` + limit(f.Limit), l.where.args
}

// lister builds the query for a page from ranges.
type lister struct {
	store.TaskFilter
	by      string     // byOrg or byOrigin
	after   int64      // creation time of the task after which the page begins
	where   *condition // has the arguments of all ranges
	each    string     // the end of every range
	queries []string
}

// add adds a range with the given tests and those that all ranges have.
func (l *lister) add(tests func(where *condition)) {
	l.where.text = l.by + ` = $1`
	tests(l.where)
	l.choose()
	l.queries = append(l.queries, `SELECT * FROM (SELECT t.id, t.created FROM task t WHERE `+l.where.text+l.each+`) AS r`+strconv.Itoa(len(l.queries)))
}

// ranges adds disjoint ranges that together have the tasks of the filter. A test written
// as (…) IS TRUE, or with a plus, keeps the database from using an index for it.
func (l *lister) ranges(org lastmile.OrganizationID) {
	if l.Worker != "" && l.Unfinished && len(l.Containers) == 0 {
		l.Containers = []string{string(l.Worker)} // it has all of the worker's unfinished tasks
	}
	states := distinct(l.States)
	switch {
	case len(l.Metadata) > 0 || len(l.Dependencies) > 0: // few tasks, found by metadata or dependencies
		l.add(func(where *condition) {
			where.text = `(` + l.by + ` = $1) IS TRUE AND t.id <> ''` // the test of the index by id
			in(where, `t.container`, l.Containers)
			in(where, `+t.state`, stateNumbers(states))
			l.during()
		})
	case len(l.Containers) > 0: // containers have no completed tasks
		others := slices.DeleteFunc(slices.Clone(l.Containers), func(id string) bool { return id == string(org) })
		if len(others) < len(l.Containers) {
			l.add(func(where *condition) { // most unassigned tasks are there
				where.and(`t.state = 0 AND (t.container = ?) IS TRUE`, org)
				in(where, `t.state`, stateNumbers(states))
				l.created()
			})
		}
		if len(others) > 0 {
			l.add(func(where *condition) {
				where.text += ` AND t.container_kind IN ('WORKER', 'TEAM', 'ORGANIZATION')`
				in(where, `t.container`, others)
				in(where, `t.state`, stateNumbers(states))
				l.created()
			})
		}
	case l.Worker != "":
		l.add(func(where *condition) {
			where.and(`t.worker = ?`, l.Worker)
			in(where, `t.state`, stateNumbers(states))
			l.created()
			l.during()
		})
		if len(states) == 0 || slices.Contains(states, lastmile.TaskCompleted) {
			l.earlier()
		}
	default:
		if len(states) == 0 {
			states = []lastmile.TaskState{lastmile.TaskUnassigned, lastmile.TaskAssigned, lastmile.TaskActive, lastmile.TaskCompleted}
		}
		for _, state := range states {
			l.add(func(where *condition) {
				where.and(`t.state = ?`, int64(state))
				l.created()
				if state == lastmile.TaskCompleted {
					l.during()
				}
			})
			if state == lastmile.TaskCompleted {
				l.earlier()
			}
		}
	}
}

// distinct returns each item once.
func distinct[T cmp.Ordered](items []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(items)))
}

// openTimes divide completed tasks into classes by how long they were open. Each is the
// upper limit of a class in milliseconds: a minute, then four times the previous one. The
// last class has no limit.
var openTimes = []int64{
	60_000, 240_000, 960_000, 3_840_000, 15_360_000, 61_440_000, 245_760_000, 983_040_000, 3_932_160_000, 15_728_640_000, 62_914_560_000,
}

// openClass is the SQL expression of the class of a completed task, as in index task_open.
var openClass = func() string {
	var text strings.Builder
	text.WriteString(`CASE`)
	for class, most := range openTimes {
		fmt.Fprintf(&text, ` WHEN t.completed - t.created < %d THEN %d`, most, class)
	}
	return text.String() + fmt.Sprintf(` ELSE %d END`, len(openTimes))
}()

// earlier adds the tasks created before the window and completed in it. In the order of
// creation, they are scattered among all the tasks completed by then, so they are searched
// by class: a task that was open for one to four minutes was created at most four minutes
// before the window, and few others of its class created then were completed too early.
func (l *lister) earlier() {
	if l.From.IsZero() || l.Unfinished {
		return
	}
	from := l.From.UnixMilli()
	for class := range len(openTimes) + 1 {
		l.add(func(where *condition) {
			where.text += fmt.Sprintf(` AND %s = %d`, openClass, class)
			first := l.after
			if class < len(openTimes) {
				first = max(first, from-openTimes[class])
			}
			where.and(`t.created >= ?`, first)
			where.and(`t.created < ?`, from)
			where.and(`t.completed >= ?`, from)
			if !l.To.IsZero() {
				where.and(`t.completed < ?`, l.To.UnixMilli())
			}
		})
	}
}

// created tests that a task was created in the window, and not before the page
// begins.
func (l *lister) created() {
	if first := max(l.after, l.From.UnixMilli()); first > 0 {
		l.where.and(`t.created >= ?`, first)
	}
	if !l.To.IsZero() {
		l.where.and(`t.created < ?`, l.To.UnixMilli())
	}
}

// during tests that a task was completed, or else created, in the window.
func (l *lister) during() {
	if !l.From.IsZero() {
		l.where.and(`COALESCE(t.completed, t.created) >= ?`, l.From.UnixMilli())
	}
	if !l.To.IsZero() {
		l.where.and(`COALESCE(t.completed, t.created) < ?`, l.To.UnixMilli())
	}
}

// choose adds the tests that every range has.
func (l *lister) choose() {
	if l.Worker != "" {
		l.where.and(`(t.worker = ?) IS TRUE`, l.Worker)
	}
	if l.Unfinished {
		l.where.text += ` AND (t.state < 3) IS TRUE`
	}
	if l.Pickup != nil {
		l.where.and(`t.pickup = ?`, engine.Flag(*l.Pickup))
	}
	if !l.CompleteBefore.IsZero() {
		l.where.and(`t.complete_before <= ?`, l.CompleteBefore.UnixMilli())
	}
	if !l.CompleteAfter.IsZero() {
		l.where.and(`t.complete_after >= ?`, l.CompleteAfter.UnixMilli())
	}
	parents := `FROM task_dependency p WHERE p.org = ` + map[string]string{byOrg: `$1`, byOrigin: byOrg}[l.by] + ` AND p.parent = ?`
	test := `t.id IN (SELECT p.task ` + parents + `)` // SQLite reads these into memory, and looks up the others
	for _, parent := range distinct(l.Dependencies) {
		l.where.and(test, parent)
		test = `EXISTS (SELECT 1 ` + parents + ` AND p.task = t.id)`
	}
	l.where.has(store.Tasks, l.Metadata).own(engine.OwnTask, l.Manager)
}

func stateNumbers(states []lastmile.TaskState) []int64 {
	numbers := make([]int64, len(states))
	for i, s := range states {
		numbers[i] = int64(s)
	}
	return numbers
}

// Unfinished returns the given tasks that are not completed.
func (t taskTx) Unfinished(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) (unfinished []lastmile.TaskID, err error) {
	for chunk := range slices.Chunk(ids, 1_000) { // a statement has a maximum number of parameters
		where := within(org)
		in(where, `t.id`, chunk)
		found, err := t.taskIDs(ctx, `SELECT t.id FROM task t WHERE `+where.text+` AND t.state < 3 ORDER BY t.id`, where.args...)
		if err != nil {
			return nil, err
		}
		unfinished = append(unfinished, found...)
	}
	return unfinished, nil
}

// Carriers returns the workers who have carried out pickups, by pickup; of tasks that are no
// pickups, or were not carried out with success, or by a worker who was deleted, nothing.
func (t taskTx) Carriers(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) (map[lastmile.TaskID]lastmile.WorkerID, error) {
	type carried struct {
		task   lastmile.TaskID
		worker lastmile.WorkerID
	}
	carriers := map[lastmile.TaskID]lastmile.WorkerID{}
	for chunk := range slices.Chunk(ids, 1_000) { // a statement has a maximum number of parameters
		where := within(org)
		in(where, `t.id`, chunk)
		found, err := collect(ctx, t, func(r rows) (c carried, err error) {
			err = r.Scan(&c.task, &c.worker)
			return c, err
		}, `SELECT t.id, t.worker FROM task t WHERE `+where.text+` AND t.state = 3 AND t.pickup = 1 AND t.success = 1
			AND EXISTS (SELECT 1 FROM worker w WHERE w.org = t.org AND w.id = t.worker)`, where.args...)
		if err != nil {
			return nil, fmt.Errorf("read the workers of pickups: %w", err)
		}
		for _, c := range found {
			carriers[c.task] = c.worker
		}
	}
	return carriers, nil
}
