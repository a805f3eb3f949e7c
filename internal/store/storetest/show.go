package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// Shown tests that a task which s has shown is shown with the changes that were made with
// other, a node or a command that uses the same database.
func Shown(t *testing.T, s, other *sqlstore.Store) {
	ctx := t.Context()
	courier := id[lastmile.WorkerID]("w")
	person, shown := recipient(acme, "r", "+12125550100"), task(acme, "shown", home, now)
	shown.Recipient, shown.State, shown.Worker, shown.Container = &person, lastmile.TaskAssigned, courier, lastmile.WorkerContainer(courier)
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveRecipient(ctx, person) })
	saveTasks(t, s, shown)
	delay := time.Minute
	for n := range 10 {
		at := fmt.Sprint(n)
		changes := []struct {
			name   string
			change func(w *sqlstore.Tx) error
			has    string
		}{
			{"its recipient", func(w *sqlstore.Tx) error {
				person.Name = "person " + at
				return w.SaveRecipient(ctx, person)
			}, `"name":"person ` + at + `"`},
			{"its notes", func(w *sqlstore.Tx) error {
				shown.Notes = "notes " + at
				return w.SaveTask(ctx, shown)
			}, `"notes":"notes ` + at + `"`},
			{"its destination", func(w *sqlstore.Tx) error {
				shown.Destination = destination(acme, "at"+at)
				if err := w.SaveDestination(ctx, shown.Destination); err != nil {
					return err
				}
				return w.SaveTask(ctx, shown)
			}, `"at` + at},
			{"its estimates", func(w *sqlstore.Tx) error {
				eta := time.Duration(n+1) * time.Minute
				return w.SaveEstimates(ctx, acme, courier, []store.TaskEstimate{{
					Task: shown.ID, State: shown.State, Estimates: lastmile.Estimates{Arrival: now, Completion: now, ETA: &eta},
				}}, &delay)
			}, fmt.Sprintf(`"eta":%d`, (n+1)*60)},
		}
		for i, c := range changes {
			by := other
			if (n+i)%3 == 0 {
				by = s
			}
			write(t, by, c.change)
			for range 2 {
				doc, err := s.Show(ctx, store.Tasks, acme, string(shown.ID))
				if err != nil || !strings.Contains(string(doc), c.has) {
					t.Fatalf("after a change of %s, %s is not in %s: %v", c.name, c.has, doc, err)
				}
			}
		}
	}
}
