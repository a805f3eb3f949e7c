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

// Verification is the result of verifying a backup.
type Verification struct {
	File   string `json:"file"`
	Schema int64  `json:"schema"`
	Digest string `json:"digest"` // SHA-256; empty in backups of older versions
	Damage string `json:"damage,omitzero"`
}

// Verify checks that a file is an intact backup that this program can restore. For a
// damaged file, it returns ErrDamaged.
func Verify(ctx context.Context, o sqlstore.Options, file string) (Verification, error) {
	all, err := o.ReadMigrations()
	if err != nil {
		return Verification{}, err
	}
	return verify(ctx, file, all, o)
}

// Restore puts a backup into an empty data folder or an empty PostgreSQL
// database. A backup of an older schema is migrated; one of a newer schema or
// a damaged one is rejected. A crash leaves the target empty.
//
// If force is set, the readable part of a damaged backup is restored, and the result
// describes the damage.
func Restore(ctx context.Context, o sqlstore.Options, file string, force bool) (Verification, error) {
	all, err := o.ReadMigrations()
	if err != nil {
		return Verification{}, err
	}
	found, err := verify(ctx, file, all, o)
	if force && errors.Is(err, ErrDamaged) {
		found.Damage, err = err.Error(), nil
	}
	if err != nil {
		return found, fmt.Errorf("restore: %w", err)
	}
	o.Report("copying the database", 0)
	switch {
	case o.Database != "":
		err = restoreDatabase(ctx, file, o, all)
	case found.Damage != "":
		err = sqlite.Fill(ctx, o.Data, func(temporary string) error {
			return rebuild(ctx, file, temporary, all, o)
		})
	default:
		err = sqlite.Fill(ctx, o.Data, func(temporary string) error {
			return copyAtHead(ctx, file, temporary, all, o.Now)
		})
	}
	if err != nil {
		return found, fmt.Errorf("restore: %w", err)
	}
	return found, nil
}

// verify rejects a file that is not an intact backup.
func verify(ctx context.Context, file string, all []engine.Migration, o sqlstore.Options) (found Verification, err error) {
	found.File = file
	info, err := os.Stat(file)
	if err != nil {
		return found, err
	}
	if info.Size() == 0 {
		return found, fmt.Errorf("%s is empty: it is not a backup", file)
	}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return found, fmt.Errorf("%s is a database in use and not a backup: make one with: dray backup FILE", file)
	}
	var changed error // the file changed since the digest was written
	o.Report("verifying the digest", 0)
	found.Digest, changed = checkDigest(ctx, file)
	if changed != nil && !errors.Is(changed, ErrDamaged) {
		return found, changed
	}
	f, err := sqlite.OpenFile(ctx, file, "query_only=ON", "cache_size=-8192")
	if err != nil {
		return found, notABackup(file, err)
	}
	defer f.Close()
	o.Report("verifying the database", 0)
	// Without a digest, some damage is found only by comparing indexes with their tables.
	err = f.Check(ctx, found.Digest == "")
	switch {
	case ctx.Err() != nil:
		return found, ctx.Err()
	case changed != nil:
		return found, notABackup(file, changed)
	case err != nil:
		return found, notABackup(file, err)
	}
	found.Schema, err = engine.CheckVersion(ctx, f.Schema(), all)
	return found, err
}

// notABackup returns the error of a file that cannot be restored.
func notABackup(file string, err error) error {
	return damagedf("%s is damaged or not a backup of dray, use another one: %w", file, err)
}

// copyAtHead copies a backup and migrates the copy. The copy is not a backup, so its header
// must not say that it has a digest.
func copyAtHead(ctx context.Context, file, target string, all []engine.Migration, now func() time.Time) error {
	if err := copyContent(file, target); err != nil {
		return err
	}
	f, err := sqlite.OpenFile(ctx, target, "journal_mode=WAL", "synchronous=FULL", "application_id=0")
	if err != nil {
		return err
	}
	defer f.Close()
	return engine.Migrate(ctx, f.Schema(), all, now)
}

// readCopy makes a copy of a backup, migrates it to head, and passes it to fn.
func readCopy(ctx context.Context, file string, all []engine.Migration, now func() time.Time, fn func(*sqlite.File) error) (err error) {
	folder, err := os.MkdirTemp("", "dray-restore-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	temporary := filepath.Join(folder, "restore.db")
	if err := copyAtHead(ctx, file, temporary, all, now); err != nil {
		return err
	}
	source, err := sqlite.OpenFile(ctx, temporary, "query_only=ON", "cache_size=-2048")
	if err != nil {
		return err
	}
	defer source.Close()
	return fn(source)
}

// rebuild copies the rows of a damaged backup into a new database, which has correct
// indexes.
func rebuild(ctx context.Context, file, target string, all []engine.Migration, o sqlstore.Options) error {
	return readCopy(ctx, file, all, o.Now, func(source *sqlite.File) error {
		fresh, err := sqlite.CreateFile(ctx, target, "journal_mode=WAL", "synchronous=FULL")
		if err != nil {
			return err
		}
		defer fresh.Close()
		if err := engine.Migrate(ctx, fresh.Schema(), all, o.Now); err != nil {
			return err
		}
		return fresh.Write(ctx, func(to engine.Conn) error {
			return source.Read(ctx, func(from engine.Conn) error { return copyTables(ctx, from, to, o) })
		})
	})
}

// restoreDatabase puts a backup into a PostgreSQL database.
func restoreDatabase(ctx context.Context, file string, o sqlstore.Options, all []engine.Migration) (err error) {
	e, err := sqlstore.OpenPostgres(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return readCopy(ctx, file, all, o.Now, func(source *sqlite.File) error {
		return e.Transact(ctx, func(to engine.Conn) error {
			if err := requireEmpty(ctx, to); err != nil {
				return err
			}
			return source.Read(ctx, func(from engine.Conn) error { return copyTables(ctx, from, to, o) })
		})
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

// copyContent copies the database of a backup; only its owner can read the copy.
func copyContent(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	length, err := contentLength(in)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, length))
	return errors.Join(err, out.Close())
}
