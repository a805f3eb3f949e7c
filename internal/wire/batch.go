package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// BatchBody is the body of a request to create several tasks.
type BatchBody struct {
	// Tasks to create, each as in POST /tasks; at most 100 for /tasks/batch.
	Tasks *SentTasks `json:"tasks" required:"true"`
}

// Items decodes the tasks that an organization sent. An invalid task becomes an item with an
// error, so that the others are still created.
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

// DecodeBatchItem decodes a task of a batch. Decode has already scanned its JSON with the body
// of the batch. If the task is invalid, the item has the error. The error that is returned is
// a fault of the server.
func DecodeBatchItem(org lastmile.OrganizationID, sent []byte) (lastmile.BatchItem, error) {
	item := lastmile.BatchItem{Sent: sent}
	var body NewTaskBody
	err := codec.Rejection(codec.DecodePart(sent, &body))
	if err == nil {
		item.AutoAssign = body.AutoAssign != nil
		item.Draft, err = body.Draft(org)
	}
	if rejected, ok := errors.AsType[*lastmile.Error](err); ok {
		return lastmile.BatchItem{Err: rejected, Sent: sent}, nil
	}
	return item, err
}

// SentTasks are the tasks of a batch as they were sent.
type SentTasks []SentTask

// MinItems returns the minimum number of tasks, for documentation.
func (SentTasks) MinItems() int { return 1 }

// MaxItems returns the maximum number of tasks, for documentation.
func (SentTasks) MaxItems() int { return lastmile.MaxBatch }

// SentTask is a task of a batch as it was sent. It is decoded later, so that an invalid task
// does not make the whole batch invalid.
type SentTask []byte

// UnmarshalJSON implements json.Unmarshaler.
func (t *SentTask) UnmarshalJSON(data []byte) error {
	if data = bytes.TrimSpace(data); data[0] != '{' {
		return codec.Malformed("must be an object, not %s", codec.KindName(data[0]))
	}
	*t = bytes.Clone(data)
	return nil
}

// SchemaOf returns the body of a task, for documentation.
func (SentTask) SchemaOf() any { return NewTaskBody{} }

// BatchJob is a batch that was accepted for processing.
type BatchJob struct {
	// Status of the batch.
	Status lastmile.BatchStatus `json:"status"`
	// ID of the batch, used to read its status.
	JobID lastmile.BatchID `json:"jobId" example:"B6tR2yNw8LkD4xHz7VbC1pJs"`
}

// Batch is the status of a batch and the results for its tasks.
type Batch struct {
	BatchProgress
	// Tasks that were created and still exist, in the order in which they were sent. Empty until the
	// batch has ended.
	NewTasks []Raw[Task] `json:"newTasks" example:"[]"`
	// Those of newTasks whose destination has warnings.
	NewTasksWithWarnings []Raw[Task] `json:"newTasksWithWarnings" example:"[]"`
}

// TaskReference is a task of which only the id is shown.
type TaskReference struct {
	// ID of the task.
	ID lastmile.TaskID `json:"id"`
}

// BatchProgress is the status of a batch, without the tasks that were created.
type BatchProgress struct {
	// Status of the batch: completedWithErrors if some tasks could not be created, failed if none
	// could be created.
	Status lastmile.BatchStatus `json:"status" example:"completedWithErrors"`
	// Human-readable time since the batch was sent, such as "Less than a minute ago."
	Submitted string `json:"submitted" example:"Less than a minute ago."`
	// Number of tasks that were sent.
	TasksReceived int `json:"tasksReceived" example:"2"`
	// Number of tasks created so far.
	TasksCreated int `json:"tasksCreated" example:"1"`
	// Number of tasks that could not be created.
	TasksErrored int `json:"tasksErrored" example:"1"`
	// Errors of the tasks that could not be created, in the order in which the tasks were sent.
	Errors []BatchItemError `json:"errors" example:"[]"`
	// The tasks that could not be created, as they were sent.
	FailedTasks []json.RawMessage `json:"failedTasks" example:"[]"`
}

