package contract_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

// streamed is one event of the stream.
type streamed struct {
	id    int
	event string
	data  string
}

// stream is a client that follows the events of an organization.
type stream struct {
	header http.Header
	after  int // number of the event after which it begins, from its first line
	events chan streamed
	close  func()
}

// follow opens the stream.
func follow(t testing.TB, c *apptest.Client, query string, headers ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Platform.URL+"/api/v2/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Key != "" {
		request.SetBasicAuth(c.Key, "")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return openStream(t, http.DefaultClient, request, cancel)
}

// followAs opens the stream with the session of an administrator.
func followAs(t testing.TB, who person, query string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, who.in.Platform.URL+"/api/v2/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range who.Headers {
		request.Header.Set(name, value)
	}
	return openStream(t, &http.Client{Jar: who.Jar}, request, cancel)
}

// openStream sends a request for a stream.
func openStream(t testing.TB, client *http.Client, request *http.Request, cancel func()) *stream {
	t.Helper()
	response, err := client.Do(request) //nolint:bodyclose // close does
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the stream responded with %s", response.Status)
	}
	s := &stream{header: response.Header, events: make(chan streamed, 1000)}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	if lines.Scan(); !strings.HasPrefix(lines.Text(), ": following after ") {
		t.Fatalf("the stream begins with %q", lines.Text())
	}
	s.after, _ = strconv.Atoi(strings.TrimPrefix(lines.Text(), ": following after "))
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(s.events)
		var e streamed
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				e.id, _ = strconv.Atoi(value)
			case "event":
				e.event = value
			case "data":
				e.data = value
				s.events <- e
				e = streamed{}
			}
		}
	}()
	s.close = func() {
		cancel()
		<-done
		response.Body.Close()
	}
	t.Cleanup(s.close)
	return s
}

// next returns the next event.
func (s *stream) next(t testing.TB) streamed {
	t.Helper()
	select {
	case e, ok := <-s.events:
		if !ok {
			t.Fatal("the stream ended")
		}
		return e
	case <-time.After(2 * time.Minute):
		t.Fatal("no event in two minutes")
	}
	return streamed{}
}

// body returns the event as an object.
func (e streamed) body(t testing.TB) (body map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), &body); err != nil {
		t.Fatalf("%v: %s", err, e.data)
	}
	return body
}

// expectedEvent is what an event must contain. Empty ids are null.
type expectedEvent struct {
	trigger      int
	name         string
	task, worker string
	by           string         // a worker's id; empty for the key, "-" for none
	data         []string       // names of the records it shows
	more         map[string]any // fields besides the envelope
}

// check fails the test unless the event has the expected content, with the whole envelope
// and nothing else.
func (want expectedEvent) check(t testing.TB, e streamed) map[string]any {
	t.Helper()
	body := e.body(t)
	orNull := func(id string) any {
		if id == "" {
			return nil
		}
		return id
	}
	var context any
	switch want.by {
	case "-":
	case "":
		context = map[string]any{"type": "API", "id": "<id>"}
	default:
		context = map[string]any{"type": "WORKER", "id": want.by}
	}
	data, _ := body["data"].(map[string]any)
	expected := map[string]any{
		"taskId": orNull(want.task), "workerId": orNull(want.worker), "adminId": nil, "data": data, "actionContext": context,
		"triggerId": want.trigger, "triggerName": want.name, "time": "<now>",
	}
	maps.Copy(expected, want.more)
	for _, fault := range faults(t, body, string(encode(t, expected))) {
		t.Errorf("%s: %s", want.name, fault)
	}
	var records []string
	for record := range data {
		records = append(records, record)
	}
	slices.Sort(records)
	if !slices.Equal(records, want.data) {
		t.Errorf("%s shows %v, want %v", want.name, records, want.data)
	}
	if e.event != want.name {
		t.Errorf("the event %s is called %q in the stream", want.name, e.event)
	}
	return body
}

