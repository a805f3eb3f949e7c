// Package sqlstore contains the SQL statements for most records, once for both
// databases; those for other records are in packages next to it, such as
// sqlorder. The databases themselves are packages engine/sqlite and
// engine/postgres.
//
// It is not an object mapper. A function passed to Store.Write may run more
// than once; see package engine.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/store/engine/postgres"
)

// Store is a database, SQLite or PostgreSQL, as the rest of Dray sees it.
type Store struct {
	engine engine.Engine
	now    func() time.Time
	kept   recordCache
	reads  sharedReads
}

var _ store.Transactor[*Tx, *Tx] = (*Store)(nil)

// Open opens the database that the options describe and migrates its schema to head,
// unless KeepSchema is set.
func Open(ctx context.Context, o Options) (*Store, error) {
	e, err := OpenEngine(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Store{engine: e, now: o.Now}, nil
}

// maxUniqueRetries is the maximum number of retries of a write that violates a unique
// key.
const maxUniqueRetries = 3

// Read runs fn over one consistent snapshot.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) error {
	return s.engine.Read(ctx, func(c engine.Conn) error { return fn(newTx(newConn(c), s.now)) })
}

// Write runs fn in one transaction; see store.Transactor.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	var (
		last *Tx
		err  error
	)
	// A generated value, such as a short id, may exist already. The next run generates
	// another one.
	for range 1 + maxUniqueRetries {
		err = s.engine.Write(ctx, func(c engine.Conn) error {
			last = newTx(newConn(c), s.now)
			return fn(last)
		})
		if !s.engine.IsUnique(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	for _, fn := range last.committed {
		fn()
	}
	return nil
}

// Ping reports whether the database can be reached and its schema is at head.
func (s *Store) Ping(ctx context.Context) error { return s.engine.Ping(ctx) }

// Probe commits a small change, to find out whether writes are possible.
func (s *Store) Probe(ctx context.Context) error {
	return s.engine.Write(ctx, func(c engine.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO setting (name, value) VALUES ('probe', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
			strconv.AppendInt(nil, s.now().UnixMilli(), 10))
		return err
	})
}

// BackupSetting names the setting with the time of the last backup.
const BackupSetting = "last backup"

// LastBackup returns when the last backup was completed; zero if there is none.
func (s *Store) LastBackup(ctx context.Context) (at time.Time, err error) {
	err = s.engine.Read(ctx, func(c engine.Conn) error {
		var value []byte
		err := c.Row(ctx, `SELECT value FROM setting WHERE name = $1`, BackupSetting).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the time of the last backup: %w", err)
		}
		ms, err := strconv.ParseInt(string(value), 10, 64)
		at = time.UnixMilli(ms).UTC()
		return err
	})
	return at, err
}

// Size returns the size of the database in bytes.
func (s *Store) Size(ctx context.Context) (bytes int64, err error) {
	query := `SELECT pg_database_size(current_database())`
	if s.Engine() == "sqlite" {
		query = `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	}
	err = s.engine.Read(ctx, func(c engine.Conn) error { return c.Row(ctx, query).Scan(&bytes) })
	if err != nil {
		return 0, fmt.Errorf("read the size of the database: %w", err)
	}
	return bytes, nil
}

// Stats returns counters of the database since it was opened.
func (s *Store) Stats() Stats { return s.engine.Stats() }

// Engine names the database: "sqlite" or "postgres".
func (s *Store) Engine() string { return s.engine.Name() }

// Close ends all work and closes the database.
func (s *Store) Close() error { return s.engine.Close() }

// documentVersion is the version of the encoding of stored records.
const documentVersion = 1

// collect runs a query and reads each row with scan.
func collect[T any](ctx context.Context, c conn, scan func(rows) (T, error), query string, args ...any) ([]T, error) {
	return engine.Collect(ctx, c.whole(), scan, query, args...)
}

// chunkSize is the maximum number of long rows that one statement reads.
const chunkSize = 100

// inChunks reads the records with these ids, in their order. A statement that sorts
// whole records would hold all of them in memory, however many there are, so callers
// sort only ids.
func inChunks[T any, ID comparable](org lastmile.OrganizationID, ids []ID, read func(*condition) ([]T, error), idOf func(T) ID) ([]T, error) {
	list := make([]T, 0, len(ids))
	for chunk := range slices.Chunk(ids, chunkSize) {
		where := within(org)
		in(where, `t.id`, chunk)
		found, err := read(where)
		if err != nil {
			return nil, err
		}
		byID := make(map[ID]T, len(found))
		for _, record := range found {
			byID[idOf(record)] = record
		}
		for _, id := range chunk {
			if record, ok := byID[id]; ok {
				list = append(list, record)
			}
		}
	}
	return list, nil
}

// scanID reads the id of a record.
func scanID[ID ~string](r rows) (id ID, err error) {
	var text string
	err = r.Scan(&text)
	return ID(text), err
}

// condition builds a WHERE clause. $1 is the organization.
type condition struct {
	text string
	args []any
}

func within(org lastmile.OrganizationID) *condition {
	return &condition{text: `t.org = $1`, args: []any{org}}
}

// and adds a test of one value, for which the test has a question mark.
func (c *condition) and(test string, value any) *condition {
	c.args = append(c.args, value)
	c.text += ` AND ` + strings.Replace(test, "?", "$"+strconv.Itoa(len(c.args)), 1)
	return c
}

// own adds a test that a record is visible to an administrator who manages only some
// teams; see engine.OwnTask. An empty id adds none.
func (c *condition) own(test func(manager string) string, manager lastmile.AdminID) *condition {
	if manager != "" {
		c.args = append(c.args, manager)
		c.text += ` AND ` + test("$"+strconv.Itoa(len(c.args)))
	}
	return c
}

// ownTeam and ownWorker test a row t of table team or worker.
func ownTeam(manager string) string   { return `t.id IN ` + engine.OwnTeams(manager) }
func ownWorker(manager string) string { return `t.id IN ` + engine.OwnWorkers(manager) }

// in adds a test that a column has one of the values. An empty list adds none.
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

// has adds a test that a record has all of the metadata entries. SQLite reads the ids of
// all records with the first entry into memory, and looks up the other entries of each.
func (c *condition) has(kind store.Kind, metadata lastmile.Metadata) *condition {
	entry := `FROM metadata_entry m WHERE m.org = $1 AND m.kind = '` + string(kind) + `' AND m.digest = ?`
	test := `t.id IN (SELECT m.id ` + entry + `)`
	for _, one := range metadata {
		c.and(test, one.Digest())
		test = `EXISTS (SELECT 1 ` + entry + ` AND m.id = t.id)`
	}
	return c
}

// limit returns the clause that limits a query to n rows; 0 for no limit.
func limit(n int) string {
	if n == 0 {
		return ""
	}
	return " LIMIT " + strconv.Itoa(n)
}

// millis returns a time as it is stored; the zero time is null.
func millis(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	ms := at.UnixMilli()
	return &ms
}

// instant returns the time that millis stored.
func instant(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}

// DataVersion returns a value that changes whenever another process has committed
// something. Commits of this process may change it too, on PostgreSQL.
func (s *Store) DataVersion(ctx context.Context) (string, error) { return s.engine.DataVersion(ctx) }

// Relay returns the relay between the processes that share the database, or nil on
// SQLite. It is closed with the store.
func (s *Store) Relay() *postgres.Relay {
	if e, ok := s.engine.(*postgres.Engine); ok {
		return e.Relay()
	}
	return nil
}
