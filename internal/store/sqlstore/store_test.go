package sqlstore_test

import (
	"log/slog"
	"testing"
	"time"

	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
)

func open(t *testing.T, o sqlstore.Options) *sqlstore.Store {
	t.Helper()
	o.Now, o.Logger = time.Now, slog.New(slog.DiscardHandler)
	s, err := sqlstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSQLiteIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *sqlstore.Store {
		t.Parallel()
		return open(t, sqlstore.Options{Data: storetest.Folder(t), Serve: true})
	})
}

func TestPostgresIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *sqlstore.Store {
		t.Parallel()
		return open(t, sqlstore.Options{Database: storetest.Postgres(t)})
	})
}

func TestChangesOfACommandAreShown(t *testing.T) {
	t.Parallel()
	folder := storetest.Folder(t)
	storetest.Shown(t, open(t, sqlstore.Options{Data: folder, Serve: true}), open(t, sqlstore.Options{Data: folder}))
}

func TestChangesOfAnotherNodeAreShown(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	storetest.Shown(t, open(t, sqlstore.Options{Database: url}), open(t, sqlstore.Options{Database: url}))
}
