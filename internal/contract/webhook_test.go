package contract_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/webhook"
)

// invalidHook is the rejection of a URL that is invalid, or whose server does not pass the
// check.
var invalidHook = rejection{400, "InvalidContent", 1008}

// hookBody returns the body of a request for a webhook at a path of the receiver.
func hookBody(r *apptest.Receiver, path string, trigger int, more string) string {
	return fmt.Sprintf(`{"url":%q,"trigger":%d%s}`, r.URL+path, trigger, more)
}

// hook creates a webhook.
func hook(t testing.TB, c *apptest.Client, r *apptest.Receiver, path string, trigger int) string {
	t.Helper()
	return id(t, c, "/webhooks", hookBody(r, path, trigger, ""))
}

// plainTask is the body of a task with only the required fields.
const plainTask = `{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[]}`

func TestWebhookContract(t *testing.T) {
	t.Parallel()
	receiver := apptest.NewReceiver(t)
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		run := func(name string, test func(*testing.T, *apptest.Client, *apptest.Receiver)) {
			c := p.Organization(t, name)
			t.Run(name, func(t *testing.T) { test(t, c, receiver) })
		}
		run("a webhook is registered when its server passes the check", testCreateWebhook)
		run("a webhook is rejected, and nothing is registered", testRejectWebhook)
		run("a server that does not pass the check is rejected", testRejectServer)
		run("a request with a key registers once", testCreateWebhookOnce)
		run("each trigger with a threshold has ten webhooks at most", testThresholdLimits)
		run("an organization has a hundred webhooks at most", testWebhookLimit)
		run("a change leaves everything else as it was", testUpdateWebhook)
		run("a disabled webhook gets no notifications", testDisableWebhook)
		run("a deleted webhook is gone with all its notifications", testDeleteWebhook)
		run("every notification and attempt can be read", testNotifications)
		run("the log is read page by page", testNotificationPages)
		run("what failed is sent again when asked for", testRedeliver)
		run("a test event says that it is one", testTestEvent)
		run("a new secret signs along with the one before for a day", testRotateSecret)
		t.Run("ids of others are rejected", func(t *testing.T) { testForeignWebhook(t, p, receiver) })
	}, receiver.Reach)
}

func testCreateWebhook(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/create/" + string(c.Organization.ID)
	matches(t, c.Call(t, "GET", "/webhooks", nil).OK(t).List(t), `[]`)
	made := c.Must(t, "POST", "/webhooks", hookBody(r, path+"?a=1&b=%20", 6, ""))
	matches(t, made, fmt.Sprintf(`{"id":"<id>","count":0,"url":%q,"trigger":6}`, r.URL+path+"?a=1&b=%20"))
	checks := r.Checks(path)
	if len(checks) != 1 || !regexp.MustCompile(`^[A-Za-z0-9]{32,}$`).MatchString(checks[0].Check) {
		t.Errorf("the check was %+v", checks)
	}
	other := c.Must(t, "POST", "/webhooks", hookBody(r, path, 1, `,"name":"Nearly there","threshold":300.5,"isEnabled":false,"canReceiveConnectionEvents":true,"unknown":{"a":1}`))
	matches(t, other, fmt.Sprintf(`{"id":"<id>","count":0,"url":%q,"trigger":1}`, r.URL+path))
	if checks := r.Checks(path); len(checks) != 2 || checks[0].Check == checks[1].Check {
		t.Errorf("two checks were %+v", checks)
	}
	matches(t, list(t, c, "/webhooks"), fmt.Sprintf(`[
		{"id":%q,"count":0,"url":%q,"trigger":6,"name":"","isEnabled":true,"canReceiveConnectionEvents":false},
		{"id":%q,"count":0,"url":%q,"trigger":1,"name":"Nearly there","isEnabled":false,"threshold":300.5,"canReceiveConnectionEvents":true}]`,
		made["id"], r.URL+path+"?a=1&b=%20", other["id"], r.URL+path))

	t.Run("null is treated as absent", func(t *testing.T) {
		made := id(t, c, "/webhooks", hookBody(r, path, 12, `,"name":null,"threshold":null,"isEnabled":null,"canReceiveConnectionEvents":null`))
		matches(t, record(t, list(t, c, "/webhooks"), made), fmt.Sprintf(`{"id":%q,"count":0,"url":%q,"trigger":12,"name":"","isEnabled":true,"canReceiveConnectionEvents":false}`, made, r.URL+path))
	})
	t.Run("every trigger can be registered", func(t *testing.T) {
		for _, trigger := range []int{0, 2, 3, 4, 5, 7, 8, 9, 10, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30} {
			matches(t, c.Must(t, "POST", "/webhooks", hookBody(r, path, trigger, ""))["trigger"], fmt.Sprint(trigger))
		}
	})
}

