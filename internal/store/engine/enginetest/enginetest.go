// Package enginetest is a test kit for engines: a small schema, and operations
// on it.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"dray/internal/lastmile"
	"dray/internal/store/engine"
)

// Schema returns a small schema of two migrations.
func Schema() fs.FS {
	return fstest.MapFS{
		"0001_first.sql": {Data: []byte(`
-- a table like those of records
CREATE TABLE note (
  org TEXT NOT NULL,
  id TEXT NOT NULL,
  doc BYTEA,
  n BIGINT,
  x DOUBLE PRECISION,
  label TEXT,
  PRIMARY KEY (org, id)
);
CREATE UNIQUE INDEX note_label ON note (org, label);
`)},
		"0002_counter.sql": {Data: []byte(`
CREATE TABLE counter (name TEXT NOT NULL PRIMARY KEY, n BIGINT NOT NULL);
`)},
	}
}

// OlderSchema returns the schema of a program that is one version older.
func OlderSchema(t testing.TB) fs.FS {
	t.Helper()
	b, err := fs.ReadFile(Schema(), "0001_first.sql")
	Must(t, err)
	return fstest.MapFS{"0001_first.sql": {Data: b}}
}

// Must ends the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Put returns an operation that writes one row.
func Put(ctx context.Context, id string, n int64) func(engine.Conn) error {
	return func(c engine.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO note (org, id, n) VALUES ('acme', $1, $2)`, id, n)
		return err
	}
}

// Count counts the rows of note.
func Count(t testing.TB, e engine.Engine) int64 {
	t.Helper()
	var n int64
	Must(t, e.Direct(t.Context(), func(c engine.Conn) error {
		return c.Row(t.Context(), `SELECT count(*) FROM note`).Scan(&n)
	}))
	return n
}

// IDs reads a column of a table as a set.
func IDs(t testing.TB, e engine.Engine, query string) map[string]bool {
	t.Helper()
	set := map[string]bool{}
	Must(t, e.Read(t.Context(), func(c engine.Conn) error {
		r, err := c.Query(t.Context(), query)
		if err != nil {
			return err
		}
		defer r.Close()
		for r.Next() {
			var id string
			if err := r.Scan(&id); err != nil {
				return err
			}
			set[id] = true
		}
		return r.Err()
	}))
	return set
}

// Fill writes rows with every kind of value.
func Fill(t testing.TB, e engine.Engine, rows int) {
	t.Helper()
	ctx := t.Context()
	Must(t, e.Write(ctx, func(c engine.Conn) error {
		for i := range rows {
			var doc []byte
			if i%3 > 0 {
				doc = make([]byte, i%7*100)
			}
			var label *string
			if i%2 == 0 {
				label = new(fmt.Sprintf("label '%d' ü", i))
			}
			_, err := c.Exec(ctx, `INSERT INTO note (org, id, doc, n, x, label) VALUES ($1, $2, $3, $4, $5, $6)`,
				"acme", fmt.Sprint("filled ", i), doc, int64(i)<<40, float64(i)/7, label)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// Code returns the code of a domain error, or 0.
func Code(err error) lastmile.Code {
	if e, ok := errors.AsType[*lastmile.Error](err); ok {
		return e.Code
	}
	return 0
}
