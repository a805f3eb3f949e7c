package lastmile

import (
	"slices"
	"time"
)

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
		clock = arrival.Add(t.service(e))
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

// service is how long the worker will stay: as the task says, else as long as
// the organization's workers usually do.
func (t Task) service(e Experience) time.Duration {
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

// Started is when the worker began the task; zero when not yet.
func (t *Task) Started() time.Time { return t.Completion.when("start") }

// Sighting is what an active task is held against thresholds by.
type Sighting struct {
	ETA      *time.Duration
	Distance *Meters // of the nearest that the worker came
	Delay    *time.Duration
}

// See makes a sighting of an active task: its estimates, and where the worker
// was since it was started.
func (t *Task) See(positions []Point) Sighting {
	s := Sighting{ETA: t.Estimates.ETA, Delay: t.Estimates.Delay}
	for _, p := range positions {
		if d := p.Distance(t.Destination.Location); s.Distance == nil || d < *s.Distance {
			s.Distance = &d
		}
	}
	return s
}

// Met tells whether the webhook's threshold is met (interface, "Triggers").
// Without one it is zero.
func (h Webhook) Met(s Sighting) bool {
	var threshold float64
	set(&threshold, h.Threshold)
	switch h.Trigger {
	case TriggerTaskEta:
		return s.ETA != nil && s.ETA.Seconds() <= threshold
	case TriggerTaskArrival:
		return s.Distance != nil && float64(*s.Distance) <= threshold
	case TriggerTaskDelayed:
		return s.Delay != nil && s.Delay.Seconds() >= threshold
	default:
		return false
	}
}

// Cross tells of a threshold that the task met, to some webhooks.
func (t *Task) Cross(trigger Trigger, s Sighting, hooks []WebhookID, at time.Time) Event {
	e := t.event(trigger, Actor{}, at)
	e.Webhooks = slices.Clone(hooks)
	switch trigger {
	case TriggerTaskEta:
		e.ETA = s.ETA
	case TriggerTaskArrival:
		e.Distance = s.Distance
	default:
		e.Delay = s.Delay
	}
	return e
}

// PredictDelay tells of a task that is not started and will be late.
func (t *Task) PredictDelay(at time.Time) Event {
	e := t.event(TriggerPredictedTaskDelay, Actor{}, at)
	e.Delay = t.Estimates.Delay
	return e
}

// Delayed tells of a route plan that does not keep to its times.
func (p *RoutePlan) Delayed(at time.Time) (Event, bool) {
	p.Assess(at)
	if p.Status != RoutePlanLate || p.State == RoutePlanCompleted {
		return Event{}, false
	}
	return p.event(TriggerRoutePlanDelayed, Actor{}, at), true
}
