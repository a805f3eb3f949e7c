package lastmile

import "time"

// NoFailure is the failure reason of a task that did not fail.
const NoFailure = "NONE"

// Completion is what is known of how a task was done.
type Completion struct {
	Events                 []CompletionEvent
	At                     time.Time // zero until completed
	Success                bool
	Notes                  string
	SuccessNotes           string
	FailureNotes           string
	FailureReason          string // NoFailure when not failed
	SignatureUploadID      string
	SignatureText          string
	PhotoUploadIDs         []string
	FirstLocation          *Point
	LastLocation           *Point
	Distance               Meters
	UnavailableAttachments []UnavailableAttachment
}

// CompletionEvent is a step on the way: start, arrival or departure.
type CompletionEvent struct {
	Name     string
	At       time.Time
	Location *Point // for arrival and departure
}

// UnavailableAttachment is a signature or photo that was announced and has not
// arrived yet.
type UnavailableAttachment struct{ ID, Type string }

// Done tells whether the task is completed.
func (c Completion) Done() bool { return !c.At.IsZero() }

// Outcome is how a task ends.
type Outcome struct {
	Success bool
	Notes   string
	At      time.Time
}

// TimeOf returns the time of the first event with a name; zero without one.
func (c Completion) TimeOf(name string) time.Time {
	for _, e := range c.Events {
		if e.Name == name {
			return e.At
		}
	}
	return time.Time{}
}

// Trip is a way that was estimated and then gone, and the stay at its end.
// Zero durations are not known.
type Trip struct {
	Estimated, Actual time.Duration
	Service           time.Duration
}
