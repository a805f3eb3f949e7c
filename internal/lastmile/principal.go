package lastmile

import (
	"time"
)

// Principal is the caller of a request: an API key of an organization, or one
// of its workers.
type Principal struct {
	Organization OrganizationID
	Key          KeyID
	Worker       WorkerID // set when the caller is a worker, not an API key
	Session      Session  // of the worker

	// MustSetPassword reports whether the worker signed in with a temporary
	// password and has not chosen one yet.
	MustSetPassword bool

	// Receipt is set when the request carries an idempotency key.
	Receipt *Receipt
}

// Actor is the principal as events name it.
func (p Principal) Actor() Actor {
	if p.Worker != "" {
		return Actor{Type: ActorWorker, ID: string(p.Worker)}
	}
	return Actor{Type: ActorAPI, ID: string(p.Key)}
}

// Session is a worker who is signed in.
type Session struct {
	Hash          string // of the token
	Organization  OrganizationID
	Worker        WorkerID
	Created, Used time.Time
	Temporary     bool // the worker has only a temporary password; ignored when saved
}

// APIKey lets an application act for an organization. The key itself is shown
// once, when it is made; only its hash is kept.
type APIKey struct {
	ID           KeyID
	Organization OrganizationID
	Name         string
	Hint         string // its last characters, to tell keys apart
	Hash         string
	Created      time.Time
	LastUsed     time.Time // to the minute; zero when never
	Revoked      time.Time // zero while active
}

// Active tells whether the key still opens the door.
func (k APIKey) Active() bool { return k.Revoked.IsZero() }

// ReceiptLifetime is how long a repeated request gets its first answer again.
const ReceiptLifetime = 48 * time.Hour

// MaxReceiptKey is the longest Idempotency-Key, in bytes.
const MaxReceiptKey = 255

// Receipt remembers the answer to a request that carried an idempotency key,
// so that the same request sent again has no second effect.
type Receipt struct {
	Organization OrganizationID
	Key          string
	Method, Path string
	BodyHash     string
	Reply        []byte // the answer as it was shown
	Created      time.Time
}

// Matches refuses a key that was used for another request body.
func (r Receipt) Matches(bodyHash string) error {
	if r.BodyHash != bodyHash {
		return Invalid("the Idempotency-Key %q was used before with another request body; use a new key", r.Key)
	}
	return nil
}

// Replay is the error of a request that was done before. Reply is the response
// it got the first time.
type Replay struct{ Reply []byte }

// Error implements error.
func (*Replay) Error() string { return "this request was answered before" }
