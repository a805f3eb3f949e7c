package contract_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

func TestTrackContract(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		acme := p.Organization(t, "Acme")
		team := driverTeam(t, acme, "Driving", true)
		t.Run("a task is followed from its creation to its end", func(t *testing.T) { testFollow(t, acme, team) })
		t.Run("the page shows only what concerns the recipient", func(t *testing.T) { testFollowAllowList(t, acme, team) })
		t.Run("a page expires a day after the task is completed", func(t *testing.T) { testGone(t, acme, team) })
		t.Run("an unknown link reveals nothing", func(t *testing.T) { testNoPage(t, acme) })
		t.Run("links cannot be predicted", func(t *testing.T) { testLinksAreRandom(t, acme) })
		t.Run("only the script of the page reports that it was opened", func(t *testing.T) { testViewed(t, acme) })
		t.Run("a completed task can be rated", func(t *testing.T) { testFeedback(t, acme, team) })
		t.Run("the page needs no script", func(t *testing.T) { testPage(t, acme, team) })
		t.Run("a stream sends every change", func(t *testing.T) { testFollowStream(t, acme, team) })
		t.Run("no name becomes markup", func(t *testing.T) { testHostileNames(t, p) })
		t.Run("requests of one address are limited", func(t *testing.T) { testTrackRate(t, acme) })
	})
}

// link returns the URL of a task's page.
func link(t testing.TB, c *apptest.Client, task string) string {
	t.Helper()
	found, err := url.Parse(fmt.Sprint(c.Must(t, http.MethodGet, "/tasks/"+task, nil)["trackingURL"]))
	if err != nil {
		t.Fatal(err)
	}
	return c.Platform.URL + found.Path
}

// testLinksAreRandom creates tasks one after the other. No two links begin with the same
// characters, and no link begins like the id of its task, which contains the time.
func testLinksAreRandom(t *testing.T, c *apptest.Client) {
	const alike = 6 // characters: in ids they change once a minute, in links they are random
	seen := map[string]bool{}
	for range 10 {
		task := id(t, c, "/tasks", plainTask)
		token := path.Base(link(t, c, task))
		if seen[token[:alike]] || token[:alike] == task[:alike] {
			t.Errorf("the link %s of task %s begins with what could be known", token, task)
		}
		seen[token[:alike]] = true
	}
}

// state returns what the page's script receives.
func state(t testing.TB, link string) map[string]any {
	t.Helper()
	return exchange(t, http.MethodGet, link+"/state", nil).OK(t).Object(t)
}

func say(t testing.TB, link, body string) apptest.Response {
	t.Helper()
	return exchange(t, http.MethodPost, link+"/feedback", strings.NewReader(body), "Content-Type", "application/json")
}

// courier creates a worker on duty.
func courier(t testing.TB, c *apptest.Client, team, number string) (worker string, p *phone) {
	t.Helper()
	worker, p = hire(t, c, team, number)
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	return worker, p
}

func (p *phone) standsAt(t testing.TB, lon, lat float64) {
	t.Helper()
	p.call(t, http.MethodPost, "/positions", map[string]any{"positions": []any{
		map[string]any{"location": []float64{lon, lat}, "time": time.Now().UnixMilli()},
	}}).OK(t)
}