func testRejectWebhook(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/reject/" + string(c.Organization.ID)
	url := text(r.URL + path)
	tests := map[string]struct {
		body string
		want rejection
		word string
	}{
		"nothing":                    {``, malformed, "url"},
		"an empty object":            {`{}`, malformed, "url"},
		"a list":                     {`[]`, malformed, "object"},
		"no url":                     {`{"trigger":6}`, malformed, "url"},
		"a url of null":              {`{"url":null,"trigger":6}`, malformed, "url"},
		"an empty url":               {`{"url":"","trigger":6}`, malformed, "url"},
		"a url that is a number":     {`{"url":5,"trigger":6}`, malformed, "url"},
		"no trigger":                 {`{"url":` + url + `}`, malformed, "trigger"},
		"a trigger of null":          {`{"url":` + url + `,"trigger":null}`, malformed, "trigger"},
		"a trigger's name":           {`{"url":` + url + `,"trigger":"taskCreated"}`, malformed, "trigger"},
		"trigger 11":                 {`{"url":` + url + `,"trigger":11}`, invalid, "trigger"},
		"trigger 21":                 {`{"url":` + url + `,"trigger":21}`, invalid, "trigger"},
		"trigger 31":                 {`{"url":` + url + `,"trigger":31}`, invalid, "trigger"},
		"trigger -1":                 {`{"url":` + url + `,"trigger":-1}`, invalid, "trigger"},
		"trigger 6.5":                {`{"url":` + url + `,"trigger":6.5}`, malformed, "trigger"},
		"an endless trigger":         {`{"url":` + url + `,"trigger":1e300}`, invalid, "trigger"},
		"a negative threshold":       {`{"url":` + url + `,"trigger":1,"threshold":-1}`, invalid, "threshold"},
		"a threshold of text":        {`{"url":` + url + `,"trigger":1,"threshold":"soon"}`, malformed, "threshold"},
		"a name that is a number":    {`{"url":` + url + `,"trigger":6,"name":5}`, malformed, "name"},
		"a name that is long":        {`{"url":` + url + `,"trigger":6,"name":"` + strings.Repeat("é", 10_001) + `"}`, invalid, "name"},
		"isEnabled of text":          {`{"url":` + url + `,"trigger":6,"isEnabled":"true"}`, malformed, "isEnabled"},
		"a connection flag of text":  {`{"url":` + url + `,"trigger":6,"canReceiveConnectionEvents":1}`, malformed, "canReceiveConnectionEvents"},
		"plain http":                 {`{"url":"http://example.com/","trigger":6}`, invalidHook, "https://"},
		"ftp":                        {`{"url":"ftp://example.com/","trigger":6}`, invalidHook, "https://"},
		"no host":                    {`{"url":"https:///x","trigger":6}`, invalidHook, "url"},
		"no scheme":                  {`{"url":"example.com","trigger":6}`, invalidHook, "url"},
		"an invalid host":            {`{"url":"https://%zz/","trigger":6}`, invalidHook, "url"},
		"a user name":                {`{"url":"https://me@example.com/","trigger":6}`, invalidHook, "user name"},
		"a fragment":                 {`{"url":"https://example.com/#x","trigger":6}`, invalidHook, "fragment"},
		"a url that is too long":     {`{"url":"https://example.com/` + strings.Repeat("x", 2000) + `","trigger":6}`, invalidHook, "2000"},
		"an address of this machine": {`{"url":"https://[::1]/","trigger":6}`, invalidHook, "not allowed"},
		"a private address":          {`{"url":"https://10.0.0.1/","trigger":6}`, invalidHook, "not allowed"},
		"the metadata of clouds":     {`{"url":"https://169.254.169.254/","trigger":6}`, invalidHook, "not allowed"},
		"a port that is not allowed": {`{"url":"https://93.184.215.14:22/","trigger":6}`, invalidHook, "not allowed"},
		"an address in disguise":     {`{"url":"https://0x7f000001/","trigger":6}`, invalidHook, "address"},
	}
	before := c.Platform.Store.Stats().Operations
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.want.check(t, send(t, c, "POST", "/webhooks", tt.body), tt.word)
		})
	}
	if now := c.Platform.Store.Stats().Operations; now != before {
		t.Errorf("rejected requests wrote %d times", now-before)
	}
	if checks := r.Checks(path); len(checks) > 0 {
		t.Errorf("a request that could not succeed led to %d checks", len(checks))
	}
	matches(t, list(t, c, "/webhooks"), `[]`)
}

