package wire

import (
	"bytes"
	"slices"
	"sync"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// Event is the body of a webhook request. Fields that do not apply to the trigger are null.
type Event struct {
	TaskID        *lastmile.TaskID     `json:"taskId"`
	WorkerID      *lastmile.WorkerID   `json:"workerId"`
	AdminID       *string              `json:"adminId"`
	Data          EventData            `json:"data"`
	ActionContext *ActionContext       `json:"actionContext"`
	TriggerID     lastmile.Trigger     `json:"triggerId"`
	TriggerName   string               `json:"triggerName"`
	Time          Millis               `json:"time"`
	RoutePlanID   lastmile.RoutePlanID `json:"routePlanId,omitzero"` // for triggers of route plans
	DispatchID    lastmile.DispatchID  `json:"dispatchId,omitzero"`  // for triggers of dispatches
	Status        *int                 `json:"status,omitzero"`      // 1 on duty, 0 off duty
	EtaSeconds    *float64             `json:"etaSeconds,omitzero"`  // for taskEta
	Distance      *float64             `json:"distance,omitzero"`    // meters, for taskArrival
	Delay         *float64             `json:"delay,omitzero"`       // seconds, for taskDelayed
	From          *string              `json:"from,omitzero"`        // for smsRecipientResponseMissed
	To            *string              `json:"to,omitzero"`
	Body          *string              `json:"body,omitzero"`
	Recipient     *OptedOutRecipient   `json:"recipient,omitzero"` // for a recipient who opted out of text messages
	Timestamp     Millis               `json:"timestamp,omitzero"`
	SMS           *string              `json:"SMS,omitzero"`  // text of the reply; empty if the gateway reported the opt-out
	Test          bool                 `json:"test,omitzero"` // only in a test event
}

// EventData is the set of records of an event, as they were immediately after it.
type EventData struct {
	Task      *Task      `json:"task,omitzero"`
	Worker    *Worker    `json:"worker,omitzero"`
	RoutePlan *RoutePlan `json:"routePlan,omitzero"`
	Dispatch  *Dispatch  `json:"dispatch,omitzero"`
	DelayTime *Seconds   `json:"delayTime,omitzero"` // for predictedTaskDelay
}

// OptedOutRecipient is a recipient who has opted out of text messages.
type OptedOutRecipient struct {
	ID    lastmile.RecipientID `json:"id"`
	Name  string               `json:"name"`
	Phone lastmile.Phone       `json:"phone"`
}

// withoutWorker lists the triggers of tasks whose events have no workerId.
var withoutWorker = []lastmile.Trigger{
	lastmile.TriggerTaskCreated, lastmile.TriggerTaskUnassigned, lastmile.TriggerTaskDeleted,
	lastmile.TriggerTaskEta, lastmile.TriggerTaskArrival, lastmile.TriggerTaskDelayed, lastmile.TriggerTaskCloned,
}

// EncodeEvents encodes events as webhooks and followers of the event stream receive them. A
// task or worker to which several events point is encoded once. remembered is that of
// EncodeTask.
func EncodeEvents(remembered *sync.Map, events []lastmile.Event) ([][]byte, error) {
	bodies, known := make([][]byte, len(events)), map[any][]byte{}
	for i, e := range events {
		var err error
		if bodies[i], err = encodeEvent(e, known, remembered); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

// encodeEvent encodes an event. known holds the tasks and workers encoded so far.
func encodeEvent(e lastmile.Event, known map[any][]byte, remembered *sync.Map) ([]byte, error) {
	if e.Batch != nil {
		return newBatchEvent(e).Encode()
	}
	task, err := encodeOnce(known, e.Task, func(t lastmile.Task) ([]byte, error) { return EncodeTask(remembered, t, NewTask) })
	if err != nil {
		return nil, err
	}
	worker, err := encodeOnce(known, e.Worker, func(w lastmile.Worker) ([]byte, error) { return codec.Marshal(NewWorker(w)) })
	if err != nil {
		return nil, err
	}
	head, err := codec.Marshal(newEvent(e))
	if err != nil {
		return nil, err
	}
	const data = `"data":{` // cannot occur in a string, where quotation marks are escaped
	at := bytes.Index(head, []byte(data)) + len(data)
	body := append(make([]byte, 0, len(head)+len(task)+len(worker)+20), head[:at]...)
	if task != nil {
		body = append(append(append(body, `"task":`...), task...), ',')
	}
	if worker != nil {
		body = append(append(append(body, `"worker":`...), worker...), ',')
	}
	if head[at] == '}' {
		body = bytes.TrimSuffix(body, []byte(","))
	}
	return append(body, head[at:]...), nil
}

// encodeOnce returns the encoded record, which it adds to known; nil if record is nil.
func encodeOnce[T any](known map[any][]byte, record *T, encode func(T) ([]byte, error)) ([]byte, error) {
	if record == nil || known[record] != nil {
		return known[record], nil
	}
	encoded, err := encode(*record)
	known[record] = encoded
	return encoded, err
}

// newEvent returns an event in its wire form, without the task and the worker.
func newEvent(e lastmile.Event) Event {
	body := Event{
		ActionContext: newActionContext(e.Actor), TriggerID: e.Trigger, TriggerName: e.Trigger.String(), Time: Millis(e.At), Test: e.Test,
	}
	if e.Actor.Type == lastmile.ActorAdmin {
		body.AdminID = &e.Actor.ID
	}
	if e.Task != nil {
		body.TaskID = &e.Task.ID
		if !slices.Contains(withoutWorker, e.Trigger) {
			body.WorkerID = OrNull(e.Task.Worker)
		}
	}
	if e.Worker != nil {
		body.WorkerID = &e.Worker.ID
		if e.Trigger == lastmile.TriggerWorkerDuty {
			body.Status = dutyStatus(e.Worker.Whereabouts.OnDuty)
		}
	}
	if e.RoutePlan != nil {
		plan := NewRoutePlan(*e.RoutePlan)
		body.RoutePlanID, body.WorkerID, body.Data.RoutePlan = e.RoutePlan.ID, plan.Worker, &plan
	}
	if e.Dispatch != nil {
		dispatch := NewDispatch(*e.Dispatch)
		dispatch.Before = []DispatchRoute{} // only the dashboard compares plans
		body.DispatchID, body.Data.Dispatch = e.Dispatch.ID, &dispatch
	}
	body.addEstimates(e)
	if r := e.Reply; r != nil && e.Recipient != nil {
		body.Recipient = &OptedOutRecipient{ID: e.Recipient.ID, Name: e.Recipient.Name, Phone: e.Recipient.Phone}
		body.Timestamp, body.SMS = body.Time, &r.Body
	} else if r != nil {
		body.From, body.To, body.Body = (*string)(&r.From), &r.To, &r.Body
	}
	return body
}

// addEstimates adds the measurements of events of triggers with thresholds.
func (b *Event) addEstimates(e lastmile.Event) {
	b.EtaSeconds, b.Distance = seconds(e.ETA), (*float64)(e.Distance)
	if e.Trigger == lastmile.TriggerPredictedTaskDelay {
		b.Data.DelayTime = (*Seconds)(e.Delay)
		return
	}
	b.Delay = seconds(e.Delay)
}

// seconds returns a duration in seconds, with a fraction.
func seconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	s := d.Seconds()
	return &s
}

// dutyStatus returns the status in events of the duty trigger.
func dutyStatus(onDuty bool) *int {
	status := 0
	if onDuty {
		status = 1
	}
	return &status
}