func testFollow(t *testing.T, c *apptest.Client, team string) {
	worker, p := courier(t, c, team, "+12125550321")
	c.Call(t, http.MethodPut, "/workers/"+worker, map[string]any{"name": "Ada Lovelace", "vehicle": map[string]any{"type": "BICYCLE", "licensePlate": "SECRET1"}}).OK(t)
	after, before := time.Now().Add(time.Hour).UnixMilli(), time.Now().Add(2*time.Hour).UnixMilli()
	task := driverTask(t, c, map[string]any{
		"completeAfter": after, "completeBefore": before, "requirements": map[string]any{"signature": true, "photo": true, "minimumAge": 18},
	})
	at := link(t, c, task)
	p.standsAt(t, -74.01, 40.7)
	common := fmt.Sprintf(`"organization":"Acme","pickup":false,"completeAfter":%d,"completeBefore":%d,"estimatedArrivalTime":null,"delayTime":null,
		"requirements":{"signature":true,"photo":true,"minimumAge":18},"timezone":"America/New_York","language":"en",
		"route":null,"failureReason":null,"phone":null,"logo":false,"newTimes":[],"requestedTime":null,`, after, before)
	open := common + `"completionTime":null,"feedback":{"allowed":false,"given":false},"expires":null,`
	matches(t, state(t, at), `{"stage":"scheduled",`+open+`"worker":null}`)
	c.Call(t, http.MethodPut, "/tasks/"+task, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}}).OK(t)
	matches(t, state(t, at), `{"stage":"assigned",`+open+`"worker":null}`) // without the worker's position
	p.do(t, "start", task, "s", nil)
	on := func() string {
		return `"worker":{"name":"Ada","vehicleType":"BICYCLE","location":[-74.01,40.7],"locationTime":"<now>","destination":[-74,40.7]}}`
	}
	underway := func() map[string]any { // with an estimate from the start on
		t.Helper()
		got := state(t, at)
		if arrival, known := got["estimatedArrivalTime"].(float64); !known || arrival < float64(began.UnixMilli()) {
			t.Errorf("estimatedArrivalTime is %v", got["estimatedArrivalTime"])
		}
		got["estimatedArrivalTime"] = nil
		if way, shown := got["route"].(map[string]any); shown != (got["stage"] == "active") || shown && (way["source"] != "formula" || way["geometry"] != "_flwFnavbM?o}@") {
			t.Errorf("the way is %v", got["route"])
		}
		got["route"] = nil
		return got
	}
	matches(t, underway(), `{"stage":"active",`+open+on())
	p.do(t, "arrive", task, "a", nil)
	arrived := `{"stage":"arrived",` + open + `"worker":{"name":"Ada","vehicleType":"BICYCLE","location":null,"locationTime":null,"destination":null}}`
	matches(t, underway(), arrived) // after the arrival the position is not shown
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": false}).OK(t)
	matches(t, underway(), arrived)
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	p.do(t, "complete", task, "c", map[string]any{
		"success": true, "signatureText": "R", "minimumAgeVerified": true, "photoUploadIds": []string{p.uploaded(t, numbered(t, 21))},
	})
	got := state(t, at)
	if got["expires"].(float64)-got["completionTime"].(float64) != 24*time.Hour.Seconds()*1000 {
		t.Errorf("completed at %v, gone at %v", got["completionTime"], got["expires"])
	}
	got["expires"] = nil
	matches(t, got, `{"stage":"completed",`+common+`"completionTime":"<now>","feedback":{"allowed":true,"given":false},"expires":null,"worker":null}`)
}

func testFollowAllowList(t *testing.T, c *apptest.Client, team string) {
	const canary = "Canary7"
	worker, p := courier(t, c, team, "+12125550322")
	c.Call(t, http.MethodPut, "/workers/"+worker, map[string]any{
		"name": "Grace " + canary, "vehicle": map[string]any{"type": "CAR", "licensePlate": canary, "description": canary, "color": canary},
		"metadata": []any{map[string]any{"name": canary, "type": "string", "value": canary}},
	}).OK(t)
	task := driverTask(t, c, map[string]any{
		"container": map[string]any{"type": "WORKER", "worker": worker}, "notes": canary, "recipientName": canary, "recipientNotes": canary,
		"destination": map[string]any{
			"address": map[string]any{"name": canary, "number": canary, "street": canary, "apartment": canary, "city": canary, "country": "US"}, "location": []float64{-73.123456, 40.654321},
			"notes": canary,
		},
		"recipients": []any{map[string]any{"name": canary, "phone": "+12125550142", "notes": canary}},
		"barcodes":   []any{map[string]any{"data": "Q2FuYXJ5Nw==", "blockCompletion": false}},
		"metadata":   []any{map[string]any{"name": canary, "type": "string", "value": canary}},
	})
	other := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
	at := link(t, c, task)
	look := func() string {
		return string(exchange(t, http.MethodGet, at+"/state", nil).OK(t).Body) + string(exchange(t, http.MethodGet, at, nil).OK(t).Body)
	}
	check := func(stage string, more ...string) {
		t.Helper()
		shown := look()
		for _, secret := range append([]string{canary, "Q2FuYXJ5Nw", "+1212555", task, other, worker, team, string(c.Organization.ID)}, more...) {
			if strings.Contains(shown, secret) {
				t.Errorf("%s: %q can be seen: %s", stage, secret, shown)
			}
		}
	}
	place := []string{"40.65", "-73.12"}
	check("assigned", place...)
	p.standsAt(t, -74.01, 40.7)
	p.do(t, "start", other, "s1", nil)                  // another stop comes first
	check("another active", append(place, "-74.01")...) // the worker is shown only to the next recipient
	p.do(t, "complete", other, "c1", map[string]any{"success": true})
	p.do(t, "start", task, "s2", nil)
	check("active")
	if shown := look(); !strings.Contains(shown, "-74.01") || !strings.Contains(shown, "-73.123456") {
		t.Error("the worker is not shown to whom she goes next, or not where she goes")
	}
	p.do(t, "complete", task, "c2", map[string]any{"success": false, "notes": canary, "failureReason": "OTHER"})
	check("failed", append(place, "-74.01", "Grace")...)
}

