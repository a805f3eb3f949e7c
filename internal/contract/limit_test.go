package contract_test

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
)

func TestRateLimitContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		acme, zenith := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		further, _, err := p.APIKeys.Create(t.Context(), acme.Organization.ID, "further")
		if err != nil {
			t.Fatal(err)
		}
		second := &apptest.Client{Platform: p, Key: further}
		var rejected apptest.Response
		for range 200 {
			a := acme.Call(t, "GET", "/auth/test", nil)
			if a.Header.Get("X-RateLimit-Limit") != "1" {
				t.Fatalf("X-RateLimit-Limit is %q", a.Header.Get("X-RateLimit-Limit"))
			}
			if rejected = a; a.Status != 200 {
				break
			}
			checkHeaders(t, a)
		}
		tooMany.check(t, rejected)
		if rejected.Header.Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("X-RateLimit-Remaining is %q", rejected.Header.Get("X-RateLimit-Remaining"))
		}
		if wait, err := strconv.Atoi(rejected.Header.Get("Retry-After")); err != nil || wait < 1 {
			t.Errorf("Retry-After is %q", rejected.Header.Get("Retry-After"))
		}
		// The organization is limited, not the key.
		tooMany.check(t, second.Call(t, "POST", "/teams", `{"name":"T","workers":[],"managers":[]}`))
		zenith.Must(t, "GET", "/auth/test", nil)
		unauthenticated.check(t, (&apptest.Client{Platform: p, Key: "wrong"}).Call(t, "GET", "/auth/test", nil))
		p.Advance(time.Minute)
		acme.Must(t, "GET", "/auth/test", nil)
	}, func(c *app.Config) { c.RateLimit = 0.1 })
}

// TestServerLimitsContract needs a server with its real limits; which database
// it has does not matter.
func TestServerLimitsContract(t *testing.T) {
	t.Parallel()
	p := apptest.New(t, func(c *app.Config) { c.Listen, c.AdminListen = "127.0.0.1:0", "" })
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.URL = "http://" + p.Address()
	c := p.Organization(t, "Acme")
	authorization := "Authorization: " + basic(c.Key)

	t.Run("headers over the limit are rejected, and the server goes on", func(t *testing.T) {
		if a := rawRequest(t, p.URL, "GET /api/v2/auth/test HTTP/1.1", authorization, "X-Large: "+strings.Repeat("x", 8<<10)); a.Status != 200 {
			t.Errorf("8 KiB of headers responded with %d", a.Status)
		}
		for _, size := range []int{32 << 10, 4 << 20} {
			if a := rawRequest(t, p.URL, "GET /api/v2/auth/test HTTP/1.1", authorization, "X-Large: "+strings.Repeat("x", size)); a.Status != 431 {
				t.Errorf("%d bytes of headers responded with %d", size, a.Status)
			}
		}
		c.Must(t, "GET", "/auth/test", nil)
	})
	t.Run("requests that are not HTTP are rejected", func(t *testing.T) {
		for _, lines := range [][]string{
			{"GET /api/v2/auth/test"},
			{"GET /api/v2/auth/test HTTP/9.9", authorization},
			{"nonsense"},
			{"GET api HTTP/1.1"},
			{"POST /api/v2/teams HTTP/1.1", authorization, "Content-Length: 5", "Content-Length: 6"},
			{"POST /api/v2/teams HTTP/1.1", authorization, "Content-Length: -1"},
			{"POST /api/v2/teams HTTP/1.1", authorization, "Transfer-Encoding: chunked, identity"},
			{"GET /api/v2/auth/test HTTP/1.1", authorization, " folded: header"},
			{"GET /api/v2/auth/test HTTP/1.1", authorization, "Bad Name: x"},
		} {
			if a := rawRequest(t, p.URL, lines...); a.Status < 400 || a.Status > 505 || a.Status == 500 {
				t.Errorf("%q responded with %d: %s", lines, a.Status, a.Body)
			}
		}
	})
	t.Run("clients that send headers slowly are cut off while others are served", func(t *testing.T) {
		begun := time.Now()
		slow := make([]net.Conn, 50)
		for i := range slow {
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET /api/v2/auth/test HTTP/1.1\r\nX-Slow: "); err != nil {
				t.Fatal(err)
			}
			slow[i] = conn
		}
		c.Must(t, "GET", "/auth/test", nil)
		for _, conn := range slow {
			conn.SetReadDeadline(begun.Add(2 * time.Minute)) //nolint:errcheck // the read would fail
			rest, err := io.ReadAll(conn)
			if err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatalf("not cut off after %s: %v %q", time.Since(begun), err, rest)
			}
		}
		if took := time.Since(begun); took < 3*time.Second {
			t.Errorf("cut off after %s, which an honest client may need", took)
		}
	})
}
