package travel

import (
	"slices"
	"time"

	"dray/internal/lastmile"
)

// DefaultStopTime is the time at each stop of an estimate unless the
// request says otherwise.
const DefaultStopTime = 2 * time.Minute

// EstimateRequest asks how soon a team could do a pickup, a drop-off, or both.
type EstimateRequest struct {
	Pickup, Dropoff  *lastmile.Point // at least one
	PickupTime       time.Time       // not before this; zero is as soon as can be
	ExcludedVehicles []lastmile.VehicleType
	Service          time.Duration // at each stop
	Experience       Experience    // of the organization
}

// Check refuses a request that asks for nothing or makes no sense.
func (q EstimateRequest) Check() error {
	if q.Pickup == nil && q.Dropoff == nil {
		return lastmile.Missing("pickupLocation or dropoffLocation")
	}
	for _, v := range q.ExcludedVehicles {
		if !slices.Contains(lastmile.VehicleTypes, v) {
			return lastmile.Invalid("restrictedVehicleTypes must be a list of %s, not %q", lastmile.VehicleTypeNames(), v)
		}
	}
	if q.Service < 0 || q.Service > lastmile.MaxServiceTime {
		return lastmile.Invalid("serviceTime must be between 0 and %.0f seconds", lastmile.MaxServiceTime.Seconds())
	}
	return nil
}

// Estimate is who would do it, and when.
type Estimate struct {
	Worker  lastmile.WorkerID
	Vehicle lastmile.VehicleType // OnFoot for none
	Steps   []EstimateStep
}

// EstimateStep is one stop of an estimate.
type EstimateStep struct {
	Location            lastmile.Point
	Travel              time.Duration   // from the stop before
	Distance            lastmile.Meters // from the stop before
	Service             time.Duration
	Arrival, Completion time.Time
}

// TeamMember is a worker on duty with all that the worker has to do before
// anything new: the active task first, then the list in order.
type TeamMember struct {
	Itinerary
	Legs []Leg // of the way through all of it and then the stops of the request; see Way
}

// Way is the places that the worker comes through: those of the list, and then
// the stops of the request. It is nil when the worker cannot do it.
func (m TeamMember) Way(q EstimateRequest) []lastmile.Point {
	way := m.Itinerary.Way()
	if way == nil || slices.Contains(q.ExcludedVehicles, m.Worker.TravelsBy()) {
		return nil
	}
	for _, stop := range q.stops() {
		way = append(way, stop.place)
	}
	return way
}

// estimateStop is a place of a request, and when it may be reached at the
// earliest.
type estimateStop struct {
	place     lastmile.Point
	notBefore time.Time
}

func (q EstimateRequest) stops() []estimateStop {
	var stops []estimateStop
	if q.Pickup != nil {
		stops = append(stops, estimateStop{*q.Pickup, q.PickupTime})
	}
	if q.Dropoff != nil {
		stops = append(stops, estimateStop{place: *q.Dropoff})
	}
	return stops
}

// EstimateTeam finds the worker who would be done first. It tells whether
// there is any. Members without legs cannot do it.
func EstimateTeam(members []TeamMember, q EstimateRequest, now time.Time) (best Estimate, found bool) {
	for _, m := range members {
		e, ok := m.estimate(q, now)
		if !ok {
			continue
		}
		if !found || e.end().Before(best.end()) || e.end().Equal(best.end()) && e.Worker < best.Worker {
			best, found = e, true
		}
	}
	return best, found
}

func (e Estimate) end() time.Time { return e.Steps[len(e.Steps)-1].Completion }

// estimate tells when the worker could do it. It tells whether the worker can.
func (m TeamMember) estimate(q EstimateRequest, now time.Time) (Estimate, bool) {
	unreachable := func(l Leg) bool { return l.Duration == Unreachable }
	if len(m.Legs) == 0 || slices.ContainsFunc(m.Legs, unreachable) {
		return Estimate{}, false
	}
	clock, legs := now, m.Legs
	for i, t := range m.Tasks {
		clock = clock.Add(legs[i].Adjusted(q.Experience.Travel).Duration + serviceTime(t, q.Experience))
	}
	e := Estimate{Worker: m.Worker.ID, Vehicle: m.Worker.TravelsBy()}
	for i, stop := range q.stops() {
		leg := legs[len(m.Tasks)+i].Adjusted(q.Experience.Travel)
		arrival := clock.Add(leg.Duration)
		if arrival.Before(stop.notBefore) {
			arrival = stop.notBefore
		}
		clock = arrival.Add(q.Service)
		e.Steps = append(e.Steps, EstimateStep{
			Location: stop.place, Travel: leg.Duration, Distance: leg.Distance, Service: q.Service, Arrival: arrival, Completion: clock,
		})
	}
	return e, true
}
