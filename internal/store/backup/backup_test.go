package backup

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/store/engine"
	"dray/internal/store/engine/enginetest"
	"dray/internal/store/sqlstore"
)

var (
	must = enginetest.Must
	put  = enginetest.Put
	ids  = enginetest.IDs
	fill = enginetest.Fill
)

// pageSize is the size of a page of a SQLite database.
const pageSize = 8192

// overwrite writes bytes at a position of a file.
func overwrite(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt(b, at)
	must(t, err)
	must(t, f.Close())
}

// targets are the two kinds of database that a backup goes to and comes from.
func targets(t *testing.T, files fs.FS) map[string]func(t *testing.T) sqlstore.Options {
	t.Helper()
	common := sqlstore.Options{Now: time.Now, Migrations: files}
	return map[string]func(t *testing.T) sqlstore.Options{
		"sqlite": func(t *testing.T) sqlstore.Options {
			o := common
			o.Data = filepath.Join(t.TempDir(), "data")
			return o
		},
		"postgres": func(t *testing.T) sqlstore.Options {
			o := common
			o.Database = enginetest.Postgres(t)
			return o
		},
	}
}

// digest is a text of every row of a database.
func digest(t *testing.T, e engine.Engine) string {
	t.Helper()
	var b strings.Builder
	ctx := t.Context()
	must(t, e.Read(ctx, func(c engine.Conn) error {
		r, err := c.Query(ctx, `SELECT org, id, doc, n, x, label FROM note`)
		if err != nil {
			return err
		}
		defer r.Close()
		lines := map[string]bool{}
		for r.Next() {
			var org, id string
			var doc []byte
			var n *int64
			var x *float64
			var lab *string
			if err := r.Scan(&org, &id, &doc, &n, &x, &lab); err != nil {
				return err
			}
			line := fmt.Sprintf("%s %s %x(%t)", org, id, doc, doc == nil)
			for _, p := range []any{n, x, lab} {
				switch p := p.(type) {
				case *int64:
					if p != nil {
						line += fmt.Sprint(" n", *p)
					}
				case *float64:
					if p != nil {
						line += fmt.Sprint(" x", *p)
					}
				case *string:
					if p != nil {
						line += fmt.Sprintf(" l%q", *p)
					}
				}
			}
			lines[line] = true
		}
		fmt.Fprintln(&b, len(lines), lines) // maps print sorted
		return r.Err()
	}))
	return b.String()
}

func TestABackupMovesBetweenDatabases(t *testing.T) {
	for from, source := range targets(t, enginetest.Schema()) {
		for to, target := range targets(t, enginetest.Schema()) {
			t.Run("from "+from+" to "+to, func(t *testing.T) {
				o := source(t)
				e, err := sqlstore.OpenEngine(t.Context(), o)
				must(t, err)
				defer e.Close()
				fill(t, e, 1500)
				file := filepath.Join(t.TempDir(), "backup.db")
				must(t, Write(t.Context(), o, file, nil))

				into := target(t)
				must(t, restore(t.Context(), into, file))
				back, err := sqlstore.OpenEngine(t.Context(), into)
				must(t, err)
				defer back.Close()
				if digest(t, e) != digest(t, back) {
					t.Error("what came back is not what was there")
				}
				must(t, back.Write(t.Context(), put(t.Context(), "new", 1)))
				if err := restore(t.Context(), into, file); err == nil || !strings.Contains(err.Error(), "not empty") {
					t.Errorf("a second restore: %v", err)
				}
				if err := Write(t.Context(), o, file, nil); err == nil || !strings.Contains(err.Error(), "exists") {
					t.Errorf("a second backup: %v", err)
				}
			})
		}
	}
}

func TestABackupUnderLoadIsOneMoment(t *testing.T) {
	for name, source := range targets(t, enginetest.Schema()) {
		t.Run(name, func(t *testing.T) {
			o := source(t)
			e, err := sqlstore.OpenEngine(t.Context(), o)
			must(t, err)
			defer e.Close()
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						id := fmt.Sprintf("%d-%d", w, i)
						_ = e.Write(ctx, func(c engine.Conn) error {
							if err := put(ctx, id, 1)(c); err != nil {
								return err
							}
							_, err := c.Exec(ctx, `INSERT INTO counter (name, n) VALUES ($1, 1)`, id)
							return err
						})
					}
				})
			}
			for i := range 5 {
				file := filepath.Join(t.TempDir(), fmt.Sprint("backup", i))
				before := len(ids(t, e, "SELECT id FROM note"))
				must(t, write(t.Context(), e, o, file, nil))
				into := targets(t, enginetest.Schema())["sqlite"](t)
				must(t, restore(t.Context(), into, file))
				back, err := sqlstore.OpenEngine(t.Context(), into)
				must(t, err)
				notes, counters := len(ids(t, back, "SELECT id FROM note")), len(ids(t, back, "SELECT name FROM counter"))
				if notes != counters || notes < before {
					t.Errorf("backup %d: %d and %d rows, at least %d expected", i, notes, counters, before)
				}
				must(t, back.Close())
			}
			stop()
			wg.Wait()
		})
	}
}

