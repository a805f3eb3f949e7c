package web

import (
	_ "embed"
	"net/http"
	"strings"
)

// appPolicy is the Content-Security-Policy of pages with scripts: they load from
// this server only, and run no inline script.
const appPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; manifest-src 'self'; " +
	"img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// driverPolicy also allows the barcode reader, which is in WebAssembly.
var driverPolicy = strings.Replace(appPolicy, "script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'", 1)

//go:embed unbuilt.html
var unbuiltPage []byte

// withTiles returns a policy that also allows the tiles of another server; none if it is
// empty.
func withTiles(policy, server string) string {
	if server == "" {
		return policy
	}
	return strings.Replace(policy, "connect-src 'self'", "connect-src 'self' "+server, 1)
}

// Driver serves the worker's web app: its page at /driver, and below it the files
// that a phone needs to install it. Tiles is the server of the map's tiles, if it is
// another one.
func Driver(a *Assets, tiles string) http.Handler {
	policy := withTiles(driverPolicy, tiles)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-cache")
		name := "driver.html"
		if r.URL.Path != "/driver" {
			name = strings.TrimPrefix(r.URL.Path, "/")
		}
		switch _, found := a.files[name]; {
		case name == "driver/icon.svg":
			Icon(w, r)
		case r.URL.Path == "/driver/":
			http.Redirect(w, r, "/driver", http.StatusMovedPermanently)
		case name == "driver.html":
			header.Set("Content-Security-Policy", policy)
			// The app uses positions and scans barcodes.
			header.Set("Permissions-Policy", "geolocation=(self), camera=(self), microphone=(), payment=()")
			if !found {
				unbuilt(w)
				return
			}
			a.serve(w, r, name)
		case found && strings.HasPrefix(name, "driver/"):
			if name == "driver/sw.js" {
				header.Set("Service-Worker-Allowed", "/driver")
			}
			a.serve(w, r, name)
		default:
			http.NotFound(w, r)
		}
	})
}

// unbuilt responds with a page that explains how to build the app.
func unbuilt(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusServiceUnavailable)
	w.Write(unbuiltPage) //nolint:errcheck // the client may be gone
}
