package webhook_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
	"dray/internal/work"
)

// backlog is a number of notifications that two transactions cannot give up or delete.
const backlog = 2_500

var errKilled = errors.New("the process was killed")

// clearingStore records how many notifications each transaction gives up or may delete. After
// s.most of these transactions it fails, as if the process were killed.
type clearingStore struct {
	store.Transactor[webhook.Reader, webhook.Writer]
	mu    sync.Mutex
	steps []int
	most  int  // maximum length of steps; 0 for no limit
	huge  bool // there are always more notifications to give up
}

// Write implements store.Transactor.
func (s *clearingStore) Write(ctx context.Context, fn func(webhook.Writer) error) error {
	s.mu.Lock()
	killed := s.most > 0 && len(s.steps) >= s.most
	s.mu.Unlock()
	if killed {
		return errKilled
	}
	counting := &clearingWriter{}
	err := s.Transactor.Write(ctx, func(w webhook.Writer) error {
		*counting = clearingWriter{Writer: w, huge: s.huge}
		return fn(counting)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if counting.called {
		s.steps = append(s.steps, counting.cleared)
	}
	return err
}

type clearingWriter struct {
	webhook.Writer
	called  bool
	cleared int
	huge    bool
}

// GiveUpNotifications implements webhook.Writer.
func (w *clearingWriter) GiveUpNotifications(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID, limit int) (int, error) {
	n, err := w.Writer.GiveUpNotifications(ctx, org, id, limit)
	w.called, w.cleared = true, w.cleared+n
	if w.huge {
		n = limit
	}
	return n, err
}

// DeleteNotifications implements webhook.Writer.
func (w *clearingWriter) DeleteNotifications(ctx context.Context, org lastmile.OrganizationID, id lastmile.WebhookID, limit int) (bool, error) {
	more, err := w.Writer.DeleteNotifications(ctx, org, id, limit)
	w.called, w.cleared = true, w.cleared+limit
	return more, err
}

// clearing is a fixture with a webhook that has a backlog.
type clearing struct {
	*fixture
	hook     lastmile.WebhookID
	store    *clearingStore
	registry *webhook.Registry
}

var caller = lastmile.Principal{Organization: acme}

func newClearing(t *testing.T, change func(*lastmile.Webhook)) *clearing {
	t.Helper()
	c := &clearing{fixture: newFixture(t)}
	c.store = &clearingStore{Transactor: sqlstore.For[webhook.Reader, webhook.Writer](c.fixture.store)}
	c.registry = &webhook.Registry{Store: c.store, Events: c.log, Now: now}
	c.hook = c.fixture.hook(created)
	c.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		h, err := tx.Webhook(ctx, acme, c.hook)
		if err != nil {
			return err
		}
		change(&h)
		return tx.SaveWebhook(ctx, h)
	})
	for range backlog / 500 {
		c.write(func(ctx context.Context, tx *sqlstore.Tx) error {
			return c.log.Append(ctx, tx, slices.Repeat([]lastmile.Event{{
				Organization: acme, Trigger: created, At: now(), Worker: &lastmile.Worker{ID: "workerworkerworkerworker", Organization: acme},
			}}, 500)...)
		})
	}
	return c
}

func unchanged(*lastmile.Webhook) {}

// set enables or disables the webhook.
func (c *clearing) set(enabled bool) {
	c.t.Helper()
	if _, err := c.registry.Update(c.t.Context(), caller, c.hook, lastmile.WebhookChange{Enabled: &enabled}); err != nil {
		c.t.Fatal(err)
	}
}

// count returns the number of notifications of the webhook in a state.
func (c *clearing) count(state lastmile.NotificationState) (n int) {
	c.t.Helper()
	c.read(func(ctx context.Context, tx *sqlstore.Tx) error {
		list, err := tx.Notifications(ctx, acme, store.NotificationFilter{Webhook: c.hook, State: &state})
		n = len(list)
		return err
	})
	return n
}

// hasJob reports whether the backlog is still to be cleared.
func (c *clearing) hasJob() (exists bool) {
	c.t.Helper()
	c.read(func(ctx context.Context, tx *sqlstore.Tx) (err error) {
		exists, err = tx.HasJob(ctx, acme, string(c.hook))
		return err
	})
	return exists
}

// loop returns the loop that clears backlogs on a node.
func (c *clearing) loop() *work.Loop[webhook.Reader, webhook.Writer] {
	return &work.Loop[webhook.Reader, webhook.Writer]{
		Kind: webhook.Clearing, Store: c.store, Do: c.registry.Clear, Limits: work.Limits{Total: 2, PerOrganization: 1},
		Now: now, NewID: newID, Log: slog.New(slog.DiscardHandler),
	}
}

