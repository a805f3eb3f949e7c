package lastmile

import (
	"slices"
	"strings"
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

// Trigger is what a webhook can be told of. The numbers are the interface's.
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

// TriggerNames gives each trigger its name.
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

// ShowsWorker tells whether an event of a task shows the worker who has it.
func (t Trigger) ShowsWorker() bool {
	return t == TriggerTaskAssigned || t == TriggerTaskUpdated
}

// Reply is a text message sent to a number of the installation.
type Reply struct {
	Gateway string // that brought it
	ID      string // by which the gateway knows it
	From    Phone
	To      string
	Body    string
}

// maxReply is the longest text of a reply that is kept, in characters.
const maxReply = 1_600

// Check refuses a reply that no gateway would bring, and cuts its text.
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
