package ordering_test

import (
	"strings"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store"
)

func TestMain(m *testing.M) { apptest.Main(m) }

func expectCode(t *testing.T, err error, want lastmile.Code) {
	t.Helper()
	if apptest.Code(err) != want {
		t.Errorf("the error is %v, want one of code %v", err, want)
	}
}

func named(name string) app.ClientDraft {
	return app.ClientDraft{New: lastmile.OrganizationDraft{Name: name}}
}

func invites(o *apptest.Org) app.ClientDraft {
	return app.ClientDraft{Organization: o.Principal.Organization}
}

// connected reports whether two organizations are connected, in both directions.
func connected(t *testing.T, one, other *apptest.Org) bool {
	t.Helper()
	_, there := one.Organizations.Delegatee(t.Context(), one.Principal, other.Principal.Organization)
	_, back := other.Organizations.Delegatee(t.Context(), other.Principal, one.Principal.Organization)
	if (there == nil) != (back == nil) {
		t.Errorf("one direction is connected: %v, %v", there, back)
	}
	return there == nil
}

func TestClientIsOpenedWithItsOwnKey(t *testing.T) {
	o := apptest.NewOrg(t)
	made, err := o.Clients.Create(t.Context(), o.Principal, named("Shop"))
	if err != nil || made.Status != store.ClientActive || !made.ShowName || made.Name != "Shop" {
		t.Fatalf("the client is %+v: %v", made, err)
	}
	who, err := o.Keys.Authenticate(t.Context(), made.APIKey)
	if err != nil || who.Organization != made.Organization {
		t.Fatalf("the key is of %+v: %v", who, err)
	}
	shop, err := o.Organizations.Own(t.Context(), who)
	if err != nil || shop.Country != "US" || shop.Timezone != "America/New_York" || shop.Name != "Shop" {
		t.Errorf("the organization is %+v: %v", shop, err)
	}
	if !connected(t, o, &apptest.Org{Platform: o.Platform, Principal: who}) {
		t.Error("they are not connected")
	}
	_, err = o.Clients.Create(t.Context(), who, named("Another"))
	expectCode(t, err, lastmile.CodeForbidden)
	for _, draft := range []lastmile.OrganizationDraft{
		{Name: "X", Country: "XX"}, {Name: "X", Timezone: "Mars/Olympus"}, {Name: strings.Repeat("x", 1001)}, {Name: "X", Email: "nobody"},
	} {
		_, err := o.Clients.Create(t.Context(), o.Principal, app.ClientDraft{New: draft})
		expectCode(t, err, lastmile.CodeInvalid)
	}
	if all, err := o.Clients.List(t.Context(), o.Principal); err != nil || len(all) != 1 {
		t.Errorf("the clients are %+v: %v", all, err)
	}
}

func TestExistingOrganizationHasToAccept(t *testing.T) {
	o, shop, stranger := apptest.NewOrg(t), apptest.NewOrg(t), apptest.NewOrg(t)
	made, err := o.Clients.Create(t.Context(), o.Principal, invites(shop))
	if err != nil || made.Status != store.ClientPending || made.Name != "" || made.APIKey != "" || connected(t, o, shop) {
		t.Fatalf("the client is %+v: %v", made, err)
	}
	_, err = o.Clients.Create(t.Context(), o.Principal, invites(shop))
	expectCode(t, err, lastmile.CodeDuplicate)
	_, err = o.Clients.Create(t.Context(), o.Principal, invites(o))
	expectCode(t, err, lastmile.CodeInvalid)
	for _, who := range []lastmile.Principal{o.Principal, stranger.Principal} {
		_, err = o.Clients.Accept(t.Context(), who, string(made.ID))
		expectCode(t, err, lastmile.CodeOutsideScope)
	}
	for range 2 { // accepting again changes nothing
		accepted, err := o.Clients.Accept(t.Context(), shop.Principal, string(made.ID))
		if err != nil || accepted.Status != store.ClientActive || accepted.CourierName != "Acme" || accepted.Name != "Acme" || !connected(t, o, shop) {
			t.Fatalf("the client is %+v: %v", accepted, err)
		}
	}
	if err := o.Clients.Leave(t.Context(), shop.Principal, string(made.ID)); err != nil || connected(t, o, shop) {
		t.Errorf("leaving: %v", err)
	}
	_, err = o.Clients.Read(t.Context(), o.Principal, string(made.ID))
	expectCode(t, err, lastmile.CodeNotFound)
	_, err = o.Clients.Accept(t.Context(), shop.Principal, string(made.ID))
	expectCode(t, err, lastmile.CodeNotFound)
	again, err := o.Clients.Create(t.Context(), o.Principal, invites(shop))
	if err != nil || again.ID != made.ID || again.Status != store.ClientPending {
		t.Errorf("invited again it is %+v: %v", again, err)
	}
}

func TestConnectionOfOrganizationsThatDeliverForEachOtherEndsWithTheLast(t *testing.T) {
	one, other := apptest.NewOrg(t), apptest.NewOrg(t)
	first, err := one.Clients.Link(t.Context(), one.Principal.Organization, invites(other))
	if err != nil || first.Status != store.ClientActive {
		t.Fatalf("the client is %+v: %v", first, err)
	}
	second, err := one.Clients.Create(t.Context(), other.Principal, invites(one)) // connected: it need not accept
	if err != nil || second.Status != store.ClientActive {
		t.Fatalf("the client is %+v: %v", second, err)
	}
	if err := one.Clients.Delete(t.Context(), one.Principal, string(other.Principal.Organization)); err != nil || !connected(t, one, other) {
		t.Errorf("deleting the first: %v", err)
	}
	if err := one.Clients.Delete(t.Context(), other.Principal, string(second.ID)); err != nil || connected(t, one, other) {
		t.Errorf("deleting the second: %v", err)
	}
}
