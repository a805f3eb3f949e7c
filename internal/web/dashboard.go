package web

import "net/http"

// dashboardPolicy is the Content-Security-Policy of the dashboard. Unlike appPolicy, it
// allows no inline styles either, except one attribute of the component library's lists
// (style="display: contents;"), by its hash.
const dashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; " +
	"style-src-attr 'unsafe-hashes' 'sha256-iaOezIDcQIoxCULa6FBKKuLUu09R7kG+Mlu+JVfU3Rw='; connect-src 'self'; " +
	"img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Dashboard serves the page of administrators, at /dashboard. Its screens are in the
// fragment of the URL. Tiles is the server of the map's tiles, if it is another one.
func Dashboard(a *Assets, tiles string) http.Handler {
	policy := withTiles(dashboardPolicy, tiles)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-cache")
		switch r.URL.Path {
		case "/dashboard/": // browsers keep the fragment
			http.Redirect(w, r, "/dashboard", http.StatusMovedPermanently)
		case "/dashboard":
			header.Set("Content-Security-Policy", appPolicy)
			header.Set("Permissions-Policy", "geolocation=(), camera=(), microphone=(), payment=()")
			header.Set("Cross-Origin-Opener-Policy", "same-origin")
			if _, found := a.files["dashboard.html"]; !found {
				unbuilt(w)
				return
			}
			header.Set("Content-Security-Policy", policy)
			a.serve(w, r, "dashboard.html")
		default:
			http.NotFound(w, r)
		}
	})
}
