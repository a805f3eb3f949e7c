package wire

import (
	"bytes"
	"errors"
	"slices"

	"dray/internal/lastmile"
)

// BatchBody is a request to create several tasks.
type BatchBody struct {
	Tasks *[]SentTask `json:"tasks"`
}

// Items decodes the tasks that an organization sent. One that is not a valid
// task is an item with an error: the others are created all the same.
func (b BatchBody) Items(org lastmile.OrganizationID) ([]lastmile.BatchItem, error) {
	if b.Tasks == nil {
		return nil, lastmile.Missing("tasks")
	}
	items := make([]lastmile.BatchItem, len(*b.Tasks))
	for i, sent := range *b.Tasks {
		var err error
		if items[i], err = DecodeBatchItem(org, sent); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// DecodeBatchItem decodes a task of a batch. Decode has scanned it with the
// body of the batch, so that only its own shape is left to check. An error
// means that no task can be decoded.
func DecodeBatchItem(org lastmile.OrganizationID, sent []byte) (lastmile.BatchItem, error) {
	item := lastmile.BatchItem{Sent: sent}
	var body TaskBody
	err := rejection(DecodePart(sent, &body))
	if err == nil {
		item.AutoAssign = body.AutoAssign != nil
		item.Draft, err = body.Draft(org)
	}
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok {
		return lastmile.BatchItem{Err: rejected, Sent: sent}, nil
	}
	return item, err
}

// SentTask is a task of a batch as it was sent. It is decoded by itself, so that
// an error in it is the item's and not the batch's.
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

// BatchJob is the response to a batch that is done in the background.
type BatchJob struct {
	Status lastmile.BatchStatus `json:"status"`
	JobID  lastmile.BatchID     `json:"jobId"`
}

// Batch is the progress of a batch and the tasks that were created.
type Batch struct {
	BatchProgress
	NewTasks             []ShownTask `json:"newTasks"`
	NewTasksWithWarnings []ShownTask `json:"newTasksWithWarnings"`
}

// BatchProgress is the progress of a batch without the tasks that were created.
type BatchProgress struct {
	Status        lastmile.BatchStatus `json:"status"`
	Submitted     string               `json:"submitted"` // how long ago, in words
	TasksReceived int                  `json:"tasksReceived"`
	TasksCreated  int                  `json:"tasksCreated"`
	TasksErrored  int                  `json:"tasksErrored"`
	Errors        []BatchItemError     `json:"errors"`
	FailedTasks   []SentTask           `json:"failedTasks"`
}

// ShownTask is an encoded Task.
type ShownTask []byte

// MarshalJSON implements json.Marshaler.
func (t ShownTask) MarshalJSON() ([]byte, error) { return t, nil }

// BatchItemError is the error of an item of a batch.
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

// NewBatchError returns an error in the shape that requests for batches have.
func NewBatchError(e *lastmile.Error) BatchError {
	kind := ErrorKindOf(e.Code)
	return BatchError{StatusCode: kind.Status, Error: kind.Number, Message: e.Message, Cause: CauseText(e)}
}

// TaskBatch is the response to a batch that is done at once.
type TaskBatch struct {
	Tasks  []Task           `json:"tasks"`
	Errors []TaskBatchError `json:"errors"`
}

// TaskBatchError is the error of an item of such a batch.
type TaskBatchError struct {
	Error BatchError `json:"error"`
	Task  SentTask   `json:"task"`
}

// NewBatch returns the progress of a batch. Tasks that were deleted are counted but
// not shown.
func NewBatch(b lastmile.Batch, now Millis) Batch {
	shown := Batch{BatchProgress: BatchProgress{
		Status: b.Status(), Submitted: lastmile.Ago(b.Created, now.Time()), TasksReceived: b.Received, TasksCreated: b.Made(),
		Errors: []BatchItemError{}, FailedTasks: []SentTask{},
	}}
	shown.TasksErrored = len(b.Results) - shown.TasksCreated
	for _, r := range b.Results {
		switch {
		case r.Err != nil:
			kind := ErrorKindOf(r.Err.Code)
			shown.Errors = append(shown.Errors, BatchItemError{
				StatusCode: kind.Status, ErrorCode: kind.Number, Message: r.Err.Message, Cause: CauseText(r.Err), TaskData: r.Sent,
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

// encode encodes the batch. The tasks in it are a megabyte of JSON, which
// encoding/json would parse again.
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

// batchEvent is the event of a completed batch: the fields of all events, and the
// batch.
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
		Errors: each(b.Rejected, func(r lastmile.BatchResult) TaskBatchError {
			return TaskBatchError{Error: NewBatchError(r.Err), Task: r.Sent}
		}),
	}
}
