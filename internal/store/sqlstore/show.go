package sqlstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/wire"
)

// form is the beginning of a statement that reads records to be shown; what ids they must have
// follows.
type form struct {
	query   string
	columns int // number of columns of shownRow that it reads
}

// The parts of the statements that read tasks: with their destinations, and without them if
// they are kept. On PostgreSQL, comparing the organization with $1 is cheaper than with a
// column of the task.
const (
	taskShown      = `SELECT t.id, t.doc, t.arrival, t.completion, t.eta, t.delay, t.complete_before, t.state, t.destination, ` + recipientShown
	recipientShown = `(SELECT r.doc FROM recipient r WHERE r.org = COALESCE(t.origin, $1) AND r.id = t.recipient)`
)

// shown are the statements that read whole records in one row each, by kind.
var shown = map[store.Kind]form{
	store.Destinations: {`SELECT t.id, t.doc FROM destination t WHERE t.org = $1 AND t.id`, 2},
	store.Recipients:   {`SELECT t.id, t.doc FROM recipient t WHERE t.org = $1 AND t.id`, 2},
	store.Templates:    {`SELECT t.id, t.doc FROM template t WHERE t.org = $1 AND t.id`, 2},
	store.Tasks:        {taskShown + `, (SELECT d.doc FROM destination d WHERE d.org = $1 AND d.id = t.destination) FROM task t WHERE t.org = $1 AND t.id`, 11},
}

// shownTask reads tasks without their destinations.
var shownTask = form{taskShown + ` FROM task t WHERE t.org = $1 AND t.id`, 10}