// inOrder puts the expected events into the order in which they were streamed. The events
// of a task must be streamed in the given order; other events of one change have no order.
func inOrder(t testing.TB, came []streamed, all []expectedEvent) (ordered []expectedEvent) {
	t.Helper()
	left := slices.Clone(all)
	for _, e := range came {
		task, _ := e.body(t)["taskId"].(string)
		i := slices.IndexFunc(left, func(want expectedEvent) bool { return want.task == task && (task != "" || want.name == e.event) })
		if i < 0 {
			t.Fatalf("%s was streamed: %s", e.event, e.data)
		}
		ordered = append(ordered, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return ordered
}

// TestEventContract makes changes that fire the triggers, and compares every event of the
// stream, in order, with what is expected. Each webhook gets only the events of its
// trigger.
func TestEventContract(t *testing.T) {
	receiver := apptest.NewReceiver(t)
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		c := p.Organization(t, "Acme")
		path := func(trigger int) string { return fmt.Sprintf("/%s/%d", c.Organization.ID, trigger) }
		for _, trigger := range []int{0, 3, 4, 5, 6, 7, 8, 9, 10, 13, 15, 16, 19, 22, 23, 24, 25, 26, 27, 28} {
			hook(t, c, receiver, path(trigger), trigger)
		}
		events := follow(t, c, "")
		sent := map[int][]string{}
		expect := func(all ...expectedEvent) (bodies []map[string]any) {
			t.Helper()
			var came []streamed
			for range all {
				e := events.next(t)
				came = append(came, e)
				sent[int(e.body(t)["triggerId"].(float64))] = append(sent[int(e.body(t)["triggerId"].(float64))], e.data)
			}
			for _, want := range inOrder(t, came, all) {
				bodies = append(bodies, want.check(t, came[len(bodies)]))
			}
			return bodies
		}
		causeEvents(t, c, expect)

		for trigger, want := range sent {
			var got []string
			for _, post := range receiver.Await(t, path(trigger), len(want)) {
				got = append(got, string(post.Body))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("the webhook of trigger %d got\n%s\nwant\n%s", trigger, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		select {
		case e := <-events.events:
			t.Errorf("and also %s: %s", e.event, e.data)
		default:
		}
	}, receiver.Reach)
}

// taskEvent returns an expected event of a task, with or without a worker.
func taskEvent(trigger int, name, task, worker, by string, data ...string) expectedEvent {
	return expectedEvent{trigger: trigger, name: name, task: task, worker: worker, by: by, data: append([]string{"task"}, data...)}
}

func workerEvent(trigger int, name, worker, by string) expectedEvent {
	return expectedEvent{trigger: trigger, name: name, worker: worker, by: by, data: []string{"worker"}}
}

func planEvent(trigger int, name, plan, worker, by string) expectedEvent {
	return expectedEvent{trigger: trigger, name: name, worker: worker, by: by, data: []string{"routePlan"}, more: map[string]any{"routePlanId": plan}}
}

func causeEvents(t *testing.T, c *apptest.Client, expect func(...expectedEvent) []map[string]any) {
	team := driverTeam(t, c, "Team", true)
	ada, phone := hire(t, c, team, "+12125550123")
	shown := expect(workerEvent(15, "workerCreated", ada, ""), workerEvent(25, "workerUpdated", ada, ada)) // by setting a password
	matches(t, shown[0]["data"].(map[string]any)["worker"].(map[string]any)["phone"], `"+12125550123"`)
	c.Must(t, "PUT", "/workers/"+ada, `{"name":"Ada"}`)
	shown = expect(workerEvent(25, "workerUpdated", ada, ""))
	matches(t, shown[0]["data"].(map[string]any)["worker"].(map[string]any)["name"], `"Ada"`)

	// A task is created, changed, assigned to Ada and unassigned.
	task := id(t, c, "/tasks", plainTask)
	shown = expect(taskEvent(6, "taskCreated", task, "", ""))
	matches(t, shown[0]["data"].(map[string]any)["task"], string(c.Call(t, "GET", "/tasks/"+task, nil).OK(t).Body))
	changed := c.Must(t, "PUT", "/tasks/"+task, `{"notes":"second floor"}`)
	shown = expect(taskEvent(7, "taskUpdated", task, "", ""))
	matches(t, shown[0]["data"].(map[string]any)["task"], string(encode(t, changed)))
	c.Must(t, "PUT", "/containers/workers/"+ada, `{"tasks":[-1,"`+task+`"]}`)
	shown = expect(taskEvent(9, "taskAssigned", task, ada, "", "worker"), taskEvent(7, "taskUpdated", task, ada, "", "worker"))
	for _, body := range shown {
		matches(t, body["data"].(map[string]any)["task"].(map[string]any)["state"], `1`)
		matches(t, body["data"].(map[string]any)["worker"].(map[string]any)["id"], text(ada))
	}
	c.Must(t, "PUT", "/containers/organizations/"+string(c.Organization.ID), `{"tasks":[-1,"`+task+`"]}`)
	expect(taskEvent(10, "taskUnassigned", task, "", ""), taskEvent(7, "taskUpdated", task, "", ""))

	// A clone causes taskCloned instead of taskCreated. Then it is deleted.
	clone := c.Must(t, "POST", "/tasks/"+task+"/clone", nil)
	shown = expect(taskEvent(13, "taskCloned", fmt.Sprint(clone["id"]), "", ""))
	matches(t, shown[0]["data"].(map[string]any)["task"], string(c.Call(t, "GET", "/tasks/"+fmt.Sprint(clone["id"]), nil).OK(t).Body))
	c.Call(t, "DELETE", "/tasks/"+fmt.Sprint(clone["id"]), nil).OK(t)
	shown = expect(taskEvent(8, "taskDeleted", fmt.Sprint(clone["id"]), "", ""))
	matches(t, shown[0]["data"].(map[string]any)["task"].(map[string]any)["id"], text(fmt.Sprint(clone["id"])))

	// Batches cause an event only at their end.
	report := submit(t, c, goodItem(1), goodItem(2), `{}`)
	shown = expect(expectedEvent{trigger: 19, name: "taskBatchCreateJobCompleted", data: nil, more: batchMore(t, report)})
	matches(t, shown[0]["tasksCreated"], `2`)
	send(t, c, "POST", "/tasks/batch", batchOf(goodItem(3))).OK(t)

	// Ada completes one task with success and one without.
	for _, outcome := range []struct {
		trigger int
		name    string
		success bool
	}{{3, "taskCompleted", true}, {4, "taskFailed", false}} {
		task := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": ada}})
		expect(taskEvent(6, "taskCreated", task, "", ""), taskEvent(9, "taskAssigned", task, ada, "", "worker"))
		phone.call(t, "PUT", "/duty", map[string]any{"onDuty": true}).OK(t)
		duty := workerEvent(5, "workerDuty", ada, ada)
		duty.more = map[string]any{"status": 1}
		expect(duty)
		phone.do(t, "start", task, "start "+task, nil)
		shown = expect(taskEvent(0, "taskStarted", task, ada, ada))
		matches(t, shown[0]["data"].(map[string]any)["task"].(map[string]any)["state"], `2`)
		phone.do(t, "arrive", task, "arrive "+task, map[string]any{"location": []float64{-74, 40.7}})
		expect(taskEvent(7, "taskUpdated", task, ada, ada, "worker"))
		phone.do(t, "complete", task, "complete "+task, map[string]any{"success": outcome.success, "failureReason": "OTHER", "notes": "n"})
		shown = expect(taskEvent(outcome.trigger, outcome.name, task, ada, ada), taskEvent(7, "taskUpdated", task, ada, ada, "worker"))
		for _, body := range shown {
			ended := body["data"].(map[string]any)["task"].(map[string]any)
			matches(t, ended["state"], `3`)
			matches(t, ended["completionDetails"].(map[string]any)["success"], fmt.Sprint(outcome.success))
		}
		phone.call(t, "PUT", "/duty", map[string]any{"onDuty": false}).OK(t)
		duty.more = map[string]any{"status": 0}
		expect(duty)
		phone.call(t, "PUT", "/duty", map[string]any{"onDuty": false}).OK(t) // unchanged: no event
	}
	causePlanEvents(t, c, ada, phone, expect)

	c.Call(t, "DELETE", "/workers/"+ada, nil).OK(t)
	expect(workerEvent(16, "workerDeleted", ada, ""))
}

// batchMore returns the fields of the event of a completed batch besides the envelope.
func batchMore(t testing.TB, report map[string]any) map[string]any {
	t.Helper()
	more := map[string]any{"jobId": "<id>"}
	maps.Copy(more, report)
	return more
}

// causePlanEvents creates a route plan, changes it, assigns it to Ada, unassigns it,
// assigns it again, and has Ada carry it out.
func causePlanEvents(t *testing.T, c *apptest.Client, ada string, phone *phone, expect func(...expectedEvent) []map[string]any) {
	task := driverTask(t, c, nil)
	expect(taskEvent(6, "taskCreated", task, "", ""))
	plan := fmt.Sprint(c.Must(t, "POST", "/routePlans", `{"name":"Round","startTime":`+fmt.Sprint(time.Now().Add(time.Hour).UnixMilli())+`}`)["id"])
	expect(planEvent(22, "routePlanCreated", plan, "", ""))
	c.Must(t, "PUT", "/routePlans/"+plan, `{"name":"Other round"}`)
	expect(planEvent(26, "routePlanUpdated", plan, "", ""))
	c.Must(t, "PUT", "/routePlans/"+plan+"/tasks", `{"tasks":["`+task+`"]}`)
	expect(planEvent(26, "routePlanUpdated", plan, "", ""), taskEvent(7, "taskUpdated", task, "", ""))
	give := func(worker string) {
		t.Helper()
		c.Must(t, "PUT", "/routePlans/"+plan, `{"worker":`+worker+`}`)
	}
	give(text(ada))
	expect(planEvent(26, "routePlanUpdated", plan, ada, ""), planEvent(28, "routePlanAssigned", plan, ada, ""),
		taskEvent(9, "taskAssigned", task, ada, "", "worker"), taskEvent(7, "taskUpdated", task, ada, "", "worker"))
	give(`null`)
	expect(planEvent(26, "routePlanUpdated", plan, "", ""), planEvent(27, "routePlanUnassigned", plan, "", ""),
		taskEvent(10, "taskUnassigned", task, "", ""), taskEvent(7, "taskUpdated", task, "", ""))
	give(text(ada))
	expect(planEvent(26, "routePlanUpdated", plan, ada, ""), planEvent(28, "routePlanAssigned", plan, ada, ""),
		taskEvent(9, "taskAssigned", task, ada, "", "worker"), taskEvent(7, "taskUpdated", task, ada, "", "worker"))

	duty := workerEvent(5, "workerDuty", ada, ada)
	duty.more = map[string]any{"status": 1}
	phone.call(t, "PUT", "/duty", map[string]any{"onDuty": true}).OK(t)
	expect(duty)
	phone.do(t, "start", task, "start "+task, nil)
	expect(taskEvent(0, "taskStarted", task, ada, ada), planEvent(23, "routePlanStarted", plan, ada, "-"))
	phone.do(t, "complete", task, "complete "+task, map[string]any{"success": true})
	expect(taskEvent(3, "taskCompleted", task, ada, ada), taskEvent(7, "taskUpdated", task, ada, ada, "worker"), planEvent(24, "routePlanCompleted", plan, ada, "-"))
}

func TestEventStreamContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		const count = 250 // more than a page of the log
		var tasks []string
		first := follow(t, c, "")
		if kind := first.header.Get("Content-Type"); kind != "text/event-stream" || first.header.Get("Cache-Control") != "no-store" || first.after != 0 {
			t.Errorf("the stream has %v and follows after %d", first.header, first.after)
		}
		for i := range count {
			tasks = append(tasks, id(t, c, "/tasks", plainTask))
			if i%10 == 0 {
				id(t, other, "/tasks", plainTask)
			}
		}
		seen := func(t *testing.T, s *stream, from int) {
			t.Helper()
			for i := from; i < count; i++ {
				e := s.next(t)
				if e.id != i+1 || e.event != "taskCreated" || e.body(t)["taskId"] != tasks[i] {
					t.Fatalf("event %d is %+v", i+1, e)
				}
			}
		}
		seen(t, first, 0)
		t.Run("resumes after the last event that was seen", func(t *testing.T) {
			for _, last := range []int{0, 1, 99, 100, 101, count - 1, count} {
				seen(t, follow(t, c, "", "Last-Event-ID", fmt.Sprint(last)), last)
				seen(t, follow(t, c, fmt.Sprint("?since=", last)), last)
			}
			seen(t, follow(t, c, "?since=7", "Last-Event-ID", "200"), 200) // as a reconnecting browser sends it
		})
		t.Run("begins now after an event that does not exist, and without a number", func(t *testing.T) {
			ahead, now := follow(t, c, "", "Last-Event-ID", "100000"), follow(t, c, "")
			if ahead.after != count || now.after != count {
				t.Errorf("they follow after %d and %d", ahead.after, now.after)
			}
			task := id(t, c, "/tasks", plainTask)
			for _, s := range []*stream{first, ahead, now} {
				if e := s.next(t); e.id != count+1 || e.body(t)["taskId"] != task {
					t.Errorf("the next event is %+v", e)
				}
			}
		})
		t.Run("has nothing of another organization", func(t *testing.T) {
			theirs := follow(t, other, "?since=0")
			for i := range count / 10 {
				if e := theirs.next(t); e.id != i+1 || slices.Contains(tasks, fmt.Sprint(e.body(t)["taskId"])) {
					t.Fatalf("event %d is %+v", i+1, e)
				}
			}
		})
		t.Run("rejects invalid numbers and callers without a key", func(t *testing.T) {
			for _, wrong := range []string{"x", "-1", "1.5", "99999999999999999999", "0x10", "1 2"} {
				invalid.check(t, c.Call(t, "GET", "/events", nil, "Last-Event-ID", wrong), "Last-Event-ID")
			}
			invalid.check(t, c.Call(t, "GET", "/events?since=yesterday", nil), "since")
			anonymous := &apptest.Client{Platform: p}
			unauthenticated.check(t, anonymous.Call(t, "GET", "/events", nil))
			wrongMethod.check(t, send(t, c, "POST", "/events", "{}"))
		})
	})
}
