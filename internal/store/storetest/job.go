package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// runJobs checks background work and batches.
func runJobs(t *testing.T, open func(t *testing.T) store.Store) {
	t.Run("organizations have their turns with jobs", func(t *testing.T) { testTurns(t, open(t)) })
	t.Run("a job belongs to the last who claimed it", func(t *testing.T) { testClaims(t, open(t)) })
	t.Run("a part of a write can be refused alone", func(t *testing.T) { testTry(t, open(t)) })
	t.Run("a batch is read as far as it is done", func(t *testing.T) { testBatch(t, open(t)) })
	t.Run("many records are saved at once as they are one by one", func(t *testing.T) { testSaveNew(t, open(t)) })
}

const sweep store.JobKind = "sweep"

func job(org lastmile.OrganizationID, name string, at time.Time) store.Job {
	return store.Job{Organization: org, ID: id[string](name), Kind: sweep, Payload: []byte(name), RunAt: at, Created: now, Lease: time.Minute}
}

// due lists what may be claimed, as organization and payload.
func due(t *testing.T, s store.Store, at time.Time, after lastmile.OrganizationID, limit int, kinds ...store.JobKind) (list []string) {
	t.Helper()
	found := read(t, s, func(r store.Reader) ([]store.Job, error) { return r.DueJobs(t.Context(), kinds, at, after, limit) })
	for _, j := range found {
		list = append(list, string(j.Organization[:1])+" "+string(j.Payload))
	}
	return list
}

func testTurns(t *testing.T, s store.Store) {
	ctx, soon := t.Context(), now.Add(time.Second)
	write(t, s, func(w store.Writer) error {
		var errs []error
		for i := range 20 {
			errs = append(errs, w.AddJob(ctx, job(acme, fmt.Sprintf("a%02d", i), now.Add(time.Duration(i)*time.Millisecond))))
		}
		other := job(zenith, "z2", now)
		other.Kind = "other"
		return errors.Join(append(errs,
			w.AddJob(ctx, job("borealborealborealboreal", "b1", now.Add(time.Hour))), // not yet
			w.AddJob(ctx, job("cumuluscumuluscumuluscum", "c1", now)),
			w.AddJob(ctx, job(zenith, "z1", soon)),
			w.AddJob(ctx, other),
		)...)
	})
	tests := map[string]struct {
		at    time.Time
		after lastmile.OrganizationID
		limit int
		kinds []store.JobKind
		want  []string
	}{
		"one of each organization, the longest due": {soon, "", 10, []store.JobKind{sweep}, []string{"a a00", "c c1", "z z1"}},
		"none before its time":                      {now, "", 10, []store.JobKind{sweep}, []string{"a a00", "c c1"}},
		"not at all before any":                     {now.Add(-1), "", 10, []store.JobKind{sweep}, nil},
		"beginning after an organization":           {soon, acme, 2, []store.JobKind{sweep}, []string{"c c1", "z z1"}},
		"and going around":                          {soon, "cumuluscumuluscumuluscum", 10, []store.JobKind{sweep}, []string{"z z1", "a a00", "c c1"}},
		"around from the last":                      {soon, zenith, 1, []store.JobKind{sweep}, []string{"a a00"}},
		"of the kinds asked for":                    {soon, "", 10, []store.JobKind{"other"}, []string{"z z2"}},
		"of several kinds":                          {soon, acme, 10, []store.JobKind{"other", sweep}, []string{"c c1", "z z2", "a a00"}},
		"of no kind":                                {soon, "", 10, nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			same(t, "due jobs", due(t, s, tt.at, tt.after, tt.limit, tt.kinds...), tt.want)
		})
	}
}

