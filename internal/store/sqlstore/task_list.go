package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// listed is a task on a page, with what pages are ordered by.
type listed struct {
	created int64
	task    store.ShownTask
}

func (a listed) compare(b listed) int {
	return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.task.ID, b.task.ID))
}

// ShowTasks implements store.Store.
//
// Completed tasks are listed by when they were completed and the others by
// when they were created, but all in the order of creation. No index has both,
// so a page is put together from a few ranges, each read in the order of an
// index: for each state those created in the window, and before them the tasks
// created before the window but completed within. The cost of a page does not
// grow with the tasks that are stored.
func (s *Store) ShowTasks(ctx context.Context, org lastmile.OrganizationID, f store.TaskFilter) ([]store.ShownTask, error) {
	var page []listed
	err := s.engine.read(ctx, func(c conn) error {
		t := &tx{c}
		page = page[:0]
		after, err := t.cursor(ctx, org, f.After)
		if err != nil {
			return err
		}
		for _, where := range ranges(org, f) {
			if after != nil {
				where.and(`(t.created > ?`, after.created)
				where.text += fmt.Sprintf(` OR (t.created = $%d`, len(where.args))
				where.and(`t.id > ?))`, after.task.ID)
			}
			found, err := t.listTasks(ctx, where, f.Limit)
			if err != nil {
				return err
			}
			page = append(page, found...)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	slices.SortFunc(page, listed.compare)
	if f.Limit > 0 && len(page) > f.Limit {
		page = page[:f.Limit]
	}
	shown := make([]store.ShownTask, len(page))
	for i, l := range page {
		shown[i] = l.task
	}
	return shown, nil
}

// cursor finds the task that a page begins after.
func (t *tx) cursor(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (*listed, error) {
	if id == "" {
		return nil, nil
	}
	at := listed{task: store.ShownTask{ID: id}}
	err := t.row(ctx, `SELECT created FROM task WHERE org = $1 AND id = $2`, org, id).Scan(&at.created)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, t.missing(ctx, store.Tasks, string(id))
	}
	return &at, err
}

// ranges are the conditions that together choose the tasks of a filter, none
// twice.
func ranges(org lastmile.OrganizationID, f store.TaskFilter) []*condition {
	if len(f.Metadata) > 0 || len(f.Containers) > 0 || len(f.Dependencies) > 0 || f.Worker != "" {
		// These choose few tasks by an index of their own.
		where := choose(within(org), f)
		in(where, `t.state`, stateNumbers(f.States))
		if !f.From.IsZero() {
			where.and(`COALESCE(t.completed, t.created) >= ?`, f.From.UnixMilli())
		}
		if !f.To.IsZero() {
			where.and(`COALESCE(t.completed, t.created) < ?`, f.To.UnixMilli())
		}
		return []*condition{where}
	}
	states := f.States
	if len(states) == 0 {
		states = []lastmile.TaskState{lastmile.TaskUnassigned, lastmile.TaskAssigned, lastmile.TaskActive, lastmile.TaskCompleted}
	}
	var all []*condition
	for _, state := range states {
		where := choose(within(org).and(`t.state = ?`, int64(state)), f)
		if !f.From.IsZero() {
			where.and(`t.created >= ?`, f.From.UnixMilli())
		}
		if !f.To.IsZero() {
			where.and(`t.created < ?`, f.To.UnixMilli())
			if state == lastmile.TaskCompleted {
				where.and(`t.completed < ?`, f.To.UnixMilli())
			}
		}
		all = append(all, where)
		if state == lastmile.TaskCompleted && !f.From.IsZero() {
			earlier := choose(within(org).and(`t.completed >= ?`, f.From.UnixMilli()), f)
			earlier.and(`t.created < ?`, f.From.UnixMilli())
			if !f.To.IsZero() {
				earlier.and(`t.completed < ?`, f.To.UnixMilli())
			}
			all = append(all, earlier)
		}
	}
	return all
}

// choose adds the tests that every range has.
func choose(where *condition, f store.TaskFilter) *condition {
	if f.Worker != "" {
		where.and(`t.worker = ?`, f.Worker)
	}
	if f.Unfinished {
		where.text += ` AND t.state < 3`
	}
	if f.Pickup != nil {
		where.and(`t.pickup = ?`, flag(*f.Pickup))
	}
	in(where, `t.container`, f.Containers)
	if !f.CompleteBy.IsZero() {
		where.and(`t.complete_before <= ?`, f.CompleteBy.UnixMilli())
	}
	if !f.CompleteFrom.IsZero() {
		where.and(`t.complete_after >= ?`, f.CompleteFrom.UnixMilli())
	}
	for _, parent := range f.Dependencies {
		where.and(`t.id IN (SELECT p.task FROM task_dependency p WHERE p.org = $1 AND p.parent = ?)`, parent)
	}
	return where.has(store.Tasks, f.Metadata)
}

func stateNumbers(states []lastmile.TaskState) []int64 {
	numbers := make([]int64, len(states))
	for i, s := range states {
		numbers[i] = int64(s)
	}
	return numbers
}

func (t *tx) listTasks(ctx context.Context, where *condition, most int) ([]listed, error) {
	scan := func(found rows) (listed, error) {
		var (
			row taskRow
			l   listed
		)
		if err := row.scan(found, &l.created); err != nil {
			return l, err
		}
		var err error
		l.task.ID = row.id
		l.task.Doc, err = row.shown()
		return l, err
	}
	return collect(ctx, t, scan, `SELECT `+taskColumns+`, t.created`+taskTables+` WHERE `+where.text+
		` ORDER BY t.created, t.id`+limit(most), where.args...)
}

// showTask reads one task as the interface shows it.
func (s *Store) showTask(ctx context.Context, org lastmile.OrganizationID, id string) (doc []byte, err error) {
	err = s.engine.direct(ctx, func(c conn) error {
		var row taskRow
		err := row.scan(c.row(ctx, `SELECT `+taskColumns+taskTables+` WHERE t.org = $1 AND t.id = $2`, org, id))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return (&tx{c}).missing(ctx, store.Tasks, id)
		case err != nil:
			return fmt.Errorf("read task %s: %w", id, err)
		}
		doc, err = row.shown()
		return err
	})
	return doc, err
}
