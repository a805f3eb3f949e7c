package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"dray/internal/web"
)

const manifest = `{
	"driver.html": {"name": "driver", "file": "assets/driver-1.js", "isEntry": true, "imports": ["_shared.js"], "css": ["assets/driver-1.css"]},
	"_shared.js": {"name": "shared", "file": "assets/shared-1.js", "css": ["assets/shared-1.css"]},
	"src/track/main.ts": {"name": "track", "file": "assets/track-1.js", "isEntry": true, "imports": ["_shared.js"]}
}`

const page = "<!doctype html><title>app</title>"

func built(t *testing.T) *web.Assets {
	t.Helper()
	files := fstest.MapFS{
		"README.md":               {Data: []byte("about")},
		"manifest.json":           {Data: []byte(manifest)},
		"driver.html.gz":          {Data: gzipped(t, page)},
		"dashboard.html.gz":       {Data: gzipped(t, page)},
		"driver/sw.js.gz":         {Data: gzipped(t, "worker()")},
		"driver/icon-192.png":     {Data: []byte("png")},
		"assets/driver-1.js.gz":   {Data: gzipped(t, "run()")},
		"assets/driver-1.css.gz":  {Data: gzipped(t, "a{}")},
		"assets/reader-1.wasm.gz": {Data: gzipped(t, "\x00asm")},
		"assets/broken-1.js.gz":   {Data: []byte("not compressed")},
		"assets/unknown-1.secret": {Data: []byte("hidden")},
	}
	a, err := web.NewAssets(files)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func request(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAssetsAreCachedForever(t *testing.T) {
	a := built(t)
	r := request(a, http.MethodGet, "/assets/driver-1.js", "Accept-Encoding", "br, gzip;q=0.5")
	if got := r.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control %q", got)
	}
	if got := r.Header().Get("Content-Type"); got != "text/javascript; charset=utf-8" {
		t.Errorf("Content-Type %q", got)
	}
	if r.Header().Get("Content-Encoding") != "gzip" || r.Body.String() != string(gzipped(t, "run()")) {
		t.Error("not sent compressed")
	}
	etag := r.Header().Get("Etag")
	if again := request(a, http.MethodGet, "/assets/driver-1.js", "Accept-Encoding", "gzip", "If-None-Match", `"other", W/`+etag); again.Code != http.StatusNotModified {
		t.Errorf("status %d for a file the client has", again.Code)
	}
	for _, accepts := range []string{"", "br", "gzip;q=0", "identity"} {
		plain := request(a, http.MethodGet, "/assets/driver-1.js", "Accept-Encoding", accepts)
		if plain.Header().Get("Content-Encoding") != "" || plain.Body.String() != "run()" {
			t.Errorf("a client that accepts %q got it compressed", accepts)
		}
		if plain.Header().Get("Etag") == etag {
			t.Error("compressed and uncompressed have the same tag")
		}
	}
	if r := request(a, http.MethodHead, "/assets/driver-1.js"); r.Body.String() != "" || r.Header().Get("Content-Length") != "5" {
		t.Errorf("HEAD: length %s", r.Header().Get("Content-Length"))
	}
}

func TestAssetsRejects(t *testing.T) {
	a := built(t)
	tests := map[string]struct {
		method, path string
		status       int
	}{
		"a file that is not there":   {http.MethodGet, "/assets/none.js", http.StatusNotFound},
		"the folder":                 {http.MethodGet, "/assets/", http.StatusNotFound},
		"an unknown file type":       {http.MethodGet, "/assets/unknown-1.secret", http.StatusNotFound},
		"the build's manifest":       {http.MethodGet, "/manifest.json", http.StatusNotFound},
		"a page":                     {http.MethodGet, "/driver.html", http.StatusNotFound},
		"a compressed name":          {http.MethodGet, "/assets/driver-1.js.gz", http.StatusNotFound},
		"another method":             {http.MethodPost, "/assets/driver-1.js", http.StatusMethodNotAllowed},
		"a file that cannot be read": {http.MethodGet, "/assets/broken-1.js", http.StatusInternalServerError},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := request(a, test.method, test.path).Code; got != test.status {
				t.Errorf("status %d, want %d", got, test.status)
			}
		})
	}
}

func TestEntriesNameTheirStyles(t *testing.T) {
	a := built(t)
	driver, ok := a.Entry("driver")
	if !ok || driver.Script != "/assets/driver-1.js" || strings.Join(driver.Styles, " ") != "/assets/shared-1.css /assets/driver-1.css" {
		t.Errorf("driver: %v %v", driver, ok)
	}
	if track, ok := a.Entry("track"); !ok || strings.Join(track.Styles, " ") != "/assets/shared-1.css" {
		t.Errorf("track: %v %v", track, ok)
	}
	if _, ok := a.Entry("shared"); ok {
		t.Error("a chunk counts as a page")
	}
}

