package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// AssetBase is the path of files whose names change with their content.
const AssetBase = "/assets/"

// Assets are the files of the web build. They are empty if the program was
// compiled without it.
type Assets struct {
	files   map[string]asset
	entries map[string]Entry
}

// Entry is what a page loads: paths of a script and of its style sheets.
type Entry struct {
	Script string
	Styles []string
}

// asset is a file, compressed where that makes it smaller.
type asset struct {
	body []byte
	gzip bool
	kind string // media type
	etag string // without quotes
}

// types are the media types of the files that the build produces.
var types = map[string]string{
	".css":         "text/css; charset=utf-8",
	".html":        "text/html; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".mjs":         "text/javascript; charset=utf-8",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".wasm":        "application/wasm",
	".webmanifest": "application/manifest+json",
}

// Built returns the files that were compiled into the program.
func Built() (*Assets, error) {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("open the web build: %w", err)
	}
	return NewAssets(files)
}

// NewAssets reads the output of the web build. A folder without a manifest has no
// assets.
func NewAssets(folder fs.FS) (*Assets, error) {
	a := &Assets{files: map[string]asset{}, entries: map[string]Entry{}}
	manifest, err := fs.ReadFile(folder, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the web build: %w", err)
	}
	if err := a.readEntries(manifest); err != nil {
		return nil, err
	}
	return a, fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		plain := strings.TrimSuffix(name, ".gz")
		kind, known := types[path.Ext(plain)]
		if !known || name == "manifest.json" {
			return nil
		}
		body, err := fs.ReadFile(folder, name)
		if err != nil {
			return fmt.Errorf("read %s of the web build: %w", name, err)
		}
		sum := sha256.Sum256(body)
		a.files[plain] = asset{
			body: body, gzip: plain != name, kind: kind, etag: base64.RawURLEncoding.EncodeToString(sum[:12]),
		}
		return nil
	})
}

// readEntries reads the scripts and styles of pages from Vite's manifest.
func (a *Assets) readEntries(manifest []byte) error {
	type chunk struct {
		Name    string   `json:"name"`
		File    string   `json:"file"`
		IsEntry bool     `json:"isEntry"`
		Imports []string `json:"imports"`
		CSS     []string `json:"css"`
	}
	var chunks map[string]chunk
	if err := json.Unmarshal(manifest, &chunks); err != nil {
		return fmt.Errorf("read the manifest of the web build: %w", err)
	}
	var styles func(c chunk, seen map[string]bool) []string
	styles = func(c chunk, seen map[string]bool) []string {
		var paths []string
		for _, name := range c.Imports {
			if !seen[name] {
				seen[name] = true
				paths = append(paths, styles(chunks[name], seen)...)
			}
		}
		for _, file := range c.CSS {
			paths = append(paths, "/"+file)
		}
		return paths
	}
	for _, c := range chunks {
		if c.IsEntry {
			a.entries[c.Name] = Entry{Script: "/" + c.File, Styles: styles(c, map[string]bool{})}
		}
	}
	return nil
}

// Entry returns what the named page loads, and false if the program was compiled
// without it.
func (a *Assets) Entry(name string) (Entry, bool) {
	e, ok := a.entries[name]
	return e, ok
}

// ServeHTTP serves files whose names change with their content, under AssetBase.
// Clients may cache them forever.
func (a *Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if _, ok := a.files[name]; !ok || !strings.HasPrefix(r.URL.Path, AssetBase) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	a.serve(w, r, name)
}

// serve responds with a file, which must exist.
func (a *Assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	file, header := a.files[name], w.Header()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are served here", http.StatusMethodNotAllowed)
		return
	}
	body, etag := file.body, `"`+file.etag+`"`
	if file.gzip {
		header.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			header.Set("Content-Encoding", "gzip")
			etag = `"` + file.etag + `-gzip"`
		} else if plain, err := inflate(body); err == nil {
			body = plain
		} else {
			http.Error(w, "the file cannot be read", http.StatusInternalServerError)
			return
		}
	}
	header.Set("Content-Type", file.kind)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Etag", etag)
	if matches(r.Header.Get("If-None-Match"), etag) {
		header.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		w.Write(body) //nolint:errcheck // the client may be gone
	}
}

func inflate(body []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// matches reports whether a client's If-None-Match lists the tag.
func matches(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag || tag == "*" {
			return true
		}
	}
	return false
}

// acceptsGzip reports whether the client accepts compressed responses.
func acceptsGzip(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(coding, ";")
			if name = strings.ToLower(strings.TrimSpace(name)); name != "gzip" && name != "*" {
				continue
			}
			q, found := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
			value, err := strconv.ParseFloat(q, 64)
			return !found || err != nil || value > 0
		}
	}
	return false
}
