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
	Name         string                  // given by the courier; if it gave none, empty until the client accepts
	Status       ClientStatus
	ShowName     bool // recipients see the client's name rather than the courier's
	Opened       bool // the courier opened the organization
	Created      time.Time
	Modified     time.Time
}

// Connection is the connection of an organization with another.
type Connection struct {
	Connected bool
	ShowName  bool // recipients see the organization's own name rather than the other's
}

// ClientStatus is the state of the connection between a client and its courier.
type ClientStatus string

// The states of clients.
const (
	ClientPending ClientStatus = "pending" // the organization has not accepted the connection
	ClientActive  ClientStatus = "active"
	ClientDeleted ClientStatus = "deleted" // kept, but not visible to callers
)

// Credential is the password of a worker.
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

// Position is a position at which tasks are inserted into the list of a container: after
// another task, at the start, or, if it is zero, at the end.
type Position struct {
	After lastmile.TaskID
	Start bool
}

// PositionAt returns the position at an index of a list. The list must not contain the tasks
// to insert.
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

// ErrMoved is returned for a position after a task that is not in the list.
var ErrMoved = errors.New("the task is not in the list of the container")

// NewRecords are new records to save at once.
type NewRecords struct {
	Destinations []lastmile.Destination
	Recipients   []lastmile.Recipient // without duplicates
	Tasks        []lastmile.Task
}

// UsedKeys is the error for new tasks whose import keys have been used. It maps these keys
// to the tasks that were created with them.
type UsedKeys map[string]lastmile.TaskID

// Error implements error.
func (k UsedKeys) Error() string { return fmt.Sprintf("%d import keys have been used", len(k)) }

// KeptResponses is the number of first attempts at a notification whose responses are kept,
// shortened. That of the last attempt is kept too. The number is limited because a receiver
// can fail for a day, with responses of its choice.
const KeptResponses = 5

// KeptAttempts is the number of latest attempts at a notification that are kept. In a day
// there are 49, but redeliveries can be requested again and again.
const KeptAttempts = 200

// LoggedEvent is an event of the log in its encoded form.
type LoggedEvent struct {
	Seq     int64
	ID      string
	Trigger lastmile.Trigger
	Task    lastmile.TaskID   // task of the event; may be empty
	Worker  lastmile.WorkerID // worker of the event, or of its task; may be empty
	Stored  time.Time
	Body    []byte
}

// Texter is an organization that has sent text messages to a number, and the sender that it
// used.
type Texter struct {
	Organization lastmile.OrganizationID
	From         string
}

// ShownTask is a task as the API's JSON.
type ShownTask struct {
	ID  lastmile.TaskID
	Doc []byte
}
