package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
)

// TestKilledMessages is the short form of TestTortureMessages.
func TestKilledMessages(t *testing.T) {
	testKilledMessages(t, 4, 1, nodeStorage{data: t.TempDir()})
}

// messageRig invites workers by text message on nodes that are killed while they
// send.
type messageRig struct {
	webhookRig
	gateway *fakeGateway
	team    string
	number  atomic.Int64
}

// fakeGateway is an HTTP gateway for text messages.
type fakeGateway struct {
	mu       sync.Mutex
	received map[string][]string // bodies of requests by id of the message
	invalid  []string
}

// ServeHTTP implements http.Handler.
func (g *fakeGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var sent struct{ ID, To, Body string }
	err := json.NewDecoder(r.Body).Decode(&sent)
	g.mu.Lock()
	if err != nil || sent.ID == "" || sent.ID != r.Header.Get("Idempotency-Key") || sent.ID != r.Header.Get("Webhook-Id") {
		g.invalid = append(g.invalid, fmt.Sprintf("%+v %v %v", sent, r.Header, err))
	}
	g.received[sent.ID] = append(g.received[sent.ID], sent.To+" "+sent.Body)
	g.mu.Unlock()
	time.Sleep(rand.N(30 * time.Millisecond)) // so that some are in flight when a node is killed
	fmt.Fprintf(w, `{"id":"g-%s"}`, sent.ID)
}

// testKilledMessages kills nodes repeatedly while they send text messages, and
// compares what the gateway received with the messages in the database.
func testKilledMessages(t *testing.T, kills, nodes int, storage nodeStorage) {
	rig := newMessageRig(t, nodes, storage)
	rig.runAndKill(t, kills, rig.invite)
	rig.awaitMessages(t)
	for _, n := range rig.nodes {
		n.stop(t)
	}
	requests, repeated := rig.checkMessages(t)
	t.Logf("%d kills, %d workers invited, %d requests to the gateway, %d of them repeated", kills, rig.changes(), requests, repeated)
}

func newMessageRig(t *testing.T, nodes int, storage nodeStorage) *messageRig {
	t.Helper()
	gateway := &fakeGateway{received: map[string][]string{}}
	server := httptest.NewServer(gateway)
	t.Cleanup(server.Close)
	rig := &messageRig{gateway: gateway, webhookRig: webhookRig{program: thisProgram(t), storage: storage, acknowledged: map[string]bool{}}}
	rig.program.env = append(rig.program.env, "DRAY_SMS="+server.URL, "DRAY_SMS_FROM=Dray", "DRAY_SMS_SECRET=secret", "DRAY_SMS_PER_ORGANIZATION=0/0")
	rig.org, rig.key = newOrganization(t, rig.program, storage)
	for range nodes {
		rig.nodes = append(rig.nodes, startNode(t, rig.program, storage))
	}
	var team struct{ ID string }
	made := rig.mustCall(t, http.MethodPost, "/teams", `{"name":"crew","workers":[],"managers":[]}`, "team")
	if err := json.Unmarshal(made, &team); err != nil {
		t.Fatalf("%v: %s", err, made)
	}
	rig.team = team.ID
	return rig
}

// invite creates a worker, which enqueues an invitation.
func (rig *messageRig) invite(t *testing.T, name string) {
	number := fmt.Sprintf("+1212%07d", 5550000+rig.number.Add(1))
	rig.mustCall(t, http.MethodPost, "/workers", fmt.Sprintf(`{"name":"W","phone":%q,"teams":[%q]}`, number, rig.team), name)
	rig.mu.Lock()
	defer rig.mu.Unlock()
	rig.acknowledged[number] = true
}

// messages returns all messages ever enqueued.
func (rig *messageRig) messages(t *testing.T) (all []textmessage.Message) {
	t.Helper()
	withStore(t, rig.storage, func(s *sqlstore.Store) error {
		return s.Read(t.Context(), func(r *sqlstore.Tx) (err error) {
			all, err = r.Messages(t.Context(), textmessage.Filter{Organization: lastmile.OrganizationID(rig.org), Limit: 1_000_000})
			return err
		})
	})
	return all
}

// awaitMessages waits until no message is pending. Messages leased by killed nodes
// are sent after their leases expire.
func (rig *messageRig) awaitMessages(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(longTimeout); ; time.Sleep(200 * time.Millisecond) {
		waiting := 0
		for _, m := range rig.messages(t) {
			if m.State == textmessage.StateQueued || m.State == textmessage.StateSending {
				waiting++
			}
		}
		if waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d messages are still pending after %v\n%s", waiting, longTimeout, rig.nodes[0].logged)
		}
	}
}

// checkMessages fails the test unless every invited worker has one message and the
// gateway received exactly these messages, each at least once.
func (rig *messageRig) checkMessages(t *testing.T) (requests, repeated int) {
	t.Helper()
	rig.gateway.mu.Lock()
	defer rig.gateway.mu.Unlock()
	for _, invalid := range rig.gateway.invalid {
		t.Errorf("the gateway received an invalid request: %s", invalid)
	}
	invited := map[string]bool{} // by phone number
	known := map[string]bool{}
	for _, m := range rig.messages(t) {
		known[string(m.ID)] = true
		bodies := rig.gateway.received[string(m.ID)]
		requests += len(bodies)
		repeated += max(len(bodies)-1, 0)
		if invited[string(m.To)] {
			t.Errorf("%s has two messages", m.To)
		}
		invited[string(m.To)] = true
		// A message is given up after three processes died while they sent it.
		givenUp := m.State == textmessage.StateFailed && m.Uncertain >= textmessage.MaxUncertain
		if len(bodies) == 0 || m.State != textmessage.StateSent && !givenUp {
			t.Errorf("message %s is %s (%s) after %d attempts, %d requests", m.ID, m.State, m.Reason, m.Attempts, len(bodies))
		}
		for _, body := range bodies {
			if body != bodies[0] {
				t.Errorf("message %s was sent as %q and %q", m.ID, bodies[0], body)
			}
		}
	}
	for number := range rig.acknowledged {
		if !invited[number] {
			t.Errorf("%s was invited and has no message", number)
		}
	}
	for id := range rig.gateway.received {
		if !known[id] {
			t.Errorf("the gateway received message %s, which is not in the database", id)
		}
	}
	return requests, repeated
}
