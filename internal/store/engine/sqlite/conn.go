package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	lib "modernc.org/sqlite/lib"

	"dray/internal/store/engine"
)

// conn is an engine.Conn over a handle, for the length of one operation.
//
// It ignores the context of a statement: a write that has begun is finished,
// and a read is interrupted by its handle (handle.watch).
type conn struct {
	h      *handle
	failed error // error of the first failed statement; ends the operation, as in PostgreSQL
	ended  bool
}

// dialect describes SQLite.
var dialect = engine.Dialect{
	InOrder: true, // there is one writer at a time
	// SQLite copies each page that a statement of several rows changes, to be able to undo it.
	OneByOne: true,
	Definition: func(statement string) string {
		if strings.HasPrefix(statement, "ALTER TABLE") && strings.Contains(statement, " SET (") { // a storage setting of PostgreSQL
			return ""
		}
		return statement
	},
	CountVersionTable: `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'`,
	ListColumns: `SELECT t.name, t.wr, i.name, i.pk
		FROM pragma_table_list AS t, pragma_table_info(t.name) AS i
		WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY t.name, i.cid`,
}

// Dialect implements engine.Conn.
func (c *conn) Dialect() *engine.Dialect { return &dialect }

// usable returns an error if no further statement can run.
func (c *conn) usable() error { return engine.Usable(c.ended, c.failed) }

// note records the first error of a statement and returns err.
func (c *conn) note(err error) error {
	if err != nil && c.failed == nil {
		c.failed = err
	}
	return err
}

// Exec implements engine.Conn.
func (c *conn) Exec(_ context.Context, query string, args ...any) (int64, error) {
	if err := c.usable(); err != nil {
		return 0, err
	}
	n, err := c.h.exec(query, args)
	return n, c.note(err)
}

// Send implements engine.Conn. The statement runs at once.
func (c *conn) Send(ctx context.Context, query string, args ...any) error {
	_, err := c.Exec(ctx, query, args...)
	return err
}

// Ahead implements engine.Conn. There are no round trips to save.
func (c *conn) Ahead(string, ...any) {}

// Query implements engine.Conn.
func (c *conn) Query(_ context.Context, query string, args ...any) (engine.Rows, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	s, err := c.h.prepared(query)
	if err != nil {
		return nil, c.note(err)
	}
	if err := s.start(args); err != nil {
		return nil, c.note(err)
	}
	return &rows{c: c, s: s}, nil
}

// Row implements engine.Conn.
func (c *conn) Row(_ context.Context, query string, args ...any) engine.Scanner {
	return &row{c: c, query: query, args: args}
}

// end invalidates the connection and resets a statement that is still running.
func (c *conn) end() {
	c.ended = true
	c.h.settle()
}

// row is a query for one row that runs when it is scanned.
type row struct {
	c     *conn
	query string
	args  []any
}

// Scan implements engine.Scanner.
func (r *row) Scan(dest ...any) error {
	if err := r.c.usable(); err != nil {
		return err
	}
	s, err := r.c.h.prepared(r.query)
	if err != nil {
		return r.c.note(err)
	}
	if err := s.start(r.args); err != nil {
		return r.c.note(err)
	}
	more, err := s.step()
	switch {
	case err != nil:
		err = r.c.note(err)
	case !more:
		err = sql.ErrNoRows
	default:
		err = s.scan(dest)
	}
	s.reset()
	return err
}

// rows iterates over the rows of a running statement.
type rows struct {
	c    *conn
	s    *stmt // nil when closed
	more bool
	err  error
}

// Next implements engine.Rows.
func (r *rows) Next() bool {
	if r.s == nil || r.c.ended {
		return false
	}
	if r.more, r.err = r.s.step(); !r.more {
		r.c.note(r.err) //nolint:errcheck // Err returns it
		r.Close()
	}
	return r.more
}

// Scan implements engine.Rows.
func (r *rows) Scan(dest ...any) error {
	if r.s == nil || !r.more || r.c.ended {
		return errors.New("no row to scan")
	}
	return r.s.scan(dest)
}

// Err implements engine.Rows.
func (r *rows) Err() error { return r.err }

// Close implements engine.Rows.
func (r *rows) Close() {
	if r.s != nil && !r.c.ended {
		r.s.reset()
	}
	r.s, r.more = nil, false
}

// IsUnique implements engine.Engine.
func (e *Engine) IsUnique(err error) bool {
	failure, ok := errors.AsType[*libraryError](err)
	return ok && (failure.code == lib.SQLITE_CONSTRAINT_UNIQUE || failure.code == lib.SQLITE_CONSTRAINT_PRIMARYKEY ||
		failure.code == lib.SQLITE_CONSTRAINT_ROWID)
}
