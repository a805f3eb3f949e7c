package order

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"dray/internal/calendar"
	"dray/internal/lastmile"
)

// MaxPastReady is the maximum time for which a delivery may have been ready when a quote is
// requested.
const MaxPastReady = 24 * time.Hour

// Job is a delivery to be priced.
type Job struct {
	ReadyBy  time.Time // earliest pickup
	DueBy    time.Time // latest drop-off; zero for the service's default
	Quantity int       // pieces
	Weight   Weight
	Pickup   lastmile.Point
	Dropoff  lastmile.Point
	Distance int64 // from pickup to drop-off, in meters
	Duration int64 // travel time of the trip, in seconds
}

// Check rejects an invalid job. Its locations are checked elsewhere.
func (j Job) Check(now time.Time) error {
	switch {
	case j.ReadyBy.IsZero():
		return lastmile.Missing("readyBy")
	case j.ReadyBy.Before(now.Add(-MaxPastReady)):
		return lastmile.Invalid("readyBy must not be more than %.0f hours in the past", MaxPastReady.Hours())
	case !j.DueBy.IsZero() && !j.DueBy.After(j.ReadyBy):
		return lastmile.Invalid("dueBy must be after readyBy")
	case !j.DueBy.IsZero() && !j.DueBy.After(now):
		return lastmile.Invalid("dueBy must be in the future")
	}
	return j.CheckSize()
}

// CheckSize rejects an invalid number of pieces or weight.
func (j Job) CheckSize() error {
	if j.Quantity < 1 || j.Quantity > MaxUnits {
		return lastmile.Invalid("quantity must be an integer between 1 and %d, not %d", MaxUnits, j.Quantity)
	}
	return j.Weight.check("weight")
}

// Due returns when a job is due by a service that is ordered now.
func (s *Service) Due(j Job, now time.Time) time.Time {
	switch {
	case !j.DueBy.IsZero():
		return j.DueBy
	case j.ReadyBy.Before(now):
		return now.Add(s.DueIn)
	}
	return j.ReadyBy.Add(s.DueIn)
}

// Offers reports whether a service is offered to a client at all.
func (s *Service) Offers(client lastmile.ClientID) bool {
	return len(s.Clients) == 0 || slices.Contains(s.Clients, client)
}

// Obstacle returns why a service ordered now is not compatible with a job, as the end
// of a sentence, or "" if it is. It does not consider the length of the trip.
func (s *Service) Obstacle(j Job, now time.Time) string {
	zone, l := calendar.Zone(s.Timezone), s.Limits
	local, here := j.ReadyBy.In(zone), now.In(zone)
	sameDay := !dayOf(local).After(dayOf(here))
	switch {
	case len(s.Hours) > 0 && !slices.ContainsFunc(s.Hours, func(w Window) bool { return w.contains(local) }):
		return fmt.Sprintf("is not available on %s, when the delivery is ready", local.Format("Monday at 15:04"))
	case s.LeadTime > 0 && !j.ReadyBy.Add(time.Minute).After(now.Add(s.LeadTime)): // a request that took less than a minute is in time
		return fmt.Sprintf("must be ordered %.0f minutes before the delivery is ready", s.LeadTime.Minutes())
	case s.SameDayUntil != nil && sameDay && clockOf(here) >= *s.SameDayUntil:
		return fmt.Sprintf("must be ordered before %s for the same day", s.SameDayUntil)
	case l.Weight != nil && j.Weight.kilograms().Cmp(l.Weight.kilograms()) > 0:
		return fmt.Sprintf("delivers at most %v %s", l.Weight.Value, l.Weight.Unit)
	case l.Quantity != nil && j.Quantity > *l.Quantity:
		return fmt.Sprintf("delivers at most %d pieces", *l.Quantity)
	case l.Area != nil && !l.Area.Contains(j.Pickup):
		return "does not deliver from the pickup, which is outside its area"
	case l.Area != nil && !l.Area.Contains(j.Dropoff):
		return "does not deliver to the drop-off, which is outside its area"
	}
	return ""
}