func testGone(t *testing.T, c *apptest.Client, team string) {
	worker, p := courier(t, c, team, "+12125550323")
	mine := map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}}
	for name, test := range map[string]struct {
		ago  time.Duration
		gone bool
	}{"after 23 hours it is there": {23 * time.Hour, false}, "after 25 hours it is gone": {25 * time.Hour, true}} {
		t.Run(name, func(t *testing.T) {
			task := driverTask(t, c, mine)
			at, when := link(t, c, task), map[string]any{"time": time.Now().Add(-test.ago).UnixMilli(), "success": true}
			p.do(t, "start", task, "s"+name, when)
			p.do(t, "complete", task, "c"+name, when)
			replies := []apptest.Response{
				exchange(t, http.MethodGet, at, nil), exchange(t, http.MethodGet, at+"/state", nil), exchange(t, http.MethodPost, at+"/viewed", nil), say(t, at, `{"rating":5}`),
			}
			for i, a := range replies {
				if (a.Status == http.StatusNotFound) != test.gone {
					t.Errorf("request %d responded with %d: %s", i, a.Status, a.Body)
				}
			}
			if kept := c.Must(t, http.MethodGet, "/tasks/"+task, nil); (len(kept["feedback"].([]any)) == 0) != test.gone {
				t.Errorf("feedback %v", kept["feedback"])
			}
		})
	}
}

var inMessage = regexp.MustCompile(`"request":"[^"]*"`)

func testNoPage(t *testing.T, c *apptest.Client) {
	real := driverTask(t, c, nil)
	short := fmt.Sprint(c.Must(t, http.MethodGet, "/tasks/"+real, nil)["shortId"])
	var page, said string
	for _, token := range []string{unknownID, real, short, "x", strings.Repeat("a", 5000), "%00", "..%2f", "%ff%fe", "a b", "'--", "<script>"} {
		at := c.Platform.URL + "/t/" + token
		shown := exchange(t, http.MethodGet, at, nil)
		if shown.Status != http.StatusNotFound {
			t.Errorf("%q responded with %d", clip(token), shown.Status)
		}
		if page == "" {
			page = string(shown.Body)
		} else if page != string(shown.Body) {
			t.Errorf("%q has another page than others: %s", clip(token), shown.Body)
		}
		if token == "%00" || token == "%ff%fe" {
			continue // not valid text, and rejected earlier
		}
		a := exchange(t, http.MethodGet, at+"/state", nil)
		notFound.check(t, a)
		if body := inMessage.ReplaceAllString(string(a.Body), ""); said == "" {
			said = body
		} else if said != body {
			t.Errorf("%q is rejected otherwise: %s", clip(token), a.Body)
		}
		notFound.check(t, exchange(t, http.MethodPost, at+"/viewed", nil))
		notFound.check(t, say(t, at, `{"rating":3}`))
		notFound.check(t, exchange(t, http.MethodGet, at+"/events", nil))
	}
	notFound.check(t, exchange(t, http.MethodGet, link(t, c, real)+"/nothing", nil))
	wrongMethod.check(t, exchange(t, http.MethodGet, link(t, c, real)+"/viewed", nil))
}

func clip(text string) string { return text[:min(len(text), 30)] }

