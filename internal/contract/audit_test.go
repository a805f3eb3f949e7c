package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/audit"
)

func TestAuditContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, zenith := p.Organization(t, "acme"), p.Organization(t, "zenith")
		grace, graceID := c.Admin(t, `{"name":"Grace","email":"grace@example.com","type":"super"}`)
		reader, _ := c.Admin(t, `{"name":"Reader","email":"reader@example.com","type":"super","isReadOnly":true}`)
		standard, _ := c.Admin(t, `{"name":"Standard","email":"standard@example.com"}`)
		entries := func(query string) []any {
			t.Helper()
			return c.Must(t, "GET", "/audit"+query, nil)["entries"].([]any)
		}
		made := grace.Call(t, "POST", "/api/v2/recipients", `{"name":"Secret","phone":"+12125550142"}`).OK(t)
		recipient := fmt.Sprint(made.Object(t)["id"])
		t.Run("a change by a person names person, route, record and request", func(t *testing.T) {
			matches(t, entries("?record=" + recipient)[0], `{"id":"<id>","time":"<now>","actor":{"type":"admin","id":"`+string(graceID)+`","name":"Grace"},"method":"POST","route":"/recipients",
				"record":"`+recipient+`","status":200,"attempt":null,"count":1,"request":"`+made.Header.Get("X-Request-Id")+`","address":null}`)
		})
		t.Run("a change by a key names the key", func(t *testing.T) {
			c.Must(t, "PUT", "/recipients/"+recipient, `{"notes":"Secret"}`)
			first := entries("")[0].(map[string]any)
			if actor := first["actor"].(map[string]any); actor["type"] != "key" || actor["name"] == nil || first["route"] != "/recipients/{id}" || first["record"] != recipient {
				t.Errorf("got %v", first)
			}
		})
		t.Run("denied requests are recorded, rejected ones and reads are not", func(t *testing.T) {
			before := len(entries(""))
			forbidden.check(t, reader.Call(t, "PUT", "/api/v2/recipients/"+recipient, `{"notes":"X"}`))
			outsideScope.check(t, zenith.Call(t, "PUT", "/recipients/"+recipient, `{"notes":"X"}`))
			malformed.check(t, c.Call(t, "PUT", "/recipients/"+recipient, `{"name":""}`))
			notFound.check(t, c.Call(t, "DELETE", "/tasks/"+unknownID, nil))
			c.Must(t, "GET", "/recipients/"+recipient, nil)
			c.Call(t, "POST", "/recipients/metadata", `[{"name":"a","type":"number","value":1}]`).OK(t)
			after := entries("")
			if denied := after[0].(map[string]any); len(after) != before+1 || denied["status"] != 403.0 || denied["actor"].(map[string]any)["name"] != "Reader" {
				t.Errorf("there are %d entries, and were %d: %v", len(after), before, denied)
			}
			others := zenith.Must(t, "GET", "/audit", nil)["entries"].([]any)
			if len(others) != 1 || others[0].(map[string]any)["status"] != 401.0 {
				t.Errorf("the other organization has %v", others)
			}
		})
		t.Run("the content of requests is not recorded", func(t *testing.T) {
			if body := string(c.Call(t, "GET", "/audit", nil).OK(t).Body); strings.Contains(body, "Secret") {
				t.Error(body)
			}
		})
		t.Run("filters", func(t *testing.T) {
			for query, want := range map[string]int{
				"?actor=" + string(graceID): 2, "?route=/recipients": 1, "?route=PUT%20/recipients/{id}": 2, "?route=DELETE%20/recipients/{id}": 0,
				"?record=" + unknownID: 0, "?from=4000000000000": 0, "?to=1": 0, "?record=" + recipient: 3,
			} {
				if got := entries(query); len(got) != want {
					t.Errorf("%s finds %d, want %d", query, len(got), want)
				}
			}
			malformed.check(t, c.Call(t, "GET", "/audit?from=x", nil))
			invalid.check(t, c.Call(t, "GET", "/audit?from=2&to=1", nil))
			notFound.check(t, c.Call(t, "GET", "/audit?lastId="+unknownID, nil))
		})
		t.Run("super administrators and keys read it, others do not", func(t *testing.T) {
			grace.Call(t, "GET", "/api/v2/audit", nil).OK(t)
			reader.Call(t, "GET", "/api/v2/audit", nil).OK(t)
			forbidden.check(t, standard.Call(t, "GET", "/api/v2/audit", nil))
		})
		t.Run("pages hold every entry once", func(t *testing.T) {
			before := len(entries(""))
			for range audit.PageSize + 5 {
				c.Must(t, "PUT", "/recipients/"+recipient, `{"notes":"Secret"}`)
			}
			seen, read := map[any]bool{}, 0
			for after := ""; ; {
				page := c.Must(t, "GET", "/audit?lastId="+after, nil)
				for _, e := range page["entries"].([]any) {
					seen[e.(map[string]any)["id"]] = true
					read++
				}
				last, more := page["lastId"]
				if !more {
					break
				}
				after = last.(string)
			}
			if want := before + audit.PageSize + 5; len(seen) != want || read != want {
				t.Errorf("read %d entries, %d different ones, want %d", read, len(seen), want)
			}
		})
		t.Run("entries are purged when they are old", func(t *testing.T) {
			p.Advance(audit.Kept + time.Hour)
			c.Must(t, "PUT", "/recipients/"+recipient, `{"notes":"Now"}`)
			entries("")
			if err := p.Audit.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left := entries(""); len(left) != 1 {
				t.Errorf("%d entries are left", len(left))
			}
		})
	})
}

