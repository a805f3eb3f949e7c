package store

import (
	"time"

	"dray/internal/lastmile"
)

// Action is a change that a worker's phone requested.
type Action struct {
	Organization lastmile.OrganizationID
	Worker       lastmile.WorkerID
	ID           string
	Task         lastmile.TaskID
	Verb         string
	At           time.Time // by the phone's clock
	Received     time.Time
}

// Credential is how a worker signs in.
type Credential struct {
	Organization lastmile.OrganizationID
	Worker       lastmile.WorkerID
	Hash         string
	Temporary    bool
	Expires      time.Time // of a temporary password; zero for others
	LockedUntil  time.Time // after wrong passwords; never set for a temporary one
	Failures     int64     // wrong passwords in a row
}

// SealedSecret is a secret that only the master key opens.
type SealedSecret struct {
	ID           string
	Organization lastmile.OrganizationID
	Sealed       []byte
	Created      time.Time
}

// NewRecords are new records to save at once.
type NewRecords struct {
	Destinations []lastmile.Destination
	Recipients   []lastmile.Recipient // without duplicates
	Tasks        []lastmile.Task
}

// LoggedEvent is an event of the log in its encoded form.
type LoggedEvent struct {
	Seq     int64
	ID      string
	Trigger lastmile.Trigger
	Body    []byte
}

// Texter is an organization that sends text messages to a number, and the
// sender it did so as.
type Texter struct {
	Organization lastmile.OrganizationID
	From         string
}

// ShownTask is a task in the form of the API.
type ShownTask struct {
	ID  lastmile.TaskID
	Doc []byte
}
