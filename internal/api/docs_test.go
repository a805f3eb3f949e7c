package api

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// openDocs asks the reference for a path as a browser would.
func openDocs(t *testing.T, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "dray.example:8080"
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	bareServer().DocsHandler().ServeHTTP(w, r)
	return w
}

func TestReference(t *testing.T) {
	answer := openDocs(t, "/docs")
	page := answer.Body.String()

	t.Run("is a page that may load its own style sheet only", func(t *testing.T) {
		if answer.Code != http.StatusOK || !strings.HasPrefix(answer.Header().Get("Content-Type"), "text/html") {
			t.Fatalf("answered %d %s", answer.Code, answer.Header().Get("Content-Type"))
		}
		if policy := answer.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("the policy is %q", policy)
		}
		outside := regexp.MustCompile(`(?i)<script|<iframe|\sstyle=|\son\w+=|(?:src|href)="(?:https?:)?//`)
		if found := outside.FindString(page); found != "" {
			t.Errorf("the page has %q", found)
		}
		style := openDocs(t, "/docs/style.css")
		if style.Code != http.StatusOK || !strings.HasPrefix(style.Header().Get("Content-Type"), "text/css") {
			t.Errorf("the style sheet answered %d %s", style.Code, style.Header().Get("Content-Type"))
		}
		if strings.Contains(style.Body.String(), "url(") || strings.Contains(style.Body.String(), "@import") {
			t.Error("the style sheet loads something")
		}
	})

	t.Run("has every operation, field and error", func(t *testing.T) {
		for _, rt := range bareServer().routes() {
			if !strings.Contains(page, `id="`+operationID(rt.summary)+`"`) {
				t.Errorf("%s %s is not in the page", rt.method, rt.path)
			}
		}
		for name := range readDocument(t).Components.Schemas {
			if !strings.Contains(page, `id="`+objectAnchor(name)+`"`) {
				t.Errorf("%s is not in the page", name)
			}
		}
		for _, row := range errorTable(prose{}) {
			if !strings.Contains(page, `id="error-`+strconv.Itoa(row.Number)+`"`) {
				t.Errorf("error %d is not in the page", row.Number)
			}
		}
	})

	t.Run("has a target for every link, once", func(t *testing.T) {
		targets := map[string]int{}
		for _, found := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			targets[found[1]]++
		}
		for _, found := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if targets[found[1]] != 1 {
				t.Errorf("#%s is there %d times", found[1], targets[found[1]])
			}
		}
	})

	t.Run("shows commands for the server it came from", func(t *testing.T) {
		if strings.Contains(page, originMark) || !strings.Contains(page, "http://dray.example:8080/api/v2/workers/$ID") {
			t.Error("the commands are for another server")
		}
		secure := openDocs(t, "/docs", func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") })
		if !strings.Contains(secure.Body.String(), "https://dray.example:8080/api/v2") {
			t.Error("the commands forget that the reader uses TLS")
		}
	})

	t.Run("does not repeat what is no host", func(t *testing.T) {
		odd := openDocs(t, "/docs", func(r *http.Request) { r.Host = `a"><script>` })
		if body := odd.Body.String(); strings.Contains(body, "<script") || !strings.Contains(body, "http://localhost/api/v2") {
			t.Error("the page repeats the Host header as it stands")
		}
	})

	t.Run("is sent once to those who have it", func(t *testing.T) {
		again := openDocs(t, "/docs", func(r *http.Request) { r.Header.Set("If-None-Match", answer.Header().Get("ETag")) })
		if again.Code != http.StatusNotModified {
			t.Errorf("answered %d", again.Code)
		}
	})

	t.Run("is found with a slash, and nothing else is", func(t *testing.T) {
		if slash := openDocs(t, "/docs/"); slash.Header().Get("Location") != "/docs" {
			t.Errorf("answered %d", slash.Code)
		}
		if other := openDocs(t, "/docs/page.html"); other.Code != http.StatusNotFound {
			t.Errorf("answered %d", other.Code)
		}
	})
}

func TestReferenceSamplesMatchTheDocument(t *testing.T) {
	s := bareServer()
	doc, v := readDocument(t), viewer{spec: s.describe(clientFace, s.routes()), prose: newProse()}
	for _, path := range v.Paths {
		for _, op := range path.value {
			answer := op.value.Responses.get("200")
			if answer == nil || answer.Content[jsonType].Schema == nil {
				continue
			}
			done := answer.Content[jsonType]
			shown := doc.Paths.Value(path.name).GetOperation(strings.ToUpper(op.name)).Responses.Status(200).Value.Content.Get(jsonType).Schema
			fits(t, op.name+" "+path.name, shown, []byte(indented(v.sample(done.Schema, 0))))
		}
	}
}
