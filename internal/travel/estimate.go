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
	Experience       Experience    // that of the organization
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

// Estimate describes which worker would carry out a request, and when.
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
	ByFormula           bool            // travel time and distance are by formula, not by a road network
	Service             time.Duration
	Arrival, Completion time.Time
}

// End returns when the last step is done.
func (e Estimate) End() time.Time { return e.Steps[len(e.Steps)-1].Completion }

// EstimateStop is a stop of a request and its earliest arrival time.
type EstimateStop struct {
	Location  lastmile.Point
	NotBefore time.Time
}

// Stops returns the stops of the request in their order.
func (q EstimateRequest) Stops() []EstimateStop {
	var stops []EstimateStop
	if q.Pickup != nil {
		stops = append(stops, EstimateStop{*q.Pickup, q.PickupTime})
	}
	if q.Dropoff != nil {
		stops = append(stops, EstimateStop{Location: *q.Dropoff})
	}
	return stops
}
