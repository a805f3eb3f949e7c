package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// campaign writes to nodes that are killed under load and keeps the history of
// acknowledged writes in this process, to compare it with what is stored.
type campaign struct {
	program  program
	storage  nodeStorage
	org, key string
	team     string // the team of all workers
	nodes    []*node
	clients  []*writer
	http     *http.Client
	random   *rand.Rand
	started  []time.Duration // how long each start took

	acked, resent, replayed atomic.Int64

	mu       sync.Mutex
	problems []string // unexpected responses
}

// clientCount is the number of concurrent writers.
const clientCount = 32

// The load lasts from minLoadTime to maxLoadTime before a node is killed, and on a
// slow machine until minLoadWrites writes were acknowledged.
const (
	minLoadTime   = 50 * time.Millisecond
	maxLoadTime   = 300 * time.Millisecond
	minLoadWrites = 30
	longTimeout   = 2 * time.Minute // for anything that must happen in the end
)

// waitForLoad waits for the end of the load. done returns the number of
// acknowledged writes.
func waitForLoad(lasts time.Duration, done func() int) {
	before := done()
	time.Sleep(lasts)
	for deadline := time.Now().Add(longTimeout); done() < before+minLoadWrites && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}

// newCampaign starts nodes on one storage.
func newCampaign(t *testing.T, nodes int, storage nodeStorage) *campaign {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := &campaign{
		program: thisProgram(t), storage: storage,
		random: rand.New(rand.NewPCG(seed, 0)),
		http: &http.Client{
			Timeout:   20 * time.Second,
			Transport: &http.Transport{MaxIdleConnsPerHost: 2 * clientCount},
		},
	}
	t.Cleanup(c.http.CloseIdleConnections)
	c.org, c.key = newOrganization(t, c.program, storage)
	for range nodes {
		c.nodes = append(c.nodes, nil)
		c.start(t, len(c.nodes)-1)
	}
	for i := range clientCount {
		c.clients = append(c.clients, &writer{campaign: c, number: i, random: rand.New(rand.NewPCG(seed, uint64(i)+1))})
	}
	c.createTeam(t)
	return c
}

// createTeam creates the one team that many writers change. The history has only
// its name; checkTeam checks its members.
func (c *campaign) createTeam(t *testing.T) {
	t.Helper()
	team := &record{kind: "teams", key: "crew"}
	c.clients[0].records = append(c.clients[0].records, team)
	c.clients[0].pending = &write{of: team, method: http.MethodPost, path: "/teams", key: team.key, body: `{"name":"crew","workers":[],"managers":[],` + metadataWithKey(team.key) + `}`}
	c.settle()
	c.report(t, nil)
	c.team = team.id
	team.fields = map[string]any{"name": team.fields["name"]}
}

func (c *campaign) start(t *testing.T, i int) {
	t.Helper()
	c.nodes[i] = startNode(t, c.program, c.storage)
	c.started = append(c.started, c.nodes[i].readyAfter)
}

// kill runs all writers, kills a random node at a random moment and waits until
// the writers have stopped. With one node some requests stay without a response;
// with several the writers retry them on another node.
func (c *campaign) kill(t *testing.T) {
	t.Helper()
	c.end(t, func(n *node) { n.kill(t) })
}

// end is like kill, but ends the node with the function how.
func (c *campaign) end(t *testing.T, how func(*node)) {
	t.Helper()
	var writing sync.WaitGroup
	stop := make(chan struct{})
	for _, client := range c.clients {
		writing.Go(func() { client.work(stop) })
	}
	waitForLoad(minLoadTime+time.Duration(c.random.Int64N(int64(maxLoadTime-minLoadTime))), func() int { return int(c.acked.Load()) })
	for _, n := range c.nodes {
		select {
		case <-n.ended:
			c.addProblem("a node ended by itself: %v\n%s", n.ending, n.logged)
		default:
		}
	}
	victim := c.random.IntN(len(c.nodes))
	how(c.nodes[victim])
	if len(c.nodes) > 1 {
		time.Sleep(minLoadTime)
	}
	close(stop)
	writing.Wait()
	c.start(t, victim)
}

// settle retries all pending writes until they are acknowledged.
func (c *campaign) settle() {
	var settling sync.WaitGroup
	for _, client := range c.clients {
		settling.Go(client.settle)
	}
	settling.Wait()
}

