package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

func testAttempts(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	n := pending(t, s)
	var want []lastmile.Attempt
	for number := int64(1); number <= store.KeptResponses+2; number++ {
		n.Attempts, n.Next = number, now.Add(time.Duration(number)*time.Hour)
		a := lastmile.Attempt{Organization: acme, Notification: n.ID, Number: number, At: now.Add(time.Duration(number) * time.Minute), Took: 7 * time.Millisecond, Status: 500 + int(number), Reason: "r", Response: fmt.Sprint("response ", number)}
		want = append(want, a)
		for _, first := range []bool{true, false} {
			write(t, s, func(w *sqlstore.Tx) error {
				saved, err := w.SaveAttempt(ctx, n, a)
				if saved != first {
					t.Errorf("attempt %d, for the first time %v: saved %v", number, first, saved)
				}
				return err
			})
		}
	}
	want[store.KeptResponses].Response = "" // neither one of the first nor the last
	same(t, "attempts", read(t, s, func(r *sqlstore.Tx) ([]lastmile.Attempt, error) { return r.Attempts(ctx, acme, n.ID) }), want)
	same(t, "another organization's attempts", read(t, s, func(r *sqlstore.Tx) ([]lastmile.Attempt, error) { return r.Attempts(ctx, zenith, n.ID) }), []lastmile.Attempt(nil))
	got := read(t, s, func(r *sqlstore.Tx) (lastmile.Notification, error) { return r.Notification(ctx, acme, n.ID) })
	same(t, "the notification", got, n)
}

// testKeptAttempts checks that only the latest attempts at a notification are kept.
func testKeptAttempts(t *testing.T, s *sqlstore.Store) {
	ctx, n := t.Context(), pending(t, s)
	write(t, s, func(w *sqlstore.Tx) error {
		for n.Attempts < store.KeptAttempts+10 {
			n.Attempts++
			if _, err := w.SaveAttempt(ctx, n, attempt(n)); err != nil {
				return err
			}
		}
		return nil
	})
	kept := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Attempt, error) { return r.Attempts(ctx, acme, n.ID) })
	if len(kept) != store.KeptAttempts || kept[0].Number != 11 || kept[len(kept)-1].Number != n.Attempts {
		t.Errorf("%d attempts are kept, from %d", len(kept), kept[0].Number)
	}
}

// testDeletedAttempts deletes more attempts at one notification than one transaction does.
func testDeletedAttempts(t *testing.T, s *sqlstore.Store) {
	ctx, n := t.Context(), pending(t, s)
	write(t, s, func(w *sqlstore.Tx) error {
		for n.Attempts < 10 {
			n.Attempts++
			if _, err := w.SaveAttempt(ctx, n, attempt(n)); err != nil {
				return err
			}
		}
		return w.DeleteWebhook(ctx, acme, n.Webhook)
	})
	var left []int
	for more := true; more; {
		left = append(left, len(read(t, s, func(r *sqlstore.Tx) ([]lastmile.Attempt, error) { return r.Attempts(ctx, acme, n.ID) })))
		write(t, s, func(w *sqlstore.Tx) (err error) {
			more, err = w.DeleteNotifications(ctx, acme, n.Webhook, 3)
			return err
		})
	}
	same(t, "attempts before each step", left, []int{10, 7, 4, 1, 0})
}

// pending returns a notification that is due.
func pending(t *testing.T, s *sqlstore.Store) lastmile.Notification {
	t.Helper()
	h := hook(acme, "h", workerCreated)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveWebhook(t.Context(), h), insertEvents(t.Context(), w, []lastmile.Event{happened(acme, "e1", workerCreated, 0)}))
	})
	return dueTo(t, s, h, now, store.NotificationCursor{}, 1)[0]
}

// attempt returns the latest attempt at a notification.
func attempt(n lastmile.Notification) lastmile.Attempt {
	return lastmile.Attempt{Organization: n.Organization, Notification: n.ID, Number: n.Attempts, At: now}
}

// testChangedMeanwhile checks that an attempt is kept if its notification was given up or
// redelivered meanwhile. A notification that was given up is not tried again; one that was
// redelivered is, unless the attempt succeeded.
func testChangedMeanwhile(t *testing.T, s *sqlstore.Store) {
	ctx, n, later := t.Context(), pending(t, s), now.Add(time.Minute)
	giveUp(t, s, n.Webhook, 10)
	redeliver := func() {
		write(t, s, func(w *sqlstore.Tx) error { return w.Redeliver(ctx, n, later) })
	}
	for _, step := range []struct {
		name          string
		before        func()
		result, state lastmile.NotificationState
		next          time.Time
	}{
		{"given up, and failed", func() {}, lastmile.NotificationPending, lastmile.NotificationGivenUp, time.Time{}},
		{"redelivered, and failed", redeliver, lastmile.NotificationPending, lastmile.NotificationPending, later},
		{"redelivered, and failed for the last time", redeliver, lastmile.NotificationGivenUp, lastmile.NotificationPending, later},
		{"redelivered, given up, and failed", func() { giveUp(t, s, n.Webhook, 10) }, lastmile.NotificationPending, lastmile.NotificationGivenUp, time.Time{}},
		{"redelivered, and delivered", redeliver, lastmile.NotificationDelivered, lastmile.NotificationDelivered, time.Time{}},
	} {
		step.before()
		n.Attempts++
		if n.State, n.Next = step.result, (time.Time{}); n.State == lastmile.NotificationPending {
			n.Next = now.Add(time.Hour)
		}
		write(t, s, func(w *sqlstore.Tx) error {
			_, err := w.SaveAttempt(ctx, n, attempt(n))
			return err
		})
		got := read(t, s, func(r *sqlstore.Tx) (lastmile.Notification, error) { return r.Notification(ctx, acme, n.ID) })
		if got.State != step.state || !got.Next.Equal(step.next) || got.Attempts != n.Attempts {
			t.Errorf("%s: the notification is %+v", step.name, got)
		}
	}
}