func TestAnOldBackupIsMigrated(t *testing.T) {
	for from, source := range targets(t, enginetest.OlderSchema(t)) {
		for to, target := range targets(t, enginetest.Schema()) {
			t.Run("from "+from+" to "+to, func(t *testing.T) {
				o := source(t)
				e, err := sqlstore.OpenEngine(t.Context(), o)
				must(t, err)
				fill(t, e, 10)
				want := digest(t, e)
				must(t, e.Close())
				// A newer program makes the backup and leaves the schema alone.
				o.Migrations = enginetest.Schema()
				file := filepath.Join(t.TempDir(), "backup.db")
				must(t, Write(t.Context(), o, file, nil))
				o.Migrations = enginetest.OlderSchema(t)
				e, err = sqlstore.OpenEngine(t.Context(), o)
				must(t, err)
				must(t, e.Close())

				into := target(t)
				must(t, restore(t.Context(), into, file))
				back, err := sqlstore.OpenEngine(t.Context(), into)
				must(t, err)
				defer back.Close()
				if digest(t, back) != want {
					t.Error("what came back is not what was there")
				}
				must(t, back.Ping(t.Context()))
			})
		}
	}
}

func TestACheckDoesNotMigrate(t *testing.T) {
	for name, source := range targets(t, enginetest.OlderSchema(t)) {
		t.Run(name, func(t *testing.T) {
			o := source(t)
			e, err := sqlstore.OpenEngine(t.Context(), o)
			must(t, err)
			must(t, e.Close())
			o.Migrations = enginetest.Schema()
			if _, err := Check(t.Context(), o); err == nil || !strings.Contains(err.Error(), "schema 1, not 2") {
				t.Errorf("a check of an older schema: %v", err)
			}
			o.Migrations = enginetest.OlderSchema(t) // which rejects a newer schema
			e, err = sqlstore.OpenEngine(t.Context(), o)
			must(t, err)
			must(t, e.Close())
		})
	}
}

func TestARestoreRejects(t *testing.T) {
	folder := t.TempDir()
	good := filepath.Join(folder, "good")
	large := targets(t, enginetest.Schema())["sqlite"](t)
	e, err := sqlstore.OpenEngine(t.Context(), large)
	must(t, err)
	fill(t, e, 5000)
	must(t, e.Close())
	must(t, Write(t.Context(), large, good, nil))
	spoiled := func(name string, spoil func(path string)) string {
		file := filepath.Join(folder, name)
		content, err := os.ReadFile(good)
		must(t, err)
		must(t, os.WriteFile(file, content, 0o600))
		spoil(file)
		return file
	}
	older := sqlstore.Options{Data: filepath.Join(folder, "older"), Now: time.Now, Migrations: enginetest.OlderSchema(t)}
	tests := map[string]struct {
		file string
		into sqlstore.Options
		says string
	}{
		"a file that is not there": {file: filepath.Join(folder, "nothing"), says: "no such file"},
		"an empty file":            {file: spoiled("empty", func(p string) { must(t, os.Truncate(p, 0)) }), says: "empty"},
		"a damaged file": {
			file: spoiled("damaged", func(p string) { overwrite(t, p, 50*pageSize, make([]byte, pageSize)) }), says: "damaged",
		},
		"a file cut short": {file: spoiled("cut", func(p string) { must(t, os.Truncate(p, 60*pageSize)) }), says: "damaged"},
		"a database in use": {
			file: spoiled("live", func(p string) { must(t, os.WriteFile(p+"-wal", []byte("frames"), 0o600)) }), says: "in use",
		},
		"a newer schema": {file: good, into: older, says: "newer dray"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			into := test.into
			if into.Now == nil {
				into = targets(t, enginetest.Schema())["sqlite"](t)
			}
			err := restore(t.Context(), into, test.file)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
			if exists(filepath.Join(into.Data, "dray.db")) {
				t.Error("it left a database")
			}
		})
	}
}

func TestABackupThatIsGivenUpLeavesNothing(t *testing.T) {
	for name, source := range targets(t, enginetest.Schema()) {
		t.Run(name, func(t *testing.T) {
			o := source(t)
			e, err := sqlstore.OpenEngine(t.Context(), o)
			must(t, err)
			defer e.Close()
			fill(t, e, 3000)
			folder := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := write(ctx, e, o, filepath.Join(folder, "backup.db"), nil); err == nil {
				t.Error("it went on")
			}
			entries, err := os.ReadDir(folder)
			must(t, err)
			if len(entries) != 0 {
				t.Errorf("it left %v", entries)
			}
		})
	}
}
