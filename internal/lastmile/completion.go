package lastmile

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// NoFailure is the failure reason of a task that did not fail.
const NoFailure = "NONE"

// FailureReason is why a task failed. The API contract leaves the reasons to the platform,
// except for UNABLE_TO_LOCATE. Because phones may send actions days later, reasons must never
// be removed.
type FailureReason string

// The reasons for failures.
const (
	RecipientUnavailable FailureReason = "RECIPIENT_UNAVAILABLE"
	UnableToLocate       FailureReason = "UNABLE_TO_LOCATE"
	WrongAddress         FailureReason = "WRONG_ADDRESS"
	NoAccess             FailureReason = "NO_ACCESS"
	RefusedByRecipient   FailureReason = "REFUSED_BY_RECIPIENT"
	AgeNotVerified       FailureReason = "AGE_NOT_VERIFIED"
	Damaged              FailureReason = "DAMAGED"
	OtherReason          FailureReason = "OTHER" // explained in the notes
)

// FailureReasons lists every reason in the order in which workers see them.
var FailureReasons = []FailureReason{
	RecipientUnavailable, UnableToLocate, WrongAddress, NoAccess, RefusedByRecipient, AgeNotVerified, Damaged, OtherReason,
}

// Completion describes how a task was carried out.
type Completion struct {
	Events                 []CompletionEvent
	At                     time.Time // zero until completed
	Success                bool
	Notes                  string
	SuccessNotes           string
	FailureNotes           string
	FailureReason          string // NoFailure if the task did not fail
	SignatureUploadID      string
	SignatureText          string
	PhotoUploadIDs         []string
	FirstLocation          *Point
	LastLocation           *Point
	Distance               Meters
	UnavailableAttachments []UnavailableAttachment
}

// CompletionEvent is a step of carrying out a task: start, arrival or departure.
type CompletionEvent struct {
	Name     string
	At       time.Time
	Location *Point // for arrival and departure
}

// UnavailableAttachment is a signature or photo that was announced and has not
// been uploaded yet.
type UnavailableAttachment struct{ ID, Type string }

// Done reports whether the task is completed.
func (c Completion) Done() bool { return !c.At.IsZero() }

// Outcome is the result of a task.
type Outcome struct {
	Success bool
	Notes   string
	At      time.Time
}

// TimeOf returns the time of the first event with the given name, or the zero time.
func (c Completion) TimeOf(name string) time.Time {
	for _, e := range c.Events {
		if e.Name == name {
			return e.At
		}
	}
	return time.Time{}
}

// Arrived returns when the worker arrived at the destination; zero if not yet.
func (c Completion) Arrived() time.Time { return c.TimeOf("arrival") }

// Trip holds the estimated and the actual duration of a completed trip, and the time spent at
// its destination. Zero means unknown.
type Trip struct {
	Estimated, Actual time.Duration
	Service           time.Duration
}

// Limits of the reports of a worker's phone.
const (
	MaxActionID  = 100                // characters
	MaxActionAge = 7 * 24 * time.Hour // a phone without signal catches up later

	MaxCompletionEvents = 100 // per task
)

// Action is something that a worker did, as reported by the phone. The phone generates the
// id, so that the action is applied only once.
type Action struct {
	ID       string
	At       time.Time // zero means now
	Location *Point
}

