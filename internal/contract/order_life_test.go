package contract_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	orders "dray/internal/order"
	"dray/internal/ordering"
	"dray/internal/store/sqlorder"
	"dray/internal/store/sqlstore"
)

func TestOrderLifeContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		t.Run("a short id is used once", func(t *testing.T) { testOrderShortID(t, p) })
		t.Run("a courier that orders for a client names its own recipients", func(t *testing.T) { testOrderOnBehalf(t, p) })
		t.Run("the key is revoked while its requests run", func(t *testing.T) { testOrderKeyRevoked(t, p) })
		t.Run("a service is deleted while quotes of it are ordered", func(t *testing.T) { testServiceDeletedMeanwhile(t, p) })
	})
}

// quotesOf requests quotes of all services of the client's couriers.
func (m trade) quotesOf(t testing.TB) []map[string]any {
	t.Helper()
	ready := m.shop.Platform.Now().Add(time.Hour).UnixMilli()
	return m.shop.Call(t, "POST", "/deliveryServices/quote", fmt.Sprintf(`{"readyBy":%d,"quantity":1,"weight":{"value":1,"units":"kg"},
		"pickup":{"city":"X","country":"US","location":[-73.98,40.75]},"dropoff":{"city":"X","country":"US","location":[-73.98,40.70]}}`, ready)).OK(t).List(t)
}

// queue returns the ids of the tasks that the courier has not assigned.
func (m trade) queue(t testing.TB) []any {
	t.Helper()
	return m.courier.Must(t, "GET", "/containers/organizations/"+of(m.courier), nil)["tasks"].([]any)
}

func testOrderShortID(t *testing.T, p *apptest.Platform) {
	m, other := newTrade(t, p, "Short"), newTrade(t, p, "Same Short")
	taken := fmt.Sprint(m.placed(t, "")["shortId"])
	before := string(m.courier.Call(t, "GET", "/taskOrders/"+taken, nil).OK(t).Body)
	for name, shop := range map[string]trade{"of the same client": m, "of another client": other} {
		next := []string{taken, taken, fmt.Sprintf("%08x", len(name))}
		repeating := *p.Orders
		repeating.NewShortID = func() string {
			id := next[0]
			next = next[1:]
			return id
		}
		pickup, dropoff := apptest.Draft(lastmile.Point{Lon: -73.98, Lat: 40.75}), apptest.Draft(lastmile.Point{Lon: -73.98, Lat: 40.7})
		who := lastmile.Principal{Organization: shop.shop.Organization.ID, Key: "key"}
		made, err := repeating.Create(t.Context(), who, ordering.Draft{Pickup: &pickup, Dropoff: &dropoff})
		if err != nil || made.ShortID == taken || made.PickupTask.OrderShortID != made.ShortID || made.DropoffTask.OrderShortID != made.ShortID {
			t.Fatalf("%s: the order is %s, its tasks are of %s and %s: %v", name, made.ShortID, made.PickupTask.OrderShortID, made.DropoffTask.OrderShortID, err)
		}
		matches(t, shop.courier.Must(t, "GET", "/taskOrders/"+made.ShortID, nil)["id"], text(string(made.ID)))
	}
	if after := string(m.courier.Call(t, "GET", "/taskOrders/"+taken, nil).OK(t).Body); after != before {
		t.Errorf("the first order was\n%s\nand is\n%s", before, after)
	}
	if all, others := m.queue(t), other.queue(t); len(all) != 4 || len(others) != 2 {
		t.Errorf("the couriers have %d and %d tasks, want 4 and 2", len(all), len(others))
	}
}

