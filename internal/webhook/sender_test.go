package webhook_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
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
// attempt until another one has taken over.
func TestSenderThatFrozeCannotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		hook := w.hook(created)
		frozen := w.sender(func(ctx context.Context, p post) (int, string) {
			time.Sleep(10 * time.Minute)
			return refuse(ctx, p)
		})
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
