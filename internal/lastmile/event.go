package lastmile

import (
	"slices"
	"strings"
	"time"
)

// ActorType is the type of an actor.
type ActorType string

// The types of actors. Events that the platform itself causes have no actor.
const (
	ActorAPI    ActorType = "API"
	ActorAdmin  ActorType = "ADMIN"
	ActorWorker ActorType = "WORKER"
)

// Actor is the API key or the person that caused an event.
type Actor struct {
	Type ActorType
	ID   string
}

// Event is a change of a record, with a copy of the record right after the change. It is
// stored in the transaction of the change.
type Event struct {
	ID           string
	Organization OrganizationID
	Sequence     int64 // increases with each event of the same task
	Trigger      Trigger
	Test         bool        // sent on request, to test a webhook
	At           time.Time   // when it happened
	Stored       time.Time   // when the platform recorded it
	Webhooks     []WebhookID // the only recipients; nil for all webhooks of the trigger
	Actor        Actor
	Task         *Task      // for triggers of tasks
	Worker       *Worker    // for triggers of workers; for tasks, see ShowsWorker
	RoutePlan    *RoutePlan // for triggers of route plans
	Batch        *Batch     // for triggers of batches
	Dispatch     *Dispatch  // for triggers of dispatches
	Reply        *Reply     // for triggers of received text messages
	Recipient    *Recipient // the recipient who opted out of text messages

	ETA      *time.Duration // for taskEta
	Distance *Meters        // for taskArrival
	Delay    *time.Duration // for taskDelayed and predictedTaskDelay

	// RecipientsOnly means that only recipients are notified, by text message: the event is
	// neither stored nor sent to webhooks.
	RecipientsOnly bool
}

// EventRecord is an event as it is stored.
type EventRecord struct {
	Event
	Order int64  // increases with each event that a process stores
	Body  []byte // the JSON that webhooks receive
}

