package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"dray/internal/analytics"
	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// Encode writes a value of the domain, or a form of this package, as JSON.
func Encode(v any) ([]byte, error) {
	form := show(v)
	if batch, ok := form.(interface{ encode() ([]byte, error) }); ok {
		return batch.encode()
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(form); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// show returns a value of the domain in the form that is sent. Anything else
// is a form already.
func show(v any) any {
	switch v := v.(type) {
	case lastmile.Organization:
		return NewOrganization(v)
	case lastmile.Delegatee:
		return NewDelegatee(v)
	case lastmile.Admin:
		return NewAdmin(v)
	case []lastmile.Admin:
		return each(v, NewAdmin)
	case lastmile.Destination:
		return NewDestination(v)
	case []lastmile.Destination:
		return each(v, NewDestination)
	case lastmile.Recipient:
		return NewRecipient(v)
	case []lastmile.Recipient:
		return each(v, NewRecipient)
	case lastmile.Worker:
		return NewWorker(v)
	case []lastmile.Worker:
		return each(v, NewWorker)
	case lastmile.Schedule:
		return NewSchedule(v)
	case lastmile.Team:
		return NewTeam(v)
	case lastmile.NewlyMade[lastmile.Team]:
		return NewNewTeam(v.Record)
	case []lastmile.Team:
		return each(v, NewTeam)
	case lastmile.Task:
		return NewTask(v)
	case []lastmile.Task:
		return each(v, NewTask)
	case lastmile.CreatedTask:
		return newCreatedTask(v)
	case assignment.Assigned:
		return AutoAssigned{AssignedTasksCount: len(v), AssignedTasks: v}
	case assignment.Explanation:
		return NewExplanation(v)
	case lastmile.Container:
		return NewContainer(v)
	case lastmile.Webhook:
		return NewWebhook(v)
	case lastmile.NewlyMade[lastmile.Webhook]:
		return newNewWebhook(v.Record)
	case []lastmile.Webhook:
		return each(v, NewWebhook)
	case []lastmile.Notification:
		return each(v, NewNotification)
	case lastmile.DetailedNotification:
		return newDetailedNotification(v)
	case lastmile.Redelivered:
		return Redelivered{Count: int(v)}
	case lastmile.NewlyMade[lastmile.Batch]:
		return newBatchJob(v.Record)
	case lastmile.CreatedBatch:
		return newTaskBatch(v)
	case lastmile.Event:
		if v.Batch != nil {
			return newBatchEvent(v)
		}
		return NewEvent(v)
	case lastmile.CustomFields:
		return CustomFields{Fields: each(v, NewCustomFieldDefinition)}
	case lastmile.Template:
		return NewTemplate(v)
	case []lastmile.Template:
		return each(v, NewTemplate)
	case lastmile.RoutePlan:
		return NewRoutePlan(v)
	case []lastmile.RoutePlan:
		return each(v, NewRoutePlan)
	case analytics.WorkerDetails:
		return NewWorkerDetails(v)
	case travel.Estimate:
		return NewTeamEstimate(v)
	case travel.Manifest:
		return NewManifest(v)
	case lastmile.Hub:
		return NewHub(v)
	case []lastmile.Hub:
		return each(v, NewHub)
	}
	return v
}

func each[T, F any](list []T, form func(T) F) []F {
	forms := make([]F, 0, len(list))
	for _, item := range list {
		forms = append(forms, form(item))
	}
	return forms
}

// Splice puts the members of two encoded objects into one. Neither is empty.
func Splice(record, live []byte) []byte {
	joined := make([]byte, 0, len(record)+len(live))
	joined = append(joined, record[:len(record)-1]...)
	joined = append(joined, ',')
	return append(joined, live[1:]...)
}
