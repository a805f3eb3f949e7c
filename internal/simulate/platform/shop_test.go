package platform_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/simulate"
)

// shopOptions returns the options of a run with enough errands for an order.
func shopOptions(t *testing.T, p *apptest.Platform, name, prefix string) simulate.Options {
	t.Helper()
	o := options(t, p, name, prefix)
	o.Shop, o.Tasks, o.Offline, o.Open, o.Duration = "Shop of "+name, 6, 0.1, 40, time.Minute
	o.Workers, o.Speed, o.Interval, o.Radius = 1, 20_000, 20*time.Millisecond, 10 // near the shop
	return o
}

func TestShop(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		numbering(t, p)
		for name, test := range map[string]func(*testing.T, *apptest.Platform){
			"orders are carried out and none is lost":      testOrders,
			"an order is placed once if the reply is lost": testLostOrders,
			"the next run has the same client":             testSameShop,
			"workers of others carry out orders":           testBorrowedShop,
			"a client, which has no clients, has no shop":  testNoShop,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, p)
			})
		}
	})
}

// ordered checks that every order is completed, failed or cancelled, and that no promise was broken.
func ordered(t *testing.T, r simulate.Report) {
	t.Helper()
	if r.Breaches != 0 {
		t.Errorf("%d promises were broken: %q", r.Breaches, r.Broken)
	}
	o := r.Orders
	if o.Placed == 0 || o.Completed+o.Failed+o.Cancelled != o.Placed || o.Quotes != 2*o.Placed || r.Open != 0 {
		t.Errorf("the orders are %+v, %d tasks are open", o, r.Open)
	}
}

// requests returns the number of responses of a route.
func requests(r simulate.Report, name string) int {
	for _, route := range r.Routes {
		if route.Name == name {
			return route.Responses
		}
	}
	return 0
}

func testOrders(t *testing.T, p *apptest.Platform) {
	o := shopOptions(t, p, "orders", "+1202555")
	report := run(t, o)
	ordered(t, report)
	if report.Created != o.Tasks+2*report.Orders.Placed {
		t.Errorf("%d tasks with %d orders", report.Created, report.Orders.Placed)
	}
}

// lostOrders drops every other response to the shop after the request was processed.
type lostOrders struct{ requests atomic.Int64 }

func (l *lostOrders) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := http.DefaultTransport.RoundTrip(r)
	toShop := strings.HasPrefix(r.URL.Path, "/api/v2/taskOrders") || strings.HasPrefix(r.URL.Path, "/api/v2/deliveryServices") || r.URL.Path == "/api/v2/clients"
	if err == nil && toShop && l.requests.Add(1)%2 == 1 {
		reply.Body.Close()
		return nil, errors.New("the reply got lost")
	}
	return reply, err
}

func testLostOrders(t *testing.T, p *apptest.Platform) {
	o := shopOptions(t, p, "lostorders", "+1203555")
	o.Transport = &lostOrders{}
	ordered(t, run(t, o))
}

func testSameShop(t *testing.T, p *apptest.Platform) {
	o := shopOptions(t, p, "sameshop", "+1205555")
	o.Tasks = 1
	run(t, o)
	o.Run = "sameshop2"
	report := run(t, o)
	if n := requests(report, "POST /deliveryServices") + requests(report, "PUT /deliveryServices/{id}"); n > 0 {
		t.Errorf("%d services were created or changed again", n)
	}
	courier := apptest.Client{Platform: p, Key: o.Key}
	clients := courier.Call(t, http.MethodGet, "/clients", nil).OK(t).List(t)
	if len(clients) != 1 || clients[0]["name"] != o.Shop {
		t.Fatalf("the clients are %v", clients)
	}
	if services := courier.Call(t, http.MethodGet, "/deliveryServices", nil).OK(t).List(t); len(services) != 2 {
		t.Errorf("the services are %v", services)
	}

	// A client that was deleted is replaced, and the services are offered to the new one.
	id, _ := clients[0]["id"].(string)
	courier.Call(t, http.MethodDelete, "/clients/"+id, nil).OK(t)
	o.Run, o.Tasks = "sameshop3", 6
	ordered(t, run(t, o))
	if services := courier.Call(t, http.MethodGet, "/deliveryServices", nil).OK(t).List(t); len(services) != 2 {
		t.Errorf("the services are %v", services)
	}
}

func testBorrowedShop(t *testing.T, p *apptest.Platform) {
	o := shopOptions(t, p, "borrowed", "+1206555")
	o.Tasks = 1
	run(t, o)
	o.Run, o.Tasks, o.Temporary = "borrowed2", 6, nil
	report := run(t, o)
	ordered(t, report)
	if requests(report, "PUT /containers/workers/{id}") != report.Orders.Placed {
		t.Errorf("%d orders are %+v", requests(report, "PUT /containers/workers/{id}"), report.Orders)
	}
}

func testNoShop(t *testing.T, p *apptest.Platform) {
	o := shopOptions(t, p, "noshop", "+1207555")
	courier := apptest.Client{Platform: p, Key: o.Key}
	o.Key, _ = courier.Must(t, http.MethodPost, "/clients", `{"name":"Nested"}`)["apiKey"].(string)
	o.Tasks = 5
	report := run(t, o)
	if report.Breaches != 0 || report.Completed+report.Failed != o.Tasks || report.Orders != (simulate.Orders{}) {
		t.Errorf("the report is %+v", report)
	}
}
