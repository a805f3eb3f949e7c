package backup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"dray/internal/durable"
	"dray/internal/store/engine"
	"dray/internal/store/engine/postgres"
	"dray/internal/store/engine/sqlite"
	"dray/internal/store/sqlstore"
)

// Write writes a snapshot of the whole database into a SQLite file that must not exist
// yet. A server may keep working meanwhile. Whatever happens, the file is complete or does
// not exist. image reads uploads that are kept in files; nil leaves them out of the backup.
//
// The database is not migrated, so that the newer program can make a backup before an
// upgrade.
func Write(ctx context.Context, o sqlstore.Options, file string, image Image) error {
	o.KeepSchema = true
	if o.Database == "" {
		o.Existing, o.Serve = true, false
	}
	e, err := sqlstore.OpenEngine(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(write(ctx, e, o, file, image), e.Close())
}

// Record saves that a backup was made now, to be shown to the owner of the installation.
func Record(ctx context.Context, o sqlstore.Options) error {
	o.KeepSchema, o.Existing, o.Serve = true, o.Database == "", false
	e, err := sqlstore.OpenEngine(ctx, o)
	if err != nil {
		return err
	}
	err = e.Write(ctx, func(c engine.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
			sqlstore.BackupSetting, strconv.AppendInt(nil, o.Now().UnixMilli(), 10))
		return err
	})
	return errors.Join(err, e.Close())
}

// write writes a snapshot of an engine's database into a new SQLite file.
func write(ctx context.Context, e engine.Engine, o sqlstore.Options, file string, image Image) (err error) {
	if exists(file) {
		return fmt.Errorf("back up: %s exists already: name a new file", file)
	}
	temporary := file + ".partial-" + rand.Text()[:8]
	defer func() {
		err = errors.Join(err, sqlite.Remove(temporary))
	}()
	o.Report("copying the database", 0)
	switch e := e.(type) {
	case *sqlite.Engine:
		err = e.Export(ctx, temporary)
	case *postgres.Engine:
		err = export(ctx, e, o, temporary)
	default:
		err = fmt.Errorf("a %s database cannot be backed up", e.Name())
	}
	if err == nil && image != nil {
		err = embedImages(ctx, temporary, o, image)
	}
	if err == nil {
		o.Report("computing the digest", 0)
		err = seal(ctx, temporary)
	}
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if err := sqlite.Sync(temporary); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if err := publish(temporary, file); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	return nil
}

// publish renames a complete file to its final name, without overwriting another.
func publish(temporary, file string) error {
	err := os.Link(temporary, file)
	if err != nil && !exists(file) {
		// Some file systems have no links. There, the earlier check must suffice.
		err = os.Rename(temporary, file)
	}
	if err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(file))
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// export copies the tables of one snapshot of a PostgreSQL database into a
// SQLite file of the same schema.
func export(ctx context.Context, e *postgres.Engine, o sqlstore.Options, file string) error {
	all, err := o.ReadMigrations()
	if err != nil {
		return err
	}
	target, err := sqlite.CreateFile(ctx, file, "journal_mode=MEMORY", "synchronous=OFF")
	if err != nil {
		return err
	}
	defer target.Close()
	return e.Snapshot(ctx, func(from engine.Conn) error {
		version, err := engine.SchemaVersion(ctx, from)
		if err != nil {
			return err
		}
		if version == 0 || version > int64(len(all)) {
			return fmt.Errorf("the database has schema %d, which this program does not know", version)
		}
		if err := engine.Migrate(ctx, target.Schema(), all[:version], o.Now); err != nil {
			return err
		}
		return target.Write(ctx, func(to engine.Conn) error { return copyTables(ctx, from, to, o) })
	})
}
