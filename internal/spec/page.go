package spec

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

//go:embed page/page.html page/style.css
var pageFiles embed.FS

// pagePolicy lets the page load its own style sheet and nothing else.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// originMark stands in the page for the scheme and host that the reader used,
// so that the commands shown can be run as they stand.
const originMark = "@origin@"

// PageHandler serves the reference of an API for people: /docs and its style
// sheet. The page is made once, from the same description as the OpenAPI spec.
func (a API) PageHandler(limits Limits) (http.Handler, error) {
	page, err := a.page(limits)
	if err != nil {
		return nil, err
	}
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return nil, fmt.Errorf("read the style sheet of the reference: %w", err)
	}
	styles, err := static("text/css; charset=utf-8", style)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		shown := bytes.ReplaceAll(page, []byte(originMark), []byte(originOf(r)))
		serveBytes(w, r, "text/html; charset=utf-8", etagOf(shown), shown)
	})
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	mux.HandleFunc("GET /docs/style.css", styles)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", pagePolicy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	}), nil
}

// page renders the page, with originMark for where it is served.
func (a API) page(limits Limits) ([]byte, error) {
	t, err := template.New("page.html").ParseFS(pageFiles, "page/page.html")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, newReference(a, limits)); err != nil {
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
