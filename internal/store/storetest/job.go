package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// runJobs tests batches and the methods that write them.
func runJobs(t *testing.T, open func(t *testing.T) *sqlstore.Store) {
	t.Run("a part of a write can fail without the rest", func(t *testing.T) { testTry(t, open(t)) })
	t.Run("a batch is read with its results so far", func(t *testing.T) { testBatch(t, open(t)) })
	t.Run("records saved together equal those saved one by one", func(t *testing.T) { testSaveNew(t, open(t)) })
}

func testTry(t *testing.T, s *sqlstore.Store) {
	ctx, rejected := t.Context(), lastmile.Invalid("no")
	write(t, s, func(w *sqlstore.Tx) error {
		for i := range 80 { // more than PostgreSQL remembers without effort
			err := w.Try(ctx, func() error {
				if err := w.SaveDestination(ctx, destination(acme, fmt.Sprintf("d%02d", i))); err != nil || i%2 == 0 {
					return err
				}
				return rejected
			})
			if i%2 == 1 != errors.Is(err, rejected) {
				return fmt.Errorf("part %d: %w", i, err)
			}
		}
		return nil
	})
	kept, err := s.Find(ctx, store.Destinations, acme, "", nil, 0)
	if len(kept) != 40 || err != nil {
		t.Errorf("%d of 40 parts were kept: %v", len(kept), err)
	}
	for _, id := range kept {
		if (id[2]-'0')%2 != 0 {
			t.Errorf("%s was rejected and kept", id)
		}
	}
}

func testBatch(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	b := lastmile.Batch{ID: id[lastmile.BatchID]("b"), Organization: acme, Key: id[lastmile.KeyID]("k"), Created: now, Received: 3}
	items := []lastmile.BatchItem{
		{Sent: []byte(`{"notes":"one"}`), Draft: lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new("one")}}},
		{Sent: []byte(`{ "notes" : "two é <&>" }`), Draft: lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new("two é <&>")}}},
		{Sent: []byte(`{"notes":3}`), Err: lastmile.Malformed("notes must be a string, not a number")},
	}
	write(t, s, func(w *sqlstore.Tx) error { return w.AddBatch(ctx, b, items) })
	got := func() lastmile.Batch {
		t.Helper()
		return read(t, s, func(r *sqlstore.Tx) (lastmile.Batch, error) { return r.Batch(ctx, acme, b.ID) })
	}
	stored := func(from, limit int) []lastmile.BatchItem {
		t.Helper()
		return read(t, s, func(r *sqlstore.Tx) ([]lastmile.BatchItem, error) { return r.BatchItems(ctx, acme, b.ID, from, limit) })
	}
	same(t, "a new batch", got(), b)
	same(t, "its items", stored(0, 3), items)
	same(t, "its second item", stored(1, 1), items[1:2])
	same(t, "its items from the second on", stored(1, 100), items[1:])
	same(t, "its items behind the last", stored(3, 1), []lastmile.BatchItem{})

	b.Results = []lastmile.BatchResult{
		{TaskID: id[lastmile.TaskID]("t"), Warned: true},
		{Err: &lastmile.Error{Code: lastmile.CodeInvalid, Message: "no", Cause: "why"}, Sent: []byte(`{"notes":"two é"}`)},
	}
	add := func(from int, results ...lastmile.BatchResult) error {
		return s.Write(ctx, func(w *sqlstore.Tx) error { return w.AddResults(ctx, acme, b.ID, from, results) })
	}
	complete := func() error {
		return s.Write(ctx, func(w *sqlstore.Tx) error { return w.CompleteBatch(ctx, acme, b.ID, now.Add(time.Second)) })
	}
	if err := add(0, b.Results...); err != nil {
		t.Fatal(err)
	}
	same(t, "a batch in progress", got(), b)
	for what, err := range map[string]error{
		"the same results again":                      add(0, b.Results...),
		"results that leave an item out":              add(3, b.Results[0]),
		"an end before the last item":                 complete(),
		"the results of another organization's batch": s.Write(ctx, func(w *sqlstore.Tx) error { return w.AddResults(ctx, zenith, b.ID, 0, b.Results) }),
		"an end of another's organization":            s.Write(ctx, func(w *sqlstore.Tx) error { return w.CompleteBatch(ctx, zenith, b.ID, now) }),
	} {
		if err == nil {
			t.Errorf("%s were saved", what)
		}
	}
	if err := errors.Join(add(2, b.Results[0]), complete()); err != nil {
		t.Fatal(err)
	}
	b.Results, b.Completed = append(b.Results, b.Results[0]), now.Add(time.Second)
	same(t, "a completed batch", got(), b)
	same(t, "its items", stored(0, 3), []lastmile.BatchItem{})
	if err := complete(); err == nil {
		t.Error("a batch was completed twice")
	}
	for org, want := range map[lastmile.OrganizationID]lastmile.Code{zenith: lastmile.CodeOutsideScope, acme: lastmile.CodeNotFound} {
		sought := b.ID
		if org == acme {
			sought = id[lastmile.BatchID]("x")
		}
		for what, err := range map[string]error{
			"batch": s.Read(ctx, func(r *sqlstore.Tx) error {
				_, err := r.Batch(ctx, org, sought)
				return err
			}),
			"items": s.Read(ctx, func(r *sqlstore.Tx) error {
				_, err := r.BatchItems(ctx, org, sought, 0, 1)
				return err
			}),
		} {
			if code(err) != want {
				t.Errorf("%s of %s: %v, want code %v", what, org, err, want)
			}
		}
	}
	left := read(t, s, func(r *sqlstore.Tx) (map[lastmile.TaskID][]byte, error) {
		return r.TasksLeft(ctx, acme, []lastmile.TaskID{id[lastmile.TaskID]("t")}, 1<<20)
	})
	if len(left) != 0 {
		t.Errorf("a task that does not exist is shown: %s", left)
	}
	var ids []lastmile.TaskID
	for i := range 60 {
		ids = append(ids, id[lastmile.TaskID](fmt.Sprintf("left%dx", i)))
		saveTasks(t, s, task(acme, fmt.Sprintf("left%dx", i), home, now))
	}
	within := func(room int) map[lastmile.TaskID][]byte {
		t.Helper()
		return read(t, s, func(r *sqlstore.Tx) (map[lastmile.TaskID][]byte, error) {
			return r.TasksLeft(ctx, acme, append(ids, id[lastmile.TaskID]("gone")), room)
		})
	}
	whole := within(1 << 20)
	size := 0
	for _, id := range ids[:40] {
		size += len(whole[id])
	}
	left = within(size)
	same(t, "tasks left", len(left), len(ids))
	for i, id := range ids {
		want := string(whole[id])
		if i >= 40 {
			want = `{"id":"` + string(id) + `"}`
		}
		if string(left[id]) != want {
			t.Errorf("task %d is shown as %s", i, left[id])
		}
	}
}

