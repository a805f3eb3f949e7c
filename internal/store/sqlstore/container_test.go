package sqlstore_test

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/backup"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
)

const acme lastmile.OrganizationID = "acmeacmeacmeacmeacmeacme"

// saveNew saves a new task with an id in the organization's container.
func saveNew(t *testing.T, w *sqlstore.Tx, id lastmile.TaskID) error {
	t.Helper()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	place := lastmile.Destination{ID: lastmile.DestinationID(id), Organization: acme, Created: now, Modified: now}
	task, err := lastmile.NewTask(lastmile.Identity{ID: id, ShortID: string(id), TrackingToken: string(id), NewID: func() string { return string(id) }},
		acme, lastmile.TaskChange{Destination: &place, Recipients: &[]lastmile.Recipient{}}, now)
	return errors.Join(err, w.SaveDestination(t.Context(), place), w.SaveTask(t.Context(), task))
}

// listHome lists the tasks of the organization's container, as package taskflow does.
func listHome(t *testing.T, s *sqlstore.Store) (tasks []lastmile.TaskID) {
	t.Helper()
	home := lastmile.OrganizationContainer(acme)
	err := s.Write(t.Context(), func(w *sqlstore.Tx) error {
		placed := w.PlaceTasks(t.Context(), acme, home, time.Now())
		c, err := w.Container(t.Context(), acme, home)
		tasks = c.Tasks
		return errors.Join(placed, err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return tasks
}

// TestATaskCommittedLaterComesLater creates a task in a transaction that stays
// open while another is created and seen.
func TestATaskCommittedLaterComesLater(t *testing.T) {
	s := open(t, sqlstore.Options{Database: storetest.Postgres(t)})
	ctx, home := t.Context(), lastmile.OrganizationContainer(acme)
	save := func(id lastmile.TaskID, meanwhile func()) {
		t.Helper()
		once := false
		err := s.Write(ctx, func(w *sqlstore.Tx) error {
			err := saveNew(t, w, id)
			if _, read := w.Unplaced(ctx, acme, home); read != nil { // after this, all statements have been sent
				err = errors.Join(err, read)
			}
			if !once {
				once = true
				meanwhile()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []lastmile.TaskID{"second", "third", "first"}
	save("first", func() {
		save("second", func() {})
		save("third", func() {})
		if seen := listHome(t, s); !slices.Equal(seen, want[:2]) {
			t.Errorf("the list is %v, want %v", seen, want[:2])
		}
	})
	if seen := listHome(t, s); !slices.Equal(seen, want) {
		t.Errorf("the list is %v, want %v", seen, want)
	}
	if left, err := read(t, s, func(r *sqlstore.Tx) (bool, error) { return r.Unplaced(ctx, acme, home) }); left || err != nil {
		t.Errorf("tasks that were seen have no place: %v", err)
	}
}

// TestATeamIsExtendedWithoutReadingItsList adds tasks to a team on PostgreSQL. There, the
// rows that a transaction reads conflict with those that others write on the same page of
// an index, so it must not read any tasks.
func TestATeamIsExtendedWithoutReadingItsList(t *testing.T) {
	url := storetest.Postgres(t)
	s := open(t, sqlstore.Options{Database: url})
	ctx, team := t.Context(), lastmile.TeamContainer("teamteamteamteamteamteam")
	observer, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Close(ctx)
	now := time.UnixMilli(1_800_000_000_000).UTC()
	var want []lastmile.TaskID
	for round := range 2 {
		var records store.NewRecords
		for i := range 60 {
			id := fmt.Sprintf("task%020d", 1000-100*round-i) // not in the order of their ids
			place := lastmile.Destination{ID: lastmile.DestinationID(id), Organization: acme, Created: now, Modified: now}
			task, err := lastmile.NewTask(lastmile.Identity{ID: lastmile.TaskID(id), ShortID: id, TrackingToken: id, NewID: func() string { return id }},
				acme, lastmile.TaskChange{Destination: &place, Recipients: &[]lastmile.Recipient{}}, now)
			if err != nil {
				t.Fatal(err)
			}
			task.Container = team
			records.Destinations, records.Tasks = append(records.Destinations, place), append(records.Tasks, task)
			want = append(want, task.ID)
		}
		err = s.Write(ctx, func(w *sqlstore.Tx) error {
			if err := errors.Join(w.LockContainer(ctx, acme, team, now), w.SaveNew(ctx, records)); err != nil {
				return err
			}
			if _, err := w.Settings(ctx, acme); err != nil { // after this, all statements have been sent
				return err
			}
			rows, _ := observer.Query(ctx, `SELECT DISTINCT l.relation::regclass::text FROM pg_locks l JOIN pg_database d ON d.oid = l.database
				WHERE d.datname = current_database() AND l.mode = 'SIReadLock' ORDER BY 1`)
			tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if read := []string{"organization_setting_pkey"}; !slices.Equal(tables, read) {
				t.Errorf("the transaction has read %v, want %v", tables, read)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := read(t, s, func(r *sqlstore.Tx) (lastmile.Container, error) { return r.Container(ctx, acme, team) })
	if err != nil || !slices.Equal(c.Tasks, want) {
		t.Errorf("the list is %v, want %v: %v", c.Tasks, want, err)
	}
}

func read[T any](t *testing.T, s *sqlstore.Store, from func(*sqlstore.Tx) (T, error)) (found T, err error) {
	t.Helper()
	err = s.Read(t.Context(), func(r *sqlstore.Tx) (err error) {
		found, err = from(r)
		return err
	})
	return found, err
}

// TestACopyKeepsTheOrderOfNewTasks moves tasks that no caller has listed to
// SQLite, where another is created after them.
func TestACopyKeepsTheOrderOfNewTasks(t *testing.T) {
	ctx := t.Context()
	url, folder := storetest.Postgres(t), t.TempDir()
	from := open(t, sqlstore.Options{Database: url})
	for _, id := range []lastmile.TaskID{"zulu", "mike", "alfa"} {
		if err := from.Write(ctx, func(w *sqlstore.Tx) error { return saveNew(t, w, id) }); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "backup")
	logger := slog.New(slog.DiscardHandler)
	if err := backup.Write(ctx, sqlstore.Options{Database: url, Now: time.Now, Logger: logger}, file, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Restore(ctx, sqlstore.Options{Data: folder, Now: time.Now, Logger: logger}, file, false); err != nil {
		t.Fatal(err)
	}
	copied := open(t, sqlstore.Options{Data: folder, Serve: true})
	if err := copied.Write(ctx, func(w *sqlstore.Tx) error { return saveNew(t, w, "kilo") }); err != nil {
		t.Fatal(err)
	}
	c, err := read(t, copied, func(r *sqlstore.Tx) (lastmile.Container, error) {
		return r.Container(ctx, acme, lastmile.OrganizationContainer(acme))
	})
	if want := []lastmile.TaskID{"zulu", "mike", "alfa", "kilo"}; err != nil || !slices.Equal(c.Tasks, want) {
		t.Errorf("the list is %v, want %v: %v", c.Tasks, want, err)
	}
}

// TestChangesOfAListAreNotedApart changes a list at the same time on several nodes, whose
// clocks are equal. Each change adds a separate note.
func TestChangesOfAListAreNotedApart(t *testing.T) {
	const changes = 20
	check := func(t *testing.T, nodes ...*sqlstore.Store) {
		t.Helper()
		var group sync.WaitGroup
		for i := range changes {
			group.Go(func() {
				err := nodes[i%len(nodes)].Write(t.Context(), func(w *sqlstore.Tx) error {
					return w.LockContainer(t.Context(), acme, lastmile.WorkerContainer("ada"), time.UnixMilli(1_800_000_000_000))
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		var notes int64
		err := nodes[0].Read(t.Context(), func(w *sqlstore.Tx) error {
			return w.Conn().Row(t.Context(), `SELECT COUNT(*) FROM changed_list WHERE org = $1`, acme).Scan(&notes)
		})
		if err != nil || notes != changes {
			t.Errorf("%d changes left %d notes: %v", changes, notes, err)
		}
	}
	t.Run("SQLite", func(t *testing.T) { check(t, open(t, sqlstore.Options{Data: t.TempDir(), Serve: true})) })
	t.Run("PostgreSQL", func(t *testing.T) {
		url := storetest.Postgres(t)
		check(t, open(t, sqlstore.Options{Database: url}), open(t, sqlstore.Options{Database: url}))
	})
}
