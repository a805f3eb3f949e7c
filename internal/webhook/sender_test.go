package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
	"dray/internal/work"
)

// These tests run on a real database in a synctest bubble.

const (
	created = lastmile.TriggerWorkerCreated
	updated = lastmile.TriggerWorkerUpdated
)

// daysIdle is the interval of polls in tests of days, which would spend most of their time
// in polling at the default interval.
const daysIdle = 30 * time.Second

func rejectPost(context.Context, post) (int, string) { return 500, "the answer was not 200" }

func acceptPost(context.Context, post) (int, string) { return 200, "" }

func TestSenderTriesForADay(t *testing.T) {
	t.Parallel()
	for name, delay := range map[string]time.Duration{"a server that fails at once": 0, "a server that fails slowly": 29 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				defer w.close()
				hook := w.hook(created)
				sender := w.sender(func(ctx context.Context, p post) (int, string) {
					time.Sleep(delay)
					return rejectPost(ctx, p)
				})
				sender.Idle = daysIdle
				w.run(func() {
					w.appendEvents(created, 1)
					time.Sleep(36 * time.Hour)
				}, sender)
				var times []time.Duration
				for _, p := range w.received() {
					times = append(times, p.at.Sub(w.start))
				}
				var want []time.Duration
				for i := range 49 {
					want = append(want, time.Duration(i)*30*time.Minute)
				}
				if !slices.Equal(times, want) {
					t.Errorf("%d attempts at %v", len(times), times)
				}
				w.check(hook)
				_, notifications := w.state(hook)
				if n := notifications[0].Notification; n.State != lastmile.NotificationGivenUp || !n.Next.IsZero() {
					t.Errorf("after a day it is %+v", n)
				}
			})
		})
	}
}

// TestSenderServesIdleWebhooks leaves a webhook without work for a while and
// then appends an event, or lets a retry come due. A lease that was kept without
// work must not keep its own process from sending.
func TestSenderServesIdleWebhooks(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{true, false} {
		for _, idle := range []time.Duration{
			time.Minute, 9 * time.Minute, 11 * time.Minute, 19 * time.Minute, 25 * time.Minute, 8 * time.Hour, 25 * time.Hour,
		} {
			t.Run(fmt.Sprintf("alone %t, idle for %v", alone, idle), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := newFixture(t)
					defer w.close()
					hook := w.hook(created)
					sender := w.sender(acceptPost)
					sender.Alone, sender.Idle = alone, webhook.PollIdle
					if idle > time.Hour {
						sender.Idle = daysIdle
					}
					w.run(func() {
						for range 3 {
							w.appendEvents(created, 1)
							time.Sleep(idle)
						}
					}, sender)
					for i, p := range w.received() {
						if late := p.at.Sub(w.start) - time.Duration(i)*idle; late > sender.Idle {
							t.Errorf("notification %d was sent %v late", i, late)
						}
					}
					if n := len(w.received()); n != 3 {
						t.Errorf("%d of 3 notifications were sent", n)
					}
					w.check(hook)
				})
			})
		}
	}
}

func TestSenderRetriesIdleWebhooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		hook := w.hook(created)
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if w.start.Add(3*time.Hour).After(p.at) || p.at.After(w.start.Add(13*time.Hour)) {
				return rejectPost(ctx, p)
			}
			return acceptPost(ctx, p)
		})
		sender.Alone, sender.Idle = true, daysIdle
		w.run(func() {
			w.appendEvents(created, 1)
			time.Sleep(14 * time.Hour) // delivered at the seventh attempt, then idle
			w.appendEvents(created, 1)
			time.Sleep(26 * time.Hour)
		}, sender)
		if got, want := len(w.received()), 7+49; got != want {
			t.Errorf("%d attempts, want %d", got, want)
		}
		w.check(hook)
	})
}