// TestAccountAuditContract signs in, changes the account, and checks the audit log.
func TestAccountAuditContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		b := setUp(t, p)
		me := b.Call(t, "GET", "/account/v1/me", nil).OK(t).Object(t)
		call := func(b *apptest.Browser, method, path, body string) {
			t.Helper()
			if a := b.Call(t, method, "/account/v1"+path, body); a.Status >= 300 {
				t.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
			}
		}
		other := p.Browser(t)
		const signIn = `{"email":"ada@acme.example","password":"correct horse"}`
		call(other, "POST", "/sign-in", signIn)
		call(b, "PUT", "/me", `{"name":"Ada"}`)
		call(b, "POST", "/password", `{"old":"correct horse","new":"battery staple"}`)
		call(b, "POST", "/secondFactor", `{"password":"battery staple"}`)
		call(b, "DELETE", "/sessions", ``)
		unauthenticated.check(t, other.Call(t, "POST", "/account/v1/sign-in", signIn)) // the former password
		invited := b.Call(t, "POST", "/api/v2/admins", `{"name":"Grace","email":"grace@acme.example","type":"super"}`).OK(t).Object(t)
		link := b.Call(t, "POST", fmt.Sprintf("/api/v2/admins/%s/invitation", invited["id"]), `{}`).OK(t).Object(t)["link"]
		call(other, "POST", "/link", `{"token":"`+apptest.TokenOf(link.(string))+`"}`)
		call(other, "POST", "/link/accept", `{"token":"`+apptest.TokenOf(link.(string))+`","password":"a long password"}`)
		call(other, "POST", "/sign-out", ``)
		call(other, "POST", "/sign-out", ``) // it has no session any more
		call(b, "POST", "/forgot", `{"email":"ada@acme.example"}`)

		var got []string
		for _, e := range b.Call(t, "GET", "/api/v2/audit", nil).OK(t).Object(t)["entries"].([]any) {
			entry := e.(map[string]any)
			actor := entry["actor"].(map[string]any)
			got = append([]string{fmt.Sprintf("%v %v %v %v", actor["name"], entry["method"], entry["route"], entry["status"])}, got...)
		}
		want := []string{
			"Ada POST /account/v1/setup 200", "Ada POST /account/v1/sign-in 200", "Ada PUT /account/v1/me 200", "Ada POST /account/v1/password 204",
			"Ada POST /account/v1/secondFactor 200", "Ada DELETE /account/v1/sessions 204", "Ada POST /account/v1/sign-in 401", "Ada POST /admins 200", "Ada POST /admins/{id}/invitation 200",
			"Grace POST /account/v1/link/accept 200", "Grace POST /account/v1/sign-out 204",
		}
		for i := range got {
			got[i] = strings.Replace(got[i], "Ada Lovelace", "Ada", 1) // depends on when the entry was saved
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if found := b.Call(t, "GET", "/api/v2/audit?route=/account/v1/setup", nil).OK(t).Object(t)["entries"].([]any); len(found) != 1 || found[0].(map[string]any)["record"] != me["id"] {
			t.Errorf("the setup is %v", found)
		}
	})
}

