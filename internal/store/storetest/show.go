package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// Shown tests that records which s has shown are shown with the changes that were made with
// other, a node or a command that uses the same database.
func Shown(t *testing.T, s, other *sqlstore.Store) {
	ctx := t.Context()
	courier := id[lastmile.WorkerID]("w")
	person, shown, form := recipient(acme, "r", "+12125550100"), task(acme, "shown", home, now), template(acme, "p")
	shown.Recipient, shown.State, shown.Worker, shown.Container = &person, lastmile.TaskAssigned, courier, lastmile.WorkerContainer(courier)
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveRecipient(ctx, person) })
	saveTasks(t, s, shown)
	type record struct {
		kind store.Kind
		id   string
	}
	itself := record{store.Tasks, string(shown.ID)}
	delay := time.Minute
	for n := range 10 {
		at := fmt.Sprint(n)
		next := destination(acme, "at"+at)
		if doc, err := s.Show(ctx, store.Destinations, acme, string(next.ID)); code(err) != lastmile.CodeNotFound {
			t.Errorf("a destination is shown before it is saved: %s, %v", doc, err)
		}
		changes := []struct {
			name   string
			change func(w *sqlstore.Tx) error
			has    string
			in     []record
		}{
			{"its recipient", func(w *sqlstore.Tx) error {
				person.Name = "person " + at
				return w.SaveRecipient(ctx, person)
			}, `"name":"person ` + at + `"`, []record{itself, {store.Recipients, string(person.ID)}}},
			{"its notes", func(w *sqlstore.Tx) error {
				shown.Notes = "notes " + at
				return w.SaveTask(ctx, shown)
			}, `"notes":"notes ` + at + `"`, []record{itself}},
			{"its destination", func(w *sqlstore.Tx) error {
				shown.Destination = next
				if err := w.SaveDestination(ctx, shown.Destination); err != nil {
					return err
				}
				return w.SaveTask(ctx, shown)
			}, `"at` + at, []record{itself, {store.Destinations, string(next.ID)}}},
			{"its estimates", func(w *sqlstore.Tx) error {
				eta := time.Duration(n+1) * time.Minute
				return w.SaveEstimates(ctx, acme, courier, []store.TaskEstimate{{
					Task: shown.ID, State: shown.State, Estimates: lastmile.Estimates{Arrival: now, Completion: now, ETA: &eta},
				}}, &delay)
			}, fmt.Sprintf(`"eta":%d`, (n+1)*60), []record{itself}},
			{"a template", func(w *sqlstore.Tx) error {
				form.Name = "template " + at
				return w.SaveTemplate(ctx, form)
			}, `"template ` + at + `"`, []record{{store.Templates, string(form.ID)}}},
		}
		for i, c := range changes {
			by := other
			if (n+i)%3 == 0 {
				by = s
			}
			write(t, by, c.change)
			for _, of := range append(c.in, c.in...) {
				doc, err := s.Show(ctx, of.kind, acme, of.id)
				if err != nil || !strings.Contains(string(doc), c.has) {
					t.Fatalf("after a change of %s, %s is not in %s %s: %v", c.name, c.has, of.kind, doc, err)
				}
				if doc, err := s.Show(ctx, of.kind, zenith, of.id); code(err) != lastmile.CodeOutsideScope {
					t.Errorf("%s is shown to another organization: %s, %v", of.kind, doc, err)
				}
			}
		}
	}
	place := shown.Destination
	before, err := s.Show(ctx, store.Destinations, acme, string(place.ID))
	if err != nil {
		t.Fatal(err)
	}
	write(t, other, func(w *sqlstore.Tx) error {
		place.Notes = "saved again"
		return w.SaveDestination(ctx, place)
	})
	for node, in := range map[string]*sqlstore.Store{"the same": s, "another": other} {
		if doc, err := in.Show(ctx, store.Destinations, acme, string(place.ID)); err != nil || string(doc) != string(before) {
			t.Errorf("%s node shows a destination as %s after it was saved again, and as %s before: %v", node, doc, before, err)
		}
	}
	write(t, other, func(w *sqlstore.Tx) error {
		return errors.Join(w.DeleteTask(ctx, acme, shown.ID), w.DeleteTemplate(ctx, acme, form.ID))
	})
	for _, of := range []record{itself, {store.Templates, string(form.ID)}} {
		if doc, err := s.Show(ctx, of.kind, acme, of.id); code(err) != lastmile.CodeNotFound {
			t.Errorf("%s is shown after it was deleted: %s, %v", of.kind, doc, err)
		}
	}
}

