package contract_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/audit"
	"dray/internal/store/sqlstore"
)

func init() {
	register("GET /tasks/{id}/history", [2]string{}, idPlace{field: "{id}", kind: "task", missing: notFound})
	register("GET /tasks/{id}/notifications", [2]string{}, idPlace{field: "{id}", kind: "task", missing: notFound})
}

// lifeOf returns the history of a task, oldest first, as "actor: what [worker] [fields]".
func lifeOf(t testing.TB, read func(path string) map[string]any, task string) (all []string) {
	t.Helper()
	for after := ""; ; {
		page := read("/tasks/" + task + "/history?lastId=" + after)
		for _, e := range page["entries"].([]any) {
			all = append(all, line(e.(map[string]any)))
		}
		last, more := page["lastId"]
		if !more {
			slices.Reverse(all)
			return all
		}
		after = last.(string)
	}
}

func line(e map[string]any) string {
	actor := e["actor"].(map[string]any)
	text := fmt.Sprint(actor["type"], " ", actor["name"], ": ")
	for _, field := range []string{"triggerName", "request", "step"} {
		if e[field] != nil {
			text += fmt.Sprint(e[field], " ")
		}
	}
	if worker, ok := e["worker"].(map[string]any); ok {
		text += fmt.Sprint("<", worker["name"], "> ")
	}
	return text + strings.Trim(fmt.Sprint(e["changed"]), "[]")
}

