package travel

import (
	"time"

	"dray/internal/lastmile"
)

// LearnedTrips is how many of an organization's latest trips its travel factor
// is learned from.
const LearnedTrips = 500

// TripOf is the way to a task as it was and as the formula has it, from where the
// worker started to the arrival, and how long the worker then stayed. Tasks
// without an arrival say nothing.
func TripOf(t *lastmile.Task, by lastmile.VehicleType) (lastmile.Trip, bool) {
	var trip lastmile.Trip
	started, arrived, left := t.Completion.TimeOf("start"), t.Completion.TimeOf("arrival"), t.Completion.TimeOf("departure")
	if arrived.IsZero() {
		return trip, false
	}
	if left.IsZero() {
		left = t.Completion.At
	}
	trip.Service = max(left.Sub(arrived), 0)
	if t.Completion.FirstLocation != nil && !started.IsZero() && arrived.After(started) {
		trip.Actual = arrived.Sub(started)
		trip.Estimated, _ = Approximate(by, *t.Completion.FirstLocation, t.Destination.Location)
	}
	return trip, trip.Actual > 0 || trip.Service > 0
}

// Approach is how long the worker still needs to a task: as it was estimated
// on the way, else by formula from where the worker was last seen.
func Approach(w lastmile.Worker, t lastmile.Task) *time.Duration {
	if t.Estimates.ETA != nil || w.Whereabouts.Location == nil {
		return t.Estimates.ETA
	}
	eta, _ := Approximate(w.TravelsBy(), *w.Whereabouts.Location, t.Destination.Location)
	return &eta
}

// MeasureRoute plans how far the route is and how long it takes, by way of the
// points of the route and with the time that is spent at them.
func MeasureRoute(p *lastmile.RoutePlan, by lastmile.VehicleType, way []lastmile.Point, service time.Duration) {
	p.PlannedDistance, p.PlannedDuration = 0, service
	for i := 1; i < len(way); i++ {
		duration, distance := Approximate(by, way[i-1], way[i])
		p.PlannedDistance += distance
		p.PlannedDuration += duration
	}
}
