package edge

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// ErrorPages wraps a handler so that people see errors as pages and programs get them in
// the shape of the API. page writes the page of a status. Paths under bases are only for
// programs, and their responses are unchanged.
func ErrorPages(next http.Handler, page func(w http.ResponseWriter, r *http.Request, status int), bases ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		under := func(base string) bool { return r.URL.Path == base || strings.HasPrefix(r.URL.Path, base+"/") }
		if slices.ContainsFunc(bases, under) {
			next.ServeHTTP(w, r)
			return
		}
		e := &errorWriter{ResponseWriter: w, request: r}
		if navigates(r) {
			e.page = page
		}
		next.ServeHTTP(e, r)
	})
}

// navigates reports whether a browser requests a page to show.
func navigates(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
		return false
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// errorWriter replaces the body of an error.
type errorWriter struct {
	http.ResponseWriter
	request  *http.Request
	page     func(w http.ResponseWriter, r *http.Request, status int) // nil for programs
	begun    bool
	replaced bool
}

// Unwrap is for http.ResponseController.
func (w *errorWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *errorWriter) WriteHeader(status int) {
	if w.begun {
		return
	}
	w.begun = true
	kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	switch {
	case status < http.StatusBadRequest || kind == "text/html":
		w.ResponseWriter.WriteHeader(status)
	case w.page != nil:
		w.replace()
		w.page(w.ResponseWriter, w.request, status)
	case kind == "text/plain" && status == http.StatusNotFound:
		w.sendError(lastmile.NotFound("path", Clip(w.request.URL.Path)))
	case kind == "text/plain" && status == http.StatusMethodNotAllowed:
		w.sendError(wrongMethod(Clip(w.request.Method), Clip(w.request.URL.Path)))
	default:
		w.ResponseWriter.WriteHeader(status)
	}
}

// replace drops the body that the handler is about to write.
func (w *errorWriter) replace() {
	w.replaced = true
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Security-Policy", "Etag", "Cache-Control"} {
		w.Header().Del(name)
	}
}

// sendError responds with an error in the shape of the API.
func (w *errorWriter) sendError(err error) {
	w.replace()
	id := newRequestID()
	w.Header().Set("X-Request-Id", id)
	w.Header()["Cache-Control"] = noStore
	status, body := codec.NewError(err, id)
	writeError(w.ResponseWriter, w.request, status, body)
}

// Write implements http.ResponseWriter.
func (w *errorWriter) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.replaced {
		return len(data), nil
	}
	return w.ResponseWriter.Write(data)
}
