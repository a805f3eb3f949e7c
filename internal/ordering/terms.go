package ordering

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/store"
)

// terms are the parties of an order and its price.
type terms struct {
	client  store.Client
	service *order.Service
	quote   *order.Quote
	price   *order.Price
	job     *order.Job // the delivery that was priced; nil if the price was agreed
}

// terms finds the client, the courier and the service or quote of an order.
func (os *Orders) terms(ctx context.Context, who lastmile.Principal, d Draft) (t terms, err error) {
	err = os.Store.Read(ctx, func(r OrderReader) error {
		t = terms{}
		relations, err := orderRelations(ctx, r, who, d)
		if err != nil {
			return err
		}
		if d.Service != "" {
			return t.find(ctx, r, relations, d.Service, os.Now())
		}
		if len(relations) > 1 {
			return lastmile.Missing("deliveryServiceId").Because("the organization is the client of several couriers; send the id of a service or a quote, or courier")
		}
		t.client = relations[0]
		services, err := r.DeliveryServices(ctx, t.client.Courier)
		if err == nil && slices.ContainsFunc(services, func(s order.Service) bool { return s.Offers(t.client.ID) }) {
			err = lastmile.Missing("deliveryServiceId").Because("the courier has services for the client; send the id of one, or of a quote")
		}
		return err
	})
	return t, err
}

// orderRelations returns the clients that can be the client of an order.
func orderRelations(ctx context.Context, r ClientReader, who lastmile.Principal, d Draft) ([]store.Client, error) {
	if d.Courier != "" && d.Courier != string(who.Organization) {
		client, err := findCourier(ctx, r, who.Organization, d.Courier)
		if err != nil {
			return nil, err
		}
		if d.Client != "" && d.Client != string(client.ID) && d.Client != string(client.Organization) {
			return nil, lastmile.Invalid("client must be %s or %s, which is the caller as a client of the courier, or be left out, not %q", client.ID, client.Organization, lastmile.Truncate(d.Client, 32))
		}
		return []store.Client{client}, inactive(client)
	}
	relations, err := relationsOf(ctx, r, who, d.Client)
	if missing, ok := errors.AsType[*lastmile.Error](err); ok && missing.Code == lastmile.CodeMalformed {
		err = lastmile.Missing("client").Because("%s", missing.Cause)
	}
	return relations, err
}

// find finds the service or the quote with an id among those of a client's couriers.
func (t *terms) find(ctx context.Context, r OrderReader, relations []store.Client, id string, now time.Time) error {
	client := relations[0].Organization
	of := func(courier lastmile.OrganizationID) error {
		at := slices.IndexFunc(relations, func(c store.Client) bool { return c.Courier == courier })
		if at < 0 {
			return lastmile.OutsideScope(id)
		}
		t.client = relations[at]
		return nil
	}
	quote, err := r.Quote(ctx, client, id)
	if err == nil {
		if !quote.Expires.After(now) {
			return lastmile.Conflict("quote %s expired at %s; request a new one", id, quote.Expires.UTC().Format(time.RFC3339))
		}
		t.quote, t.price = &quote, &quote.Price
		return of(quote.Organization)
	}
	if !lastmile.IsNotFound(err) {
		return err
	}
	service, err := r.OfferedService(ctx, client, id)
	if err != nil {
		return err
	}
	t.service = &service
	if err := of(service.Organization); err != nil {
		return err
	}
	if !service.Offers(t.client.ID) {
		return lastmile.OutsideScope(id)
	}
	return nil
}

// price sets the price of an order, and the times that follow from it.
func (os *Orders) price(ctx context.Context, caller lastmile.Principal, d Draft, pickup, dropoff *lastmile.TaskDraft, t *terms) error {
	job := d.job(*pickup, *dropoff, os.Now())
	if t.service == nil && t.quote == nil {
		return lastmile.FirstError(job.CheckSize(), t.agree(d))
	}
	err := os.locateJob(ctx, caller, &job, *pickup, *dropoff)
	if err != nil {
		return err
	}
	if t.quote != nil {
		err = t.checkQuote(job, pickup.Change.CompleteAfter, dropoff.Change.CompleteBefore)
		job = t.quote.Job
	} else {
		err = os.apply(ctx, &job, t)
	}
	if err != nil {
		return err
	}
	if t.job = &job; pickup.Change.CompleteAfter == nil {
		pickup.Change.CompleteAfter = new(job.ReadyBy)
	}
	if dropoff.Change.CompleteBefore == nil {
		dropoff.Change.CompleteBefore = new(job.DueBy)
	}
	return t.checkPrice(d)
}