// testOrderOnBehalf: a courier that orders for a client neither sees nor changes what the
// client keeps about a recipient.
func testOrderOnBehalf(t *testing.T, p *apptest.Platform) {
	m := newTrade(t, p, "Behalf")
	known := m.shop.Must(t, "POST", "/recipients", `{"name":"Mary","phone":"+12125550142","notes":"gate 1234","skipSMSNotifications":true,"metadata":[{"name":"vip","type":"boolean","value":true}]}`)
	id := fmt.Sprint(known["id"])
	where := fmt.Sprint(m.shop.Must(t, "POST", "/destinations", inline)["id"])
	stranger := p.Organization(t, "Third")
	body := func(recipients string) string {
		return `{"client":"` + m.clientID + `","pickupTask":{` + pickupPlace + `},"dropoffTask":{` + dropoffPlace + `,"recipients":[` + recipients + `]}}`
	}
	recipientOf := func(order map[string]any) map[string]any {
		return part(order, "dropoffTask", "recipients").([]any)[0].(map[string]any)
	}
	unchanged := func() {
		t.Helper()
		for _, path := range []string{"/recipients/" + id, "/recipients/phone/+12125550142", "/recipients/name/mary"} {
			matches(t, m.shop.Must(t, "GET", path, nil), string(encode(t, known)))
		}
	}
	var made map[string]any
	for i, number := range []string{"+12125550142", "+12125550142", "+12125550143"} { // known, again, and unknown
		made = m.courier.Must(t, "POST", "/taskOrders", body(`{"name":"Mary","phone":"`+number+`","notes":"probe"}`))
		got := recipientOf(made)
		matches(t, []any{got["name"], got["phone"], got["notes"], got["skipSMSNotifications"], got["metadata"], got["organization"]},
			`["Mary","`+number+`","probe",false,[],"`+of(m.shop)+`"]`)
		if got["id"] == id {
			t.Errorf("order %d shows the client's recipient: %v", i, got)
		}
		matches(t, m.shop.Must(t, "GET", "/recipients/"+fmt.Sprint(got["id"]), nil), string(encode(t, got)))
		unchanged()
	}
	notFound.check(t, m.shop.Call(t, "GET", "/recipients/phone/+12125550143", nil))

	outsideScope.check(t, m.courier.Call(t, "POST", "/taskOrders", body(`"`+id+`"`)), id)
	notFound.check(t, m.courier.Call(t, "POST", "/taskOrders", body(`"`+unknownID+`"`)))
	invalid.check(t, m.courier.Call(t, "POST", "/taskOrders", body(`{"name":"X","phone":"+12125550144","metadata":[{"name":"vip","type":"boolean","value":true}]}`)), "dropoffTask.recipients[0].metadata", "client")
	outsideScope.check(t, m.courier.Call(t, "POST", "/taskOrders", `{"client":"`+m.clientID+`","pickupTask":{"destination":"`+where+`"},"dropoffTask":{`+dropoffPlace+`}}`), where)
	outsideScope.check(t, m.courier.Call(t, "POST", "/taskOrders", `{"client":"`+m.clientID+`","pickupTask":{`+pickupPlace+`,"merchant":"`+of(stranger)+`"},"dropoffTask":{`+dropoffPlace+`}}`))

	// The recipient of the client's own order is shown, and can be sent back.
	ordered := m.placed(t, "")
	path := "/taskOrders/" + fmt.Sprint(ordered["shortId"])
	known = m.shop.Must(t, "GET", "/recipients/"+id, nil)
	shown := recipientOf(m.courier.Must(t, "GET", path, nil))
	matches(t, shown["notes"], `"gate 1234"`)
	for _, recipient := range []string{string(encode(t, shown)), `"` + id + `"`} {
		after := m.courier.Must(t, "PUT", path, `{"pickupTask":{},"dropoffTask":{"recipients":[`+recipient+`]}}`)
		matches(t, recipientOf(after)["id"], text(id))
	}
	// Other recipients of the client are not shown, whether the client knows the number or
	// not.
	m.shop.Must(t, "POST", "/recipients", `{"name":"Zoe","phone":"+12125550145","notes":"gate 5678"}`)
	for _, number := range []string{"+12125550145", "+12125550146"} {
		after := m.courier.Must(t, "PUT", path, `{"pickupTask":{},"dropoffTask":{"recipients":[{"name":"X","phone":"`+number+`"}]}}`)
		matches(t, []any{recipientOf(after)["name"], recipientOf(after)["notes"]}, `["X",""]`)
	}
	outsideScope.check(t, m.courier.Call(t, "PUT", path, `{"pickupTask":{},"dropoffTask":{"recipients":["`+id+`"]}}`), id)
	unchanged()
	// An order by the client itself finds the client's recipient.
	matches(t, recipientOf(m.placed(t, ""))["id"], text(id))
}

