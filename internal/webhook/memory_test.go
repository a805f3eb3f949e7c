package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/webhook"
)

const largeBody = 100_000 // bytes of a name

// appendLarge appends an event with a large body. The ids of its notifications begin with
// its number, in 20 digits.
func (w *fixture) appendLarge(org lastmile.OrganizationID, number int) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		w.nextID = fmt.Sprintf("%020d0000", number)
		return w.log.Append(ctx, tx, lastmile.Event{
			Organization: org, Trigger: created, At: now(),
			Worker: &lastmile.Worker{ID: "workerworkerworkerworker", Organization: org, Name: strings.Repeat("x", largeBody)},
		})
	})
}

// slowReceiver takes 0.9 s for a request. It records the numbers of events by webhook, and the
// most bytes that the sender had in memory.
type slowReceiver struct {
	sender *webhook.Sender
	mu     sync.Mutex
	got    map[string][]int
	most   int
}

func (w *fixture) slowReceiver() *slowReceiver {
	r := &slowReceiver{sender: w.sender(nil), got: map[string][]int{}}
	r.sender.Alone = true
	r.sender.Poster = poster(func(_ context.Context, url string, header http.Header, _ []byte) (int, string) {
		number, err := strconv.Atoi(header.Get("Webhook-Id")[:20])
		if err != nil {
			w.t.Error(err)
		}
		r.mu.Lock()
		r.got[url] = append(r.got[url], number)
		r.most = max(r.most, webhook.Queued(r.sender))
		r.mu.Unlock()
		time.Sleep(900 * time.Millisecond)
		return http.StatusOK, ""
	})
	return r
}

// check verifies that each webhook got each event once, and in order except for requests
// that are made at the same time.
func (r *slowReceiver) check(t *testing.T, hooks, events int) {
	t.Helper()
	const concurrent = 64
	if len(r.got) != hooks {
		t.Errorf("%d of %d webhooks got notifications", len(r.got), hooks)
	}
	for url, numbers := range r.got {
		seen := map[int]bool{}
		for at, number := range numbers {
			if seen[number] = true; max(at-number, number-at) > concurrent {
				t.Errorf("%s got event %d at position %d", url, number, at)
			}
		}
		if len(numbers) != events || len(seen) != events {
			t.Errorf("%s got %d requests for %d of %d events", url, len(numbers), len(seen), events)
		}
	}
	if left := webhook.Queued(r.sender); left != 0 {
		t.Errorf("%d bytes are still counted after the end", left)
	}
	t.Logf("%d bytes in memory", r.most)
}

// TestQueueOfLargeNotificationsIsBounded hands over notifications faster than a webhook
// takes them.
func TestQueueOfLargeNotificationsIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const events = 80
		w := newFixture(t)
		defer w.close()
		w.hook(created)
		receiver := w.slowReceiver()
		w.run(func() {
			for i := range events {
				w.appendLarge(acme, i)
				if i == 0 {
					time.Sleep(1500 * time.Millisecond) // the webhook is quick from then on, and lingers
				}
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(5 * time.Minute)
		}, receiver.sender)
		receiver.check(t, 1, events)
		if most := 2 * webhook.MaxQueued; receiver.most > most || receiver.most < webhook.MaxQueued/2 {
			t.Errorf("%d bytes were in memory, want at most %d", receiver.most, most)
		}
	})
}

// TestBacklogOfLargeNotificationsIsBounded starts a sender when many webhooks have
// notifications that together do not fit in memory.
func TestBacklogOfLargeNotificationsIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hooks, events = 32, 16
		w := newFixture(t)
		defer w.close()
		orgs := []lastmile.OrganizationID{acme, lastmile.OrganizationID(newID())}
		for i := range hooks {
			w.hookOf(orgs[i%2], created)
		}
		for i := range events {
			w.appendLarge(orgs[0], i)
			w.appendLarge(orgs[1], i)
		}
		w.log.Drain() // as after a restart
		receiver := w.slowReceiver()
		w.run(func() { time.Sleep(10 * time.Minute) }, receiver.sender)
		receiver.check(t, hooks, events)
		if most := webhook.MaxQueuedTotal + hooks*(webhook.MinPage+largeBody); receiver.most > most || receiver.most < webhook.MaxQueuedTotal/4 {
			t.Errorf("%d bytes were in memory, want at most %d", receiver.most, most)
		}
	})
}
