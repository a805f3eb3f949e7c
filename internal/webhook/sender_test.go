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

// The simulations run on the real database and a clock that is always right.

const (
	created = lastmile.TriggerWorkerCreated
	updated = lastmile.TriggerWorkerUpdated
)

func refuse(context.Context, post) (int, string) { return 500, "the answer was not 200" }

func accept(context.Context, post) (int, string) { return 200, "" }

func TestSenderTriesForADay(t *testing.T) {
	for name, answerIn := range map[string]time.Duration{"a server that fails at once": 0, "a server that fails in the end": 29 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				defer w.close()
				hook := w.hook(created)
				sender := w.sender(func(ctx context.Context, p post) (int, string) {
					time.Sleep(answerIn)
					return refuse(ctx, p)
				})
				w.run(func() {
					w.tell(created, 1)
					time.Sleep(36 * time.Hour)
				}, sender)
				var times []time.Duration
				for _, p := range w.seen() {
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
				_, owed := w.state(hook)
				if n := owed[0].Notification; n.State != lastmile.NotificationGivenUp || !n.Next.IsZero() {
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
	for _, alone := range []bool{true, false} {
		for _, idle := range []time.Duration{
			time.Minute, 9 * time.Minute, 11 * time.Minute, 19 * time.Minute, 25 * time.Minute, 8 * time.Hour, 25 * time.Hour,
		} {
			t.Run(fmt.Sprintf("alone %t, idle for %v", alone, idle), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					defer w.close()
					hook := w.hook(created)
					sender := w.sender(accept)
					sender.Alone = alone
					w.run(func() {
						for range 3 {
							w.tell(created, 1)
							time.Sleep(idle)
						}
					}, sender)
					for i, p := range w.seen() {
						if late := p.at.Sub(w.start) - time.Duration(i)*idle; late > webhook.PollIdle {
							t.Errorf("notification %d was sent %v late", i, late)
						}
					}
					if n := len(w.seen()); n != 3 {
						t.Errorf("%d of 3 notifications were sent", n)
					}
					w.check(hook)
				})
			})
		}
	}
}

func TestSenderRetriesIdleWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		hook := w.hook(created)
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if w.start.Add(3*time.Hour).After(p.at) || p.at.After(w.start.Add(13*time.Hour)) {
				return refuse(ctx, p)
			}
			return accept(ctx, p)
		})
		sender.Alone = true
		w.run(func() {
			w.tell(created, 1)
			time.Sleep(14 * time.Hour) // delivered at the seventh attempt, then idle
			w.tell(created, 1)
			time.Sleep(26 * time.Hour)
		}, sender)
		if got, want := len(w.seen()), 7+49; got != want {
			t.Errorf("%d attempts, want %d", got, want)
		}
		w.check(hook)
	})
}

func TestSenderDisablesAtTheFirstFailureOver300(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		hook, other := w.hook(created), w.hook(updated)
		streak := 0
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if p.hook == other {
				return accept(ctx, p)
			}
			streak++
			return refuse(ctx, p)
		})
		w.run(func() {
			for range 300 {
				w.tell(created, 1)
				time.Sleep(time.Second)
			}
			if h, _ := w.state(hook); !h.Enabled || h.FailureStreak != 300 {
				t.Errorf("after 300 failures it is %+v", h)
			}
			w.tell(created, 1)
			time.Sleep(time.Second)
			if h, _ := w.state(hook); h.Enabled || h.FailureStreak != 301 {
				t.Errorf("after 301 failures it is %+v", h)
			}
			w.tell(created, 10)
			w.tell(updated, 10)
			time.Sleep(36 * time.Hour)
		}, sender)
		if streak != 301 {
			t.Errorf("%d requests, want the 301st to be the last", streak)
		}
		w.check(hook)
		w.check(other)
		h, owed := w.state(hook)
		if len(owed) != 301 || h.Count != 0 {
			t.Errorf("it was owed %d notifications, and %d were delivered", len(owed), h.Count)
		}
		for _, d := range owed {
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
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		hook := w.hook(created)
		requests := 0
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if requests++; requests == 300 {
				return accept(ctx, p)
			}
			return refuse(ctx, p)
		})
		w.run(func() {
			for range 599 {
				w.tell(created, 1)
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
			if h, _ := w.state(hook); !h.Enabled || h.Count != 1 || h.FailureStreak != 299 {
				t.Errorf("after 299 failures, a success and 299 failures it is %+v", h)
			}
			w.tell(created, 2)
			time.Sleep(time.Minute)
			if h, _ := w.state(hook); h.Enabled || h.FailureStreak != 301 {
				t.Errorf("after two more it is %+v", h)
			}
		}, sender)
		w.check(hook)
	})
}

