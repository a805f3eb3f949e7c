package openapi_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dray/internal/codec"
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
			t.Fatalf("responded with %d %s", answer.Code, answer.Header().Get("Content-Type"))
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
			t.Errorf("the style sheet responded with %d %s", style.Code, style.Header().Get("Content-Type"))
		}
		if strings.Contains(style.Body.String(), "url(") || strings.Contains(style.Body.String(), "@import") {
			t.Error("the style sheet loads something")
		}
	})

	t.Run("has every operation, field and error", func(t *testing.T) {
		doc := document(t, bareServer().Spec())
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				if !strings.Contains(page, `id="`+op.OperationID+`"`) {
					t.Errorf("%s %s is not in the page", method, path)
				}
			}
		}
		for name := range doc.Components.Schemas {
			if !strings.Contains(page, `id="object-`+name+`"`) {
				t.Errorf("%s is not in the page", name)
			}
		}
		for _, row := range codec.Errors() {
			if !strings.Contains(page, `id="error-`+strconv.Itoa(int(row.Number))+`"`) {
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
		if strings.Contains(page, "@origin@") || !strings.Contains(page, "http://dray.example:8080/api/v2/workers/$ID") {
			t.Error("the commands are for another server")
		}
		secure := openDocs(t, "/docs", func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") })
		if !strings.Contains(secure.Body.String(), "https://dray.example:8080/api/v2") {
			t.Error("the commands ignore that the reader uses TLS")
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
			t.Errorf("responded with %d", again.Code)
		}
	})

	t.Run("is found with a slash, and nothing else is", func(t *testing.T) {
		if slash := openDocs(t, "/docs/"); slash.Header().Get("Location") != "/docs" {
			t.Errorf("responded with %d", slash.Code)
		}
		if other := openDocs(t, "/docs/page.html"); other.Code != http.StatusNotFound {
			t.Errorf("responded with %d", other.Code)
		}
	})
}

func TestReferenceSamplesMatchTheDocument(t *testing.T) {
	page := openDocs(t, "/docs").Body.String()
	tags := regexp.MustCompile(`<[^>]*>`)
	for path, item := range document(t, bareServer().Spec()).Paths.Map() {
		for method, op := range item.Operations() {
			done := op.Responses.Status(200)
			if done == nil || done.Value.Content.Get(jsonType) == nil {
				continue
			}
			_, section, found := strings.Cut(page, `id="`+op.OperationID+`"`)
			section, _, _ = strings.Cut(section, `</article>`)
			_, section, sampled := strings.Cut(section, `<pre class="json" tabindex="0">`)
			sample, _, _ := strings.Cut(section, `</pre>`)
			if !found || !sampled {
				t.Errorf("%s %s has no sample of its response", method, path)
				continue
			}
			fits(t, method+" "+path, done.Value.Content.Get(jsonType).Schema, []byte(html.UnescapeString(tags.ReplaceAllString(sample, ""))))
		}
	}
}
