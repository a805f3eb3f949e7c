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
	Test         bool        // requested to try a webhook out
	At           time.Time   // when it happened
	Stored       time.Time   // when the platform stored it
	Webhooks     []WebhookID // the only ones to notify, and no recipient; nil for all of the trigger
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

	// RecipientsOnly says that only recipients are notified, by text message:
	// the event is neither stored nor sent to webhooks.
	RecipientsOnly bool
}

// EventRecord is an event as it is stored.
type EventRecord struct {
	Event
	Order int64  // grows with each event that a process stores
	Body  []byte // as it is sent
}

// Concerns reports whether a webhook is notified of the event. A webhook that is
// named is, even if it is disabled, so that it can be tried out.
func (e Event) Concerns(h Webhook) bool {
	if h.Trigger != e.Trigger {
		return false
	}
	if e.Webhooks == nil {
		return h.Enabled
	}
	return slices.Contains(e.Webhooks, h.ID)
}

// Notifications returns one notification of the event for each webhook that it
// concerns. hooks are all webhooks of the organization, in their usual order.
func (e Event) Notifications(hooks []Webhook, body []byte) []Notification {
	var all []Notification
	for i, h := range hooks {
		if !e.Concerns(h) {
			continue
		}
		n := Notification{
			ID: notificationID(e.ID, i), Organization: e.Organization, Webhook: h.ID, Event: e.ID, Trigger: e.Trigger,
			Sequence: e.Sequence, Due: e.Stored, Next: e.Stored, Body: body,
		}
		if e.Task != nil {
			n.Task = e.Task.ID
		}
		all = append(all, n)
	}
	return all
}

// notificationID is the id of the notification of an event for the nth webhook:
// the id of the event with two letters changed, so that it is as hard to guess.
func notificationID(event string, nth int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return event[:len(event)-2] + string(letters[nth/len(letters)%len(letters)]) + string(letters[nth%len(letters)])
}
