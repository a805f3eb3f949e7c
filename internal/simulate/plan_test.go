package simulate

import (
	"math"
	"reflect"
	"testing"
	"time"

	"dray/internal/lastmile"
)

// point and spotOf convert locations in Manhattan.
func (s spot) point() lastmile.Point { return grid{}.axes().point(s) }

func spotOf(p lastmile.Point) spot { return grid{}.axes().spot(p) }

func TestPlan(t *testing.T) {
	draw := func(seed uint64) ([]Person, []errand) {
		p := plan{city: grid{}, seed: seed, staffed: len(gridTeams), radius: 1000}
		errands := make([]errand, 500)
		for i := range errands {
			errands[i] = p.errand(uint64(i))
		}
		return p.crew(100, "+1646555", 0), errands
	}
	crew, errands := draw(7)

	t.Run("the same seed gives the same crew and errands", func(t *testing.T) {
		again, more := draw(7)
		if !reflect.DeepEqual(crew, again) || !reflect.DeepEqual(errands, more) {
			t.Error("they differ")
		}
	})
	t.Run("another seed gives others", func(t *testing.T) {
		others, more := draw(8)
		if reflect.DeepEqual(crew, others) || reflect.DeepEqual(errands, more) {
			t.Error("they are the same")
		}
	})
	t.Run("an errand does not depend on those drawn before it", func(t *testing.T) {
		if p := (plan{city: grid{}, seed: 7, staffed: len(gridTeams), radius: 1000}); !reflect.DeepEqual(p.errand(321), errands[321]) {
			t.Error("it does")
		}
	})
	t.Run("no two workers have the same phone number", func(t *testing.T) {
		seen := map[string]bool{}
		for _, who := range crew {
			if seen[who.Phone] || len(who.Phone) != len("+16465550000") {
				t.Errorf("%s", who.Phone)
			}
			seen[who.Phone] = true
		}
	})
	t.Run("all vehicles, manners and requirements occur", func(t *testing.T) {
		vehicles, manners := map[lastmile.VehicleType]bool{}, map[dispatchMode]bool{}
		for _, who := range crew {
			vehicles[who.vehicle] = true
		}
		var pairs, late, windows int
		var all requirements
		for _, e := range errands {
			manners[e.manner] = true
			if len(e.stops) == 2 {
				pairs++
			}
			for _, s := range e.stops {
				r := s.requirements
				all = requirements{all.Signature || r.Signature, all.Photo || r.Photo, all.Notes || r.Notes, max(all.MinimumAge, r.MinimumAge)}
				switch {
				case s.until > 0 && s.until < 10*time.Minute:
					late++
				case s.until > 0:
					windows++
				}
			}
		}
		if len(vehicles) != len(lastmile.VehicleTypes)+1 || len(manners) != 3 || pairs == 0 || late == 0 || windows == 0 {
			t.Errorf("vehicles %v, manners %v, %d pairs, %d late, %d windows", vehicles, manners, pairs, late, windows)
		}
		if (all != requirements{Signature: true, Photo: true, Notes: true, MinimumAge: 21}) {
			t.Errorf("requirements %+v", all)
		}
	})
	t.Run("windows end after they begin, and doors are in the city", func(t *testing.T) {
		center := lastmile.Point{Lon: originLon, Lat: originLat}
		for i, e := range errands {
			for _, s := range e.stops {
				if s.until != 0 && s.after >= s.until {
					t.Errorf("errand %d is open from %v until %v", i, s.after, s.until)
				}
				if far := s.door.at.point().Distance(center); far > 3500 {
					t.Errorf("errand %d is %.0f m from the middle of the city", i, far)
				}
				if a := s.door.address; a.PostalCode == "" || a.Number == "" || a.Street == "" {
					t.Errorf("errand %d has the address %+v", i, a)
				}
			}
		}
	})
}

