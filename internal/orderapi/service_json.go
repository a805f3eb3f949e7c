package orderapi

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/wire"
)

// DeliveryService is a delivery service that a courier offers to clients.
type DeliveryService struct {
	// ID of the service, which is accepted as deliveryServiceId of an order.
	ID order.ServiceID `json:"id" example:"Sv6KpX2nQw8RtL4mZc9YbH3d"`
	// ID of the courier's organization.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Unix time in milliseconds at which the service was created.
	TimeCreated wire.Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the service was last modified.
	TimeLastModified wire.Millis `json:"timeLastModified" example:"1767229200000"`
	// Name of the service.
	DisplayName string `json:"displayName" example:"Express"`
	// Currency of the prices, by its ISO 4217 code.
	Currency order.Currency `json:"currency" example:"USD"`
	// IDs of the clients that the service is offered to; empty for every client.
	Clients []lastmile.ClientID `json:"clients" example:"[]"`
	// IANA time zone of hours, sameDayUntil and the windows of rates.
	Timezone string `json:"timezone" example:"America/New_York"`
	// When deliveries can be ready; empty for always.
	Hours []WeekWindow `json:"hours"`
	// Minutes from the order until the delivery can be ready.
	LeadTime wire.Minutes `json:"leadTime" example:"30"`
	// Time of the day, as HH:MM, from which deliveries for the same day cannot be ordered any more; null if they can.
	SameDayUntil *string `json:"sameDayUntil" example:"15:00"`
	// Minutes from readyBy until a delivery is due if the client does not send dueBy.
	DueIn wire.Minutes `json:"dueIn" example:"240"`
	// Largest deliveries that the service accepts.
	Limits ServiceLimits `json:"limits"`
	// Rate plan: what deliveries cost.
	Rates []Rate `json:"rates"`
}

// WeekWindow is a part of every week. If it ends at or before its start, it ends on the next day.
type WeekWindow struct {
	// Days on which the window begins.
	Days []string `json:"days" example:"monday,tuesday" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday"`
	// Time of the day at which it begins, as HH:MM.
	From string `json:"from" example:"08:00"`
	// Time of the day before which it ends, as HH:MM; 24:00 is the end of the day.
	To string `json:"to" example:"18:00"`
}

// ServiceLimits are the largest deliveries that a service accepts. Each is null if there is no limit.
type ServiceLimits struct {
	// Largest weight.
	Weight *Weight `json:"weight"`
	// Largest number of pieces.
	Quantity *int `json:"quantity" example:"10"`
	// Longest distance from pickup to drop-off.
	Distance *Distance `json:"distance"`
	// Area that pickup and drop-off must be in, as a GeoJSON Polygon or MultiPolygon.
	Area *Area `json:"area" example:"null"`
}

// Weight is a weight.
type Weight struct {
	// Number of units.
	Value float64 `json:"value" required:"true" example:"2.5"`
	// Unit: kg or lbs.
	Units order.Unit `json:"units" required:"true" enum:"kg,lbs" example:"kg"`
}

// Distance is a distance.
type Distance struct {
	// Number of units.
	Value float64 `json:"value" required:"true" example:"25"`
	// Unit: km or mi.
	Units order.Unit `json:"units" required:"true" enum:"km,mi" example:"km"`
}

// Rate is an entry of a rate plan.
type Rate struct {
	// ID of the rate.
	ID string `json:"id" example:"Rt2MvB8xLq5KwZ9nDc4HsP7f"`
	// Name of the rate, which entries of prices have.
	Name string `json:"name" example:"Distance"`
	// What the rate charges for.
	RatingType order.RatingType `json:"ratingType" example:"distance"`
	// Whether this is the base rate, of which a service has exactly one.
	IsBaseRate bool `json:"isBaseRate"`
	// Amount per unit beyond the tiers; of a flat rate or surcharge, the amount; of a minimum, the least price; of a percentage, the percentage.
	Amount Money `json:"amount" example:"1.20"`
	// What the amount is for; null for a flat rate, a surcharge of a fixed amount and a minimum.
	Unit *order.Unit `json:"unit" example:"km"`
	// Units that cost nothing.
	Free float64 `json:"free" example:"2"`
	// What the first units cost that are not free; empty if all cost the same.
	Tiers []RateTier `json:"tiers"`
	// When the rate applies to deliveries that are ready then; null for always.
	When *WeekWindow `json:"when" example:"null"`
}

