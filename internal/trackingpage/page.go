package trackingpage

import (
	"strings"
	"time"

	"dray/internal/lastmile"
)

// The terms of the page on which a recipient follows a task.
const (
	Lifetime         = 24 * time.Hour   // after the task is completed
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
type Page struct {
	Organization      string // name of the one shown to the recipient
	Timezone, Country string // of that organization
	Pickup            bool
	Stage             Stage
	CompleteAfter     time.Time // zero: none
	CompleteBy        time.Time // zero: none
	Arrival           time.Time // expected; zero when unknown
	Delay             time.Duration

	WorkerName string // while active
	Vehicle    lastmile.VehicleType
	Location   *lastmile.Point // of the worker, while active
	LocatedAt  time.Time
	Goal       *lastmile.Point // where the worker is going, with Location

	Requirements lastmile.Requirements
	CompletedAt  time.Time
	MayRate      bool
	Rated        bool
	Ends         time.Time // when the page is gone; zero until completed
}

// NewPage shows a task to whoever has its link. The worker is the one who has
// the task, or nil.
func New(t *lastmile.Task, shown lastmile.Organization, worker *lastmile.Worker, now time.Time) (Page, error) {
	f := Page{
		Organization: lastmile.PlainName(shown.Name), Timezone: shown.Timezone, Country: shown.Country,
		Pickup: t.Pickup, Stage: stage(t), CompleteAfter: t.CompleteAfter, CompleteBy: t.CompleteBy, Requirements: t.Requirements,
	}
	if t.Completion.Done() {
		f.CompletedAt, f.Ends = t.Completion.At, t.Completion.At.Add(Lifetime)
		f.MayRate, f.Rated = true, len(t.Feedback) > 0
		if !now.Before(f.Ends) {
			return Page{}, NotFound()
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
	if t.State != lastmile.TaskActive || worker == nil {
		return f, nil
	}
	f.WorkerName = shownName(worker)
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
func NotFound() *lastmile.Error {
	return &lastmile.Error{Code: lastmile.CodeNotFound, Message: "This page does not exist, or is not there any more."}
}

func stage(t *lastmile.Task) Stage {
	switch t.State {
	case lastmile.TaskAssigned:
		return StageAssigned
	case lastmile.TaskActive:
		if !t.Completion.TimeOf("arrival").IsZero() {
			return StageArrived
		}
		return StageActive
	case lastmile.TaskCompleted:
		if t.Completion.Success {
			return StageCompleted
		}
		return StageFailed
	case lastmile.TaskUnassigned:
	}
	return StageScheduled
}

// shownName is the name that recipients see: the one chosen for them, else the
// first of the worker's own.
func shownName(w *lastmile.Worker) string {
	if name := lastmile.PlainName(w.DisplayName); strings.TrimSpace(name) != "" {
		return name
	}
	first, _, _ := strings.Cut(strings.TrimSpace(lastmile.PlainName(w.Name)), " ")
	return first
}
