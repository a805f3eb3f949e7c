package lastmile

import (
	"slices"
	"time"
)

// DefaultEstimateService is the time at each stop of an estimate unless the
// request says otherwise.
const DefaultEstimateService = 2 * time.Minute

// EstimateRequest asks how soon a team could do a pickup, a drop-off, or both.
type EstimateRequest struct {
	Pickup, Dropoff  *Point    // at least one
	PickupTime       time.Time // not before this; zero is as soon as can be
	ExcludedVehicles []VehicleType
	Service          time.Duration // at each stop
	Factor           TravelFactor  // of the organization's own trips
}

// Check refuses a request that asks for nothing or makes no sense.
func (q EstimateRequest) Check() error {
	if q.Pickup == nil && q.Dropoff == nil {
		return Missing("pickupLocation or dropoffLocation")
	}
	for _, v := range q.ExcludedVehicles {
		if !slices.Contains(VehicleTypes, v) {
			return Invalid("restrictedVehicleTypes must be a list of %s, not %q", vehicleTypeNames(), v)
		}
	}
	if q.Service < 0 || q.Service > MaxServiceTime {
		return Invalid("serviceTime must be between 0 and %.0f seconds", MaxServiceTime.Seconds())
	}
	return nil
}

// Estimate is who would do it, and when.
type Estimate struct {
	Worker  WorkerID
	Vehicle VehicleType // OnFoot for none
	Steps   []EstimateStep
}

// EstimateStep is one stop of an estimate.
type EstimateStep struct {
	Location            Point
	Travel              time.Duration // from the stop before
	Distance            Meters        // from the stop before
	Service             time.Duration
	Arrival, Completion time.Time
}

// TeamMember is a worker on duty with all that the worker has to do before
// anything new: the active task first, then the list in order.
type TeamMember struct {
	Worker Worker
	Queue  []Task
}

// EstimateTeam finds the worker who would be done first. It tells whether
// there is any.
func EstimateTeam(members []TeamMember, q EstimateRequest, now time.Time) (best Estimate, found bool) {
	for _, m := range members {
		by := m.Worker.travelsBy()
		if m.Worker.Whereabouts.Location == nil || slices.Contains(q.ExcludedVehicles, by) {
			continue
		}
		e := m.estimate(by, q, now)
		if !found || e.end().Before(best.end()) || e.end().Equal(best.end()) && e.Worker < best.Worker {
			best, found = e, true
		}
	}
	return best, found
}

func (e Estimate) end() time.Time { return e.Steps[len(e.Steps)-1].Completion }

func (m TeamMember) estimate(by VehicleType, q EstimateRequest, now time.Time) Estimate {
	at, clock := *m.Worker.Whereabouts.Location, now
	for _, t := range m.Queue {
		travel, _ := EstimateTravel(by, at, t.Destination.Location)
		at, clock = t.Destination.Location, clock.Add(q.Factor.apply(travel)+t.ServiceTime)
	}
	e := Estimate{Worker: m.Worker.ID, Vehicle: by}
	for _, stop := range []struct {
		place     *Point
		notBefore time.Time
	}{{q.Pickup, q.PickupTime}, {q.Dropoff, time.Time{}}} {
		if stop.place == nil {
			continue
		}
		travel, distance := EstimateTravel(by, at, *stop.place)
		travel = q.Factor.apply(travel)
		arrival := clock.Add(travel)
		if arrival.Before(stop.notBefore) {
			arrival = stop.notBefore
		}
		at, clock = *stop.place, arrival.Add(q.Service)
		e.Steps = append(e.Steps, EstimateStep{
			Location: at, Travel: travel, Distance: distance, Service: q.Service, Arrival: arrival, Completion: clock,
		})
	}
	return e
}
