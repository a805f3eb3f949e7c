package lastmile

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

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

// The terms on which a worker's phone may report what happened.
const (
	MaxActionID  = 100                // characters
	MaxActionAge = 7 * 24 * time.Hour // a phone without signal catches up

	MaxCompletionEvents = 100 // of a task
)

// Action is something a worker did, as the phone tells it: with an id the phone
// made, so that it is done once, and the time it happened.
type Action struct {
	ID       string
	At       time.Time // zero: now
	Location *Point
}

// Settle checks an action and gives it a time that can be true: a phone whose
// clock is ahead did it now.
func (a Action) Settle(now time.Time) (Action, error) {
	switch {
	case a.ID == "":
		return a, Missing("actionId")
	case a.At.IsZero() || a.At.After(now):
		a.At = now
	case a.At.Before(now.Add(-MaxActionAge)):
		return a, Invalid("time is more than %.0f days ago", MaxActionAge.Hours()/24)
	}
	return a, CheckText("actionId", a.ID, MaxActionID)
}

// CheckWorker refuses a worker who does not have the task.
func (t *Task) CheckWorker(id WorkerID) error {
	if t.Worker != id {
		return OutsideScope(string(t.ID))
	}
	return nil
}

// CheckStart refuses to start a task while the worker is off duty or on
// another one.
func (w *Worker) CheckStart(t *Task) error {
	switch {
	case !w.Whereabouts.OnDuty:
		return Invalid("go on duty before starting a task")
	case w.ActiveTask != "" && w.ActiveTask != t.ID:
		return Invalid("task %s is still active: complete it before starting another", w.ActiveTask)
	}
	return nil
}

// Visit notes that the worker arrived at or left the place of an active task.
func (t *Task) Visit(name string, a Action, by Actor) ([]Event, error) {
	switch {
	case t.State == TaskCompleted:
		return nil, Invalid("task %s is completed", t.ID)
	case t.State != TaskActive:
		return nil, Invalid("task %s is %v: start it first", t.ID, t.State)
	case len(t.Completion.Events) >= MaxCompletionEvents:
		return nil, Invalid("task %s has %d arrivals and departures, and no more are kept", t.ID, MaxCompletionEvents)
	}
	t.Completion.Events = append(t.Completion.Events, CompletionEvent{Name: name, At: a.At, Location: a.Location})
	t.Modified = later(t.Modified, a.At)
	return []Event{t.event(TriggerTaskUpdated, by, a.At)}, nil
}

// Evidence is what a worker hands in with a completed task.
type Evidence struct {
	FailureReason      string
	SignatureUploadID  string
	SignatureText      string
	PhotoUploadIDs     []string
	Barcodes           []CapturedBarcode
	MinimumAgeVerified bool
}

// check refuses more than a task can hold.
func (e Evidence) check() error {
	if len(e.PhotoUploadIDs) > MaxPhotos {
		return Invalid("photoUploadIds has %d entries; at most %d are allowed", len(e.PhotoUploadIDs), MaxPhotos)
	}
	if len(e.Barcodes) > MaxBarcodes {
		return Invalid("barcodes has %d entries; at most %d are allowed", len(e.Barcodes), MaxBarcodes)
	}
	for i, b := range e.Barcodes {
		if b.Data == "" {
			return Missing(fmt.Sprintf("barcodes[%d].data", i))
		}
		err := firstError(CheckText(fmt.Sprintf("barcodes[%d].data", i), b.Data, MaxBarcodeData),
			CheckText(fmt.Sprintf("barcodes[%d].symbology", i), b.Symbology, MaxText))
		if err != nil {
			return err
		}
	}
	return firstError(CheckText("failureReason", e.FailureReason, MaxText), CheckText("signatureText", e.SignatureText, MaxText))
}

// Finish ends an active task as its worker reports it. A success needs what the
// task requires.
func (t *Task) Finish(o Outcome, e Evidence, a Action, by Actor) ([]Event, error) {
	if err := firstError(CheckText("notes", o.Notes, MaxNotes), e.check()); err != nil {
		return nil, err
	}
	if o.Success {
		if missing := t.missing(o, e); len(missing) > 0 {
			return nil, Invalid("task %s cannot be completed without: %s", t.ID, strings.Join(missing, ", ")).
				Lacking(LackRequirements, missing)
		}
	}
	captured := slices.Clone(e.Barcodes)
	for i := range captured {
		captured[i].At, captured[i].Location = a.At, a.Location
		captured[i].WasRequested = slices.ContainsFunc(t.Barcodes.Required, func(b Barcode) bool {
			return b.Data == "" || b.Data == captured[i].Data
		})
		if t.ScanOnlyRequiredBarcodes && !captured[i].WasRequested {
			return nil, Invalid("barcodes: %q is not one of the task's, and no others may be scanned", captured[i].Data)
		}
	}
	events, err := t.Complete(o, by)
	if err != nil {
		return nil, err
	}
	t.Barcodes.Captured = append(t.Barcodes.Captured, captured...)
	c := &t.Completion
	c.SignatureUploadID, c.SignatureText, c.PhotoUploadIDs, c.LastLocation = e.SignatureUploadID, e.SignatureText, e.PhotoUploadIDs, a.Location
	if !o.Success && e.FailureReason != "" {
		c.FailureReason = e.FailureReason
	}
	for i := range events {
		as := *t
		events[i].Task = &as
	}
	return events, nil
}

// missing lists what a task requires and the worker did not hand in.
func (t *Task) missing(o Outcome, e Evidence) []string {
	var missing []string
	need := func(required, given bool, name string) {
		if required && !given {
			missing = append(missing, name)
		}
	}
	r := t.Requirements
	need(r.Signature, e.SignatureUploadID != "" || e.SignatureText != "", "signature")
	need(r.Photo, len(e.PhotoUploadIDs) > 0, "photo")
	need(r.Notes, strings.TrimSpace(o.Notes) != "", "notes")
	need(r.MinimumAge > 0, e.MinimumAgeVerified, "minimumAge")
	for _, b := range t.unscanned(e.Barcodes) {
		need(b.BlockCompletion, false, "barcode "+b.ID)
	}
	return missing
}

// unscanned lists the required barcodes that nobody scanned. A scan counts for
// one of them: for the one with its data, else for one that takes any.
func (t *Task) unscanned(scans []CapturedBarcode) []Barcode {
	left := slices.Clone(scans)
	take := func(fits func(CapturedBarcode) bool) bool {
		i := slices.IndexFunc(left, fits)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	}
	var unscanned, others []Barcode
	for _, b := range t.Barcodes.Required {
		switch {
		case b.Data == "":
			others = append(others, b)
		case !take(func(c CapturedBarcode) bool { return c.Data == b.Data }):
			unscanned = append(unscanned, b)
		}
	}
	for _, b := range others {
		if !take(func(CapturedBarcode) bool { return true }) {
			unscanned = append(unscanned, b)
		}
	}
	return unscanned
}

// Taken refuses a task that somebody else was quicker to take.
func Taken(id TaskID) *Error { return Invalid("task %s is already taken", id) }

// CheckClaim refuses a worker who may not take a task of a team by herself.
func (t *Team) CheckClaim(task *Task, worker WorkerID) error {
	switch {
	case task.State != TaskUnassigned:
		return Taken(task.ID)
	case !t.EnableSelfAssignment:
		return Invalid("workers of team %s cannot take tasks by themselves", t.ID)
	case !slices.Contains(t.Workers, worker):
		return OutsideScope(string(task.ID))
	}
	return nil
}
