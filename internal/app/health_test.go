package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/store/sqlstore"
)

// fakeNode is a database and a disk with faults.
type fakeNode struct {
	pings, writes    int
	pingErr, diskErr error
	free             int64
	stats            sqlstore.Stats
}

func (n *fakeNode) readiness() *readiness {
	return &readiness{
		log:  slog.New(slog.DiscardHandler),
		ping: func(context.Context) error { n.pings++; return n.pingErr },
		write: func(ctx context.Context) error {
			n.writes++
			if n.diskErr == nil {
				n.stats.Commits++
			}
			return n.diskErr
		},
		stats: func() sqlstore.Stats { return n.stats },
		free:  func() (int64, bool) { return n.free, n.free >= 0 },
		turn:  make(chan struct{}, 1),
	}
}

func TestReadiness(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*fakeNode)
		want  string
	}{
		"a healthy node":             {func(*fakeNode) {}, ""},
		"an unknown disk":            {func(n *fakeNode) { n.free = -1 }, ""},
		"no database":                {func(n *fakeNode) { n.pingErr = errors.New("dial 10.1.2.3") }, "the database does not respond"},
		"a full disk":                {func(n *fakeNode) { n.free = minFreeDisk - 1 }, "the disk is full"},
		"a database that is blocked": {func(n *fakeNode) { n.diskErr = errors.New("read-only") }, "the database cannot be written"},
		"a long queue":               {func(n *fakeNode) { n.stats.Waiting = maxWaitingWrites + 1 }, "too many writes are waiting"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &fakeNode{free: minFreeDisk}
				r := n.readiness()
				if got := r.problem(t.Context()); got != "" {
					t.Errorf("a healthy node: %q", got)
				}
				test.spoil(n)
				time.Sleep(readyFor)
				if got := r.problem(t.Context()); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
				*n = fakeNode{free: minFreeDisk}
				time.Sleep(readyFor)
				if got := r.problem(t.Context()); got != "" {
					t.Errorf("after it was repaired: %q", got)
				}
			})
		})
	}
}

func TestReadinessIsCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &fakeNode{free: -1}
		r := n.readiness()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		r.problem(gone) // a caller that is gone spoils nothing for the others
		for range 1_000 {
			if got := r.problem(t.Context()); got != "" {
				t.Fatal(got)
			}
		}
		if n.pings != 1 || n.writes != 1 {
			t.Errorf("%d pings and %d writes at once", n.pings, n.writes)
		}
		for range 10 {
			time.Sleep(readyFor)
			n.stats.Commits++ // requests write, too
			r.problem(t.Context())
		}
		if n.pings != 11 || n.writes != 1 {
			t.Errorf("%d pings and %d writes on a busy node", n.pings, n.writes)
		}
	})
}

func TestAMasterKeyThatOthersCanRead(t *testing.T) {
	c := DefaultConfig()
	c.Data = t.TempDir()
	file := filepath.Join(c.Data, "master.key")
	for mode, exposes := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o440: false, 0o640: false, 0o644: true, 0o604: true, 0o660: true, 0o666: true} {
		if err := errors.Join(os.WriteFile(file, []byte(strings.Repeat("0a", 32)), 0o600), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		if got := c.MasterKeyWarning(); strings.HasSuffix(got, "chmod 600 "+file) != exposes || got != "" && !exposes {
			t.Errorf("%o: the warning is %q", mode, got)
		}
		var logged bytes.Buffer
		a, err := New(t.Context(), c, slog.New(slog.NewTextHandler(&logged, nil)), Clock, false)
		if err == nil {
			err = a.Store.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(logged.String(), "chmod 600") != exposes {
			t.Errorf("%o: the log is %q", mode, logged.String())
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