// TestSenderLivesForDays has servers that answer as chance has it, for a day
// and a half of events, and holds every log against the rules.
func TestSenderLivesForDays(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		random := rand.New(rand.NewPCG(seed, 0))
		good := map[lastmile.WebhookID]int{}
		var hooks []lastmile.WebhookID
		for i := range 8 {
			id := w.hook([]lastmile.Trigger{created, updated}[i%2])
			hooks, good[id] = append(hooks, id), []int{100, 90, 50, 20, 5, 0, 0, 100}[i]
		}
		turn := make(chan struct{}, 1) // rand.Rand is for one goroutine
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			turn <- struct{}{}
			fine, takes := random.IntN(100) < good[p.hook], time.Duration(random.ExpFloat64()*float64(2*time.Second))
			<-turn
			time.Sleep(min(takes, 30*time.Second))
			if fine {
				return accept(ctx, p)
			}
			return refuse(ctx, p)
		})
		w.run(func() {
			for range 40 {
				w.tell(created, 1)
				w.tell(updated, 1)
				time.Sleep(17 * time.Minute)
			}
			time.Sleep(25 * time.Hour)
		}, sender)
		for _, id := range hooks {
			w.check(id)
			_, owed := w.state(id)
			for _, d := range owed {
				if d.Notification.State == lastmile.NotificationPending {
					t.Errorf("%+v is still to be sent", d.Notification)
				}
			}
		}
		t.Logf("%d requests", len(w.seen()))
	})
}

// TestSenderThatFrozeCannotWrite has a process stand still in the middle of an
// attempt, with all it would write, until another one has taken over.
func TestSenderThatFrozeCannotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		hook := w.hook(created)
		thaws := time.Now().Add(10 * time.Minute)
		db := &freezing{Store: w.store}
		frozen := w.sender(func(ctx context.Context, p post) (int, string) {
			db.until.Store(&thaws)
			time.Sleep(time.Until(thaws))
			return refuse(ctx, p)
		})
		frozen.Store = sqlstore.For[webhook.Reader, webhook.Writer](db)
		healthy := w.sender(accept)
		w.run(func() {
			w.tell(created, 3)
			synctest.Wait()
			w.run(func() { time.Sleep(9 * time.Minute) }, healthy)
			if h, _ := w.state(hook); h.Count != 3 || h.FailureStreak != 0 {
				t.Errorf("while the other process is frozen it is %+v", h)
			}
			time.Sleep(2 * time.Minute)
		}, frozen)
		h, owed := w.state(hook)
		if h.Count != 3 || h.FailureStreak != 0 || len(owed) != 3 {
			t.Errorf("after the frozen process came back it is %+v", h)
		}
		for _, d := range owed {
			if d.Notification.State != lastmile.NotificationDelivered || len(d.Attempts) != 1 || !d.Attempts[0].Delivered() {
				t.Errorf("after the frozen process came back: %+v", d)
			}
		}
		if frozen.Stats().Fenced == 0 || frozen.Stats().Failed+frozen.Stats().Delivered != 0 {
			t.Errorf("the frozen process has %+v", frozen.Stats())
		}
	})
}

// freezing is a database to which a process writes nothing until a time.
type freezing struct {
	*sqlstore.Store
	until atomic.Pointer[time.Time]
}

// Write implements store.Transactor.
func (f *freezing) Write(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	if until := f.until.Load(); until != nil {
		time.Sleep(time.Until(*until))
	}
	return f.Store.Write(ctx, fn)
}

// hang is a server that takes everything and never answers.
func hang(ctx context.Context, _ post) (int, string) {
	select {
	case <-time.After(30 * time.Second):
	case <-ctx.Done():
	}
	return 0, "no complete answer in time"
}