// Browsers compile WebAssembly while it loads only if it has its media type.
func TestBarcodeReader(t *testing.T) {
	r := request(built(t), http.MethodGet, "/assets/reader-1.wasm")
	if r.Code != http.StatusOK || r.Header().Get("Content-Type") != "application/wasm" || r.Body.String() != "\x00asm" {
		t.Errorf("%d %s", r.Code, r.Header().Get("Content-Type"))
	}
}

func TestDriverPage(t *testing.T) {
	h := web.Driver(built(t), "")
	r := request(h, http.MethodGet, "/driver")
	if r.Code != http.StatusOK || r.Body.String() != page {
		t.Fatalf("status %d", r.Code)
	}
	if got := r.Header().Get("Cache-Control"); got != "no-cache" {
		t.Errorf("Cache-Control %q", got)
	}
	policy := r.Header().Get("Content-Security-Policy")
	for _, want := range []string{"script-src 'self' 'wasm-unsafe-eval';", "connect-src 'self';", "frame-ancestors 'none'", "default-src 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	if strings.Contains(policy, "'unsafe-eval'") || strings.Contains(policy, "script-src 'self' 'unsafe-inline'") {
		t.Errorf("the policy %q allows inline scripts", policy)
	}
	for _, name := range []string{"X-Content-Type-Options", "Referrer-Policy", "Etag"} {
		if r.Header().Get(name) == "" {
			t.Errorf("no %s", name)
		}
	}
	if got := request(h, http.MethodGet, "/driver/sw.js").Header().Get("Service-Worker-Allowed"); got != "/driver" {
		t.Errorf("the service worker is allowed %q", got)
	}
	if got := request(h, http.MethodGet, "/driver/icon-192.png").Header().Get("Content-Type"); got != "image/png" {
		t.Errorf("the icon is %q", got)
	}
	if got := request(h, http.MethodGet, "/driver/").Header().Get("Location"); got != "/driver" {
		t.Errorf("redirected to %q", got)
	}
	for _, path := range []string{"/driver/none", "/driver/../driver.html", "/driver/manifest.json"} {
		if got := request(h, http.MethodGet, path).Code; got != http.StatusNotFound {
			t.Errorf("%s: status %d", path, got)
		}
	}
}

func TestDashboardPage(t *testing.T) {
	h := web.Dashboard(built(t), "")
	r := request(h, http.MethodGet, "/dashboard")
	if r.Code != http.StatusOK || r.Body.String() != page {
		t.Fatalf("status %d", r.Code)
	}
	if got := r.Header().Get("Cache-Control"); got != "no-cache" {
		t.Errorf("Cache-Control %q", got)
	}
	policy := r.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "connect-src 'self';", "frame-ancestors 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe-inline") || strings.Contains(policy, "unsafe-eval") {
		t.Errorf("the policy %q allows what is inline", policy)
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
	} {
		if got := r.Header().Get(name); got != want {
			t.Errorf("%s %q", name, got)
		}
	}
	if got := request(h, http.MethodGet, "/dashboard/").Header().Get("Location"); got != "/dashboard" {
		t.Errorf("redirected to %q", got)
	}
	if got := request(h, http.MethodGet, "/dashboard/manifest.json").Code; got != http.StatusNotFound {
		t.Errorf("status %d below the page", got)
	}
	if got := request(h, http.MethodPost, "/dashboard").Code; got != http.StatusMethodNotAllowed {
		t.Errorf("status %d for a POST", got)
	}
}

func TestUnbuiltPage(t *testing.T) {
	none, err := web.NewAssets(fstest.MapFS{"README.md": {Data: []byte("about")}})
	if err != nil {
		t.Fatal(err)
	}
	r := request(web.Driver(none, ""), http.MethodGet, "/driver")
	if got := r.Body.String(); r.Code != http.StatusServiceUnavailable || !strings.Contains(got, "make build") {
		t.Errorf("status %d: %s", r.Code, got)
	}
	if got := request(web.Dashboard(none, ""), http.MethodGet, "/dashboard"); got.Code != http.StatusServiceUnavailable {
		t.Errorf("the dashboard: status %d", got.Code)
	}
	if _, ok := none.Entry("driver"); ok {
		t.Error("there is an entry without a build")
	}
}

func TestInvalidManifest(t *testing.T) {
	if _, err := web.NewAssets(fstest.MapFS{"manifest.json": {Data: []byte("{")}}); err == nil {
		t.Error("no error")
	}
}
