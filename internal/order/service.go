package order

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"dray/internal/lastmile"
)

// ServiceID identifies a delivery service.
type ServiceID string

// Limits of delivery services.
const (
	MaxServices       = 100 // services of an organization
	MaxServiceClients = 1_000
	MaxServiceHours   = 50
	MaxLeadTime       = 90 * 24 * time.Hour
	MaxDueIn          = 30 * 24 * time.Hour
	DefaultDueIn      = 4 * time.Hour
)

// Service is a delivery service that a courier offers to clients.
type Service struct {
	ID                ServiceID
	Organization      lastmile.OrganizationID // organization of the courier
	Created, Modified time.Time
	DisplayName       string
	Currency          Currency
	Clients           []lastmile.ClientID // empty for every client
	Timezone          string              // IANA time zone of hours, windows and the latest order
	Hours             []Window            // when deliveries can be ready; empty for always
	LeadTime          time.Duration
	SameDayUntil      *Clock        // latest order for the same day; nil for none
	DueIn             time.Duration // time from ready to due, if the client sends no due time
	Limits            Limits
	Rates             []Rate
}

// Limits are the largest deliveries that a service accepts; nil for no limit.
type Limits struct {
	Weight   *Weight
	Quantity *int
	Distance *Distance
	Area     Area // area of pickups and drop-offs; nil for everywhere
}

// Weight is a weight in a unit.
type Weight struct {
	Value float64
	Unit  Unit
}

// Distance is a distance in a unit.
type Distance struct {
	Value float64
	Unit  Unit
}

// ServiceChange is a new delivery service as sent, or an update of one. Nil fields
// stay unchanged; zero values restore defaults.
type ServiceChange struct {
	DisplayName  *string
	Currency     *string
	Clients      *[]lastmile.ClientID
	Timezone     *string // empty for the organization's
	Hours        *[]WindowDraft
	LeadTime     *time.Duration
	SameDayUntil *string
	DueIn        *time.Duration
	Limits       *Limits
	Rates        *[]RateDraft
}

// NewService returns a delivery service.
func NewService(id ServiceID, of lastmile.Organization, c ServiceChange, newID func() string, now time.Time) (Service, error) {
	s := Service{ID: id, Organization: of.ID, Created: now, Timezone: of.Timezone, DueIn: DefaultDueIn}
	err := s.Update(of, c, newID, now)
	return s, err
}

// Update changes a service. Rates that are sent back unchanged keep their ids.
func (s *Service) Update(of lastmile.Organization, c ServiceChange, newID func() string, now time.Time) error {
	next := *s
	lastmile.Set(&next.DisplayName, c.DisplayName)
	if err := lastmile.RequireText("displayName", next.DisplayName); err != nil {
		return err
	}
	if c.Clients != nil {
		next.Clients = lastmile.Unique(*c.Clients)
	}
	if c.Limits != nil {
		next.Limits = *c.Limits
		next.Limits.Area = c.Limits.Area.plain()
	}
	if err := lastmile.FirstError(next.setCurrency(c), next.setTimes(of, c), next.checkLimits(), next.setRates(c, newID)); err != nil {
		return err
	}
	if !lastmile.Same(*s, next) {
		next.Modified = later(s.Modified, now)
	}
	*s = next
	return nil
}

func (s *Service) setCurrency(c ServiceChange) (err error) {
	if c.Currency == nil && s.Currency != "" {
		return nil
	}
	var code string
	lastmile.Set(&code, c.Currency)
	before := s.Currency
	s.Currency, err = NewCurrency("currency", code)
	if err == nil && s.Currency != before && c.Rates == nil && before != "" {
		err = lastmile.Invalid("currency cannot change from %s to %s without new rates; send rates as well", before, s.Currency)
	}
	return err
}

// later returns the modification time of a record: now, but after the one before.
func later(before, now time.Time) time.Time {
	if !before.IsZero() && !now.After(before) {
		return before.Add(time.Millisecond)
	}
	return now
}

// setTimes sets the time zone, and the times and durations of a service.
func (s *Service) setTimes(of lastmile.Organization, c ServiceChange) error {
	lastmile.Set(&s.Timezone, c.Timezone)
	lastmile.Set(&s.LeadTime, c.LeadTime)
	lastmile.Set(&s.DueIn, c.DueIn)
	s.Timezone, s.DueIn = cmp.Or(s.Timezone, of.Timezone), cmp.Or(s.DueIn, DefaultDueIn)
	if _, err := time.LoadLocation(s.Timezone); err != nil || s.Timezone == "Local" {
		return lastmile.Invalid("timezone must be an IANA time zone such as America/New_York, not %q", lastmile.Truncate(s.Timezone, 64))
	}
	switch {
	case s.LeadTime < 0 || s.LeadTime > MaxLeadTime:
		return lastmile.Invalid("leadTime must be between 0 and %.0f minutes", MaxLeadTime.Minutes())
	case s.DueIn < time.Minute || s.DueIn > MaxDueIn:
		return lastmile.Invalid("dueIn must be between 1 and %.0f minutes", MaxDueIn.Minutes())
	}
	if c.SameDayUntil != nil {
		s.SameDayUntil = nil
		if text := *c.SameDayUntil; text != "" {
			until, err := readClock("sameDayUntil", text)
			if err != nil {
				return err
			}
			s.SameDayUntil = &until
		}
	}
	return s.setHours(c.Hours)
}

