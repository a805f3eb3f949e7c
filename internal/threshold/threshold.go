// Package threshold compares tasks with the thresholds of webhooks.
package threshold

import (
	"slices"
	"time"

	"dray/internal/lastmile"
)

// Measurement holds the values that are compared with the thresholds of webhooks. Nil values
// are unknown.
type Measurement struct {
	ETA      *time.Duration
	Distance *lastmile.Meters // shortest distance to the destination
	Delay    *time.Duration
}

// Measure returns the measurement of an active task. positions are those of its worker since
// the task was started.
func Measure(t *lastmile.Task, positions []lastmile.Point) Measurement {
	m := Measurement{ETA: t.Estimates.ETA, Delay: t.Estimates.Delay}
	for _, p := range positions {
		if d := p.Distance(t.Destination.Location); m.Distance == nil || d < *m.Distance {
			m.Distance = &d
		}
	}
	return m
}

// Reaches reports whether a measurement reaches the threshold of a webhook. The default
// threshold is zero.
func (m Measurement) Reaches(h lastmile.Webhook) bool {
	var threshold float64
	lastmile.Set(&threshold, h.Threshold)
	switch h.Trigger {
	case lastmile.TriggerTaskEta:
		return m.ETA != nil && m.ETA.Seconds() <= threshold
	case lastmile.TriggerTaskArrival:
		return m.Distance != nil && float64(*m.Distance) <= threshold
	case lastmile.TriggerTaskDelayed:
		return m.Delay != nil && m.Delay.Seconds() >= threshold
	default:
		return false
	}
}

// Event returns the event for a task that reaches the thresholds of webhooks.
func (m Measurement) Event(t *lastmile.Task, trigger lastmile.Trigger, hooks []lastmile.WebhookID, at time.Time) lastmile.Event {
	e := t.Notice(trigger, at)
	e.Webhooks = slices.Clone(hooks)
	switch trigger {
	case lastmile.TriggerTaskEta:
		e.ETA = m.ETA
	case lastmile.TriggerTaskArrival:
		e.Distance = m.Distance
	default:
		e.Delay = m.Delay
	}
	return e
}

// PredictedDelay returns the event for a pending task that is expected to be late.
func PredictedDelay(t *lastmile.Task, at time.Time) lastmile.Event {
	e := t.Notice(lastmile.TriggerPredictedTaskDelay, at)
	e.Delay = t.Estimates.Delay
	return e
}
