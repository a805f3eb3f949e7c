package web

import (
	"bytes"
	_ "embed"
	"net/http"
	"time"
)

// icon is the logo of the program, on all of its pages. favicon.ico and the images in
// web/public/driver are made of it.
//
//go:embed icon.svg
var icon []byte

//go:embed favicon.ico
var favicon []byte

// Icon serves the logo at /favicon.svg and /favicon.ico. It is in programs that were
// compiled without the web build, too.
func Icon(w http.ResponseWriter, r *http.Request) {
	kind, data := "image/svg+xml", icon
	if r.URL.Path == "/favicon.ico" {
		kind, data = "image/x-icon", favicon
	}
	header := w.Header()
	header.Set("Content-Type", kind)
	header.Set("Cache-Control", "public, max-age=86400")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
