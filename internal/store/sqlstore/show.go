package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// shown are the statements that read a whole record in one row.
var shown = map[store.Kind]string{
	store.Destinations: `SELECT doc FROM destination WHERE org = $1 AND id = $2`,
	store.Recipients:   `SELECT doc FROM recipient WHERE org = $1 AND id = $2`,
	store.Templates:    `SELECT doc FROM template WHERE org = $1 AND id = $2`,
}

// Show returns the JSON of one record, as the API returns it. It is the cheapest way to
// read a record.
func (s *Store) Show(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, id string) ([]byte, error) {
	if !lastmile.ValidID(id) {
		return nil, lastmile.NotFound(string(kind), id)
	}
	if kind == store.Tasks {
		return s.showTask(ctx, org, id)
	}
	query, whole := shown[kind]
	if !whole {
		return s.assemble(ctx, kind, org, id)
	}
	var doc []byte
	err := s.engine.Direct(ctx, func(c engine.Conn) error {
		err := c.Row(ctx, query, string(org), id).Scan(&doc)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return newTx(newConn(c), s.now).missing(ctx, kind, id)
		case err != nil:
			return fmt.Errorf("read %s %s: %w", kind, id, err)
		}
		return nil
	})
	return doc, err
}

// Find returns the ids of the tasks, destinations or recipients that have all of the
// metadata entries, in the order of lists. If manager is not empty, only tasks visible to
// that administrator are returned. If at least most records match, any of them may be
// returned, so that the cost does not grow with the number of matches.
func (s *Store) Find(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, manager lastmile.AdminID, metadata lastmile.Metadata, most int) (ids []string, err error) {
	where := within(org).has(kind, metadata)
	query, args := `SELECT t.id FROM `+string(kind)+` t WHERE `+where.text, where.args
	switch kind {
	case store.Tasks:
		where = (&condition{text: `t.id <> '' AND (t.org = $1 OR t.origin = $1) IS TRUE`, args: []any{org}}).has(kind, metadata).own(engine.OwnTask, manager)
		query, args = `SELECT t.id FROM task t WHERE `+where.text+` ORDER BY t.created, t.id`+limit(most), where.args
	case store.Recipients:
		query += ` ORDER BY t.created DESC, t.id` + limit(most)
	default:
		query += ` ORDER BY t.created, t.id` + limit(most)
	}
	err = s.engine.Direct(ctx, func(c engine.Conn) error {
		t := newTx(newConn(c), s.now)
		if most > 0 && manager == "" && len(metadata) == 1 {
			const entries = `SELECT m.id FROM metadata_entry m WHERE m.org = $1 AND m.kind = $2 AND m.digest = $3`
			ids, err = collect(ctx, t, scanID[string], entries+limit(most), org, kind, metadata[0].Digest())
			if err != nil || len(ids) == most {
				return err
			}
		}
		ids, err = collect(ctx, t, scanID[string], query, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", kind, err)
	}
	return ids, nil
}

// ShowAll returns the records with these ids, in their order, and skips those that no
// longer exist. Callers split long lists, because one statement reads them all.
func (s *Store) ShowAll(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, ids []string) (docs [][]byte, err error) {
	if len(ids) == 0 { // a condition without ids would match every record
		return nil, nil
	}
	byID := make(map[string][]byte, len(ids))
	where := within(org)
	in(where, `t.id`, ids)
	err = s.engine.Direct(ctx, func(c engine.Conn) error {
		t := newTx(newConn(c), s.now)
		if kind == store.Tasks {
			byID, err = t.showTasks(ctx, org, ids)
			return err
		}
		_, err := collect(ctx, t, func(r rows) (doc []byte, err error) {
			var id string
			err = r.Scan(&id, &doc)
			byID[id] = doc
			return doc, err
		}, `SELECT t.id, t.doc FROM `+string(kind)+` t WHERE `+where.text, where.args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %ss: %w", kind, err)
	}
	for _, id := range ids {
		if doc, ok := byID[id]; ok {
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// assemble reads a record that is made of several rows.
func (s *Store) assemble(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, id string) (doc []byte, err error) {
	err = s.engine.Read(ctx, func(c engine.Conn) error {
		t := newTx(newConn(c), s.now)
		var record any
		switch kind {
		case store.Workers:
			var worker lastmile.Worker
			worker, err = t.WholeWorker(ctx, org, lastmile.WorkerID(id))
			record = wire.NewWorker(worker)
		case store.Teams:
			var team lastmile.Team
			team, err = t.WholeTeam(ctx, org, lastmile.TeamID(id))
			record = wire.NewTeam(team)
		case store.Admins:
			var admin lastmile.Admin
			admin, err = t.Admin(ctx, org, lastmile.AdminID(id))
			record = wire.NewAdmin(admin)
		case store.Hubs:
			var hub lastmile.Hub
			hub, err = t.Hub(ctx, org, lastmile.HubID(id))
			record = wire.NewHub(hub)
		default:
			err = fmt.Errorf("cannot show a %s", kind)
		}
		if err != nil {
			return err
		}
		doc, err = wire.Marshal(record)
		return err
	})
	return doc, err
}

// The parts of the statements that read tasks for Show: with their destinations, and without
// them if they are cached. On PostgreSQL, comparing the organization with $1 is cheaper than
// with a column of the task.
const (
	taskShown       = `SELECT t.id, t.doc, t.arrival, t.completion, t.eta, t.delay, t.complete_before, t.state, t.destination, ` + recipientShown
	recipientShown  = `(SELECT r.doc FROM recipient r WHERE r.org = COALESCE(t.origin, $1) AND r.id = t.recipient)`
	showWholeTask   = taskShown + `, d.doc FROM task t JOIN destination d ON d.org = $1 AND d.id = t.destination WHERE t.org = $1 AND t.id`
	showTaskAtKnown = taskShown + ` FROM task t WHERE t.org = $1 AND t.id`
	oneTask         = ` = $2`
)

// showTask reads one task as the API shows it. If the database is the same as when the task
// was last shown, so is the response.
func (s *Store) showTask(ctx context.Context, org lastmile.OrganizationID, id string) (doc []byte, err error) {
	if s.Engine() == "postgres" {
		if doc, err = s.reads.read(ctx, org, id, s.showTogether); doc != nil || err != nil {
			return doc, err
		}
	}
	err = s.engine.Direct(ctx, func(c engine.Conn) error {
		key, now, revision := taskKey{org, id}, s.now(), c.Revision()
		known := s.tasks.find(key)
		if doc = known.replyAt(revision, now); doc != nil {
			return nil
		}
		if known.destination != "" {
			if doc, err = s.readShown(ctx, c, key, known, revision, now); doc != nil || err != nil {
				return err
			}
		}
		// The task is not cached, or it has another destination by now.
		if doc, err = s.readShown(ctx, c, key, cachedTask{}, revision, now); doc != nil || err != nil {
			return err
		}
		doc, err = newTx(newConn(c), s.now).showPlaced(ctx, org, id)
		return err
	})
	return doc, err
}

// showPlaced reads a task that the organization placed with another.
func (t taskTx) showPlaced(ctx context.Context, org lastmile.OrganizationID, id string) ([]byte, error) {
	found, err := t.placed(ctx, placedBy(org).and(`t.id = ?`, id))
	task, err := only(ctx, t.base, store.Tasks, id, found, err)
	if err != nil {
		return nil, err
	}
	return wire.Marshal(wire.NewTask(task.SeenBy(org)))
}

// showTasks reads the tasks with these ids that the organization has, or that it placed
// with others.
func (t taskTx) showTasks(ctx context.Context, org lastmile.OrganizationID, ids []string) (map[string][]byte, error) {
	docs, where := make(map[string][]byte, len(ids)), within(org)
	if len(ids) == 0 {
		return docs, nil
	}
	in(where, `t.id`, ids)
	own, err := collect(ctx, t, t.scanShown, `SELECT `+taskColumns+taskTables+` WHERE `+where.text, where.args...)
	if err != nil {
		return nil, err
	}
	for _, task := range own {
		docs[string(task.ID)] = task.Doc
	}
	where = placedBy(org)
	in(where, `t.id`, slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return docs[id] != nil }))
	if len(where.args) == 1 { // all of them are its own
		return docs, nil
	}
	placed, err := t.placed(ctx, where)
	if err != nil {
		return nil, err
	}
	for _, task := range placed {
		if docs[string(task.ID)], err = wire.Marshal(wire.NewTask(task.SeenBy(org))); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// readShown reads a task, without its destination if known has one, and caches it. revision
// is one from before. It returns nil if there is no such task or if it has another destination
// than known.
func (s *Store) readShown(ctx context.Context, c engine.Conn, key taskKey, known cachedTask, revision engine.Revision, now time.Time) ([]byte, error) {
	var row shownRow
	whole, query := known.destination == "", showTaskAtKnown+oneTask
	if whole {
		query = showWholeTask + oneTask
	}
	found, err := c.Query(ctx, query, string(key.org), key.id)
	if err != nil {
		return nil, fmt.Errorf("read task %s: %w", key.id, err)
	}
	defer found.Close()
	if !found.Next() {
		if err := found.Err(); err != nil {
			return nil, fmt.Errorf("read task %s: %w", key.id, err)
		}
		return nil, nil
	}
	if err := row.scan(found, whole); err != nil {
		return nil, fmt.Errorf("read task %s: %w", key.id, err)
	}
	return s.keepShown(&row, key.org, known, revision, now), nil
}

// shownRow holds a row that was read to show a task.
type shownRow struct {
	taskRow
	at      engine.Raw // id of the destination
	columns [11]any
}

// scan scans a row, with the destination if whole is set.
func (r *shownRow) scan(from scanner, whole bool) error {
	r.columns = [...]any{
		(*string)(&r.id), &r.doc, &r.arrival, &r.completion, &r.eta, &r.delay, &r.completeBefore, &r.state, &r.at, &r.recipient, &r.destination,
	}
	if whole {
		return from.Scan(r.columns[:]...)
	}
	return from.Scan(r.columns[:len(r.columns)-1]...)
}

// keepShown returns the response for a task and caches what was read. It returns nil if the
// task has another destination than known; if known has none, the row has it.
func (s *Store) keepShown(row *shownRow, org lastmile.OrganizationID, known cachedTask, revision engine.Revision, now time.Time) []byte {
	switch {
	case known.destination == "":
		known.destination = string(row.at)
	case string(row.at) != known.destination:
		return nil
	default:
		row.destination = known.doc
	}
	key := taskKey{org, string(row.id)}
	reply, destination := row.shown(now)
	until, fixed := row.fixedUntil(now)
	switch {
	case revision != engine.Revision{} && fixed:
		known.doc, known.reply, known.revision, known.until = destination, reply, revision, until
		s.tasks.add(key, known)
	case known.doc == nil:
		known.doc = bytes.Clone(destination)
		s.tasks.add(key, known)
	}
	return reply
}

// taskKey identifies a task of an organization; others must not read it.
type taskKey struct {
	org lastmile.OrganizationID
	id  string
}

// cachedTask is what is known of a task that was shown: its destination, and the response if
// the revision of the database was known.
type cachedTask struct {
	destination string // id
	doc         []byte // of the destination; a part of reply if there is one
	reply       []byte
	revision    engine.Revision // at which the task was read, or an earlier one
	until       time.Time       // when the response changes with time; zero for never
}

// replyAt returns the response if it is the same at a revision and a time, or nil.
func (t *cachedTask) replyAt(revision engine.Revision, now time.Time) []byte {
	if revision == (engine.Revision{}) || t.revision != revision || !t.until.IsZero() && now.After(t.until) {
		return nil
	}
	return t.reply
}

// size returns the bytes of memory that the task takes in the cache.
func (t *cachedTask) size() int { return entryBytes + max(cap(t.reply), cap(t.doc)) }

// taskCache caches recently shown tasks. A task can get another destination, but a
// destination never changes.
type taskCache struct {
	mu         sync.Mutex
	young, old map[taskKey]cachedTask
	youngBytes int
}

// Limit of the memory of the cache, and what an entry counts.
const (
	cachedBytes = 8 << 20
	entryBytes  = 384 // size of an entry without its document
)

// find returns what is known of a task.
func (p *taskCache) find(key taskKey) cachedTask {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, ok := p.young[key]; ok {
		return found
	}
	found, ok := p.old[key]
	if ok {
		p.put(key, found)
	}
	return found
}

// add caches a task.
func (p *taskCache) add(key taskKey, task cachedTask) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(key, task)
}

// put caches a task. Once the young entries take half of the memory, they become the old
// ones, and the previous old ones are discarded. The caller holds the lock.
func (p *taskCache) put(key taskKey, task cachedTask) {
	before, replaced := p.young[key]
	if replaced {
		p.youngBytes -= before.size()
	}
	if p.young == nil || p.youngBytes+task.size() > cachedBytes/2 {
		p.young, p.old, p.youngBytes = map[taskKey]cachedTask{}, p.young, 0
	}
	p.young[key] = task
	p.youngBytes += task.size()
}