// testRejectServer registers webhooks whose server responds wrongly to the check.
func testRejectServer(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/mischief/" + string(c.Organization.ID)
	made := hook(t, c, r, path, 6)
	before := list(t, c, "/webhooks")
	say := func(status int, text string) func(http.ResponseWriter, apptest.Received) bool {
		return func(w http.ResponseWriter, got apptest.Received) bool {
			if got.Path == path {
				w.Header().Set("Location", r.URL+"/other")
				w.WriteHeader(status)
				io.WriteString(w, strings.ReplaceAll(text, "CHECK", got.Check)) //nolint:errcheck // the sender notices
			}
			return got.Path == path
		}
	}
	defer r.Respond(nil)
	for name, reply := range map[string]func(http.ResponseWriter, apptest.Received) bool{
		"another text":           say(200, "hello"),
		"nothing":                say(200, ""),
		"the text in quotes":     say(200, `"CHECK"`),
		"the text and more":      say(200, "CHECKCHECK"),
		"the text and a space":   say(200, "CHECK "),
		"201":                    say(201, "CHECK"),
		"404":                    say(404, "CHECK"),
		"500":                    say(500, "CHECK"),
		"a redirect to the text": say(307, "CHECK"),
	} {
		t.Run(name, func(t *testing.T) {
			r.Respond(reply)
			invalidHook.check(t, c.Call(t, "POST", "/webhooks", hookBody(r, path, 6, "")), "did not match")
			invalidHook.check(t, c.Call(t, "PUT", "/webhooks/"+made, fmt.Sprintf(`{"name":"changed","url":%q}`, r.URL+path+"?new")), "did not match")
		})
	}
	t.Run("no server listens", func(t *testing.T) {
		invalidHook.check(t, c.Call(t, "POST", "/webhooks", `{"url":"https://127.0.0.1:1/","trigger":6}`), "could not connect")
	})
	t.Run("a certificate for another name", func(t *testing.T) {
		invalidHook.check(t, c.Call(t, "POST", "/webhooks", `{"url":"`+strings.Replace(r.URL, "127.0.0.1", "localhost", 1)+path+`","trigger":6}`))
	})
	matches(t, list(t, c, "/webhooks"), string(encode(t, before)))
}

func testCreateWebhookOnce(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/once/" + string(c.Organization.ID)
	first := c.Call(t, "POST", "/webhooks", hookBody(r, path, 1, ""), "Idempotency-Key", "one").OK(t)
	for range 9 {
		hook(t, c, r, "/once/others", 1)
	}
	again := c.Call(t, "POST", "/webhooks", hookBody(r, path, 1, ""), "Idempotency-Key", "one").OK(t)
	if again.Header.Get("Idempotent-Replayed") != "true" || string(again.Body) != string(first.Body) {
		t.Errorf("the repetition got %s, and the first request %s", again.Body, first.Body)
	}
	if checks := r.Checks(path); len(checks) != 1 {
		t.Errorf("%d checks", len(checks))
	}
	if n := len(list(t, c, "/webhooks")); n != 10 {
		t.Errorf("%d webhooks", n)
	}
}

func testThresholdLimits(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	for _, trigger := range []int{1, 2, 12} {
		path := fmt.Sprintf("/limits/%s/%d", c.Organization.ID, trigger)
		var (
			group   sync.WaitGroup
			made    atomic.Int64
			replies = make(chan apptest.Response, 14)
		)
		for range 14 { // at once, so that a count before the write would not do
			group.Go(func() {
				a := c.Call(t, "POST", "/webhooks", hookBody(r, path, trigger, `,"threshold":100`))
				if a.Status == http.StatusOK {
					made.Add(1)
					return
				}
				replies <- a
			})
		}
		group.Wait()
		close(replies)
		if made.Load() != 10 {
			t.Errorf("%d webhooks for trigger %d, want 10", made.Load(), trigger)
		}
		for a := range replies {
			invalid.check(t, a, "10", fmt.Sprint("trigger ", trigger))
		}
		checks := len(r.Checks(path))
		invalid.check(t, c.Call(t, "POST", "/webhooks", hookBody(r, path, trigger, "")), "10", fmt.Sprint("trigger ", trigger))
		if n := len(r.Checks(path)); n != checks {
			t.Errorf("a webhook too many led to a check")
		}
		other := hook(t, c, r, path, 6)
		invalid.check(t, c.Call(t, "PUT", "/webhooks/"+other, fmt.Sprintf(`{"trigger":%d}`, trigger)), "10")
		var tenth string
		for _, h := range list(t, c, "/webhooks") {
			if h["trigger"] == float64(trigger) {
				tenth = fmt.Sprint(h["id"])
			}
		}
		c.Must(t, "PUT", "/webhooks/"+tenth, fmt.Sprintf(`{"trigger":%d,"threshold":5}`, trigger)) // it is one of the ten
		c.Call(t, "DELETE", "/webhooks/"+tenth, nil).OK(t)
		matches(t, c.Must(t, "PUT", "/webhooks/"+other, fmt.Sprintf(`{"trigger":%d}`, trigger))["trigger"], fmt.Sprint(trigger))
	}
}

