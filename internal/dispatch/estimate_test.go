package dispatch

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/travel"
)

var estimateNow = time.Date(2026, time.May, 4, 8, 0, 0, 0, time.UTC)

// byFormula is travel by formula. No way leads from the closed location.
type byFormula struct{ closed *lastmile.Point }

func (f byFormula) Legs(_ context.Context, by lastmile.VehicleType, way []lastmile.Point) (legs []travel.Leg, err error) {
	for i := range len(way) - 1 {
		duration, distance := travel.Approximate(by, way[i], way[i+1])
		if f.closed != nil && way[i] == *f.closed {
			duration = travel.Unreachable
		}
		legs = append(legs, travel.Leg{Duration: duration, Distance: distance, Estimated: true})
	}
	return legs, nil
}

func (byFormula) Matrix(context.Context, lastmile.VehicleType, []lastmile.Point, []lastmile.Point) (travel.Times, error) {
	return travel.Times{}, nil
}

func estimateOf(t *testing.T, by Travel, q travel.EstimateRequest, members ...travel.Itinerary) (travel.Estimate, bool) {
	t.Helper()
	ds := &Dispatches{Travel: by, Now: func() time.Time { return estimateNow }}
	e, found, err := ds.estimate(t.Context(), nearest(members, q), q)
	if err != nil {
		t.Fatal(err)
	}
	return e, found
}

func TestEstimateTeam(t *testing.T) {
	near, far := lastmile.Point{Lon: -73.98, Lat: 40.75}, lastmile.Point{Lon: -73.80, Lat: 40.60}
	shop, door := lastmile.Point{Lon: -73.97, Lat: 40.76}, lastmile.Point{Lon: -73.95, Lat: 40.77}
	worker := func(id lastmile.WorkerID, at lastmile.Point, by lastmile.VehicleType) travel.Itinerary {
		w := lastmile.Worker{ID: id, Whereabouts: lastmile.Whereabouts{OnDuty: true, Location: &at}}
		if by != lastmile.OnFoot {
			w.Vehicle = &lastmile.Vehicle{Type: by}
		}
		return travel.Itinerary{Worker: w}
	}
	waiting := worker("waiting", near, lastmile.Car)
	waiting.Tasks = []lastmile.Task{{Destination: lastmile.Destination{Location: far}, ServiceTime: new(time.Hour)}}
	busy := worker("busy", near, lastmile.Car)
	busy.Tasks = []lastmile.Task{{State: lastmile.TaskActive, Destination: lastmile.Destination{Location: far}, ServiceTime: new(time.Hour)}}
	lost := worker("lost", near, lastmile.Car)
	lost.Worker.Whereabouts.Location = nil
	both := travel.EstimateRequest{Pickup: &shop, Dropoff: &door, Service: 2 * time.Minute}
	tests := map[string]struct {
		members []travel.Itinerary
		request travel.EstimateRequest
		want    lastmile.WorkerID // empty for none
		steps   int
	}{
		"the nearer of two":                  {[]travel.Itinerary{worker("a", far, lastmile.Car), worker("b", near, lastmile.Car)}, both, "b", 2},
		"the faster of two":                  {[]travel.Itinerary{worker("a", near, lastmile.OnFoot), worker("b", near, lastmile.Car)}, both, "b", 2},
		"the worker with less to do":         {[]travel.Itinerary{busy, worker("b", far, lastmile.Car)}, both, "b", 2},
		"before tasks that can wait":         {[]travel.Itinerary{waiting, worker("b", far, lastmile.Car)}, both, "waiting", 2},
		"the first of equals":                {[]travel.Itinerary{worker("b", near, lastmile.Car), worker("a", near, lastmile.Car)}, both, "a", 2},
		"no worker without a known location": {[]travel.Itinerary{lost}, both, "", 0},
		"no worker at all":                   {nil, both, "", 0},
		"a drop-off alone":                   {[]travel.Itinerary{worker("a", near, lastmile.Car)}, travel.EstimateRequest{Dropoff: &door}, "a", 1},
		"no vehicle that is excluded": {
			[]travel.Itinerary{worker("a", near, lastmile.Car), worker("b", far, lastmile.Truck)},
			travel.EstimateRequest{Pickup: &shop, ExcludedVehicles: []lastmile.VehicleType{lastmile.Car}},
			"b", 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := estimateOf(t, byFormula{}, test.request, test.members...)
			if got.Worker != test.want || found != (test.want != "") || len(got.Steps) != test.steps {
				t.Fatalf("got %+v, %v", got, found)
			}
			clock := estimateNow
			for _, s := range got.Steps {
				if s.Arrival.Before(clock.Add(s.Travel)) || !s.Completion.Equal(s.Arrival.Add(test.request.Service)) || s.Distance <= 0 {
					t.Errorf("step %+v after %v", s, clock)
				}
				clock = s.Completion
			}
		})
	}
	t.Run("no worker who cannot get there", func(t *testing.T) {
		if got, _ := estimateOf(t, byFormula{closed: &near}, both, worker("a", near, lastmile.Car), worker("b", far, lastmile.Car)); got.Worker != "b" {
			t.Errorf("%s would do it", got.Worker)
		}
	})
	for _, wait := range []time.Duration{2 * time.Hour, 60 * 365 * 24 * time.Hour} {
		later := both
		later.PickupTime = estimateNow.Add(wait)
		got, _ := estimateOf(t, byFormula{}, later, worker("a", near, lastmile.Car))
		if !got.Steps[0].Arrival.Equal(later.PickupTime) || got.Steps[1].Arrival.Before(later.PickupTime) {
			t.Errorf("a pickup in %v: %+v", wait, got.Steps)
		}
	}
}

