package adminapi

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// triggers serves the list of triggers.
type triggers struct{ *Server }

func (s triggers) routes() []edge.Route {
	return edge.Tagged("Webhooks", edge.Get("/triggers", "List triggers", s.list).
		Describe("Returns every trigger that webhooks can have, with the body of a request as it is sent for a fictitious record."))
}

func (s triggers) list(context.Context, *edge.Call) ([]TriggerDescription, error) { return Triggers() }

// about describes each trigger.
var about = map[lastmile.Trigger]string{
	lastmile.TriggerTaskStarted:                   "A worker starts a task.",
	lastmile.TriggerTaskEta:                       "The worker of an active task is expected within the webhook's threshold, in seconds.",
	lastmile.TriggerTaskArrival:                   "The worker of an active task is within the webhook's threshold of its destination, in meters.",
	lastmile.TriggerTaskCompleted:                 "A task is completed successfully.",
	lastmile.TriggerTaskFailed:                    "A task is completed, and has failed.",
	lastmile.TriggerWorkerDuty:                    "A worker goes on or off duty.",
	lastmile.TriggerTaskCreated:                   "A task is created.",
	lastmile.TriggerTaskUpdated:                   "A task is changed, or its worker arrives or departs.",
	lastmile.TriggerTaskDeleted:                   "A task is deleted.",
	lastmile.TriggerTaskAssigned:                  "A task is assigned to a worker.",
	lastmile.TriggerTaskUnassigned:                "A task is taken from its worker.",
	lastmile.TriggerTaskDelayed:                   "An active task is late by the webhook's threshold, in seconds.",
	lastmile.TriggerTaskCloned:                    "A task is created as a copy of another.",
	lastmile.TriggerSMSRecipientResponseMissed:    "A recipient replies to a text message.",
	lastmile.TriggerWorkerCreated:                 "A worker is created.",
	lastmile.TriggerWorkerDeleted:                 "A worker is deleted.",
	lastmile.TriggerSMSRecipientOptOut:            "A recipient opts out of text messages.",
	lastmile.TriggerAutoDispatchJobCompleted:      "The dispatch of a team is completed.",
	lastmile.TriggerTaskBatchCreateJobCompleted:   "A batch of tasks is processed.",
	lastmile.TriggerRouteOptimizationJobCompleted: "The dispatch of one worker is completed.",
	lastmile.TriggerRoutePlanCreated:              "A route plan is created.",
	lastmile.TriggerRoutePlanStarted:              "The first task of a route plan is started.",
	lastmile.TriggerRoutePlanCompleted:            "The last task of a route plan is completed.",
	lastmile.TriggerWorkerUpdated:                 "A worker is changed.",
	lastmile.TriggerRoutePlanUpdated:              "A route plan is changed.",
	lastmile.TriggerRoutePlanUnassigned:           "A route plan is taken from its worker.",
	lastmile.TriggerRoutePlanAssigned:             "A route plan is assigned to a worker.",
	lastmile.TriggerRoutePlanDelayed:              "A route plan is late.",
	lastmile.TriggerPredictedTaskDelay:            "A task that is not started yet is expected to be late.",
}

// Triggers lists every trigger with a sample of its payload.
func Triggers() ([]TriggerDescription, error) {
	var all []TriggerDescription
	for _, trigger := range slices.Sorted(maps.Keys(lastmile.TriggerNames)) {
		bodies, err := wire.EncodeEvents(nil, []lastmile.Event{sampleEvent(trigger)})
		if err != nil {
			return nil, err
		}
		all = append(all, TriggerDescription{
			ID: trigger, Name: trigger.String(), Description: about[trigger], HasThreshold: trigger.HasThreshold(), Sample: json.RawMessage(bodies[0]),
		})
	}
	return all, nil
}

