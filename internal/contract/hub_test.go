package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

func init() {
	register("POST /hubs", [2]string{`{"name":"A","address":{"city":"X","country":"Y"},"location":[1,2]}`, `{"name":"B","address":{"city":"X","country":"Y"},"location":[1,2]}`})
}

func TestHubContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, stranger := newFleet(t, p, "Acme"), newFleet(t, p, "Zenith")
		const address = `{"number":"","street":"","apartment":"","city":"X","state":"","postalCode":"","country":"Y"}`

		t.Run("a hub with only a name and a location has no phone and no teams", func(t *testing.T) {
			matches(t, list(t, c.Client, "/hubs"), `[]`)
			for _, body := range []string{
				`{"name":"Depot","address":{"city":"X","country":"Y"},"location":[1,2]}`,
				`{"name":"Depot","address":{"city":"X","country":"Y"},"location":[1,2],"phone":null,"teams":null}`,
			} {
				matches(t, c.Must(t, "POST", "/hubs", body), `{"id":"<id>","name":"Depot","location":[1,2],"address":`+address+`,"teams":[]}`)
			}
		})
		t.Run("every field is accepted", func(t *testing.T) {
			made := c.Must(t, "POST", "/hubs", `{"name":"Full","phone":"(212) 555-0142","location":[-74.0036,40.7129],"teams":["`+c.north+`","`+c.south+`","`+c.north+`"],
				"address":{"name":"City Hall","number":"1","street":"Centre Street","apartment":"B","city":"New York","state":"New York","postalCode":"10007","country":"United States"}}`)
			matches(t, made, `{"id":"<id>","name":"Full","phone":"+12125550142","location":[-74.0036,40.7129],"teams":["`+c.north+`","`+c.south+`"],
				"address":{"name":"City Hall","number":"1","street":"Centre Street","apartment":"B","city":"New York","state":"New York","postalCode":"10007","country":"United States"}}`)
			matches(t, record(t, list(t, c.Client, "/hubs"), made["id"]), string(encode(t, made)))
			matches(t, c.Must(t, "GET", "/teams/"+c.north, nil)["hub"], text(fmt.Sprint(made["id"])))
		})
		t.Run("an invalid hub is rejected", func(t *testing.T) {
			before := string(encode(t, list(t, c.Client, "/hubs")))
			const place = `"address":{"city":"X","country":"Y"},"location":[1,2]`
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                  {``, malformed, []string{"name"}},
				"no name":                  {`{` + place + `}`, malformed, []string{"name"}},
				"a blank name":             {`{"name":" ",` + place + `}`, malformed, []string{"name"}},
				"a long name":              {`{"name":"` + strings.Repeat("x", 1001) + `",` + place + `}`, invalid, []string{"name", "1000"}},
				"no address":               {`{"name":"H"}`, malformed, []string{"address"}},
				"a location alone":         {`{"name":"H","location":[1,2]}`, malformed, []string{"address"}},
				"no city":                  {`{"name":"H","address":{"country":"Y"},"location":[1,2]}`, malformed, []string{"address.city"}},
				"no number to look up":     {`{"name":"H","address":{"street":"S","city":"X","country":"Y"}}`, malformed, []string{"address.number"}},
				"a line and a location":    {`{"name":"H","address":{"unparsed":"S"},"location":[1,2]}`, invalid, []string{"address.unparsed"}},
				"an address to look up":    {`{"name":"H","address":{"number":"1","street":"S","city":"X","country":"Y"}}`, invalid, []string{"geocode"}},
				"a location of texts":      {`{"name":"H","address":{"city":"X","country":"Y"},"location":["1","west"]}`, malformed, []string{"location"}},
				"not a phone number":       {`{"name":"H",` + place + `,"phone":"12"}`, invalid, []string{"phone", "12"}},
				"teams as a text":          {`{"name":"H",` + place + `,"teams":"` + c.north + `"}`, malformed, []string{"teams", "array"}},
				"an unknown team":          {`{"name":"H",` + place + `,"teams":["` + c.north + `","` + unknownID + `"]}`, notFound, []string{"team", unknownID}},
				"an empty team":            {`{"name":"H",` + place + `,"teams":["` + c.north + `",""]}`, malformed, []string{"teams[1]", "empty"}},
				"another's team":           {`{"name":"H",` + place + `,"teams":["` + c.north + `","` + stranger.north + `"]}`, outsideScope, []string{stranger.north}},
				"an address as a text":     {`{"name":"H","address":"X","location":[1,2]}`, malformed, []string{"address", "object"}},
				"a latitude off the earth": {`{"name":"H","address":{"city":"X","country":"Y"},"location":[1,91]}`, invalid, []string{"location", "latitude"}},
			} {
				t.Run(name, func(t *testing.T) { tt.want.check(t, c.Call(t, "POST", "/hubs", tt.body), tt.words...) })
			}
			matches(t, list(t, c.Client, "/hubs"), before)
		})
		t.Run("hubs are listed oldest first, those of the organization only", func(t *testing.T) {
			id(t, stranger.Client, "/hubs", `{"name":"Theirs","address":{"city":"X","country":"Y"},"location":[1,2]}`)
			all := ids(list(t, c.Client, "/hubs"))
			last := id(t, c.Client, "/hubs", `{"name":"Last","address":{"city":"X","country":"Y"},"location":[1,2]}`)
			if got := ids(list(t, c.Client, "/hubs")); !slices.Equal(got, append(all, last)) {
				t.Errorf("listed %v, want %v and %s", got, all, last)
			}
		})
		t.Run("an update changes only what was sent", func(t *testing.T) {
			made := id(t, c.Client, "/hubs", `{"name":"Changing","address":{"city":"X","country":"Y"},"location":[1,2],"phone":"+12125550142","teams":["`+c.north+`"]}`)
			path := "/hubs/" + made
			for _, step := range []struct {
				name, body string
				want       map[string]string
			}{
				{"nothing", ``, map[string]string{"name": `"Changing"`}},
				{"null", `null`, map[string]string{"name": `"Changing"`}},
				{"nulls", `{"name":null,"address":null,"location":null,"phone":null,"teams":null}`, map[string]string{"phone": `"+12125550142"`}},
				{"an empty name, which one client sends for none", `{"name":""}`, map[string]string{"name": `"Changing"`}},
				{"the name", `{"name":"Changed"}`, map[string]string{"name": `"Changed"`}},
				{"the phone", `{"phone":"+442071838750"}`, map[string]string{"phone": `"+442071838750"`}},
				{"no phone any more", `{"phone":""}`, map[string]string{"phone": `null`}},
				{"a phone again", `{"phone":"+442071838750"}`, map[string]string{"phone": `"+442071838750"`}},
				{"the place", `{"address":{"city":"Z","country":"Y"},"location":[3,4]}`, map[string]string{"location": `[3,4]`, "address": strings.Replace(address, `"X"`, `"Z"`, 1)}},
				{"the teams", `{"teams":["` + c.south + `"]}`, map[string]string{"teams": `["` + c.south + `"]`}},
				{"no teams", `{"teams":[]}`, map[string]string{"teams": `[]`}},
			} {
				before := record(t, list(t, c.Client, "/hubs"), made)
				updated := send(t, c.Client, "PUT", path, step.body).OK(t).Object(t)
				var fields []string
				for field, want := range step.want {
					fields = append(fields, field)
					matches(t, updated[field], want)
				}
				changed(t, step.name, before, updated, fields...)
				matches(t, record(t, list(t, c.Client, "/hubs"), made), string(encode(t, updated)))
			}
			before := string(encode(t, list(t, c.Client, "/hubs")))
			for body, want := range map[string]struct {
				rejection
				word string
			}{
				`{"name":" "}`: {malformed, "name"},
				`{"name":"X","teams":["` + unknownID + `"]}`:                      {notFound, "team"},
				`{"name":"X","phone":"x"}`:                                        {invalid, "phone"},
				`{"name":"X","location":[1,2]}`:                                   {malformed, "address"},
				`{"name":"X","address":{"city":"X"},"location":[1,2]}`:            {malformed, "address.country"},
				`{"name":"X","address":{"city":"X","country":"Y"},"teams":["x"]}`: {malformed, "address.number"},
			} {
				want.check(t, c.Call(t, "PUT", path, body), want.word)
			}
			matches(t, list(t, c.Client, "/hubs"), before)
		})
		t.Run("a team has one hub at a time", func(t *testing.T) {
			const place = `"address":{"city":"X","country":"Y"},"location":[1,2]`
			first := id(t, c.Client, "/hubs", `{"name":"First",`+place+`,"teams":["`+c.north+`"]}`)
			second := id(t, c.Client, "/hubs", `{"name":"Second",`+place+`,"teams":["`+c.north+`"]}`)
			hubs := list(t, c.Client, "/hubs")
			matches(t, record(t, hubs, first)["teams"], `[]`)
			matches(t, record(t, hubs, second)["teams"], `["`+c.north+`"]`)
			matches(t, c.Must(t, "GET", "/teams/"+c.north, nil)["hub"], text(second))
			c.Must(t, "PUT", "/teams/"+c.north, `{"hub":"`+first+`"}`)
			matches(t, record(t, list(t, c.Client, "/hubs"), first)["teams"], `["`+c.north+`"]`)
		})
		t.Run("a hub is never read alone or deleted", func(t *testing.T) {
			made := id(t, c.Client, "/hubs", `{"name":"Stays","address":{"city":"X","country":"Y"},"location":[1,2]}`)
			wrongMethod.check(t, c.Call(t, "GET", "/hubs/"+made, nil))
			wrongMethod.check(t, c.Call(t, "DELETE", "/hubs/"+made, nil))
			record(t, list(t, c.Client, "/hubs"), made)
		})
	})
}
