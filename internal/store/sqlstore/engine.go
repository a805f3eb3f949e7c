package sqlstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"dray/internal/store/engine"
	"dray/internal/store/engine/postgres"
	"dray/internal/store/engine/sqlite"
)

//go:embed migrations/*.sql
var embedded embed.FS

// Stats are counters of a database since it was opened.
type Stats = engine.Stats

// Options describe the database to open.
type Options struct {
	Data     string           // data folder, for SQLite
	Database string           // postgres:// URL; empty means SQLite in Data
	Serve    bool             // this process is the server of the data folder
	Existing bool             // fail if the data folder has no database instead of creating one
	Now      func() time.Time // the clock
	Timer    func() time.Time // a monotonic clock that measures operations; nil means Now
	Logger   *slog.Logger
	Patience time.Duration // longest wait of an operation before it is rejected; 0 means a default
	Cache    int64         // bytes of pages that SQLite keeps for writing; 0 means a default
	Unsynced func(error)   // called once if SQLite can no longer make changes durable; may be nil

	// Progress is called while all data is read or copied, with the current step and how
	// much of it is done. It may be nil.
	Progress func(step string, done int64)

	KeepSchema bool  // do not migrate an older schema
	Migrations fs.FS // NNNN_name.sql files; nil means the embedded ones
}

// Report calls Progress.
func (o Options) Report(step string, done int64) {
	if o.Progress != nil {
		o.Progress(step, done)
	}
}

// OpenEngine opens the database that the options describe and migrates its
// schema to head, unless KeepSchema is set.
func OpenEngine(ctx context.Context, o Options) (engine.Engine, error) {
	if o.Database != "" {
		e, err := OpenPostgres(ctx, o)
		if err != nil {
			return nil, err
		}
		return e, nil
	}
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	e, err := sqlite.Open(ctx, sqlite.Options{
		Folder: o.Data, Serve: o.Serve, Existing: o.Existing, Now: o.Now, Timer: o.Timer, Logger: o.Logger, Patience: o.Patience, Cache: o.Cache,
		Unsynced: o.Unsynced, KeepSchema: o.KeepSchema, Migrations: files,
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// OpenPostgres opens the PostgreSQL database that the options describe.
func OpenPostgres(ctx context.Context, o Options) (*postgres.Engine, error) {
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, postgres.Options{
		URL: o.Database, Now: o.Now, Timer: o.Timer, Logger: o.Logger, Patience: o.Patience, KeepSchema: o.KeepSchema, Migrations: files,
	})
}

// ReadMigrations reads the migrations that the options name.
func (o Options) ReadMigrations() ([]engine.Migration, error) {
	files, err := o.files()
	if err != nil {
		return nil, err
	}
	return engine.ReadMigrations(files)
}

// files returns the migrations to use.
func (o Options) files() (fs.FS, error) {
	if o.Migrations != nil {
		return o.Migrations, nil
	}
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, fmt.Errorf("embedded migrations: %w", err)
	}
	return files, nil
}

// SQLiteVersion returns the version of the embedded SQLite.
func SQLiteVersion() string { return sqlite.Version() }

// conn is an engine.Conn inside this package. Its methods are unexported so that Tx,
// which embeds it, does not export them.
type conn interface {
	exec(ctx context.Context, query string, args ...any) (affected int64, err error)
	send(ctx context.Context, query string, args ...any) error
	ahead(query string, args ...any)
	query(ctx context.Context, query string, args ...any) (rows, error)
	row(ctx context.Context, query string, args ...any) scanner
	inOrder() bool  // writes are committed in the order in which they run
	oneByOne() bool // many rows are inserted faster one by one
	whole() engine.Conn
}

type (
	rows    = engine.Rows
	scanner = engine.Scanner
)

// sqlConn adapts an engine.Conn to conn.
type sqlConn struct{ c engine.Conn }

func newConn(c engine.Conn) conn { return sqlConn{engine.Metered(c)} }

func (s sqlConn) whole() engine.Conn { return s.c }

func (s sqlConn) exec(ctx context.Context, query string, args ...any) (int64, error) {
	return s.c.Exec(ctx, query, args...)
}

func (s sqlConn) send(ctx context.Context, query string, args ...any) error {
	return s.c.Send(ctx, query, args...)
}

func (s sqlConn) ahead(query string, args ...any) { s.c.Ahead(query, args...) }

func (s sqlConn) query(ctx context.Context, query string, args ...any) (rows, error) {
	return s.c.Query(ctx, query, args...)
}

func (s sqlConn) row(ctx context.Context, query string, args ...any) scanner {
	return s.c.Row(ctx, query, args...)
}

func (s sqlConn) inOrder() bool { return s.c.Dialect().InOrder }

func (s sqlConn) oneByOne() bool { return s.c.Dialect().OneByOne }
