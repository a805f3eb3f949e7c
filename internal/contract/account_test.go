package contract_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/store"
)

func init() {
	register("POST /admins/{id}/invitation", [2]string{`{}`, `{"x":1}`}, idPlace{field: "{id}", kind: "admin", body: `{}`, missing: notFound})
	register("POST /admins/{id}/reset", [2]string{`{}`, `{"removeSecondFactor":true}`}, idPlace{field: "{id}", kind: "admin", body: `{}`, missing: notFound})
	register("DELETE /admins/{id}/sessions", [2]string{}, idPlace{field: "{id}", kind: "admin", missing: notFound})
}

const setupBody = `{"organization":{"name":"Acme","country":"US","timezone":"America/New_York"},
	"name":"Ada Lovelace","email":" Ada@Acme.example ","password":"correct horse","language":"de","token":"`

// setUp opens the link that the terminal shows and creates the first organization.
func setUp(t *testing.T, p *apptest.Platform) *apptest.Browser {
	t.Helper()
	link, err := p.Links.SetupLink(t.Context())
	if err != nil || !strings.HasPrefix(link, p.Config.URL()+"/dashboard/#/link/") {
		t.Fatalf("the link is %q: %v", link, err)
	}
	b := p.Browser(t)
	b.Call(t, "POST", "/account/v1/setup", setupBody+apptest.TokenOf(link)+`"}`).OK(t)
	return b
}

func TestSetupContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		b := p.Browser(t)
		matches(t, b.Call(t, "GET", "/account/v1/state", nil).OK(t).Object(t),
			`{"needsSetup":true,"signedIn":false,"mail":false,"version":"`+app.Version+`","demo":false}`)
		first, err := p.Links.SetupLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		other, err := p.Links.SetupLink(t.Context()) // of another node, or the next start
		if err != nil {
			t.Fatal(err)
		}
		token := apptest.TokenOf(first)
		matches(t, b.Call(t, "POST", "/account/v1/link", `{"token":"`+token+`"}`).OK(t).Object(t),
			`{"kind":"setup","name":null,"email":null,"organization":null,"secondFactor":false}`)

		p.Advance(400 * 24 * time.Hour) // it does not expire
		me := b.Call(t, "POST", "/account/v1/setup", setupBody+token+`"}`).OK(t).Object(t)
		matches(t, me, `{"id":"<id>","name":"Ada Lovelace","email":"ada@acme.example","phone":null,"type":"super","isReadOnly":false,"isAccountOwner":true,
			"teams":[],"language":"de","secondFactor":false,"hasPassword":true,"isInstallationOwner":true,
			"organization":{"id":"<id>","name":"Acme","timezone":"America/New_York","country":"US","image":null}}`)
		matches(t, b.Call(t, "GET", "/account/v1/me", nil).OK(t).Object(t), string(encode(t, me)))
		for _, used := range []string{first, other} {
			notFound.check(t, p.Browser(t).Call(t, "POST", "/account/v1/setup", setupBody+apptest.TokenOf(used)+`"}`), "link")
			notFound.check(t, p.Browser(t).Call(t, "POST", "/account/v1/link", `{"token":"`+apptest.TokenOf(used)+`"}`), "link")
		}
		if link, err := p.Links.SetupLink(t.Context()); link != "" || err != nil {
			t.Errorf("there is another link: %q %v", link, err)
		}
		state := b.Call(t, "GET", "/account/v1/state", nil).OK(t).Object(t)
		if state["needsSetup"] != false || state["signedIn"] != true {
			t.Errorf("the state is %v", state)
		}
		// The session works for the public API.
		if org := b.Call(t, "GET", "/api/v2/organization", nil).OK(t).Object(t); org["name"] != "Acme" {
			t.Errorf("the organization is %v", org)
		}
		if made := b.Call(t, "POST", "/api/v2/teams", `{"name":"North","workers":[],"managers":[]}`).OK(t).Object(t); made["name"] != "North" {
			t.Errorf("the team is %v", made)
		}
		b.Call(t, "POST", "/account/v1/sign-out", nil)
		if b.Cookie(t, "dray-session") != "" || b.Call(t, "GET", "/api/v2/organization", nil).Status != http.StatusUnauthorized {
			t.Error("the session goes on after the sign-out")
		}
		b.Call(t, "POST", "/account/v1/sign-in", `{"email":"ADA@acme.example","password":"correct horse"}`).OK(t)
		b.Call(t, "GET", "/api/v2/organization", nil).OK(t)
	})
}

// TestInvitedOwner invites an administrator to own the installation, who owns it after
// accepting. If the invitation fails, the administrator is not created either, so that it
// can be tried again.
func TestInvitedOwner(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Acme")
		failure := errors.New("the disk is full")
		create := func(email string, fails error) error {
			draft := access.AdminDraft{Change: lastmile.AdminChange{Name: new("Ada"), Email: &email}}
			draft.Created = func(ctx context.Context, tx store.Transaction, admin lastmile.Admin) error {
				return cmp.Or(p.Links.InviteOwner(ctx, tx, admin), fails)
			}
			_, err := p.Admins.Create(t.Context(), lastmile.Principal{Organization: c.Organization.ID}, draft)
			return err
		}
		signIn := func(email string) *apptest.Browser {
			_, link, err := p.Links.ForOperator(t.Context(), email, identity.SignIn, false)
			if err != nil {
				t.Fatal(err)
			}
			b := p.Browser(t)
			b.Call(t, "POST", "/account/v1/link/accept", `{"token":"`+apptest.TokenOf(link.Link)+`"}`).OK(t)
			return b
		}
		if err := create("ada@acme.example", failure); !errors.Is(err, failure) {
			t.Errorf("the error is %v", err)
		}
		if err := create("ada@acme.example", nil); err != nil {
			t.Fatal(err)
		}
		owns := func(b *apptest.Browser) any {
			return b.Call(t, "GET", "/account/v1/me", nil).OK(t).Object(t)["isInstallationOwner"]
		}
		ada := signIn("ada@acme.example")
		if owns(ada) != true {
			t.Error("the administrator who accepted does not own the installation")
		}
		if err := create("grace@acme.example", nil); err != nil {
			t.Fatal(err)
		}
		if owns(ada) != true {
			t.Error("an invitation took the installation from its owner before it was accepted")
		}
		if grace := signIn("grace@acme.example"); owns(grace) != true || owns(ada) != false {
			t.Error("the second administrator who accepted does not own the installation alone")
		}
		signIn("ada@acme.example")
		if owns(ada) != false {
			t.Error("the first owner took the installation back by using another link")
		}
	})
}
