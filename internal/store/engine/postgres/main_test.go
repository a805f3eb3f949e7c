package postgres

import (
	"log/slog"
	"testing"
	"time"

	"dray/internal/store/engine/enginetest"
	"dray/internal/store/storetest"
)

var (
	must   = enginetest.Must
	put    = enginetest.Put
	count  = enginetest.Count
	codeOf = enginetest.Code
)

// options are those of a database on a server.
func options(url string) Options {
	return Options{URL: url, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Migrations: enginetest.Schema()}
}

// opened opens an engine in a fresh database.
func opened(t testing.TB) *Engine {
	t.Helper()
	e, err := Open(t.Context(), options(storetest.Postgres(t)))
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(end) {
			t.Fatal("waited too long")
		}
		time.Sleep(time.Millisecond)
	}
}
