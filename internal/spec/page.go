package spec

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"
)

//go:embed page
var pageFiles embed.FS

// pagePolicy allows the pages only to load style sheets, scripts and images from this server
// and to send requests to it.
const pagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// originMark is replaced in the pages by the scheme and host that the reader used, so that
// commands can be run unchanged.
const originMark = "@origin@"

// Site is the documentation at /docs: the reference of the public API and of the
// worker's API, the triggers of webhooks, and guides.
type Site struct {
	API, Driver API
	Triggers    []Trigger
	Guides      fs.FS    // Markdown files
	Order       []string // names of the files of Guides, in the order of the contents
	Limits      Limits
}

// Trigger is a trigger of webhooks.
type Trigger struct {
	ID           int
	Name, About  string
	HasThreshold bool
	Sample       []byte // JSON of a request
}

// Handler returns a handler that serves the site. It renders the pages once.
func (s Site) Handler() (http.Handler, error) {
	pages, found, err := s.pages()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for path, page := range pages {
		mux.Handle("GET "+path, &rendered{page: page})
	}
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	index, err := encodeIndex(found)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"search.json": index}
	types := map[string]string{"style.css": "text/css; charset=utf-8", "docs.js": "text/javascript; charset=utf-8", "search.json": jsonType}
	for name, kind := range types {
		if files[name] == nil {
			if files[name], err = pageFiles.ReadFile("page/" + name); err != nil {
				return nil, fmt.Errorf("read %s of the documentation: %w", name, err)
			}
		}
		handler, err := static(kind, files[name])
		if err != nil {
			return nil, err
		}
		mux.Handle("GET /docs/"+name, handler)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", pagePolicy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		// The same as on the dashboard, which passes a new key to the page that it opens.
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		mux.ServeHTTP(w, r)
	}), nil
}

// shell is the data of the template around every page.
type shell struct {
	Title             string
	Path              string // path of the page
	Revision, Program string
	Guides            []*guide
	Main              template.HTML
	Contents          template.HTML
}

// pages returns every page by path, with originMark in place of the origin, and the entries of
// the search index.
func (s Site) pages() (pages map[string][]byte, found []entry, err error) {
	t, err := template.ParseFS(pageFiles, "page/*.html")
	if err != nil {
		return nil, nil, fmt.Errorf("read the templates of the documentation: %w", err)
	}
	guides, err := readGuides(s.Guides, s.Order)
	if err != nil {
		return nil, nil, err
	}
	pages = map[string][]byte{}
	render := func(path, title, name string, data any) {
		var parts [2]bytes.Buffer
		for i, part := range []string{name + ".html", name + "-contents"} {
			if err == nil {
				err = t.ExecuteTemplate(&parts[i], part, data)
			}
		}
		var out bytes.Buffer
		if err == nil {
			err = t.ExecuteTemplate(&out, "shell.html", shell{
				Title: title, Path: path, Revision: s.API.Version, Program: s.API.Program, Guides: guides,
				Main: template.HTML(parts[0].String()), Contents: template.HTML(parts[1].String()), // rendered by templates
			})
		}
		pages[path] = out.Bytes()
	}
	public, driver := newReference(s.API, s.Limits), newReference(s.Driver, s.Limits)
	public.Public = true
	triggers := newTriggers(s.Triggers)
	render("/docs", "API reference", "reference", public)
	render("/docs/driver", "Driver API", "reference", driver)
	render("/docs/triggers", "Triggers", "triggers", triggers)
	for _, g := range guides {
		render(g.Path, g.Title, "guide", g)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("render the documentation: %w", err)
	}
	return pages, index(guides, triggers, public, driver), nil
}

// mostOrigins is the maximum number of origins for which the compressed page is cached.
const mostOrigins = 8

// rendered serves a page.
type rendered struct {
	page []byte

	mu     sync.Mutex
	packed map[string][]byte // the compressed page by origin
}

// ServeHTTP implements http.Handler.
func (p *rendered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const kind = "text/html; charset=utf-8"
	w.Header().Set("Vary", "Accept-Encoding")
	origin := originOf(r)
	if AcceptsGzip(r) && r.Header.Get("Range") == "" {
		if packed := p.compressed(origin); packed != nil {
			w.Header().Set("Content-Encoding", "gzip")
			serveBytes(w, r, kind, etagOf(packed), packed)
			return
		}
	}
	shown := p.at(origin)
	serveBytes(w, r, kind, etagOf(shown), shown)
}

func (p *rendered) at(origin string) []byte {
	return bytes.ReplaceAll(p.page, []byte(originMark), []byte(origin))
}

// compressed returns the compressed page for an origin, or nil if another request is
// compressing the page: clients can send any origin, and compressing takes longer than sending.
func (p *rendered) compressed(origin string) []byte {
	if !p.mu.TryLock() {
		return nil
	}
	defer p.mu.Unlock()
	if packed, ok := p.packed[origin]; ok {
		return packed
	}
	packed, err := compressed(p.at(origin))
	if err != nil {
		return nil
	}
	if p.packed == nil || len(p.packed) >= mostOrigins {
		p.packed = map[string][]byte{}
	}
	p.packed[origin] = packed
	return packed
}

// originOf returns the scheme and host to which a request was sent. Because the page contains
// them, the scheme is always http or https, and a host with unusual characters is replaced.
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
