package contract_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/ordering"
)

// TestOrderListContract lists the orders of a courier and its clients.
func TestOrderListContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		m := newTrade(t, p, "Lists")
		other := p.Organization(t, "Other Shop")
		otherID := id(t, m.courier, "/clients", `{"organization":"`+of(other)+`","name":"Other"}`)
		other.Must(t, "POST", "/clients/invitations/"+otherID+"/accept", nil)
		place := func(c *apptest.Client) string {
			t.Helper()
			p.Advance(time.Millisecond)
			return fmt.Sprint(c.Must(t, "POST", "/taskOrders", `{`+bothTasks+`,"courier":"`+of(m.courier)+`"}`)["id"])
		}
		list := func(c *apptest.Client, query string) (ids []string) {
			t.Helper()
			for after := ""; ; {
				page := c.Must(t, "GET", "/taskOrders?lastId="+after+query, nil)
				for _, o := range page["orders"].([]any) {
					ids = append(ids, fmt.Sprint(part(o.(map[string]any), "id")))
				}
				last, more := page["lastId"]
				if !more { // and never null: published clients loop while it is there
					return ids
				}
				after = last.(string)
			}
		}
		first, theirs, second := place(m.shop), place(other), place(m.shop)
		middle := int64(m.shop.Must(t, "GET", "/taskOrders/"+second, nil)["timeCreated"].(float64))
		m.courier.Must(t, "POST", "/taskOrders/"+second+"/reject", `{"reason":"full"}`)
		for _, test := range []struct {
			name, query string
			by          *apptest.Client
			want        []string
		}{
			{"the courier sees all", "", m.courier, []string{second, theirs, first}},
			{"the courier placed none", "&side=placed", m.courier, nil},
			{"a client sees its own", "", m.shop, []string{second, first}},
			{"a client placed them", "&side=placed", m.shop, []string{second, first}},
			{"a client received none", "&side=received", m.shop, nil},
			{"of one client", "&client=" + otherID, m.courier, []string{theirs}},
			{"of the organization of a client", "&client=" + of(m.shop), m.courier, []string{second, first}},
			{"by status", "&status=rejected,cancelled", m.courier, []string{second}},
			{"by service", "&service=" + unknownID, m.courier, nil},
			{"from", fmt.Sprint("&from=", middle), m.courier, []string{second}},
			{"to", fmt.Sprint("&to=", middle), m.courier, []string{theirs, first}},
		} {
			if got := list(test.by, test.query); !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
			}
		}
		read := m.shop.Must(t, "GET", "/taskOrders/"+second, nil)
		if shown := m.shop.Must(t, "GET", "/taskOrders", nil)["orders"].([]any)[0]; string(encode(t, shown)) != string(encode(t, read)) {
			t.Errorf("the list shows %s, and the order is %s", encode(t, shown), encode(t, read))
		}
		malformed.check(t, m.shop.Call(t, "GET", "/taskOrders?side=mine", nil), "side")
		malformed.check(t, m.shop.Call(t, "GET", "/taskOrders?status=late", nil), "status must be one of unassigned, assigned, ")
		malformed.check(t, m.shop.Call(t, "GET", "/taskOrders?from=x", nil), "from")
		invalid.check(t, m.shop.Call(t, "GET", "/taskOrders?from=2&to=1", nil), "from")
		outsideScope.check(t, m.shop.Call(t, "GET", "/taskOrders?lastId="+theirs, nil))
		notFound.check(t, m.shop.Call(t, "GET", "/taskOrders?lastId="+unknownID, nil))
		standard, _ := m.courier.Admin(t, `{"name":"Standard","email":"standard@lists.example","type":"standard"}`)
		forbidden.check(t, standard.Call(t, "GET", "/api/v2/taskOrders", nil))

		want := list(m.courier, "")
		for range ordering.OrderPage {
			want = append([]string{place(m.shop)}, want...)
		}
		if got := list(m.courier, ""); !slices.Equal(got, want) {
			t.Errorf("pages have %d orders, want %d", len(got), len(want))
		}
		if got := list(m.courier, "&status=rejected"); !slices.Equal(got, []string{second}) {
			t.Errorf("on the second page, %v is found", got)
		}
	}, quick)
}
