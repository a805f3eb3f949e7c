package sqlstore_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dray/internal/lastmile"
	"dray/internal/store/engine/postgres"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
)

// saveOrganization makes a change.
func saveOrganization(t *testing.T, s *sqlstore.Store, name string) {
	t.Helper()
	at := time.Unix(1_000_000_000, 0).UTC()
	err := s.Write(t.Context(), func(w *sqlstore.Tx) error {
		return w.SaveOrganization(t.Context(), lastmile.Organization{
			ID: lastmile.OrganizationID(strings.Repeat(name, lastmile.IDLength)), Name: name, Country: "US", Timezone: "UTC", Created: at, Modified: at,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func version(t *testing.T, s *sqlstore.Store) string {
	t.Helper()
	v, err := s.DataVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVersionSeesOtherProcesses opens a database twice, as a server and a command
// do.
func TestVersionSeesOtherProcesses(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		folder := t.TempDir()
		testVersion(t, open(t, sqlstore.Options{Data: folder, Serve: true}), func() *sqlstore.Store { return open(t, sqlstore.Options{Data: folder}) }, true)
	})
	t.Run("postgres", func(t *testing.T) {
		url := storetest.Postgres(t)
		testVersion(t, open(t, sqlstore.Options{Database: url}), func() *sqlstore.Store { return open(t, sqlstore.Options{Database: url}) }, false)
	})
}

func testVersion(t *testing.T, server *sqlstore.Store, another func() *sqlstore.Store, ownIgnored bool) {
	command := another()
	before := version(t, server)
	if ownIgnored {
		for range 3 {
			saveOrganization(t, server, "a")
		}
		if now := version(t, server); now != before {
			t.Errorf("changes of the server itself: %s, then %s", before, now)
		}
	}
	saveOrganization(t, command, "b")
	after := version(t, server)
	if after == before {
		t.Errorf("a change of another process: still %s", after)
	}
	saveOrganization(t, command, "c")
	if now := version(t, server); now == after {
		t.Errorf("another change of another process: still %s", now)
	}
}

func TestVersionOfAClosedStore(t *testing.T) {
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{Data: t.TempDir(), Serve: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if v, err := s.DataVersion(t.Context()); err == nil {
		t.Errorf("a store that is closed has version %s", v)
	}
}

func TestSQLiteHasNoRelay(t *testing.T) {
	if r := open(t, sqlstore.Options{Data: t.TempDir(), Serve: true}).Relay(); r != nil {
		t.Errorf("%+v", r)
	}
}

// hearing is a process that listens.
type hearing struct {
	mu    sync.Mutex
	heard []string
	ended chan error
}

func listen(ctx context.Context, t *testing.T, r *postgres.Relay) *hearing {
	t.Helper()
	h, listening := &hearing{ended: make(chan error, 1)}, make(chan struct{})
	go func() {
		h.ended <- r.Listen(ctx, func() { close(listening) }, func(payload string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.heard = append(h.heard, payload)
		})
	}()
	select {
	case <-listening:
	case err := <-h.ended:
		t.Fatalf("listen: %v", err)
	}
	return h
}

// await waits until payloads were heard, in order.
func (h *hearing) await(t *testing.T, want ...string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		got := slices.Clone(h.heard)
		h.mu.Unlock()
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("heard %.100q, want %.100q", got, want)
		}
	}
}

func TestRelayReachesAllProcesses(t *testing.T) {
	url := storetest.Postgres(t)
	a, b := open(t, sqlstore.Options{Database: url}).Relay(), open(t, sqlstore.Options{Database: url}).Relay()
	here, there := listen(t.Context(), t, a), listen(t.Context(), t, b)
	long := strings.Repeat("x", 7_900)
	for _, payloads := range [][]string{{"one", "two's \"2\"\\"}, {long}} {
		if err := a.Notify(t.Context(), payloads); err != nil {
			t.Fatal(err)
		}
	}
	here.await(t, "one", "two's \"2\"\\", long)
	there.await(t, "one", "two's \"2\"\\", long)
}

// TestRelaySurvivesTheServer ends the connections of a relay on the server: listening must
// end with an error, and sending must work again without a new relay.
func TestRelaySurvivesTheServer(t *testing.T) {
	url := storetest.Postgres(t)
	r := open(t, sqlstore.Options{Database: url}).Relay()
	if err := r.Notify(t.Context(), []string{"before"}); err != nil {
		t.Fatal(err)
	}
	h := listen(t.Context(), t, r)
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(t.Context()))
	_, err = db.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-h.ended:
		if err == nil {
			t.Error("listening ended without an error")
		}
	case <-time.After(time.Minute):
		t.Fatal("a lost connection was not noticed")
	}
	h = listen(t.Context(), t, r)
	for tries := 0; ; tries++ { // the first may meet the connection that is gone
		err := r.Notify(t.Context(), []string{"after"})
		if err == nil {
			break
		}
		if tries > 0 {
			t.Fatal(err)
		}
	}
	h.await(t, "after")
	ctx, cancel := context.WithCancel(t.Context())
	other := listen(ctx, t, r)
	cancel()
	select {
	case <-other.ended:
	case <-time.After(time.Minute):
		t.Fatal("listening did not end with its context")
	}
}
