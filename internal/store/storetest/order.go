package storetest

import (
	"errors"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/store/sqlorder"
	"dray/internal/store/sqlstore"
)

// orders returns the part of a transaction that has orders.
func orders(t *sqlstore.Tx) sqlorder.Part { return sqlorder.New(t.Conn()) }

func service(org lastmile.OrganizationID, name string) order.Service {
	clock, pieces := order.Clock(14*60), 5
	return order.Service{
		ID: id[order.ServiceID](name), Organization: org, Created: now, Modified: now, DisplayName: name, Currency: "KWD",
		Clients: []lastmile.ClientID{id[lastmile.ClientID]("client")}, Timezone: "Asia/Kuwait",
		Hours:    []order.Window{{Days: []time.Weekday{time.Sunday, time.Monday}, From: 8 * 60, To: 2 * 60}},
		LeadTime: time.Hour, SameDayUntil: &clock, DueIn: 2 * time.Hour,
		Limits: order.Limits{
			Weight: &order.Weight{Value: 2.5, Unit: order.Pounds}, Quantity: &pieces, Distance: &order.Distance{Value: 10, Unit: order.Miles},
			Area: order.Area{{{{Lon: 1, Lat: 2}, {Lon: 3, Lat: 4}, {Lon: 5, Lat: 6}, {Lon: 1, Lat: 2}}}},
		},
		Rates: []order.Rate{
			{ID: "a", Name: "Base", Type: order.RateDistance, IsBase: true, Amount: 1_205, Unit: order.Kilometers, Free: 0.5, Tiers: []order.Tier{{UpTo: 2.5, Amount: 7}}},
			{ID: "b", Name: "Night", Type: order.RateSurcharge, Amount: 1_250, Unit: order.Percent, When: &order.Window{Days: []time.Weekday{time.Friday}, To: 60}},
		},
	}
}

