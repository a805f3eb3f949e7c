package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/taskflow"
	"dray/internal/wire"
	"dray/internal/work"
)

// batchTest is a platform without background work; tests run that with run.
type batchTest struct {
	*app.App
	who lastmile.Principal
}

// onBatchEngines runs a test on each database.
func onBatchEngines(t *testing.T, test func(t *testing.T, w *batchTest)) {
	t.Run("sqlite", func(t *testing.T) { test(t, newBatchTest(t, app.Config{Data: storetest.Folder(t)})) })
	t.Run("postgres", func(t *testing.T) {
		test(t, newBatchTest(t, app.Config{Data: t.TempDir(), Database: storetest.Postgres(t)}))
	})
}

func newBatchTest(t *testing.T, c app.Config) *batchTest {
	t.Helper()
	c.Patience = time.Minute
	a, err := app.New(t.Context(), c, slog.New(slog.DiscardHandler), app.Clock, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	made, err := a.Organizations.Create(t.Context(), lastmile.OrganizationDraft{Name: "Workshop", Country: "US", Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	return &batchTest{App: a, who: lastmile.Principal{Organization: made.Organization.ID}}
}

// submit submits a batch of tasks whose metadata contains name.
func (w *batchTest) submit(t *testing.T, name string, tasks int) lastmile.BatchID {
	t.Helper()
	bodies := make(wire.SentTasks, tasks)
	for i := range bodies {
		bodies[i] = fmt.Appendf(nil, `{"destination":%s,"recipients":[%s],"notes":"item %d","metadata":[{"name":"of","type":"string","value":%q}]}`,
			destinationBody(i), recipientBody(i), i, name)
	}
	items, err := wire.BatchBody{Tasks: &bodies}.Items(w.who.Organization)
	if err != nil {
		t.Fatal(err)
	}
	made, err := w.Batches.Submit(t.Context(), w.who, items)
	if err != nil {
		t.Fatal(err)
	}
	return made.Record.ID
}

// failingBook is an address book that fails for some items of a batch.
type failingBook struct {
	taskflow.AddressBook
	fail func(item int) error // nil when the item does not fail
}

// PrepareRecipient finds the item by the phone number of its recipient.
func (b failingBook) PrepareRecipient(ctx context.Context, who lastmile.Principal, field string, draft lastmile.RecipientDraft) (lastmile.PreparedRecipient, error) {
	for item := range lastmile.MaxBatch {
		if draft.Phone != benchPhone(item) {
			continue
		}
		if err := b.fail(item); err != nil {
			return lastmile.PreparedRecipient{}, err
		}
	}
	return b.AddressBook.PrepareRecipient(ctx, who, field, draft)
}

// run processes batches over a store until the condition holds. Items for which
// fail returns an error cannot be prepared; fail may be nil. The leases on a
// crashingStore are short; others outlast a slow machine.
func (w *batchTest) run(t *testing.T, s taskflow.BatchStore, fail func(item int) error, until func() bool) {
	t.Helper()
	batches := *w.Batches
	batches.Store = s
	if fail != nil {
		batches.Book = failingBook{batches.Book, fail}
	}
	lease := time.Minute
	if _, crashes := s.(*crashingStore); crashes {
		lease = 200 * time.Millisecond
	}
	r := &work.Loop[taskflow.BatchReader, taskflow.BatchWriter]{
		Kind: work.CreateBatch, Store: s, Do: batches.Run, GiveUp: batches.GiveUp,
		Limits: w.Jobs.Limits, Retry: w.Jobs.Retry, LeaseFor: lease,
		Now: app.Clock, NewID: w.Jobs.NewID, Log: slog.New(slog.DiscardHandler),
	}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { r.Run(ctx) })
	for deadline := time.Now().Add(time.Minute); !until(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("not done after a minute")
			break
		}
	}
	stop()
	group.Wait()
}

// jobsLeft reports whether any job is left.
func (w *batchTest) jobsLeft(t *testing.T) bool {
	t.Helper()
	n := 0
	if err := w.Store.Read(t.Context(), func(r *sqlstore.Tx) error {
		backlog, err := r.WorkBacklog(t.Context(), work.CreateBatch, app.Clock())
		n = backlog.Waiting
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// batch reads a batch.
func (w *batchTest) batch(t *testing.T, id lastmile.BatchID) lastmile.Batch {
	t.Helper()
	b, err := w.Batches.Batch(t.Context(), w.who, id)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tasks counts the tasks that were submitted with a name.
func (w *batchTest) tasks(t *testing.T, name string) int {
	t.Helper()
	found, err := w.Tasks.Find(t.Context(), w.who, lastmile.Metadata{{Name: "of", Type: lastmile.MetadataString, Value: name, Visibility: []string{"api"}}})
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// endEvents counts the events about the end of a batch.
func (w *batchTest) endEvents(t *testing.T, id lastmile.BatchID) (n int) {
	t.Helper()
	err := w.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
		n = 0
		const most = 10_000
		_, err := tx.NumberEvents(t.Context(), most)
		events, readErr := tx.EventsAfter(t.Context(), w.who.Organization, 0, most, 0)
		for _, e := range events {
			if strings.Contains(string(e.Body), `"jobId":"`+string(id)+`"`) {
				n++
			}
		}
		return errors.Join(err, readErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// crashingStore is the store of a process that crashes right before its nth write,
// or right after the commit, before the process learns of it.
type crashingStore struct {
	taskflow.BatchStore
	writesLeft atomic.Int64
	after      bool
	crashed    atomic.Bool
}

var errCrashed = errors.New("the process crashed")

func (d *crashingStore) Read(ctx context.Context, fn func(taskflow.BatchReader) error) error {
	if d.crashed.Load() {
		return errCrashed
	}
	return d.BatchStore.Read(ctx, fn)
}

func (d *crashingStore) Write(ctx context.Context, fn func(taskflow.BatchWriter) error) error {
	n := d.writesLeft.Add(-1)
	if d.crashed.Load() || n == 0 && !d.after {
		d.crashed.Store(true)
		return errCrashed
	}
	err := d.BatchStore.Write(ctx, fn)
	if n == 0 {
		d.crashed.Store(true)
		return errCrashed
	}
	return err
}

func TestBatchSurvivesCrashes(t *testing.T) {
	onBatchEngines(t, func(t *testing.T, w *batchTest) {
		const tasks = 200 // two chunks
		for write := int64(1); ; write++ {
			var undisturbed bool
			for _, after := range []bool{false, true} {
				name := fmt.Sprintf("write %d, after it: %v", write, after)
				t.Run(name, func(t *testing.T) {
					id := w.submit(t, name, tasks)
					s := &crashingStore{BatchStore: w.Batches.Store, after: after}
					s.writesLeft.Store(write)
					w.run(t, s, nil, func() bool { return s.crashed.Load() || !w.jobsLeft(t) })
					undisturbed = undisturbed || !s.crashed.Load()
					w.run(t, w.Batches.Store, nil, func() bool { return !w.jobsLeft(t) })

					b := w.batch(t, id)
					if made := w.tasks(t, name); made != tasks || b.TasksCreated() != tasks || b.Status() != lastmile.BatchSucceeded {
						t.Errorf("%d tasks were created, and the batch says %d: %s", made, b.TasksCreated(), b.Status())
					}
					if events := w.endEvents(t, id); events != 1 {
						t.Errorf("the end of the batch has %d events, want 1", events)
					}
				})
			}
			if undisturbed || t.Failed() {
				if write < 5 {
					t.Errorf("a batch took %d writes, want at least a claim, two chunks and an end", write-1)
				}
				return
			}
		}
	})
}

func TestBatchRetriesTransientErrors(t *testing.T) {
	onBatchEngines(t, func(t *testing.T, w *batchTest) {
		id := w.submit(t, "patient", 3)
		var tries atomic.Int64
		fail := func(item int) error {
			if item == 1 && tries.Add(1) <= 2 {
				return lastmile.Overloaded("the geocoder is busy")
			}
			return nil
		}
		w.run(t, w.Batches.Store, fail, func() bool { return !w.jobsLeft(t) })
		if b := w.batch(t, id); b.Status() != lastmile.BatchSucceeded || tries.Load() != 3 {
			t.Errorf("the batch is %s after %d attempts", b.Status(), tries.Load())
		}
	})
}

// setFailures sets how often the job of a batch has failed.
func (w *batchTest) setFailures(t *testing.T, id lastmile.BatchID, failures int) {
	t.Helper()
	err := w.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
		job := work.Item{Kind: work.CreateBatch, Organization: w.who.Organization, ID: string(id), Lease: w.Jobs.NewID()}
		if ok, err := tx.ClaimWork(t.Context(), job, app.Clock(), app.Clock().Add(time.Minute)); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("claimed is %v", ok))
		}
		return tx.ReleaseWork(t.Context(), job, work.Release{Due: app.Clock(), Failures: failures, Reason: "set by a test"})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBatchIsolatesFailingItem(t *testing.T) {
	onBatchEngines(t, func(t *testing.T, w *batchTest) {
		for name, fail := range map[string]func() error{
			"an error":                     func() error { return errors.New("a secret of ours") },
			"a panic":                      func() error { panic("a secret of ours") },
			"a server that is always busy": func() error { return lastmile.Overloaded("the geocoder is busy") },
		} {
			t.Run(name, func(t *testing.T) {
				id := w.submit(t, name, 5)
				w.setFailures(t, id, 9)
				failSecond := func(item int) error {
					if item == 2 {
						return fail()
					}
					return nil
				}
				w.run(t, w.Batches.Store, failSecond, func() bool { return !w.jobsLeft(t) })
				b := w.batch(t, id)
				if b.Status() != lastmile.BatchCompletedWithErrors || b.TasksCreated() != 4 || w.tasks(t, name) != 4 || w.endEvents(t, id) != 1 {
					t.Fatalf("the batch is %s with %d of %d tasks and %d end events", b.Status(), b.TasksCreated(), w.tasks(t, name), w.endEvents(t, id))
				}
				fault := b.Results[2].Err
				if fault == nil || codec.ErrorOf(fault.Code).Status < 500 || strings.Contains(fault.Message+fault.Cause, "secret") || !strings.Contains(string(b.Results[2].Sent), "item 2") {
					t.Errorf("item 2 has the result %+v", b.Results[2])
				}
			})
		}
	})
}

// failingStore cannot save the result of a single item.
type failingStore struct{ taskflow.BatchStore }

func (u failingStore) Write(ctx context.Context, fn func(taskflow.BatchWriter) error) error {
	return u.BatchStore.Write(ctx, func(w taskflow.BatchWriter) error { return fn(failingWriter{w.(*sqlstore.Tx)}) })
}

type failingWriter struct{ *sqlstore.Tx }

func (u failingWriter) AddResults(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, from int, results []lastmile.BatchResult) error {
	if len(results) == 1 {
		return errors.New("the disk failed")
	}
	return u.Tx.AddResults(ctx, org, id, from, results)
}

func TestBatchFailsAfterLastAttempt(t *testing.T) {
	onBatchEngines(t, func(t *testing.T, w *batchTest) {
		id := w.submit(t, "hopeless", 3)
		w.setFailures(t, id, 9)
		w.run(t, failingStore{w.Batches.Store}, nil, func() bool { return !w.jobsLeft(t) })
		b := w.batch(t, id)
		if b.Status() != lastmile.BatchFailed || b.TasksCreated() != 0 || w.tasks(t, "hopeless") != 0 || w.endEvents(t, id) != 1 {
			t.Errorf("the batch is %s with %d of %d tasks and %d end events", b.Status(), b.TasksCreated(), w.tasks(t, "hopeless"), w.endEvents(t, id))
		}
		if slices.ContainsFunc(b.Results, func(r lastmile.BatchResult) bool {
			return r.Err == nil || r.Err.Code != lastmile.CodeInternal || r.Sent == nil
		}) {
			t.Errorf("the results are %+v", b.Results)
		}
	})
}

// chunkStore records how many results each transaction saves.
type chunkStore struct {
	taskflow.BatchStore
	sizes *[]int
}

func (s chunkStore) Write(ctx context.Context, fn func(taskflow.BatchWriter) error) error {
	return s.BatchStore.Write(ctx, func(w taskflow.BatchWriter) error { return fn(chunkWriter{w.(*sqlstore.Tx), s.sizes}) })
}

type chunkWriter struct {
	*sqlstore.Tx
	sizes *[]int
}

func (w chunkWriter) AddResults(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, from int, results []lastmile.BatchResult) error {
	*w.sizes = append(*w.sizes, len(results))
	return w.Tx.AddResults(ctx, org, id, from, results)
}

// TestBatchIsTriedAgainInSmallChunks stops a batch without a failure, as when its
// transaction takes longer than the lease.
func TestBatchIsTriedAgainInSmallChunks(t *testing.T) {
	onBatchEngines(t, func(t *testing.T, w *batchTest) {
		id := w.submit(t, "slow", 120)
		w.setFailures(t, id, 0)
		var sizes []int
		w.run(t, chunkStore{w.Batches.Store, &sizes}, nil, func() bool { return !w.jobsLeft(t) })
		if made := w.tasks(t, "slow"); made != 120 || slices.Max(sizes) > 50 {
			t.Errorf("%d tasks were created in chunks of %v", made, sizes)
		}
	})
}

func TestConcurrentBatchesShareRecipients(t *testing.T) {
	onBatchEngines(t, func(t *testing.T, w *batchTest) {
		var ids []lastmile.BatchID
		for i := range 4 {
			ids = append(ids, w.submit(t, fmt.Sprint("batch ", i), 200)) // the same 200 phone numbers each
		}
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() { w.run(t, w.Batches.Store, nil, func() bool { return !w.jobsLeft(t) }) })
		}
		group.Wait()
		for i, id := range ids {
			if b := w.batch(t, id); b.Status() != lastmile.BatchSucceeded || w.tasks(t, fmt.Sprint("batch ", i)) != 200 {
				t.Errorf("batch %d is %s with %d tasks", i, b.Status(), w.tasks(t, fmt.Sprint("batch ", i)))
			}
		}
		known := 0
		err := w.Store.Read(t.Context(), func(r *sqlstore.Tx) error {
			found, err := r.Recipients(t.Context(), w.who.Organization, store.RecipientFilter{})
			known = len(found)
			return err
		})
		if err != nil || known != 200 {
			t.Errorf("%d recipients with 200 phone numbers: %v", known, err)
		}
	})
}
