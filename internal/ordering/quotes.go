package ordering

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/rate"
	"dray/internal/store"
	"dray/internal/travel"
)

// Quotes prices deliveries.
type Quotes struct {
	Store  QuoteStore
	Places Places
	Travel Travel
	Shares *rate.Shares // limits the use of processors; callers take turns
	Now    func() time.Time
	NewID  func() string
}

// Places finds the locations of addresses.
type Places interface {
	// Locate makes a destination of a draft and geocodes it if needed. field is a
	// prefix for error messages.
	Locate(ctx context.Context, who lastmile.Principal, field string, draft lastmile.DestinationDraft) (lastmile.Destination, error)
}

// Travel returns the trips between the locations of a way.
type Travel interface {
	Legs(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error)
}

// QuoteRequest is a delivery that a client wants quotes for.
type QuoteRequest struct {
	Client          string    // id of the client or its organization; empty for the caller's
	Job             order.Job // without locations and the length of the trip
	Pickup, Dropoff lastmile.DestinationDraft
}

// Request returns quotes of all services that are compatible with a delivery, and saves
// them.
func (qs *Quotes) Request(ctx context.Context, who lastmile.Principal, q QuoteRequest) ([]order.Quote, error) {
	now, job := qs.Now(), q.Job
	if err := job.Check(now); err != nil {
		return nil, err
	}
	caller, err := qs.caller(ctx, who, q.Client)
	if err != nil {
		return nil, err
	}
	pickup, err := qs.Places.Locate(ctx, caller, "pickup.", q.Pickup)
	if err != nil {
		return nil, err
	}
	dropoff, err := qs.Places.Locate(ctx, caller, "dropoff.", q.Dropoff)
	if err != nil {
		return nil, err
	}
	job.Pickup, job.Dropoff = pickup.Location, dropoff.Location
	client, offered, err := qs.offered(ctx, who, q.Client, job, now)
	if err != nil {
		return nil, err
	}
	if len(offered) > 0 {
		if err := qs.measure(ctx, &job); err != nil {
			return nil, err
		}
	}
	quotes, err := qs.quote(ctx, client, offered, job, now)
	if err != nil {
		return nil, err
	}
	return store.Idempotent(ctx, qs.Store, who, func(w QuoteWriter) ([]order.Quote, error) {
		for _, quote := range quotes {
			if err := w.SaveQuote(ctx, quote); err != nil {
				return nil, err
			}
		}
		return quotes, nil
	})
}

// caller returns a caller that acts as the client: addresses are located as for its orders.
func (qs *Quotes) caller(ctx context.Context, who lastmile.Principal, named string) (caller lastmile.Principal, err error) {
	if named == "" || named == string(who.Organization) {
		return who, nil
	}
	err = qs.Store.Read(ctx, func(r QuoteReader) error {
		relations, err := relationsOf(ctx, r, who, named)
		if err == nil {
			caller = asClient(who, relations[0])
		}
		return err
	})
	return caller, err
}

// quote prices a delivery by services.
func (qs *Quotes) quote(ctx context.Context, client lastmile.OrganizationID, offered []order.Service, job order.Job, now time.Time) ([]order.Quote, error) {
	end, err := qs.Shares.Take(ctx, lastmile.CallerOf(ctx))
	if err != nil {
		return nil, err
	}
	defer end()
	quotes := make([]order.Quote, 0, len(offered))
	for _, service := range offered {
		if quote, ok := service.NewQuote(order.QuoteID(qs.NewID()), client, job, now); ok {
			quotes = append(quotes, quote)
		}
	}
	return quotes, nil
}

// measure sets the length of the trip.
func (qs *Quotes) measure(ctx context.Context, job *order.Job) error {
	legs, err := qs.Travel.Legs(ctx, lastmile.Car, []lastmile.Point{job.Pickup, job.Dropoff})
	if err != nil {
		return err
	}
	if len(legs) != 1 || legs[0].Duration == travel.Unreachable {
		return lastmile.Invalid("dropoff cannot be reached from pickup by road")
	}
	job.Distance, job.Duration = int64(math.Round(float64(legs[0].Distance))), int64(legs[0].Duration.Round(time.Second)/time.Second)
	return nil
}

// offered returns the organization of the client and the services, of all its couriers,
// that are compatible with a delivery apart from the length of the trip.
func (qs *Quotes) offered(ctx context.Context, who lastmile.Principal, named string, job order.Job, now time.Time) (client lastmile.OrganizationID, offered []order.Service, err error) {
	end, err := qs.Shares.Take(ctx, lastmile.CallerOf(ctx))
	if err != nil {
		return "", nil, err
	}
	defer end()
	err = qs.Store.Read(ctx, func(r QuoteReader) error {
		relations, err := relationsOf(ctx, r, who, named)
		if err != nil {
			return err
		}
		offered = nil
		considered := 0
		if err := checkRoomForQuotes(ctx, r, relations[0].Organization, now); err != nil {
			return err
		}
		for _, relation := range relations {
			client = relation.Organization
			if considered >= order.MaxQuoted {
				return nil
			}
			all, err := r.DeliveryServices(ctx, relation.Courier)
			if err != nil {
				return err
			}
			all = all[:min(len(all), order.MaxQuoted-considered)]
			considered += max(len(all), 1) // a courier without services is read as well
			for _, service := range all {
				if service.Offers(relation.ID) && service.Obstacle(job, now) == "" {
					offered = append(offered, service)
				}
			}
		}
		return nil
	})
	return client, offered, err
}

// checkRoomForQuotes rejects quotes for a client that has too many. The transactions that save
// quotes do not count them, because on PostgreSQL these would conflict.
func checkRoomForQuotes(ctx context.Context, r QuoteReader, client lastmile.OrganizationID, now time.Time) error {
	valid, err := r.CountQuotes(ctx, client, now, order.MaxQuotes)
	if err == nil && valid >= order.MaxQuotes {
		return &lastmile.Error{
			Code: lastmile.CodeTooMany, RetryAfter: time.Minute,
			Message: "Too many quotes of the client are still valid: order one of them, or wait until they expire.",
		}
	}
	return err
}

// relationsOf returns the client that a caller acts as or for: one of its clients, named
// by its id or that of its organization, or itself with each of its couriers.
func relationsOf(ctx context.Context, r ClientReader, who lastmile.Principal, named string) ([]store.Client, error) {
	own := named == "" || named == string(who.Organization)
	if !own {
		client, err := r.Client(ctx, who.Organization, named)
		if err == nil {
			return []store.Client{client}, cmp.Or(deleted(client, named), inactive(client))
		}
		// A client may name itself by the id by which its courier knows it.
		courier, missing := r.Courier(ctx, who.Organization, named)
		if missing != nil {
			return nil, err
		}
		return []store.Client{courier}, cmp.Or(deleted(courier, named), inactive(courier))
	}
	all, err := r.Couriers(ctx, who.Organization)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c store.Client) bool { return c.Status != store.ClientActive })
	if len(all) == 0 {
		return nil, lastmile.Missing("clientId").Because("the organization is not the client of a courier, so that it can act only for its clients")
	}
	return all, nil
}

// inactive returns an error for a client that has not accepted yet.
func inactive(c store.Client) error {
	if c.Status != store.ClientActive {
		return lastmile.Conflict("client %s has not accepted the invitation of its courier yet", c.ID)
	}
	return nil
}
