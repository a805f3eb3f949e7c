package lastmile

import (
	"fmt"
	"time"
)

// Limits of batches.
const (
	MaxBatch     = 500 // tasks of a batch that is done in the background
	MaxSyncBatch = 100 // tasks of a batch that is answered when it is done
)

// BatchStatus is how far a batch is, and how it ended.
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

// Batch is many tasks that were sent at once, to be created in the background.
type Batch struct {
	ID           BatchID
	Organization OrganizationID
	Key          KeyID // who sent it
	Created      time.Time
	Completed    time.Time // zero until every item has its result
	Received     int
	Results      []BatchResult // of the items so far, in their order
}

// BatchResult is what became of one item of a batch: a task, or a fault.
type BatchResult struct {
	TaskID TaskID
	Warned bool        // the task's destination has warnings
	Shown  []byte      // the task as it is shown; nil when it was not read, or does not exist any more
	Fault  *BatchFault // nil when the task was created
	Sent   []byte      // the item as it was sent, when it has a fault
}

// CreatedBatch is the answer to a batch that is done at once: the tasks that
// were created, and the results of the items that became none.
type CreatedBatch struct {
	Tasks  []Task
	Faults []BatchResult
}

// BatchFault is why an item became no task, as the client is told of it.
type BatchFault struct {
	Status         int // the HTTP status it would have had alone
	Number         int // of the error
	Message, Cause string
}

// CheckBatch refuses a batch of no tasks or of too many.
func CheckBatch(tasks, most int) error {
	if tasks < 1 || tasks > most {
		return Invalid("tasks must have 1 to %d entries, not %d", most, tasks)
	}
	return nil
}

// CheckBatchItem refuses what a task of a batch cannot have: it is created
// unassigned, and nobody is looked for.
func CheckBatchItem(in *ContainerRef, autoAssign bool) error {
	if autoAssign {
		return Invalid("autoAssign is not supported in a batch")
	}
	if in != nil && in.Kind == InWorker {
		return Invalid("container.type must be ORGANIZATION or TEAM: the tasks of a batch are created unassigned")
	}
	return nil
}

// Made counts the tasks that were created.
func (b Batch) Made() int {
	n := 0
	for _, r := range b.Results {
		if r.Fault == nil {
			n++
		}
	}
	return n
}

// Status is how far the batch is.
func (b Batch) Status() BatchStatus {
	switch made := b.Made(); {
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

// Complete ends a batch whose items have all got their results.
func (b *Batch) Complete(by Actor, now time.Time) Event {
	b.Completed = later(b.Created, now)
	as := *b
	return Event{Organization: b.Organization, Trigger: TriggerTaskBatchCreateJobCompleted, Actor: by, At: now, Batch: &as}
}

// CreateQuietly tells of a task of a batch just made: that it was created is
// no event of its own, that a worker has it is.
func (t *Task) CreateQuietly(by Actor) []Event {
	if t.State != TaskAssigned {
		return nil
	}
	return []Event{t.event(TriggerTaskAssigned, by, t.Created)}
}

// Ago says in words how long before now something was.
func Ago(at, now time.Time) string {
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
