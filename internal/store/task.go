package store

import (
	"context"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
)

// Tasks is the kind of tasks.
const Tasks Kind = "task"

// TaskReader reads tasks and containers.
type TaskReader interface {
	Task(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
	// TaskByShortID looks inside the organization only.
	TaskByShortID(ctx context.Context, org lastmile.OrganizationID, shortID string) (lastmile.Task, error)
	// TaskByToken finds a task by what the link to its page says, in whatever
	// organization: who has the link may look.
	TaskByToken(ctx context.Context, token string) (lastmile.Task, error)
	// TasksOf reads several tasks, in the order of the ids.
	TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error)
	// Parents returns the dependencies of a task.
	Parents(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) ([]lastmile.TaskID, error)
	// Children returns the tasks that depend on a task.
	Children(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) ([]lastmile.TaskID, error)
	// Unfinished returns which of the tasks are not completed.
	Unfinished(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.TaskID, error)

	// Container reads a container. That its owner is the organization's is for
	// the caller to see.
	Container(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (lastmile.Container, error)
	// Unplaced tells whether the list of a container ends with new tasks whose
	// order is not settled yet.
	Unplaced(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (bool, error)
	// Containers lists the containers that were ever changed, in no order.
	Containers(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.ContainerRef, error)
	// ListVersions returns the versions of workers' containers. Those that were
	// never changed are not there.
	ListVersions(ctx context.Context, org lastmile.OrganizationID, workers []lastmile.WorkerID) (map[lastmile.WorkerID]int64, error)
	// Queues returns what workers on duty have to do, the active task first.
	Queues(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID][]assignment.QueuedTask, error)

	Explanation(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (assignment.Explanation, error)
}

// TaskFilter chooses tasks; zero fields choose all.
type TaskFilter struct {
	From, To     time.Time // by completion for completed tasks, by creation for others
	States       []lastmile.TaskState
	Worker       lastmile.WorkerID
	Containers   []string // ids of organizations, teams or workers
	Dependencies []lastmile.TaskID
	CompleteBy   time.Time // completeBefore at or before this
	CompleteFrom time.Time // completeAfter at or after this
	Pickup       *bool
	Unfinished   bool              // only those in a container or active
	Metadata     lastmile.Metadata // all of these entries
	After        lastmile.TaskID   // created after this one
	Limit        int               // 0: no limit
}

// TaskWriter saves tasks and moves them among containers.
type TaskWriter interface {
	// SaveTask saves a task. A new task, and one whose container changed, must
	// be enqueued, except that a new task is at the end of the container it
	// was made in. Where transactions run side by side it has no place of its
	// own there before PlaceTasks or Enqueue.
	SaveTask(ctx context.Context, t lastmile.Task) error
	DeleteTask(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) error
	// Enqueue puts tasks, which were saved with this container, at an index of
	// its list, in order. Whatever their places were, they leave them first.
	Enqueue(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, index int, tasks []lastmile.TaskID, now time.Time) error
	// PlaceTasks settles the order in which the list of a container ends, so
	// that what is created and committed from now on comes later.
	PlaceTasks(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error
	// LockContainer makes writers of one container wait for each other, at the
	// latest when the transaction ends.
	LockContainer(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error
	SaveExplanation(ctx context.Context, org lastmile.OrganizationID, e assignment.Explanation) error
	// DeleteExplanations forgets explanations of decisions before a time, about so
	// many at most, and returns how many.
	DeleteExplanations(ctx context.Context, before time.Time, most int) (int64, error)
	// AppendEvents stores what happened.
	AppendEvents(ctx context.Context, events []lastmile.Event) error
}
