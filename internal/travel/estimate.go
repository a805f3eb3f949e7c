package travel

import (
	"slices"
	"time"

	"dray/internal/lastmile"
)

// DefaultStopTime is the default service time at each stop of an estimate.
const DefaultStopTime = 2 * time.Minute

// EstimateRequest asks how soon a team could carry out a pickup, a drop-off or
// both.
type EstimateRequest struct {
	Pickup, Dropoff  *lastmile.Point // at least one
	PickupTime       time.Time       // earliest time of the pickup; zero for as soon as possible
	ExcludedVehicles []lastmile.VehicleType
	Service          time.Duration // at each stop
	Experience       Experience    // of the organization
}

// Check rejects an empty or invalid request.
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

// Estimate is which worker would carry out the request, and when.
type Estimate struct {
	Worker  lastmile.WorkerID
	Vehicle lastmile.VehicleType // OnFoot for none
	Steps   []EstimateStep
}

// EstimateStep is one stop of an estimate.
type EstimateStep struct {
	Location            lastmile.Point
	Travel              time.Duration   // from the previous stop
	Distance            lastmile.Meters // from the previous stop
	ByFormula           bool            // travel time and distance, not by a road network
	Service             time.Duration
	Arrival, Completion time.Time
}

// TeamMember is a worker on duty with the tasks that come before the request.
type TeamMember struct {
	Itinerary
	Legs []Leg // between the Waypoints
}

// Waypoints returns the locations the worker passes through: those of the
// itinerary, and then the stops of the request. It is nil if the worker cannot
// carry out the request.
func (m TeamMember) Waypoints(q EstimateRequest) []lastmile.Point {
	way := m.Itinerary.Waypoints()
	if way == nil || slices.Contains(q.ExcludedVehicles, m.Worker.TravelsBy()) {
		return nil
	}
	for _, stop := range q.stops() {
		way = append(way, stop.place)
	}
	return way
}

// estimateStop is a stop of a request and its earliest arrival time.
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

// EstimateTeam returns the estimate of the worker who would finish first, and
// reports whether there is one. Members without legs are skipped.
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

// estimate returns when the worker could carry out the request, and reports
// whether the worker can.
func (m TeamMember) estimate(q EstimateRequest, now time.Time) (Estimate, bool) {
	unreachable := func(l Leg) bool { return l.Duration == Unreachable }
	if len(m.Legs) == 0 || slices.ContainsFunc(m.Legs, unreachable) {
		return Estimate{}, false
	}
	clock, legs := now, m.Legs
	for i, t := range m.Tasks {
		arrival := clock.Add(legs[i].Adjusted(q.Experience.Travel).Duration)
		clock = t.Window().ServiceStart(arrival).Add(serviceTime(t, q.Experience))
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
			Location: stop.place, Travel: leg.Duration, Distance: leg.Distance, ByFormula: leg.Estimated, Service: q.Service, Arrival: arrival, Completion: clock,
		})
	}
	return e, true
}
