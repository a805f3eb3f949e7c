package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/work"
)

// runWebhooks tests webhooks, their notifications, and the event log.
func runWebhooks(t *testing.T, open func(t *testing.T) *sqlstore.Store) {
	t.Run("a webhook is kept with its counts", func(t *testing.T) { testWebhooks(t, open(t)) })
	t.Run("an event is due to the webhooks of its trigger", func(t *testing.T) { testDue(t, open(t)) })
	t.Run("a webhook belongs to the last who claimed it", func(t *testing.T) { testWebhookClaims(t, open(t)) })
	t.Run("an attempt is recorded once", func(t *testing.T) { testAttempts(t, open(t)) })
	t.Run("the latest attempts are kept", func(t *testing.T) { testKeptAttempts(t, open(t)) })
	t.Run("many attempts at one notification are deleted step by step", func(t *testing.T) { testDeletedAttempts(t, open(t)) })
	t.Run("an attempt does not undo what was done to its notification meanwhile", func(t *testing.T) { testChangedMeanwhile(t, open(t)) })
	t.Run("notifications are given up and deleted step by step", func(t *testing.T) { testClearing(t, open(t)) })
	t.Run("events are numbered in order and without gaps", func(t *testing.T) { testNumbers(t, open(t)) })
	t.Run("events of two organizations are numbered separately", func(t *testing.T) { testNumbersOfTwo(t, open(t)) })
	t.Run("events are numbered by several nodes", func(t *testing.T) { testNumbersAtOnce(t, open(t)) })
	t.Run("many events are stored at once", func(t *testing.T) { testManyEvents(t, open(t)) })
	t.Run("old events are purged, unless a notification of them is pending", func(t *testing.T) { testPurge(t, open(t)) })
}

func hook(org lastmile.OrganizationID, name string, trigger lastmile.Trigger) lastmile.Webhook {
	return lastmile.Webhook{
		ID: id[lastmile.WebhookID](name), Organization: org, Created: now, Modified: now, URL: "https://" + name + ".example/", Trigger: trigger, Enabled: true,
	}
}

// happened returns an event of a worker, some milliseconds after now.
func happened(org lastmile.OrganizationID, name string, trigger lastmile.Trigger, after int) lastmile.Event {
	at := now.Add(time.Duration(after) * time.Millisecond)
	return lastmile.Event{
		ID: id[string](name), Organization: org, Trigger: trigger, At: at, Stored: at,
		Worker: &lastmile.Worker{ID: id[lastmile.WorkerID]("w"), Organization: org},
	}
}

const (
	workerCreated = lastmile.TriggerWorkerCreated
	workerUpdated = lastmile.TriggerWorkerUpdated
)

func testWebhooks(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	threshold := 12.5
	full, other := hook(acme, "full", workerCreated), hook(zenith, "other", workerCreated)
	full.Name, full.Threshold, full.Count, full.FailureStreak, full.CanReceiveConnectionEvents = "N", &threshold, 3, 4, true
	full.Enabled, full.Created = false, now.Add(time.Second)
	bare := hook(acme, "bare", workerUpdated)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveWebhook(ctx, full), w.SaveWebhook(ctx, bare), w.SaveWebhook(ctx, other))
	})
	same(t, "webhooks, oldest first", read(t, s, func(r *sqlstore.Tx) ([]lastmile.Webhook, error) { return r.Webhooks(ctx, acme) }), []lastmile.Webhook{bare, full})
	one := func(id lastmile.WebhookID) (h lastmile.Webhook, err error) {
		err = s.Read(ctx, func(r *sqlstore.Tx) (err error) {
			h, err = r.Webhook(ctx, acme, id)
			return err
		})
		return h, err
	}
	if _, err := one(other.ID); code(err) != lastmile.CodeOutsideScope {
		t.Errorf("another organization's webhook: %v", err)
	}
	if _, err := one(id[lastmile.WebhookID]("missing")); code(err) != lastmile.CodeNotFound {
		t.Errorf("a webhook that does not exist: %v", err)
	}
	full.Count, full.FailureStreak, full.Enabled, full.Name = 9, 0, true, "not saved with a tally"
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveCounts(ctx, full) })
	full.Name = "N"
	got, err := one(full.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "after a tally", got, full)
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteWebhook(ctx, acme, full.ID) })
	if _, err := one(full.ID); code(err) != lastmile.CodeNotFound {
		t.Errorf("a deleted webhook: %v", err)
	}
}

// inserted counts the events of these tests.
var inserted atomic.Int64

