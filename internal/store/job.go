package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/work"
)

// The kinds of jobs.
const (
	CreateBatch work.Kind = "createBatch" // the tasks of a batch; its id is the job's
)

// Job is background work that has no record of its own. It is added in the
// transaction of the change that needs it, and deleted when it is done.
type Job struct {
	Organization lastmile.OrganizationID
	ID           string
	Kind         work.Kind
	Due          time.Time
	Created      time.Time
}

// JobWriter adds jobs.
type JobWriter interface {
	AddJob(ctx context.Context, j Job) error
}