// TestSenderKeepsNobodyWaiting has hundreds of servers die at once beside some
// that go on, in every organization.
func TestSenderKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
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
			longest, since time.Duration
			most, inFlight int
			turn           = make(chan struct{}, 1)
			dying          = false
		)
		note := func(note func()) {
			turn <- struct{}{}
			note()
			<-turn
		}
		told := time.Now()
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if alive[p.hook] || !dying {
				note(func() { longest = max(longest, time.Since(told)) })
				time.Sleep(20 * time.Millisecond)
				return accept(ctx, p)
			}
			note(func() { inFlight++; most = max(most, inFlight) })
			defer note(func() { inFlight-- })
			return hang(ctx, p)
		})
		round := func() {
			told = time.Now()
			for _, org := range orgs {
				w.tellOf(org, created)
			}
			time.Sleep(2 * time.Second)
		}
		w.run(func() {
			round()
			dying, longest = true, 0
			round()
			since, longest = longest, 0
			for range 20 {
				round()
			}
		}, sender)
		if since > 400*time.Millisecond || longest > 50*time.Millisecond {
			t.Errorf("servers that are alive waited up to %v when the others died, and %v afterwards", since, longest)
		}
		if most > 450 {
			t.Errorf("%d requests hung at once", most)
		}
		for id, alive := range alive {
			if alive {
				if n := count(w, id); n != 22 {
					t.Errorf("a server that is alive got %d requests of 22", n)
				}
			}
		}
	})
}

// count is how many requests a server got.
func count(w *world, id lastmile.WebhookID) (n int) {
	for _, p := range w.seen() {
		if p.hook == id {
			n++
		}
	}
	return n
}

// TestSenderBacklogIsNoMatterToOthers has one webhook that is owed thousands,
// when another is owed one.
func TestSenderBacklogIsNoMatterToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
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
			return accept(ctx, p)
		})
		w.run(func() {
			time.Sleep(10 * time.Second)
			w.tell(updated, 1)
			told := now()
			time.Sleep(100 * time.Millisecond)
			if _, owed := w.state(other); len(owed) != 1 || len(owed[0].Attempts) != 1 || owed[0].Attempts[0].At.Sub(told) > 10*time.Millisecond {
				t.Errorf("beside a backlog it waits: %+v", owed)
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

// TestSenderTakesTurns has more webhooks with a backlog than an organization has
// slots for, and one that has a single notification.
func TestSenderTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
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
			return accept(ctx, p)
		})
		w.run(func() {
			time.Sleep(time.Second)
			turn <- struct{}{}
			most = 0 // first attempts have their own limit
			<-turn
			time.Sleep(4 * time.Second)
			w.tell(updated, 1)
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
			t.Errorf("%d requests at once, want as many as an organization may have", most)
		}
		for _, id := range behind {
			if h, _ := w.state(id); h.Count != 500 {
				t.Errorf("%d of 500 were delivered", h.Count)
			}
			w.check(id)
		}
	})
}

// TestSenderStops has it stop amid attempts: those that end soon are recorded,
// the others are given back and not held against their webhooks.
func TestSenderStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		soon, never := w.hook(created), w.hook(updated)
		sender := w.sender(func(ctx context.Context, p post) (int, string) {
			if p.hook == never {
				return hang(ctx, p)
			}
			time.Sleep(3 * time.Second)
			return accept(ctx, p)
		})
		var stopping time.Time
		w.run(func() {
			w.tell(created, 1)
			w.tell(updated, 30)
			time.Sleep(time.Second)
			stopping = now()
		}, sender)
		if took := now().Sub(stopping); took > 5*time.Second {
			t.Errorf("it took %v to stop", took)
		}
		if h, _ := w.state(soon); h.Count != 1 {
			t.Errorf("what ended soon was not recorded: %+v", h)
		}
		h, owed := w.state(never)
		for _, d := range owed {
			if n := d.Notification; h.FailureStreak != 0 || len(d.Attempts) != 0 || n.Next.After(now()) {
				t.Errorf("what did not end was not given back: %+v", d)
			}
		}
		w.run(func() { time.Sleep(time.Second) }, w.sender(accept))
		if h, _ := w.state(never); h.Count != 30 {
			t.Errorf("the next process delivered %d of 30", h.Count)
		}
	})
}

