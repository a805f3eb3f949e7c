package lastmile

import (
	"errors"
	"time"
)

// Limits of batches.
const (
	MaxBatch     = 500 // tasks of a batch that is processed in the background
	MaxSyncBatch = 100 // tasks of a batch that is processed within the request
)

// BatchStatus is the progress and outcome of a batch.
type BatchStatus string

// The statuses of a batch.
const (
	BatchPending             BatchStatus = "pending"
	BatchInProgress          BatchStatus = "inProgress"
	BatchSucceeded           BatchStatus = "succeeded"
	BatchCompletedWithErrors BatchStatus = "completedWithErrors"
	BatchFailed              BatchStatus = "failed" // no task was created
)

// BatchStatuses lists every status.
var BatchStatuses = []BatchStatus{BatchPending, BatchInProgress, BatchSucceeded, BatchCompletedWithErrors, BatchFailed}

// Batch is a list of tasks sent in one request, to be created in the background.
type Batch struct {
	ID           BatchID
	Organization OrganizationID
	Key          KeyID // the Author of the principal that sent it
	Created      time.Time
	Completed    time.Time // zero until every item has its result
	Received     int
	Results      []BatchResult // results of the items processed so far, in order
}

// BatchItem is one task of a batch as it was sent: a draft, or the error with which it is
// rejected.
type BatchItem struct {
	Draft      TaskDraft
	AutoAssign bool   // the item asks for automatic assignment, which batches do not support
	Err        *Error // nil if Draft is valid
	Sent       []byte // the item's JSON, which is returned with an error
}

// BatchResult is the outcome of one item of a batch: a task, or an error.
type BatchResult struct {
	TaskID TaskID
	Warned bool   // the task's destination has warnings
	Shown  []byte // the task's JSON; nil if the task was not read or has been deleted
	Err    *Error // nil if the task was created
	Sent   []byte // the item's JSON, if there is an error
}

// CreatedBatch is the outcome of a batch that is processed within the request: the created
// tasks, and the results of the rejected items.
type CreatedBatch struct {
	Tasks    []Task
	Rejected []BatchResult
}

// ItemError returns the error with which an item of a batch is rejected: err, or Internal if
// clients must not see err.
func ItemError(err error) *Error {
	if rejected, ok := errors.AsType[*Error](err); ok {
		return rejected
	}
	return Internal()
}

// CheckBatch rejects a batch with no tasks or too many.
func CheckBatch(tasks, most int) error {
	if tasks < 1 || tasks > most {
		return Invalid("tasks must have 1 to %d entries, not %d", most, tasks)
	}
	return nil
}

// CheckBatchItem rejects options that the tasks of a batch cannot have: they are
// created unassigned, and no worker is assigned automatically.
func CheckBatchItem(in *ContainerRef, autoAssign bool) error {
	if autoAssign {
		return Invalid("autoAssign is not supported in a batch")
	}
	if in != nil && in.Kind == InWorker {
		return Invalid("container.type must be ORGANIZATION or TEAM: the tasks of a batch are created unassigned")
	}
	return nil
}

// TasksCreated returns the number of tasks that were created.
func (b Batch) TasksCreated() int {
	n := 0
	for _, r := range b.Results {
		if r.Err == nil {
			n++
		}
	}
	return n
}

// Status returns the status of the batch.
func (b Batch) Status() BatchStatus {
	switch made := b.TasksCreated(); {
	case b.Completed.IsZero() && len(b.Results) == 0:
		return BatchPending
	case b.Completed.IsZero():
		return BatchInProgress
	case made == b.Received:
		return BatchSucceeded
	case made == 0:
		return BatchFailed
	}
	return BatchCompletedWithErrors
}

// Complete completes a batch whose items all have results, and returns the event.
func (b *Batch) Complete(by Actor, now time.Time) Event {
	b.Completed = nextModified(b.Created, now)
	copied := *b
	return Event{Organization: b.Organization, Trigger: TriggerTaskBatchCreateJobCompleted, Actor: by, At: now, Batch: &copied}
}

// BatchCreationEvents returns the events of a task that a batch created. The event of the
// batch covers the creation of the task, but not its assignment.
func (t *Task) BatchCreationEvents(by Actor) []Event {
	if t.State != TaskAssigned {
		return nil
	}
	return []Event{t.event(TriggerTaskAssigned, by, t.Created)}
}
