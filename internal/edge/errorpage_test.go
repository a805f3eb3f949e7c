package edge

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestErrorPagesForProgramsAndPeople(t *testing.T) {
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/wrong":
			w.Header().Set("Allow", "GET")
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
		case "/busy":
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case "/own":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, "<p>own") //nolint:errcheck // a recorder
		case "/stream":
			io.WriteString(w, "part") //nolint:errcheck // a recorder
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Errorf("flush: %v", err)
			}
		default:
			http.NotFound(w, r)
		}
	})
	page := func(w http.ResponseWriter, _ *http.Request, status int) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		io.WriteString(w, "<p>page") //nolint:errcheck // a recorder
	}
	h := ErrorPages(inner, page, "/api")
	for _, tt := range []struct {
		name, method, path, accept, mode string
		status                           int
		body                             string // beginning
	}{
		{"a person", "GET", "/none", "text/html", "navigate", 404, "<p>page"},
		{"an old browser", "GET", "/none", "text/html", "", 404, "<p>page"},
		{"any other error", "GET", "/busy", "text/html", "navigate", 503, "<p>page"},
		{"a page with its own error", "GET", "/own", "text/html", "navigate", 404, "<p>own"},
		{"a successful response", "GET", "/stream", "text/html", "navigate", 200, "part"},
		{"a script", "GET", "/none", "text/html", "cors", 404, `{"code":"ResourceNotFound"`},
		{"a program", "GET", "/none", "*/*", "", 404, `{"code":"ResourceNotFound"`},
		{"a form", "POST", "/wrong", "text/html", "navigate", 405, `{"code":"MethodNotAllowed"`},
		{"a program gets the original error", "GET", "/busy", "*/*", "", 503, "busy"},
		{"an API", "GET", "/api/none", "text/html", "navigate", 404, "404 page not found"},
		{"not an API", "GET", "/apis", "text/html", "navigate", 404, "<p>page"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, tt.path, nil)
			r.Header.Set("Accept", tt.accept)
			if tt.mode != "" {
				r.Header.Set("Sec-Fetch-Mode", tt.mode)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.status || !strings.HasPrefix(w.Body.String(), tt.body) {
				t.Errorf("responded with %d %s", w.Code, w.Body)
			}
		})
	}
}
