package sqlite

import (
	"context"
	"fmt"
	"strconv"

	"dray/internal/store/engine"
)

// DataVersion implements engine.Engine. SQLite counts, for each connection, the commits of
// all others, so it is read on the one connection that writes.
func (e *Engine) DataVersion(ctx context.Context) (string, error) {
	reply := make(chan versionReply, 1)
	select {
	case e.writer.asides <- func() { reply <- e.writer.version(ctx) }:
		got := <-reply
		return got.version, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-e.writer.gone:
		return "", engine.ErrClosed
	}
}

// versionReply is the result of writer.version.
type versionReply struct {
	version string
	err     error
}

// version reads the version between two transactions.
func (w *writer) version(ctx context.Context) versionReply {
	c := &conn{h: w.h}
	defer c.end()
	var version int64
	if err := c.Row(ctx, `PRAGMA data_version`).Scan(&version); err != nil {
		return versionReply{err: fmt.Errorf("read the version of the database: %w", err)}
	}
	return versionReply{version: strconv.FormatInt(version, 10)}
}
