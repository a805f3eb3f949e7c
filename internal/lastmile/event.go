package lastmile

import (
	"slices"
	"time"
)

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
	Test         bool        // asked for by somebody who tries a webhook out
	At           time.Time   // when it happened
	Stored       time.Time   // when the platform heard of it
	Webhooks     []WebhookID // the only ones to tell; nil for all that wait for the trigger
	Actor        Actor
	Task         *Task      // for triggers of tasks
	Worker       *Worker    // for triggers of workers, and who a task was assigned to
	RoutePlan    *RoutePlan // for triggers of route plans
	Batch        *Batch     // for the trigger of batches
	Reply        *Reply     // for triggers of text messages that came
	Recipient    *Recipient // who wants no more of them

	ETA      *time.Duration // for taskEta
	Distance *Meters        // for taskArrival
	Delay    *time.Duration // for taskDelayed and predictedTaskDelay
}

// Tells tells whether a webhook is owed the event. One that is named is, even
// if it is disabled: somebody tries it out.
func (e Event) Tells(h Webhook) bool {
	if h.Trigger != e.Trigger {
		return false
	}
	if e.Webhooks == nil {
		return h.Enabled
	}
	return slices.Contains(e.Webhooks, h.ID)
}