// Concerns reports whether a webhook is notified of the event. If the event names webhooks,
// these are notified even if they are disabled, because the event is a test.
func (e Event) Concerns(h Webhook) bool {
	if h.Trigger != e.Trigger || e.Task != nil && !h.Covers(e.Task) {
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

// notificationID returns the id of the notification of an event for the nth webhook. It is
// the id of the event with the last two characters replaced, so that it is as hard to guess.
func notificationID(event string, nth int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return event[:len(event)-2] + string(letters[nth/len(letters)%len(letters)]) + string(letters[nth%len(letters)])
}

// Trigger is the kind of an event, to which webhooks subscribe. The API defines
// the numbers.
type Trigger int

// The triggers. 11 and 21 do not exist.
const (
	TriggerTaskStarted                   Trigger = 0
	TriggerTaskEta                       Trigger = 1
	TriggerTaskArrival                   Trigger = 2
	TriggerTaskCompleted                 Trigger = 3
	TriggerTaskFailed                    Trigger = 4
	TriggerWorkerDuty                    Trigger = 5
	TriggerTaskCreated                   Trigger = 6
	TriggerTaskUpdated                   Trigger = 7
	TriggerTaskDeleted                   Trigger = 8
	TriggerTaskAssigned                  Trigger = 9
	TriggerTaskUnassigned                Trigger = 10
	TriggerTaskDelayed                   Trigger = 12
	TriggerTaskCloned                    Trigger = 13
	TriggerSMSRecipientResponseMissed    Trigger = 14
	TriggerWorkerCreated                 Trigger = 15
	TriggerWorkerDeleted                 Trigger = 16
	TriggerSMSRecipientOptOut            Trigger = 17
	TriggerAutoDispatchJobCompleted      Trigger = 18
	TriggerTaskBatchCreateJobCompleted   Trigger = 19
	TriggerRouteOptimizationJobCompleted Trigger = 20
	TriggerRoutePlanCreated              Trigger = 22
	TriggerRoutePlanStarted              Trigger = 23
	TriggerRoutePlanCompleted            Trigger = 24
	TriggerWorkerUpdated                 Trigger = 25
	TriggerRoutePlanUpdated              Trigger = 26
	TriggerRoutePlanUnassigned           Trigger = 27
	TriggerRoutePlanAssigned             Trigger = 28
	TriggerRoutePlanDelayed              Trigger = 29
	TriggerPredictedTaskDelay            Trigger = 30
)

// TriggerNames maps each trigger to its name.
var TriggerNames = map[Trigger]string{
	TriggerTaskStarted:                   "taskStarted",
	TriggerTaskEta:                       "taskEta",
	TriggerTaskArrival:                   "taskArrival",
	TriggerTaskCompleted:                 "taskCompleted",
	TriggerTaskFailed:                    "taskFailed",
	TriggerWorkerDuty:                    "workerDuty",
	TriggerTaskCreated:                   "taskCreated",
	TriggerTaskUpdated:                   "taskUpdated",
	TriggerTaskDeleted:                   "taskDeleted",
	TriggerTaskAssigned:                  "taskAssigned",
	TriggerTaskUnassigned:                "taskUnassigned",
	TriggerTaskDelayed:                   "taskDelayed",
	TriggerTaskCloned:                    "taskCloned",
	TriggerSMSRecipientResponseMissed:    "smsRecipientResponseMissed",
	TriggerWorkerCreated:                 "workerCreated",
	TriggerWorkerDeleted:                 "workerDeleted",
	TriggerSMSRecipientOptOut:            "SMSRecipientOptOut",
	TriggerAutoDispatchJobCompleted:      "autoDispatchJobCompleted",
	TriggerTaskBatchCreateJobCompleted:   "taskBatchCreateJobCompleted",
	TriggerRouteOptimizationJobCompleted: "routeOptimizationJobCompleted",
	TriggerRoutePlanCreated:              "routePlanCreated",
	TriggerRoutePlanStarted:              "routePlanStarted",
	TriggerRoutePlanCompleted:            "routePlanCompleted",
	TriggerWorkerUpdated:                 "workerUpdated",
	TriggerRoutePlanUpdated:              "routePlanUpdated",
	TriggerRoutePlanUnassigned:           "routePlanUnassigned",
	TriggerRoutePlanAssigned:             "routePlanAssigned",
	TriggerRoutePlanDelayed:              "routePlanDelayed",
	TriggerPredictedTaskDelay:            "predictedTaskDelay",
}

// String returns the trigger's name.
func (t Trigger) String() string { return TriggerNames[t] }

// IsCreation reports whether an event of a task is the first of the task.
func (t Trigger) IsCreation() bool { return t == TriggerTaskCreated || t == TriggerTaskCloned }

// ShowsWorker reports whether an event of a task includes the worker to whom it
// is assigned.
func (t Trigger) ShowsWorker() bool {
	return t == TriggerTaskAssigned || t == TriggerTaskUpdated
}

// MaxEventTasks is the maximum number of a worker's tasks that an event contains: the first
// ones of the list, so that the size of an event does not grow with the list.
const MaxEventTasks = 200

// Reply is a text message sent to a number of the installation.
type Reply struct {
	Gateway string // name of the gateway that received it
	ID      string // id of the message at the gateway
	From    Phone
	To      string
	Body    string
}

// maxReply is the maximum length of a stored reply, in characters.
const maxReply = 1_600

// Check rejects a reply that no gateway would report, and truncates its text.
func (r *Reply) Check() error {
	switch {
	case r.ID == "":
		return Missing("id")
	case len(r.ID) > 100:
		return Invalid("id has %d characters; at most 100 are allowed", len(r.ID))
	case r.From == "":
		return Missing("from")
	case len(r.From) > 64 || len(r.To) > 64:
		return Invalid("from and to must be telephone numbers")
	case !PrintableASCII(r.ID) || !PrintableASCII(string(r.From)) || !PrintableASCII(r.To):
		return Invalid("id, from and to must be plain text")
	}
	r.Body = Truncate(strings.ToValidUTF8(r.Body, "\uFFFD"), maxReply)
	return nil
}
