package contract_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

func TestAuthenticationContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		acme, zenith := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		greeting := func(t *testing.T, headers ...string) apptest.Response {
			t.Helper()
			a := exchange(t, "GET", p.URL+"/api/v2/auth/test", nil, headers...)
			p.Spec.Check(t, "GET", "/auth/test", a.Status, nil, a.Body)
			return a
		}
		encode := base64.StdEncoding.EncodeToString

		t.Run("the greeting shows the address of the client", func(t *testing.T) {
			for _, address := range []string{"198.51.100.7", "2001:db8:1:2::3"} {
				a := greeting(t, "Authorization", basic(acme.Key+":"), "X-Forwarded-For", address)
				if !strings.Contains(string(a.Body), " from "+address+`"`) {
					t.Errorf("a client at %s behind a proxy got %s", address, a.Body)
				}
			}
		})
		t.Run("a key is accepted in every form that clients send", func(t *testing.T) {
			for form, authorization := range map[string]string{
				"with a colon":              basic(acme.Key + ":"),
				"without a colon":           basic(acme.Key),
				"with any password":         basic(acme.Key + ":x"),
				"as its own password":       basic(acme.Key + ":" + acme.Key),
				"with colons in a password": basic(acme.Key + ":a:b"),
				"with a lower-case scheme":  "basic " + encode([]byte(acme.Key+":")),
				"with an upper-case scheme": "BASIC " + encode([]byte(acme.Key+":")),
				"without padding":           "Basic " + strings.TrimRight(encode([]byte(acme.Key+":")), "="),
				"with spaces":               "Basic   " + encode([]byte(acme.Key+":")) + " ",
				"with a binary password":    basic(acme.Key + ":\xff\x00"),
			} {
				a := greeting(t, "Authorization", authorization)
				if a.Status != 200 || !strings.Contains(string(a.Body), string(acme.Organization.ID)) {
					t.Errorf("%s: responded with %d: %s", form, a.Status, a.Body)
				}
				checkHeaders(t, a)
			}
		})
		t.Run("anything else is rejected, and browsers do not ask for a password", func(t *testing.T) {
			elsewhere := apptest.New(t).Organization(t, "Elsewhere")
			for form, authorization := range map[string]string{
				"empty":                    "",
				"the scheme alone":         "Basic",
				"nothing after the scheme": "Basic ",
				"no key":                   basic(":" + acme.Key),
				"another scheme":           "Bearer " + acme.Key,
				"the key as it is":         acme.Key,
				"not encoded":              "Basic " + acme.Key + ":",
				"not even base64":          "Basic !!!",
				"cut short":                basic(acme.Key[:len(acme.Key)-1] + ":"),
				"with more at its end":     basic(acme.Key + "x:"),
				"with a typing error":      basic(strings.Replace(acme.Key, acme.Key[10:11], "_", 1)),
				"in another letter case":   basic(strings.ToUpper(acme.Key)),
				"of another installation":  basic(elsewhere.Key + ":"),
				"invented":                 basic("dray_" + strings.Repeat("a", 49) + ":"),
				"the organization's id":    basic(string(acme.Organization.ID) + ":"),
				"very long":                basic(strings.Repeat("k", 8000)),
				"binary":                   basic("\x00\xff"),
			} {
				t.Run(form, func(t *testing.T) {
					a := greeting(t, "Authorization", authorization)
					unauthenticated.check(t, a)
					if a.Header.Get("WWW-Authenticate") != "" {
						t.Error("a browser would ask for a password, remember it, and lend it to any page")
					}
				})
			}
			unauthenticated.check(t, greeting(t))
			unauthenticated.check(t, greeting(t, "Cookie", "key="+acme.Key, "X-API-Key", acme.Key))
			unauthenticated.check(t, exchange(t, "GET", p.URL+"/api/v2/workers?apiKey="+acme.Key, nil))
		})
		t.Run("a key opens its own organization", func(t *testing.T) {
			further, _, err := p.APIKeys.Create(t.Context(), acme.Organization.ID, "further")
			if err != nil {
				t.Fatal(err)
			}
			for key, org := range map[string]*apptest.Client{acme.Key: acme, further: acme, zenith.Key: zenith} {
				a := (&apptest.Client{Platform: p, Key: key}).Must(t, "GET", "/organization", nil)
				matches(t, a["id"], text(string(org.Organization.ID)))
			}
		})
		t.Run("a revoked key stops working at once, and others still work", func(t *testing.T) {
			key, record, err := p.APIKeys.Create(t.Context(), acme.Organization.ID, "to be revoked")
			if err != nil {
				t.Fatal(err)
			}
			client := &apptest.Client{Platform: p, Key: key}
			client.Must(t, "GET", "/auth/test", nil)
			if err := p.APIKeys.Revoke(t.Context(), acme.Organization.ID, record.ID); err != nil {
				t.Fatal(err)
			}
			unauthenticated.check(t, client.Call(t, "GET", "/auth/test", nil))
			unauthenticated.check(t, client.Call(t, "POST", "/teams", `{"name":"T","workers":[],"managers":[]}`))
			acme.Must(t, "GET", "/auth/test", nil)
		})
		t.Run("without a key, responses reveal nothing about records", func(t *testing.T) {
			made := id(t, acme, "/teams", `{"name":"T","workers":[],"managers":[]}`)
			anonymous := &apptest.Client{Platform: p}
			for _, path := range []string{"/teams/" + made, "/teams/" + unknownID, "/teams/short"} {
				unauthenticated.check(t, anonymous.Call(t, "GET", path, nil))
				unauthenticated.check(t, anonymous.Call(t, "PUT", path, `{"name":`))
				unauthenticated.check(t, anonymous.Call(t, "DELETE", path, nil))
			}
			acme.Must(t, "GET", "/teams/"+made, nil)
		})
	})
}
