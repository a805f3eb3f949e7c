package work_test

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
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/textmessage"
	"dray/internal/work"
)

const sweep work.Kind = "sweep"

// Store is a database.
type Store = store.Transactor[*sqlstore.Tx, *sqlstore.Tx]

type loop = work.Loop[*sqlstore.Tx, *sqlstore.Tx]

// handler is the type of Loop.Do.
type handler = func(ctx context.Context, l *work.Lease) (work.End[*sqlstore.Tx], error)

func clock() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// afterwards returns a time at which every lease that is not renewed has expired.
func afterwards() time.Time { return clock().Add(time.Hour) }

func openStore(t *testing.T, o sqlstore.Options) *sqlstore.Store {
	t.Helper()
	o.Now, o.Logger, o.Patience = clock, slog.New(slog.DiscardHandler), time.Minute
	s, err := sqlstore.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// onEngines runs a test on each database.
func onEngines(t *testing.T, test func(t *testing.T, s Store)) {
	t.Run("sqlite", func(t *testing.T) { test(t, openStore(t, sqlstore.Options{Data: storetest.Folder(t), Serve: true})) })
	t.Run("postgres", func(t *testing.T) { test(t, openStore(t, sqlstore.Options{Database: storetest.Postgres(t)})) })
}

func organization(name string) lastmile.OrganizationID {
	return lastmile.OrganizationID((name + "000000000000000000000000")[:lastmile.IDLength])
}

// add adds jobs of an organization.
func add(t *testing.T, s Store, org string, ids ...string) {
	t.Helper()
	err := s.Write(t.Context(), func(w *sqlstore.Tx) error {
		for _, id := range ids {
			job := work.Job{Organization: organization(org), ID: id, Kind: sweep, Due: clock(), Created: clock()}
			if err := w.AddJob(t.Context(), job); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// addEffect writes an effect that can be counted: a text message.
func addEffect(ctx context.Context, w *sqlstore.Tx, org lastmile.OrganizationID, id string) error {
	return w.SaveMessage(ctx, textmessage.Message{ID: lastmile.MessageID(id), Organization: org, To: "+12125550100", Body: id, Created: clock()})
}

// effects returns the ids of all effects.
func effects(t *testing.T, s Store) (ids []string) {
	t.Helper()
	err := s.Read(context.WithoutCancel(t.Context()), func(r *sqlstore.Tx) error {
		found, err := r.Messages(t.Context(), textmessage.Filter{})
		ids = nil
		for _, m := range found {
			ids = append(ids, string(m.ID))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	return ids
}

func left(t *testing.T, s Store) (n int) {
	t.Helper()
	err := s.Read(t.Context(), func(r *sqlstore.Tx) error {
		b, err := r.WorkBacklog(t.Context(), sweep, clock())
		n = b.Waiting
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// newLoop returns a loop whose leases outlast a slow machine.
func newLoop(s Store, do handler) *loop {
	return &loop{
		Kind: sweep, Store: s, Do: do, Limits: work.Limits{Total: 4, PerOrganization: 2}, LeaseFor: time.Minute,
		Retry: work.Retry{Failures: 10, Attempts: 200},
		Now:   clock, NewID: newID, Log: slog.New(slog.DiscardHandler),
	}
}

var ids atomic.Int64

func newID() string { return fmt.Sprint("token", ids.Add(1)) }

// until waits until a condition holds.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after a minute: %s", what)
		}
	}
}

func TestJobEndsWithLastEffect(t *testing.T) {
	onEngines(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "one", "two")
		r := newLoop(s, func(ctx context.Context, job *work.Lease) (work.End[*sqlstore.Tx], error) {
			return func(ctx context.Context, w *sqlstore.Tx) error { return addEffect(ctx, w, job.Organization, job.ID) }, nil
		})
		storetest.During(t, func() { until(t, "no job is left", func() bool { return left(t, s) == 0 }) }, r)
		if got := effects(t, s); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("the effects are %v", got)
		}
	})
}

func TestOrganizationsTakeTurns(t *testing.T) {
	onEngines(t, func(t *testing.T, s Store) {
		for i := range 60 {
			add(t, s, "acme", fmt.Sprintf("a%02d", i))
		}
		add(t, s, "boreal", "b")
		add(t, s, "zenith", "z")
		var (
			mu       sync.Mutex
			begun    []string
			at, most = map[lastmile.OrganizationID]int{}, 0
			two      = make(chan struct{}) // closed when two of one organization run
		)
		r := newLoop(s, func(ctx context.Context, job *work.Lease) (work.End[*sqlstore.Tx], error) {
			mu.Lock()
			begun = append(begun, job.ID)
			at[job.Organization]++
			if most = max(most, at[job.Organization]); most == 2 && at[job.Organization] == 2 {
				select {
				case <-two:
				default:
					close(two)
				}
			}
			mu.Unlock()
			if job.Organization == organization("acme") {
				select { // the first of them runs until there is a second
				case <-two:
				case <-ctx.Done():
				}
			}
			time.Sleep(5 * time.Millisecond)
			mu.Lock()
			at[job.Organization]--
			mu.Unlock()
			return nil, nil
		})
		storetest.During(t, func() { until(t, "no job is left", func() bool { return left(t, s) == 0 }) }, r)
		if b, z := slices.Index(begun, "b"), slices.Index(begun, "z"); b > 10 || z > 10 {
			t.Errorf("one job of each of two organizations came in position %d and %d after one with 60 jobs: %v", b+1, z+1, begun)
		}
		if most != 2 {
			t.Errorf("one organization had %d jobs running at once, want 2", most)
		}
		if len(begun) != 62 {
			t.Errorf("%d jobs were begun, of 62", len(begun))
		}
	})
}

func TestSeveralLoopsDoEachJobOnce(t *testing.T) {
	onEngines(t, func(t *testing.T, s Store) {
		var want []string
		for i := range 120 {
			id := fmt.Sprintf("job%03d", i)
			want = append(want, id)
			add(t, s, string(rune('a'+i%7)), id)
		}
		var begun atomic.Int64
		run := func(ctx context.Context, job *work.Lease) (work.End[*sqlstore.Tx], error) {
			begun.Add(1)
			return func(ctx context.Context, w *sqlstore.Tx) error { return addEffect(ctx, w, job.Organization, job.ID) }, nil
		}
		storetest.During(t, func() { until(t, "no job is left", func() bool { return left(t, s) == 0 }) },
			newLoop(s, run), newLoop(s, run), newLoop(s, run))
		if got := effects(t, s); !slices.Equal(got, want) {
			t.Errorf("%d effects of %d", len(got), len(want))
		}
		if begun.Load() != int64(len(want)) {
			t.Errorf("%d jobs were begun to do %d", begun.Load(), len(want))
		}
	})
}

func TestFencing(t *testing.T) {
	onEngines(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "job")
		frozen, thaw := make(chan struct{}), make(chan struct{})
		zombie := newLoop(s, func(ctx context.Context, job *work.Lease) (work.End[*sqlstore.Tx], error) {
			if job.Attempt > 1 {
				return nil, errors.New("the zombie claimed the job again")
			}
			close(frozen)
			<-thaw // ignoring ctx, like a frozen process
			ctx = context.WithoutCancel(ctx)
			err := s.Write(ctx, func(w *sqlstore.Tx) error {
				return errors.Join(job.Hold(ctx, w, clock()), addEffect(ctx, w, job.Organization, "a step of the zombie"))
			})
			if !errors.Is(err, work.ErrLost) {
				t.Errorf("the zombie's write: %v", err)
			}
			return func(ctx context.Context, w *sqlstore.Tx) error {
				return addEffect(ctx, w, job.Organization, "the end of the zombie")
			}, nil
		})
		// The loop is frozen too; otherwise it would renew the lease.
		zombie.Store = &freezingStore{Store: s, frozen: frozen, thaw: thaw}
		successor := newLoop(s, func(ctx context.Context, job *work.Lease) (work.End[*sqlstore.Tx], error) {
			return func(ctx context.Context, w *sqlstore.Tx) error {
				return addEffect(ctx, w, job.Organization, fmt.Sprint("attempt ", job.Attempt))
			}, nil
		})
		successor.Now = afterwards
		storetest.During(t, func() {
			<-frozen
			storetest.During(t, func() { until(t, "the job is done", func() bool { return left(t, s) == 0 }) }, successor)
			close(thaw)
		}, zombie)
		if got := effects(t, s); !slices.Equal(got, []string{"attempt 2"}) {
			t.Errorf("the effects are %q", got)
		}
	})
}

// freezingStore is the store of a process that is frozen for a while.
type freezingStore struct {
	Store
	frozen, thaw chan struct{}
}

func (s *freezingStore) Write(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	select {
	case <-s.frozen:
		<-s.thaw
	default:
	}
	return s.Store.Write(ctx, fn)
}

// crashingStore is the store of a process that crashes right before its nth write,
// or right after the commit, before the process learns of it.
type crashingStore struct {
	Store
	writesLeft atomic.Int64
	after      bool
	dead       chan struct{}
}

var errDead = errors.New("the process is dead")

func (m *crashingStore) Read(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	select {
	case <-m.dead:
		return errDead
	default:
		return m.Store.Read(ctx, fn)
	}
}

func (m *crashingStore) Write(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	n := m.writesLeft.Add(-1)
	if n < 0 || n == 0 && !m.after {
		m.die()
		return errDead
	}
	err := m.Store.Write(ctx, fn)
	if n == 0 {
		m.die()
		return errDead
	}
	return err
}

func (m *crashingStore) die() {
	select {
	case <-m.dead:
	default:
		close(m.dead)
	}
}

func TestJobSurvivesCrashes(t *testing.T) {
	steps := []string{"step 1", "step 2", "step 3", "the end"}
	// Each step is a transaction that checks whether it was done before.
	steady := func(s Store, now func() time.Time) handler {
		return func(ctx context.Context, job *work.Lease) (work.End[*sqlstore.Tx], error) {
			for _, step := range steps[:3] {
				err := s.Write(ctx, func(w *sqlstore.Tx) error {
					if err := job.Hold(ctx, w, now()); err != nil {
						return err
					}
					done, err := w.Messages(ctx, textmessage.Filter{Organization: job.Organization})
					if err != nil || slices.ContainsFunc(done, func(m textmessage.Message) bool { return m.Body == step }) {
						return err
					}
					return addEffect(ctx, w, job.Organization, step)
				})
				if err != nil {
					return nil, err
				}
			}
			return func(ctx context.Context, w *sqlstore.Tx) error { return addEffect(ctx, w, job.Organization, steps[3]) }, nil
		}
	}
	onEngines(t, func(t *testing.T, s Store) {
		for writes := range int64(6) { // a claim, three steps, the end, and one more
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("write %d, after it: %v", writes+1, after), func(t *testing.T) {
					before := effects(t, s)
					add(t, s, fmt.Sprintf("o%d%v", writes, after), "job")
					dying := &crashingStore{Store: s, after: after, dead: make(chan struct{})}
					dying.writesLeft.Store(writes + 1)
					first := newLoop(dying, steady(dying, clock))
					storetest.During(t, func() {
						until(t, "the process is dead, or has nothing to do", func() bool {
							select {
							case <-dying.dead:
								return true
							default:
								return left(t, s) == 0
							}
						})
					}, first)
					successor := newLoop(s, steady(s, afterwards))
					successor.Now = afterwards
					storetest.During(t, func() { until(t, "the job is done", func() bool { return left(t, s) == 0 }) }, successor)
					want := slices.Sorted(slices.Values(slices.Concat(before, steps)))
					if got := effects(t, s); !slices.Equal(got, want) {
						t.Errorf("the effects are %q", got)
					}
				})
			}
		}
	})
}

// inBubble runs a test in a synctest bubble, on SQLite.
func inBubble(t *testing.T, test func(t *testing.T, s Store)) {
	folder := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) { test(t, openStore(t, sqlstore.Options{Data: folder, Serve: true})) })
}