func TestSenderDisablesAtTheFirstFailureOver300(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		hook, other := w.hook(created), w.hook(updated)
		streak := 0
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if p.hook == other {
				return acceptPost(ctx, p)
			}
			streak++
			return rejectPost(ctx, p)
		})
		sender.Idle = daysIdle
		w.run(func() {
			for range 300 {
				w.appendEvents(created, 1)
				time.Sleep(time.Second)
			}
			if h, _ := w.state(hook); !h.Enabled || h.FailureStreak != 300 {
				t.Errorf("after 300 failures it is %+v", h)
			}
			w.appendEvents(created, 1)
			time.Sleep(time.Second)
			if h, _ := w.state(hook); h.Enabled || h.FailureStreak != 301 {
				t.Errorf("after 301 failures it is %+v", h)
			}
			w.appendEvents(created, 10)
			w.appendEvents(updated, 10)
			time.Sleep(36 * time.Hour)
		}, sender)
		if streak != 301 {
			t.Errorf("%d requests, want the 301st to be the last", streak)
		}
		w.check(hook)
		w.check(other)
		h, notifications := w.state(hook)
		if len(notifications) != 301 || h.Count != 0 {
			t.Errorf("it has %d notifications, and %d were delivered", len(notifications), h.Count)
		}
		for _, d := range notifications {
			if d.Notification.State != lastmile.NotificationGivenUp {
				t.Fatalf("%+v was not given up", d.Notification)
			}
		}
		if h, _ := w.state(other); !h.Enabled || h.Count != 10 {
			t.Errorf("the other webhook is %+v", h)
		}
	})
}

func TestSenderSuccessResetsTheStreak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		hook := w.hook(created)
		var requests atomic.Int32
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if requests.Add(1) == 300 {
				return acceptPost(ctx, p)
			}
			return rejectPost(ctx, p)
		})
		w.run(func() {
			for range 599 {
				w.appendEvents(created, 1)
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
			if h, _ := w.state(hook); !h.Enabled || h.Count != 1 || h.FailureStreak != 299 {
				t.Errorf("after 299 failures, a success and 299 failures it is %+v", h)
			}
			w.appendEvents(created, 2)
			time.Sleep(time.Minute)
			if h, _ := w.state(hook); h.Enabled || h.FailureStreak != 301 {
				t.Errorf("after two more it is %+v", h)
			}
		}, sender)
		w.check(hook)
	})
}

// TestSenderLivesForDays sends events for half a day to servers that fail at random, waits
// until all attempts were made, and checks every log.
func TestSenderLivesForDays(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		random := rand.New(rand.NewPCG(seed, 0))
		good := map[lastmile.WebhookID]int{}
		var hooks []lastmile.WebhookID
		for i := range 8 {
			id := w.hook([]lastmile.Trigger{created, updated}[i%2])
			hooks, good[id] = append(hooks, id), []int{100, 90, 50, 20, 5, 0, 0, 100}[i]
		}
		turn := make(chan struct{}, 1) // rand.Rand is not safe for concurrent use
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			turn <- struct{}{}
			fine, takes := random.IntN(100) < good[p.hook], time.Duration(random.ExpFloat64()*float64(2*time.Second))
			<-turn
			time.Sleep(min(takes, 30*time.Second))
			if fine {
				return acceptPost(ctx, p)
			}
			return rejectPost(ctx, p)
		})
		w.run(func() {
			for range 40 {
				w.appendEvents(created, 1)
				w.appendEvents(updated, 1)
				time.Sleep(17 * time.Minute)
			}
			time.Sleep(25 * time.Hour)
		}, sender)
		for _, id := range hooks {
			w.check(id)
			_, notifications := w.state(id)
			for _, d := range notifications {
				if d.Notification.State == lastmile.NotificationPending {
					t.Errorf("%+v is still pending", d.Notification)
				}
			}
		}
		t.Logf("%d requests", len(w.received()))
	})
}

// TestFrozenSenderCannotWrite freezes a process in the middle of an attempt until
// another one has taken over.
func TestFrozenSenderCannotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		hook := w.hook(created)
		thaw := time.Now().Add(10 * time.Minute)
		db := &freezingStore{Store: w.store}
		frozen := w.sender(func(ctx context.Context, p post) (int, string) {
			db.until.Store(&thaw)
			time.Sleep(time.Until(thaw))
			return rejectPost(ctx, p)
		})
		frozen.Store = sqlstore.For[webhook.Reader, webhook.Writer](db)
		healthy := w.sender(acceptPost)
		w.run(func() {
			w.appendEvents(created, 3)
			synctest.Wait()
			w.run(func() { time.Sleep(9 * time.Minute) }, healthy)
			if h, _ := w.state(hook); h.Count != 3 || h.FailureStreak != 0 {
				t.Errorf("while the other process is frozen it is %+v", h)
			}
			time.Sleep(2 * time.Minute)
		}, frozen)
		h, notifications := w.state(hook)
		if h.Count != 3 || h.FailureStreak != 0 || len(notifications) != 3 {
			t.Errorf("after the frozen process continued it is %+v", h)
		}
		for _, d := range notifications {
			if d.Notification.State != lastmile.NotificationDelivered || len(d.Attempts) != 1 || !d.Attempts[0].Delivered() {
				t.Errorf("after the frozen process continued: %+v", d)
			}
		}
		if frozen.Stats().Fenced == 0 || frozen.Stats().Failed+frozen.Stats().Delivered != 0 {
			t.Errorf("the frozen process has %+v", frozen.Stats())
		}
	})
}

