package lastmile

import (
	"strings"
	"time"
)

// Principal is the caller of a request: an API key of an organization, one of its
// workers, or one of its administrators.
type Principal struct {
	Organization OrganizationID
	Key          KeyID
	Worker       WorkerID // set if the caller is a worker
	Admin        AdminID  // set if the caller is an administrator
	Role         Role     // role of the administrator
	Session      Session  // session of the worker or administrator; for the latter, only Hash is set

	// MustSetPassword reports whether the worker signed in with a temporary
	// password and has not chosen one yet.
	MustSetPassword bool

	// Receipt is set when the request carries an idempotency key.
	Receipt *Receipt
}

// Role defines what an administrator may do. The zero Role is that of API keys, which may do
// everything.
type Role struct {
	Type     AdminType
	ReadOnly bool
	Teams    []TeamID // teams that a standard administrator manages
}

// Manager returns the administrator if the caller is restricted to records that belong to the
// teams that the administrator manages, or to no team; otherwise it returns "".
func (p Principal) Manager() AdminID {
	if p.Role.Type == AdminStandard {
		return p.Admin
	}
	return ""
}

// adminAuthor is the prefix of the Author of an administrator. Ids of keys contain no space.
const adminAuthor = "admin "

// Author returns an id of the caller for records of work that is done later. AuthoredBy
// returns a principal for it.
func (p Principal) Author() KeyID {
	if p.Admin != "" {
		return KeyID(adminAuthor + p.Admin)
	}
	return p.Key
}

// AuthoredBy returns a principal to do the work that an Author requested. It has no Role.
func AuthoredBy(org OrganizationID, author KeyID) Principal {
	if admin, ok := strings.CutPrefix(string(author), adminAuthor); ok {
		return Principal{Organization: org, Admin: AdminID(admin)}
	}
	return Principal{Organization: org, Key: author}
}

// Actor returns the principal as the actor of events.
func (p Principal) Actor() Actor {
	switch {
	case p.Worker != "":
		return Actor{Type: ActorWorker, ID: string(p.Worker)}
	case p.Admin != "":
		return Actor{Type: ActorAdmin, ID: string(p.Admin)}
	case p.Key == "": // the platform itself
		return Actor{}
	}
	return Actor{Type: ActorAPI, ID: string(p.Key)}
}

// Session is the session of a worker who is signed in.
type Session struct {
	Hash          string // hash of the token
	Organization  OrganizationID
	Worker        WorkerID
	Created, Used time.Time
	Temporary     bool // the worker has only a temporary password; not saved
}

// APIKey authorizes an application to act for an organization. The key itself
// is shown once, when it is created; only its hash is stored.
type APIKey struct {
	ID           KeyID
	Organization OrganizationID
	Name         string
	Hint         string // the last characters of the key, to distinguish keys
	Hash         string
	Created      time.Time
	LastUsed     time.Time // to the minute; zero if never
	Revoked      time.Time // zero while active
}

// Active reports whether the key has not been revoked.
func (k APIKey) Active() bool { return k.Revoked.IsZero() }

// ReceiptLifetime is how long a repeated request gets the original response.
const ReceiptLifetime = 48 * time.Hour

// MaxReceiptKey is the maximum length of an Idempotency-Key, in bytes.
const MaxReceiptKey = 255

// Receipt stores the response to a request with an idempotency key, so that
// repeating the request has no further effect.
type Receipt struct {
	Organization OrganizationID
	Key          string
	Method, Path string
	BodyHash     string // hash of the body and the query
	Reply        []byte // the response to the request
	Created      time.Time

	// Encode encodes the result of the request as its response. It is nil in a receipt that
	// was read from the database.
	Encode func(result any) ([]byte, error)
}

// Matches rejects a key that was used with another query or body.
func (r Receipt) Matches(bodyHash string) error {
	if r.BodyHash != bodyHash {
		return Invalid("the Idempotency-Key %q was used before with another query or body; use a new key", r.Key)
	}
	return nil
}

// Replay is the error for a request that was processed before. Reply is the
// response it got then.
type Replay struct{ Reply []byte }

// Error implements error.
func (*Replay) Error() string { return "this request was served before" }
