package contract_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestTrackingPageSettings(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		acme, zenith := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		team := driverTeam(t, acme, "Driving", true)
		t.Run("an organization sets what its recipients see", func(t *testing.T) { testPageSettings(t, acme, zenith) })
		t.Run("a logo is re-encoded, shown and replaced", func(t *testing.T) { testLogo(t, acme, zenith) })
		t.Run("a failed delivery says why, in every language", func(t *testing.T) { testFailureReasons(t, acme, team) })
		t.Run("another time is requested only if the organization allows it", func(t *testing.T) { testNewTime(t, acme, team) })
	})
}

func testPageSettings(t *testing.T, c, other *apptest.Client) {
	const path = "/organization/trackingPage"
	none := `{"phone":null,"color":null,"allowNewTimes":false}`
	matches(t, c.Must(t, http.MethodGet, path, nil), none)
	set := c.Must(t, http.MethodPut, path, map[string]any{"phone": "(212) 555-0100", "color": "#FFCC00", "allowNewTimes": true})
	matches(t, set, `{"phone":"+12125550100","color":"#ffcc00","allowNewTimes":true}`)
	matches(t, c.Must(t, http.MethodPut, path, map[string]any{}), `{"phone":"+12125550100","color":"#ffcc00","allowNewTimes":true}`)
	matches(t, other.Must(t, http.MethodGet, path, nil), none)
	for body, want := range map[string]rejection{
		`{"phone":"12"}`: invalid, `{"color":"red"}`: invalid, `{"color":"#12345"}`: invalid, `{"color":"#0b6b50;}"}`: invalid,
		`{"phone":7}`: malformed, `{"allowNewTimes":"yes"}`: malformed, `[]`: malformed,
	} {
		want.check(t, c.Call(t, http.MethodPut, path, body))
	}
	matches(t, c.Must(t, http.MethodGet, path, nil), `{"phone":"+12125550100","color":"#ffcc00","allowNewTimes":true}`)

	at := link(t, c, driverTask(t, c, nil))
	page := string(exchange(t, http.MethodGet, at, nil).OK(t).Body)
	for _, want := range []string{`href="tel:&#43;12125550100"`, `Call Acme: <span class="number">(212) 555-0100</span>`, "--accent: "} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page)
		}
	}
	if strings.Contains(page, "#ffcc00; }\n@media") {
		t.Error("the color is shown on light ground as it is, which cannot be read")
	}
	if got := state(t, at)["phone"]; got != "+12125550100" {
		t.Errorf("the state has the phone %v", got)
	}
	matches(t, c.Must(t, http.MethodPut, path, map[string]any{"phone": nil, "color": nil, "allowNewTimes": false}), none)
	if page := string(exchange(t, http.MethodGet, at, nil).OK(t).Body); strings.Contains(page, "tel:") {
		t.Errorf("the removed number is still there: %s", page)
	}
}

func setLogo(t *testing.T, c *apptest.Client, data []byte) apptest.Response {
	t.Helper()
	return c.Call(t, http.MethodPut, "/organization/logo", data)
}