// freezingStore blocks writes until a time.
type freezingStore struct {
	*sqlstore.Store
	until atomic.Pointer[time.Time]
}

// Write runs a transaction.
func (f *freezingStore) Write(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	if until := f.until.Load(); until != nil {
		time.Sleep(time.Until(*until))
	}
	return f.Store.Write(ctx, fn)
}

// hang is a server that never responds.
func hang(ctx context.Context, _ post) (int, string) {
	select {
	case <-time.After(30 * time.Second):
	case <-ctx.Done():
	}
	return 0, "no complete answer in time"
}

// TestDeadServersDoNotDelayOthers stops hundreds of servers at once while some
// servers of every organization go on.
func TestDeadServersDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		var orgs []lastmile.OrganizationID
		alive := map[lastmile.WebhookID]bool{}
		for range 6 {
			org := lastmile.OrganizationID(newID())
			orgs = append(orgs, org)
			for i := range 52 {
				alive[w.hookOf(org, created)] = i%26 == 0
			}
		}
		var (
			longest, first time.Duration // longest waits in the current rounds, and in the round in which servers die
			most, inFlight int
			turn           = make(chan struct{}, 1)
			dying          = false
		)
		locked := func(do func()) {
			turn <- struct{}{}
			do()
			<-turn
		}
		appended := time.Now()
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if alive[p.hook] || !dying {
				locked(func() { longest = max(longest, time.Since(appended)) })
				time.Sleep(20 * time.Millisecond)
				return acceptPost(ctx, p)
			}
			locked(func() { inFlight++; most = max(most, inFlight) })
			defer locked(func() { inFlight-- })
			return hang(ctx, p)
		})
		round := func() {
			appended = time.Now()
			for _, org := range orgs {
				w.appendEvent(org, created)
			}
			time.Sleep(2 * time.Second)
		}
		w.run(func() {
			round()
			dying, longest = true, 0
			round()
			first, longest = longest, 0
			for range 20 {
				round()
			}
		}, sender)
		if first > 400*time.Millisecond || longest > 50*time.Millisecond {
			t.Errorf("working servers waited up to %v when the others died, and %v afterwards", first, longest)
		}
		if most > 450 {
			t.Errorf("%d requests hung at once", most)
		}
		for id, alive := range alive {
			if alive {
				if n := count(w, id); n != 22 {
					t.Errorf("a working server got %d requests of 22", n)
				}
			}
		}
	})
}

// count returns the number of requests that a server got.
func count(w *fixture, id lastmile.WebhookID) (n int) {
	for _, p := range w.received() {
		if p.hook == id {
			n++
		}
	}
	return n
}

// TestBacklogDoesNotDelayOtherWebhooks has one webhook with thousands of due
// notifications and another with a single one.
func TestBacklogDoesNotDelayOtherWebhooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		behind, other := w.hook(created), w.hook(updated)
		w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
			many := make([]lastmile.Event, 3000)
			for i := range many {
				many[i] = lastmile.Event{Organization: acme, Trigger: created, At: now()}
			}
			return w.log.Append(ctx, tx, many...)
		})
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			time.Sleep(50 * time.Millisecond)
			return acceptPost(ctx, p)
		})
		w.run(func() {
			time.Sleep(10 * time.Second)
			w.appendEvents(updated, 1)
			appended := now()
			time.Sleep(100 * time.Millisecond)
			if _, notifications := w.state(other); len(notifications) != 1 || len(notifications[0].Attempts) != 1 || notifications[0].Attempts[0].At.Sub(appended) > 10*time.Millisecond {
				t.Errorf("a backlog of another webhook delays it: %+v", notifications)
			}
			if n := count(w, behind); n < 700 || n > 900 {
				t.Errorf("%d of the backlog were sent in ten seconds, want 4 at a time", n)
			}
			time.Sleep(40 * time.Second)
		}, sender)
		if h, _ := w.state(behind); h.Count != 3000 {
			t.Errorf("%d of 3000 were delivered", h.Count)
		}
		w.check(behind)
	})
}