func TestRetryAndGiveUp(t *testing.T) {
	for name, fail := range map[string]func() error{
		"an error": func() error { return errors.New("broken") },
		"a panic":  func() error { panic("broken") },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s Store) {
				add(t, s, "acme", "job")
				var (
					log    strings.Builder
					begun  = time.Now()
					tried  []time.Duration
					last   []bool
					ending atomic.Int64
				)
				r := newLoop(s, nil)
				r.Log = slog.New(slog.NewTextHandler(&log, nil))
				r.Do = func(_ context.Context, job *work.Lease) (work.End[*sqlstore.Tx], error) {
					tried, last = append(tried, time.Since(begun)), append(last, job.Last)
					return nil, fail()
				}
				r.GiveUp = func(ctx context.Context, w *sqlstore.Tx, item work.Item) error {
					if ending.Add(1) == 1 {
						return errors.New("not even that works")
					}
					return addEffect(ctx, w, item.Organization, "given up")
				}
				storetest.During(t, func() { time.Sleep(10 * time.Minute) }, r)
				if len(tried) != 10 || slices.Index(last, true) != 9 {
					t.Errorf("tried after %v; the last: %v", tried, last)
				}
				for i := 1; i < len(tried); i++ {
					wait, least := tried[i]-tried[i-1], 250*time.Millisecond<<(i-1)
					if least = min(least, time.Minute); wait < least || wait > least+3*time.Second {
						t.Errorf("failure %d was followed by %v, want %v or a little more", i, wait, least)
					}
				}
				if got := effects(t, s); !slices.Equal(got, []string{"given up"}) || left(t, s) != 0 {
					t.Errorf("%q, and %d jobs are left", got, left(t, s))
				}
				if !strings.Contains(log.String(), "work is given up") || !strings.Contains(log.String(), "broken") {
					t.Errorf("the log does not say so: %s", log.String())
				}
			})
		})
	}
}

