package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// DriverReader reads how workers sign in and what they did.
type DriverReader interface {
	// CredentialsByPhone finds the credentials of all workers with a phone
	// number, in whatever organization.
	CredentialsByPhone(ctx context.Context, phone lastmile.Phone) ([]Credential, error)
	// SessionByHash finds a session by the hash of its token, or
	// lastmile.Unauthenticated.
	SessionByHash(ctx context.Context, hash string) (lastmile.Session, error)
	// ActionDone tells whether an action with the same id of the same worker was
	// done before, and if so, which.
	ActionDone(ctx context.Context, a Action) (before Action, done bool, err error)
}

// DriverWriter saves sessions and actions of workers.
type DriverWriter interface {
	SaveSession(ctx context.Context, s lastmile.Session) error
	// DeleteSessions ends all sessions of a worker.
	DeleteSessions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) error
	SaveAction(ctx context.Context, a Action) error
	// SavePositions keeps where a worker was.
	SavePositions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, positions []lastmile.Position) error
	// DeletePositions forgets where workers were before a time, about so many
	// positions at most, and returns how many.
	DeletePositions(ctx context.Context, before time.Time, most int) (int64, error)
}

// Action is something a worker's phone asked for.
type Action struct {
	Organization lastmile.OrganizationID
	Worker       lastmile.WorkerID
	ID           string
	Task         lastmile.TaskID
	Verb         string
	At           time.Time // by the phone
	Received     time.Time
}
