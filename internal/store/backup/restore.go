package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"dray/internal/store/engine"
	"dray/internal/store/engine/sqlite"
	"dray/internal/store/sqlstore"
)

// Restore puts a backup into an empty data folder or an empty PostgreSQL
// database. A backup of an older schema is migrated; one of a newer schema or
// a damaged one is rejected. A crash leaves the target empty.
func Restore(ctx context.Context, o sqlstore.Options, file string) error {
	all, err := o.ReadMigrations()
	if err != nil {
		return err
	}
	if err := checkBackup(ctx, file, all); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if o.Database == "" {
		err = sqlite.Fill(ctx, o.Data, func(temporary string) error {
			return copyAtHead(ctx, file, temporary, all, o.Now)
		})
	} else {
		err = restoreDatabase(ctx, file, o, all)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// checkBackup rejects a file that is not an intact backup.
func checkBackup(ctx context.Context, file string, all []engine.Migration) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return fmt.Errorf("%s is empty: it is not a backup", file)
	}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return fmt.Errorf("%s is a database in use and not a backup: make one with: dray backup FILE", file)
	}
	f, err := sqlite.OpenFile(ctx, file, "query_only=ON", "cache_size=-8192")
	if err != nil {
		return notABackup(file, err)
	}
	defer f.Close()
	err = f.Check(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return notABackup(file, err)
	}
	_, err = engine.CheckVersion(ctx, f.Schema(), all)
	return err
}

// notABackup is the error of a file that cannot be restored.
func notABackup(file string, err error) error {
	return fmt.Errorf("%s is damaged or not a backup of dray, use another one: %w", file, err)
}

// copyAtHead copies a backup and migrates the copy.
func copyAtHead(ctx context.Context, file, target string, all []engine.Migration, now func() time.Time) error {
	if err := copyFile(file, target); err != nil {
		return err
	}
	f, err := sqlite.OpenFile(ctx, target, "journal_mode=WAL", "synchronous=FULL")
	if err != nil {
		return err
	}
	defer f.Close()
	return engine.Migrate(ctx, f.Schema(), all, now)
}

// restoreDatabase puts a backup into a PostgreSQL database.
func restoreDatabase(ctx context.Context, file string, o sqlstore.Options, all []engine.Migration) (err error) {
	e, err := sqlstore.OpenPostgres(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	// Work on a copy, because an older backup is migrated first.
	folder, err := os.MkdirTemp("", "dray-restore-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	temporary := filepath.Join(folder, "restore.db")
	if err := copyAtHead(ctx, file, temporary, all, o.Now); err != nil {
		return err
	}
	source, err := sqlite.OpenFile(ctx, temporary, "query_only=ON", "cache_size=-2048")
	if err != nil {
		return err
	}
	defer source.Close()
	return e.Transact(ctx, func(to engine.Conn) error {
		if err := requireEmpty(ctx, to); err != nil {
			return err
		}
		return source.Read(ctx, func(from engine.Conn) error { return copyTables(ctx, from, to) })
	})
}

// requireEmpty rejects a database that has rows.
func requireEmpty(ctx context.Context, c engine.Conn) error {
	list, err := engine.Tables(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range list {
		var n int64
		if err := c.Row(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+t.Name+" LIMIT 1) AS t").Scan(&n); err != nil {
			return err
		}
		if n != 0 {
			return fmt.Errorf("the database is not empty: table %s has rows. Name an empty one with --database", t.Name)
		}
	}
	return nil
}

// copyFile copies a file; only its owner can read the copy.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