// TestReasonsCanBeStored has errors that quote responses of other servers.
func TestReasonsCanBeStored(t *testing.T) {
	onEngines(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "legible", "latin1", "nul", "long")
		errs := map[string]string{"legible": "broken", "latin1": "550 Empf\xe4nger", "nul": "550 \x00", "long": strings.Repeat("x", 1<<20)}
		r := newLoop(s, func(_ context.Context, job *work.Lease) (work.End[*sqlstore.Tx], error) {
			return nil, errors.New(errs[job.ID])
		})
		r.Retry = work.Retry{Failures: 2, First: time.Millisecond}
		r.GiveUp = func(ctx context.Context, w *sqlstore.Tx, item work.Item) error {
			return addEffect(ctx, w, item.Organization, item.ID)
		}
		storetest.During(t, func() { until(t, "all jobs are given up", func() bool { return len(effects(t, s)) == len(errs) }) }, r)
	})
}

func TestWake(t *testing.T) {
	inBubble(t, func(t *testing.T, s Store) {
		begun := make(chan time.Time, 1)
		r := newLoop(s, func(context.Context, *work.Lease) (work.End[*sqlstore.Tx], error) {
			begun <- time.Now()
			return nil, nil
		})
		wake := make(chan struct{}, 1)
		r.LeaseFor, r.Wake = 0, wake
		storetest.During(t, func() {
			time.Sleep(time.Minute + time.Millisecond) // idle
			add(t, s, "acme", "woken")
			added := time.Now()
			wake <- struct{}{}
			if waited := (<-begun).Sub(added); waited != 0 {
				t.Errorf("a job waited %v although the loop was woken", waited)
			}
			time.Sleep(time.Minute)
			add(t, s, "acme", "found")
			added = time.Now()
			if waited := (<-begun).Sub(added); waited > 2*time.Second {
				t.Errorf("a job waited %v until polling found it", waited)
			}
		}, r)
	})
}

