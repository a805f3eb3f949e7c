package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
	"dray/internal/store/engine/enginetest"
)

func TestOnlyAnOldPostgreSQLIsRejected(t *testing.T) {
	tests := map[string]struct {
		major int
		known bool
	}{
		"PostgreSQL 15.8 (Debian 15.8-0+deb12u1) on x86_64-pc-linux-gnu": {15, true},
		"PostgreSQL 14.2 on aarch64":                                     {14, true},
		"PostgreSQL 18beta1 on x86_64":                                   {18, true},
		"PostgreSQL 11.2-YB-2.25.0.0-b0 on x86_64":                       {0, false},
		"CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu)":                 {0, false},
		"": {0, false},
	}
	for text, want := range tests {
		if major, known := postgresMajor(text); major != want.major || known != want.known {
			t.Errorf("%q: %d %t", text, major, known)
		}
	}
}

func TestSeveralNodesMayStartOnAFreshDatabase(t *testing.T) {
	for range 3 {
		server := enginetest.Postgres(t)
		const nodes = 8
		var wg sync.WaitGroup
		for range nodes {
			wg.Go(func() {
				e, err := Open(t.Context(), options(server))
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(e.Ping(t.Context()), e.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		e, err := Open(t.Context(), options(server))
		must(t, err)
		var versions int64
		must(t, e.Direct(t.Context(), func(c engine.Conn) error {
			return c.Row(t.Context(), `SELECT count(*) FROM schema_version`).Scan(&versions)
		}))
		if versions != 2 {
			t.Errorf("%d versions", versions)
		}
		must(t, e.Close())
	}
}

// TestMigrationsTakeAsLongAsTheyNeed: other operations end after a time.
func TestMigrationsTakeAsLongAsTheyNeed(t *testing.T) {
	e := opened(t)
	limited := func(run func(context.Context, func(engine.Conn) error) error) (limited bool) {
		err := run(t.Context(), func(c engine.Conn) error {
			statement, cancel := c.(*conn).limit(t.Context())
			defer cancel()
			_, limited = statement.Deadline()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return limited
	}
	if !limited(e.Write) {
		t.Error("a write has no limit")
	}
	if limited(e.define) {
		t.Error("a migration has a limit")
	}
}

func TestPostgreSQLWithANewerSchemaIsRejected(t *testing.T) {
	o := options(enginetest.Postgres(t))
	e, err := Open(t.Context(), o)
	must(t, err)
	must(t, e.Close())
	o.Migrations = enginetest.OlderSchema(t)
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "newer dray") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatDoesNotRespondIsOverload(t *testing.T) {
	server := enginetest.NewProxy(t)
	var logged synced
	o := options(with(t, server.URL, "connect_timeout", "2"))
	o.Logger, o.Patience = slog.New(slog.NewTextHandler(&logged, nil)), 2*time.Second
	u, err := url.Parse(server.URL)
	must(t, err)
	host := u.Hostname()
	e, err := Open(t.Context(), o)
	must(t, err)
	defer e.Close()
	must(t, e.Write(t.Context(), put(t.Context(), "a", 1)))
	for name, fault := range map[string]func(){"rejects": server.Reject, "is silent": server.Freeze} {
		t.Run("one that "+name, func(t *testing.T) {
			fault()
			defer server.Heal()
			time.Sleep(1100 * time.Millisecond) // a connection used just now is not probed
			for what, call := range map[string]func() error{
				"write": func() error { return e.Write(t.Context(), put(t.Context(), "b", 1)) },
				"read": func() error {
					return e.Read(t.Context(), func(c engine.Conn) error { return engine.AtHead(t.Context(), c, 1) })
				},
				"direct": func() error { return e.Ping(t.Context()) },
			} {
				err := call()
				shown, ok := errors.AsType[*lastmile.Error](err)
				if !ok || shown.Code != lastmile.CodeOverloaded {
					t.Fatalf("%s: %v", what, err)
				}
				for _, secret := range []string{host, "postgres", "connect", "database="} {
					if strings.Contains(shown.Error(), secret) {
						t.Errorf("%s: clients learn %q: %s", what, secret, shown)
					}
				}
				if !strings.Contains(logged.String(), "the database cannot be reached") {
					t.Errorf("%s: the log has only %q", what, logged.String())
				}
			}
		})
		waitFor(t, func() bool { return e.Ping(t.Context()) == nil })
	}
}

func TestAFullPoolIsOverload(t *testing.T) {
	e, err := Open(t.Context(), options(with(t, enginetest.Postgres(t), "pool_max_conns", "1")))
	must(t, err)
	defer e.Close()
	e.slots.Patience = 50 * time.Millisecond // not before: a slow machine takes longer to connect
	must(t, e.Direct(t.Context(), func(engine.Conn) error {
		if err := e.Write(t.Context(), put(t.Context(), "a", 1)); codeOf(err) != lastmile.CodeOverloaded {
			t.Errorf("got %v", err)
		}
		e.slots.MaxWaiting, e.slots.Patience = 0, time.Hour
		if err := e.Ping(t.Context()); codeOf(err) != lastmile.CodeOverloaded {
			t.Errorf("with a full queue: %v", err)
		}
		return nil
	}))
}

// TestCallersThatLeaveKeepTheConnection: opening another costs more than most statements. A
// statement that takes long is ended.
func TestCallersThatLeaveKeepTheConnection(t *testing.T) {
	e, err := Open(t.Context(), options(with(t, enginetest.Postgres(t), "pool_max_conns", "1")))
	must(t, err)
	defer e.Close()
	backend := func() (pid int64) {
		must(t, e.Direct(t.Context(), func(c engine.Conn) error {
			return c.Row(t.Context(), `SELECT pg_backend_pid()`).Scan(&pid)
		}))
		return pid
	}
	leave := func(run func(context.Context, func(engine.Conn) error) error, seconds float64) {
		ctx, cancel := context.WithCancel(t.Context())
		err := run(ctx, func(c engine.Conn) error {
			time.AfterFunc(10*time.Millisecond, cancel)
			if _, err := c.Exec(ctx, `SELECT pg_sleep($1)`, seconds); err != nil {
				return err
			}
			<-ctx.Done()
			_, err := c.Exec(ctx, `SELECT 1`)
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	before := backend()
	leave(e.Read, 0.05)
	leave(e.Write, 0.05)
	if after := backend(); after != before {
		t.Errorf("the connection to %d was replaced by one to %d", before, after)
	}
	leave(e.Read, 1000)
	if after := backend(); after == before {
		t.Error("a long statement was not ended")
	}
}

// TestCallersDoNotWaitForEachOthersRetries has an operation that lost against
// another take long when it runs again. One of the same caller that lost as well
// waits for it, and one of another caller does not.
func TestCallersDoNotWaitForEachOthersRetries(t *testing.T) {
	e, err := Open(t.Context(), options(enginetest.Postgres(t)))
	must(t, err)
	defer e.Close()
	loses := func(caller string, again func()) error {
		ctx := lastmile.WithCaller(t.Context(), caller)
		runs := 0
		return e.Write(ctx, func(engine.Conn) error {
			if runs++; runs == 1 {
				return &pgconn.PgError{Code: pgSerialization}
			}
			again()
			return nil
		})
	}
	begun, release := make(chan struct{}), make(chan struct{})
	var first, second atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		must(t, loses("acme", func() {
			close(begun)
			<-release
			first.Store(true)
		}))
	})
	<-begun
	wg.Go(func() { must(t, loses("acme", func() { second.Store(first.Load()) })) })
	must(t, loses("other", func() {}))
	close(release)
	wg.Wait()
	if !second.Load() {
		t.Error("two operations of one caller ran again at the same time")
	}
}

// TestALongOperationFinallyWins has an operation that another one of its caller beats
// whenever it can: while the long one runs, a short one begins and changes the same row.
// After a few retries short ones begin only after the long one, and those of other
// callers do not wait for it.
func TestALongOperationFinallyWins(t *testing.T) {
	e, err := Open(t.Context(), options(enginetest.Postgres(t)))
	must(t, err)
	defer e.Close()
	change := func(ctx context.Context, caller string, during func()) error {
		ctx = lastmile.WithCaller(ctx, caller)
		return e.Write(ctx, func(c engine.Conn) error {
			var n int64
			if err := c.Row(ctx, `SELECT COUNT(*) FROM note WHERE org = $1`, caller).Scan(&n); err != nil {
				return err
			}
			during()
			_, err := c.Exec(ctx, `INSERT INTO note (org, id, doc, n) VALUES ($1, $2, $3, $4)`, caller, "note"+rand.Text(), []byte("{}"), n)
			return err
		})
	}
	runs := 0
	var short sync.WaitGroup
	must(t, change(t.Context(), "acme", func() {
		runs++
		must(t, e.Write(lastmile.WithCaller(t.Context(), "other"), func(engine.Conn) error { return nil }))
		done := make(chan struct{})
		short.Go(func() {
			defer close(done)
			must(t, change(t.Context(), "acme", func() {}))
		})
		if runs <= loneRetry {
			<-done
		}
	}))
	short.Wait()
	if runs != loneRetry+1 {
		t.Errorf("it won in run %d, want run %d", runs, loneRetry+1)
	}
	var different, all int64
	must(t, e.Direct(t.Context(), func(c engine.Conn) error {
		return c.Row(t.Context(), `SELECT COUNT(DISTINCT n), COUNT(*) FROM note WHERE org = 'acme'`).Scan(&different, &all)
	}))
	if all != loneRetry+2 || different != all {
		t.Errorf("%d operations saw %d different states", all, different)
	}
}

func TestAConflictOfACallerThatIsGone(t *testing.T) {
	e, err := Open(t.Context(), options(enginetest.Postgres(t)))
	must(t, err)
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err = e.Write(ctx, func(engine.Conn) error {
		cancel()
		return &pgconn.PgError{Code: pgSerialization}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// synced is a buffer for log lines.
type synced struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write implements io.Writer.
func (s *synced) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(b)
}

// String returns what was written.
func (s *synced) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.String()
}

func TestOutagesAreLoggedOnceASecond(t *testing.T) {
	var o outage
	at := time.UnixMilli(1_800_000_000_000)
	for i, test := range []struct {
		after time.Duration
		due   bool
	}{{0, true}, {time.Millisecond, false}, {outageInterval, true}, {-time.Hour, true}, {-time.Hour + 1, false}} {
		if o.due(at.Add(test.after)) != test.due {
			t.Errorf("line %d at %v: want %t", i, test.after, test.due)
		}
	}
}

func TestALostConnection(t *testing.T) {
	server := enginetest.NewProxy(t)
	e, err := Open(t.Context(), options(server.URL))
	must(t, err)
	defer e.Close()
	ctx := t.Context()
	t.Run("before the commit is replaced and the operation runs again", func(t *testing.T) {
		var runs atomic.Int32
		must(t, e.Write(ctx, func(c engine.Conn) error {
			if err := put(ctx, "once", 1)(c); err != nil {
				return err
			}
			if runs.Add(1) == 1 {
				server.Cut()
			}
			return put(ctx, "twice", 1)(c)
		}))
		if n := count(t, e); n != 2 || runs.Load() != 2 {
			t.Errorf("%d rows after %d runs", n, runs.Load())
		}
	})
	rows := int64(2)
	for how, last := range map[string]func(engine.Conn) error{
		"": put(ctx, "perhaps", 1),
		" with other statements": func(c engine.Conn) error {
			if err := c.Row(ctx, `SELECT 1`).Scan(new(int64)); err != nil {
				return err
			}
			return c.Send(ctx, `INSERT INTO note (org, id) VALUES ('acme', 'together')`)
		},
	} {
		t.Run("just before the commit"+how+" has an unknown outcome", func(t *testing.T) {
			server.CutBeforeCommit.Store(true)
			if err := e.Write(ctx, last); !errors.Is(err, lastmile.ErrUnknownOutcome) {
				t.Errorf("got %v", err)
			}
			waitFor(t, func() bool { return e.Ping(ctx) == nil && count(t, e) == rows })
		})
		t.Run("during the commit"+how+" is reported and the operation does not run again", func(t *testing.T) {
			var runs atomic.Int32
			server.CutAfterCommit.Store(true)
			err := e.Write(ctx, func(c engine.Conn) error {
				runs.Add(1)
				return last(c)
			})
			if !errors.Is(err, lastmile.ErrUnknownOutcome) || runs.Load() != 1 {
				t.Errorf("got %v after %d runs", err, runs.Load())
			}
			rows++
			waitFor(t, func() bool { return e.Ping(ctx) == nil && count(t, e) == rows }) // it lost the response alone
		})
	}
}

// TestStatementsSentWithTheCommit has one of them fail: nothing is committed, and what the
// server says of it decides whether the operation runs again.
func TestStatementsSentWithTheCommit(t *testing.T) {
	e := opened(t)
	ctx := t.Context()
	must(t, e.Write(ctx, put(ctx, "a", 1)))
	runs := 0
	write := func(last string) error {
		runs = 0
		return e.Write(ctx, func(c engine.Conn) error {
			runs++
			if err := put(ctx, "b", 1)(c); err != nil {
				return err
			}
			return c.Send(ctx, last)
		})
	}
	if err := write(`INSERT INTO note (org, id) VALUES ('acme', 'a')`); !e.IsUnique(err) || runs != maxUniqueRetries+1 || count(t, e) != 1 {
		t.Errorf("a taken key: %v after %d runs; %d rows", err, runs, count(t, e))
	}
	if err := write(`SELECT 1 / 0`); pgCode(err) != "22012" || runs != 1 || count(t, e) != 1 {
		t.Errorf("an error: %v after %d runs; %d rows", err, runs, count(t, e))
	}
	abandoned, cancel := context.WithCancel(ctx)
	err := e.Write(abandoned, func(c engine.Conn) error {
		err := put(ctx, "b", 1)(c)
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) || count(t, e) != 1 {
		t.Errorf("a caller that has left: %v; %d rows", err, count(t, e))
	}
	if err := write(`INSERT INTO note (org, id) VALUES ('acme', 'c')`); err != nil || runs != 1 || count(t, e) != 3 {
		t.Errorf("no error: %v after %d runs; %d rows", err, runs, count(t, e))
	}
}

// with returns a URL with a parameter set.
func with(t testing.TB, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

func TestARestartOfTheServerIsSurvived(t *testing.T) {
	server := enginetest.NewProxy(t)
	e, err := Open(t.Context(), options(server.URL))
	must(t, err)
	defer e.Close()
	ctx := t.Context()
	for name, after := range map[string]func() error{
		"a write": func() error { return e.Write(ctx, put(ctx, "after", 1)) },
		"a read":  func() error { return e.Read(ctx, func(c engine.Conn) error { return engine.AtHead(ctx, c, 2) }) },
		"a write that reads first": func() error {
			return e.Write(ctx, func(c engine.Conn) error {
				if err := engine.AtHead(ctx, c, 2); err != nil {
					return err
				}
				return put(ctx, "later", 1)(c)
			})
		},
	} {
		var wg sync.WaitGroup
		for range 16 { // so that there are many connections to break
			wg.Go(func() {
				_ = e.Read(ctx, func(c engine.Conn) error {
					time.Sleep(50 * time.Millisecond)
					return engine.AtHead(ctx, c, 2)
				})
			})
		}
		wg.Wait()
		server.Cut()
		if err := after(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, shed := count(t, e), e.count.Shed.Load(); n != 2 || shed != 0 {
		t.Errorf("%d rows, want 2; %d operations were reported as rejected", n, shed)
	}
}