func testLogo(t *testing.T, c, other *apptest.Client) {
	at := link(t, c, driverTask(t, c, nil))
	notFound.check(t, exchange(t, http.MethodGet, at+"/logo", nil))
	if page := exchange(t, http.MethodGet, at, nil).OK(t); bytes.Contains(page.Body, []byte("<img")) {
		t.Error("an image without a logo")
	}
	first := setLogo(t, c, numbered(t, 31)).OK(t).Object(t)["uploadId"].(string)
	shown := exchange(t, http.MethodGet, at+"/logo", nil).OK(t)
	if _, err := png.Decode(bytes.NewReader(shown.Body)); err != nil || shown.Header.Get("Content-Type") != "image/png" {
		t.Errorf("the logo is %s: %v", shown.Header.Get("Content-Type"), err)
	}
	if got := shown.Header.Get("Cache-Control"); got != "private, max-age=3600" {
		t.Errorf("Cache-Control is %q", got)
	}
	if page := exchange(t, http.MethodGet, at, nil).OK(t); !bytes.Contains(page.Body, []byte("/logo\" alt=\"\"")) || state(t, at)["logo"] != true {
		t.Errorf("the page does not show the logo: %s", page.Body)
	}
	if got := c.Must(t, http.MethodGet, "/organization", nil)["image"]; got != first {
		t.Errorf("the image of the organization is %v, want %s", got, first)
	}
	c.Call(t, http.MethodGet, "/uploads/"+first, nil).OK(t)
	outsideScope.check(t, other.Call(t, http.MethodGet, "/uploads/"+first, nil))

	for name, data := range map[string][]byte{"nothing": nil, "a text": []byte("logo"), "a script": []byte(`<svg onload="alert(1)"/>`)} {
		if a := setLogo(t, c, data); a.Status != http.StatusBadRequest {
			t.Errorf("%s got %d: %s", name, a.Status, a.Body)
		}
	}
	tooLarge.check(t, setLogo(t, c, make([]byte, lastmile.MaxLogo+1)))
	tooLarge.check(t, setLogo(t, c, noise(t, 400)), "re-encoded")
	second := setLogo(t, c, numbered(t, 32)).OK(t).Object(t)["uploadId"].(string)
	notFound.check(t, c.Call(t, http.MethodGet, "/uploads/"+first, nil))
	c.Call(t, http.MethodGet, "/uploads/"+second, nil).OK(t)
	for range 2 {
		c.Call(t, http.MethodDelete, "/organization/logo", nil).OK(t)
	}
	notFound.check(t, exchange(t, http.MethodGet, at+"/logo", nil))
	notFound.check(t, c.Call(t, http.MethodGet, "/uploads/"+second, nil))
	if got := c.Must(t, http.MethodGet, "/organization", nil)["image"]; got != nil {
		t.Errorf("the image of the organization is %v", got)
	}
	notFound.check(t, exchange(t, http.MethodGet, c.Platform.URL+"/t/"+unknownID+"/logo", nil))
}

// noise returns an image that cannot be compressed.
func noise(t *testing.T, side int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			n := random.Uint32()
			img.SetNRGBA(x, y, color.NRGBA{uint8(n), uint8(n >> 8), uint8(n >> 16), 255})
		}
	}
	return asPNG(t, img)
}

func testFailureReasons(t *testing.T, c *apptest.Client, team string) {
	worker, p := courier(t, c, team, "+12125550341")
	seen := map[string]bool{}
	for _, reason := range lastmile.FailureReasons {
		task := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
		at := link(t, c, task)
		p.do(t, "start", task, "s"+task, nil)
		p.do(t, "complete", task, "c"+task, map[string]any{"success": false, "failureReason": reason, "notes": "internal notes"})
		want := any(string(reason))
		if reason == "OTHER" {
			want = nil
		}
		if got := state(t, at)["failureReason"]; got != want {
			t.Errorf("the reason %s is %v", reason, got)
		}
		for _, language := range []string{"en", "es", "fr", "de", "pt"} {
			page := string(exchange(t, http.MethodGet, at, nil, "Accept-Language", language).OK(t).Body)
			_, detail, known := strings.Cut(page, `<p class="detail">`)
			detail, _, _ = strings.Cut(detail, "</p>")
			if known != (want != nil) || known && seen[detail] {
				t.Errorf("%s in %s: %q", reason, language, detail)
			}
			seen[detail] = true
			if strings.Contains(page, "internal notes") || !strings.Contains(page, "Acme</bdi>") || !strings.Contains(page, `id="next">`+"\n<h2>") {
				t.Errorf("%s in %s: the page is %s", reason, language, page)
			}
		}
	}
}

