package lastmile

import "time"

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
