package work_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/work"
)

// flakyStore fails while broken is set.
type flakyStore struct {
	Store
	broken atomic.Bool
}

var errBroken = errors.New("the database is down")

func (u *flakyStore) Read(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	if u.broken.Load() {
		return errBroken
	}
	return u.Store.Read(ctx, fn)
}

func (u *flakyStore) Write(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	if u.broken.Load() {
		return errBroken
	}
	return u.Store.Write(ctx, fn)
}

// workday runs loops over simulated days. Its clock may jump, and the loops may be
// restarted and killed.
type workday struct {
	t    *testing.T
	db   *flakyStore
	jump atomic.Int64 // error of the clock

	alone bool
	added int

	slots   slots
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// slots is an Admission that checks that Done is called once for each admitted
// item.
type slots struct {
	t     *testing.T
	mu    sync.Mutex
	taken map[string]int // by id; each loop may admit an item once
}

func (s *slots) Admit(item work.Item) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.taken) >= 8 {
		return false
	}
	s.taken[item.ID]++
	return true
}

func (s *slots) Done(item work.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[item.ID]--; s.taken[item.ID] < 0 {
		s.t.Errorf("%s was done and never admitted", item.ID)
	}
	if s.taken[item.ID] == 0 {
		delete(s.taken, item.ID)
	}
}

func (d *workday) now() time.Time { return clock().Add(time.Duration(d.jump.Load())) }

func (d *workday) start() {
	ctx, cancel := context.WithCancel(d.t.Context())
	d.cancel = cancel
	for range 2 {
		l := newLoop(d.db, func(ctx context.Context, l *work.Lease) (work.End[*sqlstore.Tx], error) {
			select { // some handlers run longer than a lease lasts
			case <-time.After(time.Duration(rand.IntN(5000)) * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return func(context.Context, *sqlstore.Tx) error { return nil }, nil
		})
		l.LeaseFor, l.Now, l.Alone, l.Poll.Idle, l.Admission = 3*time.Second, d.now, d.alone, 5*time.Second, &d.slots
		d.running.Go(func() { l.Run(ctx) })
		if d.alone {
			return
		}
	}
}

func (d *workday) stop() {
	d.cancel()
	d.running.Wait()
}

func (d *workday) add(n int) {
	for range n {
		d.added++
		add(d.t, d.db.Store, string(rune('a'+d.added%5)), fmt.Sprintf("job%05d", d.added))
	}
}

// awaitDone checks that all work is done soon, and that no lease is left.
func (d *workday) awaitDone(after string) {
	d.t.Helper()
	const within = time.Minute
	for deadline := time.Now().Add(within); ; time.Sleep(time.Second) {
		var left work.Backlog
		err := d.db.Store.Read(d.t.Context(), func(r *sqlstore.Tx) (err error) {
			left, err = r.WorkBacklog(d.t.Context(), sweep, d.now())
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
		if left == (work.Backlog{}) {
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("%v after %s there is still %+v", within, after, left)
		}
	}
}

// TestNoLeaseOutlivesItsHolder runs loops for days, with idle nights, restarts,
// kills, a clock that jumps and a database that fails for a while.
func TestNoLeaseOutlivesItsHolder(t *testing.T) {
	for _, alone := range []bool{true, false} {
		t.Run(fmt.Sprint("alone ", alone), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s Store) {
				d := &workday{t: t, db: &flakyStore{Store: s}, alone: alone, slots: slots{t: t, taken: map[string]int{}}}
				d.start()
				for day := range 3 {
					d.add(20)
					d.awaitDone("work in the morning")

					d.add(10)
					time.Sleep(time.Second)
					d.db.broken.Store(true)
					time.Sleep(time.Minute)
					d.db.broken.Store(false)
					d.awaitDone("the database was down")

					d.add(10)
					time.Sleep(time.Second)
					d.stop() // while handlers run
					d.start()
					d.awaitDone("a restart")

					d.add(10)
					time.Sleep(time.Second)
					d.jump.Add(int64(2 * time.Hour))
					d.awaitDone("the clock went forward")

					d.add(10)
					time.Sleep(time.Second)
					d.db.broken.Store(true) // like a kill: leases are not released
					d.stop()
					d.db.broken.Store(false)
					d.start()
					d.awaitDone("a kill")

					d.add(10)
					time.Sleep(time.Second)
					d.db.broken.Store(true)
					d.stop()
					d.db.broken.Store(false)
					d.jump.Add(-int64(2 * time.Hour)) // the leases now seem to last for hours
					d.start()
					d.awaitDone("a kill and a clock that went back")

					if day < 2 {
						time.Sleep(12 * time.Hour)
					}
				}
				d.stop()
				if len(d.slots.taken) > 0 {
					t.Errorf("admitted and never done: %v", d.slots.taken)
				}
			})
		})
	}
}

func TestHandlerStopsWhenLeaseExpires(t *testing.T) {
	inBubble(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "job")
		db := &flakyStore{Store: s}
		var stopped atomic.Int64
		l := newLoop(db, func(ctx context.Context, l *work.Lease) (work.End[*sqlstore.Tx], error) {
			if l.Attempt > 1 {
				return nil, nil
			}
			db.broken.Store(true)
			begun := time.Now()
			<-ctx.Done()
			stopped.Store(int64(time.Since(begun)))
			return nil, ctx.Err()
		})
		l.LeaseFor = 3 * time.Second
		storetest.During(t, func() {
			time.Sleep(10 * time.Second)
			db.broken.Store(false)
			time.Sleep(10 * time.Second)
		}, l)
		if took := time.Duration(stopped.Load()); took != 3*time.Second {
			t.Errorf("the handler was stopped after %v", took)
		}
		if n := left(t, s); n != 0 {
			t.Errorf("%d items are left", n)
		}
	})
}