func testViewed(t *testing.T, c *apptest.Client) {
	task := driverTask(t, c, nil)
	at := link(t, c, task)
	exchange(t, http.MethodGet, at, nil).OK(t)
	exchange(t, http.MethodHead, at, nil).OK(t)
	exchange(t, http.MethodGet, at+"/state", nil).OK(t)
	if c.Must(t, http.MethodGet, "/tasks/"+task, nil)["trackingViewed"] != false {
		t.Error("a preview of the link counts as opening the page")
	}
	before := c.Must(t, http.MethodGet, "/tasks/"+task, nil)
	for range 3 {
		exchange(t, http.MethodPost, at+"/viewed", nil).OK(t)
	}
	after := c.Must(t, http.MethodGet, "/tasks/"+task, nil)
	if after["trackingViewed"] != true {
		t.Error("not viewed")
	}
	changed(t, "viewed", before, after, "trackingViewed")
	if sent := triggers(t, c, "taskId", task); !slices.Equal(sent, []string{"taskCreated", "taskUpdated"}) {
		t.Errorf("webhooks receive %v", sent)
	}
}

func testFeedback(t *testing.T, c *apptest.Client, team string) {
	worker, p := courier(t, c, team, "+12125550324")
	task := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
	at := link(t, c, task)
	invalid.check(t, say(t, at, `{"rating":5}`), "completed")
	p.do(t, "start", task, "s", nil)
	invalid.check(t, say(t, at, `{"rating":5}`), "completed")
	p.do(t, "complete", task, "c", map[string]any{"success": false})
	for body, want := range map[string]rejection{
		`{}`: malformed, `{"rating":"five"}`: malformed, `{"rating":null}`: malformed, `[]`: malformed, `{"rating":0}`: invalid, `{"rating":6}`: invalid,
		`{"rating":-1}`: invalid, `{"rating":4.5}`: malformed, `{"rating":5,"comments":7}`: malformed, `not json`: invalid,
		`{"rating":5,"comments":"` + strings.Repeat("x", 1001) + `"}`: invalid,
	} {
		want.check(t, say(t, at, body))
	}
	sent := len(triggers(t, c, "taskId", task))
	for range 3 {
		say(t, at, `{"rating":2,"comments":" too late "}`).OK(t)
	}
	matches(t, c.Must(t, http.MethodGet, "/tasks/"+task, nil)["feedback"], `[{"time":"<now>","rating":2,"comments":"too late"}]`)
	say(t, at, `{"rating":4}`).OK(t)
	matches(t, c.Must(t, http.MethodGet, "/tasks/"+task, nil)["feedback"], `[{"time":"<now>","rating":4,"comments":""}]`)
	if got := triggers(t, c, "taskId", task)[sent:]; !slices.Equal(got, []string{"taskUpdated", "taskUpdated"}) {
		t.Errorf("webhooks receive %v", got)
	}
	matches(t, state(t, at)["feedback"], `{"allowed":true,"given":true}`)
	if strings.Contains(string(exchange(t, http.MethodGet, at+"/state", nil).Body), "too late") {
		t.Error("anyone with the link can read the recipient's feedback")
	}
}

var styleSheet = regexp.MustCompile(`(?s)<style>(.*)</style>`)

