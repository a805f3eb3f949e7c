package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
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

// testShowTogether shows tasks of two organizations from many goroutines, while their notes
// and destinations change. Each must be shown with every change that was made before.
func testShowTogether(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	const globex lastmile.OrganizationID = "globex"
	var tasks []lastmile.Task
	for n := range 8 {
		org := acme
		if n%4 == 3 {
			org = globex
		}
		tasks = append(tasks, task(org, fmt.Sprint("together", n), lastmile.OrganizationContainer(org), now))
	}
	saveTasks(t, s, tasks...)
	var made [8]atomic.Int64 // by task: the number of the last change
	var ended atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		defer ended.Store(true)
		for change := range int64(80) {
			k := change % 8
			changed := &tasks[k]
			changed.Notes = fmt.Sprintf("change %03d", change)
			if change%3 == 0 {
				changed.Destination = destination(changed.Organization, fmt.Sprintf("at%03d", change))
			}
			err := s.Write(ctx, func(w *sqlstore.Tx) error {
				return errors.Join(w.SaveDestination(ctx, changed.Destination), w.SaveTask(ctx, *changed))
			})
			if err != nil {
				t.Error(err)
			}
			made[k].Store(change)
		}
	})
	show := func(k int, org lastmile.OrganizationID) {
		least := made[k].Load()
		doc, err := s.Show(ctx, store.Tasks, org, string(id[lastmile.TaskID](fmt.Sprint("together", k))))
		if org != acme && k%4 != 3 || org == acme && k%4 == 3 {
			if err == nil {
				t.Errorf("%s was shown a task of another organization: %s", org, doc)
			}
			return
		}
		_, rest, found := strings.Cut(string(doc), `"notes":"change `)
		var change int64
		if found {
			_, _ = fmt.Sscanf(rest, "%03d", &change)
		}
		if err != nil || change < least || !strings.Contains(string(doc), fmt.Sprint(`together`, k)) {
			t.Errorf("task %d is shown with change %d, after change %d: %v", k, change, least, err)
		}
	}
	for n := range 24 {
		all.Go(func() {
			for k := n; !ended.Load(); k++ {
				show(k%8, []lastmile.OrganizationID{acme, acme, globex}[k%3])
			}
		})
	}
	all.Wait()
}
