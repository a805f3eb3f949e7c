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
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
)

// TestKilledMessages is the short form of TestTortureMessages.
func TestKilledMessages(t *testing.T) {
	surviveMessages(t, 4, 1, nodeStorage{data: t.TempDir()})
}

// textRig invites workers on nodes that are killed while they text them.
type textRig struct {
	hookRig
	gateway *textGateway
	team    string
	number  atomic.Int64
}

// textGateway takes text messages over HTTP, as one of an operator's own would.
type textGateway struct {
	mu    sync.Mutex
	taken map[string][]string // bodies of requests by id of the message
	wrong []string
}

// ServeHTTP implements http.Handler.
func (g *textGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var sent struct{ ID, To, Body string }
	err := json.NewDecoder(r.Body).Decode(&sent)
	g.mu.Lock()
	if err != nil || sent.ID == "" || sent.ID != r.Header.Get("Idempotency-Key") || sent.ID != r.Header.Get("Webhook-Id") {
		g.wrong = append(g.wrong, fmt.Sprintf("%+v %v %v", sent, r.Header, err))
	}
	g.taken[sent.ID] = append(g.taken[sent.ID], sent.To+" "+sent.Body)
	g.mu.Unlock()
	time.Sleep(rand.N(30 * time.Millisecond)) // so that a kill meets some on the way
	fmt.Fprintf(w, `{"id":"g-%s"}`, sent.ID)
}

// surviveMessages kills a node again and again while text messages are sent, and
// holds what the gateway got against what was owed.
func surviveMessages(t *testing.T, kills, nodes int, storage nodeStorage) {
	rig := newTextRig(t, nodes, storage)
	rig.suffer(t, kills, rig.invite)
	rig.settleMessages(t)
	for _, n := range rig.nodes {
		n.stop(t)
	}
	requests, repeated := rig.checkMessages(t)
	t.Logf("%d kills, %d workers invited, %d requests to the gateway, %d of them repeated", kills, rig.changes(), requests, repeated)
}

func newTextRig(t *testing.T, nodes int, storage nodeStorage) *textRig {
	t.Helper()
	gateway := &textGateway{taken: map[string][]string{}}
	server := httptest.NewServer(gateway)
	t.Cleanup(server.Close)
	rig := &textRig{gateway: gateway, hookRig: hookRig{program: thisProgram(t), storage: storage, answered: map[string]bool{}}}
	rig.program.env = append(rig.program.env, "DRAY_SMS="+server.URL, "DRAY_SMS_FROM=Dray", "DRAY_SMS_SECRET=secret", "DRAY_SMS_PER_ORGANIZATION=0/0")
	rig.org, rig.key = newOrganization(t, rig.program, storage)
	for range nodes {
		rig.nodes = append(rig.nodes, startNode(t, rig.program, storage))
	}
	var team struct{ ID string }
	made := rig.insist(t, http.MethodPost, "/teams", `{"name":"crew","workers":[],"managers":[]}`, "team")
	if err := json.Unmarshal(made, &team); err != nil {
		t.Fatalf("%v: %s", err, made)
	}
	rig.team = team.ID
	return rig
}

// invite makes a worker, who is owed an invitation.
func (rig *textRig) invite(t *testing.T, name string) {
	number := fmt.Sprintf("+1212%07d", 5550000+rig.number.Add(1))
	rig.insist(t, http.MethodPost, "/workers", fmt.Sprintf(`{"name":"W","phone":%q,"teams":[%q]}`, number, rig.team), name)
	rig.mu.Lock()
	defer rig.mu.Unlock()
	rig.answered[number] = true
}

// messages are all that were ever owed.
func (rig *textRig) messages(t *testing.T) (all []textmessage.Message) {
	t.Helper()
	withStore(t, rig.storage, func(s *sqlstore.Store) error {
		return s.Read(t.Context(), func(r store.Reader) (err error) {
			all, err = r.Messages(t.Context(), store.MessageFilter{Organization: lastmile.OrganizationID(rig.org), Limit: 1_000_000})
			return err
		})
	})
	return all
}

// settleMessages waits until no message is to be sent any more. The claims of
// nodes that were killed end after a while.
func (rig *textRig) settleMessages(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patientEnough); ; time.Sleep(200 * time.Millisecond) {
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
			t.Fatalf("%d messages are still to be sent after two minutes\n%s", waiting, rig.nodes[0].logged)
		}
	}
}

// checkMessages fails the test unless every worker who was invited is owed one
// message, and the gateway got each of them, whatever came of the process that
// sent it, and no other.
func (rig *textRig) checkMessages(t *testing.T) (requests, repeated int) {
	t.Helper()
	rig.gateway.mu.Lock()
	defer rig.gateway.mu.Unlock()
	for _, wrong := range rig.gateway.wrong {
		t.Errorf("the gateway was sent %s", wrong)
	}
	owed := map[string]bool{} // numbers
	known := map[string]bool{}
	for _, m := range rig.messages(t) {
		known[string(m.ID)] = true
		bodies := rig.gateway.taken[string(m.ID)]
		requests += len(bodies)
		repeated += max(len(bodies)-1, 0)
		if owed[string(m.To)] {
			t.Errorf("%s is owed two messages", m.To)
		}
		owed[string(m.To)] = true
		// One that took three processes down is given up, though it was sent.
		givenUp := m.State == textmessage.StateFailed && m.Unsure >= textmessage.MaxUncertain
		if len(bodies) == 0 || m.State != textmessage.StateSent && !givenUp {
			t.Errorf("message %s is %s (%s) after %d attempts, %d requests", m.ID, m.State, m.Reason, m.Attempts, len(bodies))
		}
		for _, body := range bodies {
			if body != bodies[0] {
				t.Errorf("message %s was sent as %q and %q", m.ID, bodies[0], body)
			}
		}
	}
	for number := range rig.answered {
		if !owed[number] {
			t.Errorf("%s was invited and is owed nothing", number)
		}
	}
	for id := range rig.gateway.taken {
		if !known[id] {
			t.Errorf("the gateway got message %s, which nobody owes", id)
		}
	}
	return requests, repeated
}