func testPage(t *testing.T, c *apptest.Client, team string) {
	worker, p := courier(t, c, team, "+12125550325")
	task := driverTask(t, c, map[string]any{
		"container": map[string]any{"type": "WORKER", "worker": worker}, "requirements": map[string]any{"minimumAge": 18},
		"completeAfter": time.Date(2089, 7, 14, 14, 5, 0, 0, time.UTC).UnixMilli(), "completeBefore": time.Date(2089, 7, 14, 16, 0, 0, 0, time.UTC).UnixMilli(),
	})
	at := link(t, c, task)
	for language, want := range map[string][]string{
		"":               {`lang="en"`, "Your delivery is being prepared", "July 14, 10:05 AM – 12:00 PM", "at least 18"},
		"es-MX":          {`lang="es"`, "Su entrega se está preparando", "14 de julio, 10:05 – 12:00", "18 años"},
		"fr":             {`lang="fr"`, "Votre livraison est en préparation", "14 juillet, 10:05 – 12:00", "18 ans"},
		"ja, de;q=0.4":   {`lang="de"`, "Ihre Lieferung wird vorbereitet", "14. Juli, 10:05 – 12:00", "18 Jahre"},
		"pt-BR,en;q=0.5": {`lang="pt"`, "A sua entrega está em preparação", "14 de julho, 10:05 – 12:00", "18 anos"},
	} {
		page := exchange(t, http.MethodGet, at, nil, "Accept-Language", language).OK(t)
		for _, text := range want {
			if !bytes.Contains(page.Body, []byte(text)) {
				t.Errorf("%q: the page does not say %q: %s", language, text, page.Body)
			}
		}
	}
	page := exchange(t, http.MethodGet, at, nil).OK(t)
	gone := exchange(t, http.MethodGet, c.Platform.URL+"/t/"+unknownID, nil)
	for _, a := range []apptest.Response{page, gone} {
		for header, want := range map[string]string{
			"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex, nofollow", "Cache-Control": "no-store",
			"Content-Type": "text/html; charset=utf-8",
		} {
			if got := a.Header.Get(header); got != want {
				t.Errorf("%s is %q, want %q", header, got, want)
			}
		}
		policy := a.Header.Get("Content-Security-Policy")
		sum := sha256.Sum256(styleSheet.FindSubmatch(a.Body)[1])
		for _, want := range []string{
			"default-src 'none'", "script-src 'self';", "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("the policy %q lacks %s", policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("the policy is %q", policy)
		}
	}
	for header, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow", "Cache-Control": "no-store"} {
		if got := exchange(t, http.MethodGet, at+"/state", nil).Header.Get(header); got != want {
			t.Errorf("%s of the state is %q, want %q", header, got, want)
		}
	}

	p.do(t, "start", task, "s", nil)
	p.do(t, "complete", task, "c", map[string]any{"success": true, "minimumAgeVerified": true})
	if page := exchange(t, http.MethodGet, at, nil).OK(t); !bytes.Contains(page.Body, []byte("<form")) {
		t.Errorf("the page of a completed task has no form: %s", page.Body)
	}
	form := func(body string) apptest.Response {
		return exchange(t, http.MethodPost, at, strings.NewReader(body), "Content-Type", "application/x-www-form-urlencoded", "Origin", "null")
	}
	for _, bad := range []string{"", "rating=x", "rating=9", "rating=%ff", "rating=3&comments=" + strings.Repeat("x", 2000), strings.Repeat("x", 1<<16)} {
		if a := form(bad); a.Status != http.StatusBadRequest {
			t.Errorf("%q responded with %d", clip(bad), a.Status)
		}
	}
	if a := form("rating=5&comments=g%C3%BCt%00%ff"); a.Status != http.StatusSeeOther || a.Header.Get("Location") != strings.TrimPrefix(at, c.Platform.URL) {
		t.Errorf("the form responded with %d to %s", a.Status, a.Header.Get("Location"))
	}
	matches(t, c.Must(t, http.MethodGet, "/tasks/"+task, nil)["feedback"], `[{"time":"<now>","rating":5,"comments":"güt"}]`)
	if page := exchange(t, http.MethodGet, at, nil).OK(t); bytes.Contains(page.Body, []byte("<form")) || bytes.Contains(page.Body, []byte("güt")) {
		t.Errorf("the page of a rated task: %s", page.Body)
	}
}

func testFollowStream(t *testing.T, c *apptest.Client, team string) {
	worker, p := courier(t, c, team, "+12125550326")
	task := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link(t, c, task)+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" || response.StatusCode != http.StatusOK {
		t.Fatalf("responded with %d %s", response.StatusCode, kind)
	}
	lines := bufio.NewScanner(response.Body)
	next := func() string {
		t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var said map[string]any
				if err := json.Unmarshal([]byte(data), &said); err != nil {
					t.Fatal(err)
				}
				return fmt.Sprint(said["stage"])
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return ""
	}
	if got := next(); got != "assigned" {
		t.Errorf("first %s", got)
	}
	p.do(t, "start", task, "s", nil)
	if got := next(); got != "active" {
		t.Errorf("then %s", got)
	}
}