func testClaims(t *testing.T, s store.Store) {
	ctx := t.Context()
	write(t, s, func(w store.Writer) error { return w.AddJob(ctx, job(acme, "j", now)) })
	claim := func(j store.Job, at time.Time) (claimed store.Job, err error) {
		err = s.Write(ctx, func(w store.Writer) (err error) {
			claimed, err = w.ClaimJob(ctx, j, at)
			return err
		})
		return claimed, err
	}
	lost := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, store.ErrJobLost) {
			t.Errorf("%s: %v, want that the job is lost", what, err)
		}
	}
	// kept tries everything that only the owner may do, each with another write
	// in the same transaction, and tells what was kept.
	kept := func(j store.Job) (did []string) {
		t.Helper()
		for name, step := range map[string]func(context.Context, store.Writer) error{
			"hold":   func(ctx context.Context, w store.Writer) error { return w.HoldJob(ctx, j, now) },
			"finish": func(ctx context.Context, w store.Writer) error { return w.FinishJob(ctx, j) },
			"return": func(ctx context.Context, w store.Writer) error { return w.ReturnJob(ctx, j, now, "") },
		} {
			err := s.Write(ctx, func(w store.Writer) error {
				return errors.Join(w.SaveDestination(ctx, destination(acme, name)), step(ctx, w))
			})
			lost(name, err)
			if err := s.Read(ctx, func(r store.Reader) error {
				_, err := r.Destination(ctx, acme, id[lastmile.DestinationID](name))
				return err
			}); err == nil {
				did = append(did, name)
			}
		}
		return did
	}
	sought := job(acme, "j", now)
	_, err := claim(sought, now.Add(-1))
	lost("a claim before its time", err)
	first, err := claim(sought, now)
	if err != nil || first.Attempt != 1 || !first.RunAt.Equal(now.Add(time.Minute)) {
		t.Fatalf("claimed as %+v: %v", first, err)
	}
	_, err = claim(sought, now)
	lost("a second claim", err)
	same(t, "due while claimed", due(t, s, now.Add(time.Minute-1), "", 1, sweep), []string(nil))
	write(t, s, func(w store.Writer) error { return w.HoldJob(ctx, first, now.Add(30*time.Second)) })
	same(t, "due after it was renewed", due(t, s, now.Add(time.Minute), "", 1, sweep), []string(nil))

	later := now.Add(2 * time.Minute)
	found := read(t, s, func(r store.Reader) ([]store.Job, error) { return r.DueJobs(ctx, []store.JobKind{sweep}, later, "", 1) })
	if len(found) != 1 {
		t.Fatalf("%d jobs are due after the claim ended", len(found))
	}
	found[0].Lease = time.Minute
	second, err := claim(found[0], later)
	if err != nil || second.Attempt != 2 {
		t.Fatalf("claimed as %+v: %v", second, err)
	}
	same(t, "what the first could still do", kept(first), []string(nil))

	second.Failures = 3
	write(t, s, func(w store.Writer) error { return w.ReturnJob(ctx, second, later, "broken") })
	same(t, "what the second could do after it gave the job back", kept(second), []string(nil))
	found = read(t, s, func(r store.Reader) ([]store.Job, error) { return r.DueJobs(ctx, []store.JobKind{sweep}, later, "", 1) })
	if len(found) != 1 || found[0].Failures != 3 || string(found[0].Payload) != "j" {
		t.Fatalf("given back as %+v", found)
	}
	found[0].Lease = time.Minute
	third, err := claim(found[0], later)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, func(w store.Writer) error { return w.ReclaimJobs(ctx, later) })
	same(t, "due after all claims were ended", due(t, s, later, "", 1, sweep), []string{"a j"})
	same(t, "what the third could do then", kept(third), []string(nil))
	found = read(t, s, func(r store.Reader) ([]store.Job, error) { return r.DueJobs(ctx, []store.JobKind{sweep}, later, "", 1) })
	fourth, err := claim(found[0], later)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, func(w store.Writer) error { return w.ReturnJob(ctx, fourth, time.Time{}, "given up") })
	if left := read(t, s, func(r store.Reader) (int, error) { return r.JobsLeft(ctx) }); left != 0 {
		t.Errorf("%d jobs are left after one was given up", left)
	}
	write(t, s, func(w store.Writer) error { return w.AddJob(ctx, job(acme, "k", now)) })
	last, err := claim(job(acme, "k", now), now)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, func(w store.Writer) error { return w.FinishJob(ctx, last) })
	same(t, "due in the end", due(t, s, later.Add(time.Hour), "", 5, sweep), []string(nil))
}

func testTry(t *testing.T, s store.Store) {
	ctx, refused := t.Context(), lastmile.Invalid("no")
	write(t, s, func(w store.Writer) error {
		for i := range 80 { // more than PostgreSQL remembers without effort
			err := w.Try(ctx, func() error {
				if err := w.SaveDestination(ctx, destination(acme, fmt.Sprintf("d%02d", i))); err != nil || i%2 == 0 {
					return err
				}
				return refused
			})
			if i%2 == 1 != errors.Is(err, refused) {
				return fmt.Errorf("part %d: %w", i, err)
			}
		}
		return nil
	})
	kept := read(t, s, func(r store.Reader) ([]lastmile.Destination, error) {
		return r.Destinations(ctx, acme, store.DestinationFilter{})
	})
	if len(kept) != 40 {
		t.Errorf("%d of 40 parts were kept", len(kept))
	}
	for _, d := range kept {
		if (d.ID[2]-'0')%2 != 0 {
			t.Errorf("%s was refused and kept", d.ID)
		}
	}
}

