package lastmile

// Settings are what an organization has set for itself.
type Settings struct {
	GeocodingPrecision Precision // the least that an address must be found with; zero takes any
}

// LearnedTrips is how many of an organization's latest trips its travel factor
// is learned from.
const LearnedTrips = 500

// Trip is the way to a task as it was and as the formula has it: from where
// the worker started to the arrival. Tasks without both say nothing.
func (t *Task) Trip(by VehicleType) (Trip, bool) {
	if t.Completion.FirstLocation == nil {
		return Trip{}, false
	}
	var trip Trip
	started, arrived := t.Completion.when("start"), t.Completion.when("arrival")
	if started.IsZero() || !arrived.After(started) {
		return Trip{}, false
	}
	trip.Actual = arrived.Sub(started)
	trip.Estimated, _ = EstimateTravel(by, *t.Completion.FirstLocation, t.Destination.Location)
	return trip, true
}