func testTrackRate(t *testing.T, c *apptest.Client) {
	at := link(t, c, driverTask(t, c, nil))
	ask := func(from string) apptest.Response {
		return exchange(t, http.MethodGet, at+"/state", nil, "X-Forwarded-For", from)
	}
	c.Platform.StopClock() // the machine may be too slow to ask too often
	var last apptest.Response
	for range 500 {
		if last = ask("198.51.100.7"); last.Status != http.StatusOK {
			break
		}
	}
	tooMany.check(t, last)
	ask("198.51.100.8").OK(t)
}

// hostile returns names that contain markup, scripts and control characters for the
// direction of text.
func hostile() []string {
	scripts := []string{
		"<script>P</script>", "<img src=x onerror=P>", "<svg onload=P>", "\"><script>P</script>", "'><script>P</script>", "</title><script>P</script>",
		"</style><script>P</script>", "</script><script>P</script>", "<iframe srcdoc='<script>P</script>'>", "<a href=javascript:P>x</a>", "javascript:P",
		"{{P}}", "${P}", "<!--P-->", "]]><script>P</script>", "<math><mi xlink:href=javascript:P>", "<body onload=P>", "<input autofocus onfocus=P>",
		"<details open ontoggle=P>", "<object data=javascript:P>", "<base href=//evil>", "<meta http-equiv=refresh content=0>", "<link rel=stylesheet href=//evil>",
		"\" onmouseover=P x=\"", "' onmouseover=P x='", "` onmouseover=P `",
	}
	payloads := []string{"alert(1)", "fetch('//evil')", "document.cookie", "eval(name)", "&#97;lert(1)"}
	signs := []string{"\u202e", "\u2066", "\u200f", "\u2028"}
	var all []string
	for i, s := range scripts {
		for j, p := range payloads {
			for k, sign := range signs {
				name := strings.ReplaceAll(s, "P", p)
				if (i+j+k)%2 == 0 {
					name = sign + name
				} else {
					name += sign
				}
				all = append(all, name)
			}
		}
	}
	return all
}

var tags = regexp.MustCompile(`<[a-zA-Z!/][^>]*>`)

// testHostileNames shows each name in all places where a page shows one, and
// checks that the page has the tags it always has.
func testHostileNames(t *testing.T, p *apptest.Platform) {
	names := hostile()
	if len(names) < 500 {
		t.Fatalf("%d names", len(names))
	}
	plainOrg := p.Organization(t, "Plain")
	team := driverTeam(t, plainOrg, "Driving", true)
	worker, phone := courier(t, plainOrg, team, "+12125550327")
	task := driverTask(t, plainOrg, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
	phone.do(t, "start", task, "s", nil)
	at := link(t, plainOrg, task)
	usual := tags.FindAll(exchange(t, http.MethodGet, at, nil).OK(t).Body, -1)
	check := func(name, at string) {
		t.Helper()
		page := exchange(t, http.MethodGet, at, nil).OK(t).Body
		if found := tags.FindAll(page, -1); len(found) != len(usual) {
			t.Errorf("%q becomes markup: %s", name, page)
		}
		said := exchange(t, http.MethodGet, at+"/state", nil).OK(t)
		said.Object(t)
		for what, shown := range map[string][]byte{"page": page, "state": said.Body} {
			if strings.ContainsAny(string(shown), "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028\u2029") {
				t.Errorf("%q turns the %s around", name, what)
			}
		}
		if said.Header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("the state is %s", said.Header.Get("Content-Type"))
		}
	}
	for _, name := range names {
		plainOrg.Call(t, http.MethodPut, "/workers/"+worker, map[string]any{"displayName": name}).OK(t)
		check(name, at)
	}
	for i, name := range names[:40] {
		org := p.Organization(t, name)
		if i%2 == 0 {
			continue
		}
		hers := driverTeam(t, org, "Driving", true)
		driver, phone := courier(t, org, hers, fmt.Sprintf("+1212555%04d", 4000+i))
		org.Call(t, http.MethodPut, "/workers/"+driver, map[string]any{"name": name}).OK(t)
		mine := map[string]any{"container": map[string]any{"type": "WORKER", "worker": driver}}
		maps.Copy(mine, map[string]any{"notes": name})
		made := driverTask(t, org, mine)
		phone.do(t, "start", made, "s", nil)
		check(name, link(t, org, made))
	}
}