func testNewTime(t *testing.T, c *apptest.Client, team string) {
	worker, p := courier(t, c, team, "+12125550342")
	task := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
	at := link(t, c, task)
	ask := func(body string) apptest.Response {
		return exchange(t, http.MethodPost, at+"/newTime", strings.NewReader(body), "Content-Type", "application/json")
	}
	allow := func(on bool) {
		c.Call(t, http.MethodPut, "/organization/trackingPage", map[string]any{"allowNewTimes": on}).OK(t)
	}
	allow(true)
	invalid.check(t, ask(`{"completeAfter":4000000000000}`), "failed")
	p.do(t, "start", task, "s", nil)
	p.do(t, "complete", task, "c", map[string]any{"success": false, "failureReason": "NO_ACCESS"})
	offered := func() []any { times, _ := state(t, at)["newTimes"].([]any); return times }
	begin := func(i int) int64 { return int64(offered()[i].(map[string]any)["completeAfter"].(float64)) }

	allow(false)
	if got := offered(); len(got) != 0 {
		t.Errorf("offered although it is not allowed: %v", got)
	}
	invalid.check(t, ask(`{"completeAfter":4000000000000}`), "contact")
	allow(true)
	if got := offered(); len(got) < 18 || len(got) > 21 {
		t.Fatalf("offered: %v", got)
	}
	for body, want := range map[string]rejection{`{}`: malformed, `{"completeAfter":"x"}`: malformed, `{"completeAfter":1}`: invalid, `{"completeAfter":4000000000000}`: invalid} {
		want.check(t, ask(body))
	}
	before := len(triggers(t, c, "taskId", task))
	for range 3 {
		ask(fmt.Sprintf(`{"completeAfter":%d}`, begin(3))).OK(t)
	}
	if got := triggers(t, c, "taskId", task)[before:]; len(got) != 1 || got[0] != "taskUpdated" {
		t.Errorf("webhooks are notified of %v", got)
	}
	metadata := c.Must(t, http.MethodGet, "/tasks/"+task, nil)["metadata"]
	matches(t, metadata, fmt.Sprintf(`[{"name":"requestedTime","type":"object","visibility":["api","dashboard"],
		"value":{"completeAfter":%d,"completeBefore":%d,"time":"<now>"}}]`, begin(3), int64(offered()[3].(map[string]any)["completeBefore"].(float64))))
	if got := state(t, at)["requestedTime"].(map[string]any)["completeAfter"]; got != float64(begin(3)) {
		t.Errorf("the page shows that %v was requested", got)
	}
	form := func(body string) apptest.Response {
		return exchange(t, http.MethodPost, at, strings.NewReader(body), "Content-Type", "application/x-www-form-urlencoded")
	}
	if a := form(fmt.Sprintf("time=%d", begin(4))); a.Status != http.StatusSeeOther {
		t.Errorf("the form got %d: %s", a.Status, a.Body)
	}
	for _, bad := range []string{"time=", "time=x", "time=1", "time=99999999999999999999"} {
		if a := form(bad); a.Status != http.StatusBadRequest || !bytes.Contains(a.Body, []byte(`role="alert"`)) {
			t.Errorf("%q got %d: %s", bad, a.Status, a.Body)
		}
	}
	page := string(exchange(t, http.MethodGet, at, nil).OK(t).Body)
	if !strings.Contains(page, "Acme has received your request") || !strings.Contains(page, fmt.Sprintf(`<option value="%d" selected>`, begin(4))) {
		t.Errorf("the page does not show the request: %s", page)
	}
	for i := range 9 { // eight more changes are allowed, and one is made again
		if a := ask(fmt.Sprintf(`{"completeAfter":%d}`, begin(5+i))); a.Status != http.StatusOK && i < 8 {
			t.Errorf("request %d: %d %s", i, a.Status, a.Body)
		} else if i == 8 {
			tooMany.check(t, a)
		}
	}
}
