package lastmile

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

// IsCreation reports whether an event of a task is the first of the task.
func (t Trigger) IsCreation() bool { return t == TriggerTaskCreated || t == TriggerTaskCloned }

// ShowsWorker reports whether an event of a task shows the worker who has it.
func (t Trigger) ShowsWorker() bool {
	return t == TriggerTaskAssigned || t == TriggerTaskUpdated
}
