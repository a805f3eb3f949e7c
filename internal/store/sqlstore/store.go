package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
)

// Store is a database, SQLite or PostgreSQL, as the rest of Dray sees it.
type Store struct {
	engine engine.Engine
	now    func() time.Time
	events atomic.Int64 // appended so far

	mu    sync.Mutex
	woken []chan struct{}
	texts []chan struct{}
	owed  []lastmile.Notification
	more  map[lastmile.WebhookID]lastmile.Notification // what owed has no room for
}

var _ store.Store = (*Store)(nil)

// Open opens the database that the options name and brings its schema to
// head.
func Open(ctx context.Context, o Options) (*Store, error) {
	e, err := OpenEngine(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Store{engine: e, now: o.Now}, nil
}

// maxUniqueRetries is how often a write that violated a unique key runs again.
const maxUniqueRetries = 3

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, fn func(store.Reader) error) error {
	return s.engine.Read(ctx, func(c engine.Conn) error { return fn(&tx{sqlConn{c}, s.now}) })
}

// Write implements store.Store.
func (s *Store) Write(ctx context.Context, fn func(store.Writer) error) error {
	var (
		seen *watched
		err  error
	)
	// What was made up anew and happened to be taken, such as a short id, is
	// made up again by the next run.
	for range 1 + maxUniqueRetries {
		err = s.engine.Write(ctx, func(c engine.Conn) error {
			seen = &watched{conn: sqlConn{c}, events: &s.events}
			return fn(&tx{seen, s.now})
		})
		if !s.engine.IsUnique(err) {
			break
		}
	}
	if err == nil && (seen.told || len(seen.owed) > 0) {
		s.wake(seen.owed)
	}
	if err == nil && seen.texted {
		s.mu.Lock()
		nudge(s.texts)
		s.mu.Unlock()
	}
	return err
}

// watched notices whether events were appended over a connection, and what
// webhooks are owed of them.
type watched struct {
	conn
	events *atomic.Int64 // how many this process has appended
	told   bool
	texted bool // a text message was saved
	owed   []lastmile.Notification
}

// Woken returns a channel that is sent to after events were committed by this
// process. One message may stand for many events.
func (s *Store) Woken() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan struct{}, 1)
	s.woken = append(s.woken, c)
	return c
}

// Texted is as Woken, but after text messages were saved.
func (s *Store) Texted() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan struct{}, 1)
	s.texts = append(s.texts, c)
	return c
}

// nudge sends to channels that have room.
func nudge(all []chan struct{}) {
	for _, c := range all {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// maxOwed is how many notifications are kept for whoever asks what is owed.
const maxOwed = 16_384

// Owed returns what commits of this process have owed webhooks since it was
// last asked. When that is much, it is one notification of each webhook, and no
// body: there are more in the database.
func (s *Store) Owed() []lastmile.Notification {
	s.mu.Lock()
	defer s.mu.Unlock()
	owed := slices.AppendSeq(s.owed, maps.Values(s.more))
	s.owed, s.more = nil, nil
	return owed
}

func (s *Store) wake(owed []lastmile.Notification) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range owed {
		if len(s.owed) < maxOwed {
			s.owed = append(s.owed, n)
			continue
		}
		if s.more == nil {
			s.more = map[lastmile.WebhookID]lastmile.Notification{}
		}
		n.Body = nil
		s.more[n.Webhook] = n
	}
	nudge(s.woken)
}

// Ping tells whether the database can be reached and its schema is at head.
func (s *Store) Ping(ctx context.Context) error { return s.engine.Ping(ctx) }

// Stats counts what the database has done.
func (s *Store) Stats() Stats { return s.engine.Stats() }

// Engine names the database: "sqlite" or "postgres".
func (s *Store) Engine() string { return s.engine.Name() }

// Close ends all work and closes the database.
func (s *Store) Close() error { return s.engine.Close() }

// tx reads and writes records over one connection. Its methods for each noun
// are in the file of that noun.
type tx struct {
	conn
	now func() time.Time
}

var _ store.Writer = (*tx)(nil)

// documentVersion is the version of the form in which records are stored.
const documentVersion = 1

// missing says why a record was not found among the organization's: it is
// another's, or nobody's.
func (t *tx) missing(ctx context.Context, kind store.Kind, id string) error {
	noun := strings.ReplaceAll(string(kind), "_", " ")
	if !lastmile.ValidID(id) {
		return lastmile.NotFound(noun, id)
	}
	var one int64
	err := t.row(ctx, `SELECT 1 FROM `+string(kind)+` WHERE id = $1`, id).Scan(&one)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lastmile.NotFound(noun, id)
	case err != nil:
		return fmt.Errorf("look for %s %s: %w", noun, id, err)
	}
	return lastmile.OutsideScope(id)
}

