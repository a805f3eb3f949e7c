package lastmile

import "time"

// How often the estimates of a worker's tasks are made anew (interface,
// "Limits"), and how often an active task is held against thresholds.
const (
	RefreshOnDuty  = time.Minute
	RefreshOffDuty = 10 * time.Minute
	JudgeEvery     = 30 * time.Second
)

// Itinerary is a worker with all that the worker has to do, in order: the
// active task first.
type Itinerary struct {
	Worker Worker
	Tasks  []Task
}

// Active is the task that the worker is doing, or nil.
func (i Itinerary) Active() *Task {
	if len(i.Tasks) > 0 && i.Tasks[0].State == TaskActive {
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
func (i Itinerary) Way() []Point {
	if i.Worker.Whereabouts.Location == nil {
		return nil
	}
	way := []Point{*i.Worker.Whereabouts.Location}
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
func (i Itinerary) Foresee(legs []Leg, e Experience, now time.Time) []Estimates {
	all := make([]Estimates, len(i.Tasks))
	clock, known := now, len(legs) >= len(i.Tasks)
	for n, t := range i.Tasks {
		known = known && legs[n].Duration != Unreachable
		if !known {
			all[n].Delay = late(t.Late(now))
			continue
		}
		travel := legs[n].Adjusted(e.Travel).Duration
		if t.State == TaskActive && !t.Completion.when("arrival").IsZero() {
			travel = 0
		}
		arrival := clock.Add(travel)
		if travel == 0 && t.State == TaskActive {
			arrival = t.Completion.when("arrival")
		}
		clock = arrival.Add(serviceTime(t, e))
		if clock.Before(now) {
			clock = now
		}
		all[n].Arrival = arrival
		if t.State == TaskActive {
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
func serviceTime(t Task, e Experience) time.Duration {
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
func Delay(of []Estimates) *time.Duration {
	var most *time.Duration
	for _, e := range of {
		if e.Delay != nil && (most == nil || *e.Delay > *most) {
			most = e.Delay
		}
	}
	return most
}
