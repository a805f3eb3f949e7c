package order

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// RatingType is what a rate charges for.
type RatingType string

// The rating types.
const (
	RateFlat      RatingType = "flat"      // each delivery
	RateDistance  RatingType = "distance"  // from pickup to drop-off
	RateDuration  RatingType = "duration"  // travel time from pickup to drop-off
	RateWeight    RatingType = "weight"    // total weight
	RateQuantity  RatingType = "quantity"  // pieces
	RateSurcharge RatingType = "surcharge" // an amount, or a percentage of the rates before surcharges
	RateMinimum   RatingType = "minimum"   // the difference to a minimum price
)

// Values lists every rating type.
func (RatingType) Values() []RatingType {
	return []RatingType{RateFlat, RateDistance, RateDuration, RateWeight, RateQuantity, RateSurcharge, RateMinimum}
}

// Unit is the unit that the amount of a rate refers to.
type Unit string

// The units.
const (
	Kilometers Unit = "km"
	Miles      Unit = "mi"
	Minutes    Unit = "minute"
	Hours      Unit = "hour"
	Kilograms  Unit = "kg"
	Pounds     Unit = "lbs"
	Pieces     Unit = "piece"
	Percent    Unit = "percent"
)

// Values lists every unit.
func (Unit) Values() []Unit {
	return []Unit{Kilometers, Miles, Minutes, Hours, Kilograms, Pounds, Pieces, Percent}
}

// units lists the units of each rating type, the default first. The default of a
// surcharge, a fixed amount, has no name.
var units = map[RatingType][]Unit{
	RateDistance:  {Kilometers, Miles},
	RateDuration:  {Minutes, Hours},
	RateWeight:    {Kilograms, Pounds},
	RateQuantity:  {Pieces},
	RateSurcharge: {"", Percent},
}

// sizes are the exact sizes of units, in meters, seconds, kilograms or pieces.
var sizes = map[Unit]*big.Rat{
	Kilometers: big.NewRat(1_000, 1),
	Miles:      big.NewRat(1_609_344, 1_000),
	Minutes:    big.NewRat(60, 1),
	Hours:      big.NewRat(3_600, 1),
	Kilograms:  big.NewRat(1, 1),
	Pounds:     big.NewRat(45_359_237, 100_000_000),
	Pieces:     big.NewRat(1, 1),
}

// Limits of rates.
const (
	MaxRates = 30
	MaxTiers = 20
	MaxUnits = 1_000_000 // free units, units of a tier, pieces, weight, distance

	maxPercent      = 1_000
	percentDecimals = 2
)

// Rate is an entry of the rate plan of a service.
type Rate struct {
	ID     string
	Name   string
	Type   RatingType
	IsBase bool
	Amount Amount // for each unit beyond the tiers; of a percentage, hundredths of a percent
	Unit   Unit
	Free   float64 // units that cost nothing
	Tiers  []Tier  // prices of the first units that are not free
	When   *Window // nil for always
}

// Tier is the price of each unit after the previous tier, up to a number of units.
type Tier struct {
	UpTo   float64
	Amount Amount
}

// RateDraft is a rate as sent.
type RateDraft struct {
	Name   string
	Type   RatingType
	IsBase bool
	Amount *float64
	Unit   Unit
	Free   *float64
	Tiers  []TierDraft
	When   *WindowDraft
}

// TierDraft is a tier as sent.
type TierDraft struct {
	UpTo, Amount *float64
}

// rate returns the rate that was sent as a field.
func (d RateDraft) rate(field, id string, c Currency) (Rate, error) {
	r := Rate{ID: id, Name: d.Name, Type: d.Type, IsBase: d.IsBase, Unit: d.Unit}
	if err := lastmile.FirstError(lastmile.RequireText(field+".name", d.Name), r.checkType(field), r.checkUnit(field)); err != nil {
		return r, err
	}
	err := r.setAmounts(field, d, c)
	if err == nil && d.When != nil {
		if r.IsBase {
			return r, lastmile.Invalid("%s.when cannot be combined with isBaseRate: the base rate always applies", field)
		}
		var w Window
		w, err = d.When.window(field + ".when")
		r.When = &w
	}
	return r, err
}

func (r *Rate) checkType(field string) error {
	switch {
	case r.Type == "":
		return lastmile.Missing(field + ".ratingType")
	case !slices.Contains(r.Type.Values(), r.Type):
		return lastmile.Invalid("%s.ratingType must be one of %s, not %q", field, listed(r.Type.Values()), lastmile.Truncate(string(r.Type), 32))
	case r.IsBase && (r.Type == RateSurcharge || r.Type == RateMinimum):
		return lastmile.Invalid("%s.isBaseRate cannot be combined with the ratingType %s", field, r.Type)
	}
	return nil
}

