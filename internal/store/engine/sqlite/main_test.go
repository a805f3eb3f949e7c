package sqlite

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"dray/internal/store/engine/enginetest"
)

var (
	must   = enginetest.Must
	put    = enginetest.Put
	count  = enginetest.Count
	ids    = enginetest.IDs
	fill   = enginetest.Fill
	codeOf = enginetest.Code
)

// TestMain runs a child process of a test instead of the tests if the
// environment names one.
func TestMain(m *testing.M) {
	if child := children[os.Getenv("DRAY_TEST_CHILD")]; child != nil {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// children are the roles of this test binary when a test starts it.
var children = map[string]func() int{
	"write until killed": writeUntilKilled,
	"open the folder":    openTheFolder,
	"hold the folder":    holdTheFolder,
	"write once":         writeOnce,
}

// options are those of a served database that never rejects a write because the
// machine is slow.
func options(folder string) Options {
	return Options{
		Folder: folder, Serve: true, Patience: time.Minute,
		Now: time.Now, Logger: slog.New(slog.DiscardHandler), Migrations: enginetest.Schema(),
	}
}

// opened opens an engine in a fresh folder.
func opened(t testing.TB) *Engine {
	t.Helper()
	e, err := Open(t.Context(), options(t.TempDir()))
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e
}
