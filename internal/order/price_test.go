package order

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

var testNow = time.Date(2026, time.March, 2, 15, 0, 0, 0, time.UTC) // a Monday, 10:00 in New York

// freeBase is a base rate that costs nothing, for plans whose other rates are tested.
var freeBase = RateDraft{Name: "Base", Type: RateFlat, IsBase: true, Amount: new(0.0)}

// serviceDraft is a service to create.
type serviceDraft struct {
	DisplayName  string
	Currency     string
	Clients      []lastmile.ClientID
	Timezone     string
	Hours        []WindowDraft
	LeadTime     time.Duration
	SameDayUntil string
	DueIn        *time.Duration
	Limits       Limits
	Rates        []RateDraft
}

func (d serviceDraft) sent() ServiceChange {
	return ServiceChange{
		DisplayName: &d.DisplayName, Currency: &d.Currency, Clients: &d.Clients, Timezone: &d.Timezone, Hours: &d.Hours,
		LeadTime: &d.LeadTime, SameDayUntil: &d.SameDayUntil, DueIn: d.DueIn, Limits: &d.Limits, Rates: &d.Rates,
	}
}

func newService(t testing.TB, d serviceDraft) Service {
	t.Helper()
	if d.DisplayName == "" {
		d.DisplayName = "Express"
	}
	if d.Currency == "" {
		d.Currency = "USD"
	}
	if d.Timezone == "" {
		d.Timezone = "America/New_York"
	}
	if d.Rates == nil {
		d.Rates = []RateDraft{freeBase}
	}
	n := 0
	newID := func() string { n++; return fmt.Sprintf("rate%020d", n) }
	s, err := NewService("service00000000000000000", lastmile.Organization{ID: "courier", Timezone: "America/New_York"}, d.sent(), newID, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func testJob() Job {
	return Job{ReadyBy: testNow.Add(time.Hour), Quantity: 1, Weight: Weight{Value: 1, Unit: Kilograms}, Distance: 5_000, Duration: 900}
}

// Each want was computed by hand.
func TestPriceOfEachRatingType(t *testing.T) {
	tiers := func(pairs ...float64) (list []TierDraft) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, TierDraft{UpTo: &pairs[i], Amount: &pairs[i+1]})
		}
		return list
	}
	job := func(change func(*Job)) Job {
		j := testJob()
		change(&j)
		return j
	}
	meters := func(n int64) Job { return job(func(j *Job) { j.Distance = n }) }
	seconds := func(n int64) Job { return job(func(j *Job) { j.Duration = n }) }
	weight := func(v float64, u Unit) Job { return job(func(j *Job) { j.Weight = Weight{v, u} }) }
	pieces := func(n int) Job { return job(func(j *Job) { j.Quantity = n }) }

	for name, tt := range map[string]struct {
		rate     RateDraft
		currency string
		job      Job
		want     string
	}{
		"flat":           {RateDraft{Type: RateFlat, Amount: new(7.25)}, "USD", testJob(), "7.25"},
		"flat yen":       {RateDraft{Type: RateFlat, Amount: new(1200.0)}, "JPY", testJob(), "1200"},
		"flat dinar":     {RateDraft{Type: RateFlat, Amount: new(1.305)}, "KWD", testJob(), "1.305"},
		"flat small":     {RateDraft{Type: RateFlat, Amount: new(0.05)}, "EUR", testJob(), "0.05"},
		"flat zero":      {RateDraft{Type: RateFlat, Amount: new(0.0)}, "EUR", testJob(), "0.00"},
		"flat binary":    {RateDraft{Type: RateFlat, Amount: new(0.29)}, "USD", testJob(), "0.29"}, // 0.29*100 is 28.999… in floating point
		"flat at most":   {RateDraft{Type: RateFlat, Amount: new(float64(MaxAmount))}, "TND", testJob(), "10000000.000"},
		"flat lower ISO": {RateDraft{Type: RateFlat, Amount: new(3.0)}, "gbp", testJob(), "3.00"},

		"distance km":               {RateDraft{Type: RateDistance, Amount: new(1.2)}, "USD", meters(5_000), "6.00"},
		"distance part of a km":     {RateDraft{Type: RateDistance, Amount: new(1.2)}, "USD", meters(5_432), "6.52"},               // 6.5184
		"distance half a cent up":   {RateDraft{Type: RateDistance, Amount: new(1.5)}, "USD", meters(1_230), "1.85"},               // 1.845
		"distance below half":       {RateDraft{Type: RateDistance, Amount: new(1.5)}, "USD", meters(1_229), "1.84"},               // 1.8435
		"distance mi":               {RateDraft{Type: RateDistance, Amount: new(2.0), Unit: Miles}, "USD", meters(8_047), "10.00"}, // 5.00017 mi
		"distance mi exactly":       {RateDraft{Type: RateDistance, Amount: new(0.01), Unit: Miles}, "USD", meters(1_609_344), "10.00"},
		"distance nothing":          {RateDraft{Type: RateDistance, Amount: new(1.2)}, "USD", meters(0), "0.00"},
		"distance free":             {RateDraft{Type: RateDistance, Amount: new(1.2), Free: new(3.0)}, "USD", meters(5_000), "2.40"},
		"distance exactly free":     {RateDraft{Type: RateDistance, Amount: new(1.2), Free: new(5.0)}, "USD", meters(5_000), "0.00"},
		"distance less than free":   {RateDraft{Type: RateDistance, Amount: new(1.2), Free: new(5.5)}, "USD", meters(5_000), "0.00"},
		"distance free fraction":    {RateDraft{Type: RateDistance, Amount: new(1.0), Free: new(0.1)}, "USD", meters(1_000), "0.90"},
		"distance yen":              {RateDraft{Type: RateDistance, Amount: new(95.0)}, "JPY", meters(3_100), "295"},    // 294.5
		"distance dinar":            {RateDraft{Type: RateDistance, Amount: new(0.125)}, "BHD", meters(4_300), "0.538"}, // 0.5375
		"tiers below first":         {RateDraft{Type: RateDistance, Amount: new(1.0), Tiers: tiers(5, 2, 10, 1.5)}, "USD", meters(3_000), "6.00"},
		"tiers at first":            {RateDraft{Type: RateDistance, Amount: new(1.0), Tiers: tiers(5, 2, 10, 1.5)}, "USD", meters(5_000), "10.00"},
		"tiers a meter past first":  {RateDraft{Type: RateDistance, Amount: new(1.0), Tiers: tiers(5, 20, 10, 15)}, "USD", meters(5_001), "100.02"}, // 100.015
		"tiers at second":           {RateDraft{Type: RateDistance, Amount: new(1.0), Tiers: tiers(5, 2, 10, 1.5)}, "USD", meters(10_000), "17.50"},
		"tiers past second":         {RateDraft{Type: RateDistance, Amount: new(1.0), Tiers: tiers(5, 2, 10, 1.5)}, "USD", meters(12_500), "20.00"},
		"tiers at zero":             {RateDraft{Type: RateDistance, Amount: new(1.0), Tiers: tiers(5, 2)}, "USD", meters(0), "0.00"},
		"tiers after free":          {RateDraft{Type: RateDistance, Amount: new(1.0), Free: new(2.0), Tiers: tiers(5, 2)}, "USD", meters(8_000), "11.00"}, // 5 at 2, 1 at 1
		"tiers exactly after free":  {RateDraft{Type: RateDistance, Amount: new(1.0), Free: new(2.0), Tiers: tiers(5, 2)}, "USD", meters(7_000), "10.00"},
		"tiers all free":            {RateDraft{Type: RateDistance, Amount: new(1.0), Free: new(9.0), Tiers: tiers(5, 2)}, "USD", meters(7_000), "0.00"},
		"tiers fractional boundary": {RateDraft{Type: RateDistance, Amount: new(0.0), Tiers: tiers(2.5, 4)}, "USD", meters(2_500), "10.00"},
		"tiers free first":          {RateDraft{Type: RateDistance, Amount: new(3.0), Tiers: tiers(5, 0)}, "USD", meters(7_000), "6.00"},
		"tiers rounded once":        {RateDraft{Type: RateDistance, Amount: new(0.01), Tiers: tiers(0.5, 0.01, 1, 0.01)}, "USD", meters(1_500), "0.02"}, // 0.005+0.005+0.005

		"duration minute":  {RateDraft{Type: RateDuration, Amount: new(0.4)}, "USD", seconds(900), "6.00"},
		"duration seconds": {RateDraft{Type: RateDuration, Amount: new(0.4)}, "USD", seconds(907), "6.05"}, // 6.04667
		"duration hour":    {RateDraft{Type: RateDuration, Amount: new(30.0), Unit: Hours}, "USD", seconds(900), "7.50"},
		"duration free":    {RateDraft{Type: RateDuration, Amount: new(0.4), Free: new(10.0)}, "USD", seconds(900), "2.00"},
		"duration tiers":   {RateDraft{Type: RateDuration, Amount: new(0.5), Tiers: tiers(15, 0.4)}, "USD", seconds(1_200), "8.50"},

		"weight kg":               {RateDraft{Type: RateWeight, Amount: new(0.75)}, "EUR", weight(4, Kilograms), "3.00"},
		"weight kg fraction":      {RateDraft{Type: RateWeight, Amount: new(0.75)}, "EUR", weight(2.3, Kilograms), "1.73"}, // 1.725
		"weight lbs by kg":        {RateDraft{Type: RateWeight, Amount: new(1.0)}, "EUR", weight(10, Pounds), "4.54"},
		"weight lbs by lbs":       {RateDraft{Type: RateWeight, Amount: new(0.35), Unit: Pounds}, "USD", weight(10, Pounds), "3.50"},
		"weight kg by lbs":        {RateDraft{Type: RateWeight, Amount: new(1.0), Unit: Pounds}, "USD", weight(1, Kilograms), "2.20"},
		"weight free lbs":         {RateDraft{Type: RateWeight, Amount: new(0.35), Unit: Pounds, Free: new(4.0)}, "USD", weight(10, Pounds), "2.10"},
		"weight tier boundary":    {RateDraft{Type: RateWeight, Amount: new(0.5), Tiers: tiers(5, 1)}, "USD", weight(5, Kilograms), "5.00"},
		"weight past boundary":    {RateDraft{Type: RateWeight, Amount: new(0.5), Tiers: tiers(5, 1)}, "USD", weight(5.02, Kilograms), "5.01"},
		"weight nothing":          {RateDraft{Type: RateWeight, Amount: new(0.5)}, "USD", weight(0, Kilograms), "0.00"},
		"weight decimal fraction": {RateDraft{Type: RateWeight, Amount: new(10.0), Free: new(0.1)}, "USD", weight(0.3, Kilograms), "2.00"}, // 0.3-0.1 is 0.19999… in floating point

		"quantity":          {RateDraft{Type: RateQuantity, Amount: new(1.5)}, "USD", pieces(4), "6.00"},
		"quantity free":     {RateDraft{Type: RateQuantity, Amount: new(1.5), Free: new(1.0)}, "USD", pieces(4), "4.50"},
		"quantity all free": {RateDraft{Type: RateQuantity, Amount: new(1.5), Free: new(1.0)}, "USD", pieces(1), "0.00"},
		"quantity tiers":    {RateDraft{Type: RateQuantity, Amount: new(0.5), Tiers: tiers(2, 3, 5, 1)}, "USD", pieces(7), "10.00"}, // 6 + 3 + 1
		"quantity yen":      {RateDraft{Type: RateQuantity, Amount: new(333.0)}, "JPY", pieces(3), "999"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.rate.Name = "Tested"
			s := newService(t, serviceDraft{Currency: tt.currency, Rates: []RateDraft{freeBase, tt.rate}})
			p, ok := s.Price(tt.job)
			if got := p.Currency.Text(p.Total); !ok || got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if e := p.Entries[1]; len(p.Entries) != 2 || e.Cost != p.Total || e.Type != tt.rate.Type || e.Name != "Tested" || e.IsBase || e.ID != s.Rates[1].ID {
				t.Errorf("entries are %+v", p.Entries)
			}
		})
	}
}

