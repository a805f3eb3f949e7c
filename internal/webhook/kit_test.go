package webhook_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/webhook"
	"dray/internal/wire"
)

// acme is the organization of these tests.
const acme lastmile.OrganizationID = "acmeacmeacmeacmeacmeacme"

// fixture is a real database with webhooks, and senders whose receivers are
// functions.
type fixture struct {
	t     testing.TB
	store *sqlstore.Store
	log   *events.Log
	start time.Time

	nextID string // id of the next event; random if empty

	mu    sync.Mutex
	posts []post
}

// post is a request that a receiver got.
type post struct {
	at     time.Time
	hook   lastmile.WebhookID
	id     string // webhook-id
	number string // webhook-attempt
	header http.Header
	body   []byte
}

// server handles a request, as webhook.Poster does.
type server func(ctx context.Context, p post) (status int, reason string)

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func newID() string { return access.RandomSecret(lastmile.IDLength) }

func newFixture(t testing.TB) *fixture {
	t.Helper()
	db, err := sqlstore.Open(t.Context(), sqlstore.Options{Data: storetest.Folder(t), Serve: true, Patience: time.Minute, Now: now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, store: db, start: now()}
	w.log = events.NewLog(events.Options{
		Now: now, NewID: w.eventID, Hub: events.NewHub(events.HubOptions{}),
		Encode: func(_ context.Context, all []lastmile.Event) ([][]byte, error) { return wire.EncodeEvents(nil, all) },
	})
	return w
}

// eventID returns the id of the next event.
func (w *fixture) eventID() string {
	id := cmp.Or(w.nextID, newID())
	w.nextID = ""
	return id
}

// close closes the database. A synctest bubble must close it before it ends.
func (w *fixture) close() {
	w.t.Helper()
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *fixture) write(change func(ctx context.Context, tx *sqlstore.Tx) error) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.store.Write(ctx, func(tx *sqlstore.Tx) error { return change(ctx, tx) }); err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) read(fn func(ctx context.Context, tx *sqlstore.Tx) error) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.store.Read(ctx, func(tx *sqlstore.Tx) error { return fn(ctx, tx) }); err != nil {
		w.t.Fatal(err)
	}
}

// hook creates a webhook whose host name begins with its id.
func (w *fixture) hook(trigger lastmile.Trigger) lastmile.WebhookID {
	w.t.Helper()
	return w.hookOf(acme, trigger)
}

func (w *fixture) hookOf(org lastmile.OrganizationID, trigger lastmile.Trigger) lastmile.WebhookID {
	w.t.Helper()
	id := lastmile.WebhookID(newID())
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		return tx.SaveWebhook(ctx, lastmile.Webhook{
			ID: id, Organization: org, Created: now(), Modified: now(), URL: "https://" + string(id) + ".example/", Trigger: trigger, Enabled: true,
		})
	})
	return id
}

// appendEvents appends count events about a worker, each in its own transaction.
func (w *fixture) appendEvents(trigger lastmile.Trigger, count int) {
	w.t.Helper()
	for range count {
		w.appendEvent(acme, trigger)
	}
}

func (w *fixture) appendEvent(org lastmile.OrganizationID, trigger lastmile.Trigger) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		return w.log.Append(ctx, tx, lastmile.Event{
			Organization: org, Trigger: trigger, At: now(),
			Worker: &lastmile.Worker{ID: "workerworkerworkerworker", Organization: org},
		})
	})
}

// sender returns a sender whose requests go to a server.
func (w *fixture) sender(serve server) *webhook.Sender {
	return &webhook.Sender{
		Store: sqlstore.For[webhook.Reader, webhook.Writer](w.store), Now: now, Log: slog.New(slog.DiscardHandler), NewID: newID, Committed: w.log.Committed(), Drain: w.log.Drain,
		Poster: poster(func(ctx context.Context, url string, header http.Header, body []byte) (int, string) {
			p := post{
				at: now(), hook: lastmile.WebhookID(url[len("https://") : len("https://")+lastmile.IDLength]),
				id: header.Get("Webhook-Id"), number: header.Get("Webhook-Attempt"), header: header, body: body,
			}
			w.mu.Lock()
			w.posts = append(w.posts, p)
			w.mu.Unlock()
			return serve(ctx, p)
		}),
		Secrets: func(context.Context, lastmile.OrganizationID) ([][]byte, error) {
			return [][]byte{[]byte("secret")}, nil
		},
	}
}

type poster func(ctx context.Context, url string, header http.Header, body []byte) (int, string)

func (p poster) Post(ctx context.Context, url string, header http.Header, body []byte) (status int, reason, response string) {
	status, reason = p(ctx, url, header, body)
	return status, reason, ""
}

// run runs senders until the function returns.
func (w *fixture) run(during func(), senders ...*webhook.Sender) {
	w.t.Helper()
	storetest.During(w.t, during, senders...)
}

// received returns the requests so far.
func (w *fixture) received() []post {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.posts)
}

// state returns a webhook and its notifications with all attempts.
func (w *fixture) state(id lastmile.WebhookID) (hook lastmile.Webhook, notifications []lastmile.DetailedNotification) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *sqlstore.Tx) (err error) {
		notifications = nil
		if hook, err = tx.Webhook(ctx, acme, id); err != nil {
			return err
		}
		list, err := tx.Notifications(ctx, acme, store.NotificationFilter{Webhook: id})
		for _, n := range list {
			attempts, err := tx.Attempts(ctx, acme, n.ID)
			if err != nil {
				return err
			}
			notifications = append(notifications, lastmile.DetailedNotification{Notification: n, Attempts: attempts})
		}
		return err
	})
	return hook, notifications
}

// check compares the log of a webhook with the rules of the API and with the
// requests that its server got.
func (w *fixture) check(id lastmile.WebhookID) {
	w.t.Helper()
	posted := map[string]int{}
	for _, p := range w.received() {
		if p.hook == id {
			posted[p.id+" "+p.number]++
		}
	}
	hook, notifications := w.state(id)
	delivered := int64(0)
	for _, d := range notifications {
		n := d.Notification
		if int64(len(d.Attempts)) != n.Attempts || n.Attempts > 49 {
			w.t.Errorf("notification %s has %d attempts, but %d in its log", n.ID, n.Attempts, len(d.Attempts))
		}
		for i, a := range d.Attempts {
			if a.Number != int64(i+1) || a.Delivered() != (a.Reason == "") {
				w.t.Errorf("attempt %d is %+v", i+1, a)
			}
			if a.Delivered() {
				delivered++
			}
			if a.Delivered() && i < len(d.Attempts)-1 {
				w.t.Errorf("notification %s was sent again after its delivery", n.ID)
			}
			if gap := a.At.Sub(d.Attempts[max(i-1, 0)].At); i > 0 && (gap < lastmile.RetryInterval || gap > lastmile.RetryInterval+time.Minute) {
				w.t.Errorf("attempt %d is %v after the one before", a.Number, gap)
			}
			if posted[fmt.Sprint(n.ID, " ", a.Number)] == 0 {
				w.t.Errorf("attempt %d at notification %s is in the log, but was never made", a.Number, n.ID)
			}
			delete(posted, fmt.Sprint(n.ID, " ", a.Number))
		}
	}
	if hook.Count != delivered {
		w.t.Errorf("count is %d, but %d were delivered", hook.Count, delivered)
	}
	for missing := range posted {
		w.t.Errorf("attempt %s was made, but is not in the log", missing)
	}
}
