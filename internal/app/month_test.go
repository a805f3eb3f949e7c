package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store/engine/enginetest"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
)

// TestMonth runs a whole node for a simulated month and checks that everything
// that becomes due happens in time.
func TestMonth(t *testing.T) { testMonths(t, 35) }

func testMonths(t *testing.T, days int) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		runMonth(t, days, func(c *app.Config) { c.Poll, c.Purge = 30*time.Minute, time.Hour })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		// Connections stay open over night, no commit waits for the disk, and no query is
		// planned twice. The connection that listens would stop the simulated time.
		database, err := url.Parse(enginetest.Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		query := database.Query()
		for name, value := range map[string]string{
			"pool_max_conns": "4", "pool_max_conn_idle_time": "240h", "pool_max_conn_lifetime": "2400h", "synchronous_commit": "off",
			"plan_cache_mode": "force_generic_plan",
		} {
			query.Set(name, value)
		}
		database.RawQuery = query.Encode()
		runMonth(t, days, func(c *app.Config) {
			c.Database, c.Unnotified, c.Poll, c.Purge = database.String(), true, 30*time.Minute, time.Hour
		})
	})
}

// The receivers of webhooks, by path.
const (
	steady    = "/steady"    // receives new tasks; never fails
	flaky     = "/flaky"     // receives new tasks; fails during some nights
	dead      = "/dead"      // receives new tasks; fails for two days
	rare      = "/rare"      // receives deleted tasks; idle for days, then fails for more than a day
	onStart   = "/started"   // receives started tasks; slow
	completed = "/completed" // receives completed tasks
	predicted = "/predicted" // receives predicted delays
	batches   = "/batches"   // receives completed batches
)

var triggerOf = map[string]lastmile.Trigger{
	steady: lastmile.TriggerTaskCreated, flaky: lastmile.TriggerTaskCreated, dead: lastmile.TriggerTaskCreated, rare: lastmile.TriggerTaskDeleted,
	onStart: lastmile.TriggerTaskStarted, completed: lastmile.TriggerTaskCompleted, predicted: lastmile.TriggerPredictedTaskDelay,
	batches: lastmile.TriggerTaskBatchCreateJobCompleted,
}

// How late things may be.
const (
	prompt   = 5 * time.Second         // on a node that was running
	takeover = 90 * time.Second        // after a node was killed: the longest lease, a minute, and some
	jumpSize = 2 * time.Hour           // size of a jump of the clock
	oldest   = 100 * time.Second       // due work, as the metrics show it
	response = 1500 * time.Millisecond // response time of the slow receiver
)

// month is a node with its surroundings, in simulated time.
type month struct {
	t       *testing.T
	config  app.Config
	begun   time.Time
	jump    atomic.Int64 // error of the node's clock
	hooks   *receivers
	gateway *textGateway
	client  *http.Client

	reading sync.Mutex // held while metrics are read
	mu      sync.Mutex // guards the node, which is nil while none runs
	node    *app.App
	public  *pipes
	private *pipes

	key, busyKey string
	hookID       map[string]string
	worker       string
	token        string // token of the worker's session
	count        int    // number of actions and phone numbers

	created   map[string]time.Time // tasks, by id
	disturbed []time.Time          // when the clock jumped or the node was stopped
	resent    map[string]bool      // notifications that were sent again on request
	long      longTerm
}

func runMonth(t *testing.T, days int, option func(*app.Config)) {
	config := app.DefaultConfig()
	config.Data, config.Patience, config.RateLimit = t.TempDir(), time.Minute, 200
	option(&config)
	synctest.Test(t, func(t *testing.T) {
		m := newMonth(t, config)
		m.start()
		m.setUp()
		for day := range days {
			m.day(day)
			if t.Failed() {
				t.Fatalf("failed on day %d", day)
			}
		}
		time.Sleep(time.Minute)
		m.checkSchedules()
	})
}