// kill clears the backlog on a node that is killed after one transaction, and waits until
// another may continue.
func (c *clearing) kill() {
	c.t.Helper()
	c.store.most = len(c.store.steps) + 1
	if _, err := c.loop().RunDue(c.t.Context()); !errors.Is(err, errKilled) {
		c.t.Errorf("the node that was killed returned %v", err)
	}
	c.store.most = 0
	time.Sleep(time.Minute)
}

// finish clears the backlog.
func (c *clearing) finish() {
	c.t.Helper()
	if n, err := c.loop().RunDue(c.t.Context()); n != 1 || err != nil {
		c.t.Errorf("%d backlogs were cleared: %v", n, err)
	}
	if c.hasJob() {
		c.t.Error("a job is left")
	}
	for _, n := range c.store.steps {
		if n > 1_000 {
			c.t.Errorf("transactions cleared %v", c.store.steps)
		}
	}
}

// sends runs a sender and returns the number of its requests.
func (c *clearing) sends() int {
	c.t.Helper()
	before := len(c.received())
	c.run(func() { time.Sleep(time.Hour) }, c.sender(acceptPost))
	return len(c.received()) - before
}

// TestBacklogOfADisabledWebhookIsNeverSent disables a webhook, and enables it while most of
// its notifications are still pending.
func TestBacklogOfADisabledWebhookIsNeverSent(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(*clearing){
		"at once":                       func(*clearing) {},
		"after a node was killed":       (*clearing).kill,
		"after another node cleared it": func(c *clearing) { c.kill(); c.finish() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClearing(t, unchanged)
				defer c.close()
				c.set(false)
				if n := c.count(lastmile.NotificationGivenUp); n != 1_000 || !c.hasJob() {
					t.Errorf("one transaction gave up %d notifications; a job: %v", n, c.hasJob())
				}
				if n := c.sends(); n != 0 {
					t.Errorf("%d notifications were sent to a disabled webhook", n)
				}
				between(c)
				c.set(true)
				if n := c.count(lastmile.NotificationGivenUp); n != backlog || c.hasJob() {
					t.Errorf("%d notifications were given up; a job: %v", n, c.hasJob())
				}
				c.appendEvents(created, 1)
				if n := c.sends(); n != 1 {
					t.Errorf("%d notifications were sent, want only the new one", n)
				}
				if slices.Max(c.store.steps) > 1_000 {
					t.Errorf("transactions gave up %v", c.store.steps)
				}
			})
		})
	}
}

// TestFailingWebhookIsSentNothingOfItsBacklog: the failure that disables a webhook leaves
// the rest of its notifications to a job.
func TestFailingWebhookIsSentNothingOfItsBacklog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClearing(t, func(h *lastmile.Webhook) { h.FailureStreak = lastmile.MaxFailureStreak })
		defer c.close()
		c.run(func() { time.Sleep(time.Hour) }, c.sender(rejectPost))
		hook, err := c.registry.List(t.Context(), caller)
		if err != nil || len(hook) != 1 || hook[0].Enabled {
			t.Fatalf("after a failure too many: %+v, %v", hook, err)
		}
		made := len(c.received())
		if left := c.count(lastmile.NotificationPending); left == 0 || !c.hasJob() {
			t.Errorf("%d notifications are pending after %d requests; a job: %v", left, made, c.hasJob())
		}
		c.finish()
		if n := c.count(lastmile.NotificationGivenUp); n != backlog {
			t.Errorf("%d notifications were given up", n)
		}
		c.set(true)
		if n := c.sends(); n != 0 {
			t.Errorf("%d notifications were sent after all", n)
		}
	})
}

// TestWebhookThatIsBeingClearedGetsWhatFollows: tests and redeliveries that are requested
// meanwhile are not given up with the backlog.
func TestWebhookThatIsBeingClearedGetsWhatFollows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, request := range map[string]func(*clearing) (lastmile.Redelivered, error){
			"test": func(c *clearing) (lastmile.Redelivered, error) {
				return c.registry.Test(t.Context(), caller, c.hook)
			},
			"redelivery": func(c *clearing) (lastmile.Redelivered, error) {
				log, err := c.registry.Log(t.Context(), caller, c.hook, webhook.LogQuery{Failed: true})
				if err != nil {
					return 0, err
				}
				return c.registry.Redeliver(t.Context(), caller, c.hook, log[0].ID)
			},
			"redelivery of all": func(c *clearing) (lastmile.Redelivered, error) {
				return c.registry.RedeliverFailed(t.Context(), caller, c.hook, time.Time{})
			},
		} {
			c := newClearing(t, unchanged)
			c.set(false)
			want, err := request(c)
			if err != nil || c.hasJob() {
				t.Errorf("%s: %v; a job: %v", name, err, c.hasJob())
			}
			if n := c.sends(); n != int(want) {
				t.Errorf("%s: %d notifications were sent, want %d", name, n, want)
			}
			c.close()
		}
	})
}

