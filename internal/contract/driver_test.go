package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
)

// phone is a worker's phone, a client of the worker's API.
type phone struct {
	platform *apptest.Platform
	token    string
}

func (p *phone) call(t testing.TB, method, path string, body any) apptest.Response {
	t.Helper()
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), method, p.platform.URL+"/driver/v1"+path, bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	if p.token != "" {
		request.Header.Set("Authorization", "Bearer "+p.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	p.platform.DriverSpec.Check(t, method, path, response.StatusCode, sent, got)
	return apptest.Response{Status: response.StatusCode, Header: response.Header, Body: got}
}

// do reports an action, and fails the test if it is rejected.
func (p *phone) do(t testing.TB, verb, task, action string, more map[string]any) map[string]any {
	t.Helper()
	return p.try(t, verb, task, action, more).OK(t).Object(t)
}

func (p *phone) try(t testing.TB, verb, task, action string, more map[string]any) apptest.Response {
	t.Helper()
	body := map[string]any{"actionId": action}
	maps.Copy(body, more)
	return p.call(t, http.MethodPost, "/tasks/"+task+"/"+verb, body)
}

var temporary = regexp.MustCompile(`temporary password (\S+) within`)

// password returns the temporary password that was sent to a number.
func password(t testing.TB, p *apptest.Platform, number string) string {
	t.Helper()
	messages := p.Outbox(t, number)
	if len(messages) == 0 {
		t.Fatalf("no text message to %s", number)
	}
	found := temporary.FindStringSubmatch(messages[len(messages)-1].Body)
	if found == nil {
		t.Fatalf("no password in %q", messages[len(messages)-1].Body)
	}
	return found[1]
}

// hire creates a worker of a team, signs the worker in and sets the password.
func hire(t testing.TB, c *apptest.Client, team, number string) (worker string, p *phone) {
	t.Helper()
	worker, p = invite(t, c, team, number)
	p.call(t, http.MethodPost, "/password", map[string]any{"password": "correct horse"}).OK(t)
	return worker, p
}

// invite creates a worker of a team and signs the worker in with the temporary password.
func invite(t testing.TB, c *apptest.Client, team, number string) (worker string, p *phone) {
	t.Helper()
	worker, _ = c.Must(t, http.MethodPost, "/workers", map[string]any{"name": "W " + number, "phone": number, "teams": []string{team}})["id"].(string)
	p = &phone{platform: c.Platform}
	begun := p.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": password(t, c.Platform, number)}).OK(t).Object(t)
	p.token, _ = begun["token"].(string)
	return worker, p
}

// triggers returns the names of the triggers of a record's events, in order.
func triggers(t testing.TB, c *apptest.Client, field, id string) (names []string) {
	t.Helper()
	for _, body := range c.Platform.Events(t, c.Organization.ID) {
		var event map[string]any
		if err := json.Unmarshal(body, &event); err != nil {
			t.Fatal(err)
		}
		if event[field] == id {
			names = append(names, fmt.Sprint(event["triggerName"]))
		}
	}
	return names
}

func driverTeam(t testing.TB, c *apptest.Client, name string, selfAssign bool) string {
	t.Helper()
	body := map[string]any{"name": name, "workers": []string{}, "managers": []string{}, "enableSelfAssignment": selfAssign}
	id, _ := c.Must(t, http.MethodPost, "/teams", body)["id"].(string)
	return id
}

func driverTask(t testing.TB, c *apptest.Client, more map[string]any) string {
	t.Helper()
	body := map[string]any{
		"destination": map[string]any{"address": map[string]any{"city": "New York", "country": "US"}, "location": []float64{-74, 40.7}},
		"recipients":  []any{},
	}
	maps.Copy(body, more)
	id, _ := c.Must(t, http.MethodPost, "/tasks", body)["id"].(string)
	return id
}

func TestDriverContract(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		acme, zenith := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		team := driverTeam(t, acme, "Driving", true)
		t.Run("a worker signs in with the temporary password and sets another one", func(t *testing.T) { testSignIn(t, acme, team) })
		t.Run("of concurrent guesses five are verified, and no invitation ends", func(t *testing.T) { testGuesses(t, acme, team) })
		t.Run("a worker signs out on one device and on all", func(t *testing.T) { testSignOut(t, acme, team) })
		t.Run("a worker is invited again", func(t *testing.T) { testInviteAgain(t, acme, team) })
		t.Run("an invitation is shown instead of sent", func(t *testing.T) { testShownInvitation(t, acme, team) })
		t.Run("a task is started, reached and completed once", func(t *testing.T) { testWork(t, acme, team) })
		t.Run("a completion must meet the requirements of the task", func(t *testing.T) { testRequirements(t, acme, team) })
		t.Run("a worker acts only on own tasks", func(t *testing.T) { testOwnTasks(t, acme, zenith, team) })
		t.Run("a worker claims a task if the team allows it", func(t *testing.T) { testClaim(t, acme) })
		t.Run("the app reads its settings and the tasks of the day", func(t *testing.T) { testAppReads(t, acme, team) })
		t.Run("the worker shows what the app reports about the phone", func(t *testing.T) { testHandset(t, acme, team) })
		t.Run("only plausible positions are accepted", func(t *testing.T) { testPositions(t, acme, team) })
	})
}

