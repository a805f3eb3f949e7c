package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	lib "modernc.org/sqlite/lib"
)

// sqliteConn is a conn over a handle, for the length of one operation.
//
// The context of a statement is not looked at: a write that has begun is
// finished, and a read is given up by its handle (handle.watch).
type sqliteConn struct {
	h      *handle
	failed error // first statement that failed: ends the operation, as in PostgreSQL
	ended  bool
}

// errFailedBefore answers statements after one that failed.
var errFailedBefore = errors.New("an earlier statement of this operation failed")

// usable tells whether another statement may run.
func (c *sqliteConn) usable() error {
	switch {
	case c.ended:
		return errors.New("the operation has ended: its connection cannot be used any more")
	case c.failed != nil:
		return fmt.Errorf("%w: %w", errFailedBefore, c.failed)
	default:
		return nil
	}
}

// note keeps the first error of a statement and returns it.
func (c *sqliteConn) note(err error) error {
	if err != nil && c.failed == nil {
		c.failed = err
	}
	return err
}

// exec implements conn.
func (c *sqliteConn) exec(_ context.Context, query string, args ...any) (int64, error) {
	if err := c.usable(); err != nil {
		return 0, err
	}
	n, err := c.h.exec(query, args)
	return n, c.note(err)
}

// send implements conn. There is nobody to send it to: it runs at once.
func (c *sqliteConn) send(ctx context.Context, query string, args ...any) error {
	_, err := c.exec(ctx, query, args...)
	return err
}

// query implements conn.
func (c *sqliteConn) query(_ context.Context, query string, args ...any) (rows, error) {
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
	return &sqliteRows{c: c, s: s}, nil
}

// row implements conn.
func (c *sqliteConn) row(_ context.Context, query string, args ...any) scanner {
	return &sqliteRow{c: c, query: query, args: args}
}

// inOrder implements conn: there is one writer at a time.
func (c *sqliteConn) inOrder() bool { return true }

// oneByOne implements conn: to undo a statement of several rows alone, a copy is
// kept of each page that it changes.
func (c *sqliteConn) oneByOne() bool { return true }

// end makes the connection useless and resets what was left running.
func (c *sqliteConn) end() {
	c.ended = true
	c.h.settle()
}

// sqliteRow is a query for one row that runs when it is scanned.
type sqliteRow struct {
	c     *sqliteConn
	query string
	args  []any
}

// Scan implements scanner.
func (r *sqliteRow) Scan(dest ...any) error {
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

// sqliteRows walks over the rows of a running statement.
type sqliteRows struct {
	c    *sqliteConn
	s    *stmt // nil when closed
	more bool
	err  error
}

// Next implements rows.
func (r *sqliteRows) Next() bool {
	if r.s == nil || r.c.ended {
		return false
	}
	if r.more, r.err = r.s.step(); !r.more {
		r.c.note(r.err) //nolint:errcheck // Err returns it
		r.Close()
	}
	return r.more
}

// Scan implements rows.
func (r *sqliteRows) Scan(dest ...any) error {
	if r.s == nil || !r.more || r.c.ended {
		return errors.New("no row to scan")
	}
	return r.s.scan(dest)
}

// Err implements rows.
func (r *sqliteRows) Err() error { return r.err }

// Close implements rows.
func (r *sqliteRows) Close() {
	if r.s != nil && !r.c.ended {
		r.s.reset()
	}
	r.s, r.more = nil, false
}

// isUnique tells whether err is the violation of a primary or unique key, in
// either engine.
func isUnique(err error) bool {
	if e, ok := errors.AsType[*sqliteError](err); ok {
		return e.code == lib.SQLITE_CONSTRAINT_UNIQUE || e.code == lib.SQLITE_CONSTRAINT_PRIMARYKEY ||
			e.code == lib.SQLITE_CONSTRAINT_ROWID
	}
	return pgCode(err) == pgUniqueViolation
}
