package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Restore puts a backup into an empty data folder or an empty PostgreSQL
// database. A backup of an older schema is migrated; one of a newer schema or
// a damaged one is refused. A crash on the way leaves the target empty.
func Restore(ctx context.Context, o Options, file string) error {
	files, err := o.files()
	if err != nil {
		return err
	}
	all, err := readMigrations(files)
	if err != nil {
		return err
	}
	if err := checkBackup(ctx, file, all); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if o.Database == "" {
		err = restoreFolder(ctx, file, o.Data, all, o.Now)
	} else {
		err = restoreDatabase(ctx, file, o, all)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// checkBackup refuses a file that is not a sound backup.
func checkBackup(ctx context.Context, file string, all []migration) error {
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
	h, err := openHandle(file, false, "query_only=ON", "cache_size=-8192")
	if err != nil {
		return notABackup(file, err)
	}
	defer h.close()
	h.watch()
	h.stop = ctx.Done()
	err = h.look(ctx, func(c conn) error {
		if err := isDray(ctx, c); err != nil {
			return err
		}
		return quickCheck(ctx, c)
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return notABackup(file, err)
	}
	_, err = versionNow(ctx, h.schema(), all)
	return err
}

// notABackup says what to do about a file that cannot be restored.
func notABackup(file string, err error) error {
	return fmt.Errorf("%s is damaged or not a backup of dray, use another one: %w", file, err)
}

// restoreFolder puts a backup into a data folder.
func restoreFolder(ctx context.Context, file, folder string, all []migration, now func() time.Time) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	lock, err := lockSetup(ctx, folder)
	if err != nil {
		return err
	}
	defer lock.Close()
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("look into the data folder: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), databaseFile+newSuffix) {
			return fmt.Errorf("the data folder %s is not empty (%s): name an empty or new one with --data", folder, e.Name())
		}
	}
	return install(filepath.Join(folder, databaseFile), func(temporary string) error {
		return copyAtHead(ctx, file, temporary, all, now)
	})
}

// copyAtHead copies a backup and migrates the copy.
func copyAtHead(ctx context.Context, file, target string, all []migration, now func() time.Time) error {
	if err := copyFile(file, target); err != nil {
		return err
	}
	h, err := openHandle(target, false, "journal_mode=WAL", "synchronous=FULL")
	if err != nil {
		return err
	}
	defer h.close()
	return migrate(ctx, h.schema(), all, now)
}

// restoreDatabase puts a backup into a PostgreSQL database.
func restoreDatabase(ctx context.Context, file string, o Options, all []migration) (err error) {
	p, err := o.postgres()
	if err != nil {
		return err
	}
	opened, err := openPostgres(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	e, ok := opened.(*pgEngine)
	if !ok {
		return fmt.Errorf("a %s database cannot be restored into", opened.name())
	}
	// Work on a copy, because an old backup has to be migrated first.
	folder, err := os.MkdirTemp("", "dray-restore-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	temporary := filepath.Join(folder, databaseFile)
	if err := copyAtHead(ctx, file, temporary, all, o.Now); err != nil {
		return err
	}
	h, err := openHandle(temporary, false, "query_only=ON", readerCache)
	if err != nil {
		return err
	}
	defer h.close()
	return e.transact(ctx, func(to conn) error {
		if err := refuseFilled(ctx, to); err != nil {
			return err
		}
		return h.look(ctx, func(from conn) error { return copyTables(ctx, from, to) })
	})
}

// refuseFilled refuses a database that holds anything.
func refuseFilled(ctx context.Context, c conn) error {
	list, err := tables(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range list {
		var n int64
		if err := c.row(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+t.name+" LIMIT 1) AS t").Scan(&n); err != nil {
			return err
		}
		if n != 0 {
			return fmt.Errorf("the database is not empty: table %s has rows. Name an empty one with --database", t.name)
		}
	}
	return nil
}

// copyFile copies a file for its owner only.
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
