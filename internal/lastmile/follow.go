package lastmile

import (
	"strings"
	"time"
)

// The terms of the page on which a recipient follows a task.
const (
	FollowedFor = 24 * time.Hour // after the task is completed
	MinRating   = 1
	MaxRating   = 5
	MaxComments = MaxText // characters

	positionShownFor = 10 * time.Minute // an older one says nothing of where the worker is
)

// Stage is how far a task is, in the eyes of its recipient.
type Stage string

// The stages of a task.
const (
	StageScheduled Stage = "scheduled" // nobody has it yet
	StageAssigned  Stage = "assigned"  // somebody will come
	StageActive    Stage = "active"    // somebody is on the way, to this place next
	StageArrived   Stage = "arrived"
	StageCompleted Stage = "completed"
	StageFailed    Stage = "failed"
)

// Stages lists every stage.
var Stages = []Stage{StageScheduled, StageAssigned, StageActive, StageArrived, StageCompleted, StageFailed}

// Following is all that whoever has the link to a task's page may know: no
// address, no phone number, no other stop, no id. Where the task is to be done
// is shown with the worker who comes there, as the worker shows it anyway.
type Following struct {
	Organization      string // name of the one shown to the recipient
	Timezone, Country string // of that organization
	Pickup            bool
	Stage             Stage
	CompleteAfter     time.Time // zero: none
	CompleteBy        time.Time // zero: none
	Arrival           time.Time // expected; zero when unknown
	Delay             time.Duration

	WorkerName string // while active
	Vehicle    VehicleType
	Location   *Point // of the worker, while active
	LocatedAt  time.Time
	Goal       *Point // where the worker is going, with Location

	Requirements Requirements
	CompletedAt  time.Time
	MayRate      bool
	Rated        bool
	Ends         time.Time // when the page is gone; zero until completed
}

// Follow shows a task to whoever has its link. The worker is the one who has
// the task, or nil.
func (t *Task) Follow(shown Organization, worker *Worker, now time.Time) (Following, error) {
	f := Following{
		Organization: PlainName(shown.Name), Timezone: shown.Timezone, Country: shown.Country,
		Pickup: t.Pickup, Stage: t.stage(), CompleteAfter: t.CompleteAfter, CompleteBy: t.CompleteBy, Requirements: t.Requirements,
	}
	if t.Completion.Done() {
		f.CompletedAt, f.Ends = t.Completion.At, t.Completion.At.Add(FollowedFor)
		f.MayRate, f.Rated = true, len(t.Feedback) > 0
		if !now.Before(f.Ends) {
			return Following{}, NoSuchPage()
		}
		return f, nil
	}
	f.Arrival, f.Delay = t.Estimates.Arrival, t.Late(now)
	if f.Arrival.IsZero() && t.Estimates.ETA != nil {
		f.Arrival = now.Add(*t.Estimates.ETA)
	}
	if t.Estimates.Delay != nil {
		f.Delay = max(f.Delay, *t.Estimates.Delay)
	}
	if t.State != TaskActive || worker == nil {
		return f, nil
	}
	f.WorkerName = worker.shownName()
	if worker.Vehicle != nil {
		f.Vehicle = worker.Vehicle.Type
	}
	at := worker.Whereabouts
	if at.OnDuty && at.Location != nil && worker.ActiveTask == t.ID && now.Sub(at.Located) < positionShownFor {
		goal := t.Destination.Location
		f.Location, f.LocatedAt, f.Goal = at.Location, at.Located, &goal
	}
	return f, nil
}

// NoSuchPage is the answer to every link that leads nowhere: it does not tell
// what never was from what is over.
func NoSuchPage() *Error {
	return &Error{Code: CodeNotFound, Message: "This page does not exist, or is not there any more."}
}

func (t *Task) stage() Stage {
	switch t.State {
	case TaskAssigned:
		return StageAssigned
	case TaskActive:
		if !t.Completion.TimeOf("arrival").IsZero() {
			return StageArrived
		}
		return StageActive
	case TaskCompleted:
		if t.Completion.Success {
			return StageCompleted
		}
		return StageFailed
	case TaskUnassigned:
	}
	return StageScheduled
}

// shownName is the name that recipients see: the one chosen for them, else the
// first of the worker's own.
func (w *Worker) shownName() string {
	if name := PlainName(w.DisplayName); strings.TrimSpace(name) != "" {
		return name
	}
	first, _, _ := strings.Cut(strings.TrimSpace(PlainName(w.Name)), " ")
	return first
}

// View notes that somebody looked at the task's page.
func (t *Task) View(now time.Time) []Event {
	if t.TrackingViewed {
		return nil
	}
	t.TrackingViewed, t.Modified = true, later(t.Modified, now)
	return []Event{t.event(TriggerTaskUpdated, Actor{}, now)}
}

// Rate takes in what the recipient says of a completed task. What is said again
// takes the place of what was said before.
func (t *Task) Rate(f Feedback, now time.Time) ([]Event, error) {
	switch {
	case t.State != TaskCompleted:
		return nil, Invalid("feedback can be given when the task is completed")
	case f.Rating < MinRating || f.Rating > MaxRating:
		return nil, Invalid("rating must be between %d and %d", MinRating, MaxRating)
	}
	if err := CheckText("comments", f.Comments, MaxComments); err != nil {
		return nil, err
	}
	f.Comments = strings.TrimSpace(f.Comments)
	if len(t.Feedback) == 1 && t.Feedback[0].Rating == f.Rating && t.Feedback[0].Comments == f.Comments {
		return nil, nil
	}
	f.At = now
	t.Feedback, t.Modified = []Feedback{f}, later(t.Modified, now)
	return []Event{t.event(TriggerTaskUpdated, Actor{}, now)}, nil
}
