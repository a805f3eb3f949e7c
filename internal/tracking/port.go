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
	// CompletedIn lists up to limit tasks that a worker completed after one time
	// and not after another, oldest first.
	CompletedIn(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, after, until time.Time, limit int) ([]lastmile.TaskID, error)
	// EstimateSchedule returns when the estimates of a worker are due for a
	// refresh. It returns lastmile.NotFound for a worker who has had no task yet.
	EstimateSchedule(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) (store.EstimateSchedule, error)
	// Fired lists the names that were recorded for a task or a route plan with
	// Fire.
	Fired(ctx context.Context, org lastmile.OrganizationID, id string) ([]string, error)
	// FiredAmong returns the tasks, among the given ones, for which a name was
	// recorded with Fire.
	FiredAmong(ctx context.Context, org lastmile.OrganizationID, name string, tasks []lastmile.TaskID) ([]lastmile.TaskID, error)
	// NotificationThresholds returns the thresholds of arrival and delay at which
	// the recipients of an organization are notified.
	NotificationThresholds(ctx context.Context, org lastmile.OrganizationID) (textmessage.Thresholds, error)
	// OdometersAt returns the odometer of a worker at each time: that of the last position
	// before or at the time, else of the first one after it; 0 without a position.
	OdometersAt(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, times []time.Time) ([]lastmile.Meters, error)
	// Positions lists positions of a worker since a time, newest first, up to
	// limit.
	Positions(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, since time.Time, limit int) ([]lastmile.Position, error)
	// PositionsAround returns the last position of a worker before or at a time,
	// and the first one after it; nil for none.
	PositionsAround(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at time.Time) (before, after *lastmile.Position, err error)
	// RoutePlan returns a route plan.
	RoutePlan(ctx context.Context, org lastmile.OrganizationID, id lastmile.RoutePlanID) (lastmile.RoutePlan, error)
	// StopsOf returns several tasks in the order of ids, with only what the estimates of
	// tasks that are not started depend on.
	StopsOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error)
	// Task returns a task.
	Task(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
	// Tracked returns a worker with the active task but without teams and other
	// tasks, so that its cost does not grow with their number.
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
	// Fire records that a task or a route plan has reached a threshold, so that
	// its event happens only once. name identifies the threshold: it is the id of
	// a webhook or a fixed name. Fire reports whether this was the first time.
	Fire(ctx context.Context, org lastmile.OrganizationID, name, id string, at time.Time) (bool, error)
	// SaveEstimateSchedule saves when the worker is due next. It runs in the
	// transaction that ends the lease.
	SaveEstimateSchedule(ctx context.Context, s store.EstimateSchedule) error
	// SaveEstimates saves the worker's delay and the estimates of those tasks that
	// are still assigned to the worker and in the same state.
	SaveEstimates(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, tasks []store.TaskEstimate, delay *time.Duration) error
	// SaveLatestPosition saves the location of a worker and the time of the last
	// contact. If the worker has tasks, it schedules a check of thresholds, at the
	// earliest ThresholdInterval after the last one.
	SaveLatestPosition(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts, now time.Time) error
	// SavePositions adds positions to the recorded ones of a worker.
	SavePositions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, positions []lastmile.Position) error
	// SaveTask saves a task. A task whose container changed must be moved to a
	// position of its list.
	SaveTask(ctx context.Context, t lastmile.Task) error
	// ScheduleEstimate makes a worker due for a refresh of all estimates.
	ScheduleEstimate(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, now time.Time) error
}

// Store runs transactions and joins those that other use cases began.
type Store interface {
	store.Transactor[Reader, Writer]
	store.Joiner[Writer]
}
