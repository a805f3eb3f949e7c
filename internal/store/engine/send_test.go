package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"dray/internal/store/engine"
)

// sendNote sends a statement that writes one row.
func sendNote(ctx context.Context, c engine.Conn, id string) error {
	return c.Send(ctx, `INSERT INTO note (org, id, n) VALUES ('acme', $1, 1)`, id)
}

// countIn counts the rows of note as an operation sees them.
func countIn(ctx context.Context, c engine.Conn) (n int64, err error) {
	err = c.Row(ctx, `SELECT count(*) FROM note`).Scan(&n)
	return n, err
}

func TestWhatIsSentIsThereForTheNextStatement(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		next := map[string]func(c engine.Conn) (int64, error){
			"a row":       func(c engine.Conn) (int64, error) { return countIn(ctx, c) },
			"a statement": func(c engine.Conn) (int64, error) { return c.Exec(ctx, `UPDATE note SET n = 2`) },
			"rows": func(c engine.Conn) (n int64, err error) {
				found, err := c.Query(ctx, `SELECT id FROM note`)
				if err != nil {
					return 0, err
				}
				defer found.Close()
				for ; found.Next(); n++ {
					var id string
					if err := found.Scan(&id); err != nil {
						return n, err
					}
				}
				return n, found.Err()
			},
		}
		for name, look := range next {
			t.Run(name, func(t *testing.T) {
				undo := errors.New("undo")
				err := e.Write(ctx, func(c engine.Conn) error {
					for i, want := range []int64{1, 2, 3} {
						if err := sendNote(ctx, c, fmt.Sprint(name, i)); err != nil {
							return err
						}
						if n, err := look(c); err != nil || n != want {
							return fmt.Errorf("%d rows of %d: %w", n, want, err)
						}
					}
					return undo
				})
				if !errors.Is(err, undo) {
					t.Error(err)
				}
			})
		}
		if n := count(t, e); n != 0 {
			t.Errorf("%d rows were kept of operations that failed", n)
		}
	})
}

func TestWhatIsSentLastIsKept(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		const rows = 3*128 + 1 // more than an engine holds back
		must(t, e.Write(t.Context(), func(c engine.Conn) error {
			for i := range rows {
				if err := sendNote(t.Context(), c, fmt.Sprint(i)); err != nil {
					return err
				}
			}
			return nil
		}))
		if n := count(t, e); n != rows {
			t.Errorf("%d of %d rows", n, rows)
		}
	})
}

func TestAFaultInWhatIsSentEndsTheOperation(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		must(t, e.Write(ctx, put(ctx, "taken", 1)))
		for name, after := range map[string]func(c engine.Conn) error{
			"at its end": func(engine.Conn) error { return nil },
			"at the next statement, even if its result is ignored": func(c engine.Conn) error {
				countIn(ctx, c) //nolint:errcheck // the point
				return nil
			},
			"at the next statement": func(c engine.Conn) error {
				_, err := countIn(ctx, c)
				return err
			},
		} {
			t.Run(name, func(t *testing.T) {
				err := e.Write(ctx, func(c engine.Conn) error {
					if err := errors.Join(sendNote(ctx, c, "new"), sendNote(ctx, c, "taken")); err != nil {
						return err // SQLite knows at once
					}
					return after(c)
				})
				if !e.IsUnique(err) {
					t.Errorf("got %v, want that the row exists", err)
				}
				if n := count(t, e); n != 1 {
					t.Errorf("%d rows", n)
				}
			})
		}
	})
}

func TestAnnouncedQueriesReturnTheirRows(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		const all, one, none = `SELECT id, n FROM note WHERE org = $1 ORDER BY id`, `SELECT n FROM note WHERE id = $1`, `SELECT n FROM note WHERE n = $1`
		undo := errors.New("undo")
		err := e.Write(ctx, func(c engine.Conn) error {
			for _, id := range []string{"a", "b"} {
				if err := sendNote(ctx, c, id); err != nil {
					return err
				}
			}
			c.Ahead(all, "acme")
			c.Ahead(one, "b")
			c.Ahead(none, 7)
			if n, err := countIn(ctx, c); err != nil || n != 2 { // the announced queries run with this one
				return fmt.Errorf("%d rows: %w", n, err)
			}
			found, err := c.Query(ctx, all, "acme")
			if err != nil {
				return err
			}
			defer found.Close()
			for _, want := range []string{"a", "b"} {
				var (
					id string
					n  *int64
				)
				if !found.Next() {
					return fmt.Errorf("no row %s: %w", want, found.Err())
				}
				if err := found.Scan(&id, &n); err != nil || id != want || *n != 1 {
					return fmt.Errorf("%s %v: %w", id, n, err)
				}
			}
			if found.Next() || found.Err() != nil {
				return fmt.Errorf("a third row: %w", found.Err())
			}
			var n int64
			if err := c.Row(ctx, one, "a").Scan(&n); err != nil { // with other arguments
				return err
			}
			if err := c.Row(ctx, one, "b").Scan(&n); err != nil || n != 1 {
				return fmt.Errorf("%d: %w", n, err)
			}
			if err := c.Row(ctx, none, 7).Scan(&n); !errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("%d: %w", n, err)
			}
			if _, err := c.Exec(ctx, `UPDATE note SET n = 7`); err != nil {
				return err
			}
			if err := c.Row(ctx, none, 7).Scan(&n); err != nil { // announced once, it runs ahead once
				return err
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Error(err)
		}
	})
}

func TestAnnouncedQueryThatFailsEndsTheOperation(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine.Engine) {
		ctx := t.Context()
		const broken = `SELECT missing FROM note WHERE id = $1`
		err := e.Write(ctx, func(c engine.Conn) error {
			if err := sendNote(ctx, c, "a"); err != nil {
				return err
			}
			c.Ahead(broken, "a")
			countIn(ctx, c) //nolint:errcheck // the operation fails here or below
			var n int64
			return c.Row(ctx, broken, "a").Scan(&n)
		})
		if err == nil {
			t.Error("the operation succeeded")
		}
		if n := count(t, e); n != 0 {
			t.Errorf("%d rows were kept", n)
		}
	})
}
