package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// Parameters of the shop.
const (
	orderEach    = 4    // errands for each order
	chanceCancel = 0.15 // probability of cancelling an order that may not be started yet
	shopErrand   = 1 << 41
	shopCurrency = "USD"
	shopDecimals = 100
)

// shopServices are the delivery services that the courier offers to the shop alone.
func shopServices(shop string) []map[string]any {
	return []map[string]any{
		{
			"displayName": shop + " Express", "currency": shopCurrency, "dueIn": 60,
			"rates": []map[string]any{
				{"name": "Base", "ratingType": "flat", "isBaseRate": true, "amount": 4.5},
				{"name": "Distance", "ratingType": "distance", "amount": 1.35, "free": 0.5, "tiers": []map[string]any{{"upTo": 1, "amount": 1.8}}},
				{"name": "Evening", "ratingType": "surcharge", "amount": 12.5, "unit": "percent", "when": map[string]any{"from": "18:00", "to": "06:00"}},
			},
		},
		{
			"displayName": shop + " Same Day", "currency": shopCurrency, "dueIn": 240,
			"rates": []map[string]any{
				{"name": "Pieces", "ratingType": "quantity", "isBaseRate": true, "amount": 0.85},
				{"name": "Weight", "ratingType": "weight", "amount": 0.33, "free": 2},
				{"name": "Time", "ratingType": "duration", "amount": 0.12},
				{"name": "Least", "ratingType": "minimum", "amount": 4},
			},
		},
	}
}

// shop is a client of the courier, with what the server acknowledged to it. Only the
// desk uses it.
type shop struct {
	key      string
	posts    int
	services int
	tries    uint64
	quotes   int
	placed   []*placement
	pending  []*placement // to be cancelled
}

// placement is an order that the server acknowledged.
type placement struct {
	shownOrder
	quote     shownQuote
	cancelAt  time.Time // zero if the shop keeps it
	cancelled bool
	rejected  error // why it could not be cancelled
}

// entry is a part of a price.
type entry struct {
	Name       string  `json:"name"`
	RatingType string  `json:"ratingType"`
	IsBaseRate bool    `json:"isBaseRate"`
	Cost       float64 `json:"cost"`
}

// shownQuote is a quote of the API.
type shownQuote struct {
	ID        string  `json:"id"`
	Service   string  `json:"deliveryService"`
	Cost      float64 `json:"estimatedCost"`
	Breakdown []entry `json:"estimatedCostBreakdown"`
	Currency  string  `json:"currency"`
}

// shownOrder is an order of the API.
type shownOrder struct {
	ID        string    `json:"id"`
	ShortID   string    `json:"shortId"`
	Status    string    `json:"status"`
	Service   string    `json:"deliveryService"`
	Price     float64   `json:"price"`
	Breakdown []entry   `json:"priceBreakdown"`
	Currency  string    `json:"currency"`
	Pickup    shownTask `json:"pickupTask"`
	Dropoff   shownTask `json:"dropoffTask"`
	Events    []struct {
		Name   string `json:"name"`
		TaskID string `json:"taskId"`
		Status string `json:"status"`
	} `json:"events"`
}

// tasks returns the ids of both tasks.
func (o shownOrder) tasks() []string { return []string{o.Pickup.ID, o.Dropoff.ID} }

// shopAPI sends a request of the shop.
func (s *simulation) shopAPI(ctx context.Context, key, name, method, path string, body, response any) error {
	r := request{name: name, method: method, path: "/api/v2" + path, key: key, body: body, response: response}
	if method == http.MethodPost {
		s.shop.posts++
		r.once = fmt.Sprintf("%s-shop-%d", s.run, s.shop.posts)
	}
	return s.client.send(ctx, r)
}

// openShop finds or opens the client, and the services it is offered. An organization
// that cannot have clients has no shop.
func (s *simulation) openShop(ctx context.Context) error {
	s.shop = &shop{}
	client, err := s.openClient(ctx)
	if err == nil {
		err = s.offerServices(ctx, client)
	}
	if rejected(err) {
		s.options.Log.Warn("there is no client that orders deliveries", "error", err)
		s.shop = nil
		return nil
	}
	return err
}

var errNoClient = errors.New("the key is not that of a client")

