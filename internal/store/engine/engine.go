package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Conn runs SQL text written with $1, $2 …; the same text serves both engines.
// It is valid only inside the function that received it and is used by one
// goroutine at a time.
type Conn interface {
	// Exec runs a statement and returns how many rows it wrote.
	Exec(ctx context.Context, query string, args ...any) (affected int64, err error)
	// Send runs a statement for its effect alone, no later than the next call
	// of another method. Its error may be reported by a later statement or by
	// the operation.
	Send(ctx context.Context, query string, args ...any) error
	// Query runs a statement and returns its rows, which must be read to the
	// end or closed before the next statement.
	Query(ctx context.Context, query string, args ...any) (Rows, error)
	// Ahead announces a query that the operation will run, with arguments of comparable
	// types. The query may run together with an earlier statement, to save a round trip, so
	// no statement in between may change its rows.
	Ahead(query string, args ...any)
	// Row runs a statement for its first row. It runs when Scan is called.
	Row(ctx context.Context, query string, args ...any) Scanner
	// Dialect describes the database.
	Dialect() *Dialect
	// Revision identifies the current state of the database: if it returns the same value
	// twice, no process has committed anything in between. It returns the zero Revision if
	// the state is unknown, as it always is where finding out takes a round trip.
	Revision() Revision
}

// Revision identifies a state of a database.
type Revision [6]uint64

// Scanner holds one row. Scan returns sql.ErrNoRows if there is none.
type Scanner interface {
	Scan(dest ...any) error
}

// Rows iterates over a result. Close may be called any number of times.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Raw is a destination for a text or blob that is not copied: its bytes belong
// to the database and are valid until the next call of a method of their Rows.
// NULL is nil.
type Raw []byte

// ScanBytes sets the bytes. It implements an interface of the PostgreSQL driver.
func (r *Raw) ScanBytes(b []byte) error {
	*r = b
	return nil
}

// Engine is an SQL database.
type Engine interface {
	// Direct runs single statements, each with its own snapshot, without a
	// transaction around them: the cheapest read.
	Direct(ctx context.Context, fn func(Conn) error) error
	// Read runs fn over one consistent snapshot. fn may run more than once, but
	// only after its first statement has failed.
	Read(ctx context.Context, fn func(Conn) error) error
	// Write runs fn atomically and durably. fn may run more than once. If fn
	// returns an error, none of its changes are kept and that error is
	// returned unchanged.
	Write(ctx context.Context, fn func(Conn) error) error
	// IsUnique reports whether err is the violation of a primary or unique key.
	IsUnique(err error) bool
	// Name is "sqlite" or "postgres".
	Name() string
	// Close waits for running operations and closes the database.
	Close() error
	// Ping reports whether the database is reachable and its schema current.
	Ping(ctx context.Context) error
	// DataVersion returns a value that changes whenever another process has
	// committed something.
	DataVersion(ctx context.Context) (string, error)
	// Stats returns counters since the database was opened.
	Stats() Stats
}

// Dialect describes the differences between the databases.
type Dialect struct {
	// InOrder is set if writes are committed in the order in which they run.
	InOrder bool
	// OneByOne is set if many rows are inserted faster one by one.
	OneByOne bool
	// SendsAll is set if the database sends all rows of a query, even if the caller stops
	// reading earlier.
	SendsAll bool

	// Definition rewrites a statement of a migration for the database. It returns "" if
	// the database does not need it.
	Definition func(statement string) string
	// CountVersionTable counts the tables named schema_version.
	CountVersionTable string
	// ListColumns selects, for every column of every table in order: the table,
	// 1 if the table has no rowid, the column, and its position in the primary
	// key or 0.
	ListColumns string
}

var (
	// ErrUnsynced is returned for a write that may or may not survive a crash.
	ErrUnsynced = errors.New("the disk failed to make a write durable")
	// ErrClosed is returned by an engine that was closed.
	ErrClosed = errors.New("the database is closed")
	// ErrEnded is returned by a connection whose operation has ended.
	ErrEnded = errors.New("the operation has ended: its connection cannot be used any more")
	// ErrFailedBefore is returned for statements after one that failed.
	ErrFailedBefore = errors.New("an earlier statement of this operation failed")
)

// Usable returns an error if a connection can run no further statement, because its
// operation has ended or an earlier statement failed.
func Usable(ended bool, failed error) error {
	switch {
	case ended:
		return ErrEnded
	case failed != nil:
		return fmt.Errorf("%w: %w", ErrFailedBefore, failed)
	default:
		return nil
	}
}

// Protect runs fn and turns a panic into an error, so that one faulty
// operation harms neither the process nor other operations.
func Protect(log *slog.Logger, c Conn, fn func(Conn) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("operation panicked: %v", r)
			log.Error("operation panicked", "panic", r, "stack", string(debug.Stack()))
		}
	}()
	return fn(c)
}