// TestEstimatesAreTheBestInsertions compares estimates with all positions.
func TestEstimatesAreTheBestInsertions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	anywhere := func() lastmile.Point {
		return lastmile.Point{Lon: -73.9 + rng.Float64()/10, Lat: 40.7 + rng.Float64()/10}
	}
	for range 200 {
		at, stop := anywhere(), anywhere()
		m := travel.Itinerary{Worker: lastmile.Worker{ID: "a", Vehicle: &lastmile.Vehicle{Type: lastmile.Car}, Whereabouts: lastmile.Whereabouts{OnDuty: true, Location: &at}}}
		for range rng.IntN(7) {
			m.Tasks = append(m.Tasks, lastmile.Task{Destination: lastmile.Destination{Location: anywhere()}, ServiceTime: new(time.Duration(0))})
		}
		got, found := estimateOf(t, byFormula{}, travel.EstimateRequest{Dropoff: &stop}, m)
		if !found {
			t.Fatal("no estimate")
		}
		// The time of arrival shows the position.
		way, least, want := m.Waypoints(), time.Duration(1<<62), time.Duration(0)
		for i := 1; i <= len(way); i++ {
			total, arrival := time.Duration(0), time.Duration(0)
			path := slices.Insert(slices.Clone(way), i, stop)
			for n := 1; n < len(path); n++ {
				takes, _ := travel.Approximate(lastmile.Car, path[n-1], path[n])
				if total += takes; n == i {
					arrival = total
				}
			}
			if total < least {
				least, want = total, arrival
			}
		}
		if arrival := got.Steps[0].Arrival.Sub(estimateNow); (arrival - want).Abs() > 10*time.Second {
			t.Errorf("the worker with %d tasks arrives after %v, best after %v", len(m.Tasks), arrival, want)
		}
	}
}