// RateTier is what units cost, after the tier before, up to a number of units.
type RateTier struct {
	// Number of units, counted without free ones, at which the tier ends.
	UpTo float64 `json:"upTo" example:"10"`
	// Amount per unit.
	Amount Money `json:"amount" example:"1.50"`
}

// NewDeliveryService returns a delivery service in its wire form.
func NewDeliveryService(s order.Service) DeliveryService {
	return DeliveryService{
		ID: s.ID, Organization: s.Organization, TimeCreated: wire.Millis(s.Created), TimeLastModified: wire.Millis(s.Modified),
		DisplayName: s.DisplayName, Currency: s.Currency, Clients: wire.OrEmpty(s.Clients), Timezone: s.Timezone,
		Hours: wire.Each(s.Hours, newWeekWindow), LeadTime: wire.Minutes(s.LeadTime), SameDayUntil: clockText(s.SameDayUntil), DueIn: wire.Minutes(s.DueIn),
		Limits: newServiceLimits(s.Limits), Rates: wire.Each(s.Rates, func(r order.Rate) Rate { return newRate(s.Currency, r) }),
	}
}

func clockText(c *order.Clock) *string {
	if c == nil {
		return nil
	}
	return wire.OrNull(c.String())
}

func newWeekWindow(w order.Window) WeekWindow {
	return WeekWindow{
		Days: wire.Each(w.Days, func(d time.Weekday) string { return strings.ToLower(d.String()) }),
		From: w.From.String(), To: w.To.String(),
	}
}

func newServiceLimits(l order.Limits) ServiceLimits {
	limits := ServiceLimits{Weight: (*Weight)(nil), Quantity: l.Quantity}
	if l.Weight != nil {
		limits.Weight = &Weight{Value: l.Weight.Value, Units: l.Weight.Unit}
	}
	if l.Distance != nil {
		limits.Distance = &Distance{Value: l.Distance.Value, Units: l.Distance.Unit}
	}
	if l.Area != nil {
		limits.Area = (*Area)(&l.Area)
	}
	return limits
}

func newRate(c order.Currency, r order.Rate) Rate {
	rate := Rate{
		ID: r.ID, Name: r.Name, RatingType: r.Type, IsBaseRate: r.IsBase, Amount: Money(c.Text(r.Amount)), Unit: wire.OrNull(r.Unit), Free: r.Free,
		Tiers: wire.Each(r.Tiers, func(t order.Tier) RateTier { return RateTier{UpTo: t.UpTo, Amount: Money(c.Text(t.Amount))} }),
	}
	if r.Unit == order.Percent {
		rate.Amount = Money(r.Percentage())
	}
	if r.When != nil {
		rate.When = new(newWeekWindow(*r.When))
	}
	return rate
}

// Area is a part of the earth, as a GeoJSON Polygon or MultiPolygon.
type Area order.Area

// JSONSchema describes the JSON of an area.
func (Area) JSONSchema() string {
	return `{"type": "object", "description": "GeoJSON Polygon or MultiPolygon (RFC 7946)"}`
}

// geoJSON is a geometry of GeoJSON.
type geoJSON struct {
	Type        string `json:"type"`
	Coordinates any    `json:"coordinates"`
}

