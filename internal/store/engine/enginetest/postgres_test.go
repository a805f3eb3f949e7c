package enginetest

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestTemplatesStayWhileTheyAreUsed copies a template after another process, which is
// another connection to the server, has built its own.
func TestTemplatesStayWhileTheyAreUsed(t *testing.T) {
	built := 0
	build := func(url string) error {
		built++
		c, err := pgx.Connect(t.Context(), url)
		if err != nil {
			return err
		}
		_, err = c.Exec(t.Context(), `CREATE TABLE filled (n BIGINT)`)
		Must(t, c.Close(t.Context()))
		return err
	}
	count := func(query string, arg any) (n int) {
		t.Helper()
		c, err := pgx.Connect(t.Context(), testServer(t))
		Must(t, err)
		Must(t, c.QueryRow(t.Context(), query, arg).Scan(&n))
		Must(t, c.Close(t.Context()))
		return n
	}
	databases := func(name string) int { return count(`SELECT count(*) FROM pg_database WHERE datname = $1`, name) }
	ended, first, second := &Template{Build: build}, &Template{Build: build}, &Template{Build: build}
	ended.Copy(t)
	process := ended.lock.PgConn().PID()
	Must(t, ended.lock.Close(t.Context()))
	for count(`SELECT count(*) FROM pg_stat_activity WHERE pid = $1`, int64(process)) > 0 {
		time.Sleep(time.Millisecond) // the server needs a moment to release the lock
	}
	for _, template := range []*Template{first, second, first} {
		c, err := pgx.Connect(t.Context(), template.Copy(t))
		Must(t, err)
		_, err = c.Exec(t.Context(), `INSERT INTO filled VALUES (1)`)
		Must(t, err)
		Must(t, c.Close(t.Context()))
	}
	if built != 3 {
		t.Errorf("%d templates were built, want 3", built)
	}
	if databases(ended.name) != 0 || databases(first.name) != 1 || databases(second.name) != 1 {
		t.Error("a template that is used was dropped, or one that is not used stayed")
	}
}
