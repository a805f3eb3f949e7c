package postgres

import (
	"fmt"
	"strings"
	"testing"

	"dray/internal/store/engine"
)

// benchRows is the number of rows in the benchmark.
const benchRows = 20_000

// benchKey returns the id of a row.
func benchKey(i int) string { return fmt.Sprintf("note%020d", i%benchRows) }

// BenchmarkPointRead reads one record by its key.
func BenchmarkPointRead(b *testing.B) {
	e := opened(b)
	ctx := b.Context()
	doc := []byte(`{"id":"` + strings.Repeat("x", 900) + `"}`)
	must(b, e.Write(ctx, func(c engine.Conn) error {
		for i := range benchRows {
			err := c.Send(ctx, `INSERT INTO note (org, id, doc, n) VALUES ($1, $2, $3, $4)`, "acme", benchKey(i), doc, i)
			if err != nil {
				return err
			}
		}
		return nil
	}))
	for i := 0; b.Loop(); i += 7919 {
		must(b, e.Direct(ctx, func(c engine.Conn) error {
			var doc []byte
			var n *int64
			return c.Row(ctx, `SELECT doc, n FROM note WHERE org = $1 AND id = $2`, "acme", benchKey(i)).Scan(&doc, &n)
		}))
	}
}