func dayOf(at time.Time) time.Time {
	year, month, day := at.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// TooFar returns why the length of a trip is beyond the limits of a service, as the end
// of a sentence, or "" if it is not.
func (s *Service) TooFar(j Job) string {
	limit := s.Limits.Distance
	if limit == nil || big.NewRat(j.Distance, 1).Cmp(limit.meters()) <= 0 {
		return ""
	}
	return fmt.Sprintf("delivers over at most %v %s, and this is %.1f km", limit.Value, limit.Unit, float64(j.Distance)/1000)
}

// Entry is a part of a price.
type Entry struct {
	ID     string // id of the rate
	Name   string
	Type   RatingType
	IsBase bool
	Cost   Amount
}

// Price is what a delivery costs. The entries add up to the total.
type Price struct {
	Currency Currency
	Total    Amount
	Entries  []Entry
}

// Price returns what a job costs, and false if that is more than MaxTotal. Rates are
// applied in three steps, each in the order of the rate plan: those for the delivery,
// surcharges, and minimums.
func (s *Service) Price(j Job) (Price, bool) {
	p := Price{Currency: s.Currency}
	at := j.ReadyBy.In(calendar.Zone(s.Timezone))
	measured := map[RatingType]*big.Rat{
		RateDistance: big.NewRat(j.Distance, 1), RateDuration: big.NewRat(j.Duration, 1),
		RateWeight: j.Weight.kilograms(), RateQuantity: big.NewRat(int64(j.Quantity), 1),
	}
	total := new(big.Int)
	add := func(r Rate, cost *big.Int) {
		total.Add(total, cost)
		p.Entries = append(p.Entries, Entry{ID: r.ID, Name: r.Name, Type: r.Type, IsBase: r.IsBase, Cost: Amount(cost.Int64())})
	}
	for _, r := range s.of(at, RateFlat, RateDistance, RateDuration, RateWeight, RateQuantity) {
		if r.Type == RateFlat {
			add(r, big.NewInt(int64(r.Amount)))
		} else {
			add(r, r.cost(measured[r.Type]))
		}
	}
	before := new(big.Int).Set(total)
	for _, r := range s.of(at, RateSurcharge) {
		cost := big.NewInt(int64(r.Amount))
		if r.Unit == Percent {
			share := new(big.Rat).SetFrac(new(big.Int).Mul(before, cost), big.NewInt(10_000))
			cost = rounded(share)
		}
		add(r, cost)
	}
	for _, r := range s.of(at, RateMinimum) {
		if missing := new(big.Int).Sub(big.NewInt(int64(r.Amount)), total); missing.Sign() > 0 {
			add(r, missing)
		}
	}
	if total.Cmp(big.NewInt(int64(MaxTotal))) > 0 {
		return Price{}, false
	}
	p.Total = Amount(total.Int64())
	return p, true
}

// of returns the rates of some types that apply at a time.
func (s *Service) of(at time.Time, types ...RatingType) []Rate {
	var list []Rate
	for _, r := range s.Rates {
		if slices.Contains(types, r.Type) && r.applies(at) {
			list = append(list, r)
		}
	}
	return list
}

// Base returns the base rate of a service.
func (s *Service) Base() Rate {
	return s.Rates[slices.IndexFunc(s.Rates, func(r Rate) bool { return r.IsBase })]
}

// QuoteID identifies a quote.
type QuoteID string

// Limits of quotes.
const (
	QuoteLifetime = 30 * time.Minute
	MaxQuotes     = 20_000 // quotes of a client that are valid at the same time
	MaxQuoted     = 200    // services that are considered for one request
)

// Quote is a price that a courier offers to a client until a time.
type Quote struct {
	ID           QuoteID
	Organization lastmile.OrganizationID // organization of the courier
	Client       lastmile.OrganizationID // organization of the client
	Service      ServiceID
	Rate         string // id of the base rate
	DisplayName  string
	Created      time.Time
	Expires      time.Time
	Job          Job // with the time that it is due
	Price        Price
}

// NewQuote returns the quote of a service for a job, and false if the job is not
// compatible with it. The length of the trip is known.
func (s *Service) NewQuote(id QuoteID, client lastmile.OrganizationID, j Job, now time.Time) (Quote, bool) {
	price, ok := s.Price(j)
	if !ok || s.Obstacle(j, now) != "" || s.TooFar(j) != "" {
		return Quote{}, false
	}
	j.DueBy = s.Due(j, now)
	return Quote{
		ID: id, Organization: s.Organization, Client: client, Service: s.ID, Rate: s.Base().ID, DisplayName: s.DisplayName,
		Created: now, Expires: now.Add(QuoteLifetime), Job: j, Price: price,
	}, true
}

// The maximum differences between an order and the delivery that was priced.
const (
	MaxMoved   = 1_000         // meters: addresses are not always geocoded alike
	MaxDelayed = QuoteLifetime // what was ready when it was quoted may be ordered as late as that
	maxHurried = time.Minute   // times are rounded
)

// CheckPickup rejects a pickup of another delivery than the one that was priced. A zero
// time is not checked.
func (j Job) CheckPickup(at lastmile.Point, ready time.Time) error {
	if !ready.IsZero() && ready.Sub(j.ReadyBy).Abs() > MaxDelayed {
		return lastmile.Invalid("completeAfter must be within %.0f minutes of %s, for which the order is priced, not %s; request a new quote",
			MaxDelayed.Minutes(), written(j.ReadyBy), written(ready))
	}
	return checkMoved(at, j.Pickup)
}

// CheckDropoff rejects a drop-off of another delivery than the one that was priced. It
// may be due later, or at no time.
func (j Job) CheckDropoff(at lastmile.Point, due time.Time) error {
	if !due.IsZero() && j.DueBy.Sub(due) > maxHurried {
		return lastmile.Invalid("completeBefore must not be earlier than %s, for which the order is priced, but is %s; request a new quote", written(j.DueBy), written(due))
	}
	return checkMoved(at, j.Dropoff)
}

func checkMoved(at, priced lastmile.Point) error {
	if far := at.Distance(priced); far > MaxMoved {
		return lastmile.Invalid("destination is %.1f km from where it is in the delivery that was priced; at most %d km are allowed; request a new quote", far/1000, MaxMoved/1000)
	}
	return nil
}

func written(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// CheckSize rejects a job that has more pieces than that of the quote, or is heavier.
func (q *Quote) CheckSize(j Job) error {
	switch quoted := q.Job; {
	case j.Quantity > quoted.Quantity:
		return lastmile.Invalid("quantity must be at most %d, as in quote %s, not %d; request a new quote", quoted.Quantity, q.ID, j.Quantity)
	case j.Weight.kilograms().Cmp(quoted.Weight.kilograms()) > 0:
		return lastmile.Invalid("weight must be at most %v %s, as in quote %s, not %v %s; request a new quote", quoted.Weight.Value, quoted.Weight.Unit, q.ID, j.Weight.Value, j.Weight.Unit)
	}
	return nil
}
