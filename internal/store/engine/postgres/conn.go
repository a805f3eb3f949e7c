package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgtype"

	"dray/internal/store/engine"
)

// querier has the methods that transactions and plain connections of pgx share.
type querier interface {
	Conn() *pgx.Conn
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// conn is an engine.Conn over pgx, for the length of one operation.
type conn struct {
	q       querier
	raw     *pgx.Conn // the connection of q
	limit   limit     // ends statements with the operation
	failed  error     // error of the first statement that failed
	begun   bool      // the transaction has begun; otherwise, BEGIN waits
	ended   bool
	open    engine.Rows
	waiting *pgx.Batch // statements passed to Send and not yet sent
	ahead   []announced
}

// newConn returns a conn whose statements end no later than the context, even
// if they are called with another one.
func newConn(ctx context.Context, q querier) *conn {
	return &conn{q: q, raw: q.Conn(), limit: until(ctx)}
}

// limit adds the deadline of an operation to the context of a statement.
type limit func(ctx context.Context) (context.Context, context.CancelFunc)

// until returns the limit of an operation that has the deadline of a context.
func until(operation context.Context) limit {
	deadline, ok := operation.Deadline()
	if !ok {
		return func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
	}
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithDeadline(ctx, deadline)
	}
}

// within is like until, for an operation whose context was derived from outer. Statements
// usually have outer as their context and need no third context and timer.
func within(outer, operation context.Context) limit {
	other := until(operation)
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		if ctx == outer {
			return operation, func() {}
		}
		return other(ctx)
	}
}

// errConnectionLost marks a statement whose connection broke.
var errConnectionLost = errors.New("connection lost")

// note records the first error of a statement and returns err.
func (c *conn) note(err error) error {
	if err == nil {
		return nil
	}
	if c.raw.IsClosed() && !givenUp(err) {
		err = fmt.Errorf("%w: %w", errConnectionLost, err)
	}
	if c.failed == nil {
		c.failed = err
	}
	return err
}