func TestPriceCombinesRates(t *testing.T) {
	base := RateDraft{Name: "Base", Type: RateFlat, IsBase: true, Amount: new(4.0)}
	distance := RateDraft{Name: "Distance", Type: RateDistance, Amount: new(1.2), Free: new(2.0)} // 5 km: 3.60
	fuel := RateDraft{Name: "Fuel", Type: RateSurcharge, Amount: new(7.5), Unit: Percent}
	small := RateDraft{Name: "Small order", Type: RateMinimum, Amount: new(9.0)}
	toll := RateDraft{Name: "Toll", Type: RateSurcharge, Amount: new(2.0)}
	for name, tt := range map[string]struct {
		rates []RateDraft
		want  string
	}{
		"sum":                              {[]RateDraft{base, distance}, "Base 4.00, Distance 3.60 = 7.60"},
		"percentage":                       {[]RateDraft{base, distance, fuel}, "Base 4.00, Distance 3.60, Fuel 0.57 = 8.17"},
		"surcharges come after rates":      {[]RateDraft{fuel, base, distance}, "Base 4.00, Distance 3.60, Fuel 0.57 = 8.17"},
		"percentage of no other surcharge": {[]RateDraft{base, distance, toll, fuel}, "Base 4.00, Distance 3.60, Toll 2.00, Fuel 0.57 = 10.17"},
		"minimum":                          {[]RateDraft{small, base, distance}, "Base 4.00, Distance 3.60, Small order 1.40 = 9.00"},
		"minimum after surcharges":         {[]RateDraft{base, distance, small, fuel}, "Base 4.00, Distance 3.60, Fuel 0.57, Small order 0.83 = 9.00"},
		"minimum that is reached":          {[]RateDraft{base, distance, small, toll}, "Base 4.00, Distance 3.60, Toll 2.00 = 9.60"},
		"minimum exactly reached":          {[]RateDraft{base, {Name: "Least", Type: RateMinimum, Amount: new(4.0)}}, "Base 4.00 = 4.00"},
		"two minimums": {
			[]RateDraft{base, {Name: "A", Type: RateMinimum, Amount: new(5.0)}, {Name: "B", Type: RateMinimum, Amount: new(8.0)}},
			"Base 4.00, A 1.00, B 3.00 = 8.00",
		},
		"three measures": {
			[]RateDraft{{Name: "Base", Type: RateDistance, IsBase: true, Amount: new(0.03)}, {Name: "Time", Type: RateDuration, Amount: new(0.03)}, {Name: "Weight", Type: RateWeight, Amount: new(0.01)}},
			"Base 0.15, Time 0.45, Weight 0.01 = 0.61",
		},
		"every entry is rounded alone": {
			[]RateDraft{{Name: "Base", Type: RateDistance, IsBase: true, Amount: new(0.01), Free: new(4.5)}, {Name: "Again", Type: RateDistance, Amount: new(0.01), Free: new(4.5)}},
			"Base 0.01, Again 0.01 = 0.02",
		}, // twice 0.005, whose sum is 0.01
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, serviceDraft{Rates: tt.rates})
			p, _ := s.Price(testJob())
			if got := shown(p); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func shown(p Price) string {
	var parts []string
	for _, e := range p.Entries {
		parts = append(parts, e.Name+" "+p.Currency.Text(e.Cost))
	}
	return strings.Join(parts, ", ") + " = " + p.Currency.Text(p.Total)
}

func TestSurchargeWindows(t *testing.T) {
	night := WindowDraft{From: "22:00", To: "06:00"}
	fridayNight := WindowDraft{Days: []string{"fri"}, From: "22:00", To: "06:00"}
	weekend := WindowDraft{Days: []string{"saturday", "Sun"}}
	evening := WindowDraft{From: "18:00"}
	morning := WindowDraft{To: "08:30"}
	small := WindowDraft{From: "01:30", To: "02:30"}
	for name, tt := range map[string]struct {
		when WindowDraft
		at   string // RFC 3339; the service is in New York
		want bool
	}{
		"night begins":                {night, "2026-03-02T22:00:00-05:00", true},
		"before the night":            {night, "2026-03-02T21:59:59-05:00", false},
		"at midnight":                 {night, "2026-03-03T00:00:00-05:00", true},
		"night's last second":         {night, "2026-03-03T05:59:59-05:00", true},
		"night ends":                  {night, "2026-03-03T06:00:00-05:00", false},
		"in another zone":             {night, "2026-03-03T04:00:00+01:00", true}, // 22:00 in New York
		"Friday night":                {fridayNight, "2026-03-06T23:00:00-05:00", true},
		"Friday night, on Saturday":   {fridayNight, "2026-03-07T05:00:00-05:00", true},
		"Saturday night":              {fridayNight, "2026-03-07T23:00:00-05:00", false},
		"Friday morning":              {fridayNight, "2026-03-06T05:00:00-05:00", false},
		"Saturday":                    {weekend, "2026-03-07T00:00:00-05:00", true},
		"Sunday's last second":        {weekend, "2026-03-08T23:59:59-04:00", true},
		"Monday":                      {weekend, "2026-03-09T00:00:00-04:00", false},
		"Friday, Saturday in UTC":     {weekend, "2026-03-07T04:59:59Z", false},
		"evening":                     {evening, "2026-03-02T18:00:00-05:00", true},
		"last minute of the evening":  {evening, "2026-03-02T23:59:30-05:00", true},
		"after the evening":           {evening, "2026-03-03T00:00:00-05:00", false},
		"morning":                     {morning, "2026-03-02T00:00:00-05:00", true},
		"after the morning":           {morning, "2026-03-02T08:30:00-05:00", false},
		"spring: 01:59 is before":     {WindowDraft{From: "02:00", To: "03:00"}, "2026-03-08T06:59:59Z", false}, // 01:59:59 EST
		"spring: 03:00 follows":       {WindowDraft{From: "02:00", To: "03:00"}, "2026-03-08T07:00:00Z", false}, // 03:00:00 EDT
		"spring: the night before":    {night, "2026-03-08T06:59:59Z", true},
		"spring: the night continues": {night, "2026-03-08T09:59:59Z", true},  // 05:59:59 EDT
		"spring: the night ends":      {night, "2026-03-08T10:00:00Z", false}, // 06:00 EDT
		"autumn: 01:30 EDT":           {small, "2026-11-01T05:30:00Z", true},
		"autumn: 01:00 EST":           {small, "2026-11-01T06:00:00Z", false}, // the clock shows 01:00 again
		"autumn: 01:30 EST":           {small, "2026-11-01T06:30:00Z", true},
		"autumn: 02:29 EST":           {small, "2026-11-01T07:29:59Z", true},
		"autumn: 02:30 EST":           {small, "2026-11-01T07:30:00Z", false},
		"autumn: the night is longer": {night, "2026-11-01T10:59:59Z", true}, // 05:59:59 EST
		"autumn: the night ends":      {night, "2026-11-01T11:00:00Z", false},
	} {
		t.Run(name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			s := newService(t, serviceDraft{Rates: []RateDraft{
				{Name: "Base", Type: RateFlat, IsBase: true, Amount: new(10.0)},
				{Name: "Surcharge", Type: RateSurcharge, Amount: new(25.0), Unit: Percent, When: &tt.when},
			}})
			j := testJob()
			j.ReadyBy = at
			want := Amount(1_000)
			if tt.want {
				want = 1_250
			}
			if p, _ := s.Price(j); p.Total != want {
				t.Errorf("got %s", shown(p))
			}
		})
	}
}