func compareLines(t testing.TB, got []string, want ...string) {
	t.Helper()
	for i := range got {
		got[i] = strings.TrimSpace(got[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestHistoryContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		t.Run("each change is listed once, with its actor", func(t *testing.T) { testHistory(t, p) })
		t.Run("pages hold every entry once", func(t *testing.T) { testHistoryPages(t, p) })
		t.Run("a task of a batch", func(t *testing.T) { testBatchHistory(t, p) })
		t.Run("after the events are deleted", func(t *testing.T) { testOldHistory(t, p) })
		t.Run("changes by a recipient", func(t *testing.T) { testRecipientHistory(t, p) })
		t.Run("a recipient renamed with the task", func(t *testing.T) { testRenamedHistory(t, p) })
		t.Run("managers do not see names of other teams", func(t *testing.T) { testManagerHistory(t, p) })
		t.Run("both sides of an order", func(t *testing.T) { testOrderHistory(t, p) })
	}, quick)
}

func readWith(t testing.TB, c *apptest.Client) func(path string) map[string]any {
	return func(path string) map[string]any { return c.Must(t, "GET", path, nil) }
}

func testHistory(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Acme")
	grace, _ := c.Admin(t, `{"name":"Grace","email":"grace@acme.example","type":"super"}`)
	team := driverTeam(t, c, "Riders", false)
	worker, phone := courier(t, c, team, "+12125550601")
	c.Must(t, "PUT", "/workers/"+worker, `{"name":"Ada"}`)
	other, _ := courier(t, c, team, "+12125550602")
	c.Must(t, "PUT", "/workers/"+other, `{"name":"Joan"}`)
	standard, standardID := c.Admin(t, `{"name":"Standard","email":"standard@acme.example","type":"standard"}`)
	id(t, c, "/teams", fmt.Sprintf(`{"name":"Others","workers":[],"managers":[%q]}`, standardID))

	task := id(t, c, "/tasks", plainTask)
	standard.Call(t, "GET", "/api/v2/tasks/"+task+"/history", nil).OK(t) // while it has no worker or team
	change := func(body string) { grace.Call(t, "PUT", "/api/v2/tasks/"+task, body).OK(t) }
	change(`{"notes":"A","quantity":3}`)
	change(`{"notes":"A"}`) // changes nothing
	c.Must(t, "PUT", "/containers/workers/"+other, `{"tasks":["`+task+`"]}`)
	change(`{"notes":"B","container":{"type":"WORKER","worker":"` + worker + `"}}`)
	grace.Call(t, "PUT", "/api/v2/tasks/"+task+"/pin", `{}`).OK(t)
	forbidden.check(t, standard.Call(t, "PUT", "/api/v2/tasks/"+task, `{"notes":"C"}`))
	forbidden.check(t, standard.Call(t, "GET", "/api/v2/tasks/"+task+"/history", nil))
	p.Advance(time.Second)
	phone.do(t, "start", task, "s", nil)
	phone.do(t, "arrive", task, "a", nil)
	phone.do(t, "complete", task, "c", map[string]any{"success": true})
	got := lifeOf(t, readWith(t, c), task)
	compareLines(t, got,
		"key first key: taskCreated",
		"admin Grace: taskUpdated notes quantity",
		"key first key: taskAssigned <Joan>",
		"admin Grace: taskUnassigned <Joan> notes",
		"admin Grace: taskAssigned <Ada>",
		"admin Grace: PUT /tasks/{id}/pin <nil>",
		"worker Ada: taskStarted",
		"worker Ada: taskUpdated arrival",
		"worker Ada: taskCompleted",
	)
	notFound.check(t, c.Call(t, "GET", "/tasks/"+task+"/history?lastId="+unknownID, nil))
	another := id(t, c, "/tasks", plainTask)
	foreign := c.Must(t, "GET", "/tasks/"+another+"/history", nil)["entries"].([]any)[0].(map[string]any)
	notFound.check(t, c.Call(t, "GET", "/tasks/"+task+"/history?lastId="+foreign["id"].(string), nil))
	matches(t, foreign, `{"id":"<id>","time":"<now>","timeRecorded":"<now>","triggerName":"taskCreated","request":null,"actor":{"type":"key","id":"<id>","name":"first key"},"worker":null,"step":null,"changed":[]}`)
}

func testHistoryPages(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Pages")
	worker, _ := courier(t, c, driverTeam(t, c, "Riders", false), "+12125550611")
	task := id(t, c, "/tasks", plainTask)
	c.Must(t, "PUT", "/containers/workers/"+worker, `{"tasks":["`+task+`"]}`)
	for i := range audit.HistorySize {
		c.Must(t, "PUT", "/tasks/"+task, fmt.Sprintf(`{"notes":"%d"}`, i))
		c.Must(t, "PUT", "/tasks/"+task+"/pin", `{}`)
		if i%3 == 0 {
			p.Advance(time.Millisecond)
		}
	}
	count := map[string]int{}
	for _, entry := range lifeOf(t, readWith(t, c), task) {
		count[strings.TrimSpace(entry)]++
	}
	if len(count) != 4 || count["key first key: taskUpdated notes"] != audit.HistorySize || count["key first key: PUT /tasks/{id}/pin <nil>"] != audit.HistorySize {
		t.Errorf("got %v", count)
	}
}

func testBatchHistory(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Batch")
	grace, _ := c.Admin(t, `{"name":"Grace","email":"grace@batch.example","type":"super"}`)
	made := grace.Call(t, "POST", "/api/v2/tasks/batch", `{"tasks":[`+plainTask+`]}`).OK(t).Object(t)
	task := made["tasks"].([]any)[0].(map[string]any)["id"].(string)
	c.Must(t, "PUT", "/tasks/"+task, `{"notes":"N"}`)
	compareLines(t, lifeOf(t, readWith(t, c), task), "admin Grace: taskCreated", "key first key: taskUpdated <nil>")
}

func testOldHistory(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Old")
	task := id(t, c, "/tasks", plainTask)
	c.Must(t, "PUT", "/tasks/"+task, `{"notes":"A"}`)
	p.Advance(31 * 24 * time.Hour)
	p.Events(t, c.Organization.ID) // which gives them numbers
	if err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
		_, err := tx.DeleteEvents(t.Context(), p.Now().Add(-30*24*time.Hour), 1_000)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	compareLines(t, lifeOf(t, readWith(t, c), task), "key first key: taskCreated", "key first key: PUT /tasks/{id} <nil>")
	c.Must(t, "PUT", "/tasks/"+task, `{"notes":"B"}`)
	compareLines(t, lifeOf(t, readWith(t, c), task), "key first key: taskCreated", "key first key: PUT /tasks/{id} <nil>", "key first key: taskUpdated <nil>")
}

func testRecipientHistory(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Viewed")
	worker, phone := courier(t, c, driverTeam(t, c, "Riders", false), "+12125550631")
	c.Must(t, "PUT", "/workers/"+worker, `{"name":"Ada"}`)
	task := id(t, c, "/tasks", plainTask)
	c.Must(t, "PUT", "/containers/workers/"+worker, `{"tasks":["`+task+`"]}`)
	page := link(t, c, task)
	exchange(t, http.MethodPost, page+"/viewed", nil).OK(t)
	phone.do(t, "start", task, "s", nil)
	phone.do(t, "complete", task, "c", map[string]any{"success": true})
	say(t, page, `{"rating":5}`).OK(t)
	compareLines(t, lifeOf(t, readWith(t, c), task),
		"key first key: taskCreated",
		"key first key: taskAssigned <Ada>",
		"recipient <nil>: taskUpdated trackingViewed",
		"worker Ada: taskStarted",
		"worker Ada: taskCompleted",
		"recipient <nil>: taskUpdated feedback",
	)
	matches(t, c.Must(t, "GET", "/tasks/"+task+"/history", nil)["entries"].([]any)[0].(map[string]any)["actor"], `{"type":"recipient","id":null,"name":null}`)
}

// testRenamedHistory: a recipient is renamed twice, only the first time by a change of the task.
func testRenamedHistory(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Renamed")
	grace, _ := c.Admin(t, `{"name":"Grace","email":"grace@renamed.example","type":"super"}`)
	task := id(t, c, "/tasks", `{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[{"name":"Ann","phone":"+12125550641"}]}`)
	p.Advance(time.Second)
	renamed := grace.Call(t, "PUT", "/api/v2/tasks/"+task, `{"recipients":[{"name":"Anna","phone":"+12125550641"}],"quantity":2}`).OK(t).Object(t)
	p.Advance(time.Second)
	c.Must(t, "PUT", "/recipients/"+renamed["recipients"].([]any)[0].(map[string]any)["id"].(string), `{"name":"Hanna"}`)
	c.Must(t, "PUT", "/tasks/"+task, `{"notes":"N"}`)
	compareLines(t, lifeOf(t, readWith(t, c), task), "key first key: taskCreated", "admin Grace: taskUpdated quantity recipients", "key first key: taskUpdated notes")
}

// testManagerHistory: a task came from a worker of a team that the administrator does not
// manage.
func testManagerHistory(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Managers")
	manager, admin := c.Admin(t, `{"name":"North","email":"north@managers.example","type":"standard"}`)
	north := id(t, c, "/teams", fmt.Sprintf(`{"name":"North","workers":[],"managers":[%q]}`, admin))
	own, phone := courier(t, c, north, "+12125550641")
	c.Must(t, "PUT", "/workers/"+own, `{"name":"Ada"}`)
	other, theirs := courier(t, c, driverTeam(t, c, "South", false), "+12125550642")
	c.Must(t, "PUT", "/workers/"+other, `{"name":"Joan"}`)
	task := id(t, c, "/tasks", plainTask)
	c.Must(t, "PUT", "/containers/workers/"+other, `{"tasks":["`+task+`"]}`)
	theirs.do(t, "start", task, "s", nil)
	c.Must(t, "PUT", "/workers/"+other, `{"teams":["`+north+`"]}`)
	both := lifeOf(t, func(path string) map[string]any { return manager.Call(t, "GET", "/api/v2"+path, nil).OK(t).Object(t) }, task)
	compareLines(t, both, "key first key: taskCreated", "key first key: taskAssigned <Joan>", "worker Joan: taskStarted")

	another := id(t, c, "/tasks", plainTask)
	c.Must(t, "PUT", "/workers/"+other, `{"teams":["`+driverTeam(t, c, "West", false)+`"]}`)
	c.Must(t, "PUT", "/containers/workers/"+other, `{"tasks":["`+another+`"]}`)
	c.Must(t, "PUT", "/containers/workers/"+own, `{"tasks":["`+another+`"]}`)
	phone.do(t, "start", another, "s", nil)
	compareLines(t, lifeOf(t, func(path string) map[string]any { return manager.Call(t, "GET", "/api/v2"+path, nil).OK(t).Object(t) }, another),
		"key first key: taskCreated",
		"key first key: taskAssigned <<nil>>",
		"key first key: taskUnassigned <<nil>>",
		"key first key: taskAssigned <Ada>",
		"worker Ada: taskStarted",
	)
	whole := lifeOf(t, readWith(t, c), another)
	if !slices.ContainsFunc(whole, func(line string) bool { return strings.Contains(line, "<Joan>") }) {
		t.Errorf("a key does not see the name: %v", whole)
	}
}

func testOrderHistory(t *testing.T, p *apptest.Platform) {
	m := newTrade(t, p, "History")
	made := m.placed(t, `,"courier":"`+of(m.courier)+`"`)
	task := fmt.Sprint(part(made, "pickupTask", "id"))
	worker, phone := courier(t, m.courier, m.team, "+12125550621")
	m.courier.Must(t, "PUT", "/workers/"+worker, `{"name":"Ada"}`)
	m.courier.Must(t, "PUT", "/containers/teams/"+m.team, `{"tasks":[-1,"`+task+`"]}`)
	m.shop.Must(t, "PUT", "/taskOrders/"+fmt.Sprint(made["shortId"]), `{"pickupTask":{"notes":"N"},"dropoffTask":{}}`)
	m.courier.Must(t, "PUT", "/containers/workers/"+worker, `{"tasks":["`+task+`"]}`)
	m.courier.Must(t, "PUT", "/tasks/"+task+"/pin", `{}`)
	phone.do(t, "start", task, "s", nil)
	compareLines(t, lifeOf(t, readWith(t, m.courier), task),
		"organization History Shop: taskCreated",
		"key first key: taskUpdated container",
		"organization History Shop: taskUpdated notes",
		"key first key: taskAssigned <Ada>",
		"key first key: PUT /tasks/{id}/pin <nil>",
		"worker Ada: taskStarted",
	)
	compareLines(t, lifeOf(t, readWith(t, m.shop), task),
		"organization History Shop: taskCreated",
		"organization History Courier: taskUpdated",
		"organization History Shop: taskUpdated notes",
		"organization History Courier: taskAssigned <<nil>>",
		"worker <nil>: taskStarted",
	)
}

func TestTaskNotificationsContract(t *testing.T) {
	t.Parallel()
	receiver := apptest.NewReceiver(t)
	receiver.Respond(func(w http.ResponseWriter, r apptest.Received) bool {
		if strings.HasSuffix(r.Path, "/down") && r.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		return false
	})
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		m := newTrade(t, p, "Hooks")
		base := "/" + of(m.courier)
		up := id(t, m.courier, "/webhooks", hookBody(receiver, base+"/up", 6, `,"name":"Up"`))
		down := id(t, m.courier, "/webhooks", hookBody(receiver, base+"/down", 7, `,"name":"Down"`))
		theirs := id(t, m.shop, "/webhooks", hookBody(receiver, base+"/theirs", 6, ""))
		task := fmt.Sprint(part(m.placed(t, `,"courier":"`+of(m.courier)+`"`), "pickupTask", "id"))
		id(t, m.courier, "/tasks", plainTask) // its notifications are not listed for the first task
		m.courier.Must(t, "PUT", "/tasks/"+task, `{"notes":"N"}`)
		path := "/tasks/" + task + "/notifications"
		apptest.Until(t, "both were attempted", func() bool {
			for _, n := range list(t, m.courier, path) {
				if n["lastAttempt"] == nil {
					return false
				}
			}
			return list(t, m.courier, "/webhooks")[1]["failures"] != nil
		})
		got := list(t, m.courier, path)
		for _, n := range got {
			delete(n["lastAttempt"].(map[string]any), "duration")
			delete(n, "nextTime")
		}
		matches(t, got, fmt.Sprintf(`[
			{"id":"<id>","webhook":%q,"triggerId":7,"taskId":%q,"time":"<now>","state":"pending","attempts":1,"webhookName":"Down","lastAttempt":{"number":1,"time":"<now>","status":502,"reason":"the answer was not 200","response":null}},
			{"id":"<id>","webhook":%q,"triggerId":6,"taskId":%q,"time":"<now>","state":"delivered","attempts":1,"webhookName":"Up","lastAttempt":{"number":1,"time":"<now>","status":200,"reason":null,"response":null}}]`, down, task, up, task))
		if hooks := list(t, m.courier, "/webhooks"); hooks[1]["failures"] != 1.0 || hooks[0]["failures"] != nil {
			t.Errorf("the webhooks are %v", hooks)
		}
		if seen := list(t, m.shop, path); len(seen) != 1 || seen[0]["webhook"] != theirs {
			t.Errorf("the client sees %v", seen)
		}
		reader, _ := m.courier.Admin(t, `{"name":"Reader","email":"reader@hooks.example","type":"super","isReadOnly":true}`)
		reader.Call(t, "GET", "/api/v2"+path, nil).OK(t)
		standard, _ := m.courier.Admin(t, `{"name":"Standard","email":"standard@hooks.example","type":"standard"}`)
		forbidden.check(t, standard.Call(t, "GET", "/api/v2"+path, nil))
	}, receiver.Reach)
}
