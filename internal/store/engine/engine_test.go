package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
	"dray/internal/store/engine/sqlite"
)

func TestOneTextServesBothEngines(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		t.Run("parameters may be repeated, out of order and more than nine", func(t *testing.T) {
			ctx := t.Context()
			var got string
			must(t, e.Direct(ctx, func(c engine.Conn) error {
				return c.Row(ctx, `SELECT CAST($10 AS TEXT) || CAST($1 AS TEXT) || CAST($10 AS TEXT) || '$1' || CAST($2 AS TEXT)
					|| CAST($3 AS TEXT) || CAST($4 AS TEXT) || CAST($5 AS TEXT) || CAST($6 AS TEXT) || CAST($9 AS TEXT)
					|| CAST($8 AS TEXT) || CAST($7 AS TEXT) -- not $11`,
					"a", "b", "c", "d", "e", "f", "g", "h", "i", "j").Scan(&got)
			}))
			if want := "jaj$1bcdefihg"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
		t.Run("too few and too many arguments are rejected", func(t *testing.T) {
			ctx := t.Context()
			for _, args := range [][]any{{}, {"a", "b"}} {
				err := e.Direct(ctx, func(c engine.Conn) error {
					var s string
					return c.Row(ctx, `SELECT CAST($1 AS TEXT)`, args...).Scan(&s)
				})
				if err == nil {
					t.Errorf("%d arguments for one parameter were taken", len(args))
				}
			}
		})
		t.Run("no row is sql.ErrNoRows", func(t *testing.T) {
			ctx := t.Context()
			err := e.Direct(ctx, func(c engine.Conn) error {
				var s string
				return c.Row(ctx, `SELECT id FROM note WHERE org = $1`, "nobody").Scan(&s)
			})
			if !errors.Is(err, sql.ErrNoRows) {
				t.Errorf("got %v", err)
			}
		})
		t.Run("affected rows are counted", func(t *testing.T) { testAffected(t, e) })
		t.Run("RETURNING returns rows", func(t *testing.T) { testReturning(t, e) })
	})
}

func testAffected(t *testing.T, e engine.Engine) {
	ctx := t.Context()
	must(t, e.Write(ctx, func(c engine.Conn) error {
		steps := []struct {
			query string
			want  int64
		}{
			{`INSERT INTO note (org, id, n) VALUES ('aff', 'a', 1), ('aff', 'b', 2)`, 2},
			{`INSERT INTO note (org, id, n) VALUES ('aff', 'a', 1) ON CONFLICT DO NOTHING`, 0},
			{`INSERT INTO note (org, id, n) VALUES ('aff', 'a', 1) ON CONFLICT (org, id) DO UPDATE SET n = 9`, 1},
			{`UPDATE note SET n = 5 WHERE org = 'aff'`, 2},
			{`UPDATE note SET n = 5 WHERE org = 'none'`, 0},
			{`CREATE INDEX some_index ON note (n)`, 0},
			{`DELETE FROM note WHERE org = 'aff'`, 2},
		}
		for _, s := range steps {
			got, err := c.Exec(ctx, s.query)
			if err != nil {
				return err
			}
			if got != s.want {
				t.Errorf("%s: %d rows, want %d", s.query, got, s.want)
			}
		}
		return nil
	}))
}

func testReturning(t *testing.T, e engine.Engine) {
	ctx := t.Context()
	must(t, e.Write(ctx, func(c engine.Conn) error {
		if _, err := c.Exec(ctx, `DELETE FROM counter`); err != nil {
			return err
		}
		for want := int64(1); want <= 3; want++ {
			var n int64
			err := c.Row(ctx, `INSERT INTO counter (name, n) VALUES ($1, 1)
				ON CONFLICT (name) DO UPDATE SET n = counter.n + 1 RETURNING n`, "visits").Scan(&n)
			if err != nil {
				return err
			}
			if n != want {
				t.Errorf("got %d, want %d", n, want)
			}
		}
		return nil
	}))
}

// label is a named string type, as ids are.
type label string