// TestSenderTakesTurns has enough webhooks with a backlog to reach the limit of an organization,
// and one webhook with a single notification.
func TestSenderTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		var behind []lastmile.WebhookID
		for range 12 {
			behind = append(behind, w.hook(created))
		}
		other := w.hook(updated)
		w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
			many := make([]lastmile.Event, 500)
			for i := range many {
				many[i] = lastmile.Event{Organization: acme, Trigger: created, At: now()}
			}
			return w.log.Append(ctx, tx, many...)
		})
		var most, inFlight int
		turn := make(chan struct{}, 1)
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			turn <- struct{}{}
			inFlight++
			most = max(most, inFlight)
			<-turn
			time.Sleep(50 * time.Millisecond)
			turn <- struct{}{}
			inFlight--
			<-turn
			return acceptPost(ctx, p)
		})
		w.run(func() {
			time.Sleep(time.Second)
			turn <- struct{}{}
			most = 0 // first attempts have their own limit
			<-turn
			time.Sleep(4 * time.Second)
			w.appendEvents(updated, 1)
			time.Sleep(5 * time.Second)
			if n := count(w, other); n != 1 {
				t.Errorf("a single notification was sent %d times beside backlogs", n)
			}
			for _, id := range behind {
				if n := count(w, id); n < 64 || n > 450 {
					t.Errorf("%d of a backlog were sent, want a fair share", n)
				}
			}
			time.Sleep(30 * time.Second)
		}, sender)
		if most < 16 || most > 17 {
			t.Errorf("%d requests at once, want the limit of an organization", most)
		}
		for _, id := range behind {
			if h, _ := w.state(id); h.Count != 500 {
				t.Errorf("%d of 500 were delivered", h.Count)
			}
			w.check(id)
		}
	})
}

// TestSenderStops stops a sender during attempts: those that end soon are recorded,
// the others are released and do not count as failures.
func TestSenderStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		soon, never := w.hook(created), w.hook(updated)
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if p.hook == never {
				return hang(ctx, p)
			}
			time.Sleep(3 * time.Second)
			return acceptPost(ctx, p)
		})
		var stopping time.Time
		w.run(func() {
			w.appendEvents(created, 1)
			w.appendEvents(updated, 30)
			time.Sleep(time.Second)
			stopping = now()
		}, sender)
		if took := now().Sub(stopping); took > 5*time.Second {
			t.Errorf("it took %v to stop", took)
		}
		if h, _ := w.state(soon); h.Count != 1 {
			t.Errorf("an attempt that ended soon was not recorded: %+v", h)
		}
		h, notifications := w.state(never)
		for _, d := range notifications {
			if n := d.Notification; h.FailureStreak != 0 || len(d.Attempts) != 0 || n.Next.After(now()) {
				t.Errorf("an attempt that did not end was not released: %+v", d)
			}
		}
		w.run(func() { time.Sleep(time.Second) }, w.sender(acceptPost))
		if h, _ := w.state(never); h.Count != 30 {
			t.Errorf("the next process delivered %d of 30", h.Count)
		}
	})
}

// TestSenderTakesOver starts a sender after a process that had a lease was killed.
func TestSenderTakesOver(t *testing.T) {
	for name, alone := range map[string]bool{"several processes": false, "a single process": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				defer w.close()
				hook := w.hook(created)
				w.appendEvents(created, 5)
				w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
					item := work.Item{Kind: work.Webhooks, Organization: acme, ID: string(hook), Lease: newID()}
					_, err := tx.ClaimWork(ctx, item, now(), now().Add(35*time.Second))
					return err
				})
				sender := w.sender(acceptPost)
				sender.Alone = alone
				w.run(func() {
					time.Sleep(3 * time.Second)
					if n := count(w, hook); n > 0 != alone {
						t.Errorf("after 3 s it sent %d", n)
					}
					time.Sleep(35 * time.Second)
				}, sender)
				if h, _ := w.state(hook); h.Count != 5 {
					t.Errorf("it delivered %d of 5", h.Count)
				}
				w.check(hook)
			})
		})
	}
}