func testSaveNew(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	const many = 60 // more than fit into two statements
	entry := func(i int) lastmile.Metadata {
		return lastmile.Metadata{{Name: "n", Type: lastmile.MetadataNumber, Visibility: []string{"api"}, Value: float64(i)}}
	}
	var made store.NewRecords
	for i := range many {
		d, r := destination(acme, fmt.Sprintf("d%02d", i)), recipient(acme, fmt.Sprintf("r%02d", i), lastmile.Phone(fmt.Sprintf("+121255501%02d", i)))
		d.Metadata, r.Metadata = entry(i), entry(i)
		task := lastmile.Task{
			ID: id[lastmile.TaskID](fmt.Sprintf("t%02d", i)), ShortID: fmt.Sprintf("%08x", i), Organization: acme, Created: now, Modified: now,
			Merchant: acme, Executor: acme, TrackingToken: fmt.Sprint("token", i), Container: lastmile.OrganizationContainer(acme),
			Destination: d, Recipient: &r, Metadata: entry(i), Completion: lastmile.Completion{FailureReason: lastmile.NoFailure},
		}
		if i > 0 {
			task.Dependencies = []lastmile.TaskID{made.Tasks[i-1].ID}
		}
		made.Destinations, made.Recipients, made.Tasks = append(made.Destinations, d), append(made.Recipients, r), append(made.Tasks, task)
	}
	// One of the recipients is known, with other metadata.
	known := made.Recipients[7]
	known.Name, known.Metadata = "Before", entry(1000)
	write(t, s, func(w *sqlstore.Tx) error { return w.AddRecipient(ctx, known) })
	made.Recipients[7].Modified = now.Add(time.Second)
	made.Tasks[7].Recipient = &made.Recipients[7]
	write(t, s, func(w *sqlstore.Tx) error {
		fresh := made
		fresh.Recipients = slices.Delete(slices.Clone(made.Recipients), 7, 8)
		return errors.Join(w.SaveRecipient(ctx, made.Recipients[7]), w.SaveNew(ctx, fresh))
	})

	ids := make([]lastmile.TaskID, many)
	for i := range ids {
		ids[i] = made.Tasks[i].ID
	}
	tasks := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Task, error) { return r.TasksOf(ctx, acme, ids) })
	for i, task := range tasks {
		same(t, fmt.Sprint("task ", i), task, made.Tasks[i])
	}
	queue := read(t, s, func(r *sqlstore.Tx) (lastmile.Container, error) {
		return r.Container(ctx, acme, lastmile.OrganizationContainer(acme))
	})
	same(t, "the order of the container", queue.Tasks, ids)
	for _, i := range []int{0, 7, 24, 25, 49, 50, many - 1} {
		found, err := s.ShowTasks(ctx, acme, store.TaskFilter{Metadata: entry(i)})
		if err != nil || len(found) != 1 || found[0].ID != ids[i] {
			t.Errorf("%d tasks have the metadata of task %d: %v", len(found), i, err)
		}
		recipients, err := s.Find(ctx, store.Recipients, acme, "", entry(i), 0)
		if err != nil {
			t.Error(err)
		}
		same(t, fmt.Sprint("the recipients with metadata ", i), recipients, []string{string(made.Recipients[i].ID)})
		recipient := read(t, s, func(r *sqlstore.Tx) (lastmile.Recipient, error) { return r.Recipient(ctx, acme, made.Recipients[i].ID) })
		same(t, fmt.Sprint("recipient ", i), recipient, made.Recipients[i])
		parents := read(t, s, func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Parents(ctx, acme, ids[i]) })
		same(t, fmt.Sprint("the dependencies of task ", i), parents, made.Tasks[i].Dependencies)
	}
	if old, err := s.Find(ctx, store.Recipients, acme, "", entry(1000), 0); len(old) != 0 || err != nil {
		t.Errorf("the metadata that a recipient had before is still found: %v", err)
	}
	phones := []lastmile.Phone{made.Recipients[3].Phone, "+12125559999", made.Recipients[5].Phone}
	if some := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Recipient, error) {
		return r.Recipients(ctx, acme, store.RecipientFilter{Phones: phones})
	}); len(some) != 2 {
		t.Errorf("%d recipients have one of two known phone numbers", len(some))
	}
}