func testBatch(t *testing.T, s store.Store) {
	ctx := t.Context()
	b := lastmile.Batch{ID: id[lastmile.BatchID]("b"), Organization: acme, Key: id[lastmile.KeyID]("k"), Created: now, Received: 3}
	items := []lastmile.BatchItem{
		{Sent: []byte(`{"notes":"one"}`), Draft: lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new("one")}}},
		{Sent: []byte(`{ "notes" : "two é <&>" }`), Draft: lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new("two é <&>")}}},
		{Sent: []byte(`{"notes":3}`), Err: lastmile.Malformed("notes must be a string, not a number")},
	}
	write(t, s, func(w store.Writer) error { return w.AddBatch(ctx, b, items) })
	got := func() lastmile.Batch {
		t.Helper()
		return read(t, s, func(r store.Reader) (lastmile.Batch, error) { return r.Batch(ctx, acme, b.ID) })
	}
	stored := func(from, limit int) []lastmile.BatchItem {
		t.Helper()
		return read(t, s, func(r store.Reader) ([]lastmile.BatchItem, error) { return r.BatchItems(ctx, acme, b.ID, from, limit) })
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
		return s.Write(ctx, func(w store.Writer) error { return w.AddResults(ctx, acme, b.ID, from, results) })
	}
	complete := func() error {
		return s.Write(ctx, func(w store.Writer) error { return w.CompleteBatch(ctx, acme, b.ID, now.Add(time.Second)) })
	}
	if err := add(0, b.Results...); err != nil {
		t.Fatal(err)
	}
	same(t, "a batch in progress", got(), b)
	for what, err := range map[string]error{
		"the same results again":           add(0, b.Results...),
		"results that leave an item out":   add(3, b.Results[0]),
		"an end before the last item":      complete(),
		"the results of nobody's batch":    s.Write(ctx, func(w store.Writer) error { return w.AddResults(ctx, zenith, b.ID, 0, b.Results) }),
		"an end of another's organization": s.Write(ctx, func(w store.Writer) error { return w.CompleteBatch(ctx, zenith, b.ID, now) }),
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
			"batch": s.Read(ctx, func(r store.Reader) error {
				_, err := r.Batch(ctx, org, sought)
				return err
			}),
			"items": s.Read(ctx, func(r store.Reader) error {
				_, err := r.BatchItems(ctx, org, sought, 0, 1)
				return err
			}),
		} {
			if code(err) != want {
				t.Errorf("%s of %s: %v, want code %v", what, org, err, want)
			}
		}
	}
	left := read(t, s, func(r store.Reader) (map[lastmile.TaskID][]byte, error) {
		return r.TasksLeft(ctx, acme, []lastmile.TaskID{id[lastmile.TaskID]("t")})
	})
	if len(left) != 0 {
		t.Errorf("a task that does not exist is shown: %s", left)
	}
}

func testSaveNew(t *testing.T, s store.Store) {
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
	write(t, s, func(w store.Writer) error { return w.SaveRecipient(ctx, known) })
	made.Recipients[7].Modified = now.Add(time.Second)
	made.Tasks[7].Recipient = &made.Recipients[7]
	write(t, s, func(w store.Writer) error { return w.SaveNew(ctx, made) })

	ids := make([]lastmile.TaskID, many)
	for i := range ids {
		ids[i] = made.Tasks[i].ID
	}
	tasks := read(t, s, func(r store.Reader) ([]lastmile.Task, error) { return r.TasksOf(ctx, acme, ids) })
	for i, task := range tasks {
		same(t, fmt.Sprint("task ", i), task, made.Tasks[i])
	}
	queue := read(t, s, func(r store.Reader) (lastmile.Container, error) {
		return r.Container(ctx, acme, lastmile.OrganizationContainer(acme))
	})
	same(t, "the order of the container", queue.Tasks, ids)
	for _, i := range []int{0, 7, 24, 25, 49, 50, many - 1} {
		found, err := s.ShowTasks(ctx, acme, store.TaskFilter{Metadata: entry(i)})
		if err != nil || len(found) != 1 || found[0].ID != ids[i] {
			t.Errorf("%d tasks have the metadata of task %d: %v", len(found), i, err)
		}
		recipients := read(t, s, func(r store.Reader) ([]lastmile.Recipient, error) {
			return r.Recipients(ctx, acme, store.RecipientFilter{Metadata: entry(i)})
		})
		same(t, fmt.Sprint("the recipients with metadata ", i), recipients, []lastmile.Recipient{made.Recipients[i]})
		parents := read(t, s, func(r store.Reader) ([]lastmile.TaskID, error) { return r.Parents(ctx, acme, ids[i]) })
		same(t, fmt.Sprint("the dependencies of task ", i), parents, made.Tasks[i].Dependencies)
	}
	if old := read(t, s, func(r store.Reader) ([]lastmile.Recipient, error) {
		return r.Recipients(ctx, acme, store.RecipientFilter{Metadata: entry(1000)})
	}); len(old) != 0 {
		t.Error("the metadata that a recipient had before is still found")
	}
	phones := []lastmile.Phone{made.Recipients[3].Phone, "+12125559999", made.Recipients[5].Phone}
	if some := read(t, s, func(r store.Reader) ([]lastmile.Recipient, error) {
		return r.Recipients(ctx, acme, store.RecipientFilter{Phones: phones})
	}); len(some) != 2 {
		t.Errorf("%d recipients have one of two known phone numbers", len(some))
	}
}