func testWebhookLimit(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/hundred/" + string(c.Organization.ID)
	for range 100 {
		hook(t, c, r, path, 7)
	}
	invalid.check(t, c.Call(t, "POST", "/webhooks", hookBody(r, path, 7, "")), "100")
	c.Call(t, "DELETE", "/webhooks/"+fmt.Sprint(list(t, c, "/webhooks")[50]["id"]), nil).OK(t)
	hook(t, c, r, path, 7)

	// Each of the hundred is notified, under a separate id.
	task := id(t, c, "/tasks", plainTask)
	c.Must(t, "PUT", "/tasks/"+task, `{"notes":"changed"}`)
	notified := map[string]bool{}
	for _, post := range r.Await(t, path, 100) {
		notified[post.Header.Get("Webhook-Id")] = true
	}
	if len(notified) != 100 {
		t.Errorf("100 webhooks were notified under %d ids", len(notified))
	}
}

func testUpdateWebhook(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/update/" + string(c.Organization.ID)
	made := id(t, c, "/webhooks", hookBody(r, path, 1, `,"name":"First","threshold":60`))
	place := "/webhooks/" + made
	was := record(t, list(t, c, "/webhooks"), made)
	for _, step := range []struct {
		body   string
		fields []string
		checks int
	}{
		{`{"name":"Second"}`, []string{"name"}, 1},
		{`{"name":""}`, []string{"name"}, 1},
		{`{"threshold":0}`, []string{"threshold"}, 1},
		{`{"trigger":2}`, []string{"trigger"}, 1},
		{`{"canReceiveConnectionEvents":true}`, []string{"canReceiveConnectionEvents"}, 1},
		{`{"isEnabled":false}`, []string{"isEnabled"}, 1},
		{`{"isEnabled":true}`, []string{"isEnabled"}, 1},
		{`{}`, nil, 1},
		{`{"name":null,"url":null,"trigger":null,"threshold":null,"isEnabled":null,"canReceiveConnectionEvents":null}`, nil, 1},
		{fmt.Sprintf(`{"url":%q}`, r.URL+path), nil, 1}, // as it is
		{fmt.Sprintf(`{"url":%q}`, r.URL+path+"?new"), []string{"url"}, 2},
	} {
		shown := c.Must(t, "PUT", place, step.body)
		var sent map[string]any
		if err := json.Unmarshal([]byte(step.body), &sent); err != nil {
			t.Fatal(err)
		}
		for _, field := range step.fields {
			matches(t, shown[field], string(encode(t, sent[field])))
		}
		changed(t, step.body, was, shown, step.fields...)
		matches(t, record(t, list(t, c, "/webhooks"), made), string(encode(t, shown)))
		if n := len(r.Checks(path)); n != step.checks {
			t.Errorf("%s: %d checks, want %d", step.body, n, step.checks)
		}
		was = shown
	}
	for body, tt := range map[string]struct {
		want rejection
		word string
	}{
		`{"url":""}`:                    {malformed, "url"},
		`{"url":"http://example.com/"}`: {invalidHook, "https://"},
		`{"url":5}`:                     {malformed, "url"},
		`{"trigger":11}`:                {invalid, "trigger"},
		`{"trigger":6.5}`:               {malformed, "trigger"},
		`{"threshold":-0.1}`:            {invalid, "threshold"},
		`{"name":["x"]}`:                {malformed, "name"},
		`{"name":"x","isEnabled":1}`:    {malformed, "isEnabled"},
		`[]`:                            {malformed, "object"},
	} {
		tt.want.check(t, send(t, c, "PUT", place, body), tt.word)
	}
	matches(t, record(t, list(t, c, "/webhooks"), made), string(encode(t, was)))
}