// insertEvents stores events with their notifications, as package events does.
func insertEvents(ctx context.Context, w *sqlstore.Tx, events []lastmile.Event) error {
	for _, e := range events {
		hooks, err := w.WebhookTriggers(ctx, e.Organization)
		if err != nil {
			return err
		}
		record := lastmile.EventRecord{Event: e, Order: inserted.Add(1), Body: []byte(`{"event":"` + e.ID + `"}`)}
		if _, err := w.InsertEvents(ctx, []lastmile.EventRecord{record}); err != nil {
			return err
		}
		if err := w.InsertNotifications(ctx, e.Notifications(hooks, record.Body)); err != nil {
			return err
		}
	}
	return nil
}

// dueTo lists the notifications of a webhook that are due at a time.
func dueTo(t *testing.T, s *sqlstore.Store, h lastmile.Webhook, at time.Time, after store.NotificationCursor, limit int) []lastmile.Notification {
	t.Helper()
	return read(t, s, func(r *sqlstore.Tx) ([]lastmile.Notification, error) {
		return r.DueNotifications(t.Context(), h.ID, at, after, limit, 1<<20)
	})
}

func eventsOf(list []lastmile.Notification) (names []string) {
	for _, n := range list {
		names = append(names, n.Event[:2])
	}
	return names
}

func testDue(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	a, b, disabled := hook(acme, "a", workerCreated), hook(acme, "b", workerCreated), hook(acme, "c", workerCreated)
	disabled.Enabled = false
	elsewhere := hook(acme, "d", workerUpdated)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveWebhook(ctx, a), w.SaveWebhook(ctx, b), w.SaveWebhook(ctx, disabled), w.SaveWebhook(ctx, elsewhere), w.SaveWebhook(ctx, hook(zenith, "z", workerCreated)))
	})
	meant := happened(acme, "e3", workerCreated, 3)
	meant.Webhooks, meant.Test = []lastmile.WebhookID{disabled.ID}, true
	write(t, s, func(w *sqlstore.Tx) error {
		return insertEvents(ctx, w, []lastmile.Event{happened(acme, "e2", workerCreated, 2), happened(acme, "e1", workerCreated, 1), meant})
	})
	later := now.Add(time.Second)
	same(t, "due to one who waits", eventsOf(dueTo(t, s, a, later, store.NotificationCursor{}, 10)), []string{"e1", "e2"})
	same(t, "due before the second", eventsOf(dueTo(t, s, a, now.Add(time.Millisecond), store.NotificationCursor{}, 10)), []string{"e1"})
	same(t, "due to one who waits for another trigger", eventsOf(dueTo(t, s, elsewhere, later, store.NotificationCursor{}, 10)), []string(nil))
	same(t, "due to a disabled one, by name", eventsOf(dueTo(t, s, disabled, later, store.NotificationCursor{}, 10)), []string{"e3"})
	first := dueTo(t, s, b, later, store.NotificationCursor{}, 1)
	same(t, "the first only", eventsOf(first), []string{"e1"})
	same(t, "after the first", eventsOf(dueTo(t, s, b, later, store.NotificationCursor{Next: first[0].Next, ID: first[0].ID}, 10)), []string{"e2"})
	for bytes, want := range map[int][]string{1: {"e1"}, len(first[0].Body): {"e1"}, len(first[0].Body) + 1: {"e1", "e2"}} {
		same(t, fmt.Sprintf("up to %d bytes", bytes), eventsOf(read(t, s, func(r *sqlstore.Tx) ([]lastmile.Notification, error) {
			return r.DueNotifications(ctx, b.ID, later, store.NotificationCursor{}, 10, bytes)
		})), want)
	}
	if len(first[0].Body) == 0 || first[0].ID == dueTo(t, s, a, later, store.NotificationCursor{}, 1)[0].ID {
		t.Errorf("the notifications of one event to two webhooks: %+v", first[0])
	}
	waiting := read(t, s, func(r *sqlstore.Tx) ([]work.Item, error) {
		return r.DueWork(ctx, work.Query{Kind: work.Webhooks, Now: later, Until: later, PerOrganization: 10, Limit: 10})
	})
	var names []string
	for _, w := range waiting {
		names = append(names, fmt.Sprint(w.ID[:1], " ", w.Due.Sub(now), " ", w.Failures > 0))
	}
	slices.Sort(names)
	same(t, "who waits", names, []string{"a 1ms false", "b 1ms false", "c 3ms false"})

	for i, want := range []int{1, 1, 0} {
		if n := giveUp(t, s, a.ID, 1); n != want {
			t.Errorf("step %d gave up %d notifications, want %d", i, n, want)
		}
	}
	same(t, "due after it was given up", eventsOf(dueTo(t, s, a, later, store.NotificationCursor{}, 10)), []string(nil))
	givenUp := lastmile.NotificationGivenUp
	list := func(f store.NotificationFilter) []string {
		t.Helper()
		return eventsOf(read(t, s, func(r *sqlstore.Tx) ([]lastmile.Notification, error) { return r.Notifications(ctx, acme, f) }))
	}
	same(t, "given up, newest first", list(store.NotificationFilter{Webhook: a.ID, State: &givenUp}), []string{"e2", "e1"})
	same(t, "of the other", list(store.NotificationFilter{Webhook: b.ID, State: &givenUp}), []string(nil))
	same(t, "since", list(store.NotificationFilter{Webhook: b.ID, Since: now.Add(2 * time.Millisecond)}), []string{"e2"})
	same(t, "before", list(store.NotificationFilter{Webhook: b.ID, Before: dueTo(t, s, b, later, store.NotificationCursor{}, 2)[1].ID}), []string{"e1"})
	same(t, "up to a limit", list(store.NotificationFilter{Webhook: b.ID, Limit: 1}), []string{"e2"})
	n := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Notification, error) {
		return r.Notifications(ctx, acme, store.NotificationFilter{Webhook: a.ID, Limit: 1})
	})[0]
	write(t, s, func(w *sqlstore.Tx) error { return w.Redeliver(ctx, n, later) })
	again := dueTo(t, s, a, later, store.NotificationCursor{}, 10)
	if len(again) != 1 || again[0].ID != n.ID || again[0].State != lastmile.NotificationPending || !again[0].Due.Equal(later) {
		t.Errorf("to be sent again: %+v", again)
	}
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteWebhook(ctx, acme, b.ID) })
	same(t, "webhooks that wait after one is gone", read(t, s, func(r *sqlstore.Tx) (names []string, err error) {
		items, err := r.DueWork(ctx, work.Query{Kind: work.Webhooks, Now: later, Until: later, PerOrganization: 10, Limit: 10})
		for _, w := range items {
			names = append(names, w.ID[:1])
		}
		slices.Sort(names)
		return names, err
	}), []string{"a", "c"})
	write(t, s, func(w *sqlstore.Tx) error {
		more, err := w.DeleteNotifications(ctx, acme, b.ID, 10)
		if more {
			t.Error("notifications are left")
		}
		return err
	})
	same(t, "due to one who is gone", eventsOf(dueTo(t, s, b, later, store.NotificationCursor{}, 10)), []string(nil))
	if err := s.Read(ctx, func(r *sqlstore.Tx) error {
		_, err := r.Notification(ctx, acme, first[0].ID)
		return err
	}); code(err) != lastmile.CodeNotFound {
		t.Errorf("a notification of a webhook that is gone: %v", err)
	}
}

