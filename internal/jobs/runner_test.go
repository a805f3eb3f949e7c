package jobs_test

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

	"dray/internal/jobs"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/textmessage"
)

const sweep jobs.Kind = "sweep"

func clock() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// afterwards is when every claim that is not renewed has ended.
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

// onBoth runs a test on both databases.
func onBoth(t *testing.T, test func(t *testing.T, s store.Store)) {
	t.Run("sqlite", func(t *testing.T) { test(t, openStore(t, sqlstore.Options{Data: t.TempDir(), Serve: true})) })
	t.Run("postgres", func(t *testing.T) { test(t, openStore(t, sqlstore.Options{Database: storetest.Postgres(t)})) })
}

func organization(name string) lastmile.OrganizationID {
	return lastmile.OrganizationID((name + "000000000000000000000000")[:lastmile.IDLength])
}

// add adds jobs of an organization, named by their ids.
func add(t *testing.T, s store.Store, org string, ids ...string) {
	t.Helper()
	err := s.Write(t.Context(), func(w store.Writer) error {
		for _, id := range ids {
			job := store.Job{Organization: organization(org), ID: id, Kind: sweep, RunAt: clock(), Created: clock()}
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

// note is an effect that can be counted: a text message.
func note(ctx context.Context, w store.Writer, org lastmile.OrganizationID, id string) error {
	return w.SaveMessage(ctx, textmessage.Message{ID: lastmile.MessageID(id), Organization: org, To: "+12125550100", Body: id, Created: clock()})
}

// notes lists the effects.
func notes(t *testing.T, s store.Store) (ids []string) {
	t.Helper()
	err := s.Read(context.WithoutCancel(t.Context()), func(r store.Reader) error {
		found, err := r.Messages(t.Context(), store.MessageFilter{})
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

func left(t *testing.T, s store.Store) (n int) {
	t.Helper()
	err := s.Read(t.Context(), func(r store.Reader) (err error) {
		n, err = r.JobsLeft(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// runner is a runner that keeps its claims, however slow the machine is.
func runner(s store.Store, run func(ctx context.Context, job store.Job) (func(store.Writer) error, error)) *jobs.Runner {
	return &jobs.Runner{
		Store: s, Now: clock, Log: slog.New(slog.DiscardHandler), Lease: time.Minute,
		Handlers: map[jobs.Kind]jobs.Handler{sweep: {Run: run}},
	}
}

// until waits for something to become true.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !true(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a minute and not yet: %s", what)
		}
	}
}

func TestAJobEndsWithItsLastEffect(t *testing.T) {
	onBoth(t, func(t *testing.T, s store.Store) {
		add(t, s, "acme", "one", "two")
		r := runner(s, func(ctx context.Context, job store.Job) (func(store.Writer) error, error) {
			return func(w store.Writer) error { return note(ctx, w, job.Organization, job.ID) }, nil
		})
		storetest.During(t, func() { until(t, "no job is left", func() bool { return left(t, s) == 0 }) }, r)
		if got := notes(t, s); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("the effects are %v", got)
		}
	})
}

func TestOneOrganizationDoesNotKeepTheOthersWaiting(t *testing.T) {
	onBoth(t, func(t *testing.T, s store.Store) {
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
		r := runner(s, func(ctx context.Context, job store.Job) (func(store.Writer) error, error) {
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
			t.Errorf("one job of each of two organizations came %d. and %d. after one that has 60: %v", b+1, z+1, begun)
		}
		if most != 2 {
			t.Errorf("one organization had %d jobs running at once, want 2", most)
		}
		if len(begun) != 62 {
			t.Errorf("%d jobs were begun, of 62", len(begun))
		}
	})
}

func TestSeveralRunnersDoEachJobOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, s store.Store) {
		var want []string
		for i := range 120 {
			id := fmt.Sprintf("job%03d", i)
			want = append(want, id)
			add(t, s, string(rune('a'+i%7)), id)
		}
		var begun atomic.Int64
		run := func(ctx context.Context, job store.Job) (func(store.Writer) error, error) {
			begun.Add(1)
			return func(w store.Writer) error { return note(ctx, w, job.Organization, job.ID) }, nil
		}
		storetest.During(t, func() { until(t, "no job is left", func() bool { return left(t, s) == 0 }) },
			runner(s, run), runner(s, run), runner(s, run))
		if got := notes(t, s); !slices.Equal(got, want) {
			t.Errorf("%d effects of %d", len(got), len(want))
		}
		if begun.Load() != int64(len(want)) {
			t.Errorf("%d jobs were begun to do %d", begun.Load(), len(want))
		}
	})
}

func TestAZombieWritesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, s store.Store) {
		add(t, s, "acme", "job")
		frozen, thaw := make(chan struct{}), make(chan struct{})
		zombie := runner(s, func(ctx context.Context, job store.Job) (func(store.Writer) error, error) {
			if job.Attempt > 1 {
				return nil, errors.New("the zombie claimed the job again")
			}
			close(frozen)
			<-thaw // without a look at ctx, as a process that is stopped
			ctx = context.WithoutCancel(ctx)
			err := s.Write(ctx, func(w store.Writer) error {
				return errors.Join(w.HoldJob(ctx, job, clock()), note(ctx, w, job.Organization, "a step of the zombie"))
			})
			if !errors.Is(err, store.ErrJobLost) {
				t.Errorf("the zombie's write: %v", err)
			}
			return func(w store.Writer) error { return note(ctx, w, job.Organization, "the end of the zombie") }, nil
		})
		// Its runner is frozen too: claims that were renewed would not end.
		zombie.Store = &stopped{Store: s, frozen: frozen, thaw: thaw}
		heir := runner(s, func(ctx context.Context, job store.Job) (func(store.Writer) error, error) {
			return func(w store.Writer) error { return note(ctx, w, job.Organization, fmt.Sprint("attempt ", job.Attempt)) }, nil
		})
		heir.Now = afterwards
		storetest.During(t, func() {
			<-frozen
			storetest.During(t, func() { until(t, "the job is done", func() bool { return left(t, s) == 0 }) }, heir)
			close(thaw)
		}, zombie)
		if got := notes(t, s); !slices.Equal(got, []string{"attempt 2"}) {
			t.Errorf("the effects are %q", got)
		}
	})
}

// stopped is a store whose runner is frozen for a while.
type stopped struct {
	store.Store
	frozen, thaw chan struct{}
}

func (s *stopped) Write(ctx context.Context, fn func(store.Writer) error) error {
	select {
	case <-s.frozen:
		<-s.thaw
	default:
	}
	return s.Store.Write(ctx, fn)
}

// mortal is the store of a process that dies: right before its nth write, or
// right after it, when nobody can tell any more that it was kept.
type mortal struct {
	store.Store
	lives atomic.Int64
	after bool
	dead  chan struct{}
}

var errDead = errors.New("the process is dead")

func (m *mortal) Read(ctx context.Context, fn func(store.Reader) error) error {
	select {
	case <-m.dead:
		return errDead
	default:
		return m.Store.Read(ctx, fn)
	}
}

func (m *mortal) Write(ctx context.Context, fn func(store.Writer) error) error {
	n := m.lives.Add(-1)
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

func (m *mortal) die() {
	select {
	case <-m.dead:
	default:
		close(m.dead)
	}
}

func TestAJobSurvivesACrashBetweenAnyTwoSteps(t *testing.T) {
	steps := []string{"step 1", "step 2", "step 3", "the end"}
	// Each step is a transaction that knows whether it was done before.
	work := func(s store.Store, now func() time.Time) func(ctx context.Context, job store.Job) (func(store.Writer) error, error) {
		return func(ctx context.Context, job store.Job) (func(store.Writer) error, error) {
			for _, step := range steps[:3] {
				err := s.Write(ctx, func(w store.Writer) error {
					if err := w.HoldJob(ctx, job, now()); err != nil {
						return err
					}
					done, err := w.Messages(ctx, store.MessageFilter{Organization: job.Organization})
					if err != nil || slices.ContainsFunc(done, func(m textmessage.Message) bool { return m.Body == step }) {
						return err
					}
					return note(ctx, w, job.Organization, step)
				})
				if err != nil {
					return nil, err
				}
			}
			return func(w store.Writer) error { return note(ctx, w, job.Organization, steps[3]) }, nil
		}
	}
	onBoth(t, func(t *testing.T, s store.Store) {
		for writes := range int64(6) { // a claim, three steps, the end, and one more
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("write %d, after it: %v", writes+1, after), func(t *testing.T) {
					before := notes(t, s)
					add(t, s, fmt.Sprintf("o%d%v", writes, after), "job")
					dying := &mortal{Store: s, after: after, dead: make(chan struct{})}
					dying.lives.Store(writes + 1)
					first := runner(dying, work(dying, clock))
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
					heir := runner(s, work(s, afterwards))
					heir.Now = afterwards
					storetest.During(t, func() { until(t, "the job is done", func() bool { return left(t, s) == 0 }) }, heir)
					want := slices.Sorted(slices.Values(slices.Concat(before, steps)))
					if got := notes(t, s); !slices.Equal(got, want) {
						t.Errorf("the effects are %q", got)
					}
				})
			}
		}
	})
}

// inBubble runs a test in a bubble of its own time, on SQLite.
func inBubble(t *testing.T, test func(t *testing.T, s store.Store)) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) { test(t, openStore(t, sqlstore.Options{Data: folder, Serve: true})) })
}

