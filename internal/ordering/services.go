package ordering

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/store"
)

// MaxAreaPositions is the maximum number of positions in the areas of all services
// of a courier, which each request for quotes reads.
const MaxAreaPositions = 50_000

// MaxRatesAndTiers is the maximum number of rates and tiers of all services of a courier.
const MaxRatesAndTiers = 10_000

// Services manages the delivery services of couriers.
type Services struct {
	Store ServiceStore
	Now   func() time.Time
	NewID func() string
}

// Create creates a delivery service.
func (ss *Services) Create(ctx context.Context, who lastmile.Principal, c order.ServiceChange) (order.Service, error) {
	if err := ss.prefetch(ctx, who); err != nil {
		return order.Service{}, err
	}
	return store.Idempotent(ctx, ss.Store, who, func(w ServiceWriter) (order.Service, error) {
		service := order.Service{}
		all, err := w.DeliveryServices(ctx, who.Organization)
		if err != nil {
			return service, err
		}
		if len(all) >= order.MaxServices {
			return service, lastmile.Invalid("an organization can have %d delivery services; delete one first", order.MaxServices)
		}
		service.ID, service.Organization = order.ServiceID(ss.NewID()), who.Organization
		return service, ss.save(ctx, w, &service, all, c)
	})
}

// prefetch reads all services of the caller's organization before the transaction that
// counts their rates and positions, so that the store has decoded them and other writers
// need not wait.
func (ss *Services) prefetch(ctx context.Context, who lastmile.Principal) error {
	_, err := ss.List(ctx, who)
	return err
}

// save applies a change to a service and saves it. A service without a name is new.
// all are the organization's services before the change; Update passes nil if the
// change affects neither rates nor areas.
func (ss *Services) save(ctx context.Context, w ServiceWriter, s *order.Service, all []order.Service, c order.ServiceChange) error {
	org, err := w.Organization(ctx, s.Organization)
	if err != nil {
		return err
	}
	if c.Clients != nil {
		clients, err := findClients(ctx, w, s.Organization, *c.Clients)
		if err != nil {
			return err
		}
		c.Clients = &clients
	}
	before := s.Modified
	if s.DisplayName == "" {
		*s, err = order.NewService(s.ID, org, c, ss.NewID, ss.Now())
	} else {
		err = s.Update(org, c, ss.NewID, ss.Now())
	}
	if err != nil || s.Modified.Equal(before) {
		return err
	}
	positions, rates := s.Limits.Area.Positions(), s.RatesAndTiers()
	for _, other := range all {
		if other.ID != s.ID {
			positions += other.Limits.Area.Positions()
			rates += other.RatesAndTiers()
		}
	}
	if rates > MaxRatesAndTiers {
		return lastmile.Invalid("rates: all delivery services have %d rates and tiers together; at most %d are allowed", rates, MaxRatesAndTiers)
	}
	if positions > MaxAreaPositions {
		return lastmile.Invalid("limits.area: the areas of all delivery services have %d positions together; at most %d are allowed", positions, MaxAreaPositions)
	}
	return w.SaveDeliveryService(ctx, *s)
}

// findClients returns the clients of a courier that were named by their ids or by those
// of their organizations.
func findClients(ctx context.Context, r ServiceReader, courier lastmile.OrganizationID, named []lastmile.ClientID) ([]lastmile.ClientID, error) {
	if len(named) > order.MaxServiceClients {
		return nil, lastmile.Invalid("clients has %d entries; at most %d are allowed", len(named), order.MaxServiceClients)
	}
	known := map[string]lastmile.ClientID{}
	if len(named) > 10 { // fewer are found one by one
		all, err := r.Clients(ctx, courier)
		if err != nil {
			return nil, err
		}
		for _, client := range all {
			known[string(client.ID)], known[string(client.Organization)] = client.ID, client.ID
		}
	}
	clients := make([]lastmile.ClientID, 0, len(named))
	for _, name := range named {
		id, ok := known[string(name)]
		if !ok {
			client, err := FindClient(ctx, r, courier, string(name))
			if err != nil {
				return nil, err
			}
			id = client.ID
		}
		clients = append(clients, id)
	}
	return clients, nil
}

// List returns the delivery services of the caller's organization, oldest first.
func (ss *Services) List(ctx context.Context, who lastmile.Principal) (all []order.Service, err error) {
	err = ss.Store.Read(ctx, func(r ServiceReader) (err error) {
		all, err = r.DeliveryServices(ctx, who.Organization)
		return err
	})
	return all, err
}

// Read returns a delivery service of the caller's organization.
func (ss *Services) Read(ctx context.Context, who lastmile.Principal, id string) (service order.Service, err error) {
	err = ss.Store.Read(ctx, func(r ServiceReader) (err error) {
		service, err = r.DeliveryService(ctx, who.Organization, id)
		return err
	})
	return service, err
}

// Update changes a delivery service. Quotes and orders keep their prices.
func (ss *Services) Update(ctx context.Context, who lastmile.Principal, id string, c order.ServiceChange) (service order.Service, err error) {
	counted := c.Limits != nil || c.Rates != nil
	if counted {
		if err := ss.prefetch(ctx, who); err != nil {
			return service, err
		}
	}
	err = ss.Store.Write(ctx, func(w ServiceWriter) (err error) {
		if service, err = w.DeliveryService(ctx, who.Organization, id); err != nil {
			return err
		}
		var all []order.Service
		if counted {
			if all, err = w.DeliveryServices(ctx, who.Organization); err != nil {
				return err
			}
		}
		return ss.save(ctx, w, &service, all, c)
	})
	return service, err
}

// Delete deletes a delivery service. Quotes and orders keep their prices.
func (ss *Services) Delete(ctx context.Context, who lastmile.Principal, id string) error {
	return ss.Store.Write(ctx, func(w ServiceWriter) error {
		if _, err := w.DeliveryService(ctx, who.Organization, id); err != nil {
			return err
		}
		return w.DeleteDeliveryService(ctx, who.Organization, id)
	})
}
