package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver, as the measure to compare with

	"dray/internal/store/engine"
)

// benchRows is the number of rows in the read benchmarks.
const benchRows = 20_000

// benchDoc is about the size of a record.
var benchDoc = []byte(`{"id":"` + strings.Repeat("x", 900) + `"}`)

// benchKey returns the id of a row.
func benchKey(i int) string { return fmt.Sprintf("note%020d", i%benchRows) }

// filledFor writes the rows of a read benchmark.
func filledFor(b *testing.B, e engine.Engine) {
	b.Helper()
	ctx := b.Context()
	must(b, e.Write(ctx, func(c engine.Conn) error {
		for i := range benchRows {
			_, err := c.Exec(ctx, `INSERT INTO note (org, id, doc, n) VALUES ($1, $2, $3, $4)`, "acme", benchKey(i), benchDoc, i)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

const pointRead = `SELECT doc, n FROM note WHERE org = $1 AND id = $2`

// BenchmarkPointRead reads one record by its key, which is the most frequent operation, and
// does the same through database/sql.
func BenchmarkPointRead(b *testing.B) {
	e := opened(b)
	filledFor(b, e)
	one := func(ctx context.Context, c engine.Conn, i int) error {
		var doc []byte
		var n *int64
		return c.Row(ctx, pointRead, "acme", benchKey(i)).Scan(&doc, &n)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i += 7919 {
			must(b, e.Direct(ctx, func(c engine.Conn) error { return one(ctx, c, i) }))
		}
	})
	b.Run("snapshot", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i += 7919 {
			must(b, e.Read(ctx, func(c engine.Conn) error { return one(ctx, c, i) }))
		}
	})
	b.Run("direct-parallel", func(b *testing.B) {
		b.ReportAllocs()
		var next atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				i := int(next.Add(7919))
				must(b, e.Direct(ctx, func(c engine.Conn) error { return one(ctx, c, i) }))
			}
		})
	})
	b.Run("database-sql", func(b *testing.B) {
		db, err := sql.Open("sqlite", e.path)
		must(b, err)
		defer db.Close()
		stmt, err := db.PrepareContext(ctx, strings.NewReplacer("$1", "?1", "$2", "?2").Replace(pointRead))
		must(b, err)
		defer stmt.Close()
		b.ReportAllocs()
		for i := 0; b.Loop(); i += 7919 {
			var doc []byte
			var n *int64
			must(b, stmt.QueryRowContext(ctx, "acme", benchKey(i)).Scan(&doc, &n))
		}
	})
}

const insertNote = `INSERT INTO note (org, id, doc, n) VALUES ($1, $2, $3, $4)`

// BenchmarkGroupCommit has 64 clients write one durable record each, and
// reports how that compares with the ceiling: a loop that commits 256 such
// rows at a time through database/sql, with no caller waiting for a response.
func BenchmarkGroupCommit(b *testing.B) {
	ceiling := rawCeiling(b)
	e := opened(b)
	ctx := b.Context()
	var next atomic.Int64
	b.SetParallelism(32) // times two processors
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := fmt.Sprintf("note%020d", next.Add(1))
			must(b, e.Write(ctx, func(c engine.Conn) error {
				_, err := c.Exec(ctx, insertNote, "acme", id, benchDoc, 1)
				return err
			}))
		}
	})
	rate := float64(b.N) / b.Elapsed().Seconds()
	b.StopTimer()
	ceiling = (ceiling + rawCeiling(b)) / 2 // other work on the machine comes and goes
	s := e.Stats()
	b.ReportMetric(rate, "writes/s")
	b.ReportMetric(rate/ceiling, "of-ceiling")
	b.ReportMetric(float64(s.Operations)/float64(max(1, s.Commits)), "ops/commit")
}

// rawCeiling returns the number of rows per second that a plain loop makes durable in
// batches of 256.
func rawCeiling(b *testing.B) float64 {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "raw.db")+
		"?_pragma=page_size(8192)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=cache_size(-65536)")
	must(b, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	ctx := b.Context()
	for _, text := range []string{
		`CREATE TABLE note (org TEXT NOT NULL, id TEXT NOT NULL, doc BYTEA, n BIGINT, x DOUBLE PRECISION, label TEXT, PRIMARY KEY (org, id))`,
		`CREATE UNIQUE INDEX note_label ON note (org, label)`,
	} {
		_, err := db.ExecContext(ctx, text)
		must(b, err)
	}
	const rounds, batch = 60, 256
	begun := time.Now()
	for r := range rounds {
		must(b, rawBatch(ctx, db, r*batch, batch))
	}
	return rounds * batch / time.Since(begun).Seconds()
}

// rawBatch writes and commits some rows through database/sql.
func rawBatch(ctx context.Context, db *sql.DB, from, rows int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // fails after the commit
	stmt, err := tx.PrepareContext(ctx, strings.ReplaceAll(insertNote, "$", "?"))
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i := range rows {
		if _, err := stmt.ExecContext(ctx, "acme", fmt.Sprintf("note%020d", from+i), benchDoc, 1); err != nil {
			return err
		}
	}
	return tx.Commit()
}
