package engine

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Migration is one forward step of the schema.
type Migration struct {
	version    int64
	name       string
	statements []string
}

// Schema is a database whose schema can be read and changed. Change may run its
// function more than once.
type Schema struct {
	Read, Change func(ctx context.Context, fn func(Conn) error) error
	Logger       *slog.Logger // logs migrations; may be nil
}

// migrationName matches NNNN_name.sql.
var migrationName = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)

// ReadMigrations reads NNNN_name.sql files, numbered from 1 without a gap.
func ReadMigrations(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	slices.Sort(names)
	var all []Migration
	for i, name := range names {
		m := migrationName.FindStringSubmatch(path.Base(name))
		if m == nil {
			return nil, fmt.Errorf("migration %s: the name is not NNNN_name.sql", name)
		}
		version, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || version != int64(i+1) {
			return nil, fmt.Errorf("migration %s: number %d expected", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", name, err)
		}
		all = append(all, Migration{version: version, name: m[2], statements: split(string(text))})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no migrations")
	}
	return all, nil
}

// split cuts a script into statements at semicolons that end a line. Lines
// that hold only a comment are dropped.
func split(script string) []string {
	var all []string
	var one []string
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "--") || strings.TrimSpace(line) == "" {
			continue
		}
		before, ends := strings.CutSuffix(line, ";")
		one = append(one, before)
		if ends {
			all = append(all, strings.Join(one, "\n"))
			one = nil
		}
	}
	if len(one) > 0 {
		all = append(all, strings.Join(one, "\n"))
	}
	return all
}

// Head returns the version after all migrations.
func Head(all []Migration) int64 { return all[len(all)-1].version }

// Migrate brings the schema to the head of the migrations. It may run in
// several processes at once: each migration begins with its row in
// schema_version, so that a second process waits there for the first one and
// then finds the work done. Each migration of an older database is logged before it
// begins, because it may take long.
func Migrate(ctx context.Context, db Schema, all []Migration, now func() time.Time) error {
	have, err := CheckVersion(ctx, db, all)
	if err != nil || have == Head(all) {
		return err
	}
	if have == 0 {
		err := db.Change(ctx, func(c Conn) error {
			_, err := c.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_version (
				version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied BIGINT NOT NULL)`)
			return err
		})
		if err != nil {
			return fmt.Errorf("create schema_version: %w", err)
		}
	}
	for _, m := range all {
		if m.version <= have {
			continue
		}
		if have > 0 && db.Logger != nil {
			db.Logger.InfoContext(ctx, "the database is being migrated", "migration", m.name, "version", m.version, "of", Head(all))
		}
		if err := db.Change(ctx, func(c Conn) error { return m.apply(ctx, c, now()) }); err != nil {
			return fmt.Errorf("migration %04d_%s: %w", m.version, m.name, err)
		}
	}
	return nil
}

// apply runs one migration, unless it has been applied.
func (m Migration) apply(ctx context.Context, c Conn, now time.Time) error {
	added, err := c.Exec(ctx, `INSERT INTO schema_version (version, name, applied)
		VALUES ($1, $2, $3) ON CONFLICT (version) DO NOTHING`, m.version, m.name, now.UnixMilli())
	if err != nil || added == 0 {
		return err
	}
	for i, text := range m.statements {
		if text = c.Dialect().Definition(text); text == "" {
			continue
		}
		if _, err := c.Exec(ctx, text); err != nil {
			return fmt.Errorf("statement %d: %w", i+1, err)
		}
	}
	return nil
}

// CheckVersion reads the version of the schema and rejects one that is newer
// than the program.
func CheckVersion(ctx context.Context, db Schema, all []Migration) (have int64, err error) {
	err = db.Read(ctx, func(c Conn) error {
		have, err = SchemaVersion(ctx, c)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if have > Head(all) {
		return 0, fmt.Errorf("the database has schema %d and this program knows schemas up to %d: "+
			"start the newer dray that used it last, or restore a backup made before the upgrade", have, Head(all))
	}
	return have, nil
}

// SchemaVersion reads the version of the schema; 0 means that there is none.
func SchemaVersion(ctx context.Context, c Conn) (int64, error) {
	var n, version int64
	if err := c.Row(ctx, c.Dialect().CountVersionTable).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	err := c.Row(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_version`).Scan(&version)
	return version, err
}

// AtHead returns an error if the schema is older than the program needs. It may
// be newer: another node may have migrated it.
func AtHead(ctx context.Context, c Conn, want int64) error {
	have, err := SchemaVersion(ctx, c)
	if err != nil {
		return err
	}
	if have < want {
		return fmt.Errorf("the database has schema %d, not %d", have, want)
	}
	return nil
}