// TestAttemptAuditContract makes failed attempts to sign in and checks the audit log.
func TestAttemptAuditContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock() // an hour must not end meanwhile
		b := setUp(t, p)
		me := b.Call(t, "GET", "/account/v1/me", nil).OK(t).Object(t)
		zenith := p.Organization(t, "zenith")
		list := func() (all []string) {
			t.Helper()
			for _, e := range b.Call(t, "GET", "/api/v2/audit", nil).OK(t).Object(t)["entries"].([]any) {
				if entry := e.(map[string]any); entry["attempt"] != nil {
					if entry["record"] != me["id"] || entry["actor"].(map[string]any)["id"] != me["id"] {
						t.Errorf("the entry is %v", entry)
					}
					all = append(all, fmt.Sprint(entry["method"], " ", entry["route"], " ", entry["status"], " ", entry["attempt"], " ", entry["count"]))
				}
			}
			slices.Sort(all)
			return all
		}
		check := func(want ...string) {
			t.Helper()
			if got := list(); !slices.Equal(got, want) {
				t.Errorf("the log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		stranger := p.Browser(t)
		try := func(path, body string) apptest.Response {
			t.Helper()
			return stranger.Call(t, "POST", "/account/v1"+path, body)
		}
		wrong := try("/sign-in", `{"email":"Ada@Acme.example","password":"guess-Secret"}`)
		unknown := try("/sign-in", `{"email":"nobody@acme.example","password":"guess-Secret"}`)
		if unauthenticated.check(t, wrong) != unauthenticated.check(t, unknown) || outcome(t, wrong) != outcome(t, unknown) {
			t.Errorf("%s and %s differ", wrong.Body, unknown.Body)
		}
		malformed.check(t, try("/sign-in", `{"email":"ada@acme.example"}`))
		const failed = "POST /account/v1/sign-in 401 wrongPassword 1"
		check(failed)
		t.Run("a session is not enough", func(t *testing.T) {
			invalid.check(t, b.Call(t, "POST", "/account/v1/password", `{"old":"guess-Secret","new":"battery staple"}`))
			check("POST /account/v1/password 400 wrongPassword 1", failed)
		})
		t.Run("too many attempts share an entry", func(t *testing.T) {
			for range 30 {
				try("/sign-in", `{"email":"ada@acme.example","password":"guess-Secret"}`)
				list() // each is saved separately
			}
			const many = "POST /account/v1/sign-in 429 tooManyAttempts "
			check("POST /account/v1/password 400 wrongPassword 1", failed, failed, failed, failed, "POST /account/v1/sign-in 401 wrongPassword 1",
				many+"1", many+"1", many+"1", many+"1", many+"1", many+"21")
		})
		t.Run("nothing secret, and nothing for others", func(t *testing.T) {
			if body := string(b.Call(t, "GET", "/api/v2/audit", nil).OK(t).Body); strings.Contains(body, "Secret") || strings.Contains(body, "nobody") {
				t.Error(body)
			}
			if all := zenith.Must(t, "GET", "/audit", nil)["entries"].([]any); len(all) != 0 {
				t.Errorf("another organization has %v", all)
			}
		})
	})
}

