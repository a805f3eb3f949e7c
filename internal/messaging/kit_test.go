package messaging_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/textmessage"
	"dray/internal/wire"
	"dray/internal/work"
)

// The organizations of these tests.
const (
	acme   lastmile.OrganizationID = "acmeacmeacmeacmeacmeacme"
	zenith lastmile.OrganizationID = "zenithzenithzenithzenith"
)

const phone lastmile.Phone = "+12125550100"

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func newID() string { return rand.Text()[:lastmile.IDLength] }

// fixture is a real database with two organizations, and the messages that
// gateways got.
type fixture struct {
	t        testing.TB
	store    *sqlstore.Store
	messages *messaging.Messages
	log      *events.Log
	texts    events.Wake

	mu   sync.Mutex
	sent []sending
}

// sending is a message that a gateway got.
type sending struct {
	at      time.Time
	message textmessage.Message
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	db, err := sqlstore.Open(t.Context(), sqlstore.Options{Data: storetest.Folder(t), Serve: true, Patience: time.Minute, Now: now, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{t: t, store: db}
	composer := &messaging.Composer{Store: sqlstore.For[messaging.Reader, messaging.Writer](db), Now: now, NewID: newID, Saved: w.texts.Signal}
	w.log = events.NewLog(events.Options{
		Now: now, NewID: newID, Hub: events.NewHub(events.HubOptions{}),
		Encode: func(_ context.Context, all []lastmile.Event) ([][]byte, error) { return wire.EncodeEvents(nil, all) },
		Messages: func(ctx context.Context, tx events.Transaction, all []lastmile.Event) error {
			return composer.Notify(ctx, tx, all)
		},
	})
	w.messages = &messaging.Messages{
		Store: sqlstore.For[messaging.Reader, messaging.Writer](db), Now: now, NewID: newID, Events: w.log, Log: quiet,
		ParsePhone: func(raw, _ string) (lastmile.Phone, error) { return lastmile.Phone(raw), nil },
	}
	for id, name := range map[lastmile.OrganizationID]string{acme: "Acme", zenith: "Zenith"} {
		w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
			return tx.SaveOrganization(ctx, lastmile.Organization{ID: id, Name: name, Country: "US", Timezone: "UTC", Created: now(), Modified: now()})
		})
	}
	return w
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

// enqueue saves a message to be sent and returns its id.
func (w *fixture) enqueue(org lastmile.OrganizationID, kind textmessage.Kind, to lastmile.Phone) lastmile.MessageID {
	w.t.Helper()
	m := textmessage.New(lastmile.MessageID(newID()), org, kind, to, "hello", now(), now())
	if kind != textmessage.KindInvitation {
		m.Task = lastmile.TaskID(newID())
	}
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		tx.OnCommit(w.texts.Signal)
		return tx.SaveMessage(ctx, m)
	})
	return m.ID
}

// begin leases a message and marks it as being sent, like a process that then
// crashes.
func begin(ctx context.Context, tx *sqlstore.Tx, id lastmile.MessageID, until time.Time) error {
	m, err := tx.MessageByID(ctx, id)
	if err != nil {
		return err
	}
	item := work.Item{Kind: work.Messages, Organization: m.Organization, ID: string(id), Lease: newID()}
	if ok, err := tx.ClaimWork(ctx, item, now(), until); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("claimed is %v", ok))
	}
	if m.State == textmessage.StateSending {
		m.Uncertain++
	}
	m.State, m.Attempts = textmessage.StateSending, m.Attempts+1
	if m.Sent.IsZero() {
		m.Sent = now()
	}
	return tx.BeginMessage(ctx, m)
}

// message reads a message.
func (w *fixture) message(id lastmile.MessageID) (m textmessage.Message) {
	w.t.Helper()
	err := w.store.Read(w.t.Context(), func(r *sqlstore.Tx) (err error) {
		m, err = r.MessageByID(w.t.Context(), id)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// wantState fails the test if a message is in another state.
func (w *fixture) wantState(id lastmile.MessageID, state textmessage.State, reason string) textmessage.Message {
	w.t.Helper()
	m := w.message(id)
	if m.State != state || m.Reason != reason {
		w.t.Errorf("the message is %s (%s), want %s (%s)", m.State, m.Reason, state, reason)
	}
	return m
}

// gateway is a Gateway whose Send is a function.
type gateway struct {
	fixture *fixture
	send    func(ctx context.Context, m textmessage.Message) textmessage.Result
}

func (g gateway) Name() string { return "fake" }
func (g gateway) From() string { return "+12125550001" }

func (g gateway) Send(ctx context.Context, m textmessage.Message) textmessage.Result {
	g.fixture.mu.Lock()
	g.fixture.sent = append(g.fixture.sent, sending{now(), m})
	g.fixture.mu.Unlock()
	return g.send(ctx, m)
}

// findingGateway is a gateway that is also a Finder.
type findingGateway struct {
	gateway
	find func(ctx context.Context, m textmessage.Message, taken []string) textmessage.Result
}

func (a findingGateway) Find(ctx context.Context, m textmessage.Message, taken []string) textmessage.Result {
	return a.find(ctx, m, taken)
}

func acceptSend(_ context.Context, m textmessage.Message) textmessage.Result {
	return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: "g-" + string(m.ID)}
}

// sender returns a sender with a gateway; nil means the outbox.
func (w *fixture) sender(g messaging.Gateway) *messaging.Sender {
	return &messaging.Sender{
		Store: sqlstore.For[messaging.Reader, messaging.Writer](w.store), Events: w.log, Gateway: g, Policy: messaging.Policy{Caps: textmessage.DefaultCaps}, Now: now, NewID: newID, Log: slog.New(slog.DiscardHandler), Wake: w.texts.Channel(),
	}
}

// during runs senders while do runs.
func (w *fixture) during(do func(), senders ...*messaging.Sender) {
	w.t.Helper()
	storetest.During(w.t, do, senders...)
}

// sendings returns the messages that gateways got.
func (w *fixture) sendings() []sending {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}
