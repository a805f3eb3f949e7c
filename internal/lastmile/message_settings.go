package lastmile

import "time"

// NotificationThresholds are when recipients are told that the worker is near
// or late; zero: never.
type NotificationThresholds struct {
	ETA   time.Duration // the worker will be there in at most this time
	Delay time.Duration // the task is late by at least this time
}

// DefaultThresholds are those of an organization that has set none.
var DefaultThresholds = NotificationThresholds{ETA: 10 * time.Minute, Delay: 15 * time.Minute}
