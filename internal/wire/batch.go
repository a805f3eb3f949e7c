package wire

import (
	"bytes"
	"slices"

	"dray/internal/lastmile"
)

// BatchBody is a request to create several tasks.
type BatchBody struct {
	Tasks *[]SentTask `json:"tasks"`
}

// Items returns the tasks as they were sent.
func (b BatchBody) Items() ([][]byte, error) {
	if b.Tasks == nil {
		return nil, lastmile.Missing("tasks")
	}
	return each(*b.Tasks, func(t SentTask) []byte { return t }), nil
}

// SentTask is a task of a batch as it was sent. It is read when its turn comes,
// so that what is wrong with it is its own fault and not the batch's.
type SentTask []byte

// UnmarshalJSON implements json.Unmarshaler.
func (t *SentTask) UnmarshalJSON(data []byte) error {
	if data = bytes.TrimSpace(data); data[0] != '{' {
		return malformed("must be an object, not %s", kindName(data[0]))
	}
	*t = bytes.Clone(data)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (t SentTask) MarshalJSON() ([]byte, error) { return t, nil }

// BatchJob is the answer to a batch that will be done in the background.
type BatchJob struct {
	Status lastmile.BatchStatus `json:"status"`
	JobID  lastmile.BatchID     `json:"jobId"`
}

// Batch is how far a batch is.
type Batch struct {
	BatchProgress
	NewTasks             []ShownTask `json:"newTasks"`
	NewTasksWithWarnings []ShownTask `json:"newTasksWithWarnings"`
}

// BatchProgress is how far a batch is, but for the tasks that were created.
type BatchProgress struct {
	Status        lastmile.BatchStatus `json:"status"`
	Submitted     string               `json:"submitted"` // how long ago, in words
	TasksReceived int                  `json:"tasksReceived"`
	TasksCreated  int                  `json:"tasksCreated"`
	TasksErrored  int                  `json:"tasksErrored"`
	Errors        []BatchItemError     `json:"errors"`
	FailedTasks   []SentTask           `json:"failedTasks"`
}

// ShownTask is a Task that is ready to send.
type ShownTask []byte

// MarshalJSON implements json.Marshaler.
func (t ShownTask) MarshalJSON() ([]byte, error) { return t, nil }

// BatchItemError is why a task of a batch was not created.
type BatchItemError struct {
	StatusCode int      `json:"statusCode"`
	ErrorCode  int      `json:"errorCode"`
	Message    string   `json:"message"`
	Cause      string   `json:"cause"` // "" when none
	TaskData   SentTask `json:"taskData"`
}

// BatchError is an error in the shape that requests for batches have.
type BatchError struct {
	StatusCode int    `json:"statusCode"`
	Error      int    `json:"error"`
	Message    string `json:"message"`
	Cause      string `json:"cause"` // "" when none
}

// TaskBatch is the answer to a batch that is done at once.
type TaskBatch struct {
	Tasks  []Task           `json:"tasks"`
	Errors []TaskBatchError `json:"errors"`
}

// TaskBatchError is why a task of such a batch was not created.
type TaskBatchError struct {
	Error BatchError `json:"error"`
	Task  SentTask   `json:"task"`
}

// NewBatch returns how far a batch is. Tasks that do not exist any more are
// counted and not shown.
func NewBatch(b lastmile.Batch, now Millis) Batch {
	shown := Batch{BatchProgress: BatchProgress{
		Status: b.Status(), Submitted: lastmile.Ago(b.Created, now.Time()), TasksReceived: b.Received, TasksCreated: b.TasksCreated(),
		Errors: []BatchItemError{}, FailedTasks: []SentTask{},
	}}
	shown.TasksErrored = len(b.Results) - shown.TasksCreated
	for _, r := range b.Results {
		switch {
		case r.Fault != nil:
			shown.Errors = append(shown.Errors, BatchItemError{
				StatusCode: r.Fault.Status, ErrorCode: r.Fault.Number, Message: r.Fault.Message, Cause: r.Fault.Cause, TaskData: r.Sent,
			})
			shown.FailedTasks = append(shown.FailedTasks, r.Sent)
		case r.Shown != nil:
			shown.NewTasks = append(shown.NewTasks, r.Shown)
			if r.Warned {
				shown.NewTasksWithWarnings = append(shown.NewTasksWithWarnings, r.Shown)
			}
		}
	}
	return shown
}

// encode writes the batch. The tasks in it are a megabyte that is not read
// again, as encoding/json would.
func (b Batch) encode() ([]byte, error) {
	head, err := Encode(b.BatchProgress)
	if err != nil {
		return nil, err
	}
	size := len(head) + 64
	for _, task := range slices.Concat(b.NewTasks, b.NewTasksWithWarnings) {
		size += len(task) + 1
	}
	out := append(make([]byte, 0, size), head[:len(head)-1]...)
	out = appendShown(append(out, `,"newTasks":[`...), b.NewTasks)
	out = appendShown(append(out, `],"newTasksWithWarnings":[`...), b.NewTasksWithWarnings)
	return append(out, `]}`...), nil
}

func appendShown(out []byte, tasks []ShownTask) []byte {
	for i, task := range tasks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, task...)
	}
	return out
}

// batchEvent is what a webhook is sent when a batch has been completed: beside
// what all events have, the batch.
type batchEvent struct {
	Event
	JobID lastmile.BatchID `json:"jobId"`
	batch Batch
}

func newBatchEvent(e lastmile.Event) batchEvent {
	event := NewEvent(e)
	return batchEvent{Event: event, JobID: e.Batch.ID, batch: NewBatch(*e.Batch, event.Time)}
}

func (e batchEvent) encode() ([]byte, error) {
	head, err := Encode(struct {
		Event
		JobID lastmile.BatchID `json:"jobId"`
	}{e.Event, e.JobID})
	if err != nil {
		return nil, err
	}
	batch, err := e.batch.encode()
	if err != nil {
		return nil, err
	}
	return Splice(head, batch), nil
}

func newBatchJob(b lastmile.Batch) BatchJob { return BatchJob{Status: b.Status(), JobID: b.ID} }

func newTaskBatch(b lastmile.CreatedBatch) TaskBatch {
	return TaskBatch{
		Tasks: each(b.Tasks, NewTask),
		Errors: each(b.Faults, func(r lastmile.BatchResult) TaskBatchError {
			fault := BatchError{StatusCode: r.Fault.Status, Error: r.Fault.Number, Message: r.Fault.Message, Cause: r.Fault.Cause}
			return TaskBatchError{Error: fault, Task: r.Sent}
		}),
	}
}
