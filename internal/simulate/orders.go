package simulate

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// runMark is the name of the metadata by which the tasks of a run's orders are found.
const runMark = "simulation"

// Orders counts the orders of a run. It is complete only after a final check.
type Orders struct {
	Quotes    int `json:"quotes"`
	Placed    int `json:"placed"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	Open      int `json:"open"`
}

// The statuses of an order.
const (
	orderUnassigned = "unassigned"
	orderAssigned   = "assigned"
	orderActive     = "active"
	orderCompleted  = "completed"
	orderFailed     = "failed"
	orderCancelled  = "cancelled"
)

// withdraw records that tasks were deleted because their order was cancelled.
func (l *ledger) withdraw(tasks ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range tasks {
		delete(l.created, id)
		delete(l.unended, id)
	}
}

// cents returns an amount in the smallest unit of the currency.
func cents(amount float64) int64 { return int64(math.Round(amount * shopDecimals)) }

// priceFault returns what is wrong with a price; empty if nothing is.
func priceFault(price float64, breakdown []entry) string {
	sum, bases := int64(0), 0
	for _, e := range breakdown {
		sum += cents(e.Cost)
		if e.IsBaseRate {
			bases++
		}
	}
	switch {
	case sum != cents(price):
		return fmt.Sprintf("the price is %.2f, but its entries add up to %.2f", price, float64(sum)/shopDecimals)
	case bases != 1:
		return fmt.Sprintf("the price has %d base rates", bases)
	}
	return ""
}

// statusOf returns the status of an order whose tasks are these.
func statusOf(pickup, dropoff shownTask) string {
	both := func(is func(shownTask) bool) bool { return is(pickup) && is(dropoff) }
	one := func(is func(shownTask) bool) bool { return is(pickup) || is(dropoff) }
	switch {
	case one(func(t shownTask) bool { return t.State == stateCompleted && !t.Completion.Success }):
		return orderFailed
	case both(func(t shownTask) bool { return t.State == stateCompleted }):
		return orderCompleted
	case one(func(t shownTask) bool { return t.State >= stateActive }):
		return orderActive
	case both(func(t shownTask) bool { return t.State == stateAssigned }):
		return orderAssigned
	}
	return orderUnassigned
}

// checkOrders reads every order with the keys of both sides and compares it with the
// ledger, and then looks for orders that no client placed.
func (s *simulation) checkOrders(ctx context.Context) error {
	if s.shop == nil {
		return nil
	}
	s.orders.Quotes = s.shop.quotes
	known := map[string]bool{}
	for _, p := range s.shop.placed {
		if known[p.ShortID] {
			s.ledger.violation("two orders have the short id %s", p.ShortID)
		}
		known[p.ShortID] = true
		forClient, err := s.readOrder(ctx, p, "client", s.shop.key)
		if err != nil {
			return err
		}
		forCourier, err := s.readOrder(ctx, p, "courier", s.options.Key)
		if err != nil {
			return err
		}
		if forClient.Status != forCourier.Status {
			s.ledger.violation("order %s is %q to its client, but %q to its courier", p.ShortID, forClient.Status, forCourier.Status)
		}
		s.orders.add(forClient.Status)
	}
	return s.findUnknownOrders(ctx)
}

// readOrder reads an order as one side sees it, and compares it with the ledger.
func (s *simulation) readOrder(ctx context.Context, p *placement, side, key string) (shown shownOrder, err error) {
	err = s.shopAPI(ctx, key, "GET /taskOrders/{id}", http.MethodGet, "/taskOrders/"+p.ShortID, nil, &shown)
	switch {
	case rejected(err):
		s.ledger.violation("order %s was placed, but is lost to its %s: %v", p.ShortID, side, err)
		return shown, nil
	case err != nil:
		return shown, fmt.Errorf("read order %s for the final check: %w", p.ShortID, err)
	}
	s.ledger.compareOrder(*p, shown)
	return shown, nil
}

// compareOrder compares an order with the quote, with its tasks, and with what the
// phones did.
func (l *ledger) compareOrder(p placement, shown shownOrder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fault := func(format string, args ...any) { l.note("order "+p.ShortID+" "+format, args...) }
	if shown.ID != p.ID || !slices.Equal(shown.tasks(), p.tasks()) || !slices.Contains(shown.Dropoff.Dependencies, p.Pickup.ID) {
		fault("was acknowledged as %s with tasks %v, but is %s with tasks %v, the second after %v",
			p.ID, p.tasks(), shown.ID, shown.tasks(), shown.Dropoff.Dependencies)
	}
	if cents(shown.Price) != cents(p.quote.Cost) || shown.Currency != p.quote.Currency || shown.Service != p.quote.Service || !slices.Equal(shown.Breakdown, p.quote.Breakdown) {
		fault("costs %.2f %s, %+v; the quote was %.2f %s, %+v", shown.Price, shown.Currency, shown.Breakdown, p.quote.Cost, p.quote.Currency, p.quote.Breakdown)
	}
	if wrong := priceFault(shown.Price, shown.Breakdown); wrong != "" {
		fault("has a wrong price: %s", wrong)
	}
	if wrong := l.statusFault(p, shown); wrong != "" {
		fault("is %s, but %s", shown.Status, wrong)
	}
	if n := len(shown.Events); n == 0 || shown.Events[0].Name != "created" || shown.Events[n-1].Status != shown.Status {
		fault("is %s, but its events are %+v", shown.Status, shown.Events)
	}
	for _, id := range p.tasks() {
		if wrong := l.eventFault(id, shown); wrong != "" {
			fault("%s", wrong)
		}
	}
}

// statusFault returns what contradicts the status of an order; empty if nothing does.
func (l *ledger) statusFault(p placement, shown shownOrder) string {
	pickup, pickedUp := l.ended[p.Pickup.ID]
	dropoff, droppedOff := l.ended[p.Dropoff.ID]
	started := slices.ContainsFunc(p.tasks(), func(id string) bool { return slices.Contains(l.visited[id], verbStart) })
	want := statusOf(shown.Pickup, shown.Dropoff)
	switch {
	case p.cancelled && started:
		return "a worker started it and its client cancelled it, and both were acknowledged"
	case p.cancelled:
		want = orderCancelled
	case p.rejected != nil && (want == orderUnassigned || want == orderAssigned):
		return fmt.Sprintf("it could not be cancelled: %v", p.rejected)
	case pickedUp && !pickup.success || droppedOff && !dropoff.success:
		want = orderFailed
	case pickedUp && droppedOff && pickup.worker != dropoff.worker:
		return fmt.Sprintf("worker %s picked it up and worker %s dropped it off", pickup.worker, dropoff.worker)
	case pickedUp && droppedOff && pickup.at > dropoff.at:
		return "it was dropped off before it was picked up"
	case pickedUp && droppedOff:
		want = orderCompleted
	case started && want != orderCompleted && want != orderFailed: // these may be due to a response that was lost at the end
		want = orderActive
	}
	if want != shown.Status {
		return "should be " + want
	}
	return ""
}

// eventFault returns what is wrong with the events of a task in its order; empty if
// nothing is.
func (l *ledger) eventFault(task string, shown shownOrder) string {
	seen := map[string]int{}
	for _, e := range shown.Events {
		if e.TaskID == task {
			seen[e.Name]++
		}
	}
	must := map[string]bool{"started": slices.Contains(l.visited[task], verbStart)}
	if o, ended := l.ended[task]; ended {
		must["completed"], must["failed"] = o.success, !o.success
	}
	for _, name := range []string{"started", "completed", "failed"} {
		if n := seen[name]; n > 1 || must[name] && n == 0 {
			return fmt.Sprintf("has %d events %s of task %s", n, name, task)
		}
	}
	return ""
}

// findUnknownOrders compares the shop's list of tasks with those of the orders that were
// acknowledged.
func (s *simulation) findUnknownOrders(ctx context.Context) error {
	missing := map[string]bool{}
	for _, p := range s.shop.placed {
		for _, id := range p.tasks() {
			missing[id] = !p.cancelled
		}
	}
	since, last := s.began.Add(-time.Hour).UnixMilli(), ""
	for {
		var page struct {
			LastID string `json:"lastId"`
			Tasks  []struct {
				ID       string `json:"id"`
				Order    string `json:"orderShortId"`
				Metadata []struct {
					Name  string `json:"name"`
					Value any    `json:"value"`
				} `json:"metadata"`
			} `json:"tasks"`
		}
		path := "/tasks/all?from=" + strconv.FormatInt(since, 10)
		if last != "" {
			path += "&lastId=" + last
		}
		if err := s.shopAPI(ctx, s.shop.key, "GET /tasks/all", http.MethodGet, path, nil, &page); err != nil {
			return fmt.Errorf("list the tasks of orders: %w", err)
		}
		for _, t := range page.Tasks {
			for _, m := range t.Metadata {
				if m.Name == runMark && m.Value == s.run && !missing[t.ID] {
					s.ledger.violation("task %s of order %s exists, but was cancelled, never acknowledged, or is listed twice", t.ID, t.Order)
				}
			}
			delete(missing, t.ID)
		}
		if last = page.LastID; last == "" {
			break
		}
	}
	for id, lost := range missing {
		if lost {
			s.ledger.violation("task %s of an order is not in the list of its client", id)
		}
	}
	return nil
}

func (o *Orders) add(status string) {
	o.Placed++
	switch status {
	case orderCompleted:
		o.Completed++
	case orderFailed:
		o.Failed++
	case orderCancelled:
		o.Cancelled++
	default:
		o.Open++
	}
}
