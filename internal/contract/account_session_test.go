package contract_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/identity"
)

const (
	accountBase = "/account/v1"
	right       = `{"email":"ada@acme.example","password":"correct horse"}`
)

// quickPasswords replaces password hashing, which is expensive, in tests that try
// hundreds of passwords.
type quickPasswords struct{}

func (quickPasswords) Enter(context.Context, string, bool) (func(), error) { return func() {}, nil }

func (quickPasswords) Hash(password string) string { return "hash of " + password }

func (quickPasswords) Verify(password, hash string) (right, outdated bool, err error) {
	return hash == "hash of "+password, false, nil
}

// without returns a response without the id of its request.
func without(a apptest.Response) string {
	body, _, _ := strings.Cut(string(a.Body), `,"request"`)
	return fmt.Sprint(a.Status, body)
}

func TestSignInContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		ada := setUp(t, p)
		ada.Call(t, "POST", "/api/v2/admins", `{"name":"Bob","email":"bob@acme.example"}`).OK(t)
		if p.Browser(t).Call(t, "GET", accountBase+"/me", nil).Status != http.StatusUnauthorized {
			t.Error("a browser without cookies has an account")
		}

		t.Run("every failure looks the same", func(t *testing.T) {
			b := p.Browser(t)
			b.Address = "192.0.2.10"
			want := without(b.Call(t, "POST", accountBase+"/sign-in", `{"email":"ada@acme.example","password":"wrong password"}`))
			if !strings.HasPrefix(want, "401") {
				t.Errorf("a wrong password: %s", want)
			}
			for name, body := range map[string]string{
				"an unknown address":                  `{"email":"eve@acme.example","password":"wrong password"}`,
				"an administrator without a password": `{"email":"bob@acme.example","password":"wrong password"}`,
				"a wrong password with a code":        `{"email":"ada@acme.example","password":"wrong password","code":"123456"}`,
				"a blank password":                    `{"email":"bob@acme.example","password":" "}`,
			} {
				if got := without(b.Call(t, "POST", accountBase+"/sign-in", body)); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
			if b.Cookie(t, "dray-session") != "" || b.Cookie(t, "dray-device") != "" {
				t.Error("a failure sets cookies")
			}
		})
		t.Run("invalid bodies are rejected", func(t *testing.T) {
			for body, want := range map[string]rejection{
				``: malformed, `{}`: malformed, `[]`: malformed, `{"email":"ada@acme.example"}`: malformed, `{"email":7,"password":"x"}`: malformed,
				`{"email":"ada@acme.example","password":"` + strings.Repeat("x", 201) + `"}`:           invalid,
				`{"email":"` + strings.Repeat("x", 255) + `","password":"x"}`:                          invalid,
				`{"email":"ada@acme.example","password":"x","code":"` + strings.Repeat("1", 65) + `"}`: invalid,
			} {
				want.check(t, p.Browser(t).Call(t, "POST", accountBase+"/sign-in", body))
			}
			if got := p.Browser(t).Call(t, "POST", accountBase+"/sign-in", `{"email":"`+strings.Repeat("x", 20<<10)+`"}`); got.Status != http.StatusRequestEntityTooLarge {
				t.Errorf("a large body: %d", got.Status)
			}
		})
		t.Run("each sign-in has a new token, and ends the session that the browser had", func(t *testing.T) {
			b := p.Browser(t)
			planted := strings.Repeat("a", 43)
			b.Headers["Cookie"] = "dray-session=" + planted
			b.Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			delete(b.Headers, "Cookie")
			first := b.Cookie(t, "dray-session")
			b.Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			if second := b.Cookie(t, "dray-session"); first == planted || second == first || len(second) != 43 {
				t.Errorf("the tokens are %q and %q", first, second)
			}
			old := p.Browser(t)
			old.Headers["Cookie"] = "dray-session=" + first
			if old.Call(t, "GET", accountBase+"/me", nil).Status != http.StatusUnauthorized {
				t.Error("the first session goes on")
			}
			b.Call(t, "GET", accountBase+"/me", nil).OK(t)
		})
		t.Run("cookies", func(t *testing.T) {
			attributes := func(b *apptest.Browser) string {
				return strings.Join(b.Call(t, "POST", accountBase+"/sign-in", right).OK(t).Header["Set-Cookie"], "\n")
			}
			for _, part := range []string{"dray-session=", "dray-device=", "Path=/;", "HttpOnly", "SameSite=Lax", "Max-Age=2592000"} {
				if got := attributes(p.Browser(t)); !strings.Contains(got, part) || strings.Contains(got, "Secure") || strings.Contains(got, "Domain") {
					t.Errorf("on loopback, without %s: %s", part, got)
				}
			}
			b := p.Browser(t)
			b.Host, b.Headers["X-Forwarded-Proto"] = "dray.example.com", "https"
			for _, line := range b.Call(t, "POST", accountBase+"/sign-in", right).OK(t).Header["Set-Cookie"] {
				if !strings.HasPrefix(line, "__Host-dray-") || !strings.Contains(line, "; Secure; SameSite=Lax") || !strings.Contains(line, "; HttpOnly") || !strings.Contains(line, "; Path=/;") || strings.Contains(line, "Domain") {
					t.Errorf("over HTTPS: %s", line)
				}
			}
			// Another site of the domain could set a cookie without the prefix.
			signedIn := p.Browser(t)
			signedIn.Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			b.Headers["Cookie"] = "dray-session=" + signedIn.Cookie(t, "dray-session")
			if b.Call(t, "GET", accountBase+"/me", nil).Status != http.StatusUnauthorized {
				t.Error("a cookie without the prefix works over HTTPS")
			}
			b = p.Browser(t)
			b.Host = "dray.example.com"
			forbidden.check(t, b.Call(t, "POST", accountBase+"/sign-in", right), "HTTPS")
		})
		t.Run("other sites", func(t *testing.T) {
			b := p.Browser(t)
			b.Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			delete(b.Headers, "Dray-Request")
			for _, request := range [][3]string{
				{"POST", "/api/v2/teams", `{"name":"X","workers":[],"managers":[]}`},
				{"PUT", "/api/v2/admins/x", `{}`},
				{"DELETE", "/api/v2/admins/x", ""},
				{"PUT", accountBase + "/me", `{"name":"X"}`},
				{"POST", accountBase + "/password", `{}`},
				{"DELETE", accountBase + "/sessions", ""},
				{"POST", accountBase + "/sign-out", ""},
			} {
				forbidden.check(t, b.Call(t, request[0], request[1], request[2]), "Dray-Request")
			}
			b.Call(t, "GET", "/api/v2/admins", nil).OK(t)
			for _, header := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
				evil := p.Browser(t)
				evil.Jar, evil.Headers[header[0]] = b.Jar, header[1]
				forbidden.check(t, evil.Call(t, "POST", "/api/v2/teams", `{"name":"X","workers":[],"managers":[]}`), "other sites")
				forbidden.check(t, evil.Call(t, "POST", accountBase+"/sign-in", right), "other sites")
			}
			if got := b.Call(t, "GET", accountBase+"/me", nil).Header; got.Get("X-Frame-Options") != "DENY" || got.Get("Cache-Control") != "no-store" || got.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("the headers are %v", got)
			}
		})
		t.Run("a key takes precedence over a cookie", func(t *testing.T) {
			zenith := p.Organization(t, "Zenith")
			b := p.Browser(t)
			b.Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			request, err := http.NewRequestWithContext(t.Context(), "GET", p.URL+"/api/v2/organization", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.SetBasicAuth(zenith.Key, "")
			b.Headers["Authorization"] = request.Header.Get("Authorization")
			if got := b.Call(t, "GET", "/api/v2/organization", nil).OK(t).Object(t); got["name"] != "Zenith" {
				t.Errorf("the organization is %v", got["name"])
			}
			b.Headers["Authorization"] = "Basic eDo="
			if got := b.Call(t, "GET", "/api/v2/organization", nil); got.Status != http.StatusUnauthorized {
				t.Errorf("an invalid key with a valid cookie: %d", got.Status)
			}
		})
	})
}

func TestAdminSessionContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		p.Accounts.Passwords = quickPasswords{}
		ada := setUp(t, p)
		signIn := func() *apptest.Browser {
			b := p.Browser(t)
			b.Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			return b
		}
		valid := func(b *apptest.Browser) bool { return b.Call(t, "GET", accountBase+"/me", nil).Status == http.StatusOK }

		t.Run("one's own account", func(t *testing.T) {
			me := ada.Call(t, "PUT", accountBase+"/me", `{"name":"Ada L.","phone":"(212) 555-0142","language":"pt"}`).OK(t).Object(t)
			if me["name"] != "Ada L." || me["phone"] != "+12125550142" || me["language"] != "pt" {
				t.Errorf("it is %v", me)
			}
			if me = ada.Call(t, "PUT", accountBase+"/me", `{"phone":""}`).OK(t).Object(t); me["phone"] != nil || me["name"] != "Ada L." {
				t.Errorf("it is %v", me)
			}
			for body, want := range map[string]rejection{`{"language":"xx"}`: invalid, `{"phone":"12"}`: invalid, `{"name":" "}`: malformed} {
				want.check(t, ada.Call(t, "PUT", accountBase+"/me", body))
			}
		})
		t.Run("sessions are listed and ended", func(t *testing.T) {
			one, two := signIn(), signIn()
			list := two.Call(t, "GET", accountBase+"/sessions", nil).OK(t).List(t)
			if len(list) != 3 || list[0]["current"] != true || list[1]["current"] != false || list[0]["userAgent"] != "test browser" {
				t.Fatalf("the sessions are %v", list)
			}
			bob, _ := (&apptest.Client{Platform: p, Key: keyOf(t, p)}).Admin(t, `{"name":"Bob","email":"bob@acme.example"}`)
			notFound.check(t, bob.Call(t, "DELETE", accountBase+"/sessions/"+list[1]["id"].(string), nil), "session")
			if got := two.Call(t, "DELETE", accountBase+"/sessions/"+list[1]["id"].(string), nil); got.Status != http.StatusNoContent {
				t.Errorf("status %d", got.Status)
			}
			if valid(one) || !valid(two) {
				t.Error("the wrong session has ended")
			}
			two.Call(t, "DELETE", accountBase+"/sessions", nil)
			if valid(ada) || !valid(two) || !valid(bob) {
				t.Error("the wrong sessions have ended")
			}
			ada = two
		})
		t.Run("a session ends after 12 hours without use", func(t *testing.T) {
			b := signIn()
			for range 10 {
				p.Advance(12*time.Hour - time.Minute)
				if !valid(b) {
					t.Fatal("it ended too early")
				}
			}
			p.Advance(12 * time.Hour)
			if valid(b) {
				t.Error("it goes on")
			}
			if err := p.Accounts.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		t.Run("a session ends after 30 days", func(t *testing.T) {
			b := signIn()
			for range 30*4 - 1 {
				p.Advance(6 * time.Hour)
				if !valid(b) {
					t.Fatal("it ended too early")
				}
			}
			p.Advance(6 * time.Hour)
			if valid(b) {
				t.Error("it goes on")
			}
		})
		t.Run("a change of the password ends the other sessions", func(t *testing.T) {
			one, two := signIn(), signIn()
			malformed.check(t, two.Call(t, "POST", accountBase+"/password", `{"new":"another horse"}`), "old")
			invalid.check(t, two.Call(t, "POST", accountBase+"/password", `{"old":"wrong password","new":"another horse"}`), "old")
			invalid.check(t, two.Call(t, "POST", accountBase+"/password", `{"old":"correct horse","new":"short"}`), "new", "10")
			if got := two.Call(t, "POST", accountBase+"/password", `{"old":"correct horse","new":"another horse"}`); got.Status != http.StatusNoContent {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			if valid(one) || !valid(two) {
				t.Error("the wrong sessions have ended")
			}
			b := p.Browser(t)
			if b.Call(t, "POST", accountBase+"/sign-in", right).Status != http.StatusUnauthorized {
				t.Error("the old password works")
			}
			b.Call(t, "POST", accountBase+"/sign-in", `{"email":"ada@acme.example","password":"another horse"}`).OK(t)
			ada = b
		})
		t.Run("deleting an administrator ends the sessions and links", func(t *testing.T) {
			c := &apptest.Client{Platform: p, Key: keyOf(t, p)}
			eve, id := c.Admin(t, `{"name":"Eve","email":"eve@acme.example"}`)
			_, link, err := p.Links.ForOperator(t.Context(), "eve@acme.example", identity.Reset, false)
			if err != nil {
				t.Fatal(err)
			}
			c.Call(t, "DELETE", "/admins/"+string(id), nil).OK(t)
			if valid(eve) {
				t.Error("the session goes on")
			}
			notFound.check(t, eve.Call(t, "POST", accountBase+"/link", `{"token":"`+apptest.TokenOf(link.Link)+`"}`))
		})
		t.Run("an administrator signs another one out", func(t *testing.T) {
			c := &apptest.Client{Platform: p, Key: keyOf(t, p)}
			joe, id := c.Admin(t, `{"name":"Joe","email":"joe@acme.example"}`)
			c.Call(t, "DELETE", "/admins/"+string(id)+"/sessions", nil).OK(t)
			if valid(joe) || !valid(ada) {
				t.Error("the wrong session has ended")
			}
		})
	})
}

