package contract_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/wire"
)

func init() {
	register("POST /apiKeys", [2]string{`{"name":"A"}`, `{"name":"B"}`})
	register("POST /organization/webhookSecret", [2]string{``, `{}`})
	register("PUT /apiKeys/{id}", [2]string{}, idPlace{field: "{id}", kind: "apiKey", body: `{"name":"Changed"}`, missing: notFound})
	register("DELETE /apiKeys/{id}", [2]string{}, idPlace{field: "{id}", kind: "apiKey", missing: notFound})
}

func TestAPIKeyContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		first := fmt.Sprint(list(t, c, "/apiKeys")[0]["id"])

		made := c.Must(t, "POST", "/apiKeys", `{"name":"shop"}`)
		path, second := "/apiKeys/"+fmt.Sprint(made["id"]), &apptest.Client{Platform: p, Key: fmt.Sprint(made["key"])}
		t.Run("a key is shown once and works", func(t *testing.T) {
			hint := second.Key[len(second.Key)-4:]
			matches(t, made, `{"id":"<id>","name":"shop","hint":"`+hint+`","timeCreated":"<now>","timeLastUsed":null,"isActive":true,"key":"`+second.Key+`"}`)
			second.Must(t, "GET", "/organization", nil)
			if a := c.Call(t, "GET", "/apiKeys", nil).OK(t); strings.Contains(string(a.Body), second.Key) || strings.Contains(string(a.Body), `"key"`) {
				t.Errorf("the list has a key: %s", a.Body)
			}
		})
		t.Run("lists have every key of the organization with its last use", func(t *testing.T) {
			if err := p.Keys.SaveUse(t.Context()); err != nil {
				t.Fatal(err)
			}
			all := list(t, c, "/apiKeys")
			if len(all) != 2 || all[0]["id"] != first || all[0]["name"] != "first key" {
				t.Fatalf("the keys are %v", all)
			}
			matches(t, all[1], `{"id":"`+fmt.Sprint(made["id"])+`","name":"shop","hint":"`+fmt.Sprint(made["hint"])+`","timeCreated":"<now>","timeLastUsed":"<now>","isActive":true}`)
			if theirs := list(t, other, "/apiKeys"); len(theirs) != 1 || theirs[0]["id"] == first {
				t.Errorf("another organization has %v", theirs)
			}
		})
		t.Run("a repeated request returns the same key, which is not stored in clear", func(t *testing.T) { repeatsSecret(t, p, c, "/apiKeys", `{"name":"twice"}`) })
		t.Run("a key is renamed", func(t *testing.T) {
			renamed := c.Must(t, "PUT", path, `{"name":"web shop"}`)
			if renamed["name"] != "web shop" || renamed["id"] != made["id"] || renamed["key"] != nil {
				t.Errorf("the key is %v", renamed)
			}
			second.Must(t, "GET", "/organization", nil)
		})
		t.Run("invalid requests are rejected", func(t *testing.T) {
			for body, want := range map[string]rejection{
				``: malformed, `{}`: malformed, `{"name":null}`: malformed, `{"name":" "}`: malformed, `{"name":7}`: malformed, `[]`: malformed,
				`{"name":"` + strings.Repeat("x", 1001) + `"}`: invalid,
			} {
				want.check(t, send(t, c, "POST", "/apiKeys", body))
				want.check(t, send(t, c, "PUT", path, body))
			}
			for _, method := range []string{http.MethodPut, http.MethodDelete} {
				for _, id := range append(malformedIDs, unknownID) {
					notFound.check(t, send(t, c, method, "/apiKeys/"+id, `{"name":"X"}`))
				}
				outsideScope.check(t, other.Call(t, method, path, map[string]any{"name": "X"}))
			}
		})
		t.Run("a key revokes itself, at once and for good", func(t *testing.T) {
			second.Call(t, "DELETE", path, nil).OK(t)
			unauthenticated.check(t, second.Call(t, "GET", "/organization", nil))
			c.Call(t, "DELETE", path, nil).OK(t)
			if now := record(t, list(t, c, "/apiKeys"), made["id"]); now["isActive"] != false || now["name"] != "web shop" {
				t.Errorf("the key is %v", now)
			}
		})
		t.Run("there is a limit, and revoked keys do not count", func(t *testing.T) {
			made := ""
			for active := 2; active < 100; active++ { // the first one, and the one that was sent twice
				made = id(t, c, "/apiKeys", `{"name":"many"}`)
			}
			invalid.check(t, c.Call(t, "POST", "/apiKeys", `{"name":"one more"}`), "100", "revoke")
			c.Call(t, "DELETE", "/apiKeys/"+made, nil).OK(t)
			c.Must(t, "POST", "/apiKeys", `{"name":"one more"}`)
		})
	})
}

// A new secret signs webhooks together with the previous one, and is returned once.
func TestWebhookSecretContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Acme")
		secrets := func() []string {
			all, err := p.Organizations.WebhookSecrets(t.Context(), c.Organization.ID)
			if err != nil {
				t.Fatal(err)
			}
			return wire.Each(all, func(s []byte) string { return fmt.Sprintf("%x", s) })
		}
		before := secrets()
		made := c.Must(t, "POST", "/organization/webhookSecret", nil)
		if len(made) != 1 || !slices.Equal(secrets(), append([]string{fmt.Sprint(made["webhookSecret"])}, before...)) {
			t.Errorf("made %v, now %v", made, secrets())
		}
		once := c.Call(t, "POST", "/organization/webhookSecret", nil, "Idempotency-Key", "rotate").OK(t)
		again := c.Call(t, "POST", "/organization/webhookSecret", nil, "Idempotency-Key", "rotate").OK(t)
		if string(once.Body) != string(again.Body) || fmt.Sprint(once.Object(t)["webhookSecret"]) != secrets()[0] {
			t.Errorf("first %s, then %s", once.Body, again.Body)
		}
	})
}

// repeatsSecret checks that a repeated request returns the same key again, and that
// the stored response does not contain it in clear.
func repeatsSecret(t *testing.T, p *apptest.Platform, c *apptest.Client, path, body string) {
	t.Helper()
	const key = "twice"
	once := c.Call(t, "POST", path, body, "Idempotency-Key", key).OK(t)
	again := c.Call(t, "POST", path, body, "Idempotency-Key", key).OK(t)
	if string(once.Body) != string(again.Body) || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("first %s, then %s", once.Body, again.Body)
	}
	var kept lastmile.Receipt
	err := p.Store.Read(t.Context(), func(tx *sqlstore.Tx) (err error) {
		kept, err = tx.Receipt(t.Context(), lastmile.Receipt{Organization: c.Organization.ID, Key: key, Method: "POST", Path: "/api/v2" + path})
		return err
	})
	if err != nil || strings.Contains(string(kept.Reply), "dray_") {
		t.Errorf("kept %q: %v", kept.Reply, err)
	}
}
