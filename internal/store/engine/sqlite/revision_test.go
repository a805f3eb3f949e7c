package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	lib "modernc.org/sqlite/lib"

	"dray/internal/store/engine"
)

// revisionOf returns the revision that a reader sees.
func revisionOf(t *testing.T, e *Engine) (r engine.Revision) {
	t.Helper()
	must(t, e.Direct(t.Context(), func(c engine.Conn) error {
		r = c.Revision()
		return nil
	}))
	if r == (engine.Revision{}) {
		t.Fatal("the revision is unknown")
	}
	return r
}

// writeOnce writes a row beside a server.
func writeOnce() int {
	o := options(os.Getenv("DRAY_TEST_FOLDER"))
	o.Serve = false
	e, err := Open(context.Background(), o)
	if err == nil {
		err = e.Write(context.Background(), put(context.Background(), "from a command", 1))
	}
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// restartLog makes the next commit begin the log again.
func restartLog(e *Engine) (err error) {
	done := make(chan struct{})
	e.writer.asides <- func() {
		defer close(done)
		_, _, err = e.writer.h.checkpoint(lib.SQLITE_CHECKPOINT_RESTART)
	}
	<-done
	return err
}

func TestEveryCommitChangesTheRevision(t *testing.T) {
	folder := t.TempDir()
	e, err := Open(t.Context(), options(folder))
	must(t, err)
	defer func() { must(t, e.Close()) }()
	seen := map[engine.Revision]string{}
	changed := func(by string) {
		t.Helper()
		now := revisionOf(t, e)
		if before, ok := seen[now]; ok {
			t.Errorf("after a commit by %s, the revision is that after %s", by, before)
		}
		seen[now] = by
		count(t, e)
		if again := revisionOf(t, e); again != now {
			t.Errorf("a read after a commit by %s changed the revision", by)
		}
	}
	for n := range 20 {
		must(t, e.Write(t.Context(), put(t.Context(), fmt.Sprint(n), 1)))
		changed("the server")
		if n%5 == 0 { // the next commit begins the log again
			waitFor(t, func() bool { return restartLog(e) == nil }) // the checkpointer may run
		}
	}
	must(t, child(t, "write once", folder).Run())
	changed("a command")
	e.readers.trim(0)
	must(t, e.Write(t.Context(), put(t.Context(), "last", 1)))
	changed("the server, for a new reader")
}

// TestARevisionHasOneState keeps what was read at a revision, as callers do: it must be what
// any later read at that revision returns, and have everything that was acknowledged before.
func TestARevisionHasOneState(t *testing.T) {
	e := opened(t)
	ctx := t.Context()
	add := func(c engine.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO counter (name, n) VALUES ('one', 1) ON CONFLICT (name) DO UPDATE SET n = counter.n + 1`)
		return err
	}
	must(t, e.Write(ctx, add))
	var (
		acknowledged atomic.Int64
		states       sync.Map // revision → count
		hits         atomic.Int64
		stop         atomic.Bool
		readers      sync.WaitGroup
	)
	for range 4 {
		readers.Go(func() {
			for !stop.Load() {
				least := acknowledged.Load()
				err := e.Direct(ctx, func(c engine.Conn) error {
					revision := c.Revision()
					if n, ok := states.Load(revision); ok && revision != (engine.Revision{}) {
						hits.Add(1)
						if n.(int64) < least {
							t.Errorf("a state with %d changes is kept after %d were acknowledged", n, least)
						}
						return nil
					}
					var n int64
					if err := c.Row(ctx, `SELECT n FROM counter WHERE name = 'one'`).Scan(&n); err != nil {
						return err
					}
					states.Store(revision, n)
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range int64(300) {
		if err := e.Write(ctx, add); err != nil {
			t.Error(err)
			break
		}
		acknowledged.Store(n + 2)
	}
	stop.Store(true)
	readers.Wait()
	if hits.Load() == 0 {
		t.Error("no state was used again")
	}
}

// TestARevisionIsNotUsedAgain writes, restarts, truncates and vacuums with two connections, in
// any order. Sometimes the header is left incomplete, as by a process that is killed, so that
// the library creates the index again.
func TestARevisionIsNotUsedAgain(t *testing.T) {
	e := opened(t)
	ctx := t.Context()
	other, err := openHandle(e.path, false)
	must(t, err)
	defer func() { other.close() }()
	rows, states := int64(0), map[engine.Revision]int64{}
	actions := []func(i int){
		func(i int) {
			must(t, e.Write(ctx, put(ctx, fmt.Sprint(i), 1)))
			rows++
		},
		func(i int) {
			must(t, other.run(fmt.Sprintf(`INSERT INTO note (org, id, n) VALUES ('acme', 'other %d', 1)`, i)))
			rows++
		},
		func(int) { _, _, _ = other.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE) }, // the checkpointer may run
		func(int) { _, _, _ = other.checkpoint(lib.SQLITE_CHECKPOINT_RESTART) },
		func(int) { must(t, other.run("VACUUM")) },
		func(int) { e.readers.trim(0) },
		func(int) {
			other.close()
			other, err = openHandle(e.path, false)
			must(t, err)
		},
		func(int) {
			must(t, e.Direct(ctx, func(c engine.Conn) error {
				*(*uint64)(pointer(c.(*conn).h.index + 8)) ^= 0xffff
				if r := c.Revision(); r != (engine.Revision{}) {
					t.Errorf("an incomplete header is revision %v", r)
				}
				return nil
			}))
		},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		action := random.IntN(len(actions))
		actions[action](i)
		must(t, e.Direct(ctx, func(c engine.Conn) error {
			revision := c.Revision()
			var n int64
			if err := c.Row(ctx, `SELECT count(*) FROM note`).Scan(&n); err != nil {
				return err
			}
			if n != rows {
				t.Fatalf("there are %d rows, want %d", n, rows)
			}
			if before, ok := states[revision]; ok && before != n && revision != (engine.Revision{}) {
				t.Fatalf("after action %d, the revision is %v with %d rows and with %d", action, revision, before, n)
			}
			states[revision] = n
			return nil
		}))
	}
	if len(states) < 50 {
		t.Errorf("only %d revisions were seen", len(states))
	}
}