func testSignIn(t *testing.T, c *apptest.Client, team string) {
	const number = "+12125550301"
	worker, p := invite(t, c, team, number)
	stranger := &phone{platform: c.Platform}
	for _, token := range []string{"", "unknown", strings.Repeat("x", 43)} {
		message := (&phone{platform: c.Platform, token: token}).call(t, http.MethodGet, "/me", nil).Rejected(t, 401, 1102)
		if !strings.Contains(message, "token") || strings.Contains(message, "API key") {
			t.Errorf("of a token it says: %s", message)
		}
	}
	stranger.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": "nonsense"}).Rejected(t, 401, 1102)
	stranger.call(t, http.MethodPost, "/login", map[string]any{"phone": "+12125550999", "password": "nonsense"}).Rejected(t, 401, 1102)
	stranger.call(t, http.MethodPost, "/login", map[string]any{"password": "nonsense"}).Rejected(t, 400, 1900)

	for path, method := range map[string]string{
		"/tasks": http.MethodGet, "/duty": http.MethodPut, "/positions": http.MethodPost, "/uploads": http.MethodPost, "/events": http.MethodGet,
		"/tasks/" + unknownID + "/start": http.MethodPost,
	} {
		if cause := forbidden.check(t, p.call(t, method, path, nil), "password"); cause != "mustSetPassword" {
			t.Errorf("%s: cause %v", path, cause)
		}
	}
	if got := p.call(t, http.MethodGet, "/me", nil).OK(t).Object(t); got["accountStatus"] != "INVITED" {
		t.Errorf("signed in as %v", got["accountStatus"])
	}
	thief := &phone{platform: c.Platform}
	second := thief.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": password(t, c.Platform, number)}).OK(t).Object(t)
	thief.token, _ = second["token"].(string)
	for _, bad := range []string{"short", "        ", password(t, c.Platform, number)} {
		p.call(t, http.MethodPost, "/password", map[string]any{"password": bad}).Rejected(t, 400, 1000)
	}
	p.call(t, http.MethodPost, "/password", map[string]any{"password": "correct horse"}).OK(t)
	p.call(t, http.MethodPost, "/password", map[string]any{"password": "battery staple"}).Rejected(t, 400, 1900)
	p.call(t, http.MethodPost, "/password", map[string]any{"password": "battery staple", "oldPassword": "wrong horse"}).Rejected(t, 400, 1000)
	p.call(t, http.MethodPost, "/password", map[string]any{"password": "correct horse", "oldPassword": "correct horse"}).OK(t)
	thief.call(t, http.MethodGet, "/me", nil).Rejected(t, 401, 1102)
	if sent := triggers(t, c, "workerId", worker); !slices.Equal(sent, []string{"workerCreated", "workerUpdated"}) {
		t.Errorf("webhooks receive %v", sent)
	}
	if got := p.call(t, http.MethodGet, "/me", nil).OK(t).Object(t); got["id"] != worker || got["accountStatus"] != "ACCEPTED" {
		t.Errorf("signed in as %v, %v", got["id"], got["accountStatus"])
	}
	begun := stranger.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": "correct horse"}).OK(t).Object(t)
	if begun["mustSetPassword"] != false {
		t.Error("a password of her own must be set again")
	}
	stranger.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": password(t, c.Platform, number)}).Rejected(t, 401, 1102)

	if on := p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t).Object(t); on["onDuty"] != true {
		t.Error("not on duty")
	}
	p.call(t, http.MethodPut, "/duty", map[string]any{}).Rejected(t, 400, 1900)
	c.Call(t, http.MethodDelete, "/workers/"+worker, nil).OK(t)
	p.call(t, http.MethodGet, "/me", nil).Rejected(t, 401, 1102)
}