// openClient returns the id of the client whose key is known, or else of a new one.
// While the server keeps the receipt of a request, the same request creates no second client.
func (s *simulation) openClient(ctx context.Context) (string, error) {
	id, err := s.findClient(ctx, s.options.ShopKey)
	for _, once := range []string{"simulated-shop", s.run + "-shop"} {
		if !errors.Is(err, errNoClient) {
			break
		}
		var made struct {
			APIKey string `json:"apiKey"`
		}
		err = s.client.send(ctx, request{
			name: "POST /clients", method: http.MethodPost, path: "/api/v2/clients", key: s.options.Key, once: once,
			body: map[string]any{"name": s.options.Shop}, response: &made,
		})
		if err == nil {
			id, err = s.findClient(ctx, made.APIKey)
		}
	}
	return id, err
}

// findClient returns the id of the client that a key belongs to, and saves the key for the
// requests of the shop.
func (s *simulation) findClient(ctx context.Context, key string) (string, error) {
	if key == "" {
		return "", errNoClient
	}
	var own struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}
	err := s.shopAPI(ctx, key, "GET /organization", http.MethodGet, "/organization", nil, &own)
	if err == nil {
		err = s.api(ctx, "GET /clients/{id}", http.MethodGet, "/clients/"+own.ID, nil, &own)
	}
	if rejected(err) || err == nil && own.Status != "active" {
		return "", errNoClient
	}
	s.shop.key = key
	return own.ID, err
}

// offerServices creates missing services and offers them to the client.
func (s *simulation) offerServices(ctx context.Context, client string) error {
	var known []struct {
		ID      string   `json:"id"`
		Name    string   `json:"displayName"`
		Clients []string `json:"clients"`
	}
	if err := s.api(ctx, "GET /deliveryServices", http.MethodGet, "/deliveryServices", nil, &known); err != nil {
		return err
	}
	for _, service := range shopServices(s.options.Shop) {
		service["clients"] = []string{client}
		name, method, path := "POST /deliveryServices", http.MethodPost, "/deliveryServices"
		offered := false
		for _, k := range known {
			if k.Name == service["displayName"] {
				name, method, path = "PUT /deliveryServices/{id}", http.MethodPut, "/deliveryServices/"+k.ID
				offered = slices.Contains(k.Clients, client)
			}
		}
		s.shop.services++
		if offered {
			continue
		}
		if err := s.api(ctx, name, method, path, service, nil); err != nil {
			return err
		}
	}
	return nil
}

// delivery is what the shop orders.
type delivery struct {
	pickup, dropoff stop
	ready, due      time.Duration // relative to the order
	weight          float64       // kg
	keep            time.Duration // until the order is cancelled; 0 if it is not
	random          *rand.Rand    // for the choice of a quote
}

// delivery returns the delivery with a number, from the shop's door to one near it.
func (p plan) delivery(number uint64) delivery {
	random := p.random(chanceShop, number)
	at := p.errand(shopErrand).stops[0]
	d := delivery{
		pickup:  stop{door: at.door, pickup: true, service: 1 + random.IntN(3), notes: "At the counter."},
		dropoff: p.stop(random, at.door.at),
		ready:   time.Duration(2+random.IntN(9)) * time.Minute, weight: float64(2+random.IntN(60)) / 4, random: random,
	}
	d.pickup.door.address.Apartment, d.pickup.quantity = "", d.dropoff.quantity
	d.dropoff.after, d.dropoff.until = 0, 0 // the window of the quote applies
	d.due = d.ready + time.Duration(45+random.IntN(60))*time.Minute
	if random.Float64() < chanceCancel {
		d.keep = time.Duration(1+random.IntN(8)) * time.Minute
	}
	return d
}

// place is a place in a request for quotes.
type place struct {
	address
	Location any `json:"location"`
}

func placeOf(t stop, task map[string]any) place {
	to, _ := task["destination"].(map[string]any)
	return place{t.door.address, to["location"]}
}

// orderDue reports whether the next arrival is an order.
func (d *desk) orderDue() bool {
	return d.shop != nil && (d.number-d.options.Errand)/orderEach > d.shop.tries
}