// Show returns the JSON of one record, as the API returns it. It is the cheapest way to
// read a record.
func (s *Store) Show(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, id string) (doc []byte, err error) {
	if !lastmile.ValidID(id) {
		return nil, lastmile.NotFound(string(kind), id)
	}
	if _, whole := shown[kind]; !whole {
		return s.assemble(ctx, kind, org, id)
	}
	of := recordSet{kind, org}
	if s.Engine() == "postgres" {
		doc, err = s.reads.read(ctx, of, id, s.showTogether)
	} else {
		err = s.showEach(ctx, of, []string{id}, func(_ string, found []byte) { doc = found })
	}
	if doc != nil || err != nil {
		return doc, err
	}
	err = s.engine.Direct(ctx, func(c engine.Conn) error {
		t := newTx(newConn(c), s.now)
		if kind != store.Tasks {
			return t.missing(ctx, kind, id)
		}
		doc, err = t.showPlaced(ctx, org, id)
		return err
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

// showEach calls found with each of the records that there is. It reads those that are not
// kept with one statement.
func (s *Store) showEach(ctx context.Context, of recordSet, ids []string, found func(id string, doc []byte)) error {
	return s.engine.Direct(ctx, func(c engine.Conn) error {
		now, revision := s.now(), c.Revision()
		var left []string // to be read
		atKnown := of.kind == store.Tasks
		for _, id := range ids {
			known := s.kept.find(recordKey{of, id})
			if doc := known.at(revision, now); doc != nil {
				found(id, doc)
				continue
			}
			left = append(left, id)
			atKnown = atKnown && s.kept.find(destinationKey(of.org, known.destination)).doc != nil
		}
		read := func(f form) error {
			if len(left) == 0 {
				return nil
			}
			query, args := f.of(of.org, left)
			rows, err := c.Query(ctx, query, args...)
			if err != nil {
				return fmt.Errorf("read %s: %w", of.kind, err)
			}
			defer rows.Close()
			for row := new(shownRow); rows.Next(); {
				if err := row.scan(rows, f.columns); err != nil {
					return fmt.Errorf("read %s: %w", of.kind, err)
				}
				if doc := s.keep(of, row, revision, now); doc != nil {
					found(string(row.id), doc)
					left = slices.DeleteFunc(left, func(id string) bool { return id == string(row.id) })
				}
			}
			if err := rows.Err(); err != nil {
				return fmt.Errorf("read %s: %w", of.kind, err)
			}
			return nil
		}
		if atKnown {
			if err := read(shownTask); err != nil {
				return err
			}
			// What is left does not exist, or has a destination by now that is not kept.
		}
		return read(shown[of.kind])
	})
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

// shownRow holds a row that was read to show a record; all but the first two columns are
// those of a task.
type shownRow struct {
	taskRow
	at      engine.Raw // id of the destination
	columns [11]any
}

// scan scans the first columns of a row. The others are NULL.
func (r *shownRow) scan(from scanner, columns int) error {
	r.taskRow = taskRow{}
	r.columns = [...]any{
		(*string)(&r.id), &r.doc, &r.arrival, &r.completion, &r.eta, &r.delay, &r.completeBefore, &r.state, &r.at, &r.recipient, &r.destination,
	}
	return from.Scan(r.columns[:columns]...)
}

// keep returns the response for a record and keeps what will be of use. revision is one from
// before the row was read. It returns nil for a task whose destination is neither in the row
// nor kept.
func (s *Store) keep(of recordSet, row *shownRow, revision engine.Revision, now time.Time) []byte {
	key, known := recordKey{of, string(row.id)}, revision != engine.Revision{}
	if of.kind != store.Tasks {
		doc := bytes.Clone(row.doc)
		if known {
			s.kept.add(key, keptRecord{doc: doc, revision: revision})
		}
		return doc
	}
	at := destinationKey(of.org, string(row.at))
	if row.destination != nil {
		s.kept.add(at, keptRecord{doc: bytes.Clone(row.destination), revision: revision})
	} else if row.destination = s.kept.find(at).doc; row.destination == nil {
		return nil
	}
	task, doc := keptRecord{destination: at.id}, row.shown(now)
	if until, fixed := row.fixedUntil(now); known && fixed {
		task.doc, task.revision, task.until = doc, revision, until
	}
	s.kept.add(key, task)
	return doc
}

// recordSet is all records of a kind that an organization has.
type recordSet struct {
	kind store.Kind
	org  lastmile.OrganizationID
}

// recordKey identifies a record of an organization; others must not read it.
type recordKey struct {
	of recordSet
	id string
}

// destinationKey returns the key of a destination.
func destinationKey(org lastmile.OrganizationID, id string) recordKey {
	return recordKey{recordSet{store.Destinations, org}, id}
}

// keptRecord is what is known of a record that was shown.
type keptRecord struct {
	doc         []byte          // response; nil for a task whose revision was unknown
	revision    engine.Revision // at which the record was read, or an earlier one; zero if unknown
	until       time.Time       // when the response changes with time; zero for never
	destination string          // id of the destination of a task
}

// at returns the response if it is still the same at a revision and a time, and nil otherwise.
func (k *keptRecord) at(revision engine.Revision, now time.Time) []byte {
	if revision == (engine.Revision{}) || k.revision != revision || !k.until.IsZero() && now.After(k.until) {
		return nil
	}
	return k.doc
}

// size returns the bytes of memory that the record takes.
func (k *keptRecord) size() int { return entryBytes + cap(k.doc) }

// recordCache keeps records that were shown lately.
type recordCache struct {
	mu         sync.Mutex
	young, old map[recordKey]keptRecord
	youngBytes int
}

// Limit of the memory of the cache, and what an entry counts.
const (
	cachedBytes = 8 << 20
	entryBytes  = 384 // size of an entry without its document
)

// find returns what is known of a record.
func (p *recordCache) find(key recordKey) keptRecord {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, ok := p.young[key]; ok {
		return found
	}
	found, ok := p.old[key]
	if ok {
		key.id = strings.Clone(key.id) // it may be a part of the first line of a request
		p.put(key, found)
	}
	return found
}

// add keeps a record.
func (p *recordCache) add(key recordKey, record keptRecord) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(key, record)
}

// put keeps a record. Once the young entries take half of the memory, they become the old
// ones, and the previous old ones are discarded. The caller holds the lock.
func (p *recordCache) put(key recordKey, record keptRecord) {
	before, replaced := p.young[key]
	if replaced {
		p.youngBytes -= before.size()
	}
	if p.young == nil || p.youngBytes+record.size() > cachedBytes/2 {
		p.young, p.old, p.youngBytes = map[recordKey]keptRecord{}, p.young, 0
	}
	p.young[key] = record
	p.youngBytes += record.size()
}
