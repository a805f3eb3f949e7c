package travel

import (
	"cmp"
	"time"

	"dray/internal/lastmile"
)

// The intervals at which the estimates of a worker's tasks are refreshed, as defined by the
// API.
const (
	RefreshOnDuty  = time.Minute
	RefreshOffDuty = 10 * time.Minute
)

// Itinerary is a worker and the worker's tasks in order, the active one first.
type Itinerary struct {
	Worker lastmile.Worker
	Tasks  []lastmile.Task
}

// Active returns the active task, or nil.
func (i Itinerary) Active() *lastmile.Task {
	if len(i.Tasks) > 0 && i.Tasks[0].State == lastmile.TaskActive {
		return &i.Tasks[0]
	}
	return nil
}

// NextRefresh returns when the estimates are refreshed next. It is zero if they are refreshed
// only when something changes.
func (i Itinerary) NextRefresh(now time.Time) time.Time {
	switch {
	case len(i.Tasks) == 0:
		return time.Time{}
	case i.Worker.Whereabouts.OnDuty:
		return now.Add(RefreshOnDuty)
	}
	return now.Add(RefreshOffDuty)
}

// Waypoints returns the locations the worker passes through, beginning with the
// worker's own. It is nil if that is unknown.
func (i Itinerary) Waypoints() []lastmile.Point {
	if i.Worker.Whereabouts.Location == nil {
		return nil
	}
	way := []lastmile.Point{*i.Worker.Whereabouts.Location}
	for _, t := range i.Tasks {
		way = append(way, t.Destination.Location)
	}
	return way
}

// Estimate returns when each task will be reached and completed, and its delay. legs are the
// legs between the Waypoints. Without them, only arrivals in the past and the delays of tasks
// that are already late are known. The completion follows all travel, waiting and service
// times before it: a worker who arrives before the time window opens waits. Only the active
// task has an ETA, which is the travel time alone.
func (i Itinerary) Estimate(legs []Leg, e Experience, now time.Time) []lastmile.Estimates {
	all := make([]lastmile.Estimates, len(i.Tasks))
	clock, known := now, len(legs) >= len(i.Tasks)
	for n, t := range i.Tasks {
		arrival, travel := t.Completion.Arrived(), time.Duration(0)
		if arrival.IsZero() {
			if known = known && legs[n].Duration != Unreachable; !known {
				all[n].Delay = ifPositive(t.Late(now))
				continue
			}
			travel = legs[n].Adjusted(e.Travel).Duration
			arrival = clock.Add(travel)
		}
		start := t.Window().ServiceStart(arrival)
		clock = start.Add(e.ServiceTime(t))
		if clock.Before(now) {
			clock = now
		}
		all[n].Arrival, all[n].Completion = arrival, clock
		if t.State == lastmile.TaskActive {
			all[n].ETA = &travel
		}
		all[n].Delay = ifPositive(t.Window().Lateness(start))
	}
	return all
}

// ServiceTime returns how long a worker will stay: the task's service time, or else the one
// with which it was planned, or else the organization's usual one.
func (e Experience) ServiceTime(t lastmile.Task) time.Duration {
	if service := cmp.Or(t.ServiceTime, t.PlannedService); service != nil {
		return *service
	}
	return e.Service
}

// ifPositive returns a delay as a pointer; nil if there is none.
func ifPositive(by time.Duration) *time.Duration {
	if by <= 0 {
		return nil
	}
	return &by
}

// MaxDelay returns the largest delay; nil for none.
func MaxDelay(of []lastmile.Estimates) *time.Duration {
	var most *time.Duration
	for _, e := range of {
		if e.Delay != nil && (most == nil || *e.Delay > *most) {
			most = e.Delay
		}
	}
	return most
}