// placeOrder requests quotes, orders one of them and has the order carried out.
func (d *desk) placeOrder(ctx context.Context) error {
	what := d.plan.delivery(d.options.Errand + d.shop.tries)
	d.shop.tries++
	d.last = d.now()
	what.pickup.door.address.Name = d.options.Shop
	pickup, dropoff := d.body(what.pickup), d.body(what.dropoff)
	delete(pickup, "recipients")
	quotes, err := d.requestQuotes(ctx, what, placeOf(what.pickup, pickup), placeOf(what.dropoff, dropoff))
	if err != nil || len(quotes) == 0 {
		return err
	}
	made := &placement{quote: one(what.random, quotes)}
	for _, task := range []map[string]any{pickup, dropoff} {
		task["metadata"] = []map[string]any{{"name": runMark, "type": "string", "value": d.run}}
	}
	body := map[string]any{"deliveryServiceId": made.quote.ID, "pickupTask": pickup, "dropoffTask": dropoff}
	if err := d.shopAPI(ctx, d.shop.key, "POST /taskOrders", http.MethodPost, "/taskOrders", body, &made.shownOrder); err != nil {
		return d.rejected("an order by a valid quote was rejected", err)
	}
	d.record(made, what.keep)
	return d.assignOrder(ctx, made)
}

// rejected records that a valid request of the shop was rejected.
func (s *simulation) rejected(what string, err error) error {
	if rejected(err) {
		s.ledger.violation("%s: %v", what, err)
	}
	return err
}

// requestQuotes returns one quote for each service.
func (d *desk) requestQuotes(ctx context.Context, what delivery, from, to place) (quotes []shownQuote, err error) {
	ready := d.now().Add(d.scaled(what.ready))
	err = d.shopAPI(ctx, d.shop.key, "POST /deliveryServices/quote", http.MethodPost, "/deliveryServices/quote", map[string]any{
		"readyBy": ready.UnixMilli(), "dueBy": ready.Add(max(d.scaled(what.due-what.ready), patience)).UnixMilli(),
		"quantity": what.dropoff.quantity, "weight": map[string]any{"value": what.weight, "units": "kg"}, "pickup": from, "dropoff": to,
	}, &quotes)
	if err != nil {
		return nil, d.rejected("a request for quotes was rejected", err)
	}
	d.shop.quotes += len(quotes)
	if len(quotes) != d.shop.services {
		d.ledger.violation("%d services are offered to the shop, but it got %d quotes", d.shop.services, len(quotes))
	}
	for _, q := range quotes {
		if fault := priceFault(q.Cost, q.Breakdown); fault != "" {
			d.ledger.violation("quote %s: %s", q.ID, fault)
		}
	}
	return quotes, nil
}

// record records an order that the server acknowledged. Without a final check, only
// those are kept that are to be cancelled.
func (d *desk) record(made *placement, keep time.Duration) {
	d.ledger.create(made.tasks()...)
	if d.options.Check {
		d.shop.placed = append(d.shop.placed, made)
	}
	if keep > 0 {
		made.cancelAt = d.now().Add(d.scaled(keep))
		d.shop.pending = append(d.shop.pending, made)
	}
}

// assignOrder has both tasks of an order assigned to a worker, at once or when the
// desk has no more tasks that stay unassigned.
func (d *desk) assignOrder(ctx context.Context, made *placement) error {
	if d.borrowed {
		to := d.nextWorker(-1).worker
		body := map[string]any{"tasks": []any{-1, made.Pickup.ID, made.Dropoff.ID}}
		return d.api(ctx, "PUT /containers/workers/{id}", http.MethodPut, "/containers/workers/"+to, body, nil)
	}
	tasks := leftover{team: -1, order: made.ShortID, tasks: made.tasks()}
	if d.kept() == 0 {
		if assigned, err := d.autoAssign(ctx, tasks); err != nil || assigned {
			return err
		}
	}
	d.leftovers = append(d.leftovers, tasks)
	return nil
}

// cancelDue reports whether the shop cancels an order now.
func (d *desk) cancelDue() bool {
	return d.shop != nil && slices.ContainsFunc(d.shop.pending, d.overdue)
}

func (d *desk) overdue(p *placement) bool { return !d.now().Before(p.cancelAt) }

// cancelOrder cancels an order, unless a worker has started it.
func (d *desk) cancelOrder(ctx context.Context) error {
	i := slices.IndexFunc(d.shop.pending, d.overdue)
	p := d.shop.pending[i]
	d.shop.pending = slices.Delete(d.shop.pending, i, i+1)
	err := d.shopAPI(ctx, d.shop.key, "POST /taskOrders/cancel", http.MethodPost, "/taskOrders/cancel", map[string]any{"orderIds": []string{p.ID}}, nil)
	if err != nil {
		p.rejected = err
		return err
	}
	p.cancelled = true
	d.ledger.withdraw(p.tasks()...)
	d.leftovers = slices.DeleteFunc(d.leftovers, func(l leftover) bool { return l.order == p.ShortID })
	return nil
}