// signIn signs in from a network. It returns the status and how long to wait.
func signIn(t testing.TB, p *apptest.Platform, network, number, password string) (status int, retryAfter string) {
	t.Helper()
	body := strings.NewReader(string(encode(t, map[string]any{"phone": number, "password": password})))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/driver/v1/login", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Forwarded-For", network)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode, response.Header.Get("Retry-After")
}

func testGuesses(t *testing.T, c *apptest.Client, team string) {
	const number, unknown = "+12125550302", "+12125550992"
	c.Must(t, http.MethodPost, "/workers", map[string]any{"name": "Guessed", "phone": number, "teams": []string{team}})
	for i, to := range []string{number, unknown} {
		network := fmt.Sprintf("198.51.100.%d", i+1)
		var (
			group    sync.WaitGroup
			verified atomic.Int64
		)
		for n := range 400 {
			group.Go(func() {
				switch status, wait := signIn(t, c.Platform, network, to, fmt.Sprint("guess", n)); {
				case status == 401:
					verified.Add(1)
				case status != 429 || wait == "" || wait == "0":
					t.Errorf("%s: status %d, retry after %q", to, status, wait)
				}
			})
		}
		group.Wait()
		if verified.Load() != 5 {
			t.Errorf("%s: %d of 400 guesses were verified, want 5", to, verified.Load())
		}
	}
	right := password(t, c.Platform, number)
	if status, wait := signIn(t, c.Platform, "198.51.100.1", number, right); status != 429 || wait == "" {
		t.Errorf("a sixth attempt of the same network: status %d, retry after %q", status, wait)
	}
	if status, _ := signIn(t, c.Platform, "203.0.113.1", number, right); status != 200 {
		t.Errorf("the invitation after guesses of others: status %d", status)
	}
	stranger := &phone{platform: c.Platform}
	stranger.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": strings.Repeat("x", 201)}).Rejected(t, 400, 1000)
	stranger.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": strings.Repeat("x", 4<<10)}).Rejected(t, 413, 1006)
}

func testSignOut(t *testing.T, c *apptest.Client, team string) {
	const number = "+12125550331"
	worker, p := hire(t, c, team, number)
	var others [3]*phone
	for i := range others {
		others[i] = &phone{platform: c.Platform}
		begun := others[i].call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": "correct horse"}).OK(t).Object(t)
		others[i].token, _ = begun["token"].(string)
	}
	others[0].call(t, http.MethodPost, "/logout", nil).OK(t)
	others[0].call(t, http.MethodGet, "/me", nil).Rejected(t, 401, 1102)
	others[0].call(t, http.MethodPost, "/logout", nil).Rejected(t, 401, 1102)
	others[1].call(t, http.MethodGet, "/me", nil).OK(t)
	others[1].call(t, http.MethodDelete, "/sessions", nil).OK(t)
	for _, each := range []*phone{p, others[1], others[2]} {
		each.call(t, http.MethodGet, "/me", nil).Rejected(t, 401, 1102)
	}
	begun := p.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": "correct horse"}).OK(t).Object(t)
	p.token, _ = begun["token"].(string)
	c.Call(t, http.MethodDelete, "/workers/"+worker+"/sessions", nil).OK(t)
	p.call(t, http.MethodGet, "/me", nil).Rejected(t, 401, 1102)
}

