package lastmile

// Settings are what an organization has set for itself.
type Settings struct {
	GeocodingPrecision Precision // the least that an address must be found with; zero takes any
	Geofence           Geofence
}

// LearnedTrips is how many of an organization's latest trips its travel factor
// is learned from.
const LearnedTrips = 500

// Trip is the way to a task as it was and as the formula has it, from where the
// worker started to the arrival, and how long the worker then stayed. Tasks
// without an arrival say nothing.
func (t *Task) Trip(by VehicleType) (Trip, bool) {
	var trip Trip
	started, arrived, left := t.Completion.when("start"), t.Completion.when("arrival"), t.Completion.when("departure")
	if arrived.IsZero() {
		return trip, false
	}
	if left.IsZero() {
		left = t.Completion.At
	}
	trip.Service = max(left.Sub(arrived), 0)
	if t.Completion.FirstLocation != nil && !started.IsZero() && arrived.After(started) {
		trip.Actual = arrived.Sub(started)
		trip.Estimated, _ = EstimateTravel(by, *t.Completion.FirstLocation, t.Destination.Location)
	}
	return trip, trip.Actual > 0 || trip.Service > 0
}
