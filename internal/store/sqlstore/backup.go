package sqlstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Backup writes the whole database, as it is at one moment, into a SQLite file
// that must not exist yet. A server may go on working meanwhile. Whatever
// happens, there is a complete file under that name or none.
func Backup(ctx context.Context, o Options, file string) error {
	e, err := openAsIs(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(backup(ctx, e, o, file), e.close())
}

// openAsIs opens an existing database without migrating it: a backup is also
// made before an upgrade, by the newer program.
func openAsIs(ctx context.Context, o Options) (engine, error) {
	if o.Database != "" {
		p, err := o.postgres()
		if err != nil {
			return nil, err
		}
		p.keepSchema = true
		return openPostgres(ctx, p)
	}
	o.Existing, o.Serve = true, false
	s, err := o.sqlite()
	if err != nil {
		return nil, err
	}
	s.keepSchema = true
	return openSQLite(ctx, s)
}

// backup writes a snapshot of an engine's database into a new SQLite file.
func backup(ctx context.Context, e engine, o Options, file string) (err error) {
	if exists(file) {
		return fmt.Errorf("back up: %s exists already: name a new file", file)
	}
	temporary := file + ".partial-" + rand.Text()[:8]
	defer func() {
		err = errors.Join(err, removeDatabase(temporary))
	}()
	switch e := e.(type) {
	case *sqliteEngine:
		err = e.export(ctx, temporary)
	case *pgEngine:
		err = e.export(ctx, temporary)
	default:
		err = fmt.Errorf("a %s database cannot be backed up", e.name())
	}
	if err == nil && o.Image != nil {
		err = takeIn(ctx, temporary, o)
	}
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if err := syncFile(temporary); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if err := publish(temporary, file); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	return nil
}

// publish gives a complete file its name, without overwriting another.
func publish(temporary, file string) error {
	err := os.Link(temporary, file)
	if err != nil && !exists(file) {
		// Some file systems have no links; the check before must do there.
		err = os.Rename(temporary, file)
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(file))
}

// export copies the database in one read transaction, without free pages.
func (e *sqliteEngine) export(ctx context.Context, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	h, err := openHandle(e.path, false, readerCache)
	if err != nil {
		return err
	}
	defer h.close()
	h.watch()
	h.stop = ctx.Done()
	if _, err := h.exec("VACUUM INTO $1", []any{file}); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}

// export copies the tables of one snapshot into a SQLite file of the same
// schema.
func (e *pgEngine) export(ctx context.Context, file string) error {
	h, err := createHandle(file, "journal_mode=MEMORY", "synchronous=OFF")
	if err != nil {
		return err
	}
	defer h.close()
	return e.snapshot(ctx, func(from conn) error {
		version, err := schemaVersion(ctx, from)
		if err != nil {
			return err
		}
		if version == 0 || version > int64(len(e.migrations)) {
			return fmt.Errorf("the database has schema %d, which this program does not know", version)
		}
		if err := migrate(ctx, h.schema(), e.migrations[:version], e.now); err != nil {
			return err
		}
		return h.transact(ctx, func(to conn) error { return copyTables(ctx, from, to) })
	})
}
