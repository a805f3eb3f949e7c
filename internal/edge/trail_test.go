package edge

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

// denying returns an API whose GET /bells fails with an error, and the trail and the log
// that record it.
func denying(clock *testClock, err error) (*Mux, *Trail, *bytes.Buffer) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo}))
	trail := NewTrail(log, clock.now)
	settings := Settings{Now: clock.now, Log: log, Trail: trail, Address: func(r *http.Request) string { return r.Header.Get("From") }}
	serve := func(context.Context, *Call) (bellReply, error) { return bellReply{}, err }
	return NewMux(settings, "/v1", Access{}, Get("/bells", "List bells", serve).Public()), trail, &out
}

func TestDeniedRequestsAreLimitedAndLogged(t *testing.T) {
	for kind, denied := range map[string]*lastmile.Error{"credentials": lastmile.Unauthenticated(), "scope": lastmile.OutsideScope("secret id")} {
		t.Run(kind, func(t *testing.T) {
			clock := newTestClock()
			mux, trail, out := denying(clock, denied)
			get := func(address string) *httptest.ResponseRecorder {
				r := httptest.NewRequest(http.MethodGet, "/v1/bells", nil)
				r.Header.Set("From", address)
				r.RemoteAddr = "127.0.0.1:5000"
				r.Header.Set("Authorization", "Basic c2VjcmV0")
				w := httptest.NewRecorder()
				mux.ServeHTTP(w, r)
				return w
			}
			statuses := map[int]int{}
			for range 3 * DeniedBurst {
				statuses[get("192.0.2.1").Code]++
			}
			if statuses[401] != DeniedBurst || statuses[429] != 2*DeniedBurst {
				t.Errorf("responded %v", statuses)
			}
			if w := get("192.0.2.1"); w.Header().Get("Retry-After") == "" {
				t.Errorf("a 429 without Retry-After: %s", w.Body)
			}
			if w := get("192.0.2.2"); w.Code != 401 {
				t.Errorf("another address gets %d", w.Code)
			}
			for range 2 * DeniedBurst {
				if w := get(""); w.Code != 401 {
					t.Fatalf("an unknown address gets %d", w.Code)
				}
			}
			counts := trail.Counts()
			if total := int64(5*DeniedBurst + 2); counts.Credentials+counts.Scope != total || counts.Limited != 2*DeniedBurst+1 {
				t.Errorf("counted %+v", counts)
			}
			lines := strings.Count(out.String(), "\n")
			if lines < 3 || lines > 30 || !strings.Contains(out.String(), "denied="+kind+" address=192.0.2.1") ||
				!strings.Contains(out.String(), "denied="+kind+" address=127.0.0.1") {
				t.Errorf("%d lines: %s", lines, out)
			}
			if strings.Contains(out.String(), "secret") || strings.Contains(out.String(), "c2VjcmV0") {
				t.Errorf("the log has secrets: %s", out)
			}
			clock.advance(trailPeriod)
			if got := get("192.0.2.1").Code; got != 401 {
				t.Errorf("a minute later the address gets %d", got)
			}
		})
	}
}

func TestTheTrailOfManyAddressesIsBounded(t *testing.T) {
	clock := newTestClock()
	mux, _, out := denying(clock, lastmile.Unauthenticated())
	for i := range 5 * trailCallers {
		r := httptest.NewRequest(http.MethodGet, "/v1/bells", nil)
		r.Header.Set("From", fmt.Sprint("192.0.2.", i))
		mux.ServeHTTP(httptest.NewRecorder(), r)
	}
	if lines := strings.Count(out.String(), "\n"); lines > trailCallers+30 {
		t.Errorf("%d lines for %d addresses", lines, 5*trailCallers)
	}
}

// TestDetailsOfErrorsAreLoggedOnly: clients do not see the causes of errors.
func TestDetailsOfErrorsAreLoggedOnly(t *testing.T) {
	for name, err := range map[string]error{
		"a fault":  fmt.Errorf("dial db.internal as user dray: refused"),
		"overload": fmt.Errorf("%w: dial db.internal as user dray: refused", lastmile.Overloaded("The server is busy.")),
	} {
		mux, _, out := denying(newTestClock(), err)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/bells", nil))
		if strings.Contains(w.Body.String(), "db.internal") || w.Code < 500 {
			t.Errorf("%s: responded %d %s", name, w.Code, w.Body)
		}
		if !strings.Contains(out.String(), "db.internal") {
			t.Errorf("%s: logged %s", name, out)
		}
	}
}

// TestAnAddressWithTooManyDenialsIsACallerOfItsOwn checks on whose behalf credentials are
// looked up, and public requests and pages are served.
func TestAnAddressWithTooManyDenialsIsACallerOfItsOwn(t *testing.T) {
	clock, log := newTestClock(), slog.New(slog.DiscardHandler)
	settings := Settings{Now: clock.now, Log: log, Trail: NewTrail(log, clock.now), Address: func(r *http.Request) string { return r.Header.Get("From") }}
	var lookedUp, served string
	access := Access{Authenticate: func(ctx context.Context, r *http.Request) (lastmile.Principal, error) {
		lookedUp = lastmile.CallerOf(ctx)
		if r.Header.Get("Authorization") == "" {
			return lastmile.Principal{}, lastmile.Unauthenticated()
		}
		return lastmile.Principal{Organization: "acme"}, nil
	}}
	serve := func(ctx context.Context, _ *Call) (bellReply, error) {
		served = lastmile.CallerOf(ctx)
		return bellReply{}, nil
	}
	mux := NewMux(settings, "/v1", access, Get("/bells", "List bells", serve), Get("/public", "List bells", serve).Public())
	page := mux.Limited(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { served = lastmile.CallerOf(r.Context()) }))
	get := func(h http.Handler, path, address, key string) {
		lookedUp, served = "", ""
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("From", address)
		r.Header.Set("Authorization", key)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	check := func(when, address, wantLookup, wantPublic string) {
		t.Helper()
		if get(mux, "/v1/bells", address, "right"); lookedUp != wantLookup || served != "acme" {
			t.Errorf("%s: credentials are looked up for %q, and the request is served for %q", when, lookedUp, served)
		}
		if get(mux, "/v1/public", address, ""); served != wantPublic {
			t.Errorf("%s: a public request is served for %q", when, served)
		}
		if get(page, "/page", address, ""); served != wantPublic {
			t.Errorf("%s: a page is served for %q", when, served)
		}
	}
	check("before", "192.0.2.1", "", withoutCredentials)
	for range DeniedBurst {
		get(mux, "/v1/bells", "192.0.2.1", "")
	}
	check("after many denials", "192.0.2.1", "address 192.0.2.1", "address 192.0.2.1")
	check("from another address", "192.0.2.2", "", withoutCredentials)
	check("from an unknown address", "", "", withoutCredentials)
	clock.advance(time.Second)
	check("later", "192.0.2.1", "", withoutCredentials)
}
