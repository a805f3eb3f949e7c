package order

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"dray/internal/lastmile"
)

func TestFractionsOfUnits(t *testing.T) {
	for value, want := range map[float64]int64{
		0: 0, 1: perUnit, 0.1: perUnit / 10, 1e-12: 1, 1e-13: 0, 1e-300: 0, 5e-324: 0, 999_999.1: 999_999_100_000_000_000, MaxUnits: MaxUnits * perUnit,
		0.30000000000000004: 300_000_000_000, 123_456.789012: 123_456_789_012_000_000,
	} {
		if got := fractions(value); got != want {
			t.Errorf("%v has %d parts, want %d", value, got, want)
		}
	}
}

// TestCostIsExact compares costs with those by exact fractions, tier by tier.
func TestCostIsExact(t *testing.T) {
	exact := func(v float64) *big.Rat {
		r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
		return r
	}
	source := rand.New(rand.NewPCG(1, 2)) // a test
	number := func(limit int64) float64 { return float64(source.Int64N(limit*1000)) / 1000 }
	for range 2_000 {
		r := Rate{Type: RateWeight, Unit: []Unit{Kilograms, Pounds}[source.IntN(2)], Amount: Amount(source.Int64N(100_000)), Free: number(3)}
		last := 0.0
		for range source.IntN(4) {
			last += 0.001 + number(5)
			r.Tiers = append(r.Tiers, Tier{UpTo: last, Amount: Amount(source.Int64N(100_000))})
		}
		weight := Weight{Value: number(30), Unit: []Unit{Kilograms, Pounds}[source.IntN(2)]}
		measured := new(big.Rat).Mul(exact(weight.Value), sizes[weight.Unit])

		units := new(big.Rat).Sub(new(big.Rat).Quo(measured, sizes[r.Unit]), exact(r.Free))
		sum, from := new(big.Rat), new(big.Rat)
		for i := range len(r.Tiers) + 1 {
			to, each := units, r.Amount
			if i < len(r.Tiers) {
				if each = r.Tiers[i].Amount; units.Cmp(exact(r.Tiers[i].UpTo)) > 0 {
					to = exact(r.Tiers[i].UpTo)
				}
			}
			if to.Cmp(from) > 0 {
				n := new(big.Rat).Sub(to, from)
				sum.Add(sum, n.Mul(n, big.NewRat(int64(each), 1)))
				from = to
			}
		}
		if got, want := r.cost(weight.kilograms()), rounded(sum); got.Cmp(want) != 0 {
			t.Fatalf("%v %s at %+v cost %v, want %v", weight.Value, weight.Unit, r, got, want)
		}
	}
}

// TestTinyNumbers: numbers that take long to read are not stored.
func TestTinyNumbers(t *testing.T) {
	const tiny = 5e-324
	rate := RateDraft{Name: "Weight", Type: RateWeight, IsBase: true, Amount: new(1.0), Free: new(tiny)}
	ring := []lastmile.Point{{Lon: tiny, Lat: -tiny}, {Lon: 1, Lat: tiny}, {Lon: 1, Lat: 1}, {Lon: tiny, Lat: -tiny}}
	s := newService(t, serviceDraft{Rates: []RateDraft{rate}, Limits: Limits{Area: Area{{ring}}}})
	if got := s.Limits.Area[0][0]; s.Rates[0].Free != 0 || got[0] != (lastmile.Point{}) || got[1] != (lastmile.Point{Lon: 1}) || ring[0].Lon != tiny {
		t.Errorf("%v units are free in %v", s.Rates[0].Free, got)
	}
	rate.Tiers = []TierDraft{{UpTo: new(tiny), Amount: new(1.0)}}
	if _, err := rate.rate("rates[0]", "", "USD"); err == nil || !strings.Contains(err.Error(), "rates[0].tiers[0].upTo") {
		t.Errorf("a tier of hardly any units: %v", err)
	}
}
