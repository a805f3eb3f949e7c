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

// world is a real database with webhooks in it, and senders that send to
// servers which are functions.
type world struct {
	t     testing.TB
	store *sqlstore.Store
	log   *events.Log
	start time.Time

	nextID string // of the next event; empty for any

	mu    sync.Mutex
	posts []post
}

// post is one request that a server got.
type post struct {
	at     time.Time
	hook   lastmile.WebhookID
	id     string // webhook-id
	number string // webhook-attempt
	header http.Header
	body   []byte
}

// server answers a request, as webhook.Poster does.
type server func(ctx context.Context, p post) (status int, reason string)

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func newID() string { return access.RandomSecret(lastmile.IDLength) }

func newWorld(t testing.TB) *world {
	t.Helper()
	db, err := sqlstore.Open(t.Context(), sqlstore.Options{Data: t.TempDir(), Serve: true, Patience: time.Minute, Now: now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: db, start: now()}
	w.log = events.NewLog(events.Options{
		Now: now, NewID: w.eventID, Hub: events.NewHub(events.HubOptions{}),
		Encode: wire.EncodeEvent,
	})
	return w
}

// eventID is the id of the next event.
func (w *world) eventID() string {
	id := cmp.Or(w.nextID, newID())
	w.nextID = ""
	return id
}

// close ends the world; in a bubble, before the bubble does.
func (w *world) close() {
	w.t.Helper()
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) write(change func(ctx context.Context, tx *sqlstore.Tx) error) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.store.Write(ctx, func(tx *sqlstore.Tx) error { return change(ctx, tx) }); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(look func(ctx context.Context, tx *sqlstore.Tx) error) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.store.Read(ctx, func(tx *sqlstore.Tx) error { return look(ctx, tx) }); err != nil {
		w.t.Fatal(err)
	}
}

// hook makes a webhook, the host of which begins with its id.
func (w *world) hook(trigger lastmile.Trigger) lastmile.WebhookID {
	w.t.Helper()
	return w.hookOf(acme, trigger)
}

func (w *world) hookOf(org lastmile.OrganizationID, trigger lastmile.Trigger) lastmile.WebhookID {
	w.t.Helper()
	id := lastmile.WebhookID(newID())
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		return tx.SaveWebhook(ctx, lastmile.Webhook{
			ID: id, Organization: org, Created: now(), Modified: now(), URL: "https://" + string(id) + ".example/", Trigger: trigger, Enabled: true,
		})
	})
	return id
}

// tell stores so many events of a worker, each in a transaction of its own.
func (w *world) tell(trigger lastmile.Trigger, count int) {
	w.t.Helper()
	for range count {
		w.tellOf(acme, trigger)
	}
}

func (w *world) tellOf(org lastmile.OrganizationID, trigger lastmile.Trigger) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		return w.log.Append(ctx, tx, lastmile.Event{
			Organization: org, Trigger: trigger, At: now(),
			Worker: &lastmile.Worker{ID: "workerworkerworkerworker", Organization: org},
		})
	})
}

// sender makes a sender whose posts go to the server.
func (w *world) sender(serve server) *webhook.Sender {
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

func (p poster) Post(ctx context.Context, url string, header http.Header, body []byte) (int, string) {
	return p(ctx, url, header, body)
}

// run runs senders until the function ends.
func (w *world) run(during func(), senders ...*webhook.Sender) {
	w.t.Helper()
	storetest.During(w.t, during, senders...)
}

// seen are the posts so far.
func (w *world) seen() []post {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.posts)
}

// state reads a webhook, what it was owed, and all attempts at it.
func (w *world) state(id lastmile.WebhookID) (hook lastmile.Webhook, owed []lastmile.DetailedNotification) {
	w.t.Helper()
	w.read(func(ctx context.Context, tx *sqlstore.Tx) (err error) {
		owed = nil
		if hook, err = tx.Webhook(ctx, acme, id); err != nil {
			return err
		}
		list, err := tx.Notifications(ctx, acme, store.NotificationFilter{Webhook: id})
		for _, n := range list {
			attempts, err := tx.Attempts(ctx, acme, n.ID)
			if err != nil {
				return err
			}
			owed = append(owed, lastmile.DetailedNotification{Notification: n, Attempts: attempts})
		}
		return err
	})
	return hook, owed
}

// check holds the log of a webhook against the rules of the interface, and
// against what its server saw.
func (w *world) check(id lastmile.WebhookID) {
	w.t.Helper()
	posted := map[string]int{}
	for _, p := range w.seen() {
		if p.hook == id {
			posted[p.id+" "+p.number]++
		}
	}
	hook, owed := w.state(id)
	delivered := int64(0)
	for _, d := range owed {
		n := d.Notification
		if int64(len(d.Attempts)) != n.Attempts || n.Attempts > 49 {
			w.t.Errorf("notification %s has %d attempts, and %d are in its log", n.ID, n.Attempts, len(d.Attempts))
		}
		for i, a := range d.Attempts {
			if a.Number != int64(i+1) || a.Delivered() != (a.Reason == "") {
				w.t.Errorf("attempt %d is %+v", i+1, a)
			}
			if a.Delivered() {
				delivered++
			}
			if a.Delivered() && i < len(d.Attempts)-1 {
				w.t.Errorf("notification %s was sent again after it had been delivered", n.ID)
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
		w.t.Errorf("count is %d, and %d were delivered", hook.Count, delivered)
	}
	for missing := range posted {
		w.t.Errorf("attempt %s was made, but is not in the log", missing)
	}
}