func TestAFailedJobIsTriedAgainAndGivenUp(t *testing.T) {
	for name, fail := range map[string]func() error{
		"an error": func() error { return errors.New("broken") },
		"a panic":  func() error { panic("broken") },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s store.Store) {
				add(t, s, "acme", "job")
				var (
					log    strings.Builder
					begun  = time.Now()
					tried  []time.Duration
					last   []bool
					ending atomic.Int64
				)
				r := runner(s, nil)
				r.Log = slog.New(slog.NewTextHandler(&log, nil))
				r.Handlers = map[jobs.Kind]jobs.Handler{sweep: {
					Run: func(_ context.Context, job store.Job) (func(store.Writer) error, error) {
						tried, last = append(tried, time.Since(begun)), append(last, job.Last)
						return nil, fail()
					},
					GiveUp: func(ctx context.Context, w store.Writer, job store.Job) error {
						if ending.Add(1) == 1 {
							return errors.New("not even that works")
						}
						return note(ctx, w, job.Organization, "given up")
					},
				}}
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
				if got := notes(t, s); !slices.Equal(got, []string{"given up"}) || left(t, s) != 0 {
					t.Errorf("%q, and %d jobs are left", got, left(t, s))
				}
				if !strings.Contains(log.String(), "a job is given up") || !strings.Contains(log.String(), "broken") {
					t.Errorf("the log does not tell: %s", log.String())
				}
			})
		})
	}
}

