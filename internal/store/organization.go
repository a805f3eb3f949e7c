package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// OrganizationReader reads organizations and the keys that open them.
type OrganizationReader interface {
	// Organization reads an organization by its id, whoever asks.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// Organizations lists all of them, oldest first.
	Organizations(ctx context.Context) ([]lastmile.Organization, error)

	// KeyByHash finds an API key, active or revoked, by the hash of the key.
	KeyByHash(ctx context.Context, hash string) (lastmile.APIKey, error)
	// Keys lists an organization's API keys, oldest first.
	Keys(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.APIKey, error)
	// KeyGeneration is a number that grows with each revocation.
	KeyGeneration(ctx context.Context) (int64, error)

	// WebhookSecrets lists the sealed secrets of an organization, newest first.
	WebhookSecrets(ctx context.Context, org lastmile.OrganizationID) ([]SealedSecret, error)
	// Setting reads a value of the installation, or nil.
	Setting(ctx context.Context, name string) ([]byte, error)
}

// OrganizationWriter saves organizations and their keys.
type OrganizationWriter interface {
	SaveOrganization(ctx context.Context, o lastmile.Organization) error
	// Connect lists delegatee among org's connections.
	Connect(ctx context.Context, org, delegatee lastmile.OrganizationID) error
	SaveKey(ctx context.Context, k lastmile.APIKey) error
	// SaveKeyUse records when keys were last used.
	SaveKeyUse(ctx context.Context, used map[lastmile.KeyID]time.Time) error
	// RaiseKeyGeneration tells every node to forget what it knows of keys.
	RaiseKeyGeneration(ctx context.Context) error
	SaveWebhookSecret(ctx context.Context, s SealedSecret) error
	// SaveSetting stores a value of the installation, if it has none yet.
	SaveSetting(ctx context.Context, name string, value []byte) error
}

// SealedSecret is a secret that only the master key opens.
type SealedSecret struct {
	ID           string
	Organization lastmile.OrganizationID
	Sealed       []byte
	Created      time.Time
}

// AdminReader reads administrators.
type AdminReader interface {
	Admin(ctx context.Context, org lastmile.OrganizationID, id lastmile.AdminID) (lastmile.Admin, error)
	// Admins lists administrators, oldest first.
	Admins(ctx context.Context, org lastmile.OrganizationID, f AdminFilter) ([]lastmile.Admin, error)
	// AdminByEmail finds an administrator of any organization.
	AdminByEmail(ctx context.Context, email string) (lastmile.Admin, error)
}

// AdminFilter chooses administrators.
type AdminFilter struct {
	Metadata lastmile.Metadata // all of these entries
}

// AdminWriter saves administrators. Which teams they manage is saved with the
// team.
type AdminWriter interface {
	SaveAdmin(ctx context.Context, a lastmile.Admin) error
	DeleteAdmin(ctx context.Context, org lastmile.OrganizationID, id lastmile.AdminID) error
}

// ReceiptReader reads the answers kept for idempotency keys.
type ReceiptReader interface {
	// Receipt finds the receipt for the organization, key, method and path of
	// r, or lastmile.NotFound.
	Receipt(ctx context.Context, r lastmile.Receipt) (lastmile.Receipt, error)
}

// ReceiptWriter keeps answers for idempotency keys.
type ReceiptWriter interface {
	// SaveReceipt saves reply, the encoded response, under the receipt.
	SaveReceipt(ctx context.Context, r lastmile.Receipt, reply []byte) error
	// DeleteReceipts forgets what was kept before a time, about so many at most,
	// and returns how many.
	DeleteReceipts(ctx context.Context, before time.Time, most int) (int64, error)
}