// newMonth returns the surroundings of a node. It is called in a synctest bubble.
func newMonth(t *testing.T, config app.Config) *month {
	t.Helper()
	m := &month{
		t: t, config: config, begun: time.Now(), hooks: newReceivers(t), gateway: &textGateway{},
		hookID: map[string]string{}, created: map[string]time.Time{}, resent: map[string]bool{},
	}
	m.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return m.line(address).dial(ctx, network, address)
		},
		IdleConnTimeout: time.Second, // a restart does not end connections in memory
	}}
	ending := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { m.keepWarm(ending) })
	watching.Go(func() { m.watchMetrics(ending) })
	t.Cleanup(func() {
		close(ending)
		watching.Wait()
		m.client.CloseIdleConnections()
		m.stop()
		m.hooks.close()
	})
	return m
}

func (m *month) now() time.Time { return app.Clock().Add(time.Duration(m.jump.Load())) }

// line returns the listener of an address.
func (m *month) line(address string) *pipes {
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.HasPrefix(address, "admin") {
		return m.private
	}
	return m.public
}

// start starts a node.
func (m *month) start() {
	m.t.Helper()
	node, err := app.New(m.t.Context(), m.config, slog.New(slog.DiscardHandler), m.now, true)
	if err != nil {
		m.t.Fatal(err)
	}
	node.Sender.Poster, node.Webhooks.Egress, node.Texts.Gateway = m.hooks.egress, m.hooks.egress, m.gateway
	public, private := newPipes(&m.jump), newPipes(&m.jump)
	if err := node.Serve(m.t.Context(), public, private); err != nil {
		m.t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.node, m.public, m.private = node, public, private
}

// detach returns the node, which gets no further requests.
func (m *month) detach() *app.App {
	m.reading.Lock()
	defer m.reading.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	node := m.node
	m.node = nil
	m.disturbed = append(m.disturbed, time.Now())
	return node
}

func (m *month) stop() {
	m.t.Helper()
	if node := m.detach(); node != nil {
		if err := node.Stop(context.Background()); err != nil {
			m.t.Errorf("stop: %v", err)
		}
	}
}

// kill ends the node as a crash does: from one moment to the next it can write
// nothing, so that its leases stay. Another node takes over. On PostgreSQL it may be
// running already.
func (m *month) kill(overlap bool) {
	m.t.Helper()
	node := m.detach()
	if overlap = overlap && m.config.Database != ""; overlap {
		m.start()
	}
	if err := node.Store.Close(); err != nil {
		m.t.Errorf("close the database: %v", err)
	}
	node.Stop(context.Background()) //nolint:errcheck // it fails, because the database is closed
	if !overlap {
		m.start()
	}
}

// keepWarm reads now and then. A node that polls as seldom as this one would
// otherwise close its connections to SQLite and open them again each time.
func (m *month) keepWarm(ending <-chan struct{}) {
	for m.pause(ending, 14*time.Second) {
		m.mu.Lock()
		if m.node != nil && m.node.Store.Engine() == "sqlite" {
			m.node.Store.Read(m.t.Context(), func(*sqlstore.Tx) error { return nil }) //nolint:errcheck // a node that cannot read fails elsewhere
		}
		m.mu.Unlock()
	}
}

func (m *month) pause(ending <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ending:
		return false
	}
}

// watchMetrics reads the metrics of the alert rules. No work is due for long, unless
// the node was just disturbed.
func (m *month) watchMetrics(ending <-chan struct{}) {
	for m.pause(ending, 2*time.Hour+time.Minute+time.Second) {
		if m.undisturbed(time.Now().Add(-2*time.Minute), time.Now()) {
			m.checkMetrics()
		}
	}
}