// keyOf creates an API key of the first organization.
func keyOf(t *testing.T, p *apptest.Platform) string {
	t.Helper()
	all, err := p.Organizations.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := p.APIKeys.Create(t.Context(), all[0].ID, "test")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestStreamsOfSessionsContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		setUp(t, p)
		follow := func() (*apptest.Browser, chan struct{}) {
			b := p.Browser(t)
			b.Call(t, "POST", accountBase+"/sign-in", right).OK(t)
			request, err := http.NewRequestWithContext(t.Context(), "GET", p.URL+"/api/v2/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := (&http.Client{Jar: b.Jar}).Do(request) //nolint:bodyclose // below
			if err != nil || reply.StatusCode != http.StatusOK {
				t.Fatalf("follow: %v %v", reply, err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer reply.Body.Close()
				buffer := make([]byte, 1024)
				for {
					if _, err := reply.Body.Read(buffer); err != nil {
						return
					}
				}
			}()
			return b, ended
		}
		await := func(what string, ended chan struct{}) {
			t.Helper()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Errorf("the stream of %s goes on", what)
			}
		}
		left, signedOut := follow()
		_, expired := follow()
		left.Call(t, "POST", accountBase+"/sign-out", nil)
		if err := p.Keys.Refresh(t.Context()); err != nil { // as every node does a few times a second
			t.Fatal(err)
		}
		await("a session that was signed out", signedOut)
		select {
		case <-expired:
			t.Error("the stream of another session has ended")
		default:
		}
		p.Advance(identity.SessionIdle)
		if err := p.Accounts.Purge(t.Context()); err != nil { // as every node does once a minute
			t.Fatal(err)
		}
		if err := p.Keys.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		await("an expired session", expired)
	}, func(c *app.Config) {})
}