// MarshalJSON implements json.Marshaler.
func (a Area) MarshalJSON() ([]byte, error) {
	polygons := wire.Each(a, func(rings [][]lastmile.Point) [][]wire.LonLat {
		return wire.Each(rings, func(ring []lastmile.Point) []wire.LonLat {
			return wire.Each(ring, func(p lastmile.Point) wire.LonLat { return wire.LonLat(p) })
		})
	})
	if len(polygons) == 1 {
		return json.Marshal(geoJSON{"Polygon", polygons[0]})
	}
	return json.Marshal(geoJSON{"MultiPolygon", polygons})
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Area) UnmarshalJSON(data []byte) error {
	if data[0] != '{' {
		return codec.Malformed("must be a GeoJSON Polygon or MultiPolygon, not %s", codec.KindName(data[0]))
	}
	var sent struct {
		Type        string          `json:"type"`
		Coordinates json.RawMessage `json:"coordinates"`
	}
	if err := codec.DecodePart(data, &sent); err != nil {
		return err
	}
	if bytes.Count(sent.Coordinates, []byte{','}) > 4*order.MaxAreaPoints { // before they are read, which may take long
		return codec.Invalid("must have at most %d positions", order.MaxAreaPoints)
	}
	var polygons struct {
		Coordinates [][][][]float64 `json:"coordinates"`
	}
	switch sent.Type {
	case "Polygon":
		var polygon struct {
			Coordinates [][][]float64 `json:"coordinates"`
		}
		if err := codec.DecodePart(data, &polygon); err != nil {
			return err
		}
		polygons.Coordinates = append(polygons.Coordinates, polygon.Coordinates)
	case "MultiPolygon":
		if err := codec.DecodePart(data, &polygons); err != nil {
			return err
		}
	default:
		return codec.Invalid("must be a GeoJSON geometry with the type Polygon or MultiPolygon, not %q", codec.Clip(sent.Type))
	}
	area := make(Area, 0, len(polygons.Coordinates))
	for _, rings := range polygons.Coordinates {
		polygon := make([][]lastmile.Point, 0, len(rings))
		for _, positions := range rings {
			ring := make([]lastmile.Point, 0, len(positions))
			for _, position := range positions {
				if len(position) < 2 { // a third number is the height
					return codec.Malformed("must have positions of the form [longitude, latitude]")
				}
				p, err := lastmile.NewPoint(position[0], position[1])
				if err != nil {
					return codec.Invalid("must have positions of the form [longitude, latitude], in this order: %s", err)
				}
				ring = append(ring, p)
			}
			polygon = append(polygon, ring)
		}
		area = append(area, polygon)
	}
	*a = area
	return nil
}

// NewDeliveryServiceBody is the body of a request to create a delivery service.
type NewDeliveryServiceBody struct {
	_ struct{} `required:"displayName,currency,rates"`
	DeliveryServiceBody
}

// DeliveryServiceBody is the body of a request to update a delivery service.
type DeliveryServiceBody struct {
	// Name of the service.
	DisplayName *string `json:"displayName" example:"Express"`
	// Currency of the prices, by its ISO 4217 code. A new currency needs new rates.
	Currency *string `json:"currency" example:"USD"`
	// Clients that the service is offered to, by their IDs or those of their organizations; empty or null for every client.
	Clients wire.Optional[[]lastmile.ClientID] `json:"clients" example:"[]"`
	// IANA time zone of hours, sameDayUntil and the windows of rates; null for that of the organization.
	Timezone wire.Optional[string] `json:"timezone" example:"America/New_York"`
	// When deliveries can be ready, at most 50 windows; empty or null for always.
	Hours wire.Optional[[]WeekWindowBody] `json:"hours"`
	// Minutes from the order until the delivery can be ready; null for none.
	LeadTime wire.Optional[wire.Minutes] `json:"leadTime" example:"30"`
	// Time of the day, as HH:MM, from which deliveries for the same day cannot be ordered any more; null if they can.
	SameDayUntil wire.Optional[string] `json:"sameDayUntil" example:"15:00"`
	// Minutes from readyBy until a delivery is due if the client does not send dueBy; null for 240.
	DueIn wire.Optional[wire.Minutes] `json:"dueIn" example:"240"`
	// Largest deliveries that the service accepts; null for no limits.
	Limits wire.Optional[ServiceLimitsBody] `json:"limits"`
	// Rate plan: 1 to 30 rates, of which exactly one is the base rate.
	Rates *[]RateBody `json:"rates"`
}

// WeekWindowBody is a part of every week, in a request. At least one field is required.
type WeekWindowBody struct {
	// Days on which the window begins, such as monday or mon; by default, all.
	Days []string `json:"days" example:"monday,tuesday"`
	// Time of the day at which it begins, as HH:MM; by default, 00:00.
	From string `json:"from" example:"08:00"`
	// Time of the day before which it ends, as HH:MM; by default, 24:00. A time at or before from is on the next day.
	To string `json:"to" example:"18:00"`
}

// ServiceLimitsBody is the largest deliveries that a service accepts, in a request. Limits that are not sent do not exist.
type ServiceLimitsBody struct {
	// Largest weight.
	Weight *WeightBody `json:"weight"`
	// Largest number of pieces.
	Quantity *int `json:"quantity" example:"10"`
	// Longest distance from pickup to drop-off.
	Distance *DistanceBody `json:"distance"`
	// Area that pickup and drop-off must be in, as a GeoJSON Polygon or MultiPolygon of at most 10,000 positions.
	Area *Area `json:"area" example:"null"`
}

// WeightBody is a weight, in a request.
type WeightBody struct {
	// Number of units.
	Value *float64 `json:"value" required:"true" example:"2.5"`
	// Unit: kg or lbs.
	Units order.Unit `json:"units" required:"true" enum:"kg,lbs" example:"kg"`
}

