package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// Batches is the kind of batches.
const Batches Kind = "batch"

// BatchReader reads batches.
type BatchReader interface {
	// Batch reads a batch with its results so far, which have the ids of tasks
	// but not the tasks.
	Batch(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID) (lastmile.Batch, error)
	// BatchItems reads at most limit items of a batch, beginning with number
	// from. A completed batch has none.
	BatchItems(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, from, limit int) ([]lastmile.BatchItem, error)
	// TasksLeft reads the tasks that still exist, in the form of the API, by id.
	TasksLeft(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) (map[lastmile.TaskID][]byte, error)
}

// NewRecords are records to save at once.
type NewRecords struct {
	Destinations []lastmile.Destination // new ones
	Recipients   []lastmile.Recipient   // new or known, without duplicates
	Tasks        []lastmile.Task        // new ones
}

// BatchWriter saves batches.
type BatchWriter interface {
	// SaveNew does the same as saving each record alone, but faster.
	SaveNew(ctx context.Context, r NewRecords) error
	// AddBatch saves a new batch with its items.
	AddBatch(ctx context.Context, b lastmile.Batch, items []lastmile.BatchItem) error
	// AddResults saves the results of the next items without one, which begin
	// with number from.
	AddResults(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, from int, results []lastmile.BatchResult) error
	// CompleteBatch saves when a batch ended, and deletes its items.
	CompleteBatch(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, at time.Time) error
}