// testShownInvitation: the password is only in the response, and no message is sent.
func testShownInvitation(t *testing.T, c *apptest.Client, team string) {
	const number = "+12125550333"
	worker, p := hire(t, c, team, number)
	before := len(c.Platform.Outbox(t, number))
	shown := c.Must(t, http.MethodPost, "/workers/"+worker+"/invitation", map[string]any{})
	password, _ := shown["password"].(string)
	if link, _ := shown["link"].(string); shown["phone"] != number || !strings.HasSuffix(link, "/driver#/invitation/"+number+"/"+password) {
		t.Errorf("shown %v", shown)
	}
	if expires, _ := shown["timeExpires"].(float64); expires < 1 {
		t.Errorf("expires %v", shown["timeExpires"])
	}
	if got := len(c.Platform.Outbox(t, number)); got != before {
		t.Errorf("%d messages were sent", got-before)
	}
	p.call(t, http.MethodGet, "/me", nil).Rejected(t, 401, 1102)
	p.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": "correct horse"}).Rejected(t, 401, 1102)
	p.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": password}).OK(t)
	listed := c.Call(t, http.MethodGet, "/workers/"+worker, nil).OK(t)
	if strings.Contains(string(listed.Body), password) {
		t.Error("the worker's record contains the password")
	}
}

func testInviteAgain(t *testing.T, c *apptest.Client, team string) {
	const number = "+12125550332"
	worker, p := hire(t, c, team, number)
	if got := c.Must(t, http.MethodPost, "/workers/"+worker+"/invite", map[string]any{}); got["id"] != worker {
		t.Errorf("invited %v, want %s", got["id"], worker)
	}
	p.call(t, http.MethodGet, "/me", nil).Rejected(t, 401, 1102)
	p.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": "correct horse"}).Rejected(t, 401, 1102)
	messages := c.Platform.Outbox(t, number)
	if len(messages) != 2 {
		t.Fatalf("%d messages, want two invitations", len(messages))
	}
	opened := 0
	for _, m := range messages {
		found := temporary.FindStringSubmatch(m.Body)
		if p.call(t, http.MethodPost, "/login", map[string]any{"phone": number, "password": found[1]}).Status == 200 {
			opened++
		}
	}
	if opened != 1 {
		t.Errorf("%d of two invitations are valid, want one", opened)
	}
}

// testHome tests where the maps of a worker without stops open: at the hub of the team, or
// else at the first hub.
func testHome(t *testing.T, c *apptest.Client, team string, settings func() map[string]any) {
	t.Helper()
	hub := func(name string, lon float64, teams ...string) {
		c.Must(t, http.MethodPost, "/hubs", map[string]any{"name": name, "location": []float64{lon, 40.7}, "address": map[string]any{"city": "New York", "country": "US"}, "teams": teams})
	}
	want := func(want string) {
		t.Helper()
		if got := fmt.Sprint(settings()["home"]); got != want {
			t.Errorf("home %s, want %s", got, want)
		}
	}
	want("<nil>")
	hub("first", -74)
	want("[-74 40.7]")
	hub("of the team", -73, team)
	want("[-73 40.7]")
}

func testAppReads(t *testing.T, c *apptest.Client, team string) {
	worker, p := hire(t, c, team, "+12125550345")
	settings := func() map[string]any { return p.call(t, http.MethodGet, "/settings", nil).OK(t).Object(t) }
	got := settings()
	if got["organization"] != "Acme" || got["country"] != "US" || got["hideBarcodes"] != false || got["version"] == "" {
		t.Errorf("settings %v", got)
	}
	if reasons, _ := got["failureReasons"].([]any); len(reasons) != len(lastmile.FailureReasons) {
		t.Errorf("failure reasons %v", reasons)
	}
	c.Set(t, lastmile.Settings{HideBarcodes: true})
	if settings()["hideBarcodes"] != true {
		t.Error("the setting is not shown")
	}
	testHome(t, c, team, settings)
	completed := func() (ids []string) {
		for _, task := range p.call(t, http.MethodGet, "/tasks/completed", nil).OK(t).List(t) {
			ids = append(ids, fmt.Sprint(task["id"]))
		}
		return ids
	}
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	var tasks []string
	for i, yesterday := range []bool{true, false, false} {
		task := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
		at := time.Now().Add(time.Duration(i-3) * time.Millisecond)
		if yesterday {
			at = at.Add(-25 * time.Hour)
		}
		p.do(t, "start", task, "s"+task, map[string]any{"time": at.UnixMilli()})
		p.do(t, "complete", task, "c"+task, map[string]any{"time": at.UnixMilli(), "success": true})
		tasks = append(tasks, task)
	}
	if got := completed(); fmt.Sprint(got) != fmt.Sprint([]string{tasks[2], tasks[1]}) {
		t.Errorf("completed today %v of %v", got, tasks)
	}
}