// testShowTogether shows records of two organizations from many goroutines, while tasks and
// their recipients change. Each must be shown with every change that was made before, and a
// task with the change of its recipient.
func testShowTogether(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	const globex lastmile.OrganizationID = "globex"
	kinds := []store.Kind{store.Tasks, store.Recipients, store.Destinations}
	name := func(k int) string { return fmt.Sprint("together", k) }
	var tasks [8]lastmile.Task
	for k := range tasks {
		org := acme
		if k%4 == 3 {
			org = globex
		}
		person := recipient(org, name(k), lastmile.Phone(fmt.Sprint("+1212555010", k)))
		tasks[k] = task(org, name(k), lastmile.OrganizationContainer(org), now)
		tasks[k].Recipient, tasks[k].Destination = &person, destination(org, name(k))
	}
	var made [8]atomic.Int64 // by task: the number of the last change
	change := func(number int64) error {
		k := number % 8
		changed := &tasks[k]
		changed.Notes = fmt.Sprintf("change %03d", number)
		changed.Recipient.Notes = changed.Notes
		if number > 8 && number%3 == 0 {
			changed.Destination = destination(changed.Organization, fmt.Sprintf("at%03d", number))
		}
		err := s.Write(ctx, func(w *sqlstore.Tx) error {
			return errors.Join(w.SaveDestination(ctx, changed.Destination), w.SaveRecipient(ctx, *changed.Recipient), w.SaveTask(ctx, *changed))
		})
		made[k].Store(number)
		return err
	}
	for number := range int64(8) {
		if err := change(number); err != nil {
			t.Fatal(err)
		}
	}
	var ended atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		defer ended.Store(true)
		for number := int64(8); number < 88; number++ {
			if err := change(number); err != nil {
				t.Error(err)
			}
		}
	})
	show := func(kind store.Kind, k int, org lastmile.OrganizationID) {
		least := made[k].Load()
		doc, err := s.Show(ctx, kind, org, id[string](name(k)))
		if own := tasks[k].Organization; org != own {
			if code(err) != lastmile.CodeOutsideScope {
				t.Errorf("%s of another organization is shown: %s, %v", kind, doc, err)
			}
			return
		}
		if err != nil || !strings.Contains(string(doc), `"id":"`+name(k)) {
			t.Errorf("%s %d is shown as %s: %v", kind, k, doc, err)
			return
		}
		parts := strings.Split(string(doc), `"notes":"change `)[1:]
		if want := map[store.Kind]int{store.Tasks: 2, store.Recipients: 1}[kind]; len(parts) != want {
			t.Errorf("%s %d has %d changes, want %d", kind, k, len(parts), want)
		}
		for _, part := range parts {
			if number, err := strconv.ParseInt(part[:3], 10, 64); err != nil || number < least || part[:3] != parts[0][:3] {
				t.Errorf("%s %d is shown with %q, after change %d", kind, k, parts, least)
			}
		}
	}
	for n := range 24 {
		all.Go(func() {
			for k := n; !ended.Load(); k++ {
				show(kinds[k/8%3], k%8, []lastmile.OrganizationID{acme, acme, globex}[k%3])
			}
		})
	}
	all.Wait()
}
