package lastmile

import (
	"slices"
	"time"
)

// ThresholdInterval is how often an active task is checked against the
// thresholds of webhooks.
const ThresholdInterval = 30 * time.Second

// Started is when the worker began the task; zero when not yet.
func (t *Task) Started() time.Time { return t.Completion.TimeOf("start") }

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
