package sqlite

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dray/internal/store/engine"
	"dray/internal/store/engine/enginetest"
)

// filled makes a folder with a database of some hundred pages, and closes it.
func filled(t *testing.T) (folder, path string) {
	t.Helper()
	folder = t.TempDir()
	e, err := Open(t.Context(), options(folder))
	must(t, err)
	ctx := t.Context()
	must(t, e.Write(ctx, func(c engine.Conn) error {
		doc := make([]byte, 2000)
		for i := range 2000 {
			_, err := c.Exec(ctx, `INSERT INTO note (org, id, doc, n) VALUES ('acme', $1, $2, $3)`, strings.Repeat("x", 20)+string(rune('a'+i%26))+strings.Repeat("y", i%50)+strings.Repeat("z", i/50), doc, i)
			if err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, e.Close())
	return folder, filepath.Join(folder, databaseFile)
}

// overwrite puts bytes into a file.
func overwrite(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt(b, at)
	must(t, err)
	must(t, f.Close())
}

func TestTheStartRejects(t *testing.T) {
	zeros := make([]byte, 2*pageSize)
	tests := map[string]struct {
		spoil func(t *testing.T, folder, path string)
		with  func(*Options)
		says  []string
	}{
		"an empty database file": {
			spoil: func(t *testing.T, _, path string) { must(t, os.Truncate(path, 0)) },
			says:  []string{"damaged", "dray restore"},
		},
		"a file that is not a database": {
			spoil: func(t *testing.T, _, path string) { overwrite(t, path, 0, []byte("This is not the header you want.")) },
			says:  []string{"damaged", "dray restore"},
		},
		"a file truncated to half its size": {
			spoil: func(t *testing.T, _, path string) {
				info, err := os.Stat(path)
				must(t, err)
				must(t, os.Truncate(path, info.Size()/2))
			},
			says: []string{"damaged", "dray restore"},
		},
		"a file truncated within its header": {
			spoil: func(t *testing.T, _, path string) { must(t, os.Truncate(path, 50)) },
			says:  []string{"damaged", "dray restore"},
		},
		"a page of zeros in the middle": {
			spoil: func(t *testing.T, _, path string) { overwrite(t, path, 50*pageSize, zeros) },
			says:  []string{"damaged", "dray restore"},
		},
		"a database of another program": {
			spoil: func(t *testing.T, _, path string) {
				must(t, Remove(path))
				h, err := openHandle(path, true)
				must(t, err)
				must(t, h.run("CREATE TABLE cat (name TEXT)"))
				h.close()
			},
			says: []string{"not a database of dray", "dray restore"},
		},
		"a folder that lost its database": {
			spoil: func(t *testing.T, _, path string) { must(t, os.Remove(path)) },
			says:  []string{"moved or deleted", "dray restore"},
		},
		"a schema newer than the program": {
			with: func(o *Options) { o.Migrations = nil },
			says: []string{"schema 2", "newer dray", "backup"},
		},
		"a SQLite that is too old": {
			with: func(o *Options) { o.oldest = 9_001_002 },
			says: []string{"9.1.2 or newer"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			folder, path := filled(t)
			if test.spoil != nil {
				test.spoil(t, folder, path)
			}
			o := options(folder)
			if test.with != nil {
				test.with(&o)
			}
			if o.Migrations == nil {
				o.Migrations = enginetest.OlderSchema(t)
			}
			e, err := Open(t.Context(), o)
			if err == nil {
				must(t, e.Close())
				t.Fatal("it started")
			}
			for _, want := range test.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
			if _, err := Open(t.Context(), o); err == nil {
				t.Error("it started the second time")
			}
		})
	}
}

func TestTheCheapCheckFindsATruncatedFile(t *testing.T) {
	folder, path := filled(t)
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()-pageSize))
	o := options(folder)
	o.Serve = false
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	e, err := Open(t.Context(), options(folder))
	must(t, err)
	must(t, e.Write(t.Context(), put(t.Context(), "a", 1)))
	must(t, e.Export(t.Context(), filepath.Join(folder, "copy")))
	info, err := os.Stat(folder)
	must(t, err)
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("the folder has %o", got)
	}
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, entry := range entries {
		info, err := entry.Info()
		must(t, err)
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s has %o", entry.Name(), got)
		}
	}
	if len(entries) < 5 { // the database, its log and index, two locks
		t.Errorf("only %v", entries)
	}
	must(t, e.Close())
}

func TestAnOlderDatabaseIsMigrated(t *testing.T) {
	folder := t.TempDir()
	o := options(folder)
	o.Migrations = enginetest.OlderSchema(t)
	e, err := Open(t.Context(), o)
	must(t, err)
	must(t, e.Write(t.Context(), put(t.Context(), "old", 1)))
	must(t, e.Close())

	var log strings.Builder
	o = options(folder)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	e, err = Open(t.Context(), o)
	must(t, err)
	if !strings.Contains(log.String(), "version=2 of=2") {
		t.Errorf("the migration is not logged: %q", log.String())
	}
	must(t, e.Ping(t.Context()))
	must(t, e.Write(t.Context(), func(c engine.Conn) error {
		_, err := c.Exec(t.Context(), `INSERT INTO counter (name, n) VALUES ('new', 1)`)
		return err
	}))
	if n := count(t, e); n != 1 {
		t.Errorf("%d rows", n)
	}
	must(t, e.Close())
}
