package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

func init() {
	register("POST /clients", [2]string{`{"name":"A"}`, `{"name":"B"}`})
	register("GET /clients/{id}", [2]string{}, idPlace{field: "{id}", kind: "client", missing: notFound})
	register("PUT /clients/{id}", [2]string{}, idPlace{field: "{id}", kind: "client", body: `{"name":"Changed"}`, missing: notFound})
	register("DELETE /clients/{id}", [2]string{}, idPlace{field: "{id}", kind: "client", missing: notFound})
	register("PUT /clients/invitations/{id}", [2]string{}, idPlace{field: "{id}", kind: "invitation", body: `{"showClientName":false}`, missing: notFound})
	register("POST /clients/invitations/{id}/accept", [2]string{``, `{}`}, idPlace{field: "{id}", kind: "invitation", missing: notFound})
	register("DELETE /clients/invitations/{id}", [2]string{}, idPlace{field: "{id}", kind: "invitation", missing: notFound})
}

// keyed returns an API client that uses the key of a new client.
func keyed(p *apptest.Platform, made map[string]any) *apptest.Client {
	return &apptest.Client{Platform: p, Key: fmt.Sprint(made["apiKey"])}
}

func TestClientContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		courier, other, shop := p.Organization(t, "Courier"), p.Organization(t, "Other"), p.Organization(t, "Shop")
		own := string(courier.Organization.ID)

		t.Run("a client is opened with a key that works", func(t *testing.T) {
			made := courier.Must(t, "POST", "/clients", `{"name":"Kitchen","email":"kitchen@example.com","timezone":"Europe/Copenhagen","country":"dk"}`)
			matches(t, made, `{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","name":"Kitchen","organization":`+text(fmt.Sprint(made["organization"]))+`,
				"status":"active","showClientName":true,"apiKey":`+text(fmt.Sprint(made["apiKey"]))+`}`)
			kitchen := keyed(p, made)
			matches(t, kitchen.Must(t, "GET", "/organization", nil), `{"id":`+text(fmt.Sprint(made["organization"]))+`,"timeCreated":"<now>","timeLastModified":"<now>","name":"Kitchen",
				"email":"kitchen@example.com","driverSupportEmail":"","image":null,"timezone":"Europe/Copenhagen","country":"DK","delegatees":["`+own+`"]}`)
			delete(made, "apiKey")
			for _, path := range []string{"/clients/" + fmt.Sprint(made["id"]), "/clients/" + fmt.Sprint(made["organization"])} {
				matches(t, courier.Must(t, "GET", path, nil), string(encode(t, made)))
			}
			matches(t, list(t, courier, "/clients"), `[`+string(encode(t, made))+`]`)
			matches(t, list(t, kitchen, "/clients/invitations"), `[{"id":`+text(fmt.Sprint(made["id"]))+`,"timeCreated":"<now>","timeLastModified":"<now>",
				"courier":"`+own+`","courierName":"Courier","status":"active","showClientName":true}]`)
			forbidden.check(t, kitchen.Call(t, "POST", "/clients", `{"name":"Nested"}`), "organization")
			outsideScope.check(t, kitchen.Call(t, "GET", "/clients/"+fmt.Sprint(made["id"]), nil))
		})
		t.Run("a repeated request returns the same key, which is not stored in clear", func(t *testing.T) { repeatsSecret(t, p, courier, "/clients", `{"name":"Twice"}`) })
		t.Run("an existing organization becomes a client when it accepts", func(t *testing.T) {
			made := courier.Must(t, "POST", "/clients", `{"organization":"`+string(shop.Organization.ID)+`","showClientName":false}`)
			matches(t, made, `{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","name":null,"organization":"`+string(shop.Organization.ID)+`","status":"pending","showClientName":false}`)
			path := "/clients/invitations/" + fmt.Sprint(made["id"])
			outsideScope.check(t, courier.Call(t, "GET", "/organizations/"+string(shop.Organization.ID), nil))
			for _, c := range []*apptest.Client{courier, other} {
				outsideScope.check(t, c.Call(t, "POST", path+"/accept", nil))
			}
			duplicate.check(t, courier.Call(t, "POST", "/clients", `{"organization":"`+string(shop.Organization.ID)+`"}`))
			shop.Must(t, "PUT", path, `{"showClientName":true}`)
			matches(t, shop.Must(t, "POST", path+"/accept", nil), `{"id":`+text(fmt.Sprint(made["id"]))+`,"timeCreated":"<now>","timeLastModified":"<now>",
				"courier":"`+own+`","courierName":"Courier","status":"active","showClientName":true}`)
			matches(t, courier.Must(t, "GET", "/clients/"+fmt.Sprint(made["id"]), nil), `{"id":`+text(fmt.Sprint(made["id"]))+`,"timeCreated":"<now>","timeLastModified":"<now>",
				"name":"Shop","organization":"`+string(shop.Organization.ID)+`","status":"active","showClientName":true}`)
			matches(t, shop.Must(t, "GET", "/organization", nil)["delegatees"], `["`+own+`"]`)
			matches(t, courier.Must(t, "PUT", "/clients/"+fmt.Sprint(made["id"]), `{"name":"The Shop"}`)["name"], `"The Shop"`)
			courier.Call(t, "DELETE", "/clients/"+fmt.Sprint(made["id"]), nil).OK(t)
			notFound.check(t, courier.Call(t, "GET", "/clients/"+fmt.Sprint(made["id"]), nil))
			matches(t, shop.Must(t, "GET", "/organization", nil)["delegatees"], `[]`)
			matches(t, list(t, shop, "/clients/invitations"), `[]`)
			outsideScope.check(t, shop.Call(t, "GET", "/organizations/"+own, nil))
		})
		t.Run("an invitation can be declined", func(t *testing.T) {
			made := other.Must(t, "POST", "/clients", `{"organization":"`+string(shop.Organization.ID)+`","name":"Wished"}`)
			path := "/clients/invitations/" + fmt.Sprint(made["id"])
			shop.Call(t, "DELETE", path, nil).OK(t)
			notFound.check(t, shop.Call(t, "POST", path+"/accept", nil))
			matches(t, list(t, other, "/clients"), `[]`)
		})
		t.Run("an invalid client is rejected", func(t *testing.T) {
			before := string(encode(t, list(t, courier, "/clients")))
			for name, tt := range map[string]struct {
				body  string
				want  rejection
				words []string
			}{
				"no body":                  {``, malformed, []string{"name"}},
				"no name":                  {`{}`, malformed, []string{"name"}},
				"a long name":              {`{"name":"` + strings.Repeat("x", 1001) + `"}`, invalid, []string{"name", "1000"}},
				"an unknown country":       {`{"name":"X","country":"XX"}`, invalid, []string{"country", "XX"}},
				"an unknown time zone":     {`{"name":"X","timezone":"Mars"}`, invalid, []string{"timezone", "Mars"}},
				"not an e-mail address":    {`{"name":"X","email":"nobody"}`, invalid, []string{"email"}},
				"an e-mail address in use": {`{"name":"X","email":"kitchen@example.com"}`, duplicate, nil},
				"an unknown organization":  {`{"organization":"` + unknownID + `"}`, notFound, []string{unknownID}},
				"itself":                   {`{"organization":"` + own + `"}`, invalid, []string{"another"}},
				"an empty organization":    {`{"organization":"","name":"X"}`, invalid, []string{"organization"}},
				"a blank name":             {`{"organization":"` + string(other.Organization.ID) + `","name":" "}`, malformed, []string{"name"}},
				"a name that is a number":  {`{"name":7}`, malformed, []string{"name"}},
			} {
				t.Run(name, func(t *testing.T) { tt.want.check(t, courier.Call(t, "POST", "/clients", tt.body), tt.words...) })
			}
			matches(t, list(t, courier, "/clients"), before)
		})
	})
}
