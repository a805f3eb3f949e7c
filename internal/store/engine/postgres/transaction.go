package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// How transactions begin.
const (
	beginRead         = `begin isolation level repeatable read read only`
	beginSerializable = `begin isolation level serializable`
	beginLocking      = `begin isolation level read committed`
)

// freshFor is the time after a response for which a connection is assumed to work. On such
// a connection, BEGIN is sent together with the first statement. A connection that was
// idle for longer may be broken, or its server may hang; a separate BEGIN finds out soon.
const freshFor = time.Second

// responded is the key of the time of a connection's last response in its custom data.
const responded = "responded"

// begin takes a connection and begins a transaction on it, each within the time limit for
// connections. If careful, it sends BEGIN at once, on the first connection that is not
// broken: after a restart of the server, all connections of the pool are. release rolls
// back the transaction unless it was committed, and returns the connection.
func (e *Engine) begin(ctx context.Context, how string, careful bool) (_ *conn, release func(), _ error) {
	for {
		pooled, give, err := e.acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		c := newConn(ctx, pooled)
		release = func() { e.release(ctx, c, give) }
		at, known := pooled.Conn().PgConn().CustomData()[responded].(time.Time)
		if known && !careful && e.timer().Sub(at) < freshFor {
			c.waiting = &pgx.Batch{}
			c.waiting.Queue(how)
			return c, release, nil
		}
		soon, cancel := context.WithTimeout(ctx, e.patience)
		_, err = pooled.Exec(soon, how)
		late := soon.Err() != nil
		cancel()
		if err == nil {
			c.begun = true
			return c, release, nil
		}
		lost := pooled.Conn().IsClosed()
		release()
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case late:
			return nil, nil, e.unreachable(err)
		case !lost:
			return nil, nil, &attemptError{err: fmt.Errorf("begin: %w", err), cause: err}
		}
	}
}

// release rolls back a transaction that is still open and returns its connection.
func (e *Engine) release(ctx context.Context, c *conn, give func()) {
	defer give()
	if !c.raw.IsClosed() && c.raw.PgConn().TxStatus() != 'I' {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.patience)
		defer cancel()
		if _, err := c.raw.Exec(bounded, `rollback`); err != nil {
			return // the pool drops the connection
		}
	}
	if c.begun {
		c.raw.PgConn().CustomData()[responded] = e.timer()
	}
}

// commit commits the transaction, in one round trip with the statements that wait.
func (c *conn) commit(ctx context.Context) error {
	tag, err := c.exec(ctx, `commit`)
	if err == nil && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// isEmpty reports whether the transaction has no statement but BEGIN, which was not sent.
func (c *conn) isEmpty() bool { return !c.begun && (c.waiting == nil || c.waiting.Len() == 1) }

// neverBegan reports whether the connection broke before the transaction began.
func (c *conn) neverBegan() bool { return !c.begun && c.raw.IsClosed() }