// Normalize checks an action and corrects its time: one in the future, from a phone whose
// clock is ahead, becomes now.
func (a Action) Normalize(now time.Time) (Action, error) {
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

// CheckWorker rejects a worker to whom the task is not assigned.
func (t *Task) CheckWorker(id WorkerID) error {
	if t.Worker != id {
		return OutsideScope(string(t.ID))
	}
	return nil
}

// CheckStart rejects starting a task while the worker is off duty or has
// another active task.
func (w *Worker) CheckStart(t *Task) error {
	switch {
	case !w.Whereabouts.OnDuty:
		return Invalid("go on duty before starting a task")
	case w.ActiveTask != "" && w.ActiveTask != t.ID:
		return Invalid("task %s is still active: complete it before starting another", w.ActiveTask)
	}
	return nil
}

// Visit records that the worker arrived at or left the destination of an active
// task.
func (t *Task) Visit(name string, a Action, by Actor) ([]Event, error) {
	switch {
	case t.State == TaskCompleted:
		return nil, Invalid("task %s is completed", t.ID)
	case t.State != TaskActive:
		return nil, Invalid("task %s is %v: start it first", t.ID, t.State)
	case len(t.Completion.Events) >= MaxCompletionEvents:
		return nil, Invalid("task %s has %d arrivals and departures, and no more are kept", t.ID, MaxCompletionEvents)
	}
	if name == "arrival" && t.Completion.Arrived().IsZero() {
		t.Estimates = t.Estimates.arrived(a.At, t.Window())
		t.updateDelay(a.At)
	}
	t.Completion.Events = append(t.Completion.Events, CompletionEvent{Name: name, At: a.At, Location: a.Location})
	t.Modified = nextModified(t.Modified, a.At)
	return []Event{t.event(TriggerTaskUpdated, by, a.At)}, nil
}

// CorrectDistance sets the distance of a completed task when positions of its worker have
// arrived late.
func (t *Task) CorrectDistance(d Meters, now time.Time) []Event {
	t.Completion.Distance, t.Modified = d, nextModified(t.Modified, now)
	return []Event{t.event(TriggerTaskUpdated, Actor{}, now)}
}

// Evidence is what a worker submits to complete a task, besides the outcome.
type Evidence struct {
	FailureReason      string
	SignatureUploadID  string
	SignatureText      string
	PhotoUploadIDs     []string
	Barcodes           []CapturedBarcode
	MinimumAgeVerified bool
}

// check rejects more evidence than a task can hold.
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
		err := FirstError(CheckText(fmt.Sprintf("barcodes[%d].data", i), b.Data, MaxBarcodeData),
			CheckText(fmt.Sprintf("barcodes[%d].symbology", i), b.Symbology, MaxText))
		if err != nil {
			return err
		}
	}
	if err := FirstError(CheckText("failureReason", e.FailureReason, MaxText), CheckText("signatureText", e.SignatureText, MaxText)); err != nil {
		return err
	}
	if r := e.FailureReason; r != "" && r != NoFailure && !slices.Contains(FailureReasons, FailureReason(r)) {
		return Invalid("failureReason must be one of %v, not %q", FailureReasons, Truncate(string(r), MaxShown))
	}
	return nil
}

// Finish completes an active task as reported by its worker. Success requires
// the evidence that the task demands.
func (t *Task) Finish(o Outcome, e Evidence, a Action, by Actor) ([]Event, error) {
	if err := FirstError(CheckText("notes", o.Notes, MaxNotes), e.check()); err != nil {
		return nil, err
	}
	if o.Success {
		if missing := t.missing(o, e); len(missing) > 0 {
			return nil, Invalid("task %s cannot be completed without: %s", t.ID, strings.Join(missing, ", ")).
				WithMissing(MissingRequirements, missing)
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
	copied := *t
	for i := range events {
		events[i].Task = &copied // one copy, which is encoded once
	}
	return events, nil
}

// missing lists the required evidence that the worker did not submit.
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
	for _, b := range t.Barcodes.unscanned(e.Barcodes) {
		need(b.BlockCompletion, false, "barcode "+b.ID)
	}
	return missing
}

// unscanned lists the required barcodes that were not scanned. Each scan satisfies one
// requirement: one for the scanned data or, if there is none, one for any data.
func (bs Barcodes) unscanned(scans []CapturedBarcode) []Barcode {
	left := slices.Clone(scans)
	take := func(fits func(CapturedBarcode) bool) bool {
		i := slices.IndexFunc(left, fits)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	}
	var unscanned, others []Barcode
	for _, b := range bs.Required {
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

// AlreadyTaken is the error for claiming a task that is not unassigned any more.
func AlreadyTaken(id TaskID) *Error { return Invalid("task %s is already taken", id) }

// CheckClaim rejects a worker who may not self-assign the task, which is one of the team's.
func (t *Team) CheckClaim(task *Task, worker WorkerID) error {
	switch {
	case task.State != TaskUnassigned:
		return AlreadyTaken(task.ID)
	case !t.EnableSelfAssignment:
		return Invalid("workers of team %s cannot take tasks by themselves", t.ID)
	case !slices.Contains(t.Workers, worker):
		return OutsideScope(string(task.ID))
	}
	return nil
}