// checkUnit rejects a unit of another rating type, and sets the default.
func (r *Rate) checkUnit(field string) error {
	allowed := units[r.Type]
	switch {
	case r.Unit == "" && len(allowed) > 0:
		r.Unit = allowed[0]
	case r.Unit == "" || slices.Contains(allowed, r.Unit):
	case len(allowed) == 0:
		return lastmile.Invalid("%s.unit cannot be combined with the ratingType %s", field, r.Type)
	default:
		named := slices.DeleteFunc(slices.Clone(allowed), func(u Unit) bool { return u == "" })
		return lastmile.Invalid("%s.unit must be %s for the ratingType %s, not %q", field, listed(named), r.Type, lastmile.Truncate(string(r.Unit), 32))
	}
	return nil
}

// setAmounts sets amount, free units and tiers.
func (r *Rate) setAmounts(field string, d RateDraft, c Currency) (err error) {
	if d.Amount == nil {
		return lastmile.Missing(field + ".amount")
	}
	if r.Unit == Percent {
		r.Amount, err = newPercentage(field+".amount", *d.Amount)
	} else {
		r.Amount, err = c.NewAmount(field+".amount", *d.Amount)
	}
	if err != nil {
		return err
	}
	_, measured := sizes[r.Unit]
	switch {
	case measured:
	case d.Free != nil && *d.Free != 0:
		return lastmile.Invalid("%s.free cannot be combined with the ratingType %s", field, r.Type)
	case len(d.Tiers) > 0:
		return lastmile.Invalid("%s.tiers cannot be combined with the ratingType %s", field, r.Type)
	}
	if d.Free != nil {
		if r.Free = *d.Free; !(r.Free >= 0 && r.Free <= MaxUnits) {
			return lastmile.Invalid("%s.free must be between 0 and %d, not %v", field, MaxUnits, r.Free)
		}
		if fractions(r.Free) == 0 {
			r.Free = 0
		}
	}
	if len(d.Tiers) > MaxTiers {
		return lastmile.Invalid("%s.tiers has %d entries; at most %d are allowed", field, len(d.Tiers), MaxTiers)
	}
	last := 0.0
	for i, sent := range d.Tiers {
		tier, err := sent.tier(fmt.Sprintf("%s.tiers[%d]", field, i), last, c)
		if err != nil {
			return err
		}
		r.Tiers, last = append(r.Tiers, tier), tier.UpTo
	}
	return nil
}

func (d TierDraft) tier(field string, last float64, c Currency) (Tier, error) {
	switch {
	case d.UpTo == nil:
		return Tier{}, lastmile.Missing(field + ".upTo").Because("what follows the last tier costs the amount of the rate")
	case !(*d.UpTo > last) || fractions(*d.UpTo) == 0:
		return Tier{}, lastmile.Invalid("%s.upTo must be greater than %v, where the tier before ends, not %v", field, last, *d.UpTo)
	case *d.UpTo > MaxUnits:
		return Tier{}, lastmile.Invalid("%s.upTo must be at most %d, not %v", field, MaxUnits, *d.UpTo)
	case d.Amount == nil:
		return Tier{}, lastmile.Missing(field + ".amount")
	}
	amount, err := c.NewAmount(field+".amount", *d.Amount)
	return Tier{UpTo: *d.UpTo, Amount: amount}, err
}

// newPercentage returns a percentage that was sent.
func newPercentage(field string, value float64) (Amount, error) {
	if !(value >= 0 && value <= maxPercent) {
		return 0, lastmile.Invalid("%s must be between 0 and %d percent, not %v", field, maxPercent, value)
	}
	n, exact := scaled(value, percentDecimals)
	if !exact {
		return 0, lastmile.Invalid("%s must have at most %d decimals, not %v", field, percentDecimals, value)
	}
	return Amount(n), nil
}

// Percentage returns the amount of a percentage in percent, as a decimal number.
func (r Rate) Percentage() string { return point(r.Amount, percentDecimals) }

// applies reports whether the rate applies at a time in the location of the
// service.
func (r Rate) applies(at time.Time) bool { return r.When == nil || r.When.contains(at) }

// cost returns what a measured quantity costs: meters, seconds, kilograms or pieces. It
// counts in fractions of a unit that are integers, because reducing fractions is slow.
func (r Rate) cost(measured *big.Rat) *big.Int {
	units := new(big.Rat).Quo(measured, sizes[r.Unit])
	counted := func(units int64, by *big.Int) *big.Int { return new(big.Int).Mul(big.NewInt(units), by) }
	left := counted(perUnit, units.Num())
	left.Sub(left, counted(fractions(r.Free), units.Denom()))
	sum, charged := new(big.Int), new(big.Int)
	charge := func(end *big.Int, each Amount) {
		if n := new(big.Int).Sub(end, charged); n.Sign() > 0 {
			sum.Add(sum, n.Mul(n, big.NewInt(int64(each))))
			charged = end
		}
	}
	for _, tier := range r.Tiers {
		end := counted(fractions(tier.UpTo), units.Denom())
		if left.Cmp(end) <= 0 {
			end = left
		}
		charge(end, tier.Amount)
	}
	charge(left, r.Amount)
	return rounded(new(big.Rat).SetFrac(sum, counted(perUnit, units.Denom())))
}

// listed returns values for a message.
func listed[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	if n := len(texts); n > 1 {
		return strings.Join(texts[:n-1], ", ") + " or " + texts[n-1]
	}
	return texts[0]
}
