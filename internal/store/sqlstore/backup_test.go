package sqlstore

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

	"dray/internal/store/storetest"
)

// targets are the two kinds of database that a backup goes to and comes from.
func targets(t *testing.T, files fs.FS) map[string]func(t *testing.T) Options {
	t.Helper()
	common := Options{Now: time.Now, migrations: files}
	return map[string]func(t *testing.T) Options{
		"sqlite": func(t *testing.T) Options {
			o := common
			o.Data = filepath.Join(t.TempDir(), "data")
			return o
		},
		"postgres": func(t *testing.T) Options {
			o := common
			o.Database = storetest.Postgres(t)
			return o
		},
	}
}

// digest is a text of every row of a database.
func digest(t *testing.T, e engine) string {
	t.Helper()
	var b strings.Builder
	ctx := t.Context()
	must(t, e.read(ctx, func(c conn) error {
		r, err := c.query(ctx, `SELECT org, id, doc, n, x, label FROM note`)
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

// fill writes rows of every kind of value.
func fill(t *testing.T, e engine, rows int) {
	t.Helper()
	ctx := t.Context()
	must(t, e.write(ctx, func(c conn) error {
		for i := range rows {
			var doc []byte
			if i%3 > 0 {
				doc = make([]byte, i%7*100)
			}
			var lab *string
			if i%2 == 0 {
				lab = new(fmt.Sprintf("label '%d' ü", i))
			}
			_, err := c.exec(ctx, `INSERT INTO note (org, id, doc, n, x, label) VALUES ($1, $2, $3, $4, $5, $6)`,
				"acme", fmt.Sprint("filled ", i), doc, int64(i)<<40, float64(i)/7, lab)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestABackupMovesBetweenDatabases(t *testing.T) {
	for from, source := range targets(t, fixture()) {
		for to, target := range targets(t, fixture()) {
			t.Run("from "+from+" to "+to, func(t *testing.T) {
				o := source(t)
				e, err := open(t.Context(), o)
				must(t, err)
				defer e.close()
				fill(t, e, 1500)
				file := filepath.Join(t.TempDir(), "backup.db")
				must(t, Backup(t.Context(), o, file))

				into := target(t)
				must(t, Restore(t.Context(), into, file))
				back, err := open(t.Context(), into)
				must(t, err)
				defer back.close()
				if digest(t, e) != digest(t, back) {
					t.Error("what came back is not what was there")
				}
				must(t, back.write(t.Context(), put(t.Context(), "new", 1)))
				if err := Restore(t.Context(), into, file); err == nil || !strings.Contains(err.Error(), "not empty") {
					t.Errorf("a second restore: %v", err)
				}
				if err := Backup(t.Context(), o, file); err == nil || !strings.Contains(err.Error(), "exists") {
					t.Errorf("a second backup: %v", err)
				}
			})
		}
	}
}

func TestABackupUnderLoadIsOneMoment(t *testing.T) {
	for name, source := range targets(t, fixture()) {
		t.Run(name, func(t *testing.T) {
			o := source(t)
			e, err := open(t.Context(), o)
			must(t, err)
			defer e.close()
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						id := fmt.Sprintf("%d-%d", w, i)
						_ = e.write(ctx, func(c conn) error {
							if err := put(ctx, id, 1)(c); err != nil {
								return err
							}
							_, err := c.exec(ctx, `INSERT INTO counter (name, n) VALUES ($1, 1)`, id)
							return err
						})
					}
				})
			}
			for i := range 5 {
				file := filepath.Join(t.TempDir(), fmt.Sprint("backup", i))
				before := len(ids(t, e, "SELECT id FROM note"))
				must(t, backup(t.Context(), e, Options{}, file))
				into := targets(t, fixture())["sqlite"](t)
				must(t, Restore(t.Context(), into, file))
				back, err := open(t.Context(), into)
				must(t, err)
				notes, counters := len(ids(t, back, "SELECT id FROM note")), len(ids(t, back, "SELECT name FROM counter"))
				if notes != counters || notes < before {
					t.Errorf("backup %d: %d and %d rows, at least %d expected", i, notes, counters, before)
				}
				must(t, back.close())
			}
			stop()
			wg.Wait()
		})
	}
}

func TestAnOldBackupIsMigrated(t *testing.T) {
	for from, source := range targets(t, firstOnly(t)) {
		for to, target := range targets(t, fixture()) {
			t.Run("from "+from+" to "+to, func(t *testing.T) {
				o := source(t)
				e, err := open(t.Context(), o)
				must(t, err)
				fill(t, e, 10)
				want := digest(t, e)
				must(t, e.close())
				// A newer program makes the backup and leaves the schema alone.
				o.migrations = fixture()
				file := filepath.Join(t.TempDir(), "backup.db")
				must(t, Backup(t.Context(), o, file))
				o.migrations = firstOnly(t)
				e, err = open(t.Context(), o)
				must(t, err)
				must(t, e.close())

				into := target(t)
				must(t, Restore(t.Context(), into, file))
				back, err := open(t.Context(), into)
				must(t, err)
				defer back.close()
				if digest(t, back) != want {
					t.Error("what came back is not what was there")
				}
				must(t, back.ping(t.Context()))
			})
		}
	}
}

func TestARestoreRefuses(t *testing.T) {
	_, path := filled(t)
	folder := t.TempDir()
	good := filepath.Join(folder, "good")
	must(t, copyFile(path, good))
	spoiled := func(name string, spoil func(path string)) string {
		file := filepath.Join(folder, name)
		must(t, copyFile(good, file))
		spoil(file)
		return file
	}
	older := Options{Data: filepath.Join(folder, "older"), Now: time.Now, migrations: firstOnly(t)}
	tests := map[string]struct {
		file string
		into Options
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
				into = targets(t, fixture())["sqlite"](t)
			}
			err := Restore(t.Context(), into, test.file)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
			if exists(filepath.Join(into.Data, databaseFile)) {
				t.Error("it left a database")
			}
		})
	}
}

func TestABackupThatIsGivenUpLeavesNothing(t *testing.T) {
	for name, source := range targets(t, fixture()) {
		t.Run(name, func(t *testing.T) {
			o := source(t)
			e, err := open(t.Context(), o)
			must(t, err)
			defer e.close()
			fill(t, e, 3000)
			folder := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := backup(ctx, e, Options{}, filepath.Join(folder, "backup.db")); err == nil {
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
