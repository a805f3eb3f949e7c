package engine_test

import (
	"log/slog"
	"testing"
	"time"

	"dray/internal/store/engine"
	"dray/internal/store/engine/enginetest"
	"dray/internal/store/engine/postgres"
	"dray/internal/store/engine/sqlite"
	"dray/internal/store/storetest"
)

var (
	must   = enginetest.Must
	put    = enginetest.Put
	count  = enginetest.Count
	codeOf = enginetest.Code
)

// sqliteOptions are the options of a served database that never rejects a write
// because the machine is slow.
func sqliteOptions(folder string) sqlite.Options {
	return sqlite.Options{
		Folder: folder, Serve: true, Patience: time.Minute,
		Now: time.Now, Logger: slog.New(slog.DiscardHandler), Migrations: enginetest.Schema(),
	}
}

// onBoth runs a test on both engines.
func onBoth(t *testing.T, test func(t *testing.T, e engine.Engine)) {
	run := func(t *testing.T, e engine.Engine, err error) {
		t.Helper()
		must(t, err)
		t.Cleanup(func() { must(t, e.Close()) })
		test(t, e)
	}
	t.Run("sqlite", func(t *testing.T) {
		e, err := sqlite.Open(t.Context(), sqliteOptions(t.TempDir()))
		run(t, e, err)
	})
	t.Run("postgres", func(t *testing.T) {
		e, err := postgres.Open(t.Context(), postgres.Options{
			URL: storetest.Postgres(t), Now: time.Now, Logger: slog.New(slog.DiscardHandler), Migrations: enginetest.Schema(),
		})
		run(t, e, err)
	})
}