// TestRequestsDoNotWaitForAHugeBacklog: requests that have to clear a huge backlog are rejected
// after a while, and the notifications given up until then are no longer pending.
func TestRequestsDoNotWaitForAHugeBacklog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClearing(t, unchanged)
		defer c.close()
		c.set(false)
		c.store.huge = true
		enabled := true
		_, enabling := c.registry.Update(t.Context(), caller, c.hook, lastmile.WebhookChange{Enabled: &enabled})
		_, testing := c.registry.Test(t.Context(), caller, c.hook)
		for name, err := range map[string]error{"enabling": enabling, "testing": testing} {
			if e, ok := errors.AsType[*lastmile.Error](err); !ok || e.Code != lastmile.CodeOverloaded {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := len(c.store.steps); n > 250 {
			t.Errorf("two requests made %d transactions", n)
		}
		if n := c.count(lastmile.NotificationPending); n > 0 || !c.hasJob() {
			t.Errorf("%d are pending; a job: %v", n, c.hasJob())
		}
		c.store.huge = false
		c.set(true)
		if c.hasJob() {
			t.Error("a job is left")
		}
	})
}

// TestChangedWebhookKeepsItsRedeliveries renames a disabled webhook after a redelivery was
// requested.
func TestChangedWebhookKeepsItsRedeliveries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClearing(t, unchanged)
		c.set(false)
		want, err := c.registry.RedeliverFailed(t.Context(), caller, c.hook, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.registry.Update(t.Context(), caller, c.hook, lastmile.WebhookChange{Name: new("renamed")}); err != nil {
			t.Fatal(err)
		}
		if n := c.sends(); n != int(want) || n == 0 {
			t.Errorf("%d notifications were sent, want %d", n, want)
		}
		c.close()
	})
}

// TestDeletedWebhookIsGoneWithAllItsNotifications deletes a webhook with more notifications
// than one transaction deletes, on a node that is killed.
func TestDeletedWebhookIsGoneWithAllItsNotifications(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClearing(t, unchanged)
		defer c.close()
		if err := c.registry.Delete(t.Context(), caller, c.hook); err != nil {
			t.Fatal(err)
		}
		if n := c.count(lastmile.NotificationPending); n != backlog-1_000 {
			t.Errorf("one transaction left %d notifications", n)
		}
		list, err := c.registry.List(t.Context(), caller)
		if err != nil || len(list) > 0 {
			t.Errorf("webhooks: %+v, %v", list, err)
		}
		if _, err := c.registry.Log(t.Context(), caller, c.hook, webhook.LogQuery{}); !lastmile.IsNotFound(err) {
			t.Errorf("its notifications: %v", err)
		}
		if n := c.sends(); n != 0 {
			t.Errorf("%d notifications were sent to a deleted webhook", n)
		}
		c.kill()
		if n := c.count(lastmile.NotificationPending); n != backlog-2_000 {
			t.Errorf("the node that was killed left %d notifications", n)
		}
		c.finish()
		if n := c.count(lastmile.NotificationPending); n != 0 {
			t.Errorf("%d notifications are left", n)
		}
	})
}

// TestQueueIsReadAgainAfterAChange disables and enables a webhook while notifications are
// on their way.
func TestQueueIsReadAgainAfterAChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClearing(t, unchanged)
		defer c.close()
		c.run(func() {
			time.Sleep(10 * time.Second)
			c.set(false)
			c.set(true)
			before := len(c.received())
			time.Sleep(time.Hour)
			// Four requests at a time take a tenth of a second each. The webhook is read
			// again within a second, and bursts of 16 requests end by themselves.
			if n := len(c.received()) - before; n > 104 {
				t.Errorf("%d notifications were sent after they had been given up", n)
			}
			before = len(c.received())
			c.appendEvents(created, 1)
			time.Sleep(time.Minute)
			if n := len(c.received()) - before; n != 1 {
				t.Errorf("%d notifications were sent after the change, want the new one", n)
			}
		}, c.sender(func(ctx context.Context, p post) (int, string) {
			time.Sleep(100 * time.Millisecond)
			return acceptPost(ctx, p)
		}))
	})
}
