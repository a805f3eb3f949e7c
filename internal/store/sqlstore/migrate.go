package sqlstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migration is one step of the schema, forward only.
type migration struct {
	version    int64
	name       string
	statements []string
}

// schema is a database whose schema is looked at and changed. change may run
// its function again.
type schema struct {
	look, change func(ctx context.Context, fn func(conn) error) error
}

// migrationName is NNNN_name.sql.
var migrationName = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)

// embeddedMigrations are the migrations that the program carries.
func embeddedMigrations() (fs.FS, error) {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, fmt.Errorf("embedded migrations: %w", err)
	}
	return files, nil
}

// readMigrations reads NNNN_name.sql files, numbered from 1 without a gap.
func readMigrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	slices.Sort(names)
	var all []migration
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
		all = append(all, migration{version: version, name: m[2], statements: split(string(text))})
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

// head is the version that the migrations lead to.
func head(all []migration) int64 { return all[len(all)-1].version }

// migrate brings the schema to the head of the migrations. It may run in
// several processes at once: each migration begins with its row in
// schema_version, so that the second to come waits there for the first and
// then finds the work done.
func migrate(ctx context.Context, db schema, all []migration, now func() time.Time) error {
	have, err := versionNow(ctx, db, all)
	if err != nil || have == head(all) {
		return err
	}
	if have == 0 {
		err := db.change(ctx, func(c conn) error {
			_, err := c.exec(ctx, `CREATE TABLE IF NOT EXISTS schema_version (
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
		if err := db.change(ctx, func(c conn) error { return m.apply(ctx, c, now()) }); err != nil {
			return fmt.Errorf("migration %04d_%s: %w", m.version, m.name, err)
		}
	}
	return nil
}

// apply runs one migration, unless it has been run.
func (m migration) apply(ctx context.Context, c conn, now time.Time) error {
	fresh, err := c.exec(ctx, `INSERT INTO schema_version (version, name, applied)
		VALUES ($1, $2, $3) ON CONFLICT (version) DO NOTHING`, m.version, m.name, now.UnixMilli())
	if err != nil || fresh == 0 {
		return err
	}
	for i, text := range m.statements {
		if _, err := c.exec(ctx, dialect(c, text)); err != nil {
			return fmt.Errorf("statement %d: %w", i+1, err)
		}
	}
	return nil
}

// textColumn finds the columns that hold text.
var textColumn = regexp.MustCompile(`(?m)^(\s+\w+ TEXT)\b`)

// dialect is a statement of a migration as an engine takes it. Text is
// compared byte by byte on both: PostgreSQL would go by the language of its
// database, and pages that are ordered by ids would differ from node to node.
func dialect(c conn, statement string) string {
	if _, ok := c.(*sqliteConn); ok {
		return statement
	}
	return textColumn.ReplaceAllString(statement, `$1 COLLATE "C"`)
}

// versionNow reads the version of the schema and refuses one that is newer
// than the program.
func versionNow(ctx context.Context, db schema, all []migration) (have int64, err error) {
	err = db.look(ctx, func(c conn) error {
		have, err = schemaVersion(ctx, c)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if have > head(all) {
		return 0, fmt.Errorf("the database has schema %d and this program knows schemas up to %d: "+
			"start the newer dray that used it last, or restore a backup made before the upgrade", have, head(all))
	}
	return have, nil
}

// schemaVersion reads the version of the schema; 0 means that there is none.
func schemaVersion(ctx context.Context, c conn) (int64, error) {
	query := `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'`
	if _, ok := c.(*sqliteConn); !ok {
		query = `SELECT count(*) FROM information_schema.tables
			WHERE table_schema = current_schema() AND table_name = 'schema_version'`
	}
	var n, version int64
	if err := c.row(ctx, query).Scan(&n); err != nil || n == 0 {
		return 0, err
	}
	err := c.row(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_version`).Scan(&version)
	return version, err
}

// atHead tells whether the schema is what the program needs. A newer node may
// have migrated it further meanwhile.
func atHead(ctx context.Context, c conn, want int64) error {
	have, err := schemaVersion(ctx, c)
	if err != nil {
		return err
	}
	if have < want {
		return fmt.Errorf("the database has schema %d, not %d", have, want)
	}
	return nil
}