func testDisableWebhook(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/disable/" + string(c.Organization.ID)
	made := hook(t, c, r, path, 6)
	r.Respond(func(w http.ResponseWriter, got apptest.Received) bool {
		if got.Path == path && got.Method == http.MethodPost {
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		return false
	})
	defer r.Respond(nil)
	id(t, c, "/tasks", plainTask)
	failed := awaitState(t, c, made, "pending", 1)[0]
	if next := failed["nextTime"].(float64) - failed["time"].(float64); next < 1_800_000 || next > 1_860_000 {
		t.Errorf("the next attempt is %v ms after the event", next)
	}
	c.Must(t, "PUT", "/webhooks/"+made, `{"isEnabled":false}`)
	log := list(t, c, "/webhooks/"+made+"/notifications")
	changed(t, "disabling", failed, log[0], "state", "nextTime")
	matches(t, log[0]["state"], `"givenUp"`)
	matches(t, log[0]["nextTime"], `null`)
	id(t, c, "/tasks", plainTask)
	if n := len(list(t, c, "/webhooks/"+made+"/notifications")); n != 1 {
		t.Errorf("a disabled webhook got %d notifications", n-1)
	}
	r.Respond(nil)
	c.Must(t, "PUT", "/webhooks/"+made, `{"isEnabled":true}`)
	third := id(t, c, "/tasks", plainTask)
	posts := r.Await(t, path, 2)
	matches(t, event(t, posts[1])["taskId"], text(third))
}

func testDeleteWebhook(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/delete/" + string(c.Organization.ID)
	made, other := hook(t, c, r, path, 6), hook(t, c, r, path+"/other", 6)
	id(t, c, "/tasks", plainTask)
	notification := fmt.Sprint(awaitState(t, c, made, "delivered", 1)[0]["id"])
	reply := c.Call(t, "DELETE", "/webhooks/"+made, nil).OK(t)
	if len(reply.Body) > 0 {
		t.Errorf("the deletion got %s", reply.Body)
	}
	for _, request := range [][2]string{
		{"DELETE", ""},
		{"PUT", ""},
		{"GET", "/notifications"},
		{"GET", "/notifications/" + notification},
		{"POST", "/notifications/" + notification + "/redeliver"},
		{"POST", "/redeliver"},
		{"POST", "/test"},
	} {
		notFound.check(t, c.Call(t, request[0], "/webhooks/"+made+request[1], `{}`), made)
	}
	matches(t, ids(list(t, c, "/webhooks")), `["`+other+`"]`)
	second := id(t, c, "/tasks", plainTask)
	posts := r.Await(t, path+"/other", 2)
	matches(t, event(t, posts[1])["taskId"], text(second))
	if n := len(r.Posts(path)); n != 1 {
		t.Errorf("a deleted webhook got %d notifications", n-1)
	}
}

// event returns the body of a received notification.
func event(t testing.TB, got apptest.Received) (body map[string]any) {
	t.Helper()
	if err := json.Unmarshal(got.Body, &body); err != nil {
		t.Fatalf("%v: %s", err, got.Body)
	}
	return body
}

// awaitState waits until count notifications of a webhook are in a state, with an
// attempt made, and returns them.
func awaitState(t testing.TB, c *apptest.Client, hook, state string, count int) (found []map[string]any) {
	t.Helper()
	apptest.Until(t, fmt.Sprintf("%d notifications are %s", count, state), func() bool {
		found = slices.DeleteFunc(list(t, c, "/webhooks/"+hook+"/notifications"), func(n map[string]any) bool {
			return n["state"] != state || n["attempts"] == 0.0
		})
		return len(found) == count
	})
	return found
}

func testNotifications(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/log/" + string(c.Organization.ID)
	made := hook(t, c, r, path, 6)
	matches(t, list(t, c, "/webhooks/"+made+"/notifications"), `[]`)
	secret := secretOf(t, c)
	task := id(t, c, "/tasks", plainTask)
	post := r.Await(t, path, 1)[0]
	shown := awaitState(t, c, made, "delivered", 1)[0]
	summary := fmt.Sprintf(`"id":"<id>","webhook":%q,"triggerId":6,"taskId":%q,"time":"<now>","state":"delivered","attempts":1,"nextTime":null`, made, task)
	matches(t, shown, `{`+summary+`}`)
	detail := c.Must(t, "GET", "/webhooks/"+made+"/notifications/"+fmt.Sprint(shown["id"]), nil)
	took := detail["log"].([]any)[0].(map[string]any)["duration"].(float64)
	matches(t, detail, fmt.Sprintf(`{%s,"log":[{"number":1,"time":"<now>","duration":%v,"status":200,"reason":null,"response":null}],"body":%s}`, summary, took, post.Body))

	for name, want := range map[string]string{
		"Webhook-Id":          fmt.Sprint(shown["id"]),
		"Webhook-Attempt":     "1",
		"Webhook-Sequence":    "1",
		"Content-Type":        "application/json",
		"X-Onfleet-Signature": webhook.Signature(secret, post.Body),
		"Webhook-Signature":   webhook.StandardSignature(secret, post.Header.Get("Webhook-Id"), post.Header.Get("Webhook-Timestamp"), post.Body),
	} {
		if got := post.Header.Get(name); got != want {
			t.Errorf("%s was %q, want %q", name, got, want)
		}
	}
	matches(t, record(t, list(t, c, "/webhooks"), made)["count"], `1`)

	t.Run("an attempt that failed says why", func(t *testing.T) {
		r.Respond(func(w http.ResponseWriter, got apptest.Received) bool {
			if got.Path == path {
				w.WriteHeader(http.StatusTeapot)
				fmt.Fprint(w, "short and stout")
			}
			return got.Path == path
		})
		defer r.Respond(nil)
		id(t, c, "/tasks", plainTask)
		n := awaitState(t, c, made, "pending", 1)[0]
		detail := c.Must(t, "GET", "/webhooks/"+made+"/notifications/"+fmt.Sprint(n["id"]), nil)
		took := detail["log"].([]any)[0].(map[string]any)["duration"].(float64)
		matches(t, detail["log"], fmt.Sprintf(`[{"number":1,"time":"<now>","duration":%v,"status":418,"reason":"the answer was not 200","response":"short and stout"}]`, took))
	})
	t.Run("of unknown ids", func(t *testing.T) {
		other := hook(t, c, r, path+"/other", 6)
		for _, request := range [][2]string{{"GET", ""}, {"POST", "/redeliver"}} {
			for _, wrong := range append(malformedIDs, unknownID) {
				notFound.check(t, c.Call(t, request[0], "/webhooks/"+made+"/notifications/"+wrong+request[1], nil))
			}
			notFound.check(t, c.Call(t, request[0], "/webhooks/"+other+"/notifications/"+fmt.Sprint(shown["id"])+request[1], nil), fmt.Sprint(shown["id"]))
		}
		wrongMethod.check(t, send(t, c, "DELETE", "/webhooks/"+made+"/notifications/"+fmt.Sprint(shown["id"]), ""))
		wrongMethod.check(t, send(t, c, "GET", "/webhooks/"+made, ""))
	})
}

func testNotificationPages(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/pages/" + string(c.Organization.ID)
	made, other := hook(t, c, r, path, 6), hook(t, c, r, path+"/other", 6)
	const count = 150
	for range count {
		id(t, c, "/tasks", plainTask)
	}
	r.Await(t, path, count)
	var (
		seen  []string
		times []float64
		query string
	)
	for {
		page := list(t, c, "/webhooks/"+made+"/notifications"+query)
		if len(page) == 0 {
			break
		}
		if len(page) > 64 {
			t.Fatalf("a page of %d", len(page))
		}
		for _, n := range page {
			seen, times = append(seen, fmt.Sprint(n["id"])), append(times, n["time"].(float64))
		}
		query = "?before=" + seen[len(seen)-1]
	}
	if !slices.IsSortedFunc(times, func(a, b float64) int { return int(b - a) }) {
		t.Errorf("not newest first: %v", times)
	}
	slices.Sort(seen)
	if n := len(slices.Compact(seen)); n != count {
		t.Errorf("the pages have %d notifications, want %d", n, count)
	}
	matches(t, list(t, c, "/webhooks/"+made+"/notifications?failed=true"), `[]`)
	notFound.check(t, c.Call(t, "GET", "/webhooks/"+made+"/notifications?before="+unknownID, nil), unknownID)
	theirs := fmt.Sprint(list(t, c, "/webhooks/"+other+"/notifications")[0]["id"])
	notFound.check(t, c.Call(t, "GET", "/webhooks/"+made+"/notifications?before="+theirs, nil), theirs)
}

func testRedeliver(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/redeliver/" + string(c.Organization.ID)
	made := hook(t, c, r, path, 6)
	var bad atomic.Bool
	r.Respond(func(w http.ResponseWriter, got apptest.Received) bool {
		if got.Path == path && bad.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		return false
	})
	defer r.Respond(nil)
	id(t, c, "/tasks", plainTask)
	delivered := fmt.Sprint(awaitState(t, c, made, "delivered", 1)[0]["id"])

	t.Run("one, under the same id", func(t *testing.T) {
		again := "/webhooks/" + made + "/notifications/" + delivered + "/redeliver"
		first := c.Call(t, "POST", again, nil, "Idempotency-Key", "again").OK(t)
		matches(t, first.Object(t), `{"count":1}`)
		repeated := c.Call(t, "POST", again, nil, "Idempotency-Key", "again").OK(t)
		if repeated.Header.Get("Idempotent-Replayed") != "true" {
			t.Error("the repetition was done again")
		}
		posts := r.Await(t, path, 2)
		if posts[0].Header.Get("Webhook-Id") != posts[1].Header.Get("Webhook-Id") || string(posts[0].Body) != string(posts[1].Body) || posts[1].Header.Get("Webhook-Attempt") != "2" {
			t.Errorf("it was sent again otherwise: %+v", posts)
		}
		awaitState(t, c, made, "delivered", 1)
		awaitAttempts(t, c, made, delivered, 2)
		matches(t, record(t, list(t, c, "/webhooks"), made)["count"], `2`)
	})
	t.Run("all that were given up", func(t *testing.T) {
		bad.Store(true)
		before := c.Platform.Now().UnixMilli()
		for range 3 {
			id(t, c, "/tasks", plainTask)
		}
		awaitState(t, c, made, "pending", 3)
		matches(t, c.Must(t, "POST", "/webhooks/"+made+"/redeliver", `{}`), `{"count":0}`) // they are still tried
		c.Must(t, "PUT", "/webhooks/"+made, `{"isEnabled":false}`)
		matches(t, ids(list(t, c, "/webhooks/"+made+"/notifications?failed=true")), string(encode(t, ids(awaitState(t, c, made, "givenUp", 3)))))
		bad.Store(false)
		c.Must(t, "PUT", "/webhooks/"+made, `{"isEnabled":true}`)
		matches(t, c.Must(t, "POST", "/webhooks/"+made+"/redeliver", fmt.Sprintf(`{"since":%d}`, c.Platform.Now().Add(time.Hour).UnixMilli())), `{"count":0}`)
		matches(t, c.Must(t, "POST", "/webhooks/"+made+"/redeliver", fmt.Sprintf(`{"since":%d}`, before)), `{"count":3}`)
		for _, n := range awaitState(t, c, made, "delivered", 4) {
			matches(t, n["attempts"], `2`)
		}
		matches(t, list(t, c, "/webhooks/"+made+"/notifications?failed=true"), `[]`)
	})
	t.Run("a range, and some by their ids", func(t *testing.T) {
		all := ids(list(t, c, "/webhooks/"+made+"/notifications"))
		at := func(i int) int64 {
			ms, _ := list(t, c, "/webhooks/"+made+"/notifications")[i]["time"].(float64)
			return int64(ms)
		}
		redeliver := func(body string) map[string]any { return c.Must(t, "POST", "/webhooks/"+made+"/redeliver", body) }
		matches(t, redeliver(fmt.Sprintf(`{"from":%d,"to":%d}`, at(3), at(0)+1)), `{"count":0}`) // all were delivered
		matches(t, redeliver(fmt.Sprintf(`{"from":%d,"to":%d,"delivered":true}`, at(3), at(3)+1)), `{"count":1}`)
		awaitAttempts(t, c, made, all[3], 3)
		matches(t, redeliver(`{"ids":["`+all[0]+`","`+all[1]+`","`+all[0]+`"]}`), `{"count":2}`)
		awaitAttempts(t, c, made, all[0], 3)
		matches(t, redeliver(`{"ids":[]}`), `{"count":0}`)
		for body, want := range map[string]rejection{
			`{"from":2,"to":1}`: invalid, `{"ids":["` + all[0] + `"],"from":1}`: invalid, `{"ids":["` + all[0] + `"],"delivered":true}`: invalid,
			`{"to":"x"}`: malformed, `{"ids":"x"}`: malformed, `{"ids":["` + all[0] + `","` + unknownID + `"]}`: notFound,
			`{"ids":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 1001), ",") + `]}`: invalid,
		} {
			want.check(t, send(t, c, "POST", "/webhooks/"+made+"/redeliver", body))
		}
	})
	t.Run("since must be a time", func(t *testing.T) {
		for _, body := range []string{`{"since":"yesterday"}`, `{"since":true}`, `{"since":[]}`} {
			malformed.check(t, send(t, c, "POST", "/webhooks/"+made+"/redeliver", body), "since")
		}
		for _, body := range []string{``, `null`, `{}`, `{"since":null}`} {
			matches(t, send(t, c, "POST", "/webhooks/"+made+"/redeliver", body).OK(t).Object(t), `{"count":0}`)
		}
	})
}

// awaitAttempts waits until count attempts at a notification are in its log.
func awaitAttempts(t testing.TB, c *apptest.Client, hook, notification string, count int) {
	t.Helper()
	apptest.Until(t, fmt.Sprintf("%d attempts are in the log", count), func() bool {
		log := c.Must(t, "GET", "/webhooks/"+hook+"/notifications/"+notification, nil)["log"].([]any)
		for i, attempt := range log {
			matches(t, attempt.(map[string]any)["number"], fmt.Sprint(i+1))
		}
		return len(log) == count
	})
}

func testTestEvent(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/test/" + string(c.Organization.ID)
	made, other := hook(t, c, r, path, 4), hook(t, c, r, path+"/other", 4)
	for _, body := range []string{``, `null`, `{}`} {
		matches(t, send(t, c, "POST", "/webhooks/"+made+"/test", body).OK(t).Object(t), `{"count":1}`)
	}
	for _, post := range r.Await(t, path, 3) {
		matches(t, event(t, post), `{"taskId":null,"workerId":null,"adminId":null,"data":{},"actionContext":{"type":"API","id":"<id>"},
			"triggerId":4,"triggerName":"taskFailed","time":"<now>","test":true}`)
		if post.Header.Get("Webhook-Sequence") != "" {
			t.Error("a test event has a sequence")
		}
	}
	c.Must(t, "PUT", "/webhooks/"+made, `{"isEnabled":false}`)
	matches(t, c.Must(t, "POST", "/webhooks/"+made+"/test", nil), `{"count":1}`) // to see whether to enable it again
	r.Await(t, path, 4)
	if n := len(r.Posts(path + "/other")); n > 0 {
		t.Errorf("webhook %s, which was not meant, got %d", other, n)
	}
	for number, name := range lastmile.TriggerNames {
		path := path + "/" + name
		c.Must(t, "POST", "/webhooks/"+hook(t, c, r, path, int(number))+"/test", nil)
		matches(t, event(t, r.Await(t, path, 1)[0])["triggerName"], `"`+name+`"`)
	}
}

// secretOf returns the secret that signs an organization's webhooks.
func secretOf(t testing.TB, c *apptest.Client) []byte {
	t.Helper()
	secrets, err := c.Platform.Organizations.WebhookSecrets(t.Context(), c.Organization.ID)
	if err != nil || len(secrets) == 0 {
		t.Fatalf("%d secrets: %v", len(secrets), err)
	}
	return secrets[0]
}

func testRotateSecret(t *testing.T, c *apptest.Client, r *apptest.Receiver) {
	path := "/rotate/" + string(c.Organization.ID)
	hook(t, c, r, path, 6)
	first := secretOf(t, c)
	signed := func(post apptest.Received, secrets ...[]byte) bool {
		var want []string
		for _, secret := range secrets {
			want = append(want, webhook.StandardSignature(secret, post.Header.Get("Webhook-Id"), post.Header.Get("Webhook-Timestamp"), post.Body))
		}
		return post.Header.Get("X-Onfleet-Signature") == webhook.Signature(secrets[0], post.Body) && post.Header.Get("Webhook-Signature") == strings.Join(want, " ")
	}
	id(t, c, "/tasks", plainTask)
	if post := r.Await(t, path, 1)[0]; !signed(post, first) {
		t.Errorf("before, it was signed %v", post.Header)
	}
	shown, err := c.Platform.Organizations.RotateWebhookSecret(t.Context(), lastmile.Principal{Organization: c.Organization.ID})
	if err != nil {
		t.Fatal(err)
	}
	second := secretOf(t, c)
	if fmt.Sprintf("%x", second) != shown {
		t.Error("the secret that was shown is not the one that signs")
	}
	for sent := 2; ; sent++ { // a node caches a webhook for a second
		id(t, c, "/tasks", plainTask)
		post := r.Await(t, path, sent)[sent-1]
		if signed(post, second, first) {
			break
		}
		if !signed(post, first) || sent > 10_000 {
			t.Fatalf("after %d it was signed %v", sent, post.Header)
		}
		time.Sleep(20 * time.Millisecond)
	}
	for after, want := range map[time.Duration]int{23 * time.Hour: 2, 25 * time.Hour: 1} {
		later := *c.Platform.Organizations
		later.Now = func() time.Time { return c.Platform.Now().Add(after) }
		if secrets, err := later.WebhookSecrets(t.Context(), c.Organization.ID); err != nil || len(secrets) != want || string(secrets[0]) != string(second) {
			t.Errorf("%v later %d secrets sign: %v", after, len(secrets), err)
		}
	}
}

func testForeignWebhook(t *testing.T, p *apptest.Platform, r *apptest.Receiver) {
	acme, zenith := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
	path := "/foreign/" + string(zenith.Organization.ID)
	mine, theirs := hook(t, acme, r, "/foreign/"+string(acme.Organization.ID), 6), hook(t, zenith, r, path, 6)
	id(t, acme, "/tasks", plainTask)
	id(t, zenith, "/tasks", plainTask)
	delivered := fmt.Sprint(awaitState(t, zenith, theirs, "delivered", 1)[0]["id"])
	awaitState(t, acme, mine, "delivered", 1)
	for _, request := range [][2]string{
		{"GET", "/webhooks/" + mine + "/notifications/" + delivered},
		{"POST", "/webhooks/" + mine + "/notifications/" + delivered + "/redeliver"},
		{"GET", "/webhooks/" + theirs + "/notifications/" + delivered},
		{"POST", "/webhooks/" + theirs + "/notifications/" + delivered + "/redeliver"},
		{"GET", "/webhooks/" + mine + "/notifications?before=" + delivered},
	} {
		outsideScope.check(t, acme.Call(t, request[0], request[1], nil))
	}
	matches(t, ids(list(t, acme, "/webhooks")), `["`+mine+`"]`)
	if n := len(r.Posts(path)); n != 1 {
		t.Errorf("the other organization's webhook got %d notifications, want 1", n)
	}
}
