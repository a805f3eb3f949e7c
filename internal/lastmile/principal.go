package lastmile

import "time"

// Principal is the caller of a request: an API key of an organization, or one
// of its workers.
type Principal struct {
	Organization OrganizationID
	Key          KeyID
	Worker       WorkerID // set if the caller is a worker, not an API key
	Session      Session  // of the worker

	// MustSetPassword reports whether the worker signed in with a temporary
	// password and has not chosen one yet.
	MustSetPassword bool

	// Receipt is set when the request carries an idempotency key.
	Receipt *Receipt
}

// Actor returns the principal as the actor of events.
func (p Principal) Actor() Actor {
	switch {
	case p.Worker != "":
		return Actor{Type: ActorWorker, ID: string(p.Worker)}
	case p.Key == "": // the platform on its own
		return Actor{}
	}
	return Actor{Type: ActorAPI, ID: string(p.Key)}
}

// Session is the session of a worker who is signed in.
type Session struct {
	Hash          string // of the token
	Organization  OrganizationID
	Worker        WorkerID
	Created, Used time.Time
	Temporary     bool // the worker has only a temporary password; ignored when saved
}

// APIKey authorizes an application to act for an organization. The key itself
// is shown once, when it is created; only its hash is stored.
type APIKey struct {
	ID           KeyID
	Organization OrganizationID
	Name         string
	Hint         string // its last characters, to distinguish keys
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
	BodyHash     string
	Reply        []byte // the response to the request
	Created      time.Time

	// Encode encodes the result of the request's change as its response. A
	// receipt that was read has none.
	Encode func(result any) ([]byte, error)
}

// Matches rejects a key that was used with a different request body.
func (r Receipt) Matches(bodyHash string) error {
	if r.BodyHash != bodyHash {
		return Invalid("the Idempotency-Key %q was used before with another request body; use a new key", r.Key)
	}
	return nil
}

// Replay is the error for a request that was processed before. Reply is the
// response it got then.
type Replay struct{ Reply []byte }

// Error implements error.
func (*Replay) Error() string { return "this request was answered before" }
