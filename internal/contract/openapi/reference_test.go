package openapi_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dray/internal/adminapi"
	"dray/internal/app"
	"dray/internal/codec"
	"dray/internal/driverapi"
	"dray/internal/edge"
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
	docs().ServeHTTP(w, r)
	return w
}

// docs serves the documentation.
var docs = sync.OnceValue(func() http.Handler {
	server := bareServer()
	return server.DocsHandler(func() edge.Site {
		return app.Docs(server.Spec(), (&driverapi.Server{Settings: server.Settings, Version: "test"}).Spec())
	})
})

// docsPages are the pages of the documentation.
var docsPages = []string{"/docs", "/docs/driver", "/docs/triggers", "/docs/webhooks", "/docs/driver-api", "/docs/orders", "/docs/maps", "/docs/moving"}

func TestReference(t *testing.T) {
	reply := openDocs(t, "/docs")
	page := reply.Body.String()

	t.Run("is a page that may load its own style sheet and script only", func(t *testing.T) {
		if reply.Code != http.StatusOK || !strings.HasPrefix(reply.Header().Get("Content-Type"), "text/html") {
			t.Fatalf("responded with %d %s", reply.Code, reply.Header().Get("Content-Type"))
		}
		if policy := reply.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("the policy is %q", policy)
		}
		outside := regexp.MustCompile(`(?i)<iframe|<style|\sstyle=|\son\w+=|src="(?:https?:)?//|<link[^>]*href="(?:https?:)?//`)
		for _, path := range docsPages {
			page := openDocs(t, path).Body.String()
			if found := outside.FindString(page); found != "" {
				t.Errorf("%s has %q", path, found)
			}
			if scripts := strings.Count(page, "<script"); scripts != 1 || !strings.Contains(page, `<script type="module" src="/docs/docs.js"></script>`) {
				t.Errorf("%s has %d scripts", path, scripts)
			}
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
		if strings.Contains(page, "@origin@") || !strings.Contains(page, "http://dray.example:8080/api/v2/workers/$WORKER") {
			t.Error("the commands are for another server")
		}
		secure := openDocs(t, "/docs", func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") })
		if !strings.Contains(secure.Body.String(), "https://dray.example:8080/api/v2") {
			t.Error("the commands ignore that the reader uses TLS")
		}
	})

	t.Run("does not repeat what is no host", func(t *testing.T) {
		odd := openDocs(t, "/docs", func(r *http.Request) { r.Host = `a"><script>` })
		if body := odd.Body.String(); strings.Contains(body, "><script>") || !strings.Contains(body, "http://localhost/api/v2") {
			t.Error("the page repeats the Host header as it stands")
		}
	})

	t.Run("is sent once to those who have it", func(t *testing.T) {
		again := openDocs(t, "/docs", func(r *http.Request) { r.Header.Set("If-None-Match", reply.Header().Get("ETag")) })
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

func TestDocsHaveNoBrokenLinks(t *testing.T) {
	anchors := map[string]map[string]int{}
	for _, path := range docsPages {
		anchors[path] = map[string]int{}
		for _, found := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(openDocs(t, path).Body.String(), -1) {
			anchors[path][html.UnescapeString(found[1])]++
		}
	}
	check := func(from, link string) {
		path, anchor, _ := strings.Cut(link, "#")
		if path == "" {
			path = from
		}
		if !strings.HasPrefix(path, "/docs") {
			return
		}
		if anchors[path] == nil || anchor != "" && anchors[path][anchor] != 1 {
			t.Errorf("%s links to %s, which is there %d times", from, link, anchors[path][anchor])
		}
	}
	for _, path := range docsPages {
		page, _, _ := strings.Cut(openDocs(t, path).Body.String(), "<footer>")
		for _, found := range regexp.MustCompile(`<a[^>]* href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			check(path, html.UnescapeString(found[1]))
		}
	}
	var entries []struct{ P string }
	if err := json.Unmarshal(openDocs(t, "/docs/search.json").Body.Bytes(), &entries); err != nil || len(entries) < 300 {
		t.Fatalf("the index has %d entries: %v", len(entries), err)
	}
	for _, e := range entries {
		check("/docs/search.json", e.P)
	}
}

func TestDocsAreSmall(t *testing.T) {
	const most = 200 << 10
	packed := func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") }
	size := func(path string) int {
		w := openDocs(t, path, packed)
		if w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s is sent with the headers %v", path, w.Header())
		}
		return w.Body.Len()
	}
	shared := size("/docs/style.css") + size("/docs/docs.js") + size("/docs/search.json")
	for _, path := range docsPages {
		if all := shared + size(path); all > most {
			t.Errorf("%s loads %d bytes", path, all)
		}
	}
}

func TestDocsListEveryTrigger(t *testing.T) {
	page := openDocs(t, "/docs/triggers").Body.String()
	all, err := adminapi.Triggers()
	if err != nil || len(all) < 25 {
		t.Fatalf("%d triggers: %v", len(all), err)
	}
	for _, trigger := range all {
		_, section, found := strings.Cut(page, `id="`+trigger.Name+`"`)
		_, section, _ = strings.Cut(section, `<code>`)
		sample, _, _ := strings.Cut(section, `</code>`)
		var shown, want any
		if err := json.Unmarshal([]byte(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(sample, ""))), &shown); err != nil || !found {
			t.Errorf("%s has no sample: %v", trigger.Name, err)
		}
		if err := json.Unmarshal(trigger.Sample, &want); err != nil || !reflect.DeepEqual(shown, want) {
			t.Errorf("the sample of %s differs from the one of the API: %v", trigger.Name, err)
		}
	}
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
