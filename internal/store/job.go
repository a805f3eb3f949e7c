package store

import (
	"context"
	"errors"
	"time"

	"dray/internal/lastmile"
)

// JobKind names a sort of background work.
type JobKind string

// The kinds of jobs.
const (
	CreateBatch JobKind = "createBatch" // the tasks of a batch; its id is the job's
)

// Job is work to be done in the background. It is added in the transaction of
// the change that needs it, and gone when it is done.
//
// A process that runs a job has claimed it for a while and renews the claim as
// long as it lives. Attempt tells claims apart: whoever comes back after
// another has claimed the job can write nothing more for it.
type Job struct {
	Organization lastmile.OrganizationID
	ID           string
	Kind         JobKind
	Payload      []byte
	RunAt        time.Time // not before; while claimed, when the claim ends
	Attempt      int64     // grows with each claim
	Failures     int       // claims that ended in an error
	Created      time.Time

	Lease time.Duration // how long a claim lasts; set by whoever claims
	Last  bool          // a failure now would be the last; set by whoever claims
}

// ErrJobLost is returned for a job that the caller has not claimed, or no
// longer: whatever the caller meant to write for it must not be written.
var ErrJobLost = errors.New("the job belongs to another process by now")

// JobReader reads jobs.
type JobReader interface {
	// DueJobs lists the jobs of these kinds that have been due longest, one for
	// each of at most limit organizations. It begins with the organization
	// after the given one and goes around, so that each has its turn.
	DueJobs(ctx context.Context, kinds []JobKind, now time.Time, after lastmile.OrganizationID, limit int) ([]Job, error)
	// JobsLeft counts the jobs that are not done, apart from those given up.
	JobsLeft(ctx context.Context) (int, error)
	// Backlog counts what all organizations wait for at now.
	Backlog(ctx context.Context, now time.Time) (Backlog, error)
}

// Backlog is how much is to be done, and since when.
type Backlog struct {
	Owed, Due  int       // notifications: to be sent ever, and now
	OldestDue  time.Time // when the first of them should have been sent; zero when none is due
	JobsDue    int       // that nobody runs
	JobsHeld   int       // that somebody runs
	GivenUp    int       // jobs that nobody will run any more
	OldestWork time.Time // when the first due job should have been run; zero when none is due
}

// JobWriter adds jobs and claims them. All methods but AddJob and ReclaimJobs
// return ErrJobLost when the job is not the caller's.
type JobWriter interface {
	AddJob(ctx context.Context, j Job) error
	// ClaimJob makes a due job the caller's until now plus its Lease, and
	// returns it as it is then.
	ClaimJob(ctx context.Context, j Job, now time.Time) (Job, error)
	// HoldJob proves, for the rest of the transaction, that the job is the
	// caller's, and renews the claim.
	HoldJob(ctx context.Context, j Job, now time.Time) error
	// FinishJob removes a job that is done.
	FinishJob(ctx context.Context, j Job) error
	// ReturnJob ends the claim of a job that is not done, to be claimed again
	// at a time, or never when that is zero. It saves Failures and why.
	ReturnJob(ctx context.Context, j Job, again time.Time, why string) error
	// ReclaimJobs ends every claim. It is for a process that knows that all
	// who made them are gone.
	ReclaimJobs(ctx context.Context, now time.Time) error
}
