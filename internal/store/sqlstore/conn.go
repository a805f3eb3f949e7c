package sqlstore

import (
	"context"

	"dray/internal/store/engine"
)

// conn is an engine.Conn inside this package. Its methods are unexported so
// that tx, which embeds it, exports records only.
type conn interface {
	exec(ctx context.Context, query string, args ...any) (affected int64, err error)
	send(ctx context.Context, query string, args ...any) error
	query(ctx context.Context, query string, args ...any) (rows, error)
	row(ctx context.Context, query string, args ...any) scanner
	inOrder() bool  // writes are committed in the order in which they run
	oneByOne() bool // many rows are inserted faster one by one
}

type (
	rows    = engine.Rows
	scanner = engine.Scanner
)

// sqlConn is the connection of an engine as a conn.
type sqlConn struct{ c engine.Conn }

func (s sqlConn) exec(ctx context.Context, query string, args ...any) (int64, error) {
	return s.c.Exec(ctx, query, args...)
}

func (s sqlConn) send(ctx context.Context, query string, args ...any) error {
	return s.c.Send(ctx, query, args...)
}

func (s sqlConn) query(ctx context.Context, query string, args ...any) (rows, error) {
	return s.c.Query(ctx, query, args...)
}

func (s sqlConn) row(ctx context.Context, query string, args ...any) scanner {
	return s.c.Row(ctx, query, args...)
}

func (s sqlConn) inOrder() bool { return s.c.Dialect().InOrder }

func (s sqlConn) oneByOne() bool { return s.c.Dialect().OneByOne }
