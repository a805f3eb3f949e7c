package lastmile

import "time"

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
	Reply        []byte // the response to the request
	Created      time.Time

	// Encode encodes the result of the request's change as its response. A
	// receipt that was read has none.
	Encode func(result any) ([]byte, error)
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