func TestStopReleasesLeases(t *testing.T) {
	onEngines(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "job")
		begun := make(chan struct{})
		r := newLoop(s, func(ctx context.Context, _ *work.Lease) (work.End[*sqlstore.Tx], error) {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		r.LeaseFor = time.Hour
		storetest.During(t, func() { <-begun }, r)
		err := s.Read(t.Context(), func(read *sqlstore.Tx) error {
			due, err := read.DueWork(t.Context(), work.Query{Kind: sweep, Now: clock(), Until: clock(), PerOrganization: 1, Limit: 1})
			if err == nil && (len(due) != 1 || due[0].Failures != 0) {
				err = fmt.Errorf("due are %+v", due)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestAloneResetsLeases(t *testing.T) {
	onEngines(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "job")
		err := s.Write(t.Context(), func(w *sqlstore.Tx) error {
			return claim(t.Context(), w, "dead", clock().Add(work.MaxLease))
		})
		if err != nil {
			t.Fatal(err)
		}
		r := newLoop(s, func(context.Context, *work.Lease) (work.End[*sqlstore.Tx], error) { return nil, nil })
		r.Alone = true
		storetest.During(t, func() { until(t, "the job is done", func() bool { return left(t, s) == 0 }) }, r)
	})
}

func TestLeasesAreRenewed(t *testing.T) {
	inBubble(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "job")
		var begun atomic.Int64
		run := func(context.Context, *work.Lease) (work.End[*sqlstore.Tx], error) {
			begun.Add(1)
			time.Sleep(30 * time.Second)
			return nil, nil
		}
		one, two := newLoop(s, run), newLoop(s, run)
		one.LeaseFor, two.LeaseFor = time.Second, time.Second
		storetest.During(t, func() { until(t, "the job is done", func() bool { return left(t, s) == 0 }) }, one, two)
		if begun.Load() != 1 {
			t.Errorf("a job that was running was begun %d times", begun.Load())
		}
	})
}

func TestAttemptsAreLimited(t *testing.T) {
	onEngines(t, func(t *testing.T, s Store) {
		add(t, s, "acme", "job")
		for range 200 {
			err := s.Write(t.Context(), func(w *sqlstore.Tx) error {
				return claim(t.Context(), w, newID(), clock().Add(-time.Millisecond))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		r := newLoop(s, func(context.Context, *work.Lease) (work.End[*sqlstore.Tx], error) {
			t.Error("it was tried once more")
			return nil, nil
		})
		storetest.During(t, func() { until(t, "the job is given up", func() bool { return left(t, s) == 0 }) }, r)
	})
}

// claim leases acme's one job.
func claim(ctx context.Context, w *sqlstore.Tx, token string, until time.Time) error {
	item := work.Item{Kind: sweep, Organization: organization("acme"), ID: "job", Lease: token}
	ok, err := w.ClaimWork(ctx, item, clock(), until)
	if err == nil && !ok {
		err = errors.New("the job could not be leased")
	}
	return err
}
