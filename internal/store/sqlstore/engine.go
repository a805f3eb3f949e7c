package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"dray/internal/lastmile"
)

// conn runs SQL text written with $1, $2 …; the same text serves both engines.
// It is good only inside the function that was given it, by one goroutine.
type conn interface {
	// exec runs a statement and tells how many rows it wrote.
	exec(ctx context.Context, query string, args ...any) (affected int64, err error)
	// send runs a statement for its effect alone, no later than the next one
	// of another kind. Its error may be that of a later statement, or of the
	// operation.
	send(ctx context.Context, query string, args ...any) error
	// query runs a statement and returns its rows, which must be read to the
	// end or closed before the next statement.
	query(ctx context.Context, query string, args ...any) (rows, error)
	// row runs a statement for its first row. It runs when Scan is called.
	row(ctx context.Context, query string, args ...any) scanner
	// inOrder tells whether writes are committed in the order they run in.
	inOrder() bool
	// oneByOne tells whether many rows are better inserted one by one.
	oneByOne() bool
}

// scanner holds one row. Scan returns sql.ErrNoRows when there is none.
type scanner interface {
	Scan(dest ...any) error
}

// rows walks over a result. Close may be called any number of times.
type rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// engine is a database that knows SQL and no nouns.
type engine interface {
	// direct runs single statements, each its own snapshot, without a
	// transaction around them: the cheapest read.
	direct(ctx context.Context, fn func(conn) error) error
	// read runs fn over one consistent snapshot.
	read(ctx context.Context, fn func(conn) error) error
	// write runs fn atomically and durably. fn may run more than once. If fn
	// returns an error, nothing of it is kept and that error is returned
	// unchanged.
	write(ctx context.Context, fn func(conn) error) error
	// name is "sqlite" or "postgres".
	name() string
	// close waits for what is running and lets go of the database.
	close() error
	// ping tells whether the database is reachable and its schema at head.
	ping(ctx context.Context) error
	// version returns a value that changes whenever another process has
	// committed something.
	version(ctx context.Context) (string, error)
	// stats returns counters since the start.
	stats() Stats
}

// Options say which database to open, and how.
type Options struct {
	Data     string           // data folder, for SQLite
	Database string           // postgres:// URL; empty means SQLite in Data
	Serve    bool             // this process is the server of the data folder
	Existing bool             // refuse a data folder without a database instead of making one
	Now      func() time.Time // the clock
	Logger   *slog.Logger
	Patience time.Duration // longest wait of a write on SQLite before it is refused; 0 means by Serve
	Unsynced func(error)   // told once that nothing can be made durable any more, on SQLite; may be nil

	// Image reads an upload that is kept in a file, for a backup to hold it; nil
	// leaves such uploads out.
	Image func(context.Context, lastmile.Upload) ([]byte, error)

	migrations fs.FS // of tests; nil means those that the program carries
}

// errUnsynced is the answer to a write that may or may not outlive the process.
var errUnsynced = errors.New("the disk failed to make a write durable")

// errClosed is returned by an engine that was closed.
var errClosed = errors.New("the database is closed")

// open opens the database that the options name, migrated to head.
func open(ctx context.Context, o Options) (engine, error) {
	if o.Database != "" {
		p, err := o.postgres()
		if err != nil {
			return nil, err
		}
		return openPostgres(ctx, p)
	}
	s, err := o.sqlite()
	if err != nil {
		return nil, err
	}
	return openSQLite(ctx, s)
}

// sqlite are the options of the SQLite engine.
func (o Options) sqlite() (SQLiteOptions, error) {
	files, err := o.files()
	return SQLiteOptions{
		Folder: o.Data, Serve: o.Serve, Existing: o.Existing, Now: o.Now, Logger: o.Logger, Patience: o.Patience,
		Unsynced: o.Unsynced, Migrations: files,
	}, err
}

// postgres are the options of the PostgreSQL engine.
func (o Options) postgres() (PostgresOptions, error) {
	files, err := o.files()
	return PostgresOptions{URL: o.Database, Now: o.Now, Logger: o.Logger, Migrations: files}, err
}

// files are the migrations to use.
func (o Options) files() (fs.FS, error) {
	if o.migrations != nil {
		return o.migrations, nil
	}
	return embeddedMigrations()
}

// protect runs fn and turns a panic into an error, so that one faulty
// operation takes neither the process nor other operations with it.
func protect(log *slog.Logger, c conn, fn func(conn) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("operation panicked: %v", r)
			log.Error("operation panicked", "panic", r, "stack", stack())
		}
	}()
	return fn(c)
}