func TestOfferNeedsNoPoll(t *testing.T) {
	inBubble(t, func(t *testing.T, s Store) {
		begun := make(chan time.Time, 1)
		l := newLoop(s, func(context.Context, *work.Lease) (work.End[*sqlstore.Tx], error) {
			begun <- time.Now()
			return nil, nil
		})
		l.Poll = work.Poll{Soon: time.Hour, Idle: time.Hour}
		storetest.During(t, func() {
			time.Sleep(time.Minute)
			add(t, s, "acme", "job")
			added := time.Now()
			l.Offer(work.Item{Organization: organization("acme"), ID: "job"}, work.Item{Organization: organization("acme"), ID: "none"})
			if waited := (<-begun).Sub(added); waited != 0 {
				t.Errorf("an offered item waited %v", waited)
			}
		}, l)
		if n := left(t, s); n != 0 {
			t.Errorf("%d items are left", n)
		}
	})
}

func TestPrepare(t *testing.T) {
	inBubble(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "done", "run")
		var ran atomic.Int64
		l := newLoop(s, func(_ context.Context, l *work.Lease) (work.End[*sqlstore.Tx], error) {
			ran.Add(1)
			if l.ID != "run" || l.Value != "prepared" {
				t.Errorf("%s ran", l.ID)
			}
			return nil, nil
		})
		l.Prepare = func(ctx context.Context, w *sqlstore.Tx, items []*work.Prepared) error {
			for _, item := range items {
				if item.ID == "run" {
					item.Value = "prepared"
					continue
				}
				item.Done = true
				if err := addEffect(ctx, w, item.Organization, item.ID); err != nil {
					return err
				}
			}
			return nil
		}
		var finished []string
		l.Finished = func(p *work.Prepared) { finished = append(finished, p.ID) }
		n, err := l.RunDue(t.Context())
		if n != 2 || err != nil || ran.Load() != 1 || len(finished) != 1 || left(t, s) != 0 || len(effects(t, s)) != 1 {
			t.Errorf("%d were done, %d of them run, with %d effects; %d are left: %v", n, ran.Load(), len(effects(t, s)), left(t, s), err)
		}
	})
}

// lostAckStore returns an error for its first write although that is committed.
type lostAckStore struct {
	Store
	writes atomic.Int64
}

func (d *lostAckStore) Write(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	err := d.Store.Write(ctx, fn)
	if d.writes.Add(1) == 1 {
		return errors.Join(err, errBroken)
	}
	return err
}

func TestUncertainClaimIsReleased(t *testing.T) {
	inBubble(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "job")
		begun := make(chan time.Time, 1)
		l := newLoop(&lostAckStore{Store: s}, func(context.Context, *work.Lease) (work.End[*sqlstore.Tx], error) {
			begun <- time.Now()
			return nil, nil
		})
		start := time.Now()
		storetest.During(t, func() {
			if waited := (<-begun).Sub(start); waited > time.Second {
				t.Errorf("the item waited %v for a lease that no process had", waited)
			}
		}, l)
	})
}
