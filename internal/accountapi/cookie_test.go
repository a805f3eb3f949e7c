package accountapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"dray/internal/edge"
	"dray/internal/installation"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

func request(method, host string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "http://"+host+"/account/v1/me", nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func TestCookiesByConnection(t *testing.T) {
	for name, test := range map[string]struct {
		public  string
		request *http.Request
		name    string
		allowed bool // to sign in
	}{
		"loopback":                     {"http://127.0.0.1:8080", request("POST", "127.0.0.1:8080"), "dray-session", true},
		"localhost":                    {"http://127.0.0.1:8080", request("POST", "localhost:8080"), "dray-session", true},
		"a name of the machine":        {"http://127.0.0.1:8080", request("POST", "dray.localhost"), "dray-session", true},
		"IPv6 loopback":                {"http://127.0.0.1:8080", request("POST", "[::1]:8080"), "dray-session", true},
		"another machine, plain":       {"http://127.0.0.1:8080", request("POST", "192.0.2.7:8080"), "__Host-dray-session", false},
		"a proxy that speaks HTTPS":    {"http://127.0.0.1:8080", request("POST", "dray.example", "X-Forwarded-Proto", "HTTPS"), "__Host-dray-session", true},
		"a public address with HTTPS":  {"https://dray.example", request("POST", "dray.example"), "__Host-dray-session", true},
		"a name that looks like local": {"http://127.0.0.1:8080", request("POST", "localhost.example"), "__Host-dray-session", false},
	} {
		s := &Server{PublicURL: test.public}
		if got := s.cookieName(test.request, sessionCookie); got != test.name {
			t.Errorf("%s: the cookie is %s, want %s", name, got, test.name)
		}
		if err := s.checkCookies(test.request); (err == nil) != test.allowed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyTheCookieOfTheConnectionIsRead(t *testing.T) {
	s := &Server{PublicURL: "https://dray.example"}
	r := request("GET", "dray.example", "Cookie", "dray-session=planted")
	if s.HasSession(r) {
		t.Error("a cookie that another site of the domain may have set is read")
	}
	r.AddCookie(&http.Cookie{Name: "__Host-dray-session", Value: "own"})
	if got := s.cookie(r, sessionCookie); got != "own" {
		t.Errorf("the cookie is %q", got)
	}
}

func TestChangesRequireTheProof(t *testing.T) {
	for method, needed := range map[string]bool{"GET": false, "HEAD": false, "POST": true, "PUT": true, "DELETE": true} {
		err := checkProof(request(method, "dray.example"))
		rejected, _ := errors.AsType[*lastmile.Error](err)
		if (rejected != nil && rejected.Code == lastmile.CodeForbidden) != needed {
			t.Errorf("%s: %v", method, err)
		}
		if err := checkProof(request(method, "dray.example", proofHeader, "1")); err != nil {
			t.Errorf("%s with the header: %v", method, err)
		}
	}
}

func TestAuditNamesTheWholePath(t *testing.T) {
	var got edge.Served
	s := &Server{Audit: func(_ context.Context, served edge.Served) { got = served }}
	s.audit(t.Context(), edge.Served{Method: "POST", Route: "/password"})
	if got.Route != "/account/v1/password" || got.Method != "POST" {
		t.Errorf("%+v", got)
	}
}

func TestInstallationWithoutValues(t *testing.T) {
	shown := newInstallation(installation.Status{Engine: "postgres", Queues: []installation.Queue{{Kind: "webhook"}}})
	if shown.Problem != nil || shown.Disk != nil || shown.Backup != nil || shown.Database.Bytes != nil || shown.Queues[0].OldestDue != nil || shown.Maps == nil || shown.Services == nil {
		t.Errorf("%+v", shown)
	}
	at := time.UnixMilli(1500)
	shown = newInstallation(installation.Status{
		Bytes: 7, Backup: at, Disk: &installation.Disk{Free: 1, Total: 2}, Queues: []installation.Queue{{Oldest: at}},
		Maps: []installation.Map{{Area: &[2]lastmile.Point{{Lon: 1, Lat: 2}, {Lon: 3, Lat: 4}}, Products: []installation.Product{{Name: "roads"}}}},
	})
	if *shown.Database.Bytes != 7 || *shown.Backup != 1500 || shown.Disk.Total != 2 || *shown.Queues[0].OldestDue != 1500 || shown.Maps[0].Area[1].Point().Lat != 4 || len(shown.Maps[0].Products) != 1 {
		t.Errorf("%+v", shown)
	}
}

func TestResultsOfTests(t *testing.T) {
	route := newTestResult(installation.Result{OK: true, Took: 1500 * time.Microsecond, Leg: &travel.Leg{Duration: 90400 * time.Millisecond, Distance: 1234.6}})
	if *route.Seconds != 90 || *route.Meters != 1235 || route.Took != 1 || route.Location != nil || route.Problem != nil {
		t.Errorf("%+v", route)
	}
	found := newTestResult(installation.Result{OK: true, Found: &lastmile.GeocodedAddress{Location: lastmile.Point{Lon: 1, Lat: 2}, Precision: lastmile.PrecisionCity}})
	if found.Location.Point().Lat != 2 || *found.Precision != "city" || found.Seconds != nil {
		t.Errorf("%+v", found)
	}
}
