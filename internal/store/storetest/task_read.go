package storetest

import (
	"strings"
	"testing"
	"time"
	"unsafe"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// testReadAgain reads a task several times in a context of store.Remember: its texts and pointers
// remain those of the first time, by which wire.EncodeTask recognizes it, unless they change.
func testReadAgain(t *testing.T, s *sqlstore.Store) {
	ctx, whole := store.Remember(t.Context()), fullTask()
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveRecipient(ctx, *whole.Recipient) })
	saveTasks(t, s, whole)
	readAgain := func() lastmile.Task {
		return read(t, s, func(r *sqlstore.Tx) (lastmile.Task, error) { return r.Task(ctx, acme, whole.ID) })
	}
	first, again := readAgain(), readAgain()
	if unsafe.StringData(first.TrackingToken) != unsafe.StringData(again.TrackingToken) || first.Estimates != again.Estimates || first.Recipient != again.Recipient {
		t.Error("a task that was read again is a copy")
	}
	whole.Estimates.ETA = new(*whole.Estimates.ETA + time.Minute)
	whole.Estimates.Delay = new(*whole.Estimates.Delay + time.Minute)
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveTask(ctx, whole) })
	same(t, "a task whose estimates have changed", readAgain(), whole)
}

// testShownAgain changes a task after it was shown, and compares Show, which caches
// destinations, with ShowTasks, which does not.
func testShownAgain(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	shown := task(acme, "shown", home, now)
	shown.Destination = destination(acme, "first")
	person := recipient(acme, "r", "+12125550100")
	steps := []struct {
		name   string
		change func()
		has    []string
	}{
		{"at first", func() {}, []string{`"first`}},
		{"with a recipient", func() { shown.Recipient = &person }, []string{`"first`, `"name":"r"`}},
		{"when the recipient was renamed", func() { person.Name = "renamed" }, []string{`"first`, `"name":"renamed"`}},
		{"at another destination", func() { shown.Destination = destination(acme, "second") }, []string{`"second`, `"name":"renamed"`}},
		{"with other notes", func() { shown.Notes = "changed" }, []string{`"second`, `"notes":"changed"`}},
		{"at the first destination again", func() { shown.Destination = destination(acme, "first") }, []string{`"first`, `"notes":"changed"`}},
		{"without a recipient", func() { shown.Recipient = nil }, []string{`"first`, `"recipients":[]`}},
	}
	for _, step := range steps {
		step.change()
		write(t, s, func(w *sqlstore.Tx) error { return w.SaveRecipient(ctx, person) })
		saveTasks(t, s, shown)
		for range 3 {
			doc, err := s.Show(ctx, store.Tasks, acme, string(shown.ID))
			listed, listErr := s.ShowTasks(ctx, acme, store.TaskFilter{})
			if err != nil || listErr != nil || len(listed) != 1 || string(doc) != string(listed[0].Doc) {
				t.Fatalf("%s: shown as %s, listed as %s: %v %v", step.name, doc, listed, err, listErr)
			}
			for _, text := range step.has {
				if !strings.Contains(string(doc), text) {
					t.Errorf("%s: %s is not in %s", step.name, text, doc)
				}
			}
		}
		if _, err := s.Show(ctx, store.Tasks, zenith, string(shown.ID)); code(err) != lastmile.CodeOutsideScope {
			t.Errorf("%s: shown to another organization: %v", step.name, err)
		}
	}
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteTask(ctx, acme, shown.ID) })
	if _, err := s.Show(ctx, store.Tasks, acme, string(shown.ID)); code(err) != lastmile.CodeNotFound {
		t.Errorf("shown after it was deleted: %v", err)
	}
}

func testShortID(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	theirs := task(zenith, "theirs", lastmile.OrganizationContainer(zenith), now)
	saveTasks(t, s, task(acme, "ours", home, now), theirs)
	find := func(shortID string) error {
		return s.Read(ctx, func(r *sqlstore.Tx) error {
			found, err := r.TaskByShortID(ctx, acme, shortID)
			if err == nil && found.ShortID != shortID {
				t.Errorf("%s is found by %s", found.ShortID, shortID)
			}
			return err
		})
	}
	if err := find("ours"); err != nil {
		t.Error(err)
	}
	for _, shortID := range []string{"theirs", "nobodys", "", "'"} {
		if err := find(shortID); code(err) != lastmile.CodeNotFound {
			t.Errorf("%q: %v, want not found", shortID, err)
		}
	}
	// Two organizations may have the same short id.
	same := task(zenith, "same", lastmile.OrganizationContainer(zenith), now)
	same.ShortID = "ours"
	saveTasks(t, s, same)
}

func testTakenShortID(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	saveTasks(t, s, task(acme, "first", home, now))
	runs := 0
	write(t, s, func(w *sqlstore.Tx) error {
		runs++
		second := task(acme, "second", home, now)
		if runs == 1 {
			second.ShortID = "first"
		}
		return w.SaveTask(ctx, second)
	})
	if got := readTask(t, s, "second"); runs != 2 || got.ShortID != "second" {
		t.Errorf("after %d runs it has the short id %q", runs, got.ShortID)
	}
}
