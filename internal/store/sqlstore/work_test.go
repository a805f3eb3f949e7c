package sqlstore

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"dray/internal/store/engine"
	"dray/internal/store/engine/enginetest"
	"dray/internal/work"
)

// TestDueWorkIsFoundByIndex checks the query plans for due work in SQLite: an idle poll
// must not read rows that are done.
func TestDueWorkIsFoundByIndex(t *testing.T) {
	s, err := Open(t.Context(), Options{Data: t.TempDir(), Serve: true, Now: time.Now})
	enginetest.Must(t, err)
	defer func() { enginetest.Must(t, s.Close()) }()
	for _, kind := range []work.Kind{work.CreateBatch, work.Messages, work.Estimates} {
		query, args := turnsQuery(work.Query{Kind: kind, Now: time.UnixMilli(1), Until: time.UnixMilli(1)})
		found := 0
		for _, step := range explain(t, s, query, args) {
			if !strings.Contains(step.detail, " t ") && !strings.HasSuffix(step.detail, " t") {
				continue
			}
			found++
			if !strings.Contains(step.detail, "_due") && !strings.Contains(step.detail, "_claim") {
				t.Errorf("%s: %s", kind, step.detail)
			}
		}
		if found < 4 {
			t.Errorf("%s: the plan has %d steps", kind, found)
		}
	}
}

// before returns the migrations before a version.
func before(t *testing.T, version string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	names, err := fs.Glob(embedded, "migrations/*.sql")
	enginetest.Must(t, err)
	for _, name := range names {
		base := strings.TrimPrefix(name, "migrations/")
		if base >= version {
			continue
		}
		text, err := fs.ReadFile(embedded, name)
		enginetest.Must(t, err)
		files[base] = &fstest.MapFile{Data: text}
	}
	return files
}

// TestWorkSurvivesTheUpgrade upgrades a database with waiting, leased and given-up work from
// a version in which leases had no separate columns.
func TestWorkSurvivesTheUpgrade(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { testUpgrade(t, Options{Data: t.TempDir(), Serve: true}) })
	t.Run("postgres", func(t *testing.T) { testUpgrade(t, Options{Database: enginetest.Postgres(t)}) })
}

func testUpgrade(t *testing.T, o Options) {
	ctx, now := t.Context(), time.UnixMilli(1_800_000_000_000).UTC()
	o.Now, o.Logger, o.Patience = func() time.Time { return now }, slog.New(slog.DiscardHandler), time.Minute
	old := o
	old.Migrations = before(t, "0016")
	e, err := OpenEngine(ctx, old)
	enginetest.Must(t, err)
	ago, ahead := now.Add(-time.Minute).UnixMilli(), now.Add(time.Minute).UnixMilli()
	enginetest.Must(t, e.Write(ctx, func(c engine.Conn) error {
		for id, row := range map[string][3]any{"waiting": {ago, 0, 0}, "leased": {ahead, 1, 3}, "given up": {nil, 0, 10}} {
			_, err := c.Exec(ctx, `INSERT INTO job (org, id, kind, payload, run_at, held, attempt, failures, error, created)
				VALUES ('o', $1, 'createBatch', $2, $3, $4, $5, 0, '', 0)`, id, []byte{}, row[0], row[1], row[2])
			if err != nil {
				return err
			}
		}
		for id, row := range map[string][2]any{"waiting": {"", ago}, "leased": {"token", ahead}, "given up": {"", nil}} {
			_, err := c.Exec(ctx, `INSERT INTO message (org, id, recipient, body, created, kind, state, attempts, claim, next_at)
				VALUES ('o', $1, '+12125550100', '', 0, 'invitation', 'queued', 1, $2, $3)`, id, row[0], row[1])
			if err != nil {
				return err
			}
			_, err = c.Exec(ctx, `INSERT INTO worker_watch (org, worker, next_at, refresh_at, judged_task, changes, claim)
				VALUES ('o', $1, $3, $3, '', 1, $2)`, id, row[0], row[1])
			if err != nil {
				return err
			}
		}
		return nil
	}))
	enginetest.Must(t, e.Close())

	s, err := Open(ctx, o)
	enginetest.Must(t, err)
	defer func() { enginetest.Must(t, s.Close()) }()
	for _, kind := range []work.Kind{work.CreateBatch, work.Messages, work.Estimates} {
		for at, want := range map[time.Duration][]string{0: {"waiting"}, time.Minute: {"waiting", "leased"}} {
			if got := dueIDs(ctx, t, s, kind, now.Add(at)); !slices.Equal(got, want) {
				t.Errorf("%s due after %v: %q, want %q", kind, at, got, want)
			}
		}
		enginetest.Must(t, s.Write(ctx, func(w *Tx) error {
			for _, id := range []string{"waiting", "leased"} {
				item := work.Item{Kind: kind, Organization: "o", ID: id, Lease: "new " + id}
				if ok, err := w.ClaimWork(ctx, item, now.Add(time.Minute), now.Add(2*time.Minute)); err != nil || !ok {
					return fmt.Errorf("lease %s %s: %v, %w", kind, id, ok, err)
				}
				if err := w.FinishWork(ctx, item); err != nil {
					return err
				}
			}
			return nil
		}))
		if got := dueIDs(ctx, t, s, kind, now.Add(time.Hour)); len(got) != 0 {
			t.Errorf("%s due in the end: %q", kind, got)
		}
	}
}

func dueIDs(ctx context.Context, t *testing.T, s *Store, kind work.Kind, at time.Time) (ids []string) {
	t.Helper()
	enginetest.Must(t, s.Read(ctx, func(r *Tx) error {
		found, err := r.DueWork(ctx, work.Query{Kind: kind, Now: at, Until: at, PerOrganization: 9, Limit: 9})
		ids = nil
		for _, item := range found {
			ids = append(ids, item.ID)
		}
		return err
	}))
	return ids
}

// TestNewEventsAreFoundByIndex: an organization has millions of events that have a number.
func TestNewEventsAreFoundByIndex(t *testing.T) {
	s, err := Open(t.Context(), Options{Data: t.TempDir(), Serve: true, Now: time.Now})
	enginetest.Must(t, err)
	defer func() { enginetest.Must(t, s.Close()) }()
	query, args := newEventsQuery([]string{"a", "b"}, 10)
	for _, step := range explain(t, s, query, args) {
		if strings.Contains(step.detail, " t ") && strings.Contains(step.detail, " event_unsequenced") {
			return
		}
	}
	t.Errorf("not by its index: %v", explain(t, s, query, args))
}
