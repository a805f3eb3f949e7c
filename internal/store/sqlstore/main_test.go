package sqlstore

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"dray/internal/store/storetest"
)

// TestMain runs a child of some test instead of the tests when one asks for it.
func TestMain(m *testing.M) {
	if child := children[os.Getenv("DRAY_TEST_CHILD")]; child != nil {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// children are what this test binary does when it is started by a test.
var children = map[string]func() int{
	"write until killed": writeUntilKilled,
	"open the folder":    openTheFolder,
	"hold the folder":    holdTheFolder,
}

// fixture is a small schema of two migrations.
func fixture() fs.FS {
	return fstest.MapFS{
		"0001_first.sql": {Data: []byte(`
-- a table like those of the nouns
CREATE TABLE note (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA,
  n BIGINT,
  x DOUBLE PRECISION,
  label TEXT,
  PRIMARY KEY (org, id)
);
CREATE UNIQUE INDEX note_label ON note (org, label);
`)},
		"0002_counter.sql": {Data: []byte(`
CREATE TABLE counter (name TEXT NOT NULL PRIMARY KEY, n BIGINT NOT NULL);
`)},
	}
}

// firstOnly is the schema of a program one version older.
func firstOnly(t testing.TB) fs.FS {
	b, err := fs.ReadFile(fixture(), "0001_first.sql")
	must(t, err)
	return fstest.MapFS{"0001_first.sql": {Data: b}}
}

// sqliteOptions are the options of a served fixture database, on which nothing
// is refused because the machine is slow.
func sqliteOptions(folder string) SQLiteOptions {
	return SQLiteOptions{
		Folder: folder, Serve: true, Patience: time.Minute,
		Now: time.Now, Logger: slog.New(slog.DiscardHandler), Migrations: fixture(),
	}
}

// postgresOptions are the options of a fixture database on a server.
func postgresOptions(url string) PostgresOptions {
	return PostgresOptions{URL: url, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Migrations: fixture()}
}

// sqliteFixture opens a SQLite engine in a fresh folder.
func sqliteFixture(t testing.TB) *sqliteEngine {
	t.Helper()
	e, err := openSQLite(t.Context(), sqliteOptions(t.TempDir()))
	must(t, err)
	t.Cleanup(func() { must(t, e.close()) })
	return e.(*sqliteEngine)
}

// postgresFixture opens a PostgreSQL engine in a fresh database.
func postgresFixture(t testing.TB) *pgEngine {
	t.Helper()
	e, err := openPostgres(t.Context(), postgresOptions(storetest.Postgres(t)))
	must(t, err)
	t.Cleanup(func() { must(t, e.close()) })
	return e.(*pgEngine)
}

// onBoth runs a test on both engines.
func onBoth(t *testing.T, test func(t *testing.T, e engine)) {
	t.Run("sqlite", func(t *testing.T) { test(t, sqliteFixture(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, postgresFixture(t)) })
}

// must ends the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put is an operation that writes one row.
func put(ctx context.Context, id string, n int64) func(conn) error {
	return func(c conn) error {
		_, err := c.exec(ctx, `INSERT INTO note (org, id, n) VALUES ('acme', $1, $2)`, id, n)
		return err
	}
}

// count counts the rows of note.
func count(t testing.TB, e engine) int64 {
	t.Helper()
	var n int64
	must(t, e.direct(t.Context(), func(c conn) error {
		return c.row(t.Context(), `SELECT count(*) FROM note`).Scan(&n)
	}))
	return n
}
