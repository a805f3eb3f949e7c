package events_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
)

const (
	acme   lastmile.OrganizationID = "acmeacmeacmeacmeacmeacme"
	zenith lastmile.OrganizationID = "zenithzenithzenithzenith"
)

var noon = time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)

// transaction is a Transaction in memory.
type transaction struct {
	workers       map[lastmile.WorkerID]lastmile.Worker
	hooks         []lastmile.Webhook
	events        []lastmile.EventRecord
	notifications []lastmile.Notification
	reads         int  // calls of WebhookTriggers
	numbers       bool // events are numbered when they are stored
	committed     []func()
}

func (tx *transaction) OnCommit(fn func()) { tx.committed = append(tx.committed, fn) }

func (tx *transaction) commit() {
	for _, fn := range tx.committed {
		fn()
	}
}

func (tx *transaction) Worker(_ context.Context, _ lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error) {
	worker, ok := tx.workers[id]
	if !ok {
		return worker, lastmile.NotFound("worker", string(id))
	}
	return worker, nil
}

func (tx *transaction) WebhookTriggers(_ context.Context, org lastmile.OrganizationID) (found []lastmile.Webhook, _ error) {
	tx.reads++
	for _, h := range tx.hooks {
		if h.Organization == org {
			found = append(found, h)
		}
	}
	return found, nil
}

func (tx *transaction) InsertEvents(_ context.Context, all []lastmile.EventRecord) (bool, error) {
	tx.events = append(tx.events, all...)
	return tx.numbers, nil
}

func (tx *transaction) InsertNotifications(_ context.Context, all []lastmile.Notification) error {
	tx.notifications = append(tx.notifications, all...)
	return nil
}

// newLog returns a log whose ids count up and whose bodies contain the id.
func newLog(hub *events.Hub, messages func([]lastmile.Event)) *events.Log {
	var mu sync.Mutex
	last := 0
	return events.NewLog(events.Options{
		Now: func() time.Time { return noon }, Hub: hub,
		NewID: func() string {
			mu.Lock()
			defer mu.Unlock()
			last++
			return fmt.Sprintf("event%019d", last)
		},
		Encode: func(_ context.Context, all []lastmile.Event) (bodies [][]byte, err error) {
			for _, e := range all {
				bodies = append(bodies, []byte("body of "+e.ID))
			}
			return bodies, nil
		},
		Messages: func(_ context.Context, _ events.Transaction, all []lastmile.Event) error {
			messages(all)
			return nil
		},
	})
}

func noMessages([]lastmile.Event) {}

// received receives a value without waiting and reports whether there was one.
func received(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// network connects hubs as PostgreSQL does, and can fail.
type network struct {
	mu        sync.Mutex
	down      bool // connecting and sending fail
	deaf      bool // nothing arrives on new connections
	listeners map[*listener]struct{}
	sent      []string
	version   int
}

type listener struct {
	payloads chan string
	lost     chan struct{}
	deaf     bool // nothing arrives on it
}

var errDown = errors.New("down")

func (n *network) Notify(_ context.Context, payloads []string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return errDown
	}
	n.sent = append(n.sent, payloads...)
	for l := range n.listeners {
		if l.deaf {
			continue
		}
		for _, p := range payloads {
			l.payloads <- p
		}
	}
	return nil
}

func (n *network) Listen(ctx context.Context, listening func(), receive func(string)) error {
	l := &listener{payloads: make(chan string, 10_000), lost: make(chan struct{})}
	n.mu.Lock()
	if n.down {
		n.mu.Unlock()
		return errDown
	}
	if n.listeners == nil {
		n.listeners = map[*listener]struct{}{}
	}
	l.deaf = n.deaf
	n.listeners[l] = struct{}{}
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, l)
	}()
	listening()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.lost:
			return errDown
		case p := <-l.payloads:
			receive(p)
		}
	}
}

// cut breaks every connection. If down, the network stays down.
func (n *network) cut(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
	for l := range n.listeners {
		close(l.lost)
		delete(n.listeners, l)
	}
}

// deafen drops everything sent to open connections and to new ones.
func (n *network) deafen() {
	n.set(func() {
		n.deaf = true
		for l := range n.listeners {
			l.deaf = true
		}
	})
}

// set changes the network under its lock.
func (n *network) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

// commit makes a change that polling can detect.
func (n *network) commit() { n.set(func() { n.version++ }) }

func (n *network) Version(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return fmt.Sprint(n.version), nil
}

// node runs a hub on the network until the test's bubble ends.
func (n *network) node(t *testing.T, name string, poll time.Duration) *events.Hub {
	t.Helper()
	h := events.NewHub(events.HubOptions{Node: name, Relay: n, Version: n.Version, Poll: poll})
	run(t, h)
	return h
}

// run runs a hub until the test ends.
func run(t *testing.T, h *events.Hub) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { h.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		group.Wait()
	})
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
