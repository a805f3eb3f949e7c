package store

import (
	"errors"
	"fmt"
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

// Client is an organization that another one, its courier, delivers for.
type Client struct {
	ID           lastmile.ClientID
	Courier      lastmile.OrganizationID
	Organization lastmile.OrganizationID // of the client
	Name         string                  // by which the courier knows it; empty until a client without one accepts
	Status       ClientStatus
	ShowName     bool // recipients see the client's name rather than the courier's
	Opened       bool // the courier opened the organization
	Created      time.Time
	Modified     time.Time
}

// Connection is what an organization may do with another.
type Connection struct {
	Connected bool
	ShowName  bool // as its client: recipients see its own name rather than the other's
}

// ClientStatus is the state of the connection between a client and its courier.
type ClientStatus string

// The states of clients.
const (
	ClientPending ClientStatus = "pending" // the organization has not accepted it
	ClientActive  ClientStatus = "active"
	ClientDeleted ClientStatus = "deleted" // it is kept, and no caller sees it
)

// Credential is how a worker signs in.
type Credential struct {
	Organization lastmile.OrganizationID
	Worker       lastmile.WorkerID
	Hash         string
	Temporary    bool
	Expires      time.Time // of a temporary password; zero for others
}

// SealedSecret is a secret that only the master key opens.
type SealedSecret struct {
	ID           string
	Organization lastmile.OrganizationID
	Sealed       []byte
	Created      time.Time
}

// Position is where tasks are inserted into the list of a container: behind
// another task, at the start, or at the end if it is zero.
type Position struct {
	After lastmile.TaskID
	Start bool
}

// PositionAt returns the position at an index of a list, which does not have the
// tasks that are inserted there.
func PositionAt(index int, list []lastmile.TaskID) Position {
	switch {
	case index == lastmile.AtEnd || index >= len(list):
		return Position{}
	case index == lastmile.AtStart:
		return Position{Start: true}
	}
	return Position{After: list[index-1]}
}

// ListState identifies a state of the list of a container.
type ListState struct {
	Version int64
	Last    lastmile.TaskID // empty if the list is
}

// ErrMoved is returned for a position behind a task that is not in the list.
var ErrMoved = errors.New("the task is not in the list of the container")

// NewRecords are new records to save at once.
type NewRecords struct {
	Destinations []lastmile.Destination
	Recipients   []lastmile.Recipient // without duplicates
	Tasks        []lastmile.Task
}

// UsedKeys is the error of new tasks whose import keys have been used: the tasks that
// were created with those keys, by key.
type UsedKeys map[string]lastmile.TaskID

// Error implements error.
func (k UsedKeys) Error() string { return fmt.Sprintf("%d import keys have been used", len(k)) }

// KeptResponses is how many of the first attempts at a notification keep how their responses
// begin; so does the last one. A receiver can fail for a day, with a response of its choice.
const KeptResponses = 5

// KeptAttempts is how many of the latest attempts at a notification are kept. Those of a day
// are 49, but redeliveries can be requested again and again.
const KeptAttempts = 200

// LoggedEvent is an event of the log in its encoded form.
type LoggedEvent struct {
	Seq     int64
	ID      string
	Trigger lastmile.Trigger
	Task    lastmile.TaskID   // that it is about; may be empty
	Worker  lastmile.WorkerID // that it is about, or who has the task; may be empty
	Stored  time.Time
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
