package sqlite

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dray/internal/store/engine"
)

func TestAMissingLogIsNoticedAfterAKill(t *testing.T) {
	folder, acknowledged := killed(t)
	for !logIsNeeded(t, folder) { // the log was moved in the moment before
		folder, acknowledged = killed(t)
	}
	log := filepath.Join(folder, databaseFile+"-wal")
	content, err := os.ReadFile(log)
	must(t, err)
	rejected := func(what string) {
		t.Helper()
		for _, serve := range []bool{true, false} {
			o := options(folder)
			o.Serve = serve
			if _, err := Open(t.Context(), o); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "write-ahead log") || !strings.Contains(err.Error(), runningFile) {
				t.Errorf("%s, serve %t: %v", what, serve, err)
			}
		}
	}
	must(t, os.Remove(log))
	rejected("a missing log")
	must(t, os.WriteFile(log, content[:len(content)/2], 0o600))
	rejected("half of the log")
	must(t, os.WriteFile(log, content, 0o600))
	e, err := Open(t.Context(), options(folder))
	must(t, err)
	notes := ids(t, e, "SELECT id FROM note")
	for id := range acknowledged {
		if !notes[id] {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
	must(t, e.Close())
}

// killed returns a new folder whose server was killed while it wrote, and the ids of what it
// has acknowledged.
func killed(t *testing.T) (folder string, acknowledged map[string]bool) {
	t.Helper()
	folder = t.TempDir()
	cmd := child(t, "write until killed", folder)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	acknowledged, lines := map[string]bool{}, bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	for lines.Scan() {
		if acknowledged[lines.Text()] = true; len(acknowledged) == 200 {
			must(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait()
	return folder, acknowledged
}

// logIsNeeded reports whether the database file is incomplete without the log.
func logIsNeeded(t *testing.T, folder string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, runningFile))
	must(t, err)
	return strings.Trim(string(text), "0\n") != ""
}

func TestTheStartAfterAnUncleanStop(t *testing.T) {
	for name, test := range map[string]struct {
		running string
		log     int64 // its size; -1 if it is missing
		starts  bool
		says    string
	}{
		"a log that is needed and missing":      {fmt.Sprintf("%020d\n", 8248), -1, false, ""},
		"a log that is needed and empty":        {fmt.Sprintf("%020d\n", 8248), 0, false, ""},
		"a log that was truncated to its limit": {fmt.Sprintf("%020d\n", walLimit+8248), walLimit, true, "recovered"},
		"a log that is not needed and missing":  {fmt.Sprintf("%020d\n", 0), -1, true, "write-ahead log is missing"},
		"a log that is not needed":              {fmt.Sprintf("%020d\n", 0), 0, true, "recovered"},
		"a crash at the start":                  {"", 0, true, "recovered"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, path := filled(t)
			must(t, os.WriteFile(filepath.Join(folder, runningFile), []byte(test.running), 0o600))
			if test.log >= 0 {
				must(t, os.WriteFile(path+"-wal", nil, 0o600))
				must(t, os.Truncate(path+"-wal", test.log))
			}
			var logged bytes.Buffer
			o := options(folder)
			o.Serve, o.Logger = false, slog.New(slog.NewTextHandler(&logged, nil))
			e, err := Open(t.Context(), o)
			if !test.starts {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("got %v", err)
				}
				return
			}
			must(t, err)
			must(t, e.Close())
			if !strings.Contains(logged.String(), test.says) {
				t.Errorf("the log says %q", logged.String())
			}
			if exists(filepath.Join(folder, runningFile)) {
				t.Error("the state of the last server is still there")
			}
		})
	}
}

func TestTheStateOfARunningServer(t *testing.T) {
	folder := t.TempDir()
	e, err := Open(t.Context(), options(folder))
	must(t, err)
	needed := func() int64 {
		text, err := os.ReadFile(filepath.Join(folder, runningFile))
		must(t, err)
		var size int64
		_, err = fmt.Sscan(string(text), &size)
		must(t, err)
		return size
	}
	// A reader keeps the log from being moved.
	must(t, e.Read(t.Context(), func(c engine.Conn) error {
		if err := c.Row(t.Context(), `SELECT count(*) FROM note`).Scan(new(int64)); err != nil {
			return err
		}
		must(t, e.Write(t.Context(), put(t.Context(), "a", 1)))
		waitFor(t, func() bool { return needed() > 0 })
		info, err := os.Stat(e.path + "-wal")
		must(t, err)
		if got := needed(); got > info.Size() {
			t.Errorf("%d bytes of %d are needed", got, info.Size())
		}
		return nil
	}))
	waitFor(t, func() bool { return needed() == 0 })
	must(t, e.Close())
	if exists(filepath.Join(folder, runningFile)) {
		t.Error("a clean stop left its state")
	}
}