func testWork(t *testing.T, c *apptest.Client, team string) {
	worker, p := hire(t, c, team, "+12125550303")
	mine := map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}}
	first := driverTask(t, c, mine)
	second := driverTask(t, c, map[string]any{"container": mine["container"], "dependencies": []string{first}})
	p.try(t, "start", first, "early", nil).Rejected(t, 400, 1000) // off duty
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	matches(t, invalid.check(t, p.try(t, "start", second, "blocked", nil), first), `{"type":"dependencies","missing":["`+first+`"]}`)
	p.try(t, "start", first, "", nil).Rejected(t, 400, 1900)
	p.try(t, "complete", first, "unstarted", map[string]any{"success": true}).Rejected(t, 400, 1000)

	happened := time.Now().Add(-time.Hour).UnixMilli()
	for range 3 {
		if got := p.do(t, "start", first, "s1", map[string]any{"time": happened, "location": []float64{-74, 40.69}}); got["state"] != 2.0 {
			t.Fatalf("state %v after the start", got["state"])
		}
	}
	p.try(t, "start", second, "s2", nil).Rejected(t, 400, 1000) // one at a time
	invalid.check(t, p.try(t, "start", second, "s1", nil), "actionId", "start of task "+first)
	invalid.check(t, p.try(t, "complete", first, "s1", map[string]any{"success": true}), "actionId", "start of task "+first)
	p.do(t, "arrive", first, "a1", map[string]any{"location": []float64{-74, 40.7}})
	p.do(t, "depart", first, "d1", map[string]any{"location": []float64{-74, 40.7}})
	list := p.call(t, http.MethodGet, "/tasks", nil).OK(t).Object(t)
	if list["activeTask"] != first || len(list["tasks"].([]any)) != 2 {
		t.Errorf("list %v", list["activeTask"])
	}
	invalid.check(t, p.try(t, "complete", first, "c0", map[string]any{"success": false, "failureReason": "LAZY"}), "failureReason", "UNABLE_TO_LOCATE", "LAZY")
	for range 2 {
		p.do(t, "complete", first, "c1", map[string]any{"success": false, "failureReason": "UNABLE_TO_LOCATE", "notes": "no door"})
	}
	details, _ := c.Must(t, http.MethodGet, "/tasks/"+first, nil)["completionDetails"].(map[string]any)
	if details["success"] != false || details["failureReason"] != "UNABLE_TO_LOCATE" || details["failureNotes"] != "no door" {
		t.Errorf("completion details %v", details)
	}
	events, _ := details["events"].([]any)
	if len(events) != 3 {
		t.Fatalf("%d completion events, want start, arrival, departure: %v", len(events), events)
	}
	if start, _ := events[0].(map[string]any); start["time"] != float64(happened) {
		t.Errorf("started at %v, want the phone's time %d", start["time"], happened)
	}
	if got := p.do(t, "start", second, "s3", nil); got["state"] != 2.0 {
		t.Error("the second cannot be started after the first is done")
	}
}

