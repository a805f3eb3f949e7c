package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

func runCommits(t *testing.T, open func(t *testing.T) *sqlstore.Store) {
	t.Run("functions run after the commit, in order", func(t *testing.T) { testOnCommit(t, open(t)) })
	t.Run("no function runs after a failed write", func(t *testing.T) { testOnCommitFails(t, open(t)) })
	t.Run("a write that is run again begins without functions", func(t *testing.T) { testOnCommitAgain(t, open(t)) })
	t.Run("functions of a part that failed do not run", func(t *testing.T) { testOnCommitTry(t, open(t)) })
	t.Run("functions of concurrent writes run once each", func(t *testing.T) { testOnCommitConcurrent(t, open(t)) })
}

func testOnCommit(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	var ran []string
	write(t, s, func(w *sqlstore.Tx) error {
		for _, name := range []string{"first", "second", "third"} {
			w.OnCommit(func() {
				var found lastmile.Hub
				err := s.Read(ctx, func(r *sqlstore.Tx) (err error) {
					found, err = r.Hub(ctx, acme, id[lastmile.HubID]("h"))
					return err
				})
				ran = append(ran, fmt.Sprint(name, " ", found.Name, " ", err))
			})
		}
		return w.SaveHub(ctx, hub(acme, "h"))
	})
	same(t, "what ran, and what it saw", ran, []string{"first h <nil>", "second h <nil>", "third h <nil>"})
	write(t, s, func(*sqlstore.Tx) error { return nil })
	if len(ran) != 3 {
		t.Errorf("another write ran them again: %v", ran)
	}
}

func testOnCommitFails(t *testing.T, s *sqlstore.Store) {
	ran, rejected := 0, errors.New("rejected")
	err := s.Write(t.Context(), func(w *sqlstore.Tx) error {
		w.OnCommit(func() { ran++ })
		return errors.Join(w.SaveHub(t.Context(), hub(acme, "h")), rejected)
	})
	if !errors.Is(err, rejected) || ran != 0 {
		t.Errorf("failed with %v, and %d functions ran", err, ran)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = s.Write(ctx, func(w *sqlstore.Tx) error {
		w.OnCommit(func() { ran++ })
		return w.SaveHub(ctx, hub(acme, "h"))
	})
	if err == nil || ran != 0 {
		t.Errorf("given up with %v, and %d functions ran", err, ran)
	}
}

// testOnCommitAgain makes the first run fail on a unique key, after which both databases run
// the function again.
func testOnCommitAgain(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	e := lastmile.EventRecord{Event: happened(acme, "e1", workerCreated, 1), Order: 1, Body: []byte("{}")}
	write(t, s, func(w *sqlstore.Tx) error {
		_, err := w.InsertEvents(ctx, []lastmile.EventRecord{e})
		return err
	})
	var ran []int
	runs := 0
	write(t, s, func(w *sqlstore.Tx) error {
		runs++
		run := runs
		w.OnCommit(func() { ran = append(ran, run) })
		if run > 1 {
			e.ID = id[string]("e2")
		}
		_, err := w.InsertEvents(ctx, []lastmile.EventRecord{e})
		return err
	})
	same(t, "the runs whose functions ran", ran, []int{runs})
	if runs < 2 {
		t.Errorf("the function ran %d times, which proves nothing", runs)
	}
}

func testOnCommitTry(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	var ran []string
	write(t, s, func(w *sqlstore.Tx) error {
		ran = nil
		register := func(name string) { w.OnCommit(func() { ran = append(ran, name) }) }
		register("before")
		err := w.Try(ctx, func() error {
			register("kept")
			return w.SaveHub(ctx, hub(acme, "k"))
		})
		if err != nil {
			return err
		}
		rejected := errors.New("rejected")
		err = w.Try(ctx, func() error {
			register("undone")
			return errors.Join(w.SaveHub(ctx, hub(acme, "u")), rejected)
		})
		register("after")
		if !errors.Is(err, rejected) {
			return fmt.Errorf("the part ended with %w", err)
		}
		return nil
	})
	same(t, "what ran", ran, []string{"before", "kept", "after"})
}

func testOnCommitConcurrent(t *testing.T, s *sqlstore.Store) {
	const writers, each = 8, 20
	var (
		group sync.WaitGroup
		ran   [writers * each]atomic.Int64
	)
	rejected := errors.New("rejected")
	for i := range writers {
		group.Go(func() {
			for j := range each {
				nth := i*each + j
				err := s.Write(t.Context(), func(w *sqlstore.Tx) error {
					w.OnCommit(func() { ran[nth].Add(1) })
					if err := w.SaveHub(t.Context(), hub(zenith, fmt.Sprint("h", nth))); err != nil || nth%3 > 0 {
						return err
					}
					return rejected
				})
				if (nth%3 == 0) != errors.Is(err, rejected) {
					t.Errorf("write %d ended with %v", nth, err)
				}
			}
		})
	}
	group.Wait()
	for nth := range ran {
		if want := int64(min(nth%3, 1)); ran[nth].Load() != want {
			t.Errorf("the function of write %d ran %d times, want %d", nth, ran[nth].Load(), want)
		}
	}
}
