package sqlstore

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
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/store/engine/enginetest"
)

// together reads with statements that take a second, and records the ids of each.
type together struct {
	sharedReads
	mu         sync.Mutex
	statements [][]string
	err        error
}

func (r *together) run(ctx context.Context, of recordSet, ids []string) (map[string][]byte, error) {
	time.Sleep(time.Second)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements = append(r.statements, slices.Clone(ids))
	docs := map[string][]byte{}
	for _, id := range ids {
		if id != "unknown" {
			docs[id] = []byte(docOf(of, id))
		}
	}
	return docs, errors.Join(r.err, ctx.Err())
}

// acme is a set of records.
var acme = recordSet{store.Tasks, "acme"}

func docOf(of recordSet, id string) string { return fmt.Sprint(of, id) }

func TestReadsOfASetAreCombined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r together
		for _, of := range []recordSet{acme, {store.Tasks, "other"}, {store.Recipients, "acme"}} {
			for n := range 40 {
				go func() {
					id := fmt.Sprint(n)
					if doc, err := r.read(t.Context(), of, id, r.run); err != nil || string(doc) != docOf(of, id) {
						t.Errorf("read %s of %v: %q, %v", id, of, doc, err)
					}
				}()
				synctest.Wait()
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		var sizes []int
		for _, ids := range r.statements {
			sizes = append(sizes, len(ids))
		}
		slices.Sort(sizes)
		if want := []int{1, 1, 1, 1, 1, 1, 6, 6, 6, mostTogether, mostTogether, mostTogether}; !slices.Equal(sizes, want) {
			t.Errorf("statements for %v records, want %v", sizes, want)
		}
		if len(r.queues) != 0 {
			t.Errorf("%d queues are left", len(r.queues))
		}
	})
}

func TestAReadThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r together
		ctx, giveUp := context.WithCancel(t.Context())
		read := func(ctx context.Context, id string) {
			doc, err := r.read(ctx, acme, id, r.run)
			if given := ctx.Err() != nil; !given && (err != nil || string(doc) != docOf(acme, id)) {
				t.Errorf("read %s: %q, %v", id, doc, err)
			}
		}
		for n := range 6 {
			of := ctx // of those that run and of those that wait
			if n%2 == 1 {
				of = t.Context()
			}
			go read(of, fmt.Sprint(n))
			synctest.Wait()
		}
		giveUp()
		time.Sleep(time.Minute)
		synctest.Wait()
		go read(t.Context(), "later")
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(r.queues) != 0 {
			t.Errorf("%d queues are left", len(r.queues))
		}
		for _, ids := range r.statements {
			if slices.Contains(ids, "2") || slices.Contains(ids, "4") {
				t.Errorf("%v were read although 2 and 4 were given up", ids)
			}
		}
	})
}

func TestErrorsOfCombinedReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r together
		if doc, err := r.read(t.Context(), acme, "unknown", r.run); doc != nil || err != nil {
			t.Errorf("an unknown record: %q, %v", doc, err)
		}
		r.err = errors.New("no database")
		var failed atomic.Int32
		for n := range 10 {
			go func() {
				if _, err := r.read(t.Context(), acme, fmt.Sprint(n), r.run); errors.Is(err, r.err) {
					failed.Add(1)
				}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if failed.Load() != 10 || len(r.queues) != 0 {
			t.Errorf("%d of 10 reads failed, %d queues are left", failed.Load(), len(r.queues))
		}
	})
}

// TestSharedReadsDoNotWaitForever has a database that hangs, so that each statement ends after
// its time limit only.
func TestSharedReadsDoNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r sharedReads
		hang := func(context.Context, recordSet, []string) (map[string][]byte, error) {
			time.Sleep(20 * time.Second)
			return nil, errors.New("no database")
		}
		const limit = mostReading + mostWaiting
		begun := time.Now()
		var rejected atomic.Int32
		for range limit + 1 {
			go func() {
				_, err := r.read(t.Context(), acme, "t", hang)
				if took := time.Since(begun); err == nil || took > readPatience+20*time.Second {
					t.Errorf("a read ended after %v: %v", took, err)
				} else if e, ok := errors.AsType[*lastmile.Error](err); ok && e.Code == lastmile.CodeOverloaded {
					rejected.Add(1)
				}
			}()
			synctest.Wait()
		}
		if rejected.Load() != 1 {
			t.Errorf("%d reads were rejected at once, want the last one", rejected.Load())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if rejected.Load() != limit+1-mostReading || len(r.queues) != 0 {
			t.Errorf("%d of %d reads were rejected, %d queues are left", rejected.Load(), limit+1, len(r.queues))
		}
	})
}

func TestACombinedReadThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r together
		var failed, panicked atomic.Int32
		for n := range 6 { // two read, and one of the others reads two or three more
			go func() {
				defer func() {
					if recover() != nil {
						panicked.Add(1)
					}
				}()
				_, err := r.read(t.Context(), acme, fmt.Sprint(n), func(ctx context.Context, of recordSet, ids []string) (map[string][]byte, error) {
					if len(ids) > 1 {
						panic("broken")
					}
					return r.run(ctx, of, ids)
				})
				if err != nil && !errors.Is(err, context.Canceled) {
					failed.Add(1)
				}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if f := failed.Load(); f < 2 || f > 3 || panicked.Load() != 1 || len(r.queues) != 0 {
			t.Errorf("%d reads failed and %d panicked, want 2 or 3 and 1; %d queues are left", f, panicked.Load(), len(r.queues))
		}
	})
}

// withRecipients returns a store on PostgreSQL with recipients, of which the server has no
// statistics, and their ids.
func withRecipients(t *testing.T, n int) (s *Store, ids []string) {
	s, err := Open(t.Context(), Options{Database: enginetest.Postgres(t), Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for k := range n {
		ids = append(ids, fmt.Sprintf("r%023d", k))
	}
	err = s.Write(t.Context(), func(w *Tx) error {
		for _, id := range ids {
			person := lastmile.Recipient{ID: lastmile.RecipientID(id), Organization: "acme", Name: id, Phone: lastmile.Phone(id)}
			if err := w.SaveRecipient(t.Context(), person); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, ids
}

func TestSeveralRecordsAreReadByTheirKeys(t *testing.T) {
	s, ids := withRecipients(t, 1000)
	for _, n := range []int{1, 2, 15, mostTogether} {
		query, args := shown[store.Recipients].of("acme", ids[:n])
		var plan []string
		err := s.engine.Read(t.Context(), func(c engine.Conn) (err error) {
			plan, err = engine.Collect(t.Context(), c, scanID[string], `EXPLAIN `+query, args...)
			return err
		})
		if whole := strings.Join(plan, "\n"); err != nil || !strings.Contains(whole, "recipient_pkey") || strings.Contains(whole, "Filter") {
			t.Errorf("the plan for %d recipients is\n%s\n%v", n, whole, err)
		}
	}
}

// TestCombinedReadsWhoseConnectionsBreak also has callers who give up. No record may seem to be
// missing, and no caller may fail because another one gave up.
func TestCombinedReadsWhoseConnectionsBreak(t *testing.T) {
	s, ids := withRecipients(t, 100)
	var (
		all           sync.WaitGroup
		ended         atomic.Bool
		shown, broken atomic.Int64
	)
	for n := range 48 {
		all.Go(func() {
			for k := n; !ended.Load(); k += 7 {
				id, givesUp := ids[k%len(ids)], k%5 == 0
				ctx, giveUp := context.WithCancel(t.Context())
				if givesUp {
					time.AfterFunc(time.Duration(k%900)*time.Microsecond, giveUp)
				}
				doc, err := s.Show(ctx, store.Recipients, "acme", id)
				giveUp()
				switch {
				case err == nil && strings.Contains(string(doc), `"id":"`+id+`"`):
					shown.Add(1)
				case err == nil || lastmile.IsNotFound(err) || errors.Is(err, context.Canceled) && !givesUp:
					t.Errorf("%s is shown as %s: %v", id, doc, err)
				case !givesUp:
					broken.Add(1)
				}
			}
		})
	}
	for range 20 {
		time.Sleep(20 * time.Millisecond)
		err := s.engine.Direct(t.Context(), func(c engine.Conn) error {
			var n int64
			return c.Row(t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&n)
		})
		if err != nil {
			t.Log(err) // its connection was about to break
		}
	}
	ended.Store(true)
	all.Wait()
	if len(s.reads.queues) != 0 || shown.Load() == 0 || broken.Load() == 0 {
		t.Errorf("%d queues are left; %d records were shown, %d reads broke", len(s.reads.queues), shown.Load(), broken.Load())
	}
}
