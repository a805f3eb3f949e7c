package enginetest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PostgresVariable names the environment variable with the postgres:// URL of
// a server on which tests may create databases.
const PostgresVariable = "DRAY_TEST_POSTGRES"

// Postgres returns the URL of a fresh, empty database that is dropped when the
// test ends. A slow server is waited for. The test is skipped when no server is
// named.
func Postgres(t testing.TB) string {
	t.Helper()
	server := os.Getenv(PostgresVariable)
	if server == "" {
		t.Skip("NOT TESTED ON POSTGRESQL: " + PostgresVariable + " names no server; run make test")
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s: %v", PostgresVariable, err)
	}
	name := "dray_test_" + strings.ToLower(rand.Text())
	command(t, server, "CREATE DATABASE "+name)
	t.Cleanup(func() { command(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	u.Path = "/" + name
	query := u.Query()
	query.Set("connect_timeout", "60")
	u.RawQuery = query.Encode()
	return u.String()
}

// command runs one statement on the server.
func command(t testing.TB, server, statement string) {
	t.Helper()
	// The test's own context is cancelled before its clean-up runs.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
