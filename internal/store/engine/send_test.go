package engine_test

import (
	"context"
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
			"at the next statement, even if nobody cares": func(c engine.Conn) error {
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
