package contract_test

import (
	"bytes"
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

func TestErrorPages(t *testing.T) {
	t.Parallel()
	p := apptest.New(t)
	browser := []string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Mode", "navigate"}
	get := func(t *testing.T, path string, headers ...string) apptest.Response {
		t.Helper()
		return exchange(t, "GET", p.URL+path, nil, headers...)
	}
	unknown := []string{"/zzz", "/dashboard/zzz", "/driver/zzz", "/docs/zzz", "/assets/zzz.js", "/t/zzz/logo", "/tiles/1/2/x"}

	t.Run("a person sees a page", func(t *testing.T) {
		for _, path := range unknown {
			a := get(t, path, browser...)
			if a.Status < 400 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || !bytes.Contains(a.Body, []byte(`href="/dashboard"`)) {
				t.Errorf("%s: %d %s %s", path, a.Status, a.Header.Get("Content-Type"), a.Body)
			}
			if policy := a.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: the policy is %q", path, policy)
			}
			if a.Header.Get("Content-Encoding") != "" || bytes.Contains(a.Body, []byte("zzz")) {
				t.Errorf("%s: the page has %v and repeats the path: %s", path, a.Header, a.Body)
			}
		}
	})
	t.Run("in the language of the browser", func(t *testing.T) {
		a := get(t, "/zzz", append(browser, "Accept-Language", "de-AT,de;q=0.9")...)
		if !bytes.Contains(a.Body, []byte(`lang="de"`)) || !bytes.Contains(a.Body, []byte("Seite nicht gefunden")) {
			t.Errorf("the page is %s", a.Body)
		}
	})
	t.Run("a program gets the error of the API", func(t *testing.T) {
		for _, path := range unknown[:5] {
			get(t, path, "Accept", "*/*").Rejected(t, 404, 1402)
			get(t, path, "Accept", "text/html", "Sec-Fetch-Mode", "cors").Rejected(t, 404, 1402)
		}
	})
	t.Run("an API never responds with a page", func(t *testing.T) {
		for _, path := range []string{"/api", "/api/v1/tasks", "/api/v2/tasks", "/api/v2/zzz", "/driver/v1", "/driver/v1/me", "/driver/v1/zzz", "/account/v1", "/account/v1/me", "/account/v1/zzz"} {
			a := get(t, path, browser...)
			if a.Status < 400 || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
				t.Errorf("%s: %d %s", path, a.Status, a.Header.Get("Content-Type"))
			}
		}
	})
	t.Run("pages and files have their own types", func(t *testing.T) {
		for path, kind := range map[string]string{"/docs": "text/html", "/favicon.svg": "image/svg+xml", "/favicon.ico": "image/x-icon", "/driver/icon.svg": "image/svg+xml", "/healthz": "text/plain"} {
			a := get(t, path, browser...).OK(t)
			if !strings.HasPrefix(a.Header.Get("Content-Type"), kind) {
				t.Errorf("%s is %s", path, a.Header.Get("Content-Type"))
			}
		}
		if a, b := get(t, "/favicon.svg"), get(t, "/driver/icon.svg"); !bytes.Equal(a.Body, b.Body) {
			t.Error("there are two logos")
		}
	})
}
