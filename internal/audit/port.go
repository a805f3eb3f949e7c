package audit

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	// AdminByEmail finds an administrator of any organization.
	AdminByEmail(ctx context.Context, email string) (lastmile.Admin, error)
	// ActorName returns the name of an administrator, a key or a worker; empty if there is
	// none any more.
	ActorName(ctx context.Context, org lastmile.OrganizationID, actor lastmile.Actor) (string, error)
	// AuditEntries lists entries of an organization, newest first.
	AuditEntries(ctx context.Context, org lastmile.OrganizationID, q Query) ([]Entry, error)
	// CredentialsByPhone returns the credentials of the workers with a phone number, in all
	// organizations.
	CredentialsByPhone(ctx context.Context, phone lastmile.Phone) ([]store.Credential, error)
	// Organizations lists all organizations, oldest first.
	Organizations(ctx context.Context) ([]lastmile.Organization, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	// AddAuditEntries adds entries.
	AddAuditEntries(ctx context.Context, entries []Entry) error
	// AuditAttempts lists at most limit attempts of a kind at the account of an administrator
	// or a worker in the hour after a time, oldest first, but entries that stand for several
	// attempts last.
	AuditAttempts(ctx context.Context, org lastmile.OrganizationID, id string, attempt AttemptKind, since time.Time, limit int) ([]Entry, error)
	// SaveAuditAttempts saves the number of attempts for which an entry stands, and the time,
	// request and address of the last one.
	SaveAuditAttempts(ctx context.Context, e Entry) error
	// DeleteAuditEntries deletes entries of an organization that are older than a time, or
	// not among the newest, up to limit, and returns how many it deleted.
	DeleteAuditEntries(ctx context.Context, org lastmile.OrganizationID, before time.Time, newest, limit int) (int64, error)
}

// HistoryReader reads the events and requests in the histories of tasks.
type HistoryReader interface {
	Reader
	// FirstTaskEvent returns the oldest event of a task that is stored, without its body;
	// nil if there is none.
	FirstTaskEvent(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID) (*TaskEvent, error)
	// HistoryMark returns the position of an event of a task or of a request about it.
	HistoryMark(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, id string) (Mark, error)
	// Managed returns the teams that an administrator manages, and their workers.
	Managed(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) ([]lastmile.TeamID, []lastmile.WorkerID, error)
	// Organization returns an organization.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// TaskEvents returns events of a task after a position, newest first: up to limit, and at
	// least two, but then not more than the given number of bytes. It reports whether there
	// are more.
	TaskEvents(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, after Mark, limit, bytes int) ([]TaskEvent, bool, error)
	// TaskRequests returns at most limit requests that changed a task, newest first and after
	// a position in the history. It omits requests since a time that events report as well.
	TaskRequests(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, after Mark, reported time.Time, limit int) ([]Entry, error)
	// VisibleTask returns a task that the organization has, or that it placed with another.
	VisibleTask(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
}
