package enginetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PostgresVariable names the environment variable with the postgres:// URL of
// a server on which tests may create databases.
const PostgresVariable = "DRAY_TEST_POSTGRES"

// Postgres returns the URL of a fresh, empty database that is dropped when the
// test ends. It waits for a slow server. The test is skipped if no server is
// configured.
func Postgres(t testing.TB) string {
	t.Helper()
	return database(t, "")
}

// Template is a PostgreSQL database that is built once in a process. Copying it is
// much faster than building another.
type Template struct {
	Build func(url string) error // fills an empty database and closes its connections

	once sync.Once
	name string
	err  error
	lock *pgx.Conn // holds the lock on the name as long as the process runs
}

// Copy is like Postgres, but returns a copy of the template.
func (p *Template) Copy(t testing.TB) string {
	t.Helper()
	server := testServer(t)
	p.once.Do(func() { p.err = p.build(context.WithoutCancel(t.Context()), server) })
	if p.err != nil {
		t.Fatalf("build the template of databases: %v", p.err)
	}
	return database(t, " TEMPLATE "+p.name)
}

// templatePrefix begins the names of templates.
const templatePrefix = "dray_template_"

// build creates the template. The database outlives the process. When the process
// ends, the lock on the name is released, and the next process that builds a template
// drops the database.
func (p *Template) build(ctx context.Context, server string) (err error) {
	if p.lock, err = pgx.Connect(ctx, server); err != nil {
		return err
	}
	if err := p.dropUnused(ctx); err != nil {
		return err
	}
	p.name = templatePrefix + strings.ToLower(rand.Text())
	if _, err := p.lock.Exec(ctx, `SELECT pg_advisory_lock(hashtext($1))`, p.name); err != nil {
		return err
	}
	if _, err := p.lock.Exec(ctx, "CREATE DATABASE "+p.name); err != nil {
		return err
	}
	u, err := databaseURL(server, p.name)
	if err != nil {
		return err
	}
	return p.Build(u)
}

// dropUnused drops the templates of processes that have ended.
func (p *Template) dropUnused(ctx context.Context) error {
	rows, err := p.lock.Query(ctx, `SELECT datname FROM pg_database WHERE starts_with(datname, $1)`, templatePrefix)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		var unused bool
		if err := p.lock.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtext($1))`, name).Scan(&unused); err != nil {
			return err
		}
		if !unused {
			continue
		}
		if _, err := p.lock.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return nil
}

// testServer returns the URL of the server, or skips the test.
func testServer(t testing.TB) string {
	t.Helper()
	server := os.Getenv(PostgresVariable)
	if server == "" {
		t.Skip("NOT TESTED ON POSTGRESQL: " + PostgresVariable + " names no server; run make test")
	}
	return server
}

// database creates a database that is dropped when the test ends, and fails the test if
// there were deadlocks in it. Deadlocked transactions are retried, but only after
// PostgreSQL has detected the deadlock, which takes a second.
func database(t testing.TB, options string) string {
	t.Helper()
	server, name := testServer(t), "dray_test_"+strings.ToLower(rand.Text())
	u, err := databaseURL(server, name)
	if err != nil {
		t.Fatal(err)
	}
	command(t, server, "CREATE DATABASE "+name+options)
	t.Cleanup(func() {
		defer command(t, server, "DROP DATABASE "+name+" WITH (FORCE)")
		var deadlocks int
		onServer(t, server, func(ctx context.Context, c *pgx.Conn) error {
			return c.QueryRow(ctx, `SELECT deadlocks FROM pg_stat_database WHERE datname = $1`, name).Scan(&deadlocks)
		})
		if deadlocks > 0 {
			t.Errorf("%d deadlocks; lock records in the same order everywhere", deadlocks)
		}
	})
	return u
}

// databaseURL returns the URL of a database of the server.
func databaseURL(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("%s: %w", PostgresVariable, err)
	}
	u.Path = "/" + name
	query := u.Query()
	query.Set("connect_timeout", "60")
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// command runs one statement on the server.
func command(t testing.TB, server, statement string) {
	t.Helper()
	onServer(t, server, func(ctx context.Context, c *pgx.Conn) error {
		if _, err := c.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
	})
}

// onServer runs fn with a connection to the server.
func onServer(t testing.TB, server string, fn func(ctx context.Context, c *pgx.Conn) error) {
	t.Helper()
	// The test's own context is cancelled before its clean-up runs.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer c.Close(ctx)
	if err := fn(ctx, c); err != nil {
		t.Fatal(err)
	}
}
