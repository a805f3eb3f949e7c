package report

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Reader is what the package reads in a transaction. Methods with a viewer return only the
// tasks and workers that the viewer may see.
type Reader interface {
	// CreatedIn counts the tasks that were created in a window and not deleted since.
	CreatedIn(ctx context.Context, by store.Viewer, in lastmile.Window) (int, error)
	// DestinationsAt finds destinations whose street, in lower case, begins with a
	// text.
	DestinationsAt(ctx context.Context, org lastmile.OrganizationID, street string, limit int) ([]lastmile.DestinationID, error)
	// LatestAt lists the newest tasks at a destination, up to limit.
	LatestAt(ctx context.Context, by store.Viewer, destination lastmile.DestinationID, limit int) ([]store.Created, error)
	// LatestFor lists the newest tasks for a recipient, up to limit.
	LatestFor(ctx context.Context, by store.Viewer, recipient lastmile.RecipientID, limit int) ([]store.Created, error)
	// Memberships lists the teams of every worker of an organization.
	Memberships(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID][]lastmile.TeamID, error)
	// CompletedBy lists at most limit tasks that a worker completed in a window, in the order
	// of completion.
	CompletedBy(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, in lastmile.Window, limit int) ([]store.Promised, error)
	// OpenOf lists at most limit tasks that a worker has, the active one first and the others
	// in order. It begins with task from, unless that is empty, and returns none if the worker
	// does not have that task.
	OpenOf(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, from lastmile.TaskID, limit int) ([]store.Promised, error)
	// Organization returns an organization without its connections.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// PositionsBetween lists at most limit positions of a worker in a window, oldest first.
	PositionsBetween(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, in lastmile.Window, limit int) ([]lastmile.Position, error)
	// Recipient returns a recipient.
	Recipient(ctx context.Context, org lastmile.OrganizationID, id lastmile.RecipientID) (lastmile.Recipient, error)
	// RecipientsCalled finds recipients whose phone number begins with a text.
	RecipientsCalled(ctx context.Context, org lastmile.OrganizationID, phone string, limit int) ([]lastmile.RecipientID, error)
	// RecipientsNamed finds recipients whose name, in lower case, begins with a text.
	RecipientsNamed(ctx context.Context, org lastmile.OrganizationID, name string, limit int) ([]lastmile.RecipientID, error)
	// TasksCalled finds tasks whose short id begins with a text.
	TasksCalled(ctx context.Context, by store.Viewer, shortID string, limit int) ([]lastmile.TaskID, error)
	// TasksOf returns several tasks in the order of their ids.
	TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error)
	// TotalsByWorker sums up the tasks that were completed in a window, by worker and
	// outcome.
	TotalsByWorker(ctx context.Context, by store.Viewer, in lastmile.Window) ([]store.Totals, error)
	// TotalsIn sums up the tasks that were completed in a window, by outcome.
	TotalsIn(ctx context.Context, by store.Viewer, in lastmile.Window) ([]store.Totals, error)
	// Tracked returns a worker without teams and without tasks other than the active
	// one.
	Tracked(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	// WorkersCalled finds workers whose phone number begins with a text.
	WorkersCalled(ctx context.Context, by store.Viewer, phone string, limit int) ([]lastmile.WorkerID, error)
	// WorkersNamed finds workers whose name, in lower case, begins with a text.
	WorkersNamed(ctx context.Context, by store.Viewer, name string, limit int) ([]lastmile.WorkerID, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	// Destination returns a destination.
	Destination(ctx context.Context, org lastmile.OrganizationID, id lastmile.DestinationID) (lastmile.Destination, error)
	// FillDestination saves the street of a destination for searches.
	FillDestination(ctx context.Context, d lastmile.Destination) error
	// FillTask saves the result of a completed task for analytics.
	FillTask(ctx context.Context, t lastmile.Task) error
	// FillWorker saves the name of a worker for searches.
	FillWorker(ctx context.Context, w lastmile.Worker) error
	// Task returns a task.
	Task(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
	// Tracked returns a worker without teams and without tasks other than the active
	// one.
	Tracked(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	// Unfilled lists at most limit records of a kind that were saved without the columns for
	// search and analytics.
	Unfilled(ctx context.Context, kind store.Kind, limit int) ([]store.Unfilled, error)
}
