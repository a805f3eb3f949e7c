package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"dray/internal/app/apptest"
)

func TestTeamContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, stranger := newFleet(t, p, "Acme"), newFleet(t, p, "Zenith")
		one, two := c.worker(t, "+12125550101"), c.worker(t, "+12125550102")
		ann := id(t, c.Client, "/admins", `{"name":"Ann","email":"ann@acme.example"}`)
		bob := id(t, c.Client, "/admins", `{"name":"Bob","email":"bob@acme.example"}`)
		hub := id(t, c.Client, "/hubs", `{"name":"Depot","address":{"city":"X","country":"Y"},"location":[1,2]}`)

		t.Run("a team without workers has nothing else, and no tasks in the response that creates it", func(t *testing.T) {
			for name, body := range map[string]string{
				"Empty": `{"name":"Empty","workers":[],"managers":[]}`,
				"Nulls": `{"name":"Nulls","workers":null,"managers":null,"hub":null,"enableSelfAssignment":null,"metadata":null}`,
			} {
				made := c.Must(t, "POST", "/teams", body)
				const fields = `"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","workers":[],"managers":[],"hub":null,"enableSelfAssignment":false,"metadata":[]`
				matches(t, made, `{`+fields+`,"name":"`+name+`"}`)
				matches(t, c.Must(t, "GET", "/teams/"+fmt.Sprint(made["id"]), nil), `{`+fields+`,"name":"`+name+`","tasks":[]}`)
			}
		})
		t.Run("every field is accepted, and members are listed once", func(t *testing.T) {
			made := c.Must(t, "POST", "/teams", `{"name":"Full","workers":["`+two+`","`+one+`","`+two+`"],"managers":["`+bob+`","`+ann+`","`+bob+`"],
				"hub":"`+hub+`","enableSelfAssignment":true,"metadata":[{"name":"n","type":"number","value":1}]}`)
			want := `"id":"` + fmt.Sprint(made["id"]) + `","timeCreated":"<now>","timeLastModified":"<now>","name":"Full","workers":["` + two + `","` + one + `"],
				"managers":["` + bob + `","` + ann + `"],"hub":"` + hub + `","enableSelfAssignment":true,
				"metadata":[{"name":"n","type":"number","value":1,"visibility":["api"]}]`
			matches(t, made, `{`+want+`}`)
			matches(t, c.Must(t, "GET", "/teams/"+fmt.Sprint(made["id"]), nil), `{`+want+`,"tasks":[]}`)
			matches(t, record(t, list(t, c.Client, "/teams"), made["id"]), `{`+want+`,"tasks":[]}`)
			matches(t, c.Must(t, "GET", "/workers/"+one, nil)["teams"], `["`+c.north+`","`+fmt.Sprint(made["id"])+`"]`)
			matches(t, record(t, list(t, c.Client, "/admins"), ann)["teams"], `["`+fmt.Sprint(made["id"])+`"]`)
			matches(t, record(t, list(t, c.Client, "/hubs"), hub)["teams"], `["`+fmt.Sprint(made["id"])+`"]`)
		})
		t.Run("an invalid team is rejected", func(t *testing.T) {
			before := len(list(t, c.Client, "/teams"))
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                       {``, malformed, []string{"name"}},
				"no name":                       {`{"workers":[],"managers":[]}`, malformed, []string{"name"}},
				"a blank name":                  {`{"name":" ","workers":[],"managers":[]}`, malformed, []string{"name"}},
				"a long name":                   {`{"name":"` + strings.Repeat("x", 1001) + `","workers":[],"managers":[]}`, invalid, []string{"name", "1000"}},
				"no workers":                    {`{"name":"T","managers":[]}`, malformed, []string{"workers"}},
				"no managers":                   {`{"name":"T","workers":[]}`, malformed, []string{"managers"}},
				"workers as a text":             {`{"name":"T","workers":"` + one + `","managers":[]}`, malformed, []string{"workers", "array"}},
				"a manager as a number":         {`{"name":"T","workers":[],"managers":[1]}`, malformed, []string{"managers[0]", "string"}},
				"an unknown worker":             {`{"name":"T","workers":["` + one + `","` + unknownID + `"],"managers":[]}`, invalid, []string{"Invalid managers or workers for team"}},
				"a malformed worker":            {`{"name":"T","workers":["short"],"managers":[]}`, invalid, []string{"Invalid managers or workers for team"}},
				"an unknown manager":            {`{"name":"T","workers":[],"managers":["` + unknownID + `"]}`, invalid, []string{"Invalid managers or workers for team"}},
				"a worker for a manager":        {`{"name":"T","workers":[],"managers":["` + one + `"]}`, invalid, []string{"Invalid managers or workers for team"}},
				"an unknown hub":                {`{"name":"T","workers":[],"managers":[],"hub":"` + unknownID + `"}`, notFound, []string{"hub", unknownID}},
				"an empty hub":                  {`{"name":"T","workers":[],"managers":[],"hub":""}`, malformed, []string{"hub", "null"}},
				"null among the workers":        {`{"name":"T","workers":[null],"managers":[]}`, malformed, []string{"workers[0]", "string"}},
				"null among the managers":       {`{"name":"T","workers":[],"managers":[null]}`, malformed, []string{"managers[0]", "string"}},
				"a hub as an object":            {`{"name":"T","workers":[],"managers":[],"hub":{"id":"` + hub + `"}}`, malformed, []string{"hub", "string"}},
				"a text for a boolean":          {`{"name":"T","workers":[],"managers":[],"enableSelfAssignment":"true"}`, malformed, []string{"enableSelfAssignment", "boolean"}},
				"a name that is in use":         {`{"name":"North","workers":[],"managers":[]}`, notUnique, []string{"name", "North"}},
				"another organization's worker": {`{"name":"T","workers":["` + stranger.worker(t, "+12125550101") + `"],"managers":[]}`, outsideScope, nil},
			} {
				t.Run(name, func(t *testing.T) { tt.want.check(t, c.Call(t, "POST", "/teams", tt.body), tt.words...) })
			}
			if after := len(list(t, c.Client, "/teams")); after != before {
				t.Errorf("there were %d teams and are %d", before, after)
			}
		})
		t.Run("a name is one team's of the organization, compared exactly", func(t *testing.T) {
			c.Must(t, "POST", "/teams", `{"name":"north","workers":[],"managers":[]}`)
			notUnique.check(t, c.Call(t, "PUT", "/teams/"+c.south, `{"name":"North"}`), "North")
			matches(t, c.Must(t, "PUT", "/teams/"+c.north, `{"name":"North"}`)["name"], `"North"`)
			var group sync.WaitGroup
			replies := make([]apptest.Response, 16)
			for i := range replies {
				group.Go(func() {
					replies[i] = send(t, c.Client, "POST", "/teams", `{"name":"Raced","workers":[],"managers":[]}`)
				})
			}
			group.Wait()
			done := 0
			for _, a := range replies {
				if a.Status == 200 {
					done++
				} else {
					notUnique.check(t, a, "Raced")
				}
			}
			if done != 1 {
				t.Errorf("%d teams of one name", done)
			}
		})
		t.Run("teams are listed oldest first, those of the organization only", func(t *testing.T) {
			all := ids(list(t, c.Client, "/teams"))
			last := id(t, c.Client, "/teams", `{"name":"Last","workers":[],"managers":[]}`)
			if got := ids(list(t, c.Client, "/teams")); !slices.Equal(got, append(all, last)) || got[0] != c.north {
				t.Errorf("listed %v", got)
			}
			matches(t, list(t, p.Organization(t, "None"), "/teams"), `[]`)
			for _, team := range list(t, c.Client, "/teams") {
				matches(t, c.Must(t, "GET", "/teams/"+fmt.Sprint(team["id"]), nil), string(encode(t, team)))
			}
		})
		t.Run("an update changes only what was sent", func(t *testing.T) {
			made := id(t, c.Client, "/teams", `{"name":"Changing","workers":["`+one+`"],"managers":["`+ann+`"],"hub":"`+hub+`","metadata":[{"name":"n","type":"number","value":1}]}`)
			path := "/teams/" + made
			for _, step := range []struct{ name, body, field, want string }{
				{"nothing", ``, "name", `"Changing"`},
				{"null", `null`, "name", `"Changing"`},
				{"nulls that leave as it is", `{"name":null,"workers":null,"managers":null,"enableSelfAssignment":null,"metadata":null}`, "workers", `["` + one + `"]`},
				{"what only the platform changes", `{"tasks":["x"],"id":"x","timeCreated":1}`, "tasks", `[]`},
				{"an empty name, which one client sends for none", `{"name":""}`, "name", `"Changing"`},
				{"the name", `{"name":"Changed"}`, "name", `"Changed"`},
				{"other workers", `{"workers":["` + two + `","` + one + `"]}`, "workers", `["` + two + `","` + one + `"]`},
				{"no workers", `{"workers":[]}`, "workers", `[]`},
				{"other managers", `{"managers":["` + bob + `"]}`, "managers", `["` + bob + `"]`},
				{"no managers", `{"managers":[]}`, "managers", `[]`},
				{"no hub", `{"hub":null}`, "hub", `null`},
				{"a hub", `{"hub":"` + hub + `"}`, "hub", `"` + hub + `"`},
				{"self-assignment", `{"enableSelfAssignment":true}`, "enableSelfAssignment", `true`},
				{"the metadata", `{"metadata":[]}`, "metadata", `[]`},
			} {
				before := c.Must(t, "GET", path, nil)
				updated := send(t, c.Client, "PUT", path, step.body).OK(t).Object(t)
				for _, fault := range faults(t, updated[step.field], step.want) {
					t.Errorf("%s: %s", step.name, fault)
				}
				changed(t, step.name, before, updated, step.field)
				matches(t, c.Must(t, "GET", path, nil), string(encode(t, updated)))
			}
			before := string(encode(t, c.Must(t, "GET", path, nil)))
			for body, want := range map[string]struct {
				rejection
				word string
			}{
				`{"name":" "}`: {malformed, "name"},
				`{"name":"X","workers":["` + unknownID + `"]}`: {invalid, "workers"},
				`{"name":"X","managers":["short"]}`:            {invalid, "managers"},
				`{"name":"X","hub":"` + unknownID + `"}`:       {notFound, "hub"},
				`{"name":"X","hub":""}`:                        {malformed, "hub"},
				`{"name":"X","enableSelfAssignment":1}`:        {malformed, "enableSelfAssignment"},
				`{"name":"X","workers":{}}`:                    {malformed, "workers"},
			} {
				want.check(t, c.Call(t, "PUT", path, body), want.word)
			}
			matches(t, c.Must(t, "GET", path, nil), before)
		})
		t.Run("a deleted team is gone, and its workers stay", func(t *testing.T) {
			lone := c.worker(t, "+12125550103")
			made := id(t, c.Client, "/teams", `{"name":"Going","workers":["`+one+`","`+lone+`"],"managers":["`+ann+`"],"hub":"`+hub+`"}`)
			c.Must(t, "PUT", "/workers/"+lone, `{"teams":["`+made+`"]}`)
			if a := c.Call(t, "DELETE", "/teams/"+made, nil).OK(t); len(a.Body) > 0 {
				t.Errorf("responded with %q", a.Body)
			}
			notFound.check(t, c.Call(t, "GET", "/teams/"+made, nil), made)
			notFound.check(t, c.Call(t, "PUT", "/teams/"+made, `{}`), made)
			notFound.check(t, c.Call(t, "DELETE", "/teams/"+made, nil), made)
			for _, path := range []string{"/teams", "/workers", "/admins", "/hubs"} {
				if strings.Contains(string(c.Call(t, "GET", path, nil).OK(t).Body), made) {
					t.Errorf("%s still names the team", path)
				}
			}
			matches(t, c.Must(t, "GET", "/workers/"+lone, nil)["teams"], `[]`)
			matches(t, c.Must(t, "PUT", "/workers/"+lone, `{"name":"Still here"}`)["name"], `"Still here"`)
			c.Must(t, "POST", "/teams", `{"name":"Going","workers":["`+lone+`"],"managers":[]}`)
		})
		t.Run("metadata", func(t *testing.T) {
			testMetadata(t, p, metadataOwner{"/teams", func(_ *apptest.Client, n int, metadata string) string {
				return fmt.Sprintf(`{"name":"T %d","workers":[],"managers":[],"metadata":%s}`, n, metadata)
			}, true})
		})
	})
}
