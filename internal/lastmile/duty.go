package lastmile

import "time"

// Window is the time from an instant up to, but without, another.
type Window struct{ From, To time.Time }

// Overlap is how much of the time between two instants is in the window.
func (w Window) Overlap(from, to time.Time) time.Duration {
	if from.Before(w.From) {
		from = w.From
	}
	if to.After(w.To) {
		to = w.To
	}
	return max(to.Sub(from), 0)
}

// DutyChange is a worker going on or off duty.
type DutyChange struct {
	At     time.Time
	OnDuty bool
}

// Duty is when a worker was on duty in a window.
type Duty struct {
	Before  bool         // whether the window began on duty
	Changes []DutyChange // in order
}
