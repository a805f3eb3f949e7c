package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/work"
)

// TestKilledNotifications is the short form of TestTortureNotifications.
func TestKilledNotifications(t *testing.T) {
	onStorages(t, func(t *testing.T, nodes int, s nodeStorage) { testKilledNotifications(t, 5, nodes, s) })
}

// webhookRig changes tasks on nodes that are killed while they notify a receiver.
type webhookRig struct {
	program  program
	storage  nodeStorage
	org, key string
	nodes    []*node
	nodesMu  sync.RWMutex // guards nodes
	receiver *apptest.Receiver
	hooks    map[string]lastmile.Trigger // by path, which is /id

	mu           sync.Mutex
	acknowledged map[string]bool // "trigger task" of acknowledged changes
}

// hookTriggers are the triggers of the rig's webhooks. Three have the most
// frequent one.
var hookTriggers = []lastmile.Trigger{
	lastmile.TriggerTaskCreated, lastmile.TriggerTaskCreated, lastmile.TriggerTaskCreated,
	lastmile.TriggerTaskUpdated, lastmile.TriggerTaskDeleted,
}

// testKilledNotifications kills nodes repeatedly while they send notifications. It
// compares what the receiver got with the changes, and the log of attempts with
// what the receiver got.
func testKilledNotifications(t *testing.T, kills, nodes int, storage nodeStorage) {
	rig := newWebhookRig(t, nodes, storage)
	rig.runAndKill(t, kills, rig.changeTask)
	rig.awaitDelivery(t)
	for _, n := range rig.nodes {
		n.stop(t)
	}
	posts, repeated := rig.check(t)
	t.Logf("%d kills, %d changes acknowledged, %d requests to the receiver, %d of them repeated", kills, len(rig.acknowledged), posts, repeated)
}

// runAndKill has eight goroutines repeat a step while nodes are killed.
func (rig *webhookRig) runAndKill(t *testing.T, kills int, step func(t *testing.T, name string)) {
	t.Helper()
	var (
		group   sync.WaitGroup
		stopped atomic.Bool
	)
	for i := range 8 {
		group.Go(func() {
			for n := 0; !stopped.Load(); n++ {
				step(t, fmt.Sprintf("%d-%d", i, n))
			}
		})
	}
	for range kills {
		waitForLoad(minLoadTime+rand.N(maxLoadTime-minLoadTime), rig.changes)
		victim := rand.IntN(len(rig.nodes))
		rig.node(victim).kill(t)
		fresh := startNode(t, rig.program, rig.storage)
		rig.nodesMu.Lock()
		rig.nodes[victim] = fresh
		rig.nodesMu.Unlock()
	}
	stopped.Store(true)
	group.Wait()
	if rig.changes() < minLoadWrites*kills {
		t.Errorf("too few changes to prove anything: %d", rig.changes())
	}
}

func newWebhookRig(t *testing.T, nodes int, storage nodeStorage) *webhookRig {
	t.Helper()
	rig := &webhookRig{
		program: thisProgram(t), storage: storage, receiver: apptest.NewReceiver(t),
		hooks: map[string]lastmile.Trigger{}, acknowledged: map[string]bool{},
	}
	rig.program.env = append(rig.program.env, "DRAY_WEBHOOK_CA_FILE="+rig.receiver.CAFile, "DRAY_WEBHOOK_ALLOW_CIDR=127.0.0.1/32")
	rig.receiver.Respond(func(http.ResponseWriter, apptest.Received) bool {
		time.Sleep(rand.N(20 * time.Millisecond)) // so that some are in flight when a node is killed
		return false
	})
	rig.org, rig.key = newOrganization(t, rig.program, storage)
	for range nodes {
		rig.nodes = append(rig.nodes, startNode(t, rig.program, storage))
	}
	for i, trigger := range hookTriggers {
		path := fmt.Sprintf("/%d", i)
		if status, response, err := rig.call(t, http.MethodPost, "/webhooks", fmt.Sprintf(`{"url":%q,"trigger":%d}`, rig.receiver.URL+path, trigger), ""); err != nil || status != http.StatusOK {
			t.Fatalf("register a webhook: %d %v %s", status, err, response)
		}
		rig.hooks[path] = trigger
	}
	return rig
}

func (rig *webhookRig) node(i int) *node {
	rig.nodesMu.RLock()
	defer rig.nodesMu.RUnlock()
	return rig.nodes[i]
}

// changeTask creates a task, updates it and may delete it.
func (rig *webhookRig) changeTask(t *testing.T, name string) {
	var task struct{ ID string }
	made := rig.mustCall(t, http.MethodPost, "/tasks", `{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[]}`, name)
	if err := json.Unmarshal(made, &task); err != nil {
		t.Errorf("%v: %s", err, made)
		return
	}
	rig.recordAcknowledged(lastmile.TriggerTaskCreated, task.ID)
	rig.mustCall(t, http.MethodPut, "/tasks/"+task.ID, `{"notes":"changed"}`, "")
	rig.recordAcknowledged(lastmile.TriggerTaskUpdated, task.ID)
	if rand.IntN(2) == 0 {
		rig.mustCall(t, http.MethodDelete, "/tasks/"+task.ID, "", "")
		rig.recordAcknowledged(lastmile.TriggerTaskDeleted, task.ID)
	}
}

func (rig *webhookRig) recordAcknowledged(trigger lastmile.Trigger, task string) {
	rig.mu.Lock()
	defer rig.mu.Unlock()
	rig.acknowledged[fmt.Sprint(int(trigger), " ", task)] = true
}

// changes returns how many changes were acknowledged.
func (rig *webhookRig) changes() int {
	rig.mu.Lock()
	defer rig.mu.Unlock()
	return len(rig.acknowledged)
}