func testRequirements(t *testing.T, c *apptest.Client, team string) {
	worker, p := hire(t, c, team, "+12125550304")
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	task := driverTask(t, c, map[string]any{
		"container":    map[string]any{"type": "WORKER", "worker": worker},
		"requirements": map[string]any{"signature": true, "photo": true, "notes": true, "minimumAge": 21},
		"barcodes":     []any{map[string]any{"data": "YWJj", "blockCompletion": true}},
	})
	p.do(t, "start", task, "s", nil)
	p.try(t, "complete", task, "blank", map[string]any{"success": true, "barcodes": []any{map[string]any{"data": ""}}}).Rejected(t, 400, 1900)
	handed := map[string]any{"success": true}
	steps := []struct {
		field string
		value any
	}{
		{"signatureText", "Ada"},
		{"photoUploadIds", []string{p.uploaded(t, asPNG(t, drawing(8, 8)))}},
		{"notes", "left with the neighbour"},
		{"minimumAgeVerified", true},
		{"barcodes", []any{map[string]any{"data": "YWJj", "symbology": "CODE39"}}},
	}
	barcode, _ := c.Must(t, http.MethodGet, "/tasks/"+task, nil)["barcodes"].(map[string]any)["required"].([]any)[0].(map[string]any)["id"].(string)
	missing := []string{"signature", "photo", "notes", "minimumAge", "barcode " + barcode}
	for i, step := range steps {
		cause := invalid.check(t, p.try(t, "complete", task, fmt.Sprintf("c%d", i), handed), missing[i:]...)
		matches(t, cause, `{"type":"requirements","missing":`+string(encode(t, missing[i:]))+`}`)
		handed[step.field] = step.value
	}
	if got := p.do(t, "complete", task, "done", handed); got["state"] != 3.0 {
		t.Errorf("state %v", got["state"])
	}
}

func testOwnTasks(t *testing.T, acme, zenith *apptest.Client, team string) {
	_, p := hire(t, acme, team, "+12125550305")
	other, _ := hire(t, acme, team, "+12125550306")
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	theirs := driverTask(t, acme, map[string]any{"container": map[string]any{"type": "WORKER", "worker": other}})
	foreign := driverTask(t, zenith, nil)
	for name, id := range map[string]string{"another worker's": theirs, "another organization's": foreign} {
		for _, verb := range []string{"start", "arrive", "depart"} {
			if got := p.try(t, verb, id, name+verb, nil); got.Status != 401 {
				t.Errorf("%s %s task: %d %s", verb, name, got.Status, got.Body)
			}
		}
		p.try(t, "complete", id, name, map[string]any{"success": true}).Rejected(t, 401, 1103)
	}
	p.try(t, "claim", foreign, "claim", nil).Rejected(t, 401, 1103)
	p.try(t, "start", "unknownunknownunknownunk", "u", nil).Rejected(t, 404, 1402)
}

func testClaim(t *testing.T, c *apptest.Client) {
	open, shut := driverTeam(t, c, "Open", true), driverTeam(t, c, "Shut", false)
	worker, p := hire(t, c, open, "+12125550307")
	c.Call(t, http.MethodPut, "/workers/"+worker, map[string]any{"teams": []string{open, shut}}).OK(t)
	free := driverTask(t, c, map[string]any{"container": map[string]any{"type": "TEAM", "team": open}})
	kept := driverTask(t, c, map[string]any{"container": map[string]any{"type": "TEAM", "team": shut}})
	available := func() (ids []any) {
		t.Helper()
		for _, task := range p.call(t, http.MethodGet, "/tasks/available", nil).OK(t).List(t) {
			ids = append(ids, task["id"])
		}
		return ids
	}
	if got := available(); !slices.Equal(got, []any{free}) {
		t.Errorf("%v may be claimed, want %v", got, free)
	}
	p.try(t, "claim", kept, "k", nil).Rejected(t, 400, 1000)
	if got := p.do(t, "claim", free, "f", nil); got["worker"] != worker || got["state"] != 1.0 {
		t.Errorf("claimed by %v in state %v", got["worker"], got["state"])
	}
	if got := available(); len(got) > 0 {
		t.Errorf("%v may be claimed again", got)
	}
	_, colleague := hire(t, c, open, "+12125550309")
	invalid.check(t, colleague.try(t, "claim", free, "c", nil), "already taken")
	_, stranger := hire(t, c, driverTeam(t, c, "Far away", true), "+12125550310")
	stranger.try(t, "claim", free, "c", nil).Rejected(t, 401, 1103)
	colleague.try(t, "claim", driverTask(t, c, nil), "o", nil).Rejected(t, 401, 1103)
}

