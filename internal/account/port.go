package account

import (
	"context"
	"time"

	"dray/internal/identity"
	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
	"dray/internal/work"
)

// Passwords hashes passwords, a limited number at a time.
type Passwords interface {
	// Enter waits for a slot. known means that the caller has signed in before.
	Enter(ctx context.Context, caller string, known bool) (leave func(), err error)
	// Hash returns the hash of a password, as it is stored.
	Hash(password string) string
	// Verify reports whether a hash is that of the password, and whether it should be
	// replaced with a new one. For an empty hash, it takes the same time and reports false.
	Verify(password, hash string) (right, outdated bool, err error)
}

// Vault seals secrets that must be readable later.
type Vault interface {
	Seal(org lastmile.OrganizationID, secret []byte) []byte
	Open(org lastmile.OrganizationID, sealed []byte) ([]byte, error)
	// SealDevice returns a token that proves that a device has signed in to an account.
	SealDevice(account string) string
	// OpenDevice verifies a token and returns the id of its device.
	OpenDevice(account, token string) (id string, ok bool)
}

// Organizations creates the first organization.
type Organizations interface {
	// Found creates an organization, without an API key, in a transaction that another use
	// case began. Its account owner gets the given name and the e-mail address of the draft.
	Found(ctx context.Context, tx store.Transaction, draft lastmile.OrganizationDraft, owner string) (lastmile.Organization, lastmile.Admin, error)
}

// Mailer sends letters.
type Mailer interface {
	Send(ctx context.Context, l identity.Letter) error
}

// Reader is what the package reads in a transaction.
type Reader interface {
	store.ReceiptReader
	rate.AllowanceReader
	work.Reader
	// Admin returns an administrator.
	Admin(ctx context.Context, org lastmile.OrganizationID, id lastmile.AdminID) (lastmile.Admin, error)
	// AdminByEmail finds an administrator of any organization.
	AdminByEmail(ctx context.Context, email string) (lastmile.Admin, error)
	// AdminAccount returns the account of an administrator. It has no password if the
	// administrator has never set one.
	AdminAccount(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) (identity.Account, error)
	// AdminSession finds a session by the hash of its token, or returns
	// identity.SignedOut.
	AdminSession(ctx context.Context, hash string) (identity.Session, error)
	// AdminSessions lists the sessions of an administrator, newest first.
	AdminSessions(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) ([]identity.Session, error)
	// CountMails counts the mails of an organization that wait to be sent, up to limit.
	CountMails(ctx context.Context, org lastmile.OrganizationID, limit int) (int, error)
	// HasOrganizations reports whether there is any organization.
	HasOrganizations(ctx context.Context) (bool, error)
	// InstallationOwner returns who owns the installation, and who was invited to.
	InstallationOwner(ctx context.Context) (identity.Ownership, error)
	// Mail returns a mail to send, or lastmile.NotFound.
	Mail(ctx context.Context, org lastmile.OrganizationID, id string) (identity.Mail, error)
	// OneTimeLink finds a link by the hash of its token, or returns
	// identity.UnknownLink.
	OneTimeLink(ctx context.Context, hash string) (identity.Link, error)
	// Organization returns an organization without its connections.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	store.Receipts
	store.Transaction
	rate.AllowanceWriter
	work.Writer
	// AddJob adds a job.
	AddJob(ctx context.Context, j work.Job) error
	// DeleteExpiredAdminSessions deletes about limit sessions that were last used before
	// one time, and about limit that were created before another. It returns the larger of
	// the two numbers.
	DeleteExpiredAdminSessions(ctx context.Context, usedBefore, createdBefore time.Time, limit int) (int64, error)
	// DeleteExpiredLinks deletes about limit links that expired before a time, and
	// returns how many it deleted.
	DeleteExpiredLinks(ctx context.Context, before time.Time, limit int) (int64, error)
	// DeleteMail deletes a mail.
	DeleteMail(ctx context.Context, org lastmile.OrganizationID, id string) error
	// DeleteOneTimeLinks deletes all links of an administrator, or, if both ids are empty,
	// all links that create the first organization.
	DeleteOneTimeLinks(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) error
	// EndAdminSession ends the session whose token has the hash, and reports whether it
	// existed.
	EndAdminSession(ctx context.Context, hash string) (bool, error)
	// EndAdminSessions ends all sessions of an administrator except the one whose
	// token has the hash, and reports whether there were any.
	EndAdminSessions(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, except string) (bool, error)
	// EndOldAdminSessions ends the sessions of an administrator except the newest keep ones.
	EndOldAdminSessions(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, keep int) error
	// RaiseKeyGeneration makes every node authenticate the clients of its streams again.
	RaiseKeyGeneration(ctx context.Context) error
	// ReplaceRecoveryCodes saves the hashes of recovery codes in place of the previous
	// ones.
	ReplaceRecoveryCodes(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, hashes []string) error
	// SaveAdmin saves an administrator.
	SaveAdmin(ctx context.Context, a lastmile.Admin) error
	// SaveAdminAccount saves the account of an administrator.
	SaveAdminAccount(ctx context.Context, a identity.Account) error
	// SaveAdminSession saves a session.
	SaveAdminSession(ctx context.Context, s identity.Session) error
	// SaveInstallationOwner saves who owns the installation, and who was invited to.
	SaveInstallationOwner(ctx context.Context, o identity.Ownership) error
	// SaveMail saves a mail to send.
	SaveMail(ctx context.Context, m identity.Mail) error
	// SaveOneTimeLink saves a new link, and deletes those of the same kind and administrator
	// except the newest keep ones.
	SaveOneTimeLink(ctx context.Context, l identity.Link, keep int) error
	// UseRecoveryCode deletes a recovery code and reports whether it existed.
	UseRecoveryCode(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID, hash string) (bool, error)
}

// Store runs the transactions of the package, and joins those of other use cases.
type Store interface {
	store.Transactor[Reader, Writer]
	store.Joiner[Writer]
}
