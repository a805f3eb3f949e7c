package analytics

import (
	"time"

	"dray/internal/lastmile"
)

// What worker analytics can look at.
const (
	DefaultWindow = 7 * 24 * time.Hour // without a request for another
	MaxWindow     = 24 * time.Hour     // that a request may ask for
)

// AnalyticsWindow is the window that a request asks for; zero times were not
// sent. It ends now at the latest.
func NewWindow(from, to, now time.Time) (lastmile.Window, error) {
	switch {
	case from.IsZero() && to.IsZero():
		return lastmile.Window{From: now.Add(-DefaultWindow), To: now}, nil
	case from.IsZero():
		from = to.Add(-MaxWindow)
	case to.IsZero():
		to = from.Add(MaxWindow)
		if to.After(now) {
			to = now
		}
	}
	switch {
	case !from.Before(to):
		return lastmile.Window{}, lastmile.Invalid("from must be before to")
	case to.Sub(from) > MaxWindow:
		return lastmile.Window{}, lastmile.Invalid("from and to must be at most %.0f hours apart", MaxWindow.Hours())
	case to.After(now):
		to = now
	}
	return lastmile.Window{From: from, To: to}, nil
}

// timeOnDuty is how long the worker was on duty.
func timeOnDuty(d lastmile.Duty, w lastmile.Window) time.Duration {
	var (
		total  time.Duration
		onDuty = d.Before
		since  = w.From
	)
	for _, c := range d.Changes {
		if onDuty {
			total += w.Overlap(since, c.At)
		}
		onDuty, since = c.OnDuty, c.At
	}
	if onDuty {
		total += w.Overlap(since, w.To)
	}
	return total
}

// WorkerAnalytics is what a worker did in a window. Enroute is on a task, idle
// is on duty without one.
type Summary struct {
	Events                        []lastmile.DutyChange
	EnrouteDistance, IdleDistance lastmile.Meters
	EnrouteTime, IdleTime         time.Duration
	Succeeded, Failed             int
}

// AnalyzeWork adds up a worker's duty, the tasks completed in the window, and
// the one that is active. The way of a worker without a task is not recorded.
func Summarize(w lastmile.Window, duty lastmile.Duty, tasks []lastmile.Task) Summary {
	a := Summary{Events: duty.Changes}
	for _, t := range tasks {
		end := w.To
		if t.State == lastmile.TaskCompleted {
			end = t.Completion.At
			a.EnrouteDistance += t.Completion.Distance
			if t.Completion.Success {
				a.Succeeded++
			} else {
				a.Failed++
			}
		}
		if started := t.Started(); !started.IsZero() {
			a.EnrouteTime += w.Overlap(started, end)
		}
	}
	a.IdleTime = max(timeOnDuty(duty, w)-a.EnrouteTime, 0)
	return a
}

// WorkerDetails is a worker with what is shown of one worker only.
type WorkerDetails struct {
	Worker    lastmile.Worker
	ETA       *time.Duration // to the active task; nil when there is none or nothing is known
	Analytics *Summary
}
