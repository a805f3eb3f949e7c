package messaging_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/textmessage"
)

// The organizations of these tests.
const (
	acme   lastmile.OrganizationID = "acmeacmeacmeacmeacmeacme"
	zenith lastmile.OrganizationID = "zenithzenithzenithzenith"
)

const phone lastmile.Phone = "+12125550100"

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func newID() string { return rand.Text()[:lastmile.IDLength] }

// world is a real database with organizations in it, and gateways that are
// functions.
type world struct {
	t     testing.TB
	store *sqlstore.Store
	desk  *messaging.Desk

	mu   sync.Mutex
	sent []sending
}

// sending is a message that a gateway was given.
type sending struct {
	at      time.Time
	message textmessage.Message
}

func newWorld(t testing.TB) *world {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	db, err := sqlstore.Open(t.Context(), sqlstore.Options{Data: t.TempDir(), Serve: true, Patience: time.Minute, Now: now, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: db}
	w.desk = &messaging.Desk{
		Store: db, Now: now, NewID: newID, Log: quiet,
		ParsePhone: func(raw, _ string) (lastmile.Phone, error) { return lastmile.Phone(raw), nil },
	}
	for id, name := range map[lastmile.OrganizationID]string{acme: "Acme", zenith: "Zenith"} {
		w.write(func(ctx context.Context, tx store.Writer) error {
			return tx.SaveOrganization(ctx, lastmile.Organization{ID: id, Name: name, Country: "US", Timezone: "UTC", Created: now(), Modified: now()})
		})
	}
	return w
}

// close ends the world; in a bubble, before the bubble does.
func (w *world) close() {
	w.t.Helper()
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) write(change func(ctx context.Context, tx store.Writer) error) {
	w.t.Helper()
	ctx := w.t.Context()
	if err := w.store.Write(ctx, func(tx store.Writer) error { return change(ctx, tx) }); err != nil {
		w.t.Fatal(err)
	}
}

// owe saves a message to be sent and returns its id.
func (w *world) owe(org lastmile.OrganizationID, kind textmessage.Kind, to lastmile.Phone) lastmile.MessageID {
	w.t.Helper()
	m := textmessage.New(lastmile.MessageID(newID()), org, kind, to, "hello", now(), now())
	if kind != textmessage.KindInvitation {
		m.Task = lastmile.TaskID(newID())
	}
	w.write(func(ctx context.Context, tx store.Writer) error { return tx.SaveMessage(ctx, m) })
	return m.ID
}

// message reads a message.
func (w *world) message(id lastmile.MessageID) (m textmessage.Message) {
	w.t.Helper()
	err := w.store.Read(w.t.Context(), func(r store.Reader) (err error) {
		m, err = r.MessageByID(w.t.Context(), id)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// is fails the test when a message is in another state.
func (w *world) is(id lastmile.MessageID, state textmessage.State, reason string) textmessage.Message {
	w.t.Helper()
	m := w.message(id)
	if m.State != state || m.Reason != reason {
		w.t.Errorf("the message is %s (%s), want %s (%s)", m.State, m.Reason, state, reason)
	}
	return m
}

// gateway is one whose answers are functions.
type gateway struct {
	world *world
	send  func(ctx context.Context, m textmessage.Message) textmessage.Result
}

func (g gateway) Name() string { return "fake" }
func (g gateway) From() string { return "+12125550001" }

func (g gateway) Send(ctx context.Context, m textmessage.Message) textmessage.Result {
	g.world.mu.Lock()
	g.world.sent = append(g.world.sent, sending{now(), m})
	g.world.mu.Unlock()
	return g.send(ctx, m)
}

// asked is a gateway that can be asked what became of a message.
type asked struct {
	gateway
	find func(ctx context.Context, m textmessage.Message) textmessage.Result
}

func (a asked) Find(ctx context.Context, m textmessage.Message) textmessage.Result {
	return a.find(ctx, m)
}

func taken(_ context.Context, m textmessage.Message) textmessage.Result {
	return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: "g-" + string(m.ID)}
}

// sender makes a sender with a gateway; nil: the outbox.
func (w *world) sender(g messaging.Gateway) *messaging.Sender {
	return &messaging.Sender{
		Store: w.store, Gateway: g, Caps: textmessage.DefaultCaps, Now: now, NewID: newID, Log: slog.New(slog.DiscardHandler), Woken: w.store.Texted(),
	}
}

// during runs senders while something happens.
func (w *world) during(do func(), senders ...*messaging.Sender) {
	w.t.Helper()
	storetest.During(w.t, do, senders...)
}

// sendings are what gateways were given.
func (w *world) sendings() []sending {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}