// Domain returns the weight.
func (b WeightBody) Domain() order.Weight {
	return order.Weight{Value: measured(b.Value), Unit: b.Units}
}

// measured returns a number of units that was sent, and NaN if it was not: the domain
// reports it as missing.
func measured(value *float64) float64 {
	if value == nil {
		return math.NaN()
	}
	return *value
}

// DistanceBody is a distance, in a request.
type DistanceBody struct {
	// Number of units.
	Value *float64 `json:"value" required:"true" example:"25"`
	// Unit: km or mi.
	Units order.Unit `json:"units" required:"true" enum:"km,mi" example:"km"`
}

// RateBody is an entry of a rate plan, in a request.
type RateBody struct {
	// Name of the rate, which entries of prices have.
	Name string `json:"name" required:"true" example:"Distance"`
	// What the rate charges for.
	RatingType order.RatingType `json:"ratingType" required:"true" example:"distance"`
	// Whether this is the base rate. A surcharge or minimum cannot be.
	IsBaseRate wire.Flag `json:"isBaseRate"`
	// Amount per unit beyond the tiers; of a flat rate or surcharge, the amount; of a minimum, the least price; of a percentage, the percentage.
	Amount *float64 `json:"amount" required:"true" example:"1.2"`
	// What the amount is for. distance: km (the default) or mi; duration: minute (the default) or hour; weight: kg (the default) or lbs; quantity: piece; surcharge: percent, or none for a fixed amount.
	Unit order.Unit `json:"unit" example:"km"`
	// Units that cost nothing.
	Free *float64 `json:"free" example:"2"`
	// What the first units cost that are not free, at most 20 tiers. Each unit costs the amount of the tier that it is in.
	Tiers []RateTierBody `json:"tiers" example:"[]"`
	// When the rate applies to deliveries that are ready then; by default, always. Not for the base rate.
	When *WeekWindowBody `json:"when" example:"null"`
}

// RateTierBody is a tier of a rate, in a request.
type RateTierBody struct {
	// Number of units, counted without free ones, at which the tier ends. It must be greater than that of the tier before.
	UpTo *float64 `json:"upTo" required:"true" example:"10"`
	// Amount per unit.
	Amount *float64 `json:"amount" required:"true" example:"1.5"`
}

// Change returns the requested change.
func (b DeliveryServiceBody) Change() order.ServiceChange {
	change := order.ServiceChange{
		DisplayName: b.DisplayName, Currency: b.Currency, Clients: sentValue(b.Clients), Timezone: sentValue(b.Timezone),
		LeadTime: (*time.Duration)(sentValue(b.LeadTime)), SameDayUntil: sentValue(b.SameDayUntil), DueIn: (*time.Duration)(sentValue(b.DueIn)),
	}
	if b.Hours.Present {
		hours := wire.Each(b.Hours.Value, WeekWindowBody.draft)
		change.Hours = &hours
	}
	if b.Limits.Present {
		limits := b.Limits.Value.domain()
		change.Limits = &limits
	}
	if b.Rates != nil {
		rates := wire.Each(*b.Rates, RateBody.draft)
		change.Rates = &rates
	}
	return change
}

// sentValue is the value of a field that was sent, null as the zero value; nil if it was
// not.
func sentValue[T any](o wire.Optional[T]) *T {
	if !o.Present {
		return nil
	}
	return &o.Value
}

func (b WeekWindowBody) draft() order.WindowDraft { return order.WindowDraft(b) }

func (b ServiceLimitsBody) domain() order.Limits {
	limits := order.Limits{Quantity: b.Quantity}
	if b.Weight != nil {
		limits.Weight = new(b.Weight.Domain())
	}
	if b.Distance != nil {
		limits.Distance = &order.Distance{Value: measured(b.Distance.Value), Unit: b.Distance.Units}
	}
	if b.Area != nil {
		limits.Area = order.Area(*b.Area)
	}
	return limits
}

func (b RateBody) draft() order.RateDraft {
	draft := order.RateDraft{
		Name: b.Name, Type: b.RatingType, IsBase: bool(b.IsBaseRate), Amount: b.Amount, Unit: b.Unit, Free: b.Free,
		Tiers: wire.Each(b.Tiers, func(t RateTierBody) order.TierDraft { return order.TierDraft(t) }),
	}
	if b.When != nil {
		when := b.When.draft()
		draft.When = &when
	}
	return draft
}
