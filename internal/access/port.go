package access

import (
	"context"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// SessionFinder finds sessions without a transaction.
type SessionFinder interface {
	// FindSession finds a session by the hash of its token, or returns
	// lastmile.Unauthenticated.
	FindSession(ctx context.Context, hash string) (lastmile.Session, error)
}

// Reader is what the package reads in a transaction.
type Reader interface {
	store.ReceiptReader
	// Admin returns an administrator.
	Admin(ctx context.Context, org lastmile.OrganizationID, id lastmile.AdminID) (lastmile.Admin, error)
	// AdminByEmail finds an administrator of any organization.
	AdminByEmail(ctx context.Context, email string) (lastmile.Admin, error)
	// Admins lists administrators, oldest first.
	Admins(ctx context.Context, org lastmile.OrganizationID, f store.AdminFilter) ([]lastmile.Admin, error)
	// Connected reports whether an organization is connected with another.
	Connected(ctx context.Context, org, other lastmile.OrganizationID) (bool, error)
	// Delegatees lists the organizations that one is connected with.
	Delegatees(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.OrganizationID, error)
	// CountriesByPhone returns, for each phone number, the countries of the organizations
	// that have a worker with it.
	CountriesByPhone(ctx context.Context, phones []lastmile.Phone) (map[lastmile.Phone][]string, error)
	// CredentialsByPhone returns the credentials of the workers with a phone
	// number, in all organizations.
	CredentialsByPhone(ctx context.Context, phone lastmile.Phone) ([]store.Credential, error)
	// KeyByHash finds an API key, active or revoked, by the hash of the key.
	KeyByHash(ctx context.Context, hash string) (lastmile.APIKey, error)
	// KeyGeneration returns a number that grows with each revocation of a key or a
	// session.
	KeyGeneration(ctx context.Context) (int64, error)
	// Organization returns any organization, without its connections.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// Organizations lists all organizations, oldest first.
	Organizations(ctx context.Context) ([]lastmile.Organization, error)
	// SignInAllowance returns when an allowance of sign-in attempts will be full again; the
	// zero time if it is full.
	SignInAllowance(ctx context.Context, account, source string) (time.Time, error)
	// SessionByHash finds a session by the hash of its token, or returns
	// lastmile.Unauthenticated.
	SessionByHash(ctx context.Context, hash string) (lastmile.Session, error)
	// TrackerByHash finds the worker of a tracker app by the hash of its token,
	// or returns lastmile.Unauthenticated.
	TrackerByHash(ctx context.Context, hash string) (lastmile.Session, error)
	// WebhookSecrets lists the sealed secrets of an organization, newest first.
	WebhookSecrets(ctx context.Context, org lastmile.OrganizationID) ([]store.SealedSecret, error)
	// Whereabouts returns a worker's duty status and location.
	Whereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Whereabouts, error)
	// Worker returns a worker with the first lastmile.MaxEventTasks tasks.
	Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
}

// KeyReader is what the management of API keys reads in a transaction.
type KeyReader interface {
	store.ReceiptReader
	// Key returns an API key, active or revoked.
	Key(ctx context.Context, org lastmile.OrganizationID, id lastmile.KeyID) (lastmile.APIKey, error)
	// Keys lists an organization's API keys, oldest first.
	Keys(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.APIKey, error)
	// Organization returns an organization without its connections.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
}

// KeyWriter is what the management of API keys reads and saves in a transaction.
type KeyWriter interface {
	KeyReader
	store.Receipts
	// DeleteKey deletes an API key.
	DeleteKey(ctx context.Context, org lastmile.OrganizationID, id lastmile.KeyID) error
	// RaiseKeyGeneration makes every node read the API keys again.
	RaiseKeyGeneration(ctx context.Context) error
	// SaveKey saves an API key.
	SaveKey(ctx context.Context, k lastmile.APIKey) error
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	store.Receipts
	events.Transaction
	// DeleteAdmin deletes an administrator.
	DeleteAdmin(ctx context.Context, org lastmile.OrganizationID, id lastmile.AdminID) error
	// DeleteOldSessions ends the sessions of a worker except the newest keep ones.
	DeleteOldSessions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, keep int) error
	// DeleteSession ends the session whose token has the hash.
	DeleteSession(ctx context.Context, hash string) error
	// DeleteSessions ends all sessions of a worker except the one whose token has
	// the hash.
	DeleteSessions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, except string) error
	// DeleteTracker deletes the token of a worker's tracker app.
	DeleteTracker(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) error
	// DeleteWebhookSecrets deletes the webhook secrets of an organization except the newest
	// keep ones.
	DeleteWebhookSecrets(ctx context.Context, org lastmile.OrganizationID, keep int) error
	// RaiseKeyGeneration makes every node read the API keys again and authenticate the
	// clients of its streams again.
	RaiseKeyGeneration(ctx context.Context) error
	// SaveAdmin saves an administrator.
	SaveAdmin(ctx context.Context, a lastmile.Admin) error
	// SaveCredential saves the password of a worker.
	SaveCredential(ctx context.Context, c store.Credential) error
	// SaveKey saves an API key.
	SaveKey(ctx context.Context, k lastmile.APIKey) error
	// SaveKeyUse records when keys were last used.
	SaveKeyUse(ctx context.Context, used map[lastmile.KeyID]time.Time) error
	// SaveOrganization saves an organization.
	SaveOrganization(ctx context.Context, o lastmile.Organization) error
	// SaveSession saves a worker's session.
	SaveSession(ctx context.Context, s lastmile.Session) error
	// SaveSignInAllowance saves when an allowance of sign-in attempts will be full again.
	SaveSignInAllowance(ctx context.Context, account, source string, full time.Time) error
	// SaveTracker saves the token of a worker's tracker app. The worker must
	// have none.
	SaveTracker(ctx context.Context, s lastmile.Session) error
	// SaveWebhookSecret saves a sealed secret for signing webhooks.
	SaveWebhookSecret(ctx context.Context, s store.SealedSecret) error
	// SaveWorker saves a worker and its teams. Other methods save whereabouts, tasks and
	// delay.
	SaveWorker(ctx context.Context, w lastmile.Worker) error
}

// AccountStore runs the transactions of Organizations, and joins those of other use cases.
type AccountStore interface {
	store.Transactor[Reader, Writer]
	store.Joiner[Writer]
}
