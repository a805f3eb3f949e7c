package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// EstimateSchedule is when the estimates of a worker are refreshed next. There is
// one for each worker who ever had a task; a change of the worker's list, or of a
// task in it, makes it due.
type EstimateSchedule struct {
	Organization lastmile.OrganizationID
	Worker       lastmile.WorkerID
	Refresh      time.Time       // when to refresh the estimates of all tasks; zero: when something changes
	Check        time.Time       // when to check the active task against thresholds; zero: when the worker moves
	Checked      time.Time       // when this was last done
	CheckedTask  lastmile.TaskID // for which task
	Changes      int64           // grows with each change of the worker's list
}

// Next is when the worker is due next; zero when something changes.
func (s EstimateSchedule) Next() time.Time {
	if s.Check.IsZero() || !s.Refresh.IsZero() && s.Refresh.Before(s.Check) {
		return s.Refresh
	}
	return s.Check
}

// TaskEstimate is the estimates of a task.
type TaskEstimate struct {
	Task      lastmile.TaskID
	State     lastmile.TaskState // the state they were made for
	Estimates lastmile.Estimates
}

// TrackingReader reads positions and estimate schedules.
type TrackingReader interface {
	// Whereabouts reads where a worker is.
	Whereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Whereabouts, error)
	// Tracked reads a worker without teams and tasks other than the active one:
	// its cost does not grow with either.
	Tracked(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	// Positions lists positions of a worker since a time, newest first, up to
	// limit.
	Positions(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, since time.Time, limit int) ([]lastmile.Position, error)
	// EstimateSchedule reads when the estimates of a worker are refreshed. It
	// returns lastmile.NotFound for a worker who has had no task yet.
	EstimateSchedule(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) (EstimateSchedule, error)
	// TrackerByHash finds the worker of a tracker app by the hash of its token,
	// or returns lastmile.Unauthenticated.
	TrackerByHash(ctx context.Context, hash string) (lastmile.Session, error)
	// Fired lists the names under which a task or a route plan has fired; see
	// Fire.
	Fired(ctx context.Context, org lastmile.OrganizationID, id string) ([]string, error)
	// FiredAmong returns which of some tasks have fired under a name.
	FiredAmong(ctx context.Context, org lastmile.OrganizationID, name string, tasks []lastmile.TaskID) ([]lastmile.TaskID, error)
}

// TrackingWriter saves positions and estimates.
type TrackingWriter interface {
	// SaveLatestPosition saves where a worker is and when the worker was last seen.
	// It makes a worker who has tasks due, ThresholdInterval after the last check
	// at the earliest.
	SaveLatestPosition(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts, now time.Time) error
	// ScheduleEstimate makes a worker due for a refresh of all estimates.
	ScheduleEstimate(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, now time.Time) error
	// BeginEstimate clears the time of the next check, so that a position that
	// is reported during the refresh sets it again. The caller has the lease.
	BeginEstimate(ctx context.Context, s EstimateSchedule) error
	// SaveEstimateSchedule saves when the worker is due next. It runs in the
	// transaction that ends the lease.
	SaveEstimateSchedule(ctx context.Context, s EstimateSchedule) error
	// SaveEstimates saves the estimates of a worker's tasks, of those that the
	// worker still has in the same state, and the worker's delay.
	SaveEstimates(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, tasks []TaskEstimate, delay *time.Duration) error
	// SaveTracker saves the token of a worker's tracker app. The worker must have
	// none.
	SaveTracker(ctx context.Context, s lastmile.Session) error
	DeleteTracker(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) error
	// Fire records that a task or a route plan has fired under a name, which is
	// the id of a webhook or another name, and reports whether it was the first
	// time.
	Fire(ctx context.Context, org lastmile.OrganizationID, name, id string, at time.Time) (bool, error)
}
