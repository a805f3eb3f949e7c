package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

func TestAdminContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, stranger := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		org := string(c.Organization.ID)
		smallest := func(id, email string) string {
			return `{"id":"` + id + `","timeCreated":"<now>","timeLastModified":"<now>","organization":"` + org + `",
				"email":"` + email + `","type":"standard","name":"Ann","isActive":false,"isReadOnly":false,
				"isAccountOwner":false,"teams":[],"metadata":[]}`
		}

		t.Run("an administrator with only a name and an e-mail address is standard, inactive and has no phone", func(t *testing.T) {
			made := c.Must(t, "POST", "/admins", `{"name":"Ann","email":"ann@acme.example"}`)
			matches(t, made, smallest("<id>", "ann@acme.example"))
			matches(t, c.Must(t, "POST", "/admins", `{"name":"Ann","email":"nulls@acme.example","phone":null,"type":null,"isReadOnly":null,"metadata":null}`),
				smallest("<id>", "nulls@acme.example"))
		})
		t.Run("every field is accepted", func(t *testing.T) {
			made := c.Must(t, "POST", "/admins", `{"name":"Bob","email":" Bob@ACME.example ","phone":"(212) 555-0142","type":"super",
				"isReadOnly":true,"metadata":[{"name":"n","type":"number","value":1}]}`)
			matches(t, made, `{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","organization":"`+org+`",
				"email":"bob@acme.example","type":"super","name":"Bob","phone":"+12125550142","isActive":false,"isReadOnly":true,
				"isAccountOwner":false,"teams":[],"metadata":[{"name":"n","type":"number","value":1,"visibility":["api"]}]}`)
		})
		t.Run("a request cannot make an administrator active or the owner of the account", func(t *testing.T) {
			made := send(t, c, "POST", "/admins", `{"name":"Eve","email":"eve@acme.example","isActive":true,"isAccountOwner":true,"organization":"x","id":"x"}`).OK(t).Object(t)
			if made["isActive"] != false || made["isAccountOwner"] != false || made["organization"] != org || made["id"] == "x" {
				t.Errorf("a request made itself %v", made)
			}
		})
		t.Run("an invalid administrator is rejected", func(t *testing.T) {
			before := len(list(t, c, "/admins"))
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                {``, malformed, []string{"name"}},
				"no name":                {`{"email":"x@acme.example"}`, malformed, []string{"name"}},
				"a null name":            {`{"name":null,"email":"x@acme.example"}`, malformed, []string{"name"}},
				"a blank name":           {`{"name":" \t","email":"x@acme.example"}`, malformed, []string{"name"}},
				"a long name":            {`{"name":"` + strings.Repeat("é", 1001) + `","email":"x@acme.example"}`, invalid, []string{"name", "1000"}},
				"a number for a name":    {`{"name":7,"email":"x@acme.example"}`, malformed, []string{"name", "string"}},
				"no e-mail address":      {`{"name":"X"}`, malformed, []string{"email"}},
				"a blank e-mail address": {`{"name":"X","email":" "}`, malformed, []string{"email"}},
				"not an e-mail address":  {`{"name":"X","email":"ada"}`, invalid, []string{"email", "ada"}},
				"two e-mail addresses":   {`{"name":"X","email":"a@x.example,b@x.example"}`, invalid, []string{"email"}},
				"a long e-mail address":  {`{"name":"X","email":"` + strings.Repeat("x", 250) + `@acme.example"}`, invalid, []string{"email"}},
				"not a phone number":     {`{"name":"X","email":"x@acme.example","phone":"12"}`, invalid, []string{"phone", "12"}},
				"a number for a phone":   {`{"name":"X","email":"x@acme.example","phone":2125550142}`, malformed, []string{"phone"}},
				"an unknown type":        {`{"name":"X","email":"x@acme.example","type":"owner"}`, invalid, []string{"type", "super", "standard"}},
				"a text for a boolean":   {`{"name":"X","email":"x@acme.example","isReadOnly":"yes"}`, malformed, []string{"isReadOnly", "boolean"}},
			} {
				t.Run(name, func(t *testing.T) { tt.want.check(t, c.Call(t, "POST", "/admins", tt.body), tt.words...) })
			}
			if after := len(list(t, c, "/admins")); after != before {
				t.Errorf("there were %d administrators and are %d", before, after)
			}
		})
		t.Run("an e-mail address belongs to one administrator of the whole installation", func(t *testing.T) {
			c.Must(t, "POST", "/admins", `{"name":"One","email":"one@acme.example"}`)
			two := id(t, c, "/admins", `{"name":"Two","email":"two@acme.example"}`)
			want := `{"type":"duplicateKey","key":"email","value":"one@acme.example"}`
			matches(t, duplicate.check(t, c.Call(t, "POST", "/admins", `{"name":"Three","email":"ONE@acme.example"}`), "email"), want)
			matches(t, duplicate.check(t, stranger.Call(t, "POST", "/admins", `{"name":"Three","email":"one@acme.example"}`), "email"), want)
			matches(t, duplicate.check(t, c.Call(t, "PUT", "/admins/"+two, `{"email":"one@acme.example"}`), "email"), want)
			matches(t, c.Must(t, "PUT", "/admins/"+two, `{"email":"TWO@acme.example"}`)["email"], `"two@acme.example"`)
		})
		t.Run("administrators are listed oldest first, those of the organization only", func(t *testing.T) {
			stranger.Must(t, "POST", "/admins", `{"name":"Theirs","email":"theirs@zenith.example"}`)
			all := list(t, c, "/admins")
			last := id(t, c, "/admins", `{"name":"Last","email":"last@acme.example"}`)
			if got, want := ids(list(t, c, "/admins")), append(ids(all), last); !slices.Equal(got, want) {
				t.Errorf("listed %v, want %v", got, want)
			}
			for _, admin := range all {
				if admin["organization"] != org {
					t.Errorf("listed %v", admin)
				}
			}
			matches(t, p.Organization(t, "Empty").Call(t, "GET", "/admins", nil).OK(t).List(t), `[]`)
		})
		t.Run("an update changes only what was sent", func(t *testing.T) {
			made := c.Must(t, "POST", "/admins", `{"name":"Ann","email":"update@acme.example","phone":"+12125550142","metadata":[{"name":"n","type":"number","value":1}]}`)
			path := "/admins/" + fmt.Sprint(made["id"])
			for _, step := range []struct {
				name, body, field, want string
			}{
				{"nothing", ``, "name", `"Ann"`},
				{"null", `null`, "name", `"Ann"`},
				{"nulls", `{"name":null,"email":null,"phone":null,"type":null,"isReadOnly":null,"metadata":null}`, "phone", `"+12125550142"`},
				{"the name", `{"name":"Zoë"}`, "name", `"Zoë"`},
				{"the e-mail address", `{"email":"Other@acme.example"}`, "email", `"other@acme.example"`},
				{"the phone", `{"phone":"+442071838750"}`, "phone", `"+442071838750"`},
				{"the type", `{"type":"super"}`, "type", `"super"`},
				{"read only", `{"isReadOnly":true}`, "isReadOnly", `true`},
				{"the metadata", `{"metadata":[]}`, "metadata", `[]`},
			} {
				before := list(t, c, "/admins")
				updated := send(t, c, "PUT", path, step.body).OK(t).Object(t)
				matches(t, updated[step.field], step.want)
				changed(t, step.name, record(t, before, made["id"]), updated, step.field)
				matches(t, record(t, list(t, c, "/admins"), made["id"]), string(encode(t, updated)))
			}
			if _, there := send(t, c, "PUT", path, `{"phone":""}`).OK(t).Object(t)["phone"]; there {
				t.Error("an empty phone number does not remove the phone")
			}
		})
		t.Run("an update that breaks a rule changes nothing", func(t *testing.T) {
			path := "/admins/" + id(t, c, "/admins", `{"name":"Ann","email":"steady@acme.example"}`)
			before := string(encode(t, list(t, c, "/admins")))
			for body, want := range map[string]struct {
				rejection
				word string
			}{
				`{"name":""}`:                     {malformed, "name"},
				`{"name":"X","email":""}`:         {malformed, "email"},
				`{"name":"X","email":"x"}`:        {invalid, "email"},
				`{"name":"X","phone":"x"}`:        {invalid, "phone"},
				`{"name":"X","type":"x"}`:         {invalid, "type"},
				`{"name":"X","isReadOnly":1}`:     {malformed, "isReadOnly"},
				`{"name":"X","metadata":["x"]}`:   {malformed, "metadata[0]"},
				`["name"]`:                        {malformed, "object"},
				`{"name":"X","email":"x","type"`:  {invalid, "JSON"},
				`{"name":"X","name":"Y"}`:         {invalid, "name"},
				`{"name":"X","type":{"a":"b"}}`:   {malformed, "type"},
				`{"name":"X","email":["x@y.zz"]}`: {malformed, "email"},
			} {
				want.check(t, c.Call(t, "PUT", path, body), want.word)
			}
			matches(t, list(t, c, "/admins"), before)
		})
		t.Run("a deleted administrator is gone, also from the teams managed", func(t *testing.T) {
			admin := id(t, c, "/admins", `{"name":"Ann","email":"goes@acme.example"}`)
			team := c.Must(t, "POST", "/teams", `{"name":"Managed","workers":[],"managers":["`+admin+`"]}`)
			matches(t, record(t, list(t, c, "/admins"), admin)["teams"], `["`+fmt.Sprint(team["id"])+`"]`)
			if a := c.Call(t, "DELETE", "/admins/"+admin, nil).OK(t); len(a.Body) > 0 {
				t.Errorf("responded with %q", a.Body)
			}
			notFound.check(t, c.Call(t, "DELETE", "/admins/"+admin, nil), admin)
			notFound.check(t, c.Call(t, "PUT", "/admins/"+admin, `{}`), admin)
			if slices.Contains(ids(list(t, c, "/admins")), admin) {
				t.Error("it is listed")
			}
			matches(t, c.Must(t, "GET", "/teams/"+fmt.Sprint(team["id"]), nil)["managers"], `[]`)
			c.Must(t, "POST", "/admins", `{"name":"Ann","email":"goes@acme.example"}`)
		})
		t.Run("metadata", func(t *testing.T) {
			testMetadata(t, p, metadataOwner{"/admins", func(_ *apptest.Client, n int, metadata string) string {
				return fmt.Sprintf(`{"name":"Ann","email":"metadata%d@acme.example","metadata":%s}`, n, metadata)
			}, true})
		})
	})
}
