package tracking

import (
	"context"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
	"dray/internal/work"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	work.Reader
	// CompletedIn lists the tasks that a worker completed after a time and until
	// another, up to limit, oldest first.
	CompletedIn(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, after, until time.Time, limit int) ([]lastmile.TaskID, error)
	// EstimateSchedule reads when the estimates of a worker are refreshed. It
	// returns lastmile.NotFound for a worker who has had no task yet.
	EstimateSchedule(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) (store.EstimateSchedule, error)
	// Fired lists the names under which a task or a route plan has fired; see
	// Fire.
	Fired(ctx context.Context, org lastmile.OrganizationID, id string) ([]string, error)
	// FiredAmong returns which of some tasks have fired under a name.
	FiredAmong(ctx context.Context, org lastmile.OrganizationID, name string, tasks []lastmile.TaskID) ([]lastmile.TaskID, error)
	// NotificationThresholds returns how near or late a worker is when the
	// recipients of an organization are notified.
	NotificationThresholds(ctx context.Context, org lastmile.OrganizationID) (textmessage.Thresholds, error)
	// Positions lists positions of a worker since a time, newest first, up to
	// limit.
	Positions(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, since time.Time, limit int) ([]lastmile.Position, error)
	// PositionsAround returns the last position of a worker before or at a time,
	// and the first one after it; nil for none.
	PositionsAround(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at time.Time) (before, after *lastmile.Position, err error)
	// RoutePlan returns a route plan.
	RoutePlan(ctx context.Context, org lastmile.OrganizationID, id lastmile.RoutePlanID) (lastmile.RoutePlan, error)
	// Task returns a task.
	Task(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
	// TasksOf returns several tasks in the order of their ids.
	TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error)
	// Tracked returns a worker without teams and without tasks other than the
	// active one, so that its cost grows with neither.
	Tracked(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	// Trips returns an organization's latest trips.
	Trips(ctx context.Context, org lastmile.OrganizationID, limit int) ([]lastmile.Trip, error)
	// Webhooks lists webhooks, oldest first.
	Webhooks(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Webhook, error)
	// WholeWorker returns a worker with all tasks.
	WholeWorker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	// Whereabouts returns a worker's duty status and location.
	Whereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Whereabouts, error)
	// Worker returns a worker with the first lastmile.MaxEventTasks tasks.
	Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	work.Writer
	events.Transaction
	// BeginEstimate clears the time of the next check, so that a position that
	// is reported during the refresh sets it again. The caller has the lease.
	BeginEstimate(ctx context.Context, s store.EstimateSchedule) error
	// Fire records that a task or a route plan has fired under a name, which is
	// the id of a webhook or another name, and reports whether it was the first
	// time.
	Fire(ctx context.Context, org lastmile.OrganizationID, name, id string, at time.Time) (bool, error)
	// SaveEstimateSchedule saves when the worker is due next. It runs in the
	// transaction that ends the lease.
	SaveEstimateSchedule(ctx context.Context, s store.EstimateSchedule) error
	// SaveEstimates saves the estimates of a worker's tasks, of those that the
	// worker still has in the same state, and the worker's delay.
	SaveEstimates(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, tasks []store.TaskEstimate, delay *time.Duration) error
	// SaveLatestPosition saves where a worker is and when the worker was last
	// seen. It makes a worker who has tasks due, ThresholdInterval after the
	// last check at the earliest.
	SaveLatestPosition(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts, now time.Time) error
	// SavePositions appends to the recorded positions of a worker.
	SavePositions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, positions []lastmile.Position) error
	// SaveTask saves a task. A task whose container changed must be enqueued.
	SaveTask(ctx context.Context, t lastmile.Task) error
	// ScheduleEstimate makes a worker due for a refresh of all estimates.
	ScheduleEstimate(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, now time.Time) error
}

// Store runs transactions, its own and those that other use cases began.
type Store interface {
	store.Transactor[Reader, Writer]
	store.Joiner[Writer]
}