func (m *month) checkMetrics() {
	m.reading.Lock()
	defer m.reading.Unlock()
	m.mu.Lock()
	running := m.node != nil
	m.mu.Unlock()
	if !running {
		return
	}
	_, body := m.send(http.MethodGet, "http://admin/metrics", "", nil)
	found := 0
	for line := range strings.Lines(string(body)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		limit := oldest.Seconds()
		switch {
		case strings.HasPrefix(name, "dray_step_age_seconds{"):
			limit = 2 * m.config.Purge.Seconds()
		case !strings.HasPrefix(name, "dray_work_oldest_due_seconds{"):
			continue
		}
		found++
		if age, err := strconv.ParseFloat(value, 64); err != nil || age > limit {
			m.t.Errorf("%s: %s", m.when(), line)
		}
	}
	if found < 13 {
		m.t.Errorf("%s: there are only %d metrics of due work and steps", m.when(), found)
	}
}

// undisturbed reports whether the node ran and its clock was right.
func (m *month) undisturbed(from, to time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range m.disturbed {
		if at.After(from.Add(-time.Second)) && at.Before(to) {
			return false
		}
	}
	return true
}

// when describes the current time.
func (m *month) when() string {
	since := time.Since(m.begun)
	return fmt.Sprintf("day %d, %s", since/(24*time.Hour), time.Time{}.Add(since%(24*time.Hour)).Format("15:04:05"))
}

// until waits until a time of a day.
func (m *month) until(day int, clock time.Duration) {
	m.t.Helper()
	wait := time.Until(m.begun.Add(time.Duration(day)*24*time.Hour + clock))
	if wait < 0 {
		m.t.Fatalf("%s: it is already later than %v", m.when(), clock)
	}
	time.Sleep(wait)
}

// within waits until a condition holds, at most for a while.
func (m *month) within(d time.Duration, what string, holds func() bool) {
	m.t.Helper()
	for deadline := time.Now().Add(d); !holds(); time.Sleep(d / 100) {
		if time.Now().After(deadline) {
			m.t.Fatalf("%s: not within %v: %s", m.when(), d, what)
		}
	}
}