// TestWorkerAttemptAuditContract makes failed attempts to sign in as a worker of two
// organizations, and checks their audit logs.
func TestWorkerAttemptAuditContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock() // an hour must not end meanwhile
		const number = "+12125550142"
		acme, zenith, other := p.Organization(t, "acme"), p.Organization(t, "zenith"), p.Organization(t, "other")
		worker, signedIn := hire(t, acme, driverTeam(t, acme, "Riders", false), number)
		second := fmt.Sprint(zenith.Must(t, "POST", "/workers", map[string]any{"name": "Willi", "phone": number, "teams": []string{driverTeam(t, zenith, "Drivers", false)}})["id"])
		driverTeam(t, other, "Others", false)
		stranger := &phone{platform: p}
		guess := func(number string) apptest.Response {
			t.Helper()
			return stranger.call(t, "POST", "/login", map[string]any{"phone": number, "password": "guess-Secret"})
		}
		check := func(c *apptest.Client, id, name string, want ...string) {
			t.Helper()
			var got []string
			for _, e := range c.Must(t, "GET", "/audit?record="+id, nil)["entries"].([]any) {
				entry := e.(map[string]any)
				actor := entry["actor"].(map[string]any)
				if entry["attempt"] == nil {
					continue
				}
				if actor["type"] != "worker" || actor["id"] != id || actor["name"] != name {
					t.Errorf("the actor is %v", actor)
				}
				got = append(got, fmt.Sprint(entry["method"], " ", entry["route"], " ", entry["status"], " ", entry["attempt"], " ", entry["count"]))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("the log of %s has\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		wrong, unknown := guess("(212) 555-0142"), guess("+12125550999")
		if unauthenticated.check(t, wrong) != unauthenticated.check(t, unknown) || outcome(t, wrong) != outcome(t, unknown) {
			t.Errorf("%s and %s differ", wrong.Body, unknown.Body)
		}
		malformed.check(t, stranger.call(t, "POST", "/login", map[string]any{"phone": number}))
		const failed, changed, many = "POST /driver/v1/login 401 wrongPassword 1", "POST /driver/v1/password 400 wrongPassword 1", "POST /driver/v1/login 429 tooManyAttempts "
		check(acme, worker, "W "+number, failed)
		check(zenith, second, "Willi", failed)
		t.Run("a session is not enough", func(t *testing.T) {
			invalid.check(t, signedIn.call(t, "POST", "/password", map[string]any{"oldPassword": "guess-Secret", "password": "battery staple"}))
			malformed.check(t, signedIn.call(t, "POST", "/password", map[string]any{"password": "battery staple"}))
			check(acme, worker, "W "+number, failed, changed, changed)
			check(zenith, second, "Willi", failed)
		})
		t.Run("too many attempts share an entry", func(t *testing.T) {
			for range 30 {
				guess(number)
				acme.Must(t, "GET", "/audit", nil) // each is saved separately
			}
			check(acme, worker, "W "+number, failed, failed, failed, "POST /driver/v1/login 401 wrongPassword 2",
				many+"1", many+"1", many+"1", many+"1", many+"1", many+"21", changed, changed)
			check(zenith, second, "Willi", failed, failed, failed, failed, failed, many+"1", many+"1", many+"1", many+"1", many+"1", many+"21")
		})
		t.Run("nothing secret, and nothing for others", func(t *testing.T) {
			if body := string(acme.Call(t, "GET", "/audit", nil).OK(t).Body); strings.Contains(body, "Secret") {
				t.Error(body)
			}
			for _, e := range other.Must(t, "GET", "/audit", nil)["entries"].([]any) {
				if e.(map[string]any)["attempt"] != nil {
					t.Errorf("another organization has %v", e)
				}
			}
		})
	})
}