// mustCall sends a request until it succeeds.
func (rig *webhookRig) mustCall(t *testing.T, method, path, body, key string) []byte {
	for sent, deadline := 1, time.Now().Add(longTimeout); ; sent++ {
		status, response, err := rig.call(t, method, path, body, key)
		switch {
		case err == nil && status == http.StatusOK, err == nil && status == http.StatusNotFound && method == http.MethodDelete && sent > 1:
			return response
		case err == nil && status != http.StatusServiceUnavailable, time.Now().After(deadline):
			t.Errorf("%s %s returned %d %v: %s", method, path, status, err, response)
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// call sends a request to any node.
func (rig *webhookRig) call(t *testing.T, method, path, body, key string) (status int, response []byte, err error) {
	return rig.node(rand.IntN(len(rig.nodes))).call(t, rig.key, method, path, body, key)
}

// awaitDelivery waits until no notification is pending. Webhooks leased by killed
// nodes continue after their leases expire.
func (rig *webhookRig) awaitDelivery(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(longTimeout); ; time.Sleep(100 * time.Millisecond) {
		var backlog work.Backlog
		withStore(t, rig.storage, func(s *sqlstore.Store) error {
			return s.Read(t.Context(), func(r *sqlstore.Tx) (err error) {
				backlog, err = r.WorkBacklog(t.Context(), work.Webhooks, time.Now())
				return err
			})
		})
		if backlog.Waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("notifications are still pending after %v: %+v\n%s", longTimeout, backlog, rig.nodes[0].logged)
		}
	}
}

// arrival is a notification as the receiver got it.
type arrival struct {
	change   string // "trigger task"
	body     string
	attempts map[string]int // number of requests by attempt
}

// check fails the test unless every change arrived at every webhook of its
// trigger, with one id each, and the log of attempts agrees.
func (rig *webhookRig) check(t *testing.T) (posts, repeated int) {
	t.Helper()
	for path, trigger := range rig.hooks {
		arrived := map[string]*arrival{} // by id
		ids := map[string]string{}       // by change
		for _, post := range rig.receiver.Posts(path) {
			posts++
			var body struct {
				TriggerID int
				TaskID    string
			}
			if err := json.Unmarshal(post.Body, &body); err != nil || body.TriggerID != int(trigger) {
				t.Fatalf("webhook %s of trigger %d got %s", path, trigger, post.Body)
			}
			id, change := post.Header.Get("Webhook-Id"), fmt.Sprint(body.TriggerID, " ", body.TaskID)
			a := arrived[id]
			if a == nil {
				a = &arrival{change: change, body: string(post.Body), attempts: map[string]int{}}
				arrived[id] = a
			} else {
				repeated++
			}
			if a.attempts[post.Header.Get("Webhook-Attempt")]++; a.change != change || a.body != string(post.Body) {
				t.Errorf("notification %s arrived with a different body", id)
			}
			// An update that was retried may have been made twice; a creation has an
			// idempotency key and may not.
			if trigger != lastmile.TriggerTaskUpdated && ids[change] != "" && ids[change] != id {
				t.Errorf("%s arrived with two ids, %s and %s", change, ids[change], id)
			}
			ids[change] = id
		}
		for change := range rig.acknowledged {
			if strings.HasPrefix(change, fmt.Sprint(int(trigger), " ")) && ids[change] == "" {
				t.Errorf("webhook %s was not notified of %s", path, change)
			}
		}
		rig.checkLog(t, path, arrived)
	}
	return posts, repeated
}

// checkLog fails the test unless the log of a webhook has exactly the attempts
// that the receiver saw.
func (rig *webhookRig) checkLog(t *testing.T, path string, arrived map[string]*arrival) {
	t.Helper()
	ctx, org := t.Context(), lastmile.OrganizationID(rig.org)
	withStore(t, rig.storage, func(s *sqlstore.Store) error {
		return s.Read(ctx, func(r *sqlstore.Tx) error {
			hooks, err := r.Webhooks(ctx, org)
			if err != nil {
				return err
			}
			for _, hook := range hooks {
				if !strings.HasSuffix(hook.URL, path) {
					continue
				}
				log, err := r.Notifications(ctx, org, store.NotificationFilter{Webhook: hook.ID})
				if err != nil {
					return err
				}
				if hook.Count != int64(len(log)) || len(log) != len(arrived) || hook.FailureStreak != 0 {
					t.Errorf("webhook %s: %d notifications in the log, %d counted, %d arrived, %d failures", path, len(log), hook.Count, len(arrived), hook.FailureStreak)
				}
				for _, n := range log {
					attempts, err := r.Attempts(ctx, org, n.ID)
					if err != nil {
						return err
					}
					if fault := compareLog(n, attempts, arrived[n.ID]); fault != "" {
						t.Errorf("notification %s: %s", n.ID, fault)
					}
				}
			}
			return nil
		})
	})
}

// compareLog describes what is wrong with the log of a notification. The receiver
// accepts every request, so one attempt is recorded; earlier ones were made by
// processes that were killed before they could record them.
func compareLog(n lastmile.Notification, attempts []lastmile.Attempt, a *arrival) string {
	switch {
	case a == nil:
		return "it never arrived"
	case n.State != lastmile.NotificationDelivered || n.Attempts != 1 || len(attempts) != 1:
		return fmt.Sprintf("it is %v after %d attempts, of which %d are in the log", n.State, n.Attempts, len(attempts))
	case !attempts[0].Delivered() || attempts[0].Number != 1:
		return fmt.Sprintf("its attempt is %+v", attempts[0])
	case len(a.attempts) != 1 || a.attempts["1"] == 0:
		return fmt.Sprintf("the receiver saw attempts %v", a.attempts)
	}
	return ""
}
