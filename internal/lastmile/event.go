package lastmile

import "time"

// ActorType is the sort of whoever did something.
type ActorType string

// The sorts of actors. What the platform does by itself has none.
const (
	ActorAPI    ActorType = "API"
	ActorAdmin  ActorType = "ADMIN"
	ActorWorker ActorType = "WORKER"
)

// Actor is who did something.
type Actor struct {
	Type ActorType
	ID   string
}

// Event is one thing that happened to a record, with the record as it was
// right after. It is stored in the transaction of the change.
type Event struct {
	ID           string
	Organization OrganizationID
	Sequence     int64 // grows with each event of the same task
	Trigger      Trigger
	At           time.Time
	Actor        Actor
	Task         *Task   // for triggers of tasks
	Worker       *Worker // for triggers of workers, and who a task was assigned to
}