// TestSenderSurvivesDatabaseErrors makes writes fail for a while.
func TestSenderSurvivesDatabaseErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		hook := w.hook(created)
		db := &flakyStore{Store: w.store}
		sender := w.sender(acceptPost)
		sender.Store = sqlstore.For[webhook.Reader, webhook.Writer](db)
		w.run(func() {
			w.appendEvents(created, 3)
			time.Sleep(time.Second)
			for range 20 {
				db.broken.Store(!db.broken.Load())
				w.appendEvents(created, 3)
				time.Sleep(700 * time.Millisecond)
			}
			db.broken.Store(false)
			time.Sleep(time.Minute)
		}, sender)
		if h, _ := w.state(hook); h.Count != 63 {
			t.Errorf("it delivered %d of 63", h.Count)
		}
		w.check(hook)
	})
}

// flakyStore is a store whose writes may fail.
type flakyStore struct {
	*sqlstore.Store
	broken atomic.Bool
}

// Write runs a transaction.
func (u *flakyStore) Write(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	if u.broken.Load() {
		return errors.New("the disk is on fire")
	}
	return u.Store.Write(ctx, fn)
}

// TestSenderSignsWithEverySecret changes the secrets while notifications are always
// pending.
func TestSenderSignsWithEverySecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		hook := w.hook(created)
		sender := w.sender(acceptPost)
		var secrets atomic.Value
		set := func(keys ...[]byte) { secrets.Store(keys) }
		set([]byte("first"))
		sender.Secrets = func(context.Context, lastmile.OrganizationID) ([][]byte, error) {
			return secrets.Load().([][]byte), nil
		}
		check := func(p post, keys ...string) {
			t.Helper()
			if got, want := p.header.Get("X-Onfleet-Signature"), webhook.Signature([]byte(keys[0]), p.body); got != want {
				t.Errorf("X-Onfleet-Signature is %s, want %s", got, want)
			}
			var want []string
			for _, key := range keys {
				want = append(want, webhook.StandardSignature([]byte(key), p.id, p.header.Get("Webhook-Timestamp"), p.body))
			}
			if got := p.header.Get("Webhook-Signature"); got != strings.Join(want, " ") {
				t.Errorf("webhook-signature is %s, want %s", got, want)
			}
		}
		w.run(func() {
			w.appendEvents(created, 20)
			time.Sleep(time.Second)
			check(w.received()[0], "first")
			set([]byte("second"), []byte("first"))
			for range 20 { // notifications are always pending
				w.appendEvents(created, 4)
				time.Sleep(75 * time.Millisecond)
			}
			check(w.received()[len(w.received())-1], "second", "first")
			set([]byte("second"))
			w.appendEvents(created, 1)
			time.Sleep(time.Second)
			check(w.received()[len(w.received())-1], "second")

			set()
			w.appendEvents(created, 1)
			time.Sleep(30 * time.Second)
			if n := count(w, hook); n != 101 {
				t.Errorf("a notification was sent without a signature")
			}
			set([]byte("third"))
			time.Sleep(time.Minute)
			check(w.received()[len(w.received())-1], "third")
		}, sender)
		w.check(hook)
	})
}

// TestSenderIgnoresFalseCandidates makes the sender query webhooks whose
// notifications were delivered already.
func TestSenderIgnoresFalseCandidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		hook := w.hook(created)
		sender := w.sender(acceptPost)
		sender.Store = &eagerStore{Transactor: sqlstore.For[webhook.Reader, webhook.Writer](w.store), hook: hook}
		w.run(func() {
			for range 50 {
				w.appendEvents(created, 1)
				time.Sleep(170 * time.Millisecond)
			}
		}, sender)
		if h, _ := w.state(hook); h.Count != 50 {
			t.Errorf("it delivered %d of 50", h.Count)
		}
		w.check(hook)
	})
}

// eagerStore reports that a webhook is due when it is not.
type eagerStore struct {
	store.Transactor[webhook.Reader, webhook.Writer]
	hook lastmile.WebhookID
}

type eagerReader struct {
	webhook.Reader
	hook lastmile.WebhookID
}

// Read implements store.Transactor.
func (h *eagerStore) Read(ctx context.Context, fn func(webhook.Reader) error) error {
	return h.Transactor.Read(ctx, func(r webhook.Reader) error { return fn(eagerReader{Reader: r, hook: h.hook}) })
}

// DueWork implements work.Reader.
func (r eagerReader) DueWork(context.Context, work.Query) ([]work.Item, error) {
	return []work.Item{{Kind: work.Webhooks, Organization: acme, ID: string(r.hook), Due: now()}}, nil
}