func testHandset(t *testing.T, c *apptest.Client, team string) {
	worker, p := hire(t, c, team, "+12125550311")
	shows := func(want string) {
		t.Helper()
		matches(t, c.Must(t, http.MethodGet, "/workers/"+worker, nil)["userData"], want)
	}
	duty := func(data any) apptest.Response {
		return p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true, "userData": data})
	}
	shows(`{}`)
	first := map[string]any{"appVersion": "2.1", "batteryLevel": 0.9, "deviceDescription": "Pixel 9", "platform": "ANDROID"}
	matches(t, duty(first).OK(t).Object(t)["userData"], `{"appVersion":"2.1","batteryLevel":0.9,"deviceDescription":"Pixel 9","platform":"ANDROID"}`)
	modified := c.Must(t, http.MethodGet, "/workers/"+worker, nil)["timeLastModified"]
	sent := len(triggers(t, c, "workerId", worker))

	at := func(ago time.Duration, battery any) map[string]any {
		return map[string]any{"location": []float64{-74, 40.7}, "time": c.Platform.Now().Add(-ago).UnixMilli(), "battery": battery}
	}
	for _, report := range [][]any{{at(20*time.Second, 0.5), at(30*time.Second, 0.6)}, {at(15*time.Second, nil)}, {at(10*time.Second, -1)}, {at(5*time.Second, 50)}} {
		p.call(t, http.MethodPost, "/positions", map[string]any{"positions": report}).OK(t)
	}
	shows(`{"appVersion":"2.1","batteryLevel":0.5,"deviceDescription":"Pixel 9","platform":"ANDROID"}`)
	duty(map[string]any{"appVersion": "2.1", "deviceDescription": "Pixel 9", "platform": "ANDROID", "batteryLevel": 0.4}).OK(t)
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	shows(`{"appVersion":"2.1","batteryLevel":0.4,"deviceDescription":"Pixel 9","platform":"ANDROID"}`)
	if got := c.Must(t, http.MethodGet, "/workers/"+worker, nil)["timeLastModified"]; got != modified {
		t.Errorf("a battery changed the worker: modified %v, before %v", got, modified)
	}
	duty(map[string]any{"appVersion": "2.2", "platform": "IOS"}).OK(t)
	shows(`{"appVersion":"2.2","batteryLevel":0.4,"platform":"IOS"}`)
	if now := triggers(t, c, "workerId", worker); len(now) != sent {
		t.Errorf("webhooks receive changes of a phone: %v", now)
	}
	invalid.check(t, duty(map[string]any{"batteryLevel": 55}), "userData.batteryLevel", "55")
	invalid.check(t, duty(map[string]any{"platform": strings.Repeat("x", 1001)}), "userData.platform")
	malformed.check(t, duty("a phone"), "userData")
	shows(`{"appVersion":"2.2","batteryLevel":0.4,"platform":"IOS"}`)
}

func testPositions(t *testing.T, c *apptest.Client, team string) {
	worker, p := hire(t, c, team, "+12125550308")
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	now := time.Now()
	at := func(ago time.Duration, lon, lat float64) map[string]any {
		return map[string]any{"location": []float64{lon, lat}, "time": now.Add(-ago).UnixMilli()}
	}
	sent := map[string]any{"positions": []any{
		at(time.Second, -74.0002, 40.7), at(time.Minute, -74.0001, 40.7), at(-time.Hour, -74, 40.7), at(0, 10, 10), at(50*time.Hour, -74, 40.7),
	}}
	if got := p.call(t, http.MethodPost, "/positions", sent).OK(t).Object(t); got["accepted"] != 2.0 {
		t.Errorf("accepted %v, want 2", got["accepted"])
	}
	shown := c.Must(t, http.MethodGet, "/workers/"+worker, nil)
	if place, _ := shown["location"].([]any); len(place) != 2 || place[0] != -74.0002 {
		t.Errorf("worker is at %v", shown["location"])
	}
	p.call(t, http.MethodPost, "/positions", map[string]any{"positions": []any{map[string]any{"location": []float64{-200, 0}, "time": now.UnixMilli()}}}).Rejected(t, 400, 1000)
	for field, body := range map[string]map[string]any{
		"positions":             {},
		"positions[1].location": {"positions": []any{at(0, -74, 40.7), map[string]any{"time": now.UnixMilli()}}},
		"positions[0].time":     {"positions": []any{map[string]any{"location": []float64{-74, 40.7}}}},
	} {
		malformed.check(t, p.call(t, http.MethodPost, "/positions", body), field+" is required")
	}
}
