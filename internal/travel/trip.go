package travel

import (
	"time"

	"dray/internal/lastmile"
)

// LearnedTrips is the number of recent trips that experience is learned from.
const LearnedTrips = 500

// TripOf returns the actual and estimated duration of the trip to a completed
// task, from where the worker started it to the arrival, and how long the
// worker stayed. It reports false for tasks without an arrival.
func TripOf(t *lastmile.Task, by lastmile.VehicleType) (lastmile.Trip, bool) {
	var trip lastmile.Trip
	started, arrived, left := t.Started(), t.Completion.Arrived(), t.Completion.TimeOf("departure")
	if arrived.IsZero() {
		return trip, false
	}
	if left.IsZero() {
		left = t.Completion.At
	}
	served := t.Window().ServiceStart(arrived) // waiting for the window is no service
	if !served.Before(left) {                  // the worker did not wait
		served = arrived
	}
	trip.Service = max(left.Sub(served), 0)
	if t.Completion.FirstLocation != nil && !started.IsZero() && arrived.After(started) {
		trip.Actual = arrived.Sub(started)
		trip.Estimated, _ = Approximate(by, *t.Completion.FirstLocation, t.Destination.Location)
	}
	return trip, trip.Actual > 0 || trip.Service > 0
}

// TimeToTask returns how long the worker still needs to reach a task: the
// current estimate, or else an approximation from the last known location.
func TimeToTask(w lastmile.Worker, t lastmile.Task) *time.Duration {
	if t.Estimates.ETA != nil || w.Whereabouts.Location == nil {
		return t.Estimates.ETA
	}
	eta, _ := Approximate(w.TravelsBy(), *w.Whereabouts.Location, t.Destination.Location)
	return &eta
}

// MeasureRoute sets the planned distance and duration of a route plan with its legs,
// including the service time at its stops.
func MeasureRoute(p *lastmile.RoutePlan, legs []Leg, service time.Duration) {
	p.PlannedDistance, p.PlannedDuration, p.OnRoads = 0, service, len(legs) > 0
	for _, leg := range legs {
		p.OnRoads = p.OnRoads && !leg.Estimated
		if leg.Duration != Unreachable {
			p.PlannedDistance += leg.Distance
			p.PlannedDuration += leg.Duration
		}
	}
}
