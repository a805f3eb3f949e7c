package sqlstore

import (
	"context"
	"fmt"
	"strconv"
)

// Version returns a value that changes whenever another process has committed
// something. Commits of this process may change it too, on PostgreSQL.
func (s *Store) Version(ctx context.Context) (string, error) { return s.engine.version(ctx) }

// pgUndefinedFunction is the code of a function that does not exist.
const pgUndefinedFunction = "42883"

// version implements engine. It is the set of transactions that are visible. A
// server without that function gets a new version each time.
func (e *pgEngine) version(ctx context.Context) (version string, err error) {
	err = e.direct(ctx, func(c conn) error {
		return c.row(ctx, `SELECT pg_current_snapshot()::text`).Scan(&version)
	})
	if pgCode(err) == pgUndefinedFunction {
		return strconv.FormatInt(e.unversioned.Add(1), 10), nil
	}
	if err != nil {
		return "", fmt.Errorf("read the version of the database: %w", err)
	}
	return version, nil
}

// version implements engine. SQLite counts, for each connection, the commits of
// all others, so it is asked on the one connection that writes.
func (e *sqliteEngine) version(ctx context.Context) (string, error) {
	reply := make(chan versionReply, 1)
	select {
	case e.writer.versions <- reply:
		got := <-reply
		return got.version, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-e.writer.gone:
		return "", errClosed
	}
}

// versionReply is what the writer's connection says of the version.
type versionReply struct {
	version string
	err     error
}

// version reads the version between two transactions.
func (w *writer) version() (reply versionReply) {
	c := &sqliteConn{h: w.h}
	defer c.end()
	var version int64
	if err := c.row(context.Background(), `PRAGMA data_version`).Scan(&version); err != nil {
		return versionReply{err: fmt.Errorf("read the version of the database: %w", err)}
	}
	return versionReply{version: strconv.FormatInt(version, 10)}
}