// BatchItemError is the reason why a task of a batch could not be created.
type BatchItemError struct {
	// HTTP status that the error has in requests for a single task.
	StatusCode int `json:"statusCode"`
	// Number of the error; see the table of errors.
	ErrorCode int `json:"errorCode"`
	// Human-readable message. The wording may change: programs should use the number instead.
	Message string `json:"message"`
	// Further details of the cause; empty if there are none.
	Cause string `json:"cause"`
	// The task as it was sent.
	TaskData json.RawMessage `json:"taskData"`
}

// TaskBatch is the result of a batch of tasks.
type TaskBatch struct {
	// Tasks that were created, in the order in which they were sent.
	Tasks []Task `json:"tasks" example:"[]"`
	// Errors of the tasks that could not be created.
	Errors []TaskBatchError `json:"errors" example:"[]"`
}

// TaskBatchError is a task that could not be created, with the error.
type TaskBatchError struct {
	// Reason why the task could not be created.
	Error codec.BatchError `json:"error"`
	// The task as it was sent.
	Task json.RawMessage `json:"task"`
}

// NewBatch returns a batch in its wire form. Tasks that no longer exist are counted, but not
// included.
func NewBatch(b lastmile.Batch, now Millis) Batch {
	shown := Batch{BatchProgress: BatchProgress{
		Status: b.Status(), Submitted: ago(b.Created, now.Time()), TasksReceived: b.Received, TasksCreated: b.TasksCreated(),
		Errors: []BatchItemError{}, FailedTasks: []json.RawMessage{},
	}}
	shown.TasksErrored = len(b.Results) - shown.TasksCreated
	for _, r := range b.Results {
		switch {
		case r.Err != nil:
			kind := codec.ErrorOf(r.Err.Code)
			shown.Errors = append(shown.Errors, BatchItemError{
				StatusCode: kind.Status, ErrorCode: int(kind.Number), Message: r.Err.Message, Cause: codec.CauseText(r.Err), TaskData: r.Sent,
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

// Encode encodes the batch. It copies the tasks, which can be megabytes, once and without
// parsing them again as encoding/json would.
func (b Batch) Encode() ([]byte, error) { return b.encode([]byte("{")) }

// encode encodes the batch as an object that begins with first: a brace, and perhaps members
// that end with a comma.
func (b Batch) encode(first []byte) ([]byte, error) {
	head, err := codec.Marshal(b.BatchProgress)
	if err != nil {
		return nil, err
	}
	size := len(first) + len(head) + 64
	for _, task := range slices.Concat(b.NewTasks, b.NewTasksWithWarnings) {
		size += len(task) + 1
	}
	out := append(append(make([]byte, 0, size), first...), head[1:len(head)-1]...)
	out = appendShown(append(out, `,"newTasks":[`...), b.NewTasks)
	out = appendShown(append(out, `],"newTasksWithWarnings":[`...), b.NewTasksWithWarnings)
	return append(out, `]}`...), nil
}

func appendShown(out []byte, tasks []Raw[Task]) []byte {
	for i, task := range tasks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, task...)
	}
	return out
}

// batchEvent is the body of a webhook request for a completed batch: an event with the fields
// of the batch.
type batchEvent struct {
	Event
	JobID lastmile.BatchID `json:"jobId"`
	batch Batch
}

func newBatchEvent(e lastmile.Event) batchEvent {
	event := newEvent(e)
	return batchEvent{Event: event, JobID: e.Batch.ID, batch: NewBatch(*e.Batch, event.Time)}
}

func (e batchEvent) Encode() ([]byte, error) {
	head, err := codec.Marshal(struct {
		Event
		JobID lastmile.BatchID `json:"jobId"`
	}{e.Event, e.JobID})
	if err != nil {
		return nil, err
	}
	head[len(head)-1] = ',' // instead of the brace
	return e.batch.encode(head)
}

// NewBatchJob returns the response to the submission of a batch.
func NewBatchJob(made lastmile.CreatedRecord[lastmile.Batch]) BatchJob {
	return BatchJob{Status: made.Record.Status(), JobID: made.Record.ID}
}

// NewTaskBatch returns a batch that was processed within the request, in its wire form.
func NewTaskBatch(b lastmile.CreatedBatch) TaskBatch {
	return TaskBatch{
		Tasks: Each(b.Tasks, NewTask),
		Errors: Each(b.Rejected, func(r lastmile.BatchResult) TaskBatchError {
			return TaskBatchError{Error: codec.NewBatchError(r.Err), Task: r.Sent}
		}),
	}
}

// TaskBatchReference is stored instead of the response to a synchronous batch if the response
// is too large. The response can be rebuilt from it and the request, which the client repeats.
type TaskBatchReference struct {
	Tasks    []lastmile.TaskID  `json:"tasks"`
	Rejected []RejectedTaskItem `json:"rejected"`
}

// RejectedTaskItem is the reason why a task was not created.
type RejectedTaskItem struct {
	Digest string           `json:"digest"` // digest of the task as it was sent
	Error  codec.BatchError `json:"error"`
}

// NewTaskBatchReference returns the reference to store for a batch.
func NewTaskBatchReference(b lastmile.CreatedBatch) TaskBatchReference {
	return TaskBatchReference{
		Tasks: Each(b.Tasks, func(t lastmile.Task) lastmile.TaskID { return t.ID }),
		Rejected: Each(b.Rejected, func(r lastmile.BatchResult) RejectedTaskItem {
			return RejectedTaskItem{Digest: digest(r.Sent), Error: codec.NewBatchError(r.Err)}
		}),
	}
}

func digest(sent []byte) string {
	sum := sha256.Sum256(sent)
	return hex.EncodeToString(sum[:])
}

// Rebuild returns the response to a repeated batch: the created tasks in their
// current state, and the rejected tasks as the client has sent them again.
func (r TaskBatchReference) Rebuild(body BatchBody, tasks []Raw[Task]) RebuiltTaskBatch {
	sent := map[string]SentTask{}
	if body.Tasks != nil {
		for _, task := range *body.Tasks {
			sent[digest(task)] = task
		}
	}
	return RebuiltTaskBatch{Tasks: tasks, Errors: Each(r.Rejected, func(one RejectedTaskItem) TaskBatchError {
		return TaskBatchError{Error: one.Error, Task: json.RawMessage(sent[one.Digest])}
	})}
}

// RebuiltTaskBatch is a TaskBatch whose tasks are already encoded.
type RebuiltTaskBatch struct {
	// Tasks that were created and still exist, in the order in which they were sent.
	Tasks []Raw[Task] `json:"tasks"`
	// Errors of the tasks that could not be created.
	Errors []TaskBatchError `json:"errors"`
}

// FaultRecord is the stored error of a batch item, in the form that clients see, so that it does
// not change with later versions of the program.
type FaultRecord struct {
	Status  int    `json:"status"`
	Number  int    `json:"number"`
	Message string `json:"message"`
	Cause   string `json:"cause"`
}

// NewFaultRecord returns the record of an error, or nil if there is none.
func NewFaultRecord(e *lastmile.Error) *FaultRecord {
	if e == nil {
		return nil
	}
	kind := codec.ErrorOf(e.Code)
	return &FaultRecord{Status: kind.Status, Number: int(kind.Number), Message: e.Message, Cause: codec.CauseText(e)}
}

// Domain returns the error that was stored, or nil if there is none.
func (f *FaultRecord) Domain() *lastmile.Error {
	if f == nil {
		return nil
	}
	return &lastmile.Error{Code: codec.ErrorCode(f.Number), Message: f.Message, Cause: f.Cause}
}

// ago returns the time from at to now in words: "5 minutes ago.", for example.
func ago(at, now time.Time) string {
	const day = 24 * time.Hour
	passed := now.Sub(at)
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := int(passed / unit.length); {
		case n == 1:
			return "1 " + unit.name + " ago."
		case n > 1:
			return fmt.Sprintf("%d %ss ago.", n, unit.name)
		}
	}
	return "Less than a minute ago."
}
