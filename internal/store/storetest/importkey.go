package storetest

import (
	"errors"
	"fmt"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// testImportKeys saves more tasks with keys than one statement inserts.
func testImportKeys(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	keyed := func(org lastmile.OrganizationID, name, key string) lastmile.Task {
		made := task(org, name, lastmile.OrganizationContainer(org), now)
		made.ImportKey = key
		return made
	}
	first := keyed(acme, "first", "key 7")
	saveTasks(t, s, task(acme, "place", home, now), task(zenith, "place", lastmile.OrganizationContainer(zenith), now))
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.AddTask(ctx, first), w.AddTask(ctx, keyed(zenith, "other", "key 7")))
	})
	many := store.NewRecords{}
	for i := range 60 {
		many.Tasks = append(many.Tasks, keyed(acme, fmt.Sprint("many", i, "."), fmt.Sprint("key ", i)))
	}
	for what, save := range map[string]func(w *sqlstore.Tx) error{
		"one":  func(w *sqlstore.Tx) error { return w.AddTask(ctx, keyed(acme, "one", "key 7")) },
		"many": func(w *sqlstore.Tx) error { return w.SaveNew(ctx, many) },
	} {
		err := s.Write(ctx, save)
		if used, ok := errors.AsType[store.UsedKeys](err); !ok || len(used) != 1 || used["key 7"] != first.ID {
			t.Errorf("%s: %v", what, err)
		}
	}
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteTask(ctx, acme, first.ID) })
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveNew(ctx, many) })
	err := s.Write(ctx, func(w *sqlstore.Tx) error { return w.AddTask(ctx, keyed(acme, "one", "key 59")) })
	if used, ok := errors.AsType[store.UsedKeys](err); !ok || used["key 59"] != many.Tasks[59].ID {
		t.Errorf("the last of many: %v", err)
	}
	if err := s.Write(ctx, func(w *sqlstore.Tx) error { return w.AddTask(ctx, keyed(zenith, "second", "key 7")) }); err == nil {
		t.Error("a key of the other organization was freed")
	}
}