// TestEstimatesOfPairsAreTheBestInsertions compares estimates of a pickup and its drop-off
// with all positions among tasks with windows, the first of which may be active.
func TestEstimatesOfPairsAreTheBestInsertions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	anywhere := func() lastmile.Point {
		return lastmile.Point{Lon: -73.9 + rng.Float64()/10, Lat: 40.7 + rng.Float64()/10}
	}
	for range 2000 {
		at, pickup, dropoff := anywhere(), anywhere(), anywhere()
		m := travel.Itinerary{Worker: lastmile.Worker{ID: "a", Vehicle: &lastmile.Vehicle{Type: lastmile.Car}, Whereabouts: lastmile.Whereabouts{OnDuty: true, Location: &at}}}
		for i := range rng.IntN(8) {
			task := lastmile.Task{Destination: lastmile.Destination{Location: anywhere()}, ServiceTime: new(time.Duration(rng.IntN(5)) * time.Minute)}
			if i == 0 && rng.IntN(2) == 0 {
				task.State = lastmile.TaskActive
			}
			if rng.IntN(2) == 0 {
				task.CompleteBefore = estimateNow.Add(time.Duration(rng.IntN(120)) * time.Minute)
			}
			m.Tasks = append(m.Tasks, task)
		}
		q := travel.EstimateRequest{Pickup: &pickup, Dropoff: &dropoff, Service: time.Minute, PickupTime: estimateNow.Add(time.Duration(rng.IntN(60)) * time.Minute)}
		got, found := estimateOf(t, byFormula{}, q, m)
		if !found {
			t.Fatal("no estimate")
		}
		type cost struct{ late, travel time.Duration }
		var least, ours *cost
		first := 0
		if len(m.Tasks) > 0 && m.Tasks[0].State == lastmile.TaskActive {
			first = 1
		}
		for i := first; i <= len(m.Tasks); i++ {
			for j := i; j <= len(m.Tasks); j++ {
				var (
					c        cost
					arrivals []time.Time
				)
				from, clock := at, estimateNow
				visit := func(to lastmile.Point, after, before time.Time, service time.Duration) {
					takes, _ := travel.Approximate(lastmile.Car, from, to)
					takes = (takes + time.Second - 1).Truncate(time.Second)
					from, clock, c.travel = to, clock.Add(takes), c.travel+takes
					if clock.Before(after) {
						clock = after
					}
					if !before.IsZero() {
						c.late += max(clock.Sub(before), 0)
					}
					arrivals = append(arrivals, clock)
					clock = clock.Add(service)
				}
				var stops []time.Time
				for n := 0; n <= len(m.Tasks); n++ {
					if n == i {
						visit(pickup, q.PickupTime, time.Time{}, q.Service)
						stops = append(stops, arrivals[len(arrivals)-1])
					}
					if n == j {
						visit(dropoff, time.Time{}, time.Time{}, q.Service)
						stops = append(stops, arrivals[len(arrivals)-1])
					}
					if n < len(m.Tasks) {
						visit(m.Tasks[n].Destination.Location, time.Time{}, m.Tasks[n].CompleteBefore, *m.Tasks[n].ServiceTime)
					}
				}
				less := func(a, b *cost) bool { return b == nil || a.late < b.late || a.late == b.late && a.travel < b.travel }
				if less(&c, least) {
					least = &c
				}
				if stops[0].Sub(got.Steps[0].Arrival).Abs() <= 10*time.Second && stops[1].Sub(got.Steps[1].Arrival).Abs() <= 10*time.Second && less(&c, ours) {
					ours = &c
				}
			}
		}
		if ours == nil || *ours != *least {
			t.Errorf("with %d tasks, the estimate costs %+v, the best %+v", len(m.Tasks), ours, least)
		}
	}
}

// unread is a store whose reads fail.
type unread struct {
	Store
	reads int
}

var errUnread = errors.New("not read")

func (u *unread) Read(context.Context, func(Reader) error) error {
	u.reads++
	return errUnread
}

func TestEstimatesOfAnOrganizationTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, who := &unread{}, lastmile.Principal{Organization: "acme"}
		ds := &Dispatches{Store: s, Estimates: rate.NewShares(1)}
		end, err := ds.Estimates.Request(t.Context(), who.Organization)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err = ds.Estimate(t.Context(), who, "team", travel.EstimateRequest{Dropoff: &lastmile.Point{Lon: 1, Lat: 1}})
		}()
		synctest.Wait()
		if s.reads != 0 {
			t.Error("an estimate does not wait for its turn")
		}
		end()
		synctest.Wait()
		if s.reads != 1 || !errors.Is(err, errUnread) {
			t.Errorf("%d reads after the turn of others: %v", s.reads, err)
		}
	})
}