func TestCity(t *testing.T) {
	t.Run("a spot is where its point is", func(t *testing.T) {
		for _, s := range []spot{{}, {500, 0}, {0, 1000}, {-1200, -2000}} {
			if back := spotOf(s.point()); back.to(s) > 0.001 {
				t.Errorf("%v became %v", s, back)
			}
			if far := float64(s.point().Distance(spot{}.point())); math.Abs(far-s.to(spot{})) > 0.01*far {
				t.Errorf("%v is %.1f m away on the earth, %.1f in the city", s, far, s.to(spot{}))
			}
		}
	})
	t.Run("Fifth Avenue and 14th Street is where it is in reality", func(t *testing.T) {
		if off := doorAt(14, 0, 0).at.point().Distance(lastmile.Point{Lon: -73.9940, Lat: 40.7356}); off > 100 {
			t.Errorf("%.0f m off", off)
		}
	})
	t.Run("a way goes along streets and avenues to its end", func(t *testing.T) {
		for _, c := range []struct{ from, to spot }{
			{spot{-800, 0}, spot{300, 804}}, {spot{-800, 0}, spot{-700, 0}}, {spot{10, 160.8}, spot{20, -80.4}}, {spot{5, 5}, spot{5, 5}},
		} {
			w := wayBetween(c.from, c.to)
			if w.length < c.from.to(c.to)-0.001 || w.length > 2*c.from.to(c.to)+600 {
				t.Errorf("from %v to %v it is %.0f m", c.from, c.to, w.length)
			}
			last := c.from
			for gone := 0.0; gone <= w.length; gone += 10 {
				at, heading := w.at(gone)
				if last.to(at) > 10.001 || heading < 0 || heading >= 360 {
					t.Errorf("from %v to %v: a step from %v to %v, heading %.0f", c.from, c.to, last, at, heading)
				}
				last = at
			}
			if end, _ := w.at(w.length + 5); end.to(c.to) > 0.001 {
				t.Errorf("from %v to %v it ends at %v", c.from, c.to, end)
			}
		}
	})
	t.Run("numbers have their endings", func(t *testing.T) {
		for n, want := range map[int]string{14: "14th", 11: "11th", 21: "21st", 22: "22nd", 23: "23rd", 30: "30th"} {
			if got := ordinal(n); got != want {
				t.Errorf("%d is %s", n, got)
			}
		}
	})
}

func TestTally(t *testing.T) {
	counted := newTally()
	for i := 1; i <= 1000; i++ {
		counted.responded("GET /a", 200, time.Duration(i)*time.Millisecond)
	}
	counted.responded("GET /a", 503, time.Millisecond)
	counted.responded("GET /a", 0, 0)
	counted.responded("GET /b", 200, time.Hour)
	counted.responded("GET /b", 200, 0)
	routes := counted.report()
	a, b := routes[0], routes[1]
	if a.Name != "GET /a" || a.Responses != 1001 || a.Lost != 1 || len(a.Rejected) != 1 || a.Rejected[503] != 1 {
		t.Errorf("counted %+v", a)
	}
	for name, c := range map[string]struct{ got, want Millis }{
		"p50": {a.P50, 500}, "p95": {a.P95, 950}, "p99": {a.P99, 990}, "max": {a.Max, 1000}, "an hour": {b.Max, 3_600_000},
	} {
		if c.got < c.want*0.95 || c.got > c.want*1.06 {
			t.Errorf("%s is %v ms, want about %v", name, c.got, c.want)
		}
	}
}

func TestLedgerFindsBrokenPromises(t *testing.T) {
	done := outcome{worker: "w", success: true, at: 5}
	shown := func(change func(*shownTask)) shownTask {
		s := shownTask{ID: "t", State: stateCompleted, Worker: "w"}
		s.Completion.Success, s.Completion.Time = true, 5
		for _, name := range []string{"start", "arrival", "departure"} {
			s.Completion.Events = append(s.Completion.Events, struct {
				Name string `json:"name"`
			}{name})
		}
		if change != nil {
			change(&s)
		}
		return s
	}
	for name, c := range map[string]struct {
		seen, want int
		task       shownTask
	}{
		"everything is as it was reported": {1, 0, shown(nil)},
		"completed, but no longer":         {1, 1, shown(func(s *shownTask) { s.State = stateActive })},
		"completed at another time":        {1, 1, shown(func(s *shownTask) { s.Completion.Time = 6 })},
		"completed by another worker":      {1, 1, shown(func(s *shownTask) { s.Worker = "v" })},
		"completed the other way":          {1, 1, shown(func(s *shownTask) { s.Completion.Success = false })},
		"an action done twice":             {1, 1, shown(func(s *shownTask) { s.Completion.Events = append(s.Completion.Events, s.Completion.Events[1]) })},
		"an acknowledged step is lost":     {1, 1, shown(func(s *shownTask) { s.Completion.Events = s.Completion.Events[:2] })},
		"an event that was not streamed":   {0, 1, shown(nil)},
		"an event that was streamed twice": {2, 1, shown(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(false)
			l.create("t")
			for _, verb := range []string{verbStart, verbArrive, verbDepart} {
				l.visit("t", verb)
			}
			l.try("t", verbComplete)
			l.end("t", done)
			for range c.seen {
				l.completionReported("t")
			}
			l.compare(c.task)
			l.compareEvents()
			if l.breaches != c.want {
				t.Errorf("%d broken promises, want %d: %q", l.breaches, c.want, l.broken)
			}
		})
	}
	t.Run("created twice, completed twice, never completed", func(t *testing.T) {
		l := newLedger(false)
		l.create("t", "u")
		l.create("t")
		l.end("t", done)
		l.end("t", done)
		l.compare(shownTask{ID: "u", State: stateCompleted})
		if l.breaches != 3 {
			t.Errorf("%d broken promises, want 3: %q", l.breaches, l.broken)
		}
	})
}