func (s *Service) setHours(sent *[]WindowDraft) error {
	if sent == nil {
		return nil
	}
	if len(*sent) > MaxServiceHours {
		return lastmile.Invalid("hours has %d entries; at most %d are allowed", len(*sent), MaxServiceHours)
	}
	s.Hours = nil
	for i, d := range *sent {
		w, err := d.window(fmt.Sprintf("hours[%d]", i))
		if err != nil {
			return err
		}
		s.Hours = append(s.Hours, w)
	}
	return nil
}

func (s *Service) checkLimits() error {
	if len(s.Clients) > MaxServiceClients {
		return lastmile.Invalid("clients has %d entries; at most %d are allowed", len(s.Clients), MaxServiceClients)
	}
	l := s.Limits
	if w := l.Weight; w != nil {
		if err := w.check("limits.weight"); err != nil {
			return err
		}
	}
	if q := l.Quantity; q != nil && (*q < 1 || *q > MaxUnits) {
		return lastmile.Invalid("limits.quantity must be between 1 and %d, not %d", MaxUnits, *q)
	}
	if d := l.Distance; d != nil {
		if err := checkMeasure("limits.distance", d.Value, d.Unit, units[RateDistance]); err != nil {
			return err
		}
	}
	if l.Area != nil {
		return l.Area.check("limits.area")
	}
	return nil
}

func (w Weight) check(field string) error {
	return checkMeasure(field, w.Value, w.Unit, units[RateWeight])
}

// checkMeasure rejects an invalid number of units. NaN means that it was not sent.
func checkMeasure(field string, value float64, unit Unit, allowed []Unit) error {
	switch {
	case unit == "":
		return lastmile.Missing(field + ".units")
	case !slices.Contains(allowed, unit):
		return lastmile.Invalid("%s.units must be %s, not %q", field, listed(allowed), lastmile.Truncate(string(unit), 32))
	case math.IsNaN(value):
		return lastmile.Missing(field + ".value")
	case !(value >= 0 && value <= MaxUnits):
		return lastmile.Invalid("%s.value must be between 0 and %d, not %v", field, MaxUnits, value)
	}
	return nil
}

// kilograms returns the weight in kilograms.
func (w Weight) kilograms() *big.Rat { return new(big.Rat).Mul(decimal(w.Value), sizes[w.Unit]) }

// meters returns the distance in meters.
func (d Distance) meters() *big.Rat { return new(big.Rat).Mul(decimal(d.Value), sizes[d.Unit]) }

// setRates sets the rate plan. A rate that is the same as before keeps its id.
func (s *Service) setRates(c ServiceChange, newID func() string) error {
	var sent []RateDraft
	lastmile.Set(&sent, c.Rates)
	switch {
	case c.Rates == nil && len(s.Rates) > 0:
		return nil
	case len(sent) == 0:
		return lastmile.Missing("rates").Because("one of them must have isBaseRate true")
	case len(sent) > MaxRates:
		return lastmile.Invalid("rates has %d entries; at most %d are allowed", len(sent), MaxRates)
	}
	known := slices.Clone(s.Rates)
	s.Rates = nil
	base := 0
	for i, d := range sent {
		r, err := d.rate(fmt.Sprintf("rates[%d]", i), "", s.Currency)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(known, func(k Rate) bool {
			k.ID = ""
			return lastmile.Same(k, r)
		})
		if at >= 0 {
			r.ID = known[at].ID
			known = slices.Delete(known, at, at+1)
		} else {
			r.ID = newID()
		}
		if r.IsBase {
			base++
		}
		s.Rates = append(s.Rates, r)
	}
	if base != 1 {
		return lastmile.Invalid("rates must have exactly one entry with isBaseRate true, not %d", base)
	}
	return nil
}

// RatesAndTiers returns how many rates and tiers the service has.
func (s *Service) RatesAndTiers() int {
	n := len(s.Rates)
	for _, r := range s.Rates {
		n += len(r.Tiers)
	}
	return n
}