// TestSenderTakesOver has a process vanish with its claims.
func TestSenderTakesOver(t *testing.T) {
	for name, alone := range map[string]bool{"where there can be another": false, "where there can be no other": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				defer w.close()
				hook := w.hook(created)
				w.tell(created, 5)
				w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
					item := work.Item{Kind: work.Webhooks, Organization: acme, ID: string(hook), Lease: newID()}
					_, err := tx.ClaimWork(ctx, item, now(), now().Add(35*time.Second))
					return err
				})
				sender := w.sender(accept)
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

// TestSenderSurvivesItsDatabase has writes fail for a while.
func TestSenderSurvivesItsDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		hook := w.hook(created)
		db := &unreliable{Store: w.store}
		sender := w.sender(accept)
		sender.Store = sqlstore.For[webhook.Reader, webhook.Writer](db)
		w.run(func() {
			w.tell(created, 3)
			time.Sleep(time.Second)
			for range 20 {
				db.broken.Store(!db.broken.Load())
				w.tell(created, 3)
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

// unreliable is a database whose writes may fail.
type unreliable struct {
	*sqlstore.Store
	broken atomic.Bool
}

// Write implements store.Transactor.
func (u *unreliable) Write(ctx context.Context, fn func(*sqlstore.Tx) error) error {
	if u.broken.Load() {
		return errors.New("the disk is on fire")
	}
	return u.Store.Write(ctx, fn)
}

// TestSenderSignsWithEverySecret has the secrets change while there is always
// something to send.
func TestSenderSignsWithEverySecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		hook := w.hook(created)
		sender := w.sender(accept)
		secrets := [][]byte{[]byte("first")}
		sender.Secrets = func(context.Context, lastmile.OrganizationID) ([][]byte, error) { return secrets, nil }
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
			w.tell(created, 20)
			check(w.seen()[0], "first")
			secrets = [][]byte{[]byte("second"), []byte("first")}
			for range 20 { // without a moment in which nothing is to be sent
				w.tell(created, 4)
				time.Sleep(75 * time.Millisecond)
			}
			check(w.seen()[len(w.seen())-1], "second", "first")
			secrets = [][]byte{[]byte("second")}
			w.tell(created, 1)
			time.Sleep(time.Second)
			check(w.seen()[len(w.seen())-1], "second")

			secrets = nil
			w.tell(created, 1)
			time.Sleep(30 * time.Second)
			if n := count(w, hook); n != 101 {
				t.Errorf("something was sent without a signature")
			}
			secrets = [][]byte{[]byte("third")}
			time.Sleep(time.Minute)
			check(w.seen()[len(w.seen())-1], "third")
		}, sender)
		w.check(hook)
	})
}

// TestSenderFindsNothing has it look for what was delivered already, again and
// again, while there is something new now and then.
func TestSenderFindsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		hook := w.hook(created)
		sender := w.sender(accept)
		sender.Store = &hasty{Transactor: sqlstore.For[webhook.Reader, webhook.Writer](w.store), hook: hook}
		w.run(func() {
			for range 50 {
				w.tell(created, 1)
				time.Sleep(170 * time.Millisecond)
			}
		}, sender)
		if h, _ := w.state(hook); h.Count != 50 {
			t.Errorf("it delivered %d of 50", h.Count)
		}
		w.check(hook)
	})
}

// hasty is a database that reports a webhook as due when it has nothing to send.
type hasty struct {
	store.Transactor[webhook.Reader, webhook.Writer]
	hook lastmile.WebhookID
}

type hastyReader struct {
	webhook.Reader
	hook lastmile.WebhookID
}

// Read implements store.Transactor.
func (h *hasty) Read(ctx context.Context, fn func(webhook.Reader) error) error {
	return h.Transactor.Read(ctx, func(r webhook.Reader) error { return fn(hastyReader{Reader: r, hook: h.hook}) })
}

// DueWork implements work.Reader.
func (r hastyReader) DueWork(context.Context, work.Query) ([]work.Item, error) {
	return []work.Item{{Kind: work.Webhooks, Organization: acme, ID: string(r.hook), Due: now()}}, nil
}
