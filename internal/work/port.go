package work

import (
	"context"
	"errors"
	"time"

	"dray/internal/lastmile"
)

// Kind names a sort of work.
type Kind string

// The kinds that have tables of their own. Every other kind is one of jobs.
const (
	Webhooks  Kind = "webhook"     // a webhook that has notifications to send
	Messages  Kind = "textMessage" // a text message to send
	Estimates Kind = "estimate"    // a worker whose estimates are to be refreshed
)

// MaxLease is longer than any lease lasts. A lease that ends later than this
// from now was taken under a clock that was wrong, and counts as ended.
const MaxLease = 10 * time.Minute

// ErrLost is returned for an item whose lease the caller does not have, or no
// longer: what the caller meant to write for the item must not be written.
var ErrLost = errors.New("the lease was lost to another process")

// Item is work to be done, as it was found or leased.
type Item struct {
	Kind         Kind
	Organization lastmile.OrganizationID
	ID           string
	Due          time.Time // when it may be leased
	Lease        string    // the token of a lease; empty without one
	Attempt      int64     // leases taken so far, where they are counted
	Failures     int       // leases that ended in an error, where they are counted
}

// Query says which items to find.
type Query struct {
	Kind            Kind
	Now             time.Time
	Until           time.Time // includes items that become due until then
	After           lastmile.OrganizationID
	PerOrganization int
	Limit           int
}

// Release is how a lease ends on an item that is not done.
type Release struct {
	Due      time.Time // when it may be leased again; zero is never
	Failures int
	Reason   string // what went wrong, if anything
}

// Backlog is how much work of a kind there is.
type Backlog struct {
	Waiting int       // to be done, now or later
	Due     int       // to be done now, without a lease
	Oldest  time.Time // when the first of these became due; zero when none is
	Leased  int
	GivenUp int
}

// Reader finds work.
type Reader interface {
	// DueWork lists items that are due and not leased: at most PerOrganization
	// of each organization, those that have been due longest first. It begins
	// with the organization following After and wraps around. Due is when an
	// item can be leased, which for a leased one is when the lease ends.
	DueWork(ctx context.Context, q Query) ([]Item, error)
	// WorkBacklog counts the work of a kind, of all organizations.
	WorkBacklog(ctx context.Context, kind Kind, now time.Time) (Backlog, error)
}

// Writer leases work.
type Writer interface {
	Reader
	// ClaimWork leases a due item with the token in it, and reports whether it
	// did: not if the item is gone or another node was faster. The token must
	// not have been used before.
	ClaimWork(ctx context.Context, item Item, now, until time.Time) (bool, error)
	// HoldWork makes leases of one kind last until a time. For the rest of the
	// transaction no other node can take them. It returns the items whose leases
	// were lost.
	HoldWork(ctx context.Context, items []Item, until time.Time) (lost []Item, err error)
	// ReleaseWork ends the lease of an item that is not done, or returns ErrLost.
	ReleaseWork(ctx context.Context, item Item, r Release) error
	// FinishWork ends the lease of an item that is done, or returns ErrLost. The
	// item is not due again until its owner makes it so.
	FinishWork(ctx context.Context, item Item) error
	// ResetWork ends all leases of a kind. It is for a process that knows that
	// it is alone on its database.
	ResetWork(ctx context.Context, kind Kind, now time.Time) error
}

// Store runs transactions, whose readers and writers have the methods above
// among those that handlers need.
type Store[R Reader, W Writer] interface {
	Read(ctx context.Context, fn func(R) error) error
	Write(ctx context.Context, fn func(W) error) error
}