func TestAJobIsBegunAtOnceAfterAWake(t *testing.T) {
	inBubble(t, func(t *testing.T, s store.Store) {
		begun := make(chan time.Time, 1)
		r := runner(s, func(context.Context, store.Job) (func(store.Writer) error, error) {
			begun <- time.Now()
			return nil, nil
		})
		r.Lease = 0
		storetest.During(t, func() {
			time.Sleep(time.Minute + time.Millisecond) // idle
			add(t, s, "acme", "woken")
			added := time.Now()
			r.Wake()
			if waited := (<-begun).Sub(added); waited != 0 {
				t.Errorf("a job waited %v although the runner was woken", waited)
			}
			time.Sleep(time.Minute)
			add(t, s, "acme", "found")
			added = time.Now()
			if waited := (<-begun).Sub(added); waited > 2*time.Second {
				t.Errorf("a job waited %v until it was found", waited)
			}
		}, r)
	})
}

func TestAStoppedRunnerGivesItsJobsBack(t *testing.T) {
	onBoth(t, func(t *testing.T, s store.Store) {
		add(t, s, "acme", "job")
		begun := make(chan struct{})
		r := runner(s, func(ctx context.Context, _ store.Job) (func(store.Writer) error, error) {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		r.Lease = time.Hour
		storetest.During(t, func() { <-begun }, r)
		err := s.Read(t.Context(), func(read store.Reader) error {
			due, err := read.DueJobs(t.Context(), []jobs.Kind{sweep}, clock(), "", 1)
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

func TestARunnerThatIsAloneTakesOverAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, s store.Store) {
		add(t, s, "acme", "job")
		err := s.Write(t.Context(), func(w store.Writer) error {
			_, err := w.ClaimJob(t.Context(), store.Job{Organization: organization("acme"), ID: "job", Lease: time.Hour}, clock())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r := runner(s, func(context.Context, store.Job) (func(store.Writer) error, error) { return nil, nil })
		r.Alone = true
		storetest.During(t, func() { until(t, "the job is done", func() bool { return left(t, s) == 0 }) }, r)
	})
}

func TestARunningJobIsNotTakenOver(t *testing.T) {
	inBubble(t, func(t *testing.T, s store.Store) {
		add(t, s, "acme", "job")
		var begun atomic.Int64
		run := func(context.Context, store.Job) (func(store.Writer) error, error) {
			begun.Add(1)
			time.Sleep(30 * time.Second)
			return nil, nil
		}
		one, two := runner(s, run), runner(s, run)
		one.Lease, two.Lease = time.Second, time.Second
		storetest.During(t, func() { until(t, "the job is done", func() bool { return left(t, s) == 0 }) }, one, two)
		if begun.Load() != 1 {
			t.Errorf("a job that was running was begun %d times", begun.Load())
		}
	})
}

func TestAJobThatTakesProcessesDownIsGivenUp(t *testing.T) {
	onBoth(t, func(t *testing.T, s store.Store) {
		add(t, s, "acme", "job")
		claimed := store.Job{Organization: organization("acme"), ID: "job", Lease: -time.Hour}
		for range 200 {
			err := s.Write(t.Context(), func(w store.Writer) (err error) {
				claimed, err = w.ClaimJob(t.Context(), claimed, clock())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		r := runner(s, func(context.Context, store.Job) (func(store.Writer) error, error) {
			t.Error("it was tried once more")
			return nil, nil
		})
		storetest.During(t, func() { until(t, "the job is given up", func() bool { return left(t, s) == 0 }) }, r)
	})
}
