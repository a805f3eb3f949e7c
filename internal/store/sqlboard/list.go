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

// ChangedLists returns the first lists that have changed and are not logged yet, at most
// as many as given, and reports whether there may be more. A list that has more than the
// given number of tasks is returned without them.
func (p Part) ChangedLists(ctx context.Context, lists, tasks int) (all []board.ChangedList, more bool, err error) {
	type key struct {
		org lastmile.OrganizationID
		in  lastmile.ContainerRef
	}
	places := map[key]int{}
	notes, err := engine.Collect(ctx, p.c, func(r engine.Rows) (id int64, err error) {
		var of key
		if err = r.Scan(&of.org, &of.in.Kind, &of.in.Owner, &id); err != nil {
			return id, err
		}
		at, known := places[of]
		if !known && len(all) == lists {
			more = true
			return id, nil
		}
		if !known {
			at = len(all)
			places[of] = at
			all = append(all, board.ChangedList{Organization: of.org, List: board.List{Container: of.in}})
		}
		all[at].Notes = append(all[at].Notes, id)
		return id, nil
	}, `SELECT org, kind, owner, id FROM changed_list ORDER BY id LIMIT $1`, int64(maxNotes))
	for i := range all {
		if err == nil {
			err = p.readList(ctx, &all[i], tasks)
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("read changed lists: %w", err)
	}
	return all, more || len(notes) == maxNotes, nil
}

// maxNotes is the maximum number of notes of changes that are read together.
const maxNotes = 500

// owners are the tables of the owners of lists.
var owners = map[lastmile.ContainerKind]string{lastmile.InWorker: `worker`, lastmile.InTeam: `team`}

// readList reads a list; it keeps no version if its owner was deleted. Earlier releases noted
// changes of completed tasks as those of a list without an owner.
func (p Part) readList(ctx context.Context, list *board.ChangedList, most int) error {
	org, in := list.Organization, list.Container
	table := owners[in.Kind]
	if table == "" {
		return nil
	}
	versions, err := engine.Collect(ctx, p.c, func(r engine.Rows) (version int64, err error) {
		err = r.Scan(&version)
		return version, err
	}, `SELECT c.version FROM container c JOIN `+table+` o ON o.org = $1 AND o.id = $3 WHERE c.org = $1 AND c.kind = $2 AND c.owner = $3`, org, in.Kind, in.Owner)
	if err != nil || len(versions) == 0 {
		return err
	}
	list.Version, list.Tasks = versions[0], []lastmile.TaskID{}
	_, err = engine.Collect(ctx, p.c, func(r engine.Rows) (id lastmile.TaskID, err error) {
		var state, pin int64
		if err = r.Scan(&id, &state, &pin); err != nil {
			return id, err
		}
		if lastmile.TaskState(state) == lastmile.TaskActive {
			list.Active = id
		} else {
			list.Tasks = append(list.Tasks, id)
		}
		if pin != 0 {
			if list.Pins == nil {
				list.Pins = map[lastmile.TaskID]lastmile.Pin{}
			}
			list.Pins[id] = pins[pin]
		}
		return id, nil
	}, `SELECT id, state, pin FROM task WHERE org = $1 AND container_kind = $2 AND container = $3 AND container IS NOT NULL ORDER BY rank, id LIMIT `+strconv.Itoa(most+2),
		org, in.Kind, in.Owner)
	if err != nil || len(list.Tasks) <= most {
		return err
	}
	list.Tasks, list.Pins = nil, nil
	active, err := engine.Collect(ctx, p.c, func(r engine.Rows) (id lastmile.TaskID, err error) {
		err = r.Scan(&id)
		return id, err
	}, `SELECT id FROM task WHERE org = $1 AND container_kind = $2 AND container = $3 AND container IS NOT NULL AND rank IS NULL AND state = 2`, org, in.Kind, in.Owner)
	if len(active) > 0 {
		list.Active = active[0]
	}
	return err
}

// LogList logs a list in place of older versions and removes the notes of its changes. If
// the notes are gone, it does nothing. If body is nil or a newer version is logged, it only
// removes the notes.
func (p Part) LogList(ctx context.Context, list board.ChangedList, body []byte, now time.Time) error {
	if err := p.lock(ctx, list.Organization); err != nil {
		return err
	}
	args, places := []any{list.Organization, list.Container.Kind, list.Container.Owner}, make([]string, len(list.Notes))
	for i, id := range list.Notes {
		args = append(args, id)
		places[i] = `$` + strconv.Itoa(len(args))
	}
	removed, err := p.c.Exec(ctx, `DELETE FROM changed_list WHERE org = $1 AND kind = $2 AND owner = $3 AND id IN (`+strings.Join(places, `, `)+`)`, args...)
	if err != nil {
		return fmt.Errorf("remove notes of changed lists: %w", err)
	}
	if removed == 0 || body == nil {
		return nil
	}
	const same = ` FROM list_entry WHERE org = $1 AND kind = $2 AND owner = $3`
	if err := p.c.Send(ctx, `DELETE`+same+` AND version <= $4`, list.Organization, list.Container.Kind, list.Container.Owner, list.Version); err != nil {
		return fmt.Errorf("remove an older version of a list: %w", err)
	}
	newer, err := engine.Collect(ctx, p.c, func(r engine.Rows) (nth int64, err error) { return nth, r.Scan(&nth) },
		`SELECT nth`+same, list.Organization, list.Container.Kind, list.Container.Owner)
	if err != nil || len(newer) > 0 {
		return err
	}
	return p.addEntry(ctx, list.Organization, string(list.Container.Kind), list.Container.Owner, list.Version, body, now)
}

// lock locks the logs of an organization: until the end of the transaction, no other one
// logs a list or numbers an event.
func (p Part) lock(ctx context.Context, org lastmile.OrganizationID) error {
	if err := p.c.Send(ctx, `INSERT INTO event_head (org, seq, lists) VALUES ($1, 0, 0) ON CONFLICT (org) DO UPDATE SET lists = event_head.lists`, org); err != nil {
		return fmt.Errorf("lock the log of lists: %w", err)
	}
	return nil
}

// addEntry adds an entry to the log of lists. The caller has locked the log.
func (p Part) addEntry(ctx context.Context, org lastmile.OrganizationID, kind, owner string, version int64, body []byte, now time.Time) error {
	var seq, nth int64
	err := p.c.Row(ctx, `UPDATE event_head SET lists = lists + 1 WHERE org = $1 RETURNING seq, lists`, org).Scan(&seq, &nth)
	if err == nil {
		err = p.c.Send(ctx, `INSERT INTO list_entry (org, nth, seq, kind, owner, version, created, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, org, nth, seq, kind, owner, version, now.UnixMilli(), body)
	}
	if err != nil {
		return fmt.Errorf("log a list: %w", err)
	}
	return nil
}

// ofTasks is the kind of entries with new tasks.
const ofTasks = `TASKS`

// WithNewTasks returns the first organization after another whose board has new tasks that are
// not logged yet; empty if there is none.
func (p Part) WithNewTasks(ctx context.Context, after lastmile.OrganizationID) (lastmile.OrganizationID, error) {
	found, err := engine.Collect(ctx, p.c, func(r engine.Rows) (org lastmile.OrganizationID, err error) {
		err = r.Scan(&org)
		return org, err
	}, `SELECT org FROM new_task WHERE org > $1 ORDER BY org LIMIT 1`, after)
	if err != nil {
		return "", fmt.Errorf("look for new tasks: %w", err)
	}
	if len(found) == 0 {
		return "", nil
	}
	return found[0], nil
}

// TakeNewTasks returns at most limit new tasks of a board that are not logged yet, and
// removes the notes of them. Tasks that were deleted since are left out.
func (p Part) TakeNewTasks(ctx context.Context, org lastmile.OrganizationID, limit int) (all []board.NewTask, err error) {
	// If another transaction deletes a task at the same time, the event of the deletion gets
	// a greater number than the entry.
	if err := p.lock(ctx, org); err != nil {
		return nil, err
	}
	executors := map[lastmile.OrganizationID][]any{}
	_, err = engine.Collect(ctx, p.c, func(r engine.Rows) (id lastmile.TaskID, err error) {
		var executor lastmile.OrganizationID
		err = r.Scan(&id, &executor)
		executors[executor] = append(executors[executor], id)
		return id, err
	}, `DELETE FROM new_task WHERE org = $1 AND task IN (SELECT task FROM new_task WHERE org = $1 ORDER BY task LIMIT $2) RETURNING task, executor`, org, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("take new tasks: %w", err)
	}
	for executor, ids := range executors {
		places := make([]string, len(ids))
		for i := range ids {
			places[i] = `$` + strconv.Itoa(i+2)
		}
		tasks, err := p.readTasks(ctx, org, `task t`, `t.org = $1 AND t.id IN (`+strings.Join(places, `, `)+`)`, slices.Concat([]any{executor}, ids)...)
		if err != nil {
			return nil, fmt.Errorf("read new tasks: %w", err)
		}
		for _, t := range tasks {
			made := board.NewTask{Task: t}
			switch { // as in engine.OwnTask
			case executor != org || t.Container.Kind == lastmile.InOrganization:
			case t.Worker != "":
				made.Owner = string(t.Worker)
			default:
				made.Owner = t.Container.Owner
			}
			all = append(all, made)
		}
	}
	return all, nil
}

// LogTasks logs new tasks of an owner. The transaction must have taken them.
func (p Part) LogTasks(ctx context.Context, org lastmile.OrganizationID, owner string, body []byte, now time.Time) error {
	return p.addEntry(ctx, org, ofTasks, owner, 0, body, now)
}

// DeleteLists deletes about most entries of the log of lists older than a time, and
// returns how many it deleted.
func (p Part) DeleteLists(ctx context.Context, before time.Time, most int) (int64, error) {
	return engine.DeleteOld(ctx, p.c, `list_entry`, `created`, ``, before.UnixMilli(), most)
}

// ListsBefore returns the number of the last entry of the log of lists before an event.
func (p Part) ListsBefore(ctx context.Context, org lastmile.OrganizationID, seq int64) (int64, error) {
	found, err := engine.Collect(ctx, p.c, func(r engine.Rows) (nth int64, err error) {
		err = r.Scan(&nth)
		return nth, err
	}, `SELECT nth FROM list_entry WHERE org = $1 AND seq < $2 ORDER BY seq DESC, nth DESC LIMIT 1`, org, seq)
	if err != nil {
		return 0, fmt.Errorf("find a place in the log of lists: %w", err)
	}
	if len(found) == 0 {
		return 0, nil
	}
	return found[0], nil
}

// ListEntries returns the entries of the log of lists with numbers greater than after, up
// to those that follow event seq, until they have the given number of bytes, and the
// number of the last entry read. For a manager, it skips lists and tasks of other teams.
func (p Part) ListEntries(ctx context.Context, org lastmile.OrganizationID, manager lastmile.AdminID, after, seq int64, bytes int) (all []board.ListEntry, last int64, err error) {
	args, own := []any{org, after, seq}, `TRUE`
	if manager != "" {
		args = append(args, manager)
		own = `owner = '' OR owner IN ` + engine.OwnTeams(`$4`) + ` OR owner IN ` + engine.OwnWorkers(`$4`)
	}
	page := engine.Page{
		Columns: `nth, seq, kind, CASE WHEN ` + own + ` THEN body END`,
		Table:   `list_entry`, Where: `org = $1 AND nth > $2 AND seq <= $3`, Key: `nth`,
		Size: `CASE WHEN ` + own + ` THEN LENGTH(body) ELSE 0 END`, Limit: strconv.Itoa(board.MaxListEntries), Bytes: bytes,
	}
	rows, err := p.c.Query(ctx, page.Statement(p.c.Dialect()), args...)
	if err != nil {
		return nil, 0, fmt.Errorf("read the log of lists: %w", err)
	}
	defer rows.Close()
	for size := 0; size < bytes && rows.Next(); {
		e, kind := board.ListEntry{Name: "containers"}, ""
		if err := rows.Scan(&e.Nth, &e.Seq, &kind, &e.Body); err != nil {
			return nil, 0, fmt.Errorf("read the log of lists: %w", err)
		}
		if kind == ofTasks {
			e.Name = "tasks"
		}
		last = e.Nth
		if e.Body != nil {
			all, size = append(all, e), size+len(e.Body)
		}
	}
	return all, last, rows.Err()
}
