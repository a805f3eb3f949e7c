package dispatch

import (
	"context"
	"time"

	"dray/internal/assignment"
	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
	"dray/internal/work"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	work.Reader
	activeReader
	// Carriers returns the workers who have carried out pickups with success, by pickup, except
	// those who were deleted.
	Carriers(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) (map[lastmile.TaskID]lastmile.WorkerID, error)
	// Container returns a container. The caller checks that its owner belongs to the
	// organization.
	Container(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (lastmile.Container, error)
	// Dispatch returns a dispatch.
	Dispatch(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) (lastmile.Dispatch, error)
	// DispatchStopped reports whether the end of a dispatch was requested.
	DispatchStopped(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) (bool, error)
	// Hub returns a hub.
	Hub(ctx context.Context, org lastmile.OrganizationID, id lastmile.HubID) (lastmile.Hub, error)
	// Pins returns the pins of the tasks of a worker that have one.
	Pins(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) (map[lastmile.TaskID]lastmile.Pin, error)
	// Schedule reads a worker's schedule, the latest day first.
	Schedule(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Schedule, error)
	// ShowDispatches returns the summaries of the latest dispatches of a team, ready to
	// send, the latest first.
	ShowDispatches(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID, most int) ([][]byte, error)
	// TasksOf returns several tasks in the order of their ids.
	TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error)
	// Team returns a team without its tasks.
	Team(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error)
	// Trips returns an organization's latest trips.
	Trips(ctx context.Context, org lastmile.OrganizationID, limit int) ([]lastmile.Trip, error)
	// Unfinished returns which of the tasks are not completed.
	Unfinished(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.TaskID, error)
	// WholeWorker returns a worker with all tasks.
	WholeWorker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	work.Writer
	store.Receipts
	events.Transaction
	dispatchWriter
	// AppliedSteps returns how many steps of a plan were applied.
	AppliedSteps(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) (int, error)
	// LockContainer serializes the writers of a container until the transaction
	// ends.
	LockContainer(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error
	// SaveAppliedSteps saves how many steps of a plan were applied.
	SaveAppliedSteps(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID, n int) error
	// SaveDispatch saves a dispatch.
	SaveDispatch(ctx context.Context, d lastmile.Dispatch) error
	// SavePin saves the pin of a task; an empty one removes it.
	SavePin(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID, pin lastmile.Pin) error
	// SavePlannedService saves the service time with which tasks were planned.
	SavePlannedService(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID, service time.Duration) error
	// StillListed returns those of the tasks that are in the list of a container, in
	// their order.
	StillListed(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, ids []lastmile.TaskID) ([]lastmile.TaskID, error)
	// StopDispatch requests the end of a dispatch.
	StopDispatch(ctx context.Context, org lastmile.OrganizationID, id lastmile.DispatchID) error
}

// Store runs the transactions of the package.
type Store = store.Transactor[Reader, Writer]

// activeReader and dispatchWriter are what all dispatches need.
type activeReader interface {
	// ActiveDispatch returns the id of the active dispatch of the same team or worker;
	// empty if there is none.
	ActiveDispatch(ctx context.Context, d lastmile.Dispatch) (lastmile.DispatchID, error)
	// Workers lists workers, oldest first.
	Workers(ctx context.Context, org lastmile.OrganizationID, f store.WorkerFilter) ([]lastmile.Worker, error)
}

type dispatchWriter interface {
	events.Committer
	// AddDispatch saves a new dispatch.
	AddDispatch(ctx context.Context, d lastmile.Dispatch) error
	// AddJob adds a job.
	AddJob(ctx context.Context, j work.Job) error
}

// ReplanReader is what a Replanner reads in a transaction.
type ReplanReader interface {
	work.Reader
	activeReader
	// LatestDispatch returns the last dispatch of a team that a caller has requested, and
	// reports whether there is one.
	LatestDispatch(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID) (lastmile.Dispatch, bool, error)
	// Organization returns an organization.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// Replanning returns the settings of an organization for planning routes again.
	Replanning(ctx context.Context, org lastmile.OrganizationID) (assignment.Replanning, error)
	// ReplanSchedule returns when the routes of a team are planned again. It returns
	// lastmile.NotFound for a team for which that was never requested.
	ReplanSchedule(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID) (store.ReplanSchedule, error)
}

// ReplanWriter is what a Replanner reads and saves in a transaction.
type ReplanWriter interface {
	ReplanReader
	work.Writer
	dispatchWriter
	// RequestReplan requests that the routes of a team, or of all teams of a worker, are
	// planned again, at a time and not before the pause after the last run is over. It does
	// nothing if the organization has not enabled that, or if it is requested already.
	RequestReplan(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID, worker lastmile.WorkerID, r lastmile.Replan, at time.Time) error
	// SaveReplanning saves the settings of an organization for planning routes again. Runs
	// that wait for the end of the pause wait for the end of the new one.
	SaveReplanning(ctx context.Context, org lastmile.OrganizationID, s assignment.Replanning) error
	// SaveReplanSchedule saves when the routes of a team are planned again. It runs in the
	// transaction that ends the lease.
	SaveReplanSchedule(ctx context.Context, s store.ReplanSchedule) error
	// TrimReplans deletes the dispatches of a team by continuous re-planning that have
	// ended, except for the latest ones.
	TrimReplans(ctx context.Context, org lastmile.OrganizationID, team lastmile.TeamID, keep int) error
}

// ReplanStore runs transactions and joins those that other use cases began.
type ReplanStore interface {
	store.Transactor[ReplanReader, ReplanWriter]
	store.Joiner[ReplanWriter]
}

// Travel is the source of travel times.
type Travel interface {
	Legs(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error)
	Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error)
}

// Lists changes the task lists of workers.
type Lists interface {
	// Lock locks containers in the transaction of the caller, before several calls of
	// PutRoute.
	Lock(ctx context.Context, tx store.Transaction, org lastmile.OrganizationID, lists []lastmile.ContainerRef) error
	// PutRoute puts tasks at the start of a worker's list, in order, in the
	// transaction of the caller. Those that are neither in that list nor in one of the
	// containers from stay where they are.
	PutRoute(ctx context.Context, tx store.Transaction, who lastmile.Principal, worker lastmile.WorkerID, from []lastmile.ContainerRef, ids []lastmile.TaskID) error
}
