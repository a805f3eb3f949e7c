package travel

import (
	"time"

	"dray/internal/lastmile"
)

// How often the estimates of a worker's tasks are refreshed (interface,
// "Limits").
const (
	RefreshOnDuty  = time.Minute
	RefreshOffDuty = 10 * time.Minute
)

// Itinerary is a worker with all that the worker has to do, in order: the
// active task first.
type Itinerary struct {
	Worker lastmile.Worker
	Tasks  []lastmile.Task
}

// Active is the task that the worker is doing, or nil.
func (i Itinerary) Active() *lastmile.Task {
	if len(i.Tasks) > 0 && i.Tasks[0].State == lastmile.TaskActive {
		return &i.Tasks[0]
	}
	return nil
}

// Refresh is when the estimates are to be made anew; zero is when something
// changes.
func (i Itinerary) Refresh(now time.Time) time.Time {
	switch {
	case len(i.Tasks) == 0:
		return time.Time{}
	case i.Worker.Whereabouts.OnDuty:
		return now.Add(RefreshOnDuty)
	}
	return now.Add(RefreshOffDuty)
}

// Way is the places that the worker comes through, from where the worker is.
// It is nil when nobody knows where that is.
func (i Itinerary) Way() []lastmile.Point {
	if i.Worker.Whereabouts.Location == nil {
		return nil
	}
	way := []lastmile.Point{*i.Worker.Whereabouts.Location}
	for _, t := range i.Tasks {
		way = append(way, t.Destination.Location)
	}
	return way
}

// Foresee estimates when each task will be reached and done, and how late that
// is. legs are those of Way; without them nothing but what is late already is
// known. An estimated completion is given for tasks that are not started yet,
// and is the sum of travel and service times up to it (interface, "Estimated
// completion time rules"); the time to the destination is given for the active
// task.
func (i Itinerary) Foresee(legs []Leg, e Experience, now time.Time) []lastmile.Estimates {
	all := make([]lastmile.Estimates, len(i.Tasks))
	clock, known := now, len(legs) >= len(i.Tasks)
	for n, t := range i.Tasks {
		known = known && legs[n].Duration != Unreachable
		if !known {
			all[n].Delay = late(t.Late(now))
			continue
		}
		travel := legs[n].Adjusted(e.Travel).Duration
		if t.State == lastmile.TaskActive && !t.Completion.TimeOf("arrival").IsZero() {
			travel = 0
		}
		arrival := clock.Add(travel)
		if travel == 0 && t.State == lastmile.TaskActive {
			arrival = t.Completion.TimeOf("arrival")
		}
		clock = arrival.Add(serviceTime(t, e))
		if clock.Before(now) {
			clock = now
		}
		all[n].Arrival = arrival
		if t.State == lastmile.TaskActive {
			all[n].ETA = &travel
		} else {
			all[n].Completion = clock
		}
		if !t.CompleteBy.IsZero() {
			all[n].Delay = late(clock.Sub(t.CompleteBy))
		}
	}
	return all
}

// serviceTime is how long the worker will stay: as the task says, else as long as
// the organization's workers usually do.
func serviceTime(t lastmile.Task, e Experience) time.Duration {
	if t.ServiceTime > 0 {
		return t.ServiceTime
	}
	return e.Service
}

// late is a delay as it is shown: nil when there is none.
func late(by time.Duration) *time.Duration {
	if by <= 0 {
		return nil
	}
	return &by
}

// Delay is the largest delay among some; nil when there is none.
func Delay(of []lastmile.Estimates) *time.Duration {
	var most *time.Duration
	for _, e := range of {
		if e.Delay != nil && (most == nil || *e.Delay > *most) {
			most = e.Delay
		}
	}
	return most
}
