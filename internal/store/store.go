package store

import (
	"context"

	"dray/internal/lastmile"
)

// Transactor runs transactions. R and W are the operations for reading and writing in one;
// each use case declares its own.
type Transactor[R, W any] interface {
	// Read runs fn over one consistent snapshot.
	Read(ctx context.Context, fn func(R) error) error

	// Write runs fn in one transaction: when Write returns nil, everything that fn
	// saved is durable; when it returns an error, none of it is saved. fn may run
	// more than once, so it must have no effect other than through its argument
	// and the variables that it sets in every run.
	Write(ctx context.Context, fn func(W) error) error
}

// Transaction is a transaction that was begun by another use case.
type Transaction interface {
	// OnCommit registers a function that runs once, after the transaction was
	// committed.
	OnCommit(fn func())
}

// Joiner gives a use case access to a transaction that another one began.
type Joiner[W any] interface {
	Join(tx Transaction) (W, error)
}

// Documents reads records in the form in which the API returns them.
type Documents interface {
	// Show returns the JSON of one record. It is the cheapest way to read a record.
	Show(ctx context.Context, kind Kind, org lastmile.OrganizationID, id string) ([]byte, error)
	// ShowTasks returns tasks in the order in which they were created.
	ShowTasks(ctx context.Context, org lastmile.OrganizationID, f TaskFilter) ([]ShownTask, error)
	// Find returns the ids of at most limit tasks, destinations or recipients that have all
	// of the metadata entries, in the order of lists. If manager is not empty, only tasks
	// visible to that administrator are returned.
	Find(ctx context.Context, kind Kind, org lastmile.OrganizationID, manager lastmile.AdminID, metadata lastmile.Metadata, limit int) ([]string, error)
	// ShowAll returns the tasks, destinations or recipients with these ids, in their order,
	// and skips those that no longer exist.
	ShowAll(ctx context.Context, kind Kind, org lastmile.OrganizationID, ids []string) ([][]byte, error)
}

// Kind names a kind of record.
type Kind string

// The kinds of records that are identified by an id.
const (
	APIKeys       Kind = "api_key"
	Admins        Kind = "admin"
	Batches       Kind = "batch"
	Clients       Kind = "client"
	Services      Kind = "delivery_service"
	Destinations  Kind = "destination"
	Dispatches    Kind = "dispatch"
	Hubs          Kind = "hub"
	Notifications Kind = "notification"
	Orders        Kind = "task_order"
	Quotes        Kind = "quote"
	Recipients    Kind = "recipient"
	RoutePlans    Kind = "route_plan"
	Tasks         Kind = "task"
	Teams         Kind = "team"
	Templates     Kind = "template"
	Uploads       Kind = "upload"
	Webhooks      Kind = "webhook"
	Workers       Kind = "worker"
)