// agree sets the price that the draft has, if any.
func (t *terms) agree(d Draft) error {
	if d.Price == nil && d.Currency == "" {
		return nil
	}
	currency, err := order.NewCurrency("currency", d.Currency)
	if err != nil || d.Price == nil {
		return err
	}
	amount, err := currency.NewAmount("price", *d.Price)
	t.price = &order.Price{Currency: currency, Total: amount, Entries: []order.Entry{{Name: "Price", Type: order.RateFlat, IsBase: true, Cost: amount}}}
	return err
}

// checkPrice rejects a price that differs from that of the service or quote.
func (t *terms) checkPrice(d Draft) error {
	currency := t.price.Currency
	if d.Currency != "" && !strings.EqualFold(d.Currency, string(currency)) {
		return lastmile.Invalid("currency must be %s, as of the service, or be left out", currency)
	}
	if d.Price == nil {
		return nil
	}
	amount, err := currency.NewAmount("price", *d.Price)
	if err == nil && amount != t.price.Total {
		err = lastmile.Invalid("price must be %s, which is what the service costs, or be left out", currency.Text(t.price.Total))
	}
	return err
}

// job returns the delivery of an order, without its locations.
func (d Draft) job(pickup, dropoff lastmile.TaskDraft, now time.Time) order.Job {
	job := order.Job{ReadyBy: now, Quantity: 1, Weight: order.Weight{Unit: order.Kilograms}}
	lastmile.Set(&job.ReadyBy, pickup.Change.CompleteAfter)
	lastmile.Set(&job.DueBy, dropoff.Change.CompleteBefore)
	for _, quantity := range []*float64{pickup.Change.Quantity, dropoff.Change.Quantity} {
		if quantity != nil {
			job.Quantity = max(job.Quantity, int(min(*quantity, order.MaxUnits+1)))
		}
	}
	lastmile.Set(&job.Quantity, d.Quantity)
	lastmile.Set(&job.Weight, d.Weight)
	if job.ReadyBy.IsZero() {
		job.ReadyBy = now
	}
	return job
}

// locateJob checks a delivery and sets its locations, but not the length of the trip.
func (os *Orders) locateJob(ctx context.Context, caller lastmile.Principal, job *order.Job, pickup, dropoff lastmile.TaskDraft) (err error) {
	if err := job.Check(os.Now()); err != nil {
		return err
	}
	if job.Pickup, err = os.locate(ctx, caller, "pickupTask.", pickup); err == nil {
		job.Dropoff, err = os.locate(ctx, caller, "dropoffTask.", dropoff)
	}
	return err
}

// locate returns the location of a task.
func (os *Orders) locate(ctx context.Context, caller lastmile.Principal, field string, d lastmile.TaskDraft) (at lastmile.Point, err error) {
	switch {
	case d.Destination == nil:
		return at, lastmile.Missing(field + "destination")
	case d.Destination.Draft != nil:
		place, err := os.Quotes.Places.Locate(ctx, caller, field+"destination.", *d.Destination.Draft)
		return place.Location, err
	}
	err = os.Store.Read(ctx, func(r OrderReader) error {
		place, err := r.Destination(ctx, caller.Organization, d.Destination.ID)
		at = place.Location
		return err
	})
	return at, err
}

// checkQuote rejects an order for another delivery than the quoted one. The times are
// those that were sent.
func (t *terms) checkQuote(job order.Job, after, before *time.Time) error {
	var ready, due time.Time
	lastmile.Set(&ready, after)
	lastmile.Set(&due, before)
	return lastmile.FirstError(
		lastmile.Within("pickupTask.", t.quote.Job.CheckPickup(job.Pickup, ready)),
		lastmile.Within("dropoffTask.", t.quote.Job.CheckDropoff(job.Dropoff, due)),
		t.quote.CheckSize(job))
}

// apply prices a delivery by a service.
func (os *Orders) apply(ctx context.Context, job *order.Job, t *terms) error {
	if why := t.service.Obstacle(*job, os.Now()); why != "" {
		return lastmile.Invalid("deliveryServiceId: %s %s", t.service.DisplayName, why)
	}
	if err := os.Quotes.measure(ctx, job); err != nil {
		return err
	}
	if why := t.service.TooFar(*job); why != "" {
		return lastmile.Invalid("deliveryServiceId: %s %s", t.service.DisplayName, why)
	}
	price, ok := t.service.Price(*job)
	if !ok {
		return lastmile.Invalid("deliveryServiceId: the price by %s would be too large", t.service.DisplayName)
	}
	job.DueBy = t.service.Due(*job, os.Now())
	t.price = &price
	return nil
}