// givenUp reports whether a statement ended because its context did. The context of the
// operation may still be valid.
func givenUp(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// usable returns an error if no further statement can run.
func (c *conn) usable() error { return engine.Usable(c.ended, c.failed) }

// textColumn finds the text columns in a definition.
var textColumn = regexp.MustCompile(`(?m)^(\s+\w+ TEXT)\b`)

// dialect describes PostgreSQL. Transactions run concurrently, and a statement costs more
// than its rows.
var dialect = engine.Dialect{
	SendsAll: true,
	// Both databases must compare text byte by byte. By default, PostgreSQL compares it by
	// the locale of the database, and lists would be ordered differently.
	Definition: func(statement string) string {
		return textColumn.ReplaceAllString(statement, `$1 COLLATE "C"`)
	},
	CountVersionTable: `SELECT count(*) FROM information_schema.tables
		WHERE table_schema = current_schema() AND table_name = 'schema_version'`,
	ListColumns: `SELECT t.table_name::text, 0::bigint, i.column_name::text, 0::bigint
		FROM information_schema.tables AS t JOIN information_schema.columns AS i
			ON i.table_schema = t.table_schema AND i.table_name = t.table_name
		WHERE t.table_schema = current_schema() AND t.table_type = 'BASE TABLE'
		ORDER BY t.table_name, i.ordinal_position`,
}

// Dialect implements engine.Conn.
func (c *conn) Dialect() *engine.Dialect { return &dialect }

// Revision implements engine.Conn. It is unknown without a round trip.
func (c *conn) Revision() engine.Revision { return engine.Revision{} }

// maxWaiting is the maximum number of statements that Send holds back.
const maxWaiting = 128

// Send implements engine.Conn. The statement is sent together with the next one whose
// result is needed, because a round trip for each would cost more than the work.
func (c *conn) Send(ctx context.Context, query string, args ...any) error {
	if err := c.usable(); err != nil {
		return err
	}
	if c.waiting == nil {
		c.waiting = &pgx.Batch{}
	}
	c.waiting.Queue(query, args...)
	if c.waiting.Len() < maxWaiting {
		return nil
	}
	return c.flush(ctx)
}

// flush runs the statements that wait.
func (c *conn) flush(ctx context.Context) error {
	if c.waiting == nil {
		return nil
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	results, err := c.deliver(ctx, c.waiting.Len())
	if err != nil {
		return c.note(err)
	}
	return c.note(results.Close())
}

// deliver sends the statements that wait and reads the results of the first n.
func (c *conn) deliver(ctx context.Context, n int) (pgx.BatchResults, error) {
	results := c.q.SendBatch(ctx, c.waiting)
	c.waiting = nil
	for range n {
		if _, err := results.Exec(); err != nil {
			results.Close()
			return nil, err
		}
		c.begun = true
	}
	return results, nil
}

// Exec implements engine.Conn.
func (c *conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := c.usable(); err != nil {
		return 0, err
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	tag, err := c.exec(ctx, query, args...)
	return tag.RowsAffected(), c.note(err)
}

// exec runs a statement together with those that wait, which run before it.
func (c *conn) exec(ctx context.Context, query string, args ...any) (tag pgconn.CommandTag, err error) {
	if c.waiting == nil {
		return c.q.Exec(ctx, query, args...)
	}
	before := c.waiting.Len()
	c.waiting.Queue(query, args...)
	results, err := c.deliver(ctx, before)
	if err != nil {
		return tag, err
	}
	tag, err = results.Exec()
	if closed := results.Close(); err == nil {
		err = closed
	}
	return tag, err
}

// Query implements engine.Conn.
func (c *conn) Query(ctx context.Context, query string, args ...any) (engine.Rows, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	ctx, cancel := c.limit(ctx)
	r, err := c.ask(ctx, query, args)
	if err != nil {
		cancel()
		return nil, c.note(err)
	}
	c.open = &rows{Rows: r, c: c, cancel: cancel}
	return c.open, nil
}

// announced is a query that was passed to Ahead.
type announced struct {
	query string
	args  []any
	rows  *heldRows // nil until it ran
}

// Ahead implements engine.Conn. The query runs together with the next one.
func (c *conn) Ahead(query string, args ...any) {
	c.takeAhead(query, args) // rows read earlier may be out of date
	c.ahead = append(c.ahead, announced{query: query, args: args})
}

// takeAhead returns the rows of a query that ran ahead, or nil. The query is no
// longer announced.
func (c *conn) takeAhead(query string, args []any) *heldRows {
	for i, a := range c.ahead {
		if a.query == query && slices.Equal(a.args, args) {
			c.ahead = slices.Delete(c.ahead, i, i+1)
			return a.rows
		}
	}
	return nil
}

// ask runs a query in one round trip with the waiting statements and the announced
// queries, which run before it.
func (c *conn) ask(ctx context.Context, query string, args []any) (pgx.Rows, error) {
	if held := c.takeAhead(query, args); held != nil {
		return held, nil
	}
	if c.waiting == nil && len(c.ahead) == 0 {
		return c.q.Query(ctx, query, args...)
	}
	if c.waiting == nil {
		c.waiting = &pgx.Batch{}
	}
	before := c.waiting.Len()
	for _, a := range c.ahead {
		if a.rows == nil {
			c.waiting.Queue(a.query, a.args...)
		}
	}
	c.waiting.Queue(query, args...)
	results, err := c.deliver(ctx, before)
	if err != nil {
		return nil, err
	}
	for i, a := range c.ahead {
		if a.rows == nil {
			if c.ahead[i].rows, err = hold(c.raw.TypeMap(), results); err != nil {
				results.Close()
				return nil, err
			}
		}
	}
	r, err := results.Query()
	if err != nil {
		results.Close()
		return nil, err
	}
	return &lastRows{Rows: r, results: results}, nil
}

// heldRows are the rows of a query that ran ahead.
type heldRows struct {
	pgx.Rows // nil: only the methods below are used
	types    *pgtype.Map
	fields   []pgconn.FieldDescription
	values   [][][]byte
	row      [][]byte
}

// hold reads the rows of the next result of a batch.
func hold(types *pgtype.Map, results pgx.BatchResults) (*heldRows, error) {
	r, err := results.Query()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h := &heldRows{types: types, fields: slices.Clone(r.FieldDescriptions())}
	for r.Next() {
		row := r.RawValues()
		values := make([][]byte, len(row))
		for i, value := range row {
			values[i] = bytes.Clone(value)
		}
		h.values = append(h.values, values)
	}
	return h, r.Err()
}

// Next implements pgx.Rows.
func (h *heldRows) Next() bool {
	if len(h.values) == 0 {
		return false
	}
	h.row, h.values = h.values[0], h.values[1:]
	return true
}

// Scan implements pgx.Rows.
func (h *heldRows) Scan(dest ...any) error { return pgx.ScanRow(h.types, h.fields, h.row, dest...) }

// Err implements pgx.Rows.
func (h *heldRows) Err() error { return nil }

// Close implements pgx.Rows.
func (h *heldRows) Close() { h.values = nil }

// lastRows are the rows of a query that was sent together with others.
type lastRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error
}

// Close implements pgx.Rows.
func (r *lastRows) Close() {
	r.Rows.Close()
	if err := r.results.Close(); r.err == nil {
		r.err = err
	}
}

// Next implements pgx.Rows.
func (r *lastRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

// Err implements pgx.Rows.
func (r *lastRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// Row implements engine.Conn.
func (c *conn) Row(ctx context.Context, query string, args ...any) engine.Scanner {
	return rowFunc(func(dest []any) error {
		if err := c.usable(); err != nil {
			return err
		}
		ctx, cancel := c.limit(ctx)
		defer cancel()
		r, err := c.ask(ctx, query, args)
		if err != nil {
			return c.note(err)
		}
		defer r.Close()
		if !r.Next() {
			if err := r.Err(); err != nil {
				return c.note(err)
			}
			return sql.ErrNoRows
		}
		if err := r.Scan(dest...); err != nil {
			return err
		}
		r.Close()
		return c.note(r.Err())
	})
}

// end invalidates the connection and closes rows that are still open.
func (c *conn) end() {
	c.ended = true
	if c.open != nil {
		c.open.Close()
	}
}

// rowFunc is an engine.Scanner that runs its query when it is scanned.
type rowFunc func(dest []any) error

// Scan implements engine.Scanner.
func (f rowFunc) Scan(dest ...any) error { return f(dest) }

// rows records the errors of pgx rows in their operation.
type rows struct {
	pgx.Rows
	c      *conn
	cancel context.CancelFunc
}

// Close implements engine.Rows.
func (r *rows) Close() {
	r.Rows.Close()
	r.cancel()
}

// Next implements engine.Rows.
func (r *rows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.c.note(r.Rows.Err()) //nolint:errcheck // Err returns it
	return false
}

// dialer opens connections that soon detect that the server is gone.
func dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout: timeout,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: 10 * time.Second, Interval: 3 * time.Second, Count: 3,
		},
		Control: userTimeout,
	}
}

// abandonedFor is how long a statement may still run after its caller has left. Few take as
// long, and only ending one of those is worth a new connection, in which the server would
// have to plan every statement again.
const abandonedFor = 500 * time.Millisecond

// watcher ends a statement when its time is over, and some time after its caller has left.
// Ending it closes the connection.
type watcher struct {
	pgconn.DeadlineContextWatcherHandler
}

// HandleCancel implements ctxwatch.Handler.
func (w *watcher) HandleCancel(ctx context.Context) {
	w.DeadlineDelay = 0
	if errors.Is(ctx.Err(), context.Canceled) {
		w.DeadlineDelay = abandonedFor
	}
	w.DeadlineContextWatcherHandler.HandleCancel(ctx)
}

// watch returns the watcher of a connection.
func watch(c *pgconn.PgConn) ctxwatch.Handler {
	return &watcher{pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}}
}