// sampleEvent returns an event of a trigger about fictitious records.
func sampleEvent(trigger lastmile.Trigger) lastmile.Event {
	at := time.Date(2026, time.January, 31, 15, 4, 5, 0, time.UTC)
	task, worker := sampleRecords(at)
	e := lastmile.Event{Trigger: trigger, At: at, Actor: lastmile.Actor{Type: lastmile.ActorAPI, ID: "k5Rt8yUi2OpA6sDf9GhJ3lZx"}}
	switch trigger {
	case lastmile.TriggerWorkerDuty, lastmile.TriggerWorkerCreated, lastmile.TriggerWorkerDeleted, lastmile.TriggerWorkerUpdated:
		e.Worker = &worker
	case lastmile.TriggerSMSRecipientResponseMissed, lastmile.TriggerSMSRecipientOptOut:
		e.Actor, e.Reply = lastmile.Actor{}, &lastmile.Reply{From: task.Recipient.Phone, To: "+12125550100", Body: "Please ring twice."}
		if trigger == lastmile.TriggerSMSRecipientOptOut {
			e.Reply.Body, e.Recipient = "STOP", task.Recipient
		}
	case lastmile.TriggerAutoDispatchJobCompleted, lastmile.TriggerRouteOptimizationJobCompleted:
		window := lastmile.Window{From: at, To: at.Add(8 * time.Hour)}
		e.Dispatch = &lastmile.Dispatch{
			ID: "D7kQ2wXz9LmR4vNb6TcH8sPf", Organization: sampleOrganization, Team: "T5mQ8rVx2LkD7wNz4HbC9pJs", Created: at, Started: at, Ended: at.Add(time.Minute), Status: lastmile.DispatchSucceeded,
			Options: lastmile.DispatchOptions{TaskWindow: window, ScheduleWindow: window},
		}
	case lastmile.TriggerTaskBatchCreateJobCompleted:
		e.Batch = &lastmile.Batch{ID: "B3nW8xQz5KvL1mRt7YcD9gHs", Created: at.Add(-time.Second), Completed: at, Received: 1, Results: []lastmile.BatchResult{{TaskID: task.ID}}}
	case lastmile.TriggerRoutePlanCreated, lastmile.TriggerRoutePlanStarted, lastmile.TriggerRoutePlanCompleted, lastmile.TriggerRoutePlanUpdated,
		lastmile.TriggerRoutePlanUnassigned, lastmile.TriggerRoutePlanAssigned, lastmile.TriggerRoutePlanDelayed:
		e.RoutePlan = &lastmile.RoutePlan{
			ID: "P9rT4yUi2OpA6sDf8GhJ3kLz", Organization: sampleOrganization, ShortID: "3c91e7d2", Created: at, Modified: at, Name: "Morning round", State: lastmile.RoutePlanStarted, Timezone: "America/New_York",
			Start: at, StartAt: lastmile.AtHub, EndAt: lastmile.AtHub, Worker: worker.ID, Tasks: []lastmile.TaskID{task.ID}, TaskStates: []lastmile.TaskState{lastmile.TaskAssigned}, Status: lastmile.RoutePlanOnTime,
		}
	default:
		setState(&task, trigger, at)
		e.Task = &task
		if trigger.ShowsWorker() {
			e.Worker = &worker
		}
		eta, delay, distance := 8*time.Minute, 15*time.Minute, lastmile.Meters(140)
		e.ETA, e.Delay, e.Distance = &eta, &delay, &distance
	}
	return e
}

// setState brings a task that is assigned to the state in which a trigger finds it.
func setState(task *lastmile.Task, trigger lastmile.Trigger, at time.Time) {
	switch trigger {
	case lastmile.TriggerTaskStarted, lastmile.TriggerTaskEta, lastmile.TriggerTaskArrival, lastmile.TriggerTaskDelayed:
		task.State = lastmile.TaskActive
	case lastmile.TriggerTaskCompleted, lastmile.TriggerTaskFailed:
		task.State, task.Container = lastmile.TaskCompleted, lastmile.ContainerRef{}
		task.Completion.At, task.Completion.Success, task.Completion.SuccessNotes = at, true, "Left with the concierge."
		if trigger == lastmile.TriggerTaskFailed {
			task.Completion.Success, task.Completion.SuccessNotes = false, ""
			task.Completion.FailureReason, task.Completion.FailureNotes = string(lastmile.RecipientUnavailable), "No answer at the door."
		}
	case lastmile.TriggerTaskCreated, lastmile.TriggerTaskUnassigned, lastmile.TriggerTaskDeleted, lastmile.TriggerTaskCloned:
		task.State, task.Worker, task.Container = lastmile.TaskUnassigned, "", lastmile.OrganizationContainer(task.Organization)
	default: // it stays assigned
	}
}

// sampleOrganization is the ID of a fictitious organization.
const sampleOrganization = "a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"

// sampleRecords returns a fictitious task and its worker.
func sampleRecords(at time.Time) (lastmile.Task, lastmile.Worker) {
	worker := lastmile.Worker{
		ID: "W4nB7xKq9LsT2vDz6MfR3hYc", Organization: sampleOrganization, Created: at, Modified: at, Name: "Ada Lovelace", Phone: "+12125550187", Teams: []lastmile.TeamID{"T5mQ8rVx2LkD7wNz4HbC9pJs"},
		AccountStatus: lastmile.AccountAccepted, Whereabouts: lastmile.Whereabouts{OnDuty: true, LastSeen: at},
	}
	task := lastmile.Task{
		ID: "K2dF8gHj5LzX9cVb7NmQ4wRt", ShortID: "8f2a61c4", Organization: sampleOrganization, Merchant: sampleOrganization, Executor: sampleOrganization,
		Creator: "k5Rt8yUi2OpA6sDf9GhJ3lZx", TrackingURL: "https://dray.example/t/q7Vd2mXw9LkT4pZs", Created: at, Modified: at, State: lastmile.TaskAssigned, Worker: worker.ID,
		Container: lastmile.WorkerContainer(worker.ID), Notes: "Third floor.",
		Destination: lastmile.Destination{
			ID: "Q8xC5vBn2MlK7jHg4FdS9aPo", Created: at, Modified: at, Location: lastmile.Point{Lon: -73.9857, Lat: 40.7484},
			Address: lastmile.Address{Number: "350", Street: "5th Avenue", City: "New York", State: "New York", PostalCode: "10118", Country: "United States"},
		},
		Recipient:  &lastmile.Recipient{ID: "R6tY3uJm8NbV1cXz5LkQ9wEs", Organization: sampleOrganization, Created: at, Modified: at, Name: "Mary Seacole", Phone: "+12125550142"},
		Completion: lastmile.Completion{FailureReason: lastmile.NoFailure},
	}
	return task, worker
}