// Any rate can be restricted to a window, except the base rate.
func TestWindowsOfOtherRates(t *testing.T) {
	s := newService(t, serviceDraft{Rates: []RateDraft{
		{Name: "Base", Type: RateFlat, IsBase: true, Amount: new(5.0)},
		{Name: "Distance", Type: RateDistance, Amount: new(1.0), When: &WindowDraft{Days: []string{"sun"}}},
		{Name: "Least", Type: RateMinimum, Amount: new(12.0), When: &WindowDraft{Days: []string{"sun"}}},
	}})
	j := testJob() // on Monday
	if p, _ := s.Price(j); shown(p) != "Base 5.00 = 5.00" {
		t.Errorf("on Monday it is %s", shown(p))
	}
	j.ReadyBy = j.ReadyBy.AddDate(0, 0, 6)
	if p, _ := s.Price(j); shown(p) != "Base 5.00, Distance 5.00, Least 2.00 = 12.00" {
		t.Errorf("on Sunday it is %s", shown(p))
	}
}

func TestPricesTooLargeToBeExactAreNoPrices(t *testing.T) {
	s := newService(t, serviceDraft{Rates: []RateDraft{{Name: "Base", Type: RateQuantity, IsBase: true, Amount: new(float64(MaxAmount))}}})
	j := testJob()
	if _, ok := s.Price(j); !ok {
		t.Error("one piece has no price")
	}
	j.Quantity = MaxUnits
	if p, ok := s.Price(j); ok {
		t.Errorf("got %s", shown(p))
	}
}

