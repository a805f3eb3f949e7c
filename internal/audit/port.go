package audit

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	// ActorName returns the name of an administrator or a key; empty if there is none
	// any more.
	ActorName(ctx context.Context, org lastmile.OrganizationID, actor lastmile.Actor) (string, error)
	// AuditEntries lists entries of an organization, newest first.
	AuditEntries(ctx context.Context, org lastmile.OrganizationID, q Query) ([]Entry, error)
	// Organizations lists all organizations, oldest first.
	Organizations(ctx context.Context) ([]lastmile.Organization, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	// AddAuditEntries adds entries.
	AddAuditEntries(ctx context.Context, entries []Entry) error
	// DeleteAuditEntries deletes entries of an organization that are older than a time, or
	// not among the newest, up to limit, and returns how many it deleted.
	DeleteAuditEntries(ctx context.Context, org lastmile.OrganizationID, before time.Time, newest, limit int) (int64, error)
}
