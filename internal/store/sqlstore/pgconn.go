package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// querier is what transactions and plain connections of pgx have in common.
type querier interface {
	Conn() *pgx.Conn
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// pgConn is a conn over pgx, for the length of one operation.
type pgConn struct {
	q        querier
	deadline time.Time // of the operation; zero means none
	failed   error     // first statement that failed
	ended    bool
	open     rows
	waiting  *pgx.Batch // sent, but not yet over the wire
}

// newPGConn returns a conn whose statements end with the context, whatever
// context they are given.
func newPGConn(ctx context.Context, q querier) *pgConn {
	deadline, _ := ctx.Deadline()
	return &pgConn{q: q, deadline: deadline}
}

// limit adds the operation's deadline to the context of a statement.
func (c *pgConn) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, c.deadline)
}

// errConnectionLost marks a statement whose connection broke.
var errConnectionLost = errors.New("connection lost")

// note keeps the first error of a statement and returns it.
func (c *pgConn) note(err error) error {
	if err == nil {
		return nil
	}
	if c.q.Conn().IsClosed() && !givenUp(err) {
		err = fmt.Errorf("%w: %w", errConnectionLost, err)
	}
	if c.failed == nil {
		c.failed = err
	}
	return err
}

// givenUp tells whether a statement ended because its context did. The context
// of the operation, a relative of it, may not know yet.
func givenUp(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// usable tells whether another statement may run.
func (c *pgConn) usable() error {
	switch {
	case c.ended:
		return errors.New("the operation has ended: its connection cannot be used any more")
	case c.failed != nil:
		return fmt.Errorf("%w: %w", errFailedBefore, c.failed)
	default:
		return nil
	}
}

// maxWaiting is how many statements are kept back at most.
const maxWaiting = 128

// send implements conn. The statement goes over the wire together with the next
// one whose result is needed: a trip for each would cost more than the work.
func (c *pgConn) send(ctx context.Context, query string, args ...any) error {
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

// flush runs what is waiting.
func (c *pgConn) flush(ctx context.Context) error {
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

// deliver runs what is waiting. The results of the first n are read.
func (c *pgConn) deliver(ctx context.Context, n int) (pgx.BatchResults, error) {
	results := c.q.SendBatch(ctx, c.waiting)
	c.waiting = nil
	for range n {
		if _, err := results.Exec(); err != nil {
			results.Close()
			return nil, err
		}
	}
	return results, nil
}

// exec implements conn.
func (c *pgConn) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := c.usable(); err != nil {
		return 0, err
	}
	if err := c.flush(ctx); err != nil {
		return 0, err
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	tag, err := c.q.Exec(ctx, query, args...)
	return tag.RowsAffected(), c.note(err)
}

// query implements conn.
func (c *pgConn) query(ctx context.Context, query string, args ...any) (rows, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	ctx, cancel := c.limit(ctx)
	r, err := c.ask(ctx, query, args)
	if err != nil {
		cancel()
		return nil, c.note(err)
	}
	c.open = &pgRows{Rows: r, c: c, cancel: cancel}
	return c.open, nil
}

// ask runs a query after what is waiting, in one trip.
func (c *pgConn) ask(ctx context.Context, query string, args []any) (pgx.Rows, error) {
	if c.waiting == nil {
		return c.q.Query(ctx, query, args...)
	}
	before := c.waiting.Len()
	c.waiting.Queue(query, args...)
	results, err := c.deliver(ctx, before)
	if err != nil {
		return nil, err
	}
	r, err := results.Query()
	if err != nil {
		results.Close()
		return nil, err
	}
	return &lastRows{Rows: r, results: results}, nil
}

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

// row implements conn.
func (c *pgConn) row(ctx context.Context, query string, args ...any) scanner {
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

// inOrder implements conn: transactions run side by side.
func (c *pgConn) inOrder() bool { return false }

// oneByOne implements conn: each statement costs more than its rows.
func (c *pgConn) oneByOne() bool { return false }

// end makes the connection useless and closes what was left open.
func (c *pgConn) end() {
	c.ended = true
	if c.open != nil {
		c.open.Close()
	}
}

// rowFunc is a scanner that runs its query when it is scanned.
type rowFunc func(dest []any) error

// Scan implements scanner.
func (f rowFunc) Scan(dest ...any) error { return f(dest) }

// pgRows are rows that tell their operation about errors.
type pgRows struct {
	pgx.Rows
	c      *pgConn
	cancel context.CancelFunc
}

// Close implements rows.
func (r *pgRows) Close() {
	r.Rows.Close()
	r.cancel()
}

// Next implements rows.
func (r *pgRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.c.note(r.Rows.Err()) //nolint:errcheck // Err returns it
	return false
}

// dialer opens connections that notice soon when the other side is gone.
func dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout: timeout,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: 10 * time.Second, Interval: 3 * time.Second, Count: 3,
		},
		Control: userTimeout,
	}
}
