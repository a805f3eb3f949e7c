package contract_test

import (
	"regexp"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestOrganizationContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		acme, zenith := p.Organization(t, "Acme Courier"), p.Organization(t, "Zenith canary")
		made, err := p.Organizations.Create(t.Context(), lastmile.OrganizationDraft{
			Name: "Full Ltd", Email: "Owner@Full.example", DriverSupportEmail: "help@full.example", Country: "dk", Timezone: "Europe/Copenhagen",
		})
		if err != nil {
			t.Fatal(err)
		}
		full := &apptest.Client{Platform: p, Organization: made.Organization, Key: made.APIKey}

		t.Run("GET /auth/test greets the organization by its id", func(t *testing.T) {
			message, _ := acme.Must(t, "GET", "/auth/test", nil)["message"].(string)
			// This is how a published client takes the id out of the message.
			if got := regexp.MustCompile(`[A-Za-z0-9]{24}`).FindString(message); got != string(acme.Organization.ID) {
				t.Errorf("the first id in %q is %q, want %q", message, got, acme.Organization.ID)
			}
			matches(t, acme.Must(t, "GET", "/auth/test", nil), `{"message":`+text(message)+`}`)
		})
		t.Run("GET /organization shows the organization of the key", func(t *testing.T) {
			matches(t, acme.Must(t, "GET", "/organization", nil), `{
				"id":"`+string(acme.Organization.ID)+`","timeCreated":"<now>","timeLastModified":"<now>","name":"Acme Courier",
				"email":"","driverSupportEmail":"","image":null,"timezone":"America/New_York","country":"US","delegatees":[]}`)
			matches(t, full.Must(t, "GET", "/organization", nil), `{
				"id":"`+string(full.Organization.ID)+`","timeCreated":"<now>","timeLastModified":"<now>","name":"Full Ltd",
				"email":"Owner@Full.example","driverSupportEmail":"help@full.example","image":null,
				"timezone":"Europe/Copenhagen","country":"DK","delegatees":[]}`)
		})
		t.Run("an organization with an e-mail address has an account owner", func(t *testing.T) {
			owners := list(t, full, "/admins")
			if len(owners) != 1 {
				t.Fatalf("it has %d administrators: %v", len(owners), owners)
			}
			matches(t, owners[0], `{
				"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","organization":"`+string(full.Organization.ID)+`",
				"email":"owner@full.example","type":"super","name":"Full Ltd","isActive":false,"isReadOnly":false,
				"isAccountOwner":true,"teams":[],"metadata":[]}`)
			invalid.check(t, full.Call(t, "DELETE", "/admins/"+ids(owners)[0], nil), "owner")
			for _, body := range []string{`{"type":"standard"}`, `{"isReadOnly":true}`} {
				invalid.check(t, full.Call(t, "PUT", "/admins/"+ids(owners)[0], body), "owner", "type", "isReadOnly")
			}
			if after := list(t, full, "/admins"); len(after) != 1 || after[0]["type"] != "super" || after[0]["isReadOnly"] != false {
				t.Errorf("the owner is gone, or has fewer rights: %v", after)
			}
		})
		t.Run("GET /organizations/{id} shows the own organization as others see it", func(t *testing.T) {
			matches(t, full.Must(t, "GET", "/organizations/"+string(full.Organization.ID), nil), `{
				"id":"`+string(full.Organization.ID)+`","name":"Full Ltd","email":"Owner@Full.example",
				"driverSupportEmail":"help@full.example","timezone":"Europe/Copenhagen","country":"DK","isFulfillment":false}`)
		})
		t.Run("an organization that is not connected is outside the scope, until it is", func(t *testing.T) {
			path := "/organizations/" + string(zenith.Organization.ID)
			outsideScope.check(t, acme.Call(t, "GET", path, nil), string(zenith.Organization.ID))
			if err := p.Clients.Connect(t.Context(), acme.Organization.ID, zenith.Organization.ID); err != nil {
				t.Fatal(err)
			}
			matches(t, acme.Must(t, "GET", path, nil), `{
				"id":"`+string(zenith.Organization.ID)+`","name":"Zenith canary","email":"","driverSupportEmail":"",
				"timezone":"America/New_York","country":"US","isFulfillment":false}`)
			matches(t, acme.Must(t, "GET", "/organization", nil)["delegatees"], `["`+string(zenith.Organization.ID)+`"]`)
			matches(t, zenith.Must(t, "GET", "/organization", nil)["delegatees"], `["`+string(acme.Organization.ID)+`"]`)
			outsideScope.check(t, full.Call(t, "GET", path, nil), string(zenith.Organization.ID))
		})
		t.Run("an organization that does not exist is not found", func(t *testing.T) {
			for _, none := range append(malformedIDs, unknownID) {
				notFound.check(t, acme.Call(t, "GET", "/organizations/"+none, nil))
			}
		})
	})
}
