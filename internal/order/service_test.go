package order

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestAvailability(t *testing.T) {
	office := []WindowDraft{{Days: []string{"mon", "tue", "wed", "thu", "fri"}, From: "08:00", To: "18:00"}, {Days: []string{"sat"}, From: "09:00", To: "12:00"}}
	night := []WindowDraft{{Days: []string{"fri"}, From: "22:00", To: "02:00"}}
	for name, tt := range map[string]struct {
		service    serviceDraft
		now, ready string
		want       bool
	}{
		"no restrictions":                  {serviceDraft{}, "2026-03-02T10:00:00-05:00", "2026-03-02T10:00:00-05:00", true},
		"ready a while ago":                {serviceDraft{}, "2026-03-02T10:00:00-05:00", "2026-03-02T09:00:00-05:00", true},
		"in hours":                         {serviceDraft{Hours: office}, "2026-03-02T07:00:00-05:00", "2026-03-02T08:00:00-05:00", true},
		"before hours":                     {serviceDraft{Hours: office}, "2026-03-02T07:00:00-05:00", "2026-03-02T07:59:59-05:00", false},
		"hours end":                        {serviceDraft{Hours: office}, "2026-03-02T07:00:00-05:00", "2026-03-02T18:00:00-05:00", false},
		"Saturday":                         {serviceDraft{Hours: office}, "2026-03-02T07:00:00-05:00", "2026-03-07T09:00:00-05:00", true},
		"Saturday afternoon":               {serviceDraft{Hours: office}, "2026-03-02T07:00:00-05:00", "2026-03-07T12:00:00-05:00", false},
		"Sunday":                           {serviceDraft{Hours: office}, "2026-03-02T07:00:00-05:00", "2026-03-08T10:00:00-04:00", false},
		"in hours of its own zone":         {serviceDraft{Hours: office, Timezone: "Asia/Tokyo"}, "2026-03-02T07:00:00Z", "2026-03-02T23:30:00Z", true},
		"night, after midnight":            {serviceDraft{Hours: night}, "2026-03-02T07:00:00Z", "2026-03-07T01:59:00-05:00", true},
		"night, Friday after midnight":     {serviceDraft{Hours: night}, "2026-03-02T07:00:00Z", "2026-03-06T01:59:00-05:00", false},
		"in hours after the clock changed": {serviceDraft{Hours: office}, "2026-03-09T00:00:00Z", "2026-03-09T12:00:00Z", true},  // 08:00 EDT
		"same instant before it changed":   {serviceDraft{Hours: office}, "2026-03-02T00:00:00Z", "2026-03-02T12:00:00Z", false}, // 07:00 EST

		"lead time kept":              {serviceDraft{LeadTime: time.Hour}, "2026-03-02T10:00:00-05:00", "2026-03-02T11:00:00-05:00", true},
		"lead time missed":            {serviceDraft{LeadTime: time.Hour}, "2026-03-02T10:00:00-05:00", "2026-03-02T10:59:00-05:00", false},
		"lead time, a slow request":   {serviceDraft{LeadTime: time.Hour}, "2026-03-02T10:00:30-05:00", "2026-03-02T11:00:00-05:00", true},
		"lead time over a changeover": {serviceDraft{LeadTime: 24 * time.Hour}, "2026-03-07T12:00:00-05:00", "2026-03-08T12:00:00-04:00", false}, // 23 hours later

		"same day in time":         {serviceDraft{SameDayUntil: "14:00"}, "2026-03-02T13:59:59-05:00", "2026-03-02T17:00:00-05:00", true},
		"same day too late":        {serviceDraft{SameDayUntil: "14:00"}, "2026-03-02T14:00:00-05:00", "2026-03-02T17:00:00-05:00", false},
		"next day":                 {serviceDraft{SameDayUntil: "14:00"}, "2026-03-02T20:00:00-05:00", "2026-03-03T00:00:00-05:00", true},
		"ready yesterday":          {serviceDraft{SameDayUntil: "14:00"}, "2026-03-02T20:00:00-05:00", "2026-03-01T23:00:00-05:00", false},
		"same day only in UTC":     {serviceDraft{SameDayUntil: "14:00"}, "2026-03-03T04:00:00Z", "2026-03-03T05:00:00Z", true}, // 23:00, and 00:00 of the next day
		"same day until midnight":  {serviceDraft{SameDayUntil: "24:00"}, "2026-03-02T23:59:00-05:00", "2026-03-02T23:59:30-05:00", true},
		"never on the same day":    {serviceDraft{SameDayUntil: "00:00"}, "2026-03-02T00:00:00-05:00", "2026-03-02T12:00:00-05:00", false},
		"autumn: before the limit": {serviceDraft{SameDayUntil: "01:30"}, "2026-11-01T06:29:00Z", "2026-11-01T15:00:00Z", true}, // 01:29 for the second time
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, tt.service)
			j := testJob()
			now, _ := time.Parse(time.RFC3339, tt.now)
			var err error
			if j.ReadyBy, err = time.Parse(time.RFC3339, tt.ready); err != nil {
				t.Fatal(err)
			}
			if got := s.Obstacle(j, now) == ""; got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestDue(t *testing.T) {
	j := testJob()
	s := newService(t, serviceDraft{})
	if got := s.Due(j, testNow).Sub(j.ReadyBy); got != DefaultDueIn {
		t.Errorf("by default it is due in %v", got)
	}
	hour := time.Hour
	s = newService(t, serviceDraft{DueIn: &hour})
	if got := s.Due(j, testNow).Sub(j.ReadyBy); got != hour {
		t.Errorf("it is due in %v", got)
	}
	j.DueBy = j.ReadyBy.Add(time.Minute)
	if got := s.Due(j, testNow); !got.Equal(j.DueBy) {
		t.Errorf("the client's time is not used, but %v", got)
	}
}

func TestLimits(t *testing.T) {
	five := 5
	weight := func(v float64, u Unit) Limits { return Limits{Weight: &Weight{v, u}} }
	distance := func(v float64, u Unit) Limits { return Limits{Distance: &Distance{v, u}} }
	for name, tt := range map[string]struct {
		limits Limits
		change func(*Job)
		want   bool
	}{
		"none":                  {Limits{}, func(j *Job) { j.Weight.Value, j.Quantity, j.Distance = 1e6, 1e6, 1e8 }, true},
		"weight at most":        {weight(20, Kilograms), func(j *Job) { j.Weight = Weight{20, Kilograms} }, true},
		"weight above":          {weight(20, Kilograms), func(j *Job) { j.Weight = Weight{20.001, Kilograms} }, false},
		"pounds below":          {weight(20, Kilograms), func(j *Job) { j.Weight = Weight{44.09, Pounds} }, true}, // 19.9989 kg
		"pounds above":          {weight(20, Kilograms), func(j *Job) { j.Weight = Weight{44.1, Pounds} }, false}, // 20.0034 kg
		"limit in pounds":       {weight(50, Pounds), func(j *Job) { j.Weight = Weight{22.67, Kilograms} }, true},
		"limit in pounds above": {weight(50, Pounds), func(j *Job) { j.Weight = Weight{22.68, Kilograms} }, false},
		"pieces at most":        {Limits{Quantity: &five}, func(j *Job) { j.Quantity = 5 }, true},
		"pieces above":          {Limits{Quantity: &five}, func(j *Job) { j.Quantity = 6 }, false},
		"distance at most":      {distance(12.5, Kilometers), func(j *Job) { j.Distance = 12_500 }, true},
		"distance above":        {distance(12.5, Kilometers), func(j *Job) { j.Distance = 12_501 }, false},
		"miles at most":         {distance(10, Miles), func(j *Job) { j.Distance = 16_093 }, true},
		"miles above":           {distance(10, Miles), func(j *Job) { j.Distance = 16_094 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, serviceDraft{Limits: tt.limits})
			j := testJob()
			tt.change(&j)
			if got := s.Obstacle(j, testNow) == "" && s.TooFar(j) == ""; got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestClientsOfAService(t *testing.T) {
	s := newService(t, serviceDraft{Clients: []lastmile.ClientID{"a", "b", "a"}})
	if !s.Offers("b") || s.Offers("c") || !(&Service{}).Offers("c") {
		t.Errorf("clients are %v", s.Clients)
	}
}

func ring(pairs ...float64) []lastmile.Point {
	var r []lastmile.Point
	for i := 0; i < len(pairs); i += 2 {
		r = append(r, lastmile.Point{Lon: pairs[i], Lat: pairs[i+1]})
	}
	return append(r, r[0])
}

func TestArea(t *testing.T) {
	square := ring(0, 0, 10, 0, 10, 10, 0, 10)
	hole := ring(4, 4, 6, 4, 6, 6, 4, 6)
	island := ring(20, 0, 22, 0, 22, 2, 20, 2)
	fiji := ring(175, -20, -175, -20, -175, -15, 175, -15)       // across the antimeridian
	clockwise := ring(175, -15, -175, -15, -175, -20, 175, -20)  // the other way around
	west := ring(-175, -20, 175, -20, 175, -15, -175, -15)       // beginning on the other side
	touching := ring(170, 0, 180, 0, 180, 5, 170, 5)             // up to the antimeridian
	mixed := ring(170, 0, 180, 0, -180, 5, 170, 5)               // the antimeridian, written as 180 and as -180
	world := ring(-180, -90, 180, -90, 180, 90, -180, 90)        // all the way around
	concave := ring(0, 0, 10, 0, 10, 10, 5, 5, 0, 10)            // with a notch
	diamond := ring(0, -5, 5, 0, 0, 5, -5, 0)                    // its corners are at the height of points
	holeAcross := ring(179, -18, -179, -18, -179, -17, 179, -17) // a hole across the antimeridian
	for name, tt := range map[string]struct {
		area     Area
		lon, lat float64
		want     bool
	}{
		"inside":                               {Area{{square}}, 5, 5, true},
		"east":                                 {Area{{square}}, 10.0001, 5, false},
		"west":                                 {Area{{square}}, -0.0001, 5, false},
		"north":                                {Area{{square}}, 5, 10.0001, false},
		"south":                                {Area{{square}}, 5, -0.0001, false},
		"edge":                                 {Area{{square}}, 10, 5, true},
		"lower edge":                           {Area{{square}}, 5, 0, true},
		"corner":                               {Area{{square}}, 0, 10, true},
		"on the line of an edge":               {Area{{square}}, 15, 10, false},
		"in the hole":                          {Area{{square, hole}}, 5, 5, false},
		"edge of the hole":                     {Area{{square, hole}}, 4, 5, true},
		"beside the hole":                      {Area{{square, hole}}, 3.9, 5, true},
		"outside with a hole":                  {Area{{square, hole}}, 11, 5, false},
		"second polygon":                       {Area{{square, hole}, {island}}, 21, 1, true},
		"between polygons":                     {Area{{square, hole}, {island}}, 15, 1, false},
		"polygon in a hole":                    {Area{{square, hole}, {ring(4.5, 4.5, 5.5, 4.5, 5.5, 5.5, 4.5, 5.5)}}, 5, 5, true},
		"notch":                                {Area{{concave}}, 5, 7, false},
		"beside the notch":                     {Area{{concave}}, 2, 7, true},
		"height of corners":                    {Area{{diamond}}, 1, 0, true},
		"height of corners, west":              {Area{{diamond}}, -6, 0, false},
		"height of corners, east":              {Area{{diamond}}, 6, 0, false},
		"height of the top":                    {Area{{diamond}}, -1, 5, false},
		"antimeridian, west of it":             {Area{{fiji}}, 178.4, -18.1, true},
		"antimeridian, east of it":             {Area{{fiji}}, -178.4, -18.1, true},
		"antimeridian itself":                  {Area{{fiji}}, 180, -18, true},
		"antimeridian, other name":             {Area{{fiji}}, -180, -18, true},
		"antimeridian, far west":               {Area{{fiji}}, 174.9, -18, false},
		"antimeridian, far east":               {Area{{fiji}}, -174.9, -18, false},
		"antimeridian, Greenwich":              {Area{{fiji}}, 0, -18, false},
		"antimeridian, edge":                   {Area{{fiji}}, -175, -18, true},
		"antimeridian, clockwise":              {Area{{clockwise}}, -178.4, -18.1, true},
		"antimeridian, clockwise out":          {Area{{clockwise}}, 0, -18.1, false},
		"antimeridian, from the east":          {Area{{west}}, 178.4, -18.1, true},
		"antimeridian, both sides":             {Area{{west}}, -178.4, -18.1, true},
		"antimeridian, hole":                   {Area{{fiji, holeAcross}}, 179.5, -17.5, false},
		"antimeridian, hole's east":            {Area{{fiji, holeAcross}}, -179.5, -17.5, false},
		"antimeridian, beside hole":            {Area{{fiji, holeAcross}}, -178.5, -17.5, true},
		"split in two, as RFC 7946 recommends": {Area{{ring(175, -20, 180, -20, 180, -15, 175, -15)}, {ring(-180, -20, -175, -20, -175, -15, -180, -15)}}, -178, -18, true},
		"up to the antimeridian":               {Area{{touching}}, -180, 2, true},
		"not beyond the antimeridian":          {Area{{touching}}, -179.9, 2, false},
		"antimeridian by two names":            {Area{{mixed}}, 175, 2, true},
		"antimeridian by two names, beyond":    {Area{{mixed}}, -175, 2, false},
		"antimeridian by two names, far":       {Area{{mixed}}, 0, 2, false},
		"world":                                {Area{{world}}, 12, 34, true},
		"world, far":                           {Area{{world}}, -179, -89, true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tt.area.check("area"); err != nil {
				t.Fatal(err)
			}
			if got := tt.area.Contains(lastmile.Point{Lon: tt.lon, Lat: tt.lat}); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}

	j := testJob()
	j.Pickup, j.Dropoff = lastmile.Point{Lon: 5, Lat: 5}, lastmile.Point{Lon: 15, Lat: 5}
	s := newService(t, serviceDraft{Limits: Limits{Area: Area{{square}}}})
	if s.Obstacle(j, testNow) == "" {
		t.Error("a drop-off outside the area is offered")
	}
	j.Pickup, j.Dropoff = j.Dropoff, j.Pickup
	if s.Obstacle(j, testNow) == "" {
		t.Error("a pickup outside the area is offered")
	}
	j.Pickup = j.Dropoff
	if s.Obstacle(j, testNow) != "" {
		t.Error("a delivery in the area is not offered")
	}
}

// A point is in exactly one half of a square that is cut in two, wherever the square
// is.
func FuzzAreaHalves(f *testing.F) {
	f.Add(175.0, -20.0, 3.0, 2.0)
	f.Add(0.0, 0.0, 5.0, 5.0)
	f.Fuzz(func(t *testing.T, lon, lat, x, y float64) {
		if !(math.Abs(lon) <= 180 && math.Abs(lat) <= 70 && x > 0.01 && x < 9.99 && y > 0.01 && y < 9.99) || math.Abs(x-5) < 0.01 {
			t.Skip()
		}
		at := func(dx, dy float64) (float64, float64) { return math.Remainder(lon+dx, 360), lat + dy }
		half := func(from, to float64) []lastmile.Point {
			var pairs []float64
			for _, c := range [][2]float64{{from, 0}, {to, 0}, {to, 10}, {from, 10}} {
				a, b := at(c[0], c[1])
				pairs = append(pairs, a, b)
			}
			return ring(pairs...)
		}
		px, py := at(x, y)
		p := lastmile.Point{Lon: px, Lat: py}
		if l, r := (Area{{half(0, 5)}}).Contains(p), (Area{{half(5, 10)}}).Contains(p); l == r || l != (x < 5) {
			t.Errorf("left %v, right %v", l, r)
		}
	})
}

func TestServicesThatAreRejected(t *testing.T) {
	rate := func(change func(*RateDraft)) serviceDraft {
		r := RateDraft{Name: "Distance", Type: RateDistance, Amount: new(1.0)}
		change(&r)
		return serviceDraft{DisplayName: "x", Currency: "USD", Rates: []RateDraft{freeBase, r}}
	}
	service := func(change func(*serviceDraft)) serviceDraft {
		d := serviceDraft{DisplayName: "x", Currency: "USD", Rates: []RateDraft{freeBase}}
		change(&d)
		return d
	}
	window := func(w WindowDraft) serviceDraft {
		return service(func(d *serviceDraft) { d.Hours = []WindowDraft{w} })
	}
	for want, d := range map[string]serviceDraft{
		"displayName is required":                                                           {Currency: "USD"},
		"displayName has 1001 characters; at most 1000 are allowed":                         {DisplayName: strings.Repeat("x", 1001), Currency: "USD"},
		"currency is required":                                                              {DisplayName: "x"},
		`currency must be a currency code of ISO 4217, such as USD, not "BTC"`:              {DisplayName: "x", Currency: "BTC"},
		"rates is required: one of them must have isBaseRate true":                          {DisplayName: "x", Currency: "USD"},
		"rates has 31 entries; at most 30 are allowed":                                      {DisplayName: "x", Currency: "USD", Rates: make([]RateDraft, 31)},
		"rates must have exactly one entry with isBaseRate true, not 2":                     {DisplayName: "x", Currency: "USD", Rates: []RateDraft{freeBase, freeBase}},
		"rates must have exactly one entry with isBaseRate true, not 0":                     {DisplayName: "x", Currency: "USD", Rates: []RateDraft{{Name: "x", Type: RateFlat, Amount: new(1.0)}}},
		`timezone must be an IANA time zone such as America/New_York, not "Mars/Olympus"`:   service(func(d *serviceDraft) { d.Timezone = "Mars/Olympus" }),
		`timezone must be an IANA time zone such as America/New_York, not "Local"`:          service(func(d *serviceDraft) { d.Timezone = "Local" }),
		"leadTime must be between 0 and 129600 minutes":                                     service(func(d *serviceDraft) { d.LeadTime = -1 }),
		"dueIn must be between 1 and 43200 minutes":                                         service(func(d *serviceDraft) { d.DueIn = new(time.Second) }),
		`sameDayUntil must be a time of the day as HH:MM, from 00:00 to 24:00, not "2pm"`:   service(func(d *serviceDraft) { d.SameDayUntil = "2pm" }),
		"hours has 51 entries; at most 50 are allowed":                                      service(func(d *serviceDraft) { d.Hours = make([]WindowDraft, 51) }),
		"hours[0] must have days, from or to":                                               window(WindowDraft{}),
		`hours[0].days[1] must be a day of the week, such as monday or mon, not "m"`:        window(WindowDraft{Days: []string{"tue", "m"}}),
		`hours[0].from must be a time of the day as HH:MM, from 00:00 to 24:00, not "8:00"`: window(WindowDraft{From: "8:00"}),
		`hours[0].to must be a time of the day as HH:MM, from 00:00 to 24:00, not "24:01"`:  window(WindowDraft{To: "24:01"}),
		"hours[0].from must be before 24:00":                                                window(WindowDraft{From: "24:00", To: "06:00"}),
		"hours[0].from and hours[0].to must differ; leave both out for the whole day":       window(WindowDraft{From: "09:00", To: "09:00"}),
		"clients has 1001 entries; at most 1000 are allowed": service(func(d *serviceDraft) {
			for i := range 1001 {
				d.Clients = append(d.Clients, lastmile.ClientID(rune(i)))
			}
		}),
		"limits.weight.units is required":                                           service(func(d *serviceDraft) { d.Limits.Weight = &Weight{1, ""} }),
		`limits.weight.units must be kg or lbs, not "stone"`:                        service(func(d *serviceDraft) { d.Limits.Weight = &Weight{1, "stone"} }),
		"limits.weight.value must be between 0 and 1000000, not -1":                 service(func(d *serviceDraft) { d.Limits.Weight = &Weight{-1, Pounds} }),
		"limits.quantity must be between 1 and 1000000, not 0":                      service(func(d *serviceDraft) { d.Limits.Quantity = new(int) }),
		`limits.distance.units must be km or mi, not "kg"`:                          service(func(d *serviceDraft) { d.Limits.Distance = &Distance{1, Kilograms} }),
		"limits.area must have at least one polygon":                                service(func(d *serviceDraft) { d.Limits.Area = Area{} }),
		"limits.area: polygon 0 has no rings":                                       service(func(d *serviceDraft) { d.Limits.Area = Area{{}} }),
		"limits.area: ring 0 of polygon 0 has 3 positions; at least 4 are required": service(func(d *serviceDraft) { d.Limits.Area = Area{{ring(0, 0, 1, 1)}} }),
		"limits.area: ring 1 of polygon 0 must end where it begins": service(func(d *serviceDraft) {
			d.Limits.Area = Area{{ring(0, 0, 1, 1, 1, 0), {{Lon: 1}, {Lon: 2}, {Lon: 3}, {Lon: 4}}}}
		}),
		"limits.area has 10001 positions; at most 10000 are allowed": service(func(d *serviceDraft) { d.Limits.Area = Area{{make([]lastmile.Point, 10_001)}} }),

		"rates[1].name is required":       rate(func(r *RateDraft) { r.Name = " " }),
		"rates[1].ratingType is required": rate(func(r *RateDraft) { r.Type = "" }),
		`rates[1].ratingType must be one of flat, distance, duration, weight, quantity, surcharge or minimum, not "per mile"`: rate(func(r *RateDraft) { r.Type = "per mile" }),
		"rates[1].isBaseRate cannot be combined with the ratingType minimum":                                                  rate(func(r *RateDraft) { r.Type, r.IsBase = RateMinimum, true }),
		"rates[1].isBaseRate cannot be combined with the ratingType surcharge":                                                rate(func(r *RateDraft) { r.Type, r.IsBase = RateSurcharge, true }),
		"rates[1].amount is required":                                                                 rate(func(r *RateDraft) { r.Amount = nil }),
		"rates[1].amount must be between 0 and 10000000, not -1":                                      rate(func(r *RateDraft) { r.Amount = new(-1.0) }),
		"rates[1].amount must be between 0 and 10000000, not NaN":                                     rate(func(r *RateDraft) { r.Amount = new(math.NaN()) }),
		"rates[1].amount must have at most 2 decimals, which is what USD has, not 1.005":              rate(func(r *RateDraft) { r.Amount = new(1.005) }),
		`rates[1].unit must be km or mi for the ratingType distance, not "kg"`:                        rate(func(r *RateDraft) { r.Unit = Kilograms }),
		`rates[1].unit must be percent for the ratingType surcharge, not "kg"`:                        rate(func(r *RateDraft) { r.Type, r.Unit = RateSurcharge, Kilograms }),
		"rates[1].unit cannot be combined with the ratingType flat":                                   rate(func(r *RateDraft) { r.Type, r.Unit = RateFlat, Kilograms }),
		"rates[1].free cannot be combined with the ratingType flat":                                   rate(func(r *RateDraft) { r.Type, r.Free = RateFlat, new(1.0) }),
		"rates[1].free must be between 0 and 1000000, not -1":                                         rate(func(r *RateDraft) { r.Free = new(-1.0) }),
		"rates[1].tiers cannot be combined with the ratingType surcharge":                             rate(func(r *RateDraft) { r.Type, r.Tiers = RateSurcharge, make([]TierDraft, 1) }),
		"rates[1].tiers has 21 entries; at most 20 are allowed":                                       rate(func(r *RateDraft) { r.Tiers = make([]TierDraft, 21) }),
		"rates[1].tiers[0].upTo is required: what follows the last tier costs the amount of the rate": rate(func(r *RateDraft) { r.Tiers = make([]TierDraft, 1) }),
		"rates[1].tiers[1].upTo must be greater than 5, where the tier before ends, not 5": rate(func(r *RateDraft) {
			r.Tiers = []TierDraft{{new(5.0), new(1.0)}, {new(5.0), new(1.0)}}
		}),
		"rates[1].tiers[0].upTo must be at most 1000000, not 1e+07":                      rate(func(r *RateDraft) { r.Tiers = []TierDraft{{new(1e7), new(1.0)}} }),
		"rates[1].tiers[0].amount is required":                                           rate(func(r *RateDraft) { r.Tiers = []TierDraft{{new(5.0), nil}} }),
		"rates[1].amount must be between 0 and 1000 percent, not 1001":                   rate(func(r *RateDraft) { r.Type, r.Unit, r.Amount = RateSurcharge, Percent, new(1001.0) }),
		"rates[1].amount must have at most 2 decimals, not 1.001":                        rate(func(r *RateDraft) { r.Type, r.Unit, r.Amount = RateSurcharge, Percent, new(1.001) }),
		"rates[1].when must have days, from or to":                                       rate(func(r *RateDraft) { r.When = &WindowDraft{} }),
		"rates[1].when cannot be combined with isBaseRate: the base rate always applies": rate(func(r *RateDraft) { r.IsBase, r.When = true, &WindowDraft{From: "09:00"} }),
	} {
		_, err := NewService("s", lastmile.Organization{Timezone: "Europe/Berlin"}, d.sent(), func() string { return "id" }, testNow)
		rejected, ok := errors.AsType[*lastmile.Error](err)
		if !ok || rejected.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestJobsThatAreRejected(t *testing.T) {
	for want, change := range map[string]func(*Job){
		"readyBy is required":                                      func(j *Job) { j.ReadyBy = time.Time{} },
		"readyBy must not be more than 24 hours in the past":       func(j *Job) { j.ReadyBy = testNow.Add(-25 * time.Hour) },
		"dueBy must be after readyBy":                              func(j *Job) { j.DueBy = j.ReadyBy },
		"dueBy must be in the future":                              func(j *Job) { j.ReadyBy, j.DueBy = testNow.Add(-time.Hour), testNow },
		"quantity must be an integer between 1 and 1000000, not 0": func(j *Job) { j.Quantity = 0 },
		"weight.units is required":                                 func(j *Job) { j.Weight.Unit = "" },
		`weight.units must be kg or lbs, not "g"`:                  func(j *Job) { j.Weight.Unit = "g" },
		"weight.value must be between 0 and 1000000, not -0.1":     func(j *Job) { j.Weight.Value = -0.1 },
	} {
		j := testJob()
		change(&j)
		if err := j.Check(testNow); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if err := testJob().Check(testNow); err != nil {
		t.Error(err)
	}
}

func TestUpdateKeepsTheIDsOfRates(t *testing.T) {
	s := newService(t, serviceDraft{Rates: []RateDraft{freeBase, {Name: "Distance", Type: RateDistance, Amount: new(1.0)}}})
	before := s
	next := func() string { return "new" }
	d := serviceDraft{DisplayName: "Express", Currency: "USD", Rates: []RateDraft{{Name: "Distance", Type: RateDistance, Amount: new(1.0)}, freeBase, {Name: "Fee", Type: RateFlat, Amount: new(1.0)}}}
	if err := s.Update(lastmile.Organization{Timezone: "America/New_York"}, d.sent(), next, testNow.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if s.Rates[0].ID != before.Rates[1].ID || s.Rates[1].ID != before.Rates[0].ID || s.Rates[2].ID != "new" {
		t.Errorf("rates are %+v", s.Rates)
	}
	if !s.Modified.Equal(testNow.Add(time.Hour)) || !s.Created.Equal(testNow) || s.Base().Name != "Base" {
		t.Errorf("the service is %+v", s)
	}
	same := s
	if err := s.Update(lastmile.Organization{Timezone: "America/New_York"}, d.sent(), next, testNow.Add(2*time.Hour)); err != nil || !s.Modified.Equal(same.Modified) {
		t.Errorf("the same again was modified at %v: %v", s.Modified, err)
	}
}

func TestUpdateChangesOnlyWhatWasSent(t *testing.T) {
	hour := time.Hour
	full := serviceDraft{
		Clients: []lastmile.ClientID{"a"}, Timezone: "Asia/Tokyo", Hours: []WindowDraft{{From: "08:00", To: "18:00"}}, LeadTime: hour, SameDayUntil: "14:00", DueIn: &hour,
		Limits: Limits{Weight: &Weight{5, Kilograms}},
	}
	of := lastmile.Organization{Timezone: "America/New_York"}
	next := func() string { return "new" }
	s := newService(t, full)
	before := s
	if err := s.Update(of, ServiceChange{}, next, testNow.Add(hour)); err != nil || !lastmile.Same(s, before) {
		t.Errorf("nothing changed it to %+v: %v", s, err)
	}
	name := "Night"
	if err := s.Update(of, ServiceChange{DisplayName: &name}, next, testNow.Add(hour)); err != nil || s.DisplayName != name || len(s.Hours) != 1 || s.Timezone != "Asia/Tokyo" || *s.SameDayUntil != 14*60 {
		t.Errorf("a new name changed it to %+v: %v", s, err)
	}
	defaults := serviceDraft{DisplayName: "Night", Currency: "USD", Rates: []RateDraft{freeBase}, DueIn: new(time.Duration)}
	if err := s.Update(of, defaults.sent(), next, testNow.Add(hour)); err != nil {
		t.Fatal(err)
	}
	if s.Timezone != of.Timezone || s.Hours != nil || s.LeadTime != 0 || s.SameDayUntil != nil || s.DueIn != DefaultDueIn || s.Limits.Weight != nil || len(s.Clients) != 0 {
		t.Errorf("defaults changed it to %+v", s)
	}
	yen := "JPY"
	if err := s.Update(of, ServiceChange{Currency: &yen}, next, testNow); err == nil || !strings.Contains(err.Error(), "send rates") || s.Currency != "USD" {
		t.Errorf("another currency: %v, %s", err, s.Currency)
	}
	if err := s.Update(of, ServiceChange{Rates: &[]RateDraft{}}, next, testNow); err == nil || len(s.Rates) != 1 {
		t.Errorf("no rates: %v", err)
	}
}

func TestObstaclesReadOnFromTheService(t *testing.T) {
	ten := 10
	s := newService(t, serviceDraft{
		Hours: []WindowDraft{{Days: []string{"mon"}, From: "09:00", To: "17:00"}}, LeadTime: time.Hour, SameDayUntil: "11:00",
		Limits: Limits{Weight: &Weight{5, Kilograms}, Quantity: &ten, Distance: &Distance{4, Kilometers}, Area: Area{{ring(0, 0, 1, 0, 1, 1)}}},
	})
	in, out := lastmile.Point{Lon: 0.5, Lat: 0.25}, lastmile.Point{Lon: 2, Lat: 2}
	fits := Job{ReadyBy: testNow.Add(2 * time.Hour), Quantity: 1, Weight: Weight{1, Kilograms}, Pickup: in, Dropoff: in, Distance: 3_000}
	for want, change := range map[string]func(*Job) time.Time{
		"": func(*Job) time.Time { return testNow },
		"is not available on Tuesday at 12:00, when the delivery is ready": func(j *Job) time.Time { j.ReadyBy = j.ReadyBy.AddDate(0, 0, 1); return testNow },
		"must be ordered 60 minutes before the delivery is ready":          func(j *Job) time.Time { j.ReadyBy = testNow; return testNow },
		"must be ordered before 11:00 for the same day":                    func(j *Job) time.Time { j.ReadyBy = j.ReadyBy.Add(time.Hour); return testNow.Add(time.Hour) },
		"delivers at most 5 kg":                                            func(j *Job) time.Time { j.Weight.Value = 6; return testNow },
		"delivers at most 10 pieces":                                       func(j *Job) time.Time { j.Quantity = 11; return testNow },
		"does not deliver from the pickup, which is outside its area":      func(j *Job) time.Time { j.Pickup = out; return testNow },
		"does not deliver to the drop-off, which is outside its area":      func(j *Job) time.Time { j.Dropoff = out; return testNow },
	} {
		j := fits
		now := change(&j)
		if got := s.Obstacle(j, now); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if _, ok := s.NewQuote("q", "client", j, now); ok != (want == "") {
			t.Errorf("%q: a quote is %v", want, ok)
		}
	}
	fits.Distance = 4_321
	if got := s.TooFar(fits); got != "delivers over at most 4 km, and this is 4.3 km" {
		t.Error(got)
	}
	if _, ok := s.NewQuote("q", "client", fits, testNow); ok {
		t.Error("a quote for a delivery that is too far")
	}
}

func TestQuote(t *testing.T) {
	s := newService(t, serviceDraft{Rates: []RateDraft{{Name: "Base", Type: RateFlat, IsBase: true, Amount: new(5.0)}}})
	j := testJob()
	q, ok := s.NewQuote("q", "client", j, testNow)
	if !ok || q.Organization != s.Organization || q.Client != "client" || q.Service != s.ID || q.Rate != s.Rates[0].ID || q.Price.Total != 500 {
		t.Errorf("got %+v", q)
	}
	if !q.Job.DueBy.Equal(j.ReadyBy.Add(DefaultDueIn)) || !q.Expires.Equal(testNow.Add(QuoteLifetime)) {
		t.Errorf("it is due by %v and expires at %v", q.Job.DueBy, q.Expires)
	}
}
