package trackingpage

import (
	"time"

	"dray/internal/lastmile"
)

// How long the page and the worker's position are shown.
const (
	Lifetime         = 24 * time.Hour   // after the task is completed
	positionShownFor = 10 * time.Minute // older positions are not shown
)

// Stage is the progress of a task as its recipient sees it.
type Stage string

// The stages of a task.
const (
	StageScheduled Stage = "scheduled" // not assigned yet
	StageAssigned  Stage = "assigned"  // assigned to a worker
	StageActive    Stage = "active"    // the worker is on the way, with no stop in between
	StageArrived   Stage = "arrived"
	StageCompleted Stage = "completed"
	StageFailed    Stage = "failed"
)

// Stages lists every stage.
var Stages = []Stage{StageScheduled, StageAssigned, StageActive, StageArrived, StageCompleted, StageFailed}

// Page is everything that holders of the link to a task's page can see. It has
// no address, phone number, id or other stop. The destination is shown only
// together with the worker's location, which approaches it anyway.
type Page struct {
	Organization      string // name of the organization shown to the recipient
	Timezone, Country string // of that organization
	Pickup            bool
	Stage             Stage
	CompleteAfter     time.Time // zero for none
	CompleteBefore    time.Time // zero for none
	Arrival           time.Time // when service is expected to begin; zero if unknown
	Delay             time.Duration

	WorkerName  string // while active
	Vehicle     lastmile.VehicleType
	Location    *lastmile.Point // of the worker, while active
	LocatedAt   time.Time
	Destination *lastmile.Point // set if Location is

	Requirements lastmile.Requirements
	CompletedAt  time.Time
	CanRate      bool
	Rated        bool
	Expires      time.Time // when the page expires; zero until completed
}

// New returns the page of a task. worker is the worker of the task, or nil.
func New(t *lastmile.Task, shown lastmile.Organization, worker *lastmile.Worker, now time.Time) (Page, error) {
	f := Page{
		Organization: lastmile.PlainName(shown.Name), Timezone: shown.Timezone, Country: shown.Country,
		Pickup: t.Pickup, Stage: stage(t), CompleteAfter: t.CompleteAfter, CompleteBefore: t.CompleteBefore, Requirements: t.Requirements,
	}
	if t.Completion.Done() {
		f.CompletedAt, f.Expires = t.Completion.At, t.Completion.At.Add(Lifetime)
		f.CanRate, f.Rated = true, len(t.Feedback) > 0
		if !now.Before(f.Expires) {
			return Page{}, NotFound()
		}
		return f, nil
	}
	f.Arrival, f.Delay = expected(t, worker, now), t.Late(now)
	if t.Estimates.Delay != nil {
		f.Delay = max(f.Delay, *t.Estimates.Delay)
	}
	if t.State != lastmile.TaskActive || worker == nil {
		return f, nil
	}
	f.WorkerName = worker.ShownName()
	if worker.Vehicle != nil {
		f.Vehicle = worker.Vehicle.Type
	}
	at := worker.Whereabouts
	if at.OnDuty && at.Location != nil && worker.ActiveTask == t.ID && now.Sub(at.LocatedAt) < positionShownFor {
		goal := t.Destination.Location
		f.Location, f.LocatedAt, f.Destination = at.Location, at.LocatedAt, &goal
	}
	return f, nil
}

// expected returns when service is expected to begin; zero if unknown. It is
// unknown while the worker of a task that is not started is off duty, because
// it is not known when the day begins. A time that has passed is not shown.
func expected(t *lastmile.Task, worker *lastmile.Worker, now time.Time) time.Time {
	if t.State == lastmile.TaskAssigned && worker != nil && !worker.Whereabouts.OnDuty {
		return time.Time{}
	}
	at := t.Estimates.ServiceStart(t.Window())
	if at.IsZero() && t.Estimates.ETA != nil {
		at = t.Window().ServiceStart(now.Add(*t.Estimates.ETA))
	}
	if !at.IsZero() && t.Completion.Arrived().IsZero() && at.Before(now) {
		at = t.Window().ServiceStart(now.Truncate(time.Minute)) // so that the page does not change all the time
	}
	return at
}

// NotFound is the error for every invalid link. It does not distinguish links
// that never existed from expired ones.
func NotFound() *lastmile.Error {
	return &lastmile.Error{Code: lastmile.CodeNotFound, Message: "This page does not exist, or is not there any more."}
}

func stage(t *lastmile.Task) Stage {
	switch t.State {
	case lastmile.TaskAssigned:
		return StageAssigned
	case lastmile.TaskActive:
		if !t.Completion.Arrived().IsZero() {
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
