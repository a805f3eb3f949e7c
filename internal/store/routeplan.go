package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// RoutePlans is the kind of route plans.
const RoutePlans Kind = "route_plan"

// RoutePlanReader reads route plans.
type RoutePlanReader interface {
	RoutePlan(ctx context.Context, org lastmile.OrganizationID, id lastmile.RoutePlanID) (lastmile.RoutePlan, error)
	// RoutePlans lists route plans, oldest first.
	RoutePlans(ctx context.Context, org lastmile.OrganizationID, f RoutePlanFilter) ([]lastmile.RoutePlan, error)
}

// RoutePlanFilter chooses route plans; zero fields choose all.
type RoutePlanFilter struct {
	Worker                 lastmile.WorkerID
	StartFrom, StartTo     time.Time // from the first, before the second
	CreatedFrom, CreatedTo time.Time // from the first, before the second
	HasTasks               *bool
	After                  lastmile.RoutePlanID // created after this one
	Limit                  int                  // 0: no limit
}

// RoutePlanWriter saves route plans. Which plan a task is in is saved with the
// task.
type RoutePlanWriter interface {
	// SaveRoutePlan saves a plan, but for its tasks.
	SaveRoutePlan(ctx context.Context, p lastmile.RoutePlan) error
	// OrderRoutePlan gives the tasks of a plan, which were saved as such, their
	// order.
	OrderRoutePlan(ctx context.Context, org lastmile.OrganizationID, tasks []lastmile.TaskID) error
	// DeleteRoutePlan deletes a plan that no task is in.
	DeleteRoutePlan(ctx context.Context, org lastmile.OrganizationID, id lastmile.RoutePlanID) error
}

// WorkReader reads what workers did. When they were on duty is recorded with
// their whereabouts.
type WorkReader interface {
	// Duty tells when a worker was on duty.
	Duty(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, in lastmile.Window) (lastmile.Duty, error)
	// CompletedBy reads the tasks that a worker completed in a window.
	CompletedBy(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, in lastmile.Window) ([]lastmile.Task, error)
}
