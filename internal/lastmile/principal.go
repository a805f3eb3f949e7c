package lastmile

import "time"

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
