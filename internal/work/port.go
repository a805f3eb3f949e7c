package work

import (
	"context"
	"errors"
	"time"

	"dray/internal/lastmile"
)

// Kind is a kind of work.
type Kind string

// The kinds with their own tables. Items of all other kinds are jobs.
const (
	Webhooks  Kind = "webhook"     // a webhook that has notifications to send
	Messages  Kind = "textMessage" // a text message to send
	Estimates Kind = "estimate"    // a worker whose estimates are to be refreshed
	Replans   Kind = "replan"      // a team whose routes are to be planned again
)

// CreateBatch is the kind of jobs that create the tasks of a batch, whose id is
// the id of the job.
const CreateBatch Kind = "createBatch"

// Dispatch is the kind of jobs that plan and assign routes. The id of the job is that
// of the dispatch.
const Dispatch Kind = "dispatch"

// Job is background work that has no other record. It is added in the
// transaction of the change that needs it, and deleted when it is done.
type Job struct {
	Organization lastmile.OrganizationID
	ID           string
	Kind         Kind
	Due          time.Time
	Created      time.Time
}

// MaxLease is longer than any lease. A lease that ends later than this from now was
// taken by a node with a wrong clock, and counts as expired.
const MaxLease = 10 * time.Minute

// ErrLost is returned for an item whose lease the caller does not have. The caller
// must write nothing for the item.
var ErrLost = errors.New("the lease was lost to another process")

// Item is an item of work.
type Item struct {
	Kind         Kind
	Organization lastmile.OrganizationID
	ID           string
	Due          time.Time // when it may be leased
	Lease        string    // token of the lease; empty if not leased
	Attempt      int64     // leases taken so far, for kinds that count them
	Failures     int       // attempts that failed, for kinds that count them
}

// Query selects due items.
type Query struct {
	Kind            Kind
	Now             time.Time
	Until           time.Time               // also find items that become due until then
	After           lastmile.OrganizationID // begin with the next organization
	PerOrganization int
	Limit           int
}

// Release describes how to end the lease of an item that is not done.
type Release struct {
	Due      time.Time // when the item may be leased again; zero means never
	Failures int
	Reason   string // error of the last attempt, if any
}

// Backlog counts the work of a kind.
type Backlog struct {
	Waiting int       // all items not done, due now or later
	Due     int       // due now and not leased
	Oldest  time.Time // when the first of the due items became due; zero if none is due
	Leased  int
	GivenUp int
}

// Reader finds work.
type Reader interface {
	// DueWork lists items that are due and not leased: at most PerOrganization
	// of each organization, the longest due first. It begins with the organization
	// after After and wraps around. A leased item is due when its lease expires.
	DueWork(ctx context.Context, q Query) ([]Item, error)
	// WorkBacklog counts the work of a kind, of all organizations.
	WorkBacklog(ctx context.Context, kind Kind, now time.Time) (Backlog, error)
}

// Writer leases work.
type Writer interface {
	Reader
	// ClaimWork leases a due item with the token item.Lease, which must be new. It
	// reports false if the item is gone or leased by another node.
	ClaimWork(ctx context.Context, item Item, now, until time.Time) (bool, error)
	// HoldWork renews leases of one kind until a time. For the rest of the
	// transaction no other node can take them. It returns the items whose leases
	// were lost.
	HoldWork(ctx context.Context, items []Item, until time.Time) (lost []Item, err error)
	// ReleaseWork ends the lease of an item that is not done, or returns ErrLost.
	ReleaseWork(ctx context.Context, item Item, r Release) error
	// FinishWork ends the lease of an item that is done, or returns ErrLost. The
	// item stays done until another write makes it due again.
	FinishWork(ctx context.Context, item Item) error
	// ResetWork ends all leases of a kind. Only a process that is alone on its
	// database may call it.
	ResetWork(ctx context.Context, kind Kind, now time.Time) error
}

// Store runs transactions. R and W have the methods of Reader and Writer and those
// that handlers need.
type Store[R Reader, W Writer] interface {
	Read(ctx context.Context, fn func(R) error) error
	Write(ctx context.Context, fn func(W) error) error
}