func (m *month) send(method, address, authorization string, body any, headers ...string) (status int, content []byte) {
	m.t.Helper()
	var sent bytes.Buffer
	switch body := body.(type) {
	case nil:
	case []byte:
		sent.Write(body)
	default:
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			m.t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(m.t.Context(), method, address, &sent)
	if err != nil {
		m.t.Fatal(err)
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := m.client.Do(request)
	if err != nil {
		m.t.Fatalf("%s: %s %s: %v", m.when(), method, address, err)
	}
	defer response.Body.Close()
	if content, err = io.ReadAll(response.Body); err != nil {
		m.t.Fatalf("%s: %s %s: %v", m.when(), method, address, err)
	}
	return response.StatusCode, content
}

func basic(key string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(key, "")
	return r.Header.Get("Authorization")
}

// must sends a request that must succeed and decodes its response.
func (m *month) must(method, path, authorization string, body any, headers ...string) map[string]any {
	m.t.Helper()
	status, content := m.send(method, "http://dray"+path, authorization, body, headers...)
	if status != http.StatusOK {
		m.t.Fatalf("%s: %s %s: %d %s", m.when(), method, path, status, content)
	}
	object := map[string]any{}
	if json.Unmarshal(content, &object) != nil {
		return nil // an empty response, or a list
	}
	return object
}

// api calls the public API.
func (m *month) api(method, path string, body any, headers ...string) map[string]any {
	m.t.Helper()
	return m.must(method, "/api/v2"+path, basic(m.key), body, headers...)
}

// list reads a list from the public API.
func (m *month) list(path string) (list []map[string]any) {
	m.t.Helper()
	status, content := m.send(http.MethodGet, "http://dray/api/v2"+path, basic(m.key), nil)
	if err := json.Unmarshal(content, &list); status != http.StatusOK || err != nil {
		m.t.Fatalf("%s: GET %s: %d %v", m.when(), path, status, err)
	}
	return list
}

// phone calls the worker's API.
func (m *month) phone(method, path string, body any) {
	m.t.Helper()
	m.must(method, "/driver/v1"+path, "Bearer "+m.token, body)
}

// act reports an action of the worker.
func (m *month) act(verb, task string, more map[string]any) {
	m.t.Helper()
	m.count++
	body := map[string]any{"actionId": fmt.Sprint("action ", m.count)}
	maps.Copy(body, more)
	m.phone(http.MethodPost, "/tasks/"+task+"/"+verb, body)
}

// number returns a new phone number.
func (m *month) number() string {
	m.count++
	return fmt.Sprintf("+1212%07d", 5550100+m.count)
}

func newTaskBody(more map[string]any) map[string]any {
	body := map[string]any{
		"destination": map[string]any{"address": map[string]any{"city": "New York", "country": "US"}, "location": []float64{-74, 40.72}},
		"recipients":  []any{},
	}
	maps.Copy(body, more)
	return body
}

// task creates a task.
func (m *month) task(more map[string]any, headers ...string) (id string) {
	m.t.Helper()
	id, _ = m.api(http.MethodPost, "/tasks", newTaskBody(more), headers...)["id"].(string)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.created[id]; !known {
		m.created[id] = time.Now()
	}
	return id
}

// onWorkersList adds the worker's list to the body of a new task.
func (m *month) onWorkersList(more map[string]any) map[string]any {
	all := map[string]any{"container": map[string]any{"type": "WORKER", "worker": m.worker}}
	maps.Copy(all, more)
	return all
}

func (m *month) position(lat float64) {
	m.t.Helper()
	m.phone(http.MethodPost, "/positions", map[string]any{"positions": []any{map[string]any{"location": []float64{-74, lat}, "time": m.now().UnixMilli()}}})
}

func (m *month) duty(on bool) {
	m.t.Helper()
	m.phone(http.MethodPut, "/duty", map[string]any{"onDuty": on})
}

// awaitNotification waits for a notification about a task.
func (m *month) awaitNotification(d time.Duration, path, task string) {
	m.t.Helper()
	m.within(d, "a notification arrives at "+path, func() bool {
		return len(m.hooks.at(path, func(r received) bool { return r.task == task && r.ok })) > 0
	})
}

// texts waits for a text message.
func (m *month) texts(d time.Duration, number string, kind textmessage.Kind) texted {
	m.t.Helper()
	var got []texted
	m.within(d, "a text message arrives: "+string(kind), func() bool {
		got = m.gateway.to(number, kind)
		return len(got) > 0 && got[len(got)-1].ok
	})
	return got[len(got)-1]
}

var temporaryPassword = regexp.MustCompile(`temporary password (\S+) within`)

// invite creates a worker and returns the worker's id and temporary password.
func (m *month) invite(number string) (id, password string) {
	m.t.Helper()
	id, _ = m.api(http.MethodPost, "/workers", map[string]any{
		"name": "W " + number, "phone": number, "teams": []string{m.team()}, "vehicle": map[string]any{"type": "CAR"},
	})["id"].(string)
	found := temporaryPassword.FindStringSubmatch(m.texts(prompt, number, textmessage.KindInvitation).Body)
	if found == nil {
		m.t.Fatalf("%s: no password was sent", m.when())
	}
	return id, found[1]
}

func (m *month) team() string {
	m.t.Helper()
	m.count++
	id, _ := m.api(http.MethodPost, "/teams", map[string]any{"name": fmt.Sprint("Team ", m.count), "workers": []string{}, "managers": []string{}})["id"].(string)
	return id
}

// signIn signs a worker in and returns the token, which is empty if that is
// rejected.
func (m *month) signIn(number, password string) (token string) {
	m.t.Helper()
	status, body := m.send(http.MethodPost, "http://dray/driver/v1/login", "", map[string]any{"phone": number, "password": password})
	var signedIn struct{ Token string }
	if status == http.StatusOK && json.Unmarshal(body, &signedIn) != nil {
		m.t.Fatalf("%s: sign in: %s", m.when(), body)
	}
	return signedIn.Token
}

// setUp creates the organizations, the webhooks and the worker.
func (m *month) setUp() {
	m.t.Helper()
	for name, key := range map[string]*string{"Acme": &m.key, "Busy": &m.busyKey} {
		made, err := m.node.Organizations.Create(m.t.Context(), lastmile.OrganizationDraft{Name: name, Country: "US", Timezone: "America/New_York"})
		if err != nil {
			m.t.Fatal(err)
		}
		*key = made.APIKey
	}
	for path, trigger := range triggerOf {
		m.hookID[path], _ = m.api(http.MethodPost, "/webhooks", map[string]any{"url": "https://hooks.example.com" + path, "trigger": trigger})["id"].(string)
	}
	m.hooks.delay(onStart, response)
	number := m.number()
	var password string
	m.worker, password = m.invite(number)
	m.token = m.signIn(number, password)
	m.phone(http.MethodPost, "/password", map[string]any{"password": "correct horse"})
}

// checkAllWork checks that every kind of work happens promptly.
func (m *month) checkAllWork() {
	m.t.Helper()
	m.follow(prompt)

	m.duty(true)
	m.position(40.70)
	number := m.number()
	task := m.task(m.onWorkersList(map[string]any{"recipients": []any{map[string]any{"name": "R", "phone": number}}}))
	m.awaitNotification(prompt, steady, task)
	m.within(prompt, "a task is estimated", func() bool {
		return m.api(http.MethodGet, "/tasks/"+task, nil)["estimatedCompletionTime"] != nil
	})
	m.act("start", task, nil)
	m.awaitNotification(prompt, onStart, task)
	m.texts(prompt, number, textmessage.KindStarted)
	m.within(prompt, "an active task is estimated", func() bool { return m.api(http.MethodGet, "/tasks/"+task, nil)["eta"] != nil })
	m.act("arrive", task, nil)
	m.act("complete", task, map[string]any{"success": true})
	m.awaitNotification(prompt, completed, task)
	m.texts(prompt, number, textmessage.KindCompleted)
	m.duty(false)

	m.batch(prompt)

	before := len(m.hooks.at(predicted, func(received) bool { return true }))
	m.api(http.MethodPost, "/webhooks/"+m.hookID[predicted]+"/test", nil)
	m.within(prompt, "a test event arrives", func() bool { return len(m.hooks.at(predicted, func(received) bool { return true })) > before })

	m.redeliver(prompt, task)
}

// batch creates a batch and waits for it.
func (m *month) batch(d time.Duration) {
	m.t.Helper()
	before := len(m.hooks.at(batches, func(received) bool { return true }))
	job := m.api(http.MethodPost, "/tasks/batch-async", map[string]any{"tasks": []any{newTaskBody(nil), newTaskBody(nil)}})["jobId"]
	m.within(d, "a batch is done", func() bool { return m.batchDone(job) })
	m.within(d, "the end of a batch is reported", func() bool { return len(m.hooks.at(batches, func(received) bool { return true })) > before })
}

// batchDone reports whether a batch has created its two tasks.
func (m *month) batchDone(job any) bool {
	m.t.Helper()
	batch := m.api(http.MethodGet, fmt.Sprint("/tasks/batch/", job), nil)
	if batch["status"] == "pending" || batch["status"] == "inProgress" {
		return false
	}
	if batch["tasksCreated"] != 2.0 {
		m.t.Errorf("%s: a batch of two tasks created %v", m.when(), batch["tasksCreated"])
	}
	return true
}

// redeliver sends the notification of a completed task again.
func (m *month) redeliver(d time.Duration, task string) {
	m.t.Helper()
	got := m.hooks.at(completed, func(r received) bool { return r.task == task })
	m.resent[got[0].id] = true
	m.within(d, "an attempt is recorded", func() bool {
		return m.api(http.MethodGet, "/webhooks/"+m.hookID[completed]+"/notifications/"+got[0].id, nil)["state"] == "delivered"
	})
	m.api(http.MethodPost, "/webhooks/"+m.hookID[completed]+"/notifications/"+got[0].id+"/redeliver", nil)
	m.within(d, "a notification is sent again", func() bool {
		return len(m.hooks.at(completed, func(r received) bool { return r.task == task })) > len(got)
	})
}

// follow checks that a new event is numbered and reaches followers.
func (m *month) follow(d time.Duration) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), d)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://dray/api/v2/events", nil)
	if err != nil {
		m.t.Fatal(err)
	}
	request.Header.Set("Authorization", basic(m.key))
	response, err := m.client.Do(request)
	if err != nil {
		m.t.Fatalf("%s: follow events: %v", m.when(), err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	task := ""
	for lines.Scan() {
		if task == "" {
			task = m.task(nil)
		}
		if strings.Contains(lines.Text(), task) {
			return
		}
	}
	m.t.Fatalf("%s: a follower did not see an event within %v", m.when(), d)
}

// rateLimit uses up the requests of an organization and checks that more are
// accepted soon, even if the clock jumps meanwhile.
func (m *month) rateLimit(meanwhile func()) {
	m.t.Helper()
	call := func() int {
		status, _ := m.send(http.MethodGet, "http://dray/api/v2/teams", basic(m.busyKey), nil)
		return status
	}
	limited := false
	for range 1000 {
		if call() == http.StatusTooManyRequests {
			limited = true
			break
		}
	}
	if !limited {
		m.t.Errorf("%s: the rate limit does not apply", m.when())
	}
	meanwhile()
	m.within(2*time.Second, "requests are accepted after the limit was reached", func() bool { return call() == http.StatusOK })
}

// drawing is an image.
func (m *month) drawing() []byte {
	m.count++
	picture := image.NewGray(image.Rect(0, 0, 8, 8+m.count%50))
	picture.Pix[m.count%64] = 255
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		m.t.Fatal(err)
	}
	return out.Bytes()
}