func testOrders(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	late, early, theirs := service(acme, "late"), service(acme, "early"), service(zenith, "theirs")
	late.Created = now.Add(time.Second)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(orders(w).SaveDeliveryService(ctx, late), orders(w).SaveDeliveryService(ctx, early), orders(w).SaveDeliveryService(ctx, theirs))
	})
	services := func() []order.Service {
		return read(t, s, func(r *sqlstore.Tx) ([]order.Service, error) { return orders(r).DeliveryServices(ctx, acme) })
	}
	same(t, "services, oldest first", services(), []order.Service{early, late})
	late.DisplayName, late.Limits = "renamed", order.Limits{}
	write(t, s, func(w *sqlstore.Tx) error { return orders(w).SaveDeliveryService(ctx, late) })
	same(t, "a changed service", read(t, s, func(r *sqlstore.Tx) (order.Service, error) {
		return orders(r).DeliveryService(ctx, acme, string(late.ID))
	}), late)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(orders(w).DeleteDeliveryService(ctx, zenith, string(late.ID)), orders(w).DeleteDeliveryService(ctx, acme, string(early.ID)))
	})
	same(t, "services after one was deleted", services(), []order.Service{late})

	price := order.Price{Currency: "KWD", Total: 12_345, Entries: []order.Entry{{ID: "a", Name: "Base", Type: order.RateFlat, IsBase: true, Cost: 12_345}}}
	quote := order.Quote{
		ID: id[order.QuoteID]("quote"), Organization: acme, Client: zenith, Service: late.ID, Rate: "a", DisplayName: "x", Created: now, Expires: now.Add(time.Hour),
		Job: order.Job{ReadyBy: now, DueBy: now.Add(time.Hour), Quantity: 2, Weight: order.Weight{Value: 1.5, Unit: order.Kilograms}, Pickup: lastmile.Point{Lon: 1, Lat: 2}, Distance: 5, Duration: 6}, Price: price,
	}
	old := quote
	old.ID, old.Expires = id[order.QuoteID]("old"), now.Add(-time.Minute)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(orders(w).SaveQuote(ctx, quote), orders(w).SaveQuote(ctx, old))
	})
	same(t, "a quote", read(t, s, func(r *sqlstore.Tx) (order.Quote, error) { return orders(r).Quote(ctx, zenith, string(quote.ID)) }), quote)
	count := func(limit int) int {
		return read(t, s, func(r *sqlstore.Tx) (int, error) { return orders(r).CountQuotes(ctx, zenith, now, limit) })
	}
	same(t, "valid quotes", count(10), 1)
	same(t, "valid quotes up to a limit", read(t, s, func(r *sqlstore.Tx) (int, error) { return orders(r).CountQuotes(ctx, zenith, now.Add(-time.Hour), 1) }), 1)
	write(t, s, func(w *sqlstore.Tx) error {
		n, err := orders(w).DeleteQuotes(ctx, now, 10)
		same(t, "deleted quotes", n, 1)
		return err
	})

	placed := order.Order{
		ID: id[order.ID]("order"), ShortID: "8f2a61c4", Courier: acme, Client: zenith, ClientID: id[lastmile.ClientID]("client"), ClientName: "Zenith", Created: now, Modified: now,
		Service: late.ID, Quote: quote.ID, Price: &price, Pickup: order.Leg{Task: "p", State: lastmile.TaskActive}, Dropoff: order.Leg{Task: "d"},
		Status: order.Active, Events: []order.Event{{Name: "created", At: now, Status: order.Unassigned}},
	}
	write(t, s, func(w *sqlstore.Tx) error { return orders(w).SaveOrder(ctx, placed) })
	for _, org := range []lastmile.OrganizationID{acme, zenith} {
		for _, by := range []string{string(placed.ID), placed.ShortID} {
			same(t, "an order", read(t, s, func(r *sqlstore.Tx) (order.Order, error) { return orders(r).Order(ctx, org, by) }), placed)
		}
	}
	in := lastmile.OrganizationContainer(acme)
	pickup, dropoff := task(acme, "pickup", in, now), task(acme, "dropoff", in, now)
	dropoff.Recipient = nil
	placed.Status, placed.Price = order.Cancelled, nil
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(orders(w).SaveOrder(ctx, placed), orders(w).SaveOrderTasks(ctx, placed, pickup, dropoff))
	})
	same(t, "a changed order", read(t, s, func(r *sqlstore.Tx) (order.Order, error) { return orders(r).Order(ctx, acme, placed.ShortID) }), placed)
	kept := read(t, s, func(r *sqlstore.Tx) ([2]lastmile.Task, error) {
		first, last, err := orders(r).OrderTasks(ctx, placed)
		return [2]lastmile.Task{first, last}, err
	})
	if kept[0].ID != pickup.ID || kept[1].ID != dropoff.ID || kept[0].Destination.ID != pickup.Destination.ID {
		t.Errorf("kept %+v", kept)
	}

	const stranger lastmile.OrganizationID = "strangerstrangerstranger"
	for name, tt := range map[string]struct {
		get  func(r *sqlstore.Tx) error
		want lastmile.Code
	}{
		"another's service": {func(r *sqlstore.Tx) error {
			_, err := orders(r).DeliveryService(ctx, acme, string(theirs.ID))
			return err
		}, lastmile.CodeOutsideScope},
		"a deleted service": {func(r *sqlstore.Tx) error {
			_, err := orders(r).DeliveryService(ctx, acme, string(early.ID))
			return err
		}, lastmile.CodeNotFound},
		"another client's quote": {func(r *sqlstore.Tx) error { _, err := orders(r).Quote(ctx, acme, string(quote.ID)); return err }, lastmile.CodeOutsideScope},
		"a deleted quote":        {func(r *sqlstore.Tx) error { _, err := orders(r).Quote(ctx, zenith, string(old.ID)); return err }, lastmile.CodeNotFound},
		"another's order":        {func(r *sqlstore.Tx) error { _, err := orders(r).Order(ctx, stranger, string(placed.ID)); return err }, lastmile.CodeOutsideScope},
		"another's short id":     {func(r *sqlstore.Tx) error { _, err := orders(r).Order(ctx, stranger, placed.ShortID); return err }, lastmile.CodeNotFound},
		"an unknown order":       {func(r *sqlstore.Tx) error { _, err := orders(r).Order(ctx, acme, "00000000"); return err }, lastmile.CodeNotFound},
	} {
		if err := s.Read(ctx, tt.get); err == nil {
			t.Errorf("%s: no error", name)
		} else if rejected, ok := errors.AsType[*lastmile.Error](err); !ok || rejected.Code != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