// giveUp gives up at most the given number of pending notifications of a webhook, and
// returns how many.
func giveUp(t *testing.T, s *sqlstore.Store, hook lastmile.WebhookID, limit int) (n int) {
	t.Helper()
	write(t, s, func(w *sqlstore.Tx) (err error) {
		n, err = w.GiveUpNotifications(t.Context(), acme, hook, limit)
		return err
	})
	return n
}

// testClearing gives up and deletes notifications in portions, while another webhook keeps
// its own.
func testClearing(t *testing.T, s *sqlstore.Store) {
	ctx, later := t.Context(), now.Add(time.Second)
	gone, stays := hook(acme, "g", workerCreated), hook(acme, "s", workerCreated)
	write(t, s, func(w *sqlstore.Tx) error {
		var errs []error
		for i := range 5 {
			errs = append(errs, insertEvents(ctx, w, []lastmile.Event{happened(acme, fmt.Sprint("e", i), workerCreated, i)}))
			for _, h := range []lastmile.Webhook{gone, stays} {
				_, err := w.Fire(ctx, acme, string(h.ID), fmt.Sprint("task", i), now)
				errs = append(errs, err)
			}
			if i == 0 { // the webhooks get the others
				errs = append(errs, w.SaveWebhook(ctx, gone), w.SaveWebhook(ctx, stays))
			}
		}
		return errors.Join(errs...)
	})
	tried := dueTo(t, s, gone, later, store.NotificationCursor{}, 1)[0]
	for tried.Attempts < 3 {
		tried.Attempts++
		write(t, s, func(w *sqlstore.Tx) error {
			_, err := w.SaveAttempt(ctx, tried, lastmile.Attempt{Organization: acme, Notification: tried.ID, Number: tried.Attempts, At: now, Reason: "r"})
			return err
		})
	}

	job := work.Job{Organization: acme, ID: string(gone.ID), Kind: "clearing", Due: now, Created: now}
	waiting := func() (names []string) {
		t.Helper()
		for _, w := range read(t, s, func(r *sqlstore.Tx) ([]work.Item, error) {
			return r.DueWork(ctx, work.Query{Kind: work.Webhooks, Now: later, Until: later, PerOrganization: 10, Limit: 10})
		}) {
			names = append(names, w.ID[:1])
		}
		slices.Sort(names)
		return names
	}
	hasJob := func() bool {
		t.Helper()
		return read(t, s, func(r *sqlstore.Tx) (bool, error) { return r.HasJob(ctx, acme, string(gone.ID)) })
	}
	same(t, "webhooks that wait", waiting(), []string{"g", "s"})
	write(t, s, func(w *sqlstore.Tx) error { return w.AddJob(ctx, job) })
	same(t, "webhooks that wait while one has a job", waiting(), []string{"s"})
	same(t, "a job", hasJob(), true)
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteJob(ctx, acme, string(gone.ID)) })
	same(t, "no job", hasJob(), false)

	same(t, "given up at first", giveUp(t, s, gone.ID, 3), 3)
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteWebhook(ctx, acme, gone.ID) })
	left := func(h lastmile.Webhook) (rows int) {
		t.Helper()
		return read(t, s, func(r *sqlstore.Tx) (int, error) {
			list, err := r.Notifications(ctx, acme, store.NotificationFilter{Webhook: h.ID})
			rows := 0
			for _, n := range list {
				attempts, failed := r.Attempts(ctx, acme, n.ID)
				rows, err = rows+max(len(attempts), 1), errors.Join(err, failed)
			}
			for i := range 5 {
				fired, failed := r.Fired(ctx, acme, fmt.Sprint("task", i))
				if err = errors.Join(err, failed); slices.Contains(fired, string(h.ID)) {
					rows++
				}
			}
			return rows, err
		})
	}
	var steps []int
	before := left(stays)
	for more := true; more; {
		steps = append(steps, left(gone))
		write(t, s, func(w *sqlstore.Tx) (err error) {
			more, err = w.DeleteNotifications(ctx, acme, gone.ID, 4)
			return err
		})
	}
	// Three attempts at one notification and another, then two and two thresholds.
	same(t, "rows before each step", steps, []int{11, 7, 3})
	same(t, "rows that are left", left(gone), 0)
	same(t, "rows of the other webhook", left(stays), before)
	if err := s.Read(ctx, func(r *sqlstore.Tx) error {
		attempts, err := r.Attempts(ctx, acme, tried.ID)
		if len(attempts) > 0 {
			t.Errorf("attempts are left: %+v", attempts)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

func testWebhookClaims(t *testing.T, s *sqlstore.Store) {
	const leaseLength = 5 * time.Minute
	ctx := t.Context()
	h := hook(acme, "h", workerCreated)
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveWebhook(ctx, h) })
	try := func(what string, want bool, act func(w *sqlstore.Tx) (bool, error)) {
		t.Helper()
		var did bool
		write(t, s, func(w *sqlstore.Tx) (err error) {
			did, err = act(w)
			return err
		})
		if did != want {
			t.Errorf("%s: %v, want %v", what, did, want)
		}
	}
	item := func(name string) work.Item {
		return work.Item{Kind: work.Webhooks, Organization: acme, ID: string(h.ID), Lease: name}
	}
	claim := func(name string, at, until time.Time) func(*sqlstore.Tx) (bool, error) {
		return func(w *sqlstore.Tx) (bool, error) { return w.ClaimWork(ctx, item(name), at, until) }
	}
	hold := func(name string, until time.Time) func(*sqlstore.Tx) (bool, error) {
		return func(w *sqlstore.Tx) (bool, error) {
			lost, err := w.HoldWork(ctx, []work.Item{item(name)}, until)
			return len(lost) == 0, err
		}
	}
	try("the first claim", true, claim("one", now, now.Add(time.Minute)))
	try("a second while it lasts", false, claim("two", now.Add(59*time.Second), now.Add(leaseLength)))
	try("the first goes on", true, hold("one", now.Add(2*time.Minute)))
	try("a second when the first should have ended", false, claim("two", now.Add(time.Minute), now.Add(leaseLength)))
	try("a second when it has", true, claim("two", now.Add(2*time.Minute), now.Add(leaseLength)))
	try("the first comes back", false, hold("one", now.Add(leaseLength)))
	try("the second lasts", true, hold("two", now.Add(leaseLength)))
	try("a webhook that does not exist", false, func(w *sqlstore.Tx) (bool, error) {
		missing := work.Item{Kind: work.Webhooks, Organization: acme, ID: string(id[lastmile.WebhookID]("missing")), Lease: "x"}
		return w.ClaimWork(ctx, missing, now, now.Add(leaseLength))
	})
	write(t, s, func(w *sqlstore.Tx) error { return w.ResetWork(ctx, work.Webhooks, now) })
	try("after all were released", true, claim("three", now, now.Add(leaseLength)))
	try("the second comes back", false, hold("two", now.Add(leaseLength)))
}