func TestValuesSurviveTheRoundTrip(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		text, num, float := "Zürich – 東京 \U0001F69A", int64(1)<<62, 1.5
		blob := []byte{0, 1, 0xff, '\'', '$'}
		must(t, e.Write(ctx, func(c engine.Conn) error {
			_, err := c.Exec(ctx, `INSERT INTO note (org, id, doc, n, x, label) VALUES
				($1, 'full', $2, $3, $4, $5), ($1, 'null', $6, $7, $8, $9), ($1, 'empty', $10, 0, 0, $11), ($1, 'ptr', $12, $13, $14, $15)`,
				lastmile.OrganizationID("acme"), blob, num, float, label(text),
				nil, (*int64)(nil), (*float64)(nil), (*string)(nil),
				[]byte{}, "", []byte(nil), &num, &float, new(label("p")))
			return err
		}))
		type note struct {
			doc []byte
			n   *int64
			x   *float64
			lab *label
		}
		got := map[label]note{}
		must(t, e.Read(ctx, func(c engine.Conn) error {
			r, err := c.Query(ctx, `SELECT id, doc, n, x, label FROM note WHERE org = $1`, "acme")
			if err != nil {
				return err
			}
			defer r.Close()
			for r.Next() {
				var id label
				var n note
				if err := r.Scan(&id, &n.doc, &n.n, &n.x, &n.lab); err != nil {
					return err
				}
				got[id] = n
			}
			r.Close()
			return r.Err()
		}))
		if f := got["full"]; string(f.doc) != string(blob) || *f.n != num || *f.x != float || string(*f.lab) != text {
			t.Errorf("full row: %+v", f)
		}
		if n := got["null"]; n.doc != nil || n.n != nil || n.x != nil || n.lab != nil {
			t.Errorf("null row: %+v", n)
		}
		if m := got["empty"]; m.doc == nil || len(m.doc) != 0 || *m.n != 0 || *m.x != 0 || *m.lab != "" {
			t.Errorf("empty row: %+v", m)
		}
		if p := got["ptr"]; p.doc != nil || *p.n != num || *p.x != float || *p.lab != "p" {
			t.Errorf("row of pointers: %+v", p)
		}
		t.Run("null does not become a zero value", func(t *testing.T) {
			err := e.Direct(ctx, func(c engine.Conn) error {
				var n int64
				return c.Row(ctx, `SELECT n FROM note WHERE id = 'null'`).Scan(&n)
			})
			if err == nil {
				t.Error("NULL was read into an int64")
			}
		})
		t.Run("a large document comes back whole", func(t *testing.T) {
			big := []byte(strings.Repeat("0123456789abcdef", 1<<16))
			must(t, e.Write(ctx, func(c engine.Conn) error {
				_, err := c.Exec(ctx, `UPDATE note SET doc = $1 WHERE id = 'full'`, big)
				return err
			}))
			var back []byte
			must(t, e.Direct(ctx, func(c engine.Conn) error {
				return c.Row(ctx, `SELECT doc FROM note WHERE id = 'full'`).Scan(&back)
			}))
			if string(back) != string(big) {
				t.Errorf("%d bytes came back of %d", len(back), len(big))
			}
		})
	})
}

func TestAnOperationIsAllOrNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		mine := errors.New("changed my mind")
		t.Run("its error comes back unchanged and nothing is kept", func(t *testing.T) {
			err := e.Write(ctx, func(c engine.Conn) error {
				if err := put(ctx, "gone", 1)(c); err != nil {
					return err
				}
				return mine
			})
			if err != mine { //nolint:errorlint // unchanged is the point
				t.Errorf("got %v", err)
			}
			if n := count(t, e); n != 0 {
				t.Errorf("%d rows were kept", n)
			}
		})
		t.Run("a domain error comes back unchanged", func(t *testing.T) {
			want := lastmile.NotFound("note", "x")
			if err := e.Write(ctx, func(engine.Conn) error { return want }); err != error(want) { //nolint:errorlint // unchanged is the point
				t.Errorf("got %v", err)
			}
		})
		t.Run("a failed statement ends it even when the error is swallowed", func(t *testing.T) {
			must(t, e.Write(ctx, put(ctx, "once", 1)))
			err := e.Write(ctx, func(c engine.Conn) error {
				_ = put(ctx, "other", 1)(c)
				_ = put(ctx, "once", 2)(c)
				if put(ctx, "third", 3)(c) == nil {
					t.Error("a statement ran after one that failed")
				}
				return nil
			})
			if !e.IsUnique(err) {
				t.Errorf("got %v", err)
			}
			if n := count(t, e); n != 1 {
				t.Errorf("%d rows", n)
			}
		})
		t.Run("a panic is an error and nothing is kept", func(t *testing.T) {
			err := e.Write(ctx, func(c engine.Conn) error {
				must(t, put(ctx, "panic", 1)(c))
				panic("oh")
			})
			if err == nil || !strings.Contains(err.Error(), "panicked") {
				t.Errorf("got %v", err)
			}
			if n := count(t, e); n != 1 {
				t.Errorf("%d rows", n)
			}
			must(t, e.Write(ctx, put(ctx, "after the panic", 1)))
			if err := e.Direct(ctx, func(engine.Conn) error { panic("reader") }); err == nil {
				t.Error("a panic of a reader went unseen")
			}
			must(t, e.Ping(ctx))
		})
		t.Run("an operation that ends its goroutine affects no other", func(t *testing.T) {
			var wg sync.WaitGroup
			wg.Go(func() {
				err := e.Write(ctx, func(c engine.Conn) error {
					must(t, put(ctx, "goexit", 1)(c))
					runtime.Goexit() // as t.FailNow does
					return nil
				})
				if e.Name() == "sqlite" && err == nil { // elsewhere the caller itself is gone
					t.Error("no error")
				}
			})
			wg.Wait()
			if n := count(t, e); n != 2 {
				t.Errorf("%d rows", n)
			}
			must(t, e.Write(ctx, put(ctx, "after the exit", 1)))
		})
	})
}

func TestACancelledContextIsHonoured(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		t.Run("a write that has not begun is not made", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := e.Write(ctx, put(ctx, "never", 1)); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if n := count(t, e); n != 0 {
				t.Errorf("%d rows", n)
			}
		})
		t.Run("a long read is given up and the connection is clean", func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			long := func(c engine.Conn) error {
				var n int64
				return c.Row(ctx, `WITH RECURSIVE far (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM far WHERE n < 1000000000)
					SELECT count(*) FROM far`).Scan(&n)
			}
			if err := e.Read(ctx, long); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("read: got %v", err)
			}
			if err := e.Direct(ctx, long); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("direct: got %v", err)
			}
			must(t, e.Write(t.Context(), put(t.Context(), "later", 1)))
			for range 20 {
				if n := count(t, e); n != 1 {
					t.Errorf("an old snapshot is still open: %d rows", n)
				}
			}
		})
	})
}

func TestReadsAreConsistent(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		must(t, e.Write(ctx, put(ctx, "a", 1)))
		t.Run("a read sees one snapshot", func(t *testing.T) {
			var before, after int64
			must(t, e.Read(ctx, func(c engine.Conn) error {
				if err := c.Row(ctx, `SELECT count(*) FROM note`).Scan(&before); err != nil {
					return err
				}
				if err := e.Write(ctx, put(ctx, "b", 2)); err != nil {
					return err
				}
				return c.Row(ctx, `SELECT count(*) FROM note`).Scan(&after)
			}))
			if before != 1 || after != 1 {
				t.Errorf("saw %d rows and then %d", before, after)
			}
			if n := count(t, e); n != 2 {
				t.Errorf("%d rows after all", n)
			}
		})
		t.Run("a read cannot write", func(t *testing.T) {
			if err := e.Read(ctx, put(ctx, "c", 1)); err == nil {
				t.Error("it wrote")
			}
			if n := count(t, e); n != 2 {
				t.Errorf("%d rows", n)
			}
		})
		t.Run("rows must be closed before the next statement", func(t *testing.T) {
			err := e.Read(ctx, func(c engine.Conn) error {
				r, err := c.Query(ctx, `SELECT id FROM note`)
				if err != nil {
					return err
				}
				defer r.Close()
				r.Next()
				var n int64
				return c.Row(ctx, `SELECT count(*) FROM note`).Scan(&n)
			})
			if err == nil {
				t.Error("two at once were taken, which PostgreSQL does not do")
			}
			must(t, e.Ping(ctx))
		})
		t.Run("rows that are left open are closed", func(t *testing.T) {
			for range 30 {
				must(t, e.Write(ctx, func(c engine.Conn) error {
					r, err := c.Query(ctx, `SELECT id FROM note`)
					if err == nil {
						r.Next()
					}
					return err
				}))
			}
			must(t, e.Write(ctx, put(ctx, "d", 1)))
		})
	})
}

func TestSixtyFourWritersLoseNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		const writers, each = 64, 20
		must(t, e.Write(ctx, func(c engine.Conn) error {
			_, err := c.Exec(ctx, `INSERT INTO counter (name, n) VALUES ('shared', 0)`)
			return err
		}))
		var wg sync.WaitGroup
		var mu sync.Mutex
		acknowledged := int64(0)
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					err := e.Write(ctx, func(c engine.Conn) error { return addOne(ctx, c, fmt.Sprintf("%d-%d", w, i)) })
					if code := codeOf(err); code == lastmile.CodeOverloaded {
						continue // rejected, so not counted
					}
					if err != nil {
						t.Errorf("writer %d: %v", w, err)
						return
					}
					mu.Lock()
					acknowledged++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		var shared int64
		must(t, e.Direct(ctx, func(c engine.Conn) error {
			return c.Row(ctx, `SELECT n FROM counter WHERE name = 'shared'`).Scan(&shared)
		}))
		if rows := count(t, e); rows != acknowledged || shared != acknowledged {
			t.Errorf("%d acknowledged, %d rows, counter %d", acknowledged, rows, shared)
		}
		s := e.Stats()
		if int64(s.Operations) < acknowledged || acknowledged < writers*each/4 {
			t.Errorf("%d acknowledged of %d; stats %+v", acknowledged, writers*each, s)
		}
		t.Logf("%d of %d acknowledged; %+v", acknowledged, writers*each, s)
	})
}

// addOne reads a counter, writes it back plus one, and adds a row.
func addOne(ctx context.Context, c engine.Conn, id string) error {
	var n int64
	if err := c.Row(ctx, `SELECT n FROM counter WHERE name = 'shared'`).Scan(&n); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, `UPDATE counter SET n = $1 WHERE name = 'shared'`, n+1); err != nil {
		return err
	}
	return put(ctx, id, n)(c)
}

func TestAClosedEngineSaysSo(t *testing.T) {
	e, err := sqlite.Open(t.Context(), sqliteOptions(t.TempDir()))
	must(t, err)
	must(t, e.Close())
	must(t, e.Close())
	ctx := t.Context()
	if err := e.Write(ctx, put(ctx, "a", 1)); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("write: %v", err)
	}
	if err := e.Ping(ctx); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("ping: %v", err)
	}
}

func TestARaceForAUniqueValueHasOneWinner(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		var wg sync.WaitGroup
		for w := range 16 {
			wg.Go(func() {
				err := e.Write(ctx, func(c engine.Conn) error {
					var id string
					err := c.Row(ctx, `SELECT id FROM note WHERE org = $1 AND label = $2`, "acme", "wanted").Scan(&id)
					if !errors.Is(err, sql.ErrNoRows) {
						return err // found, or an error
					}
					_, err = c.Exec(ctx, `INSERT INTO note (org, id, label) VALUES ($1, $2, $3)`, "acme", fmt.Sprint(w), "wanted")
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := count(t, e); n != 1 {
			t.Errorf("%d rows", n)
		}
	})
}

// TestRunningWritesAreCounted checks that a write counts as running until it is committed.
func TestRunningWritesAreCounted(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		committed := e.Stats().Operations
		must(t, e.Write(t.Context(), func(engine.Conn) error {
			if s := e.Stats(); s.Running != 1 || s.Operations != committed {
				t.Errorf("while it runs, %d run and %d are committed", s.Running, s.Operations-committed)
			}
			return nil
		}))
		if s := e.Stats(); s.Running != 0 || s.Operations != committed+1 {
			t.Errorf("afterwards, %d run and %d are committed", s.Running, s.Operations-committed)
		}
	})
}