// noneOverdue checks that nothing is stored that should have been purged.
func (m *month) noneOverdue() {
	m.t.Helper()
	const slack = jumpSize + 2*time.Hour
	ctx, now := m.t.Context(), m.now().Add(-slack)
	for what, purge := range map[string]func(w *sqlstore.Tx) (int64, error){
		"receipts": func(w *sqlstore.Tx) (int64, error) {
			return w.DeleteReceipts(ctx, now.Add(-lastmile.ReceiptLifetime), 1)
		},
		"events": func(w *sqlstore.Tx) (int64, error) { return w.DeleteEvents(ctx, now.Add(-30*24*time.Hour), 1) },
		"sessions": func(w *sqlstore.Tx) (int64, error) {
			return w.DeleteUnusedSessions(ctx, now.Add(-access.SessionLifetime), 1)
		},
		"positions":     func(w *sqlstore.Tx) (int64, error) { return w.DeletePositions(ctx, now.Add(-30*24*time.Hour), 1) },
		"explanations":  func(w *sqlstore.Tx) (int64, error) { return w.DeleteExplanations(ctx, now.Add(-30*24*time.Hour), 1) },
		"text messages": func(w *sqlstore.Tx) (int64, error) { return w.DeleteMessages(ctx, now.Add(-30*24*time.Hour), 1) },
		"map responses": func(w *sqlstore.Tx) (int64, error) { return w.DeleteCachedResponses(ctx, now, 1) },
	} {
		var count int64
		err := m.node.Store.Write(ctx, func(w *sqlstore.Tx) (err error) {
			count, err = purge(w)
			return err
		})
		if err != nil || count > 0 {
			m.t.Errorf("%s: %s were not purged in time: %v", m.when(), what, err)
		}
	}
}
