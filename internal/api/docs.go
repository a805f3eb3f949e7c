package api

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"
)

//go:embed docs/page.html docs/style.css
var docsFiles embed.FS

// docsPolicy lets the page load its own style sheet and nothing else.
const docsPolicy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// originMark stands in the page for the scheme and host that the reader used,
// so that the commands shown can be run as they stand.
const originMark = "@origin@"

// DocsHandler serves the reference of the interface, for people: /docs and its
// style sheet. The page is made once, of the same description as the document
// at openapi.json.
func (s *Server) DocsHandler() http.Handler {
	page, err := s.docsPage()
	if err != nil {
		s.Log.Error("the reference cannot be shown", "error", err)
		page = []byte("The reference cannot be shown.")
	}
	style, err := docsFiles.ReadFile("docs/style.css")
	if err != nil {
		s.Log.Error("the reference has no style sheet", "error", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		shown := bytes.ReplaceAll(page, []byte(originMark), []byte(originOf(r)))
		serveBytes(w, r, "text/html; charset=utf-8", etagOf(shown), shown)
	})
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	mux.HandleFunc("GET /docs/style.css", static("text/css; charset=utf-8", style))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", docsPolicy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// docsPage renders the page, with originMark for where it is served.
func (s *Server) docsPage() ([]byte, error) {
	t, err := template.New("page.html").ParseFS(docsFiles, "docs/page.html")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, newReference(s.describe(clientFace, s.routes()))); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// originOf returns the scheme and host that a request was sent to. The header
// of a proxy may choose between two words only, and a host with anything but
// the characters of hosts is not repeated.
func originOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	odd := strings.IndexFunc(r.Host, func(c rune) bool {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			return false
		}
		return !strings.ContainsRune(".-_:[]", c)
	})
	if r.Host == "" || odd >= 0 {
		return scheme + "://localhost"
	}
	return scheme + "://" + r.Host
}
