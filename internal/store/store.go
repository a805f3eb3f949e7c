package store

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// Store is a database.
type Store interface {
	// Read runs fn over one consistent snapshot.
	Read(ctx context.Context, fn func(Reader) error) error

	// Write runs fn in one transaction: when Write returns nil, all that fn
	// saved is on disk; when it returns an error, none of it is. fn may run
	// more than once and so touches nothing but its Writer and the variables
	// it sets anew each time.
	Write(ctx context.Context, fn func(Writer) error) error

	// Show returns one record as the interface shows it, ready to send. It is
	// the cheapest read there is.
	Show(ctx context.Context, kind Kind, org lastmile.OrganizationID, id string) ([]byte, error)

	// ShowTasks returns tasks as the interface shows them, in the order they
	// were created.
	ShowTasks(ctx context.Context, org lastmile.OrganizationID, f TaskFilter) ([]ShownTask, error)
}

// ShownTask is a task ready to send.
type ShownTask struct {
	ID  lastmile.TaskID
	Doc []byte
}

// Kind names a sort of record.
type Kind string

// The kinds of records that have an id of their own.
const (
	Destinations Kind = "destination"
	Recipients   Kind = "recipient"
	Workers      Kind = "worker"
	Teams        Kind = "team"
	Admins       Kind = "admin"
	Hubs         Kind = "hub"
)

// Reader reads records, as one snapshot.
type Reader interface {
	work.Reader
	OrganizationReader
	AdminReader
	AddressReader
	FleetReader
	TaskReader
	RoutePlanReader
	WorkReader
	CustomFieldReader
	WebhookReader
	DriverReader
	TrackingReader
	UploadReader
	GeographyReader
	BatchReader
	MessageReader
	ReceiptReader
}

// Writer reads and saves records in one transaction. Saving a record that
// exists replaces it.
type Writer interface {
	Reader
	work.Writer
	OrganizationWriter
	AdminWriter
	AddressWriter
	FleetWriter
	TaskWriter
	EventWriter
	RoutePlanWriter
	CustomFieldWriter
	WebhookWriter
	DriverWriter
	TrackingWriter
	UploadWriter
	GeographyWriter
	JobWriter
	BatchWriter
	MessageWriter
	ReceiptWriter

	// Try runs fn as a part of the transaction that can be refused alone: when
	// fn returns an error, what it saved is undone and the transaction goes on.
	// A statement that fails still ends the transaction.
	Try(ctx context.Context, fn func() error) error

	// OnCommit registers a function that runs once, after the transaction was
	// committed and before Write returns. Functions run in the order in which
	// they were registered. None runs when the write fails, nor those registered
	// in an earlier run of it or in a Try that failed.
	OnCommit(fn func())
}