// record is a record in the history.
type record struct {
	kind    string         // "destinations"
	key     string         // idempotency key of its creation, also in its metadata
	id      string         // empty until its creation was acknowledged
	fields  map[string]any // as in the latest response
	pending *write         // change without a response
	changed bool           // since the last check
}

// write is a request that creates or changes a record.
type write struct {
	of                      *record
	method, path, key, body string
	change                  map[string]any // changed fields of the response
	reply                   []byte         // first response
	sent                    int
}

// writer sends one write after another. It retries a write without a response
// before it sends the next.
type writer struct {
	*campaign
	number, count int
	random        *rand.Rand
	records       []*record
	pending       *write
	acknowledged  []*write // for replay
}

// work writes until stop is closed or, with a single node, until the node is
// killed.
func (c *writer) work(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			if len(c.nodes) > 1 {
				c.settle()
			}
			return
		default:
		}
		if c.pending == nil {
			if c.random.IntN(20) == 0 && len(c.acknowledged) > 0 {
				c.replay(c.acknowledged[c.random.IntN(len(c.acknowledged))])
				continue
			}
			c.pending = c.next()
		}
		if !c.send() && len(c.nodes) == 1 {
			return
		}
	}
}

// settle sends the pending write until it is acknowledged.
func (c *writer) settle() {
	for end := time.Now().Add(longTimeout); c.pending != nil && !c.send(); {
		if time.Now().After(end) {
			c.addProblem("%s %s with key %s got no response in %v", c.pending.method, c.pending.path, c.pending.key, longTimeout)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// next returns a random write.
func (c *writer) next() *write {
	switch n := c.random.IntN(100); {
	case n < 40:
		return c.create("destinations", func(r *record, metadata string) string {
			return fmt.Sprintf(`{"address":{"number":"%d","street":"Howard Street","city":"San Francisco","country":"United States"},"location":[-122.4,37.7],"notes":%q,%s}`,
				c.count, r.key, metadata)
		})
	case n < 62:
		return c.create("recipients", c.recipient)
	case n < 72:
		return c.create("teams", func(r *record, metadata string) string {
			return fmt.Sprintf(`{"name":%q,"workers":[],"managers":[],%s}`, r.key, metadata)
		})
	case n < 76 && c.number < 4: // few, because each needs a slow password hash
		return c.create("workers", func(r *record, metadata string) string {
			return fmt.Sprintf(`{"name":%q,"phone":%q,"teams":[%q],"vehicle":{"type":"CAR","color":"red"},%s}`, r.key, c.phone(), c.team, metadata)
		})
	default:
		return c.update()
	}
}

func (c *writer) create(kind string, body func(r *record, metadata string) string) *write {
	c.count++
	r := &record{kind: kind, key: fmt.Sprintf("%02d-%06d", c.number, c.count)}
	c.records = append(c.records, r)
	return &write{of: r, method: http.MethodPost, path: "/" + kind, key: r.key, body: body(r, metadataWithKey(r.key))}
}

// metadataWithKey returns metadata by which a record can be found.
func metadataWithKey(key string) string {
	return fmt.Sprintf(`"metadata":[{"name":"key","type":"string","value":%q}]`, key)
}

func (c *writer) recipient(r *record, metadata string) string {
	return fmt.Sprintf(`{"name":%q,"phone":%q,"notes":"as created",%s}`, r.key, c.phone(), metadata)
}

// phone returns a number that no other record has.
func (c *writer) phone() string { return benchPhone(c.number*100_000 + c.count) }

// update returns a random change of one of this writer's records.
func (c *writer) update() *write {
	var known []*record
	for _, r := range c.records {
		if r.id != "" && (r.kind == "recipients" || r.kind == "teams") {
			known = append(known, r)
		}
	}
	if len(known) == 0 {
		return c.create("recipients", c.recipient)
	}
	r := known[c.random.IntN(len(known))]
	c.count++
	text := fmt.Sprintf("changed %02d-%06d", c.number, c.count)
	w := &write{of: r, key: text}
	switch {
	case r.kind == "teams":
		w.method, w.path, w.change = http.MethodPut, "/teams/"+r.id, map[string]any{"name": text}
	case c.random.IntN(2) == 0:
		w.method, w.path, w.change = http.MethodPut, "/recipients/"+r.id, map[string]any{"notes": text}
	default: // POST overwrites the recipient with the same phone number
		w.method, w.path, w.change = http.MethodPost, "/recipients", map[string]any{"notes": text}
		w.body = fmt.Sprintf(`{"name":%q,"phone":%q,"notes":%q,%s}`, r.key, r.fields["phone"], text, metadataWithKey(r.key))
	}
	if w.body == "" {
		body, _ := json.Marshal(w.change)
		w.body = string(body)
	}
	r.pending = w
	return w
}

// send sends the pending write and reports whether it got a response.
func (c *writer) send() bool {
	w := c.pending
	if w.sent++; w.sent > 1 {
		c.resent.Add(1)
	}
	status, header, body, err := c.call(c.nodes[c.random.IntN(len(c.nodes))], w.method, w.path, w.key, w.body)
	switch {
	case err != nil, status == http.StatusServiceUnavailable:
		return false
	case status != http.StatusOK:
		c.addProblem("%s %s with key %s, sent %d times, returned %d: %s", w.method, w.path, w.key, w.sent, status, body)
		c.pending, w.of.pending = nil, nil
		return true
	}
	if w.sent == 1 && header.Get("Idempotent-Replayed") != "" {
		c.addProblem("%s with key %s was marked as replayed when first sent", w.path, w.key)
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		c.addProblem("%s with key %s returned %s", w.path, w.key, body)
	}
	if w.of.fields == nil {
		w.of.fields = map[string]any{}
	}
	for name, value := range fields {
		if name != "workers" || w.of.id != c.team {
			w.of.fields[name] = value
		}
	}
	id, _ := fields["id"].(string)
	if w.of.id != "" && w.of.id != id {
		c.addProblem("a change of %s %s returned %s", w.of.kind, w.of.id, id)
	}
	w.of.id, w.of.changed = id, true
	c.pending, w.of.pending = nil, nil
	if w.method == http.MethodPost {
		w.reply = body
		c.acknowledged = append(c.acknowledged, w)
	}
	c.acked.Add(1)
	return true
}

// replay repeats an acknowledged write, like a client that lost the response. It
// must get the first response, and nothing must change.
func (c *writer) replay(w *write) {
	status, header, body, err := c.call(c.nodes[c.random.IntN(len(c.nodes))], w.method, w.path, w.key, w.body)
	if err != nil || status == http.StatusServiceUnavailable {
		return
	}
	c.replayed.Add(1)
	if status != http.StatusOK || header.Get("Idempotent-Replayed") != "true" || !bytes.Equal(body, w.reply) {
		c.addProblem("%s with key %s returned\n%s\nand, when repeated, %d\n%s", w.path, w.key, w.reply, status, body)
	}
}

func (c *campaign) addProblem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// call sends one request to a node and reads the response.
func (c *campaign) call(n *node, method, path, key, body string) (int, http.Header, []byte, error) {
	request, err := http.NewRequest(method, "http://"+n.address+"/api/v2"+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	request.SetBasicAuth(c.key, "")
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, got, err
}

// records returns the history of all writers.
func (c *campaign) records() []*record {
	var all []*record
	for _, client := range c.clients {
		all = append(all, client.records...)
	}
	return all
}

// recent returns the records changed since the last check and some others.
func (c *campaign) recent() []*record {
	all := c.records()
	var chosen []*record
	for _, r := range all {
		if r.changed || r.pending != nil || c.random.IntN(len(all)) < 100 {
			chosen = append(chosen, r)
			r.changed = false
		}
	}
	return chosen
}

// check compares records with what the nodes return now. No writer may be running.
func (c *campaign) check(records []*record) []string {
	const readers = 8
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		found []string
		queue = make(chan *record)
	)
	for i := range readers {
		on := c.nodes[i%len(c.nodes)]
		group.Go(func() {
			for r := range queue {
				if problem := c.checkOne(on, r); problem != "" {
					mu.Lock()
					found = append(found, problem)
					mu.Unlock()
				}
			}
		})
	}
	for _, r := range records {
		queue <- r
	}
	close(queue)
	group.Wait()
	slices.Sort(found)
	return found
}

func (c *campaign) checkOne(on *node, r *record) string {
	if r.id == "" {
		return "" // not acknowledged: it may exist or not
	}
	status, _, body, err := c.call(on, http.MethodGet, "/"+r.kind+"/"+r.id, "", "")
	if err != nil || status != http.StatusOK {
		return fmt.Sprintf("lost: %s %s (%d %s %v)", r.kind, r.id, status, body, err)
	}
	var got map[string]any
	if err := json.Unmarshal(body, &got); err != nil {
		return fmt.Sprintf("unreadable: %s %s: %v", r.kind, r.id, err)
	}
	for name, want := range r.fields {
		if reflect.DeepEqual(got[name], want) {
			continue
		}
		if r.pending != nil && (name == "timeLastModified" || reflect.DeepEqual(got[name], r.pending.change[name])) {
			continue // the pending change was made
		}
		return fmt.Sprintf("changed: %s of %s %s is %v, was acknowledged as %v", name, r.kind, r.id, got[name], want)
	}
	return ""
}

// checkOnce checks that every idempotency key created exactly one record. No write
// may be pending.
func (c *campaign) checkOnce(t *testing.T) []string {
	t.Helper()
	records := c.records()
	// Count through the API, as a client would.
	var found []string
	for i, r := range records {
		status, _, body, err := c.call(c.nodes[i%len(c.nodes)], http.MethodPost, "/"+r.kind+"/metadata", "",
			fmt.Sprintf(`[{"name":"key","type":"string","value":%q}]`, r.key))
		var matches []struct{ ID string }
		if err == nil {
			err = json.Unmarshal(body, &matches)
		}
		switch {
		case err != nil || status != http.StatusOK:
			found = append(found, fmt.Sprintf("missing: %s with key %s (%d %s %v)", r.kind, r.key, status, body, err))
		case len(matches) > 1:
			found = append(found, fmt.Sprintf("duplicate: %s with key %s: %v", r.kind, r.key, matches))
		case len(matches) == 0 || matches[0].ID != r.id:
			found = append(found, fmt.Sprintf("missing: %s %s with key %s: %v", r.kind, r.id, r.key, matches))
		}
	}
	found = append(found, c.checkTeam(records)...)
	// Count in the database, which has every record, however it was created.
	want := map[string]int{}
	for _, r := range records {
		want[r.kind]++
	}
	if got := countStored(t, c.storage, c.org); !reflect.DeepEqual(got, want) {
		found = append(found, fmt.Sprintf("miscounted: the database has %v, the history %v", got, want))
	}
	return found
}

// checkTeam checks that every worker is in the team once.
func (c *campaign) checkTeam(records []*record) []string {
	var want []string
	for _, r := range records {
		if r.kind == "workers" {
			want = append(want, r.id)
		}
	}
	_, _, body, err := c.call(c.nodes[0], http.MethodGet, "/teams/"+c.team, "", "")
	var got struct{ Workers []string }
	if err = errors.Join(err, json.Unmarshal(body, &got)); err != nil {
		return []string{fmt.Sprintf("lost: the team: %s %v", body, err)}
	}
	slices.Sort(want)
	slices.Sort(got.Workers)
	if !slices.Equal(got.Workers, want) {
		return []string{fmt.Sprintf("changed: the team has %v, want %v", got.Workers, want)}
	}
	return nil
}

// countStored counts the records of an organization in the database.
func countStored(t *testing.T, s nodeStorage, id string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	withStore(t, s, func(db *sqlstore.Store) error {
		return db.Read(t.Context(), func(r *sqlstore.Tx) error {
			org := lastmile.OrganizationID(id)
			destinations, err1 := db.Find(t.Context(), store.Destinations, org, "", nil, 0)
			recipients, err2 := r.Recipients(t.Context(), org, store.RecipientFilter{})
			teams, err3 := r.Teams(t.Context(), org, store.TeamFilter{})
			workers, err4 := r.Workers(t.Context(), org, store.WorkerFilter{})
			for kind, n := range map[string]int{"destinations": len(destinations), "recipients": len(recipients), "teams": len(teams), "workers": len(workers)} {
				if n > 0 {
					counts[kind] = n
				}
			}
			return errors.Join(err1, err2, err3, err4)
		})
	})
	return counts
}

// withStore opens the database of a campaign while its nodes are running.
func withStore(t *testing.T, s nodeStorage, do func(*sqlstore.Store) error) {
	t.Helper()
	db, err := sqlstore.Open(t.Context(), sqlstore.Options{
		Data: s.data, Database: s.database, Now: app.Clock, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(db), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// report fails the test if there are problems and lists the first ones.
func (c *campaign) report(t *testing.T, found []string) {
	t.Helper()
	c.mu.Lock()
	found = slices.Concat(found, c.problems)
	c.mu.Unlock()
	if len(found) > 0 {
		t.Fatalf("%d problems, such as:\n%s", len(found), strings.Join(found[:min(len(found), 10)], "\n"))
	}
}