func TestCurrencies(t *testing.T) {
	for code, want := range map[Currency]int{"USD": 2, "JPY": 0, "KWD": 3, "CLP": 0, "TND": 3, "EUR": 2} {
		if got := code.Decimals(); got != want {
			t.Errorf("%s has %d decimals, want %d", code, got, want)
		}
	}
	for code := range decimals {
		if len(code) != 3 || strings.ToUpper(string(code)) != string(code) {
			t.Errorf("%q is no code", code)
		}
	}
	for _, tt := range []struct {
		c    Currency
		a    Amount
		want string
	}{{"USD", 0, "0.00"}, {"USD", 5, "0.05"}, {"USD", 99, "0.99"}, {"USD", 100, "1.00"}, {"KWD", 7, "0.007"}, {"KWD", 12_345, "12.345"}, {"JPY", 7, "7"}} {
		if got := tt.c.Text(tt.a); got != tt.want {
			t.Errorf("%d of %s is %s, want %s", tt.a, tt.c, got, tt.want)
		}
	}
}

func FuzzPriceAddsUp(f *testing.F) {
	f.Add(int64(5_432), int64(907), 2.3, 3, 1.21, 0.5, 4.0, uint8(0), int64(1_772_000_000))
	f.Add(int64(0), int64(0), 0.0, 1, 0.0, 0.0, 0.001, uint8(255), int64(1_762_000_000))
	f.Fuzz(func(t *testing.T, meters, seconds int64, weight float64, pieces int, amount, free, upTo float64, kind uint8, at int64) {
		c := []string{"JPY", "USD", "KWD"}[kind%3]
		amount = float64(int64(amount)) // fits every currency
		when := &WindowDraft{From: "20:00", To: "07:00", Days: []string{"mon", "thu"}}
		d := serviceDraft{DisplayName: "x", Currency: c, Timezone: "Europe/Berlin", Rates: []RateDraft{{Name: "Base", Type: RateFlat, IsBase: true, Amount: &amount}}}
		for _, typ := range RatingType("").Values() {
			r := RateDraft{Name: string(typ), Type: typ, Amount: &amount}
			if len(units[typ]) > 0 {
				r.Unit = units[typ][int(kind>>2)%len(units[typ])]
			}
			if _, measured := sizes[r.Unit]; measured {
				r.Free, r.Tiers = &free, []TierDraft{{UpTo: &upTo, Amount: &amount}}
			} else if kind > 100 {
				r.When = when
			}
			d.Rates = append(d.Rates, r)
		}
		s, err := NewService("s", lastmile.Organization{}, d.sent(), func() string { return "id" }, testNow)
		if err != nil {
			t.Skip()
		}
		j := Job{ReadyBy: time.Unix(at%4_000_000_000, 0), Quantity: pieces, Weight: Weight{weight, Pounds}, Distance: max(meters, 0), Duration: max(seconds, 0)}
		if j.Check(time.Unix(0, 0)) != nil {
			t.Skip()
		}
		p, ok := s.Price(j)
		if !ok {
			t.Skip()
		}
		var sum Amount
		for _, e := range p.Entries {
			if e.Cost < 0 {
				t.Errorf("an entry is negative: %s", shown(p))
			}
			sum += e.Cost
		}
		if sum != p.Total {
			t.Errorf("entries add up to %d, not %d: %s", sum, p.Total, shown(p))
		}
		// The texts that clients read add up as well.
		total := new(big.Rat)
		for _, e := range p.Entries {
			cost, _ := new(big.Rat).SetString(p.Currency.Text(e.Cost))
			total.Add(total, cost)
		}
		if want, _ := new(big.Rat).SetString(p.Currency.Text(p.Total)); total.Cmp(want) != 0 {
			t.Errorf("the texts add up to %v, not %v", total, want)
		}
	})
}