// testOrderKeyRevoked: each request with the key is performed completely, or rejected.
func testOrderKeyRevoked(t *testing.T, p *apptest.Platform) {
	m := newTrade(t, p, "Revoked")
	key, record, err := p.APIKeys.Create(t.Context(), m.shop.Organization.ID, "to be revoked")
	if err != nil {
		t.Fatal(err)
	}
	revoked := &apptest.Client{Platform: p, Organization: m.shop.Organization, Key: key}
	var (
		clients sync.WaitGroup
		mu      sync.Mutex
		done    []string // ids of orders
		first   = make(chan struct{}, 4)
	)
	for range 4 {
		clients.Go(func() {
			for {
				a := revoked.Call(t, "POST", "/taskOrders", `{`+bothTasks+`}`)
				if a.Status != http.StatusOK {
					unauthenticated.check(t, a)
					return
				}
				mu.Lock()
				done = append(done, fmt.Sprint(a.Object(t)["id"]))
				mu.Unlock()
				select {
				case first <- struct{}{}:
				default:
				}
			}
		})
	}
	<-first
	if err := p.APIKeys.Revoke(t.Context(), m.shop.Organization.ID, record.ID); err != nil {
		t.Error(err)
	}
	if err := p.Keys.Refresh(t.Context()); err != nil { // as every node does a few times a second
		t.Error(err)
	}
	clients.Wait()
	for _, path := range []string{"/taskOrders/" + done[0], "/deliveryServices", "/clients/invitations"} {
		unauthenticated.check(t, revoked.Call(t, "GET", path, nil))
	}
	if all := m.queue(t); len(all) != 2*len(done) {
		t.Errorf("the courier has %d tasks of %d orders", len(all), len(done))
	}
	for _, id := range done {
		if order := m.shop.Must(t, "GET", "/taskOrders/"+id, nil); part(order, "pickupTask", "orderShortId") != order["shortId"] || part(order, "dropoffTask", "orderShortId") != order["shortId"] {
			t.Errorf("an order is half done: %v", order)
		}
	}
}

// testServiceDeletedMeanwhile: a quote stays valid if its service is deleted. The service
// itself can be ordered until then.
func testServiceDeletedMeanwhile(t *testing.T, p *apptest.Platform) {
	m := newTrade(t, p, "Deleted")
	const rounds = 10
	for range rounds {
		service := id(t, m.courier, "/deliveryServices", `{"displayName":"Express","currency":"USD","rates":[`+flatRate+`]}`)
		quote := fmt.Sprint(m.quotesOf(t)[0]["id"])
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				matches(t, m.placed(t, `,"deliveryServiceId":"`+quote+`"`)["price"], `4`)
			})
		}
		all.Go(func() {
			if a := m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`,"deliveryServiceId":"`+service+`"}`); a.Status != http.StatusOK {
				notFound.check(t, a, service)
			}
		})
		all.Go(func() { m.courier.Call(t, "DELETE", "/deliveryServices/"+service, nil).OK(t) })
		all.Wait()
		matches(t, m.placed(t, `,"deliveryServiceId":"`+quote+`"`)["price"], `4`)
		notFound.check(t, m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`,"deliveryServiceId":"`+service+`"}`))
		if quotes := m.quotesOf(t); len(quotes) != 0 {
			t.Errorf("quotes of a deleted service: %v", quotes)
		}
	}
}

// TestQuotesOfAWeekContract requests quotes for a week. They expire, and the number of
// stored quotes does not grow.
func TestQuotesOfAWeekContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		m := newTrade(t, p, "Week")
		id(t, m.courier, "/deliveryServices", `{"displayName":"Express","currency":"USD","rates":[`+flatRate+`]}`)
		const step, kept = 4 * time.Hour, 24 * time.Hour // the latter is in docs/limits.md
		var quotes []string                              // one for each step, the latest first
		for range int(7 * 24 * time.Hour / step) {
			quotes = slices.Insert(quotes, 0, fmt.Sprint(m.quotesOf(t)[0]["id"]))
			m.placed(t, `,"deliveryServiceId":"`+quotes[0]+`"`)
			p.Advance(step)
			if err := p.PurgeQuotes(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i, quote := range quotes {
				a := m.shop.Call(t, "POST", "/taskOrders", `{`+bothTasks+`,"deliveryServiceId":"`+quote+`"}`)
				if time.Duration(i+1)*step < orders.QuoteLifetime+kept {
					preconditionFailed.check(t, a, "expired")
				} else {
					notFound.check(t, a, quote)
				}
			}
			if stored := countQuotes(t, p, m); stored > int((orders.QuoteLifetime+kept)/step) {
				t.Fatalf("%d quotes are stored", stored)
			}
		}
	})
}

// countQuotes returns the number of stored quotes of a client.
func countQuotes(t testing.TB, p *apptest.Platform, m trade) (n int) {
	t.Helper()
	err := p.Store.Read(t.Context(), func(tx *sqlstore.Tx) (err error) {
		n, err = sqlorder.New(tx.Conn()).CountQuotes(t.Context(), m.shop.Organization.ID, time.Time{}.Add(1), 1_000_000)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
