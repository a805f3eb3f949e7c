package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"
)

// notifyChannel is the channel on which nodes notify each other.
const notifyChannel = "dray"

// notifyQuery sends a notification. A crash of the server loses notifications anyway, so
// the commit need not wait for the disk. The setting is local to the transaction, because
// a proxy may share the connection with others.
const notifyQuery = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`

// Relay sends notifications to the processes that use the same PostgreSQL
// database, and receives theirs. It has its own connections: one that listens
// while Listen runs, and one that sends, so that neither waits for the pool of the
// engine.
type Relay struct {
	sender *pgxpool.Pool // has one connection
}

// newRelay returns a relay whose connections are configured like those of a pool.
func newRelay(ctx context.Context, like *pgxpool.Config) (*Relay, error) {
	config := like.Copy()
	config.MaxConns, config.MinConns, config.MinIdleConns = 1, 0, 0
	config.ConnConfig.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()} // end at once
	}
	sender, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("set up notifications: %w", err)
	}
	return &Relay{sender: sender}, nil
}

// Relay returns the relay between the processes that share the database. It is closed
// with the engine.
func (e *Engine) Relay() *Relay { return e.relay }

// Notify sends payloads to every process that listens. It is not part of the caller's
// transaction, because a transaction that notifies holds a lock of the whole server until
// its commit is on disk.
func (r *Relay) Notify(ctx context.Context, payloads []string) error {
	batch := &pgx.Batch{}
	for _, payload := range payloads {
		batch.Queue(notifyQuery, notifyChannel, payload)
	}
	if err := r.sender.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("notify other nodes: %w", err)
	}
	return nil
}

// Listen passes the payloads that any process sends to receive until ctx ends or the
// connection is lost, and returns why it ended. It calls listening once it listens.
func (r *Relay) Listen(ctx context.Context, listening func(), receive func(payload string)) error {
	c, err := pgx.ConnectConfig(ctx, r.sender.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	if _, err := c.Exec(ctx, `LISTEN `+notifyChannel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	listening()
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		receive(n.Payload)
	}
}

// close closes the connection that sends.
func (r *Relay) close() { r.sender.Close() }