// only returns the one record of a list, or why there is none.
func only[T any](ctx context.Context, t *tx, kind store.Kind, id string, found []T, err error) (T, error) {
	if err == nil && len(found) == 0 {
		err = t.missing(ctx, kind, id)
	}
	if err != nil {
		var none T
		return none, err
	}
	return found[0], nil
}

// collect runs a query and reads each row with scan.
func collect[T any](ctx context.Context, c conn, scan func(rows) (T, error), query string, args ...any) ([]T, error) {
	found, err := c.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var list []T
	for found.Next() {
		item, err := scan(found)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, found.Err()
}

// condition is a WHERE clause in the making. $1 is the organization.
type condition struct {
	text string
	args []any
}

func within(org lastmile.OrganizationID) *condition {
	return &condition{text: `t.org = $1`, args: []any{org}}
}

// and adds a test of one value; its place in the text is a question mark.
func (c *condition) and(test string, value any) *condition {
	c.args = append(c.args, value)
	c.text += ` AND ` + strings.Replace(test, "?", "$"+strconv.Itoa(len(c.args)), 1)
	return c
}

// in adds a test that a column has any of some values.
func in[T any](c *condition, column string, values []T) {
	if len(values) == 0 {
		return
	}
	places := make([]string, len(values))
	for i, v := range values {
		c.args = append(c.args, v)
		places[i] = "$" + strconv.Itoa(len(c.args))
	}
	c.text += ` AND ` + column + ` IN (` + strings.Join(places, ", ") + `)`
}

// has adds a test that a record has all of the metadata entries.
func (c *condition) has(kind store.Kind, metadata lastmile.Metadata) *condition {
	for _, entry := range metadata {
		c.and(`t.id IN (SELECT m.id FROM metadata_entry m WHERE m.org = $1 AND m.kind = '`+string(kind)+`' AND m.digest = ?)`, entry.Digest())
	}
	return c
}

// limit is the end of a query that reads at most n rows; 0 is no limit.
func limit(n int) string {
	if n == 0 {
		return ""
	}
	return " LIMIT " + strconv.Itoa(n)
}

// saveMetadata replaces the searchable entries of a record.
func (t *tx) saveMetadata(ctx context.Context, kind store.Kind, org lastmile.OrganizationID, id string, isNew bool, metadata lastmile.Metadata) error {
	if !isNew {
		if err := t.send(ctx, `DELETE FROM metadata_entry WHERE org = $1 AND id = $2`, org, id); err != nil {
			return fmt.Errorf("clear metadata of %s %s: %w", kind, id, err)
		}
	}
	if err := t.insert(ctx, metadataInsertion, metadataRows(kind, org, id, metadata)); err != nil {
		return fmt.Errorf("save metadata of %s %s: %w", kind, id, err)
	}
	return nil
}

// erase deletes the rows of a record in several tables, each by the column
// that holds its id.
func (t *tx) erase(ctx context.Context, org lastmile.OrganizationID, id string, places ...[2]string) error {
	for _, place := range places {
		if _, err := t.exec(ctx, `DELETE FROM `+place[0]+` WHERE org = $1 AND `+place[1]+` = $2`, org, id); err != nil {
			return fmt.Errorf("delete %s from %s: %w", id, place[0], err)
		}
	}
	return nil
}

// millis is a time as it is stored; the zero time is null.
func millis(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	ms := at.UnixMilli()
	return &ms
}

// instant is the time that millis stored.
func instant(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}

// flag is a boolean as it is stored.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
