package taskflow

import (
	"context"
	"time"

	"dray/internal/assignment"
	"dray/internal/customfield"
	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/work"
)

// Each use case has three interfaces: a Reader for what it reads in a transaction, a
// Writer for what it reads and saves in one, and a Store that runs its transactions.
// They consist of the small interfaces below, which are also parameters of functions that
// several use cases share.

// TaskReader is what Tasks reads in a transaction.
type TaskReader interface {
	ownerChecker
	crewReader
	familyReader
	// VisibleTask returns a task that the organization has, or that it placed with
	// another one.
	VisibleTask(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
	// TaskByShortID finds a task that the organization has, or that it placed with
	// another, by its short id.
	TaskByShortID(ctx context.Context, org lastmile.OrganizationID, shortID string) (lastmile.Task, error)
}

// TaskWriter is what Tasks reads and saves in a transaction.
type TaskWriter interface {
	TaskReader
	store.Receipts
	creationWriter
	moveWriter
	planWriter
	explanationWriter
	// ExpectTask announces that a task of the organization will be created, so
	// that its custom fields, settings and webhooks can be read in one round trip.
	// The transaction must not change them before.
	ExpectTask(org lastmile.OrganizationID)
	// DeleteTask deletes a task.
	DeleteTask(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) error
}

// TaskStore runs the transactions of Tasks, its own and those that other use cases
// began.
type TaskStore interface {
	store.Transactor[TaskReader, TaskWriter]
	store.Joiner[TaskWriter]
}

// ContainerReader is what Containers reads in a transaction.
type ContainerReader interface {
	listReader
	familyReader
	crewReader
	// Containers lists the containers that ever changed, in no particular order.
	Containers(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.ContainerRef, error)
	// Explanation returns why a task was assigned to its worker, or to none.
	Explanation(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (assignment.Explanation, error)
	// ExpectContainer announces that a container will be read, with its owner and
	// Unplaced, so that this takes one round trip. If limit is not 0, that includes the
	// first limit tasks of the list.
	ExpectContainer(org lastmile.OrganizationID, in lastmile.ContainerRef, limit int)
	// Hub returns a hub.
	Hub(ctx context.Context, org lastmile.OrganizationID, id lastmile.HubID) (lastmile.Hub, error)
	// Task returns a task.
	Task(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
	// Unplaced reports whether the list of a container ends with new tasks whose
	// order is not fixed yet.
	Unplaced(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (bool, error)
}

// ContainerWriter is what Containers reads and saves in a transaction.
type ContainerWriter interface {
	ContainerReader
	store.Receipts
	moveWriter
	explanationWriter
	// ListHead returns the first tasks of the list of a container, up to limit.
	ListHead(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, limit int) ([]lastmile.TaskID, error)
	// ListState returns a value that is different after every change of the list of a
	// container.
	ListState(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (store.ListState, error)
	// StillListed returns the ids of the tasks that are still in the list of a
	// container, in the order of ids.
	StillListed(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, ids []lastmile.TaskID) ([]lastmile.TaskID, error)
	// PlaceTasks fixes the order of the new tasks at the end of a container, so
	// that tasks committed later follow them.
	PlaceTasks(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error
}

// ContainerStore runs the transactions of Containers, its own and those that other
// use cases began.
type ContainerStore interface {
	store.Transactor[ContainerReader, ContainerWriter]
	store.Joiner[ContainerWriter]
}

// BatchReader is what Batches reads in a transaction.
type BatchReader interface {
	work.Reader
	recipientReader
	fieldReader
	// Batch returns a batch with its results so far, which have the ids of tasks
	// but not the tasks.
	Batch(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID) (lastmile.Batch, error)
	// BatchItems returns at most limit items of a batch, beginning with number
	// from. A completed batch has none.
	BatchItems(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, from, limit int) ([]lastmile.BatchItem, error)
	// TasksLeft returns the tasks that still exist, in the form of the API, by
	// id. Once the tasks have more than room bytes, the others are returned with only
	// their id.
	TasksLeft(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID, room int) (map[lastmile.TaskID][]byte, error)
}

// BatchWriter is what Batches reads and saves in a transaction.
type BatchWriter interface {
	BatchReader
	work.Writer
	store.Receipts
	events.Transaction
	bulkStore
	// AddBatch saves a new batch with its items.
	AddBatch(ctx context.Context, b lastmile.Batch, items []lastmile.BatchItem) error
	// AddJob adds a job.
	AddJob(ctx context.Context, j work.Job) error
	// AddResults saves the results of a batch, which follow those saved so far
	// and begin with number from.
	AddResults(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, from int, results []lastmile.BatchResult) error
	// CompleteBatch saves when a batch was completed, and deletes its items.
	CompleteBatch(ctx context.Context, org lastmile.OrganizationID, id lastmile.BatchID, at time.Time) error
	// NoteNewTasks records that tasks were created without an event, so that the
	// followers of boards see them.
	NoteNewTasks(ctx context.Context, tasks []lastmile.Task) error
	// Try runs fn as a part of the transaction that can fail alone: when fn
	// returns an error, what it saved is undone and the transaction continues. A
	// statement that fails still ends the transaction.
	Try(ctx context.Context, fn func() error) error
}

// BatchStore runs the transactions of Batches.
type BatchStore = store.Transactor[BatchReader, BatchWriter]

// PlanReader is what RoutePlans reads in a transaction.
type PlanReader interface {
	ownerReader
	tasksReader
	// Hub returns a hub.
	Hub(ctx context.Context, org lastmile.OrganizationID, id lastmile.HubID) (lastmile.Hub, error)
	// RoutePlan returns a route plan.
	RoutePlan(ctx context.Context, org lastmile.OrganizationID, id lastmile.RoutePlanID) (lastmile.RoutePlan, error)
	// RoutePlans lists route plans, oldest first.
	RoutePlans(ctx context.Context, org lastmile.OrganizationID, f store.RoutePlanFilter) ([]lastmile.RoutePlan, error)
	// RehearseMove encodes a task as MoveTasks and SavePlanned save it, so that they find it
	// encoded if ctx is one of store.Remember. It returns the size.
	RehearseMove(ctx context.Context, task lastmile.Task) (bytes int)
}

// PlanWriter is what RoutePlans reads and saves in a transaction.
type PlanWriter interface {
	PlanReader
	store.Receipts
	moveWriter
	planWriter
	// DeleteRoutePlan deletes a route plan that has no tasks.
	DeleteRoutePlan(ctx context.Context, org lastmile.OrganizationID, id lastmile.RoutePlanID) error
	// SavePlanned saves tasks that have joined or left a route plan, or have another
	// position in the plan.
	SavePlanned(ctx context.Context, tasks []lastmile.Task) error
}

// PlanStore runs the transactions of RoutePlans.
type PlanStore = store.Transactor[PlanReader, PlanWriter]

// FieldReader is what Fields reads in a transaction.
type FieldReader interface {
	fieldReader
	// Templates lists templates, oldest first.
	Templates(ctx context.Context, org lastmile.OrganizationID) ([]customfield.Template, error)
}

// FieldWriter is what Fields reads and saves in a transaction.
type FieldWriter interface {
	FieldReader
	store.Receipts
	// DeleteCustomField deletes the definition of a custom field.
	DeleteCustomField(ctx context.Context, org lastmile.OrganizationID, key string) error
	// DeleteTemplate deletes a task template.
	DeleteTemplate(ctx context.Context, org lastmile.OrganizationID, id lastmile.TemplateID) error
	// SaveCustomField saves the definition of a custom field.
	SaveCustomField(ctx context.Context, f lastmile.CustomField) error
	// SaveTemplate saves a task template.
	SaveTemplate(ctx context.Context, t customfield.Template) error
}

// FieldStore runs the transactions of Fields.
type FieldStore = store.Transactor[FieldReader, FieldWriter]

// WorkReader is what Work reads in a transaction.
type WorkReader interface {
	listReader
	tasksReader
	// ActionDone reports whether the worker has done an action with the same id
	// before, and returns it.
	ActionDone(ctx context.Context, a store.Action) (before store.Action, done bool, err error)
	// ListHead returns the first tasks of the list of a container, up to limit.
	ListHead(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, limit int) ([]lastmile.TaskID, error)
	// ListState returns a value that is different after every change of the list of a
	// container.
	ListState(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (store.ListState, error)
	// Settings returns the settings of an organization.
	Settings(ctx context.Context, org lastmile.OrganizationID) (lastmile.Settings, error)
	// Task returns a task.
	Task(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
	// TaskOutlines returns several tasks in the order of ids, with only their ids,
	// modification times and estimates.
	TaskOutlines(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error)
	// Unfinished returns which of the tasks are not completed.
	Unfinished(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.TaskID, error)
	// Upload returns the record of an upload.
	Upload(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) (lastmile.Upload, error)
	// Whereabouts returns a worker's duty status and location.
	Whereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Whereabouts, error)
}

// WorkWriter is what Work reads and saves in a transaction.
type WorkWriter interface {
	WorkReader
	moveWriter
	planWriter
	// SaveAction records an action of a worker, so that a repeated request for
	// it is recognized.
	SaveAction(ctx context.Context, a store.Action) error
	// SaveTrip saves how long a trip was estimated to take and how long it took.
	SaveTrip(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, at time.Time, t lastmile.Trip) error
	// SaveUpload saves the record of an upload.
	SaveUpload(ctx context.Context, u lastmile.Upload) error
}

// WorkStore runs the transactions of Work.
type WorkStore = store.Transactor[WorkReader, WorkWriter]

// PageReader is what Pages reads in a transaction.
type PageReader interface {
	// Organization returns any organization, not only the caller's.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// PageSettings returns the settings of an organization for tracking pages.
	PageSettings(ctx context.Context, org lastmile.OrganizationID) (lastmile.PageSettings, error)
	// TaskByToken finds a task of any organization by the token of its tracking
	// page, which grants access.
	TaskByToken(ctx context.Context, token string) (lastmile.Task, error)
	// Worker returns a worker with the first lastmile.MaxEventTasks tasks.
	Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
}

// PageWriter is what Pages reads and saves in a transaction.
type PageWriter interface {
	PageReader
	events.Transaction
	taskWriter
	// SavePageSettings saves the settings of an organization for tracking pages.
	SavePageSettings(ctx context.Context, org lastmile.OrganizationID, s lastmile.PageSettings) error
}

// PageStore runs the transactions of Pages.
type PageStore = store.Transactor[PageReader, PageWriter]

// ownerReader reads the owners of containers.
type ownerReader interface {
	ownerChecker
	// Team returns a team without its tasks.
	Team(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error)
	// Worker returns a worker with the first lastmile.MaxEventTasks tasks.
	Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
}

// ownerChecker reads whether the owners of containers exist.
type ownerChecker interface {
	// Organization returns any organization, not only the caller's.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// Owner returns when the worker or the team of a container was created, and an
	// error if the organization does not have it.
	Owner(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (created time.Time, err error)
}

// connectionReader reads which organizations are connected.
type connectionReader interface {
	// Connection returns the connection of an organization with another.
	Connection(ctx context.Context, org, other lastmile.OrganizationID) (store.Connection, error)
	// Organization returns any organization, not only the caller's.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
}

// listReader reads containers and their owners.
type listReader interface {
	ownerReader
	// Container returns a container. The caller checks that its owner belongs to
	// the organization.
	Container(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (lastmile.Container, error)
	// ContainerHead is Container with the first tasks of the list, up to limit.
	ContainerHead(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, limit int) (lastmile.Container, error)
}

// tasksReader reads tasks.
type tasksReader interface {
	// TasksOf returns several tasks in the order of ids.
	TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error)
}

// familyReader reads the dependencies of tasks.
type familyReader interface {
	tasksReader
	// Children returns the tasks that depend on a task, up to n of them; 0 for
	// all.
	Children(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID, n int) ([]lastmile.TaskID, error)
	// Parents returns the dependencies of a task.
	Parents(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) ([]lastmile.TaskID, error)
	// Workers lists workers, oldest first.
	Workers(ctx context.Context, org lastmile.OrganizationID, f store.WorkerFilter) ([]lastmile.Worker, error)
}

// crewReader reads the workers whom tasks can be assigned to.
type crewReader interface {
	// CheckMembers returns the id of the first member that the organization does not have,
	// and the error for it.
	CheckMembers(ctx context.Context, org lastmile.OrganizationID, m store.Members) (id string, err error)
	// ListVersions returns the versions of workers' containers, without those that
	// never changed.
	ListVersions(ctx context.Context, org lastmile.OrganizationID, workers []lastmile.WorkerID) (map[lastmile.WorkerID]int64, error)
	// Queues returns the unfinished tasks of workers on duty, the active task
	// first.
	Queues(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID][]assignment.QueuedTask, error)
	// Workers lists workers, oldest first.
	Workers(ctx context.Context, org lastmile.OrganizationID, f store.WorkerFilter) ([]lastmile.Worker, error)
	// Whereabouts returns a worker's duty status and location.
	Whereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Whereabouts, error)
}

// fieldReader reads the definitions by which the custom fields of a task are checked.
type fieldReader interface {
	// CustomFields lists the custom fields of an organization in the order of
	// their definition.
	CustomFields(ctx context.Context, org lastmile.OrganizationID) (customfield.Fields, error)
	// Template returns a task template.
	Template(ctx context.Context, org lastmile.OrganizationID, id lastmile.TemplateID) (customfield.Template, error)
}

// containerLocker locks containers.
type containerLocker interface {
	events.Committer
	// LockContainer serializes the writers of a container until the transaction
	// ends.
	LockContainer(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error
	// ScheduleEstimate makes a worker due for a refresh of all estimates.
	ScheduleEstimate(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, now time.Time) error
}

// taskWriter saves tasks.
type taskWriter interface {
	// SaveTask saves a task. A task whose container changed must be moved to a
	// position of its list.
	SaveTask(ctx context.Context, t lastmile.Task) error
}

// moveWriter moves tasks from one container to another.
type moveWriter interface {
	events.Transaction
	containerLocker
	tasksReader
	taskWriter
	// MoveTasks inserts tasks at a position of the list of a container, in order. They
	// leave their former positions first. It also saves the tasks in moved, which come
	// from other containers and whose dependencies and metadata have not changed; the
	// others must have been saved with this container. It returns store.ErrMoved if the
	// task that the position refers to is not in the list.
	MoveTasks(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, at store.Position, tasks []lastmile.TaskID, moved []lastmile.Task, now time.Time) error
}

// progressWriter saves the progress of tasks.
type progressWriter interface {
	containerLocker
	taskWriter
	firingWriter
}

// firingWriter deletes records of thresholds that were reached.
type firingWriter interface {
	// DeleteFired deletes the records of all thresholds that a task or a route plan
	// has reached.
	DeleteFired(ctx context.Context, org lastmile.OrganizationID, id string) error
}

// planWriter saves the progress of route plans.
type planWriter interface {
	events.Transaction
	firingWriter
	// RoutePlan returns a route plan.
	RoutePlan(ctx context.Context, org lastmile.OrganizationID, id lastmile.RoutePlanID) (lastmile.RoutePlan, error)
	// SaveRoutePlan saves a route plan without its tasks.
	SaveRoutePlan(ctx context.Context, p lastmile.RoutePlan) error
}

// explanationWriter saves the reasons for assignments.
type explanationWriter interface {
	// SaveExplanation saves why a task was assigned to its worker, or to none.
	SaveExplanation(ctx context.Context, org lastmile.OrganizationID, e assignment.Explanation) error
}

// creationWriter has the methods of a transaction that the creation of a task
// needs. For batches, bulkWriter implements it with a buffer, which a method added
// here must take into account.
type creationWriter interface {
	store.RecipientStore
	connectionReader
	ownerChecker
	fieldReader
	containerLocker
	tasksReader
	// AddTask saves a new task, at the end of its container. In the container of
	// the organization, where transactions run concurrently, its position is not
	// fixed before PlaceTasks. It returns store.UsedKeys if the import key of the task
	// has been used.
	AddTask(ctx context.Context, t lastmile.Task) error
	// Destination returns a destination.
	Destination(ctx context.Context, org lastmile.OrganizationID, id lastmile.DestinationID) (lastmile.Destination, error)
	// Recipient returns a recipient.
	Recipient(ctx context.Context, org lastmile.OrganizationID, id lastmile.RecipientID) (lastmile.Recipient, error)
	// SaveDestination saves a new destination.
	SaveDestination(ctx context.Context, d lastmile.Destination) error
	// Settings returns the settings of an organization.
	Settings(ctx context.Context, org lastmile.OrganizationID) (lastmile.Settings, error)
}

// recipientReader finds recipients.
type recipientReader interface {
	Recipients(ctx context.Context, org lastmile.OrganizationID, f store.RecipientFilter) ([]lastmile.Recipient, error)
}

// bulkStore creates many tasks.
type bulkStore interface {
	creationWriter
	// SaveNew saves new records with fewer statements than saving each of them. It
	// returns store.UsedKeys if import keys of the tasks have been used.
	SaveNew(ctx context.Context, r store.NewRecords) error
}
