package board

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	// BoardTasks lists at most limit tasks of a day, and reports whether there are more. If
	// there are, open tasks come before others, the organization's own before those that it
	// placed with others, and those whose windows end first.
	BoardTasks(ctx context.Context, org lastmile.OrganizationID, f Filter, limit int) (all []Task, more bool, err error)
	// CheckTeam returns an error if the organization does not have a team.
	CheckTeam(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) error
	// FleetVersion returns the version of the teams, hubs and schedules of an organization,
	// which grows with each change.
	FleetVersion(ctx context.Context, org lastmile.OrganizationID) (int64, error)
	// Hubs lists the hubs of an organization.
	Hubs(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Hub, error)
	// LastEvent returns the number of the newest event of the log, or 0.
	LastEvent(ctx context.Context, org lastmile.OrganizationID) (int64, error)
	// LastMoves returns the latest position of each worker.
	LastMoves(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID]lastmile.Position, error)
	// BoardVersions returns the versions of the lists of workers or teams, by owner.
	BoardVersions(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.ContainerRef]int64, error)
	// Organization returns an organization without its connections.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// Schedules returns the schedules of all workers.
	Schedules(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID]lastmile.Schedule, error)
	// Teams lists teams, oldest first.
	Teams(ctx context.Context, org lastmile.OrganizationID, f store.TeamFilter) ([]lastmile.Team, error)
	// Workers lists workers, oldest first.
	Workers(ctx context.Context, org lastmile.OrganizationID, f store.WorkerFilter) ([]lastmile.Worker, error)
}

// HistoryReader is what histories read in a transaction.
type HistoryReader interface {
	Reader
	// DutyAt returns which workers were on duty at a time.
	DutyAt(ctx context.Context, org lastmile.OrganizationID, at time.Time) (map[lastmile.WorkerID]bool, error)
	// EventBefore returns the number of the last event stored before a time, or the number
	// before the oldest stored event if there is none.
	EventBefore(ctx context.Context, org lastmile.OrganizationID, at time.Time) (int64, error)
	// FirstEvent returns when the oldest event was stored; zero if there is none.
	FirstEvent(ctx context.Context, org lastmile.OrganizationID) (time.Time, error)
	// MovesAt returns the latest position of each worker before a time.
	MovesAt(ctx context.Context, org lastmile.OrganizationID, at time.Time) (map[lastmile.WorkerID]lastmile.Position, error)
	// MovesIn returns positions of workers in a window, at least a step apart for each worker.
	MovesIn(ctx context.Context, org lastmile.OrganizationID, workers []lastmile.WorkerID, in lastmile.Window, step time.Duration) ([]Moved, error)
	// PastTasks lists at most limit tasks that were not completed at a time, each as its last
	// event up to number seq shows it. A task without such an event is returned as it is now
	// if it has no later event either, and as unassigned otherwise.
	PastTasks(ctx context.Context, org lastmile.OrganizationID, seq int64, at time.Time, limit int) ([]PastTask, error)
	// UnloggedTasks lists at most limit tasks that were created in a window without an event,
	// in the same way as PastTasks.
	UnloggedTasks(ctx context.Context, org lastmile.OrganizationID, in lastmile.Window, limit int) ([]Task, error)
}

// ListReader is what the log of lists reads in a transaction.
type ListReader interface {
	// ChangedLists returns the first lists that have changed and are not logged yet, at most
	// as many as given, and reports whether there may be more. A list that has more than the
	// given number of tasks is returned without them.
	ChangedLists(ctx context.Context, lists, tasks int) (all []ChangedList, more bool, err error)
	// WithNewTasks returns the first organization after another, in the order of ids, whose
	// board has new tasks that are not logged yet, or "".
	WithNewTasks(ctx context.Context, after lastmile.OrganizationID) (lastmile.OrganizationID, error)
}

// ListWriter is what the log of lists reads and saves in a transaction.
type ListWriter interface {
	ListReader
	// LogList logs a list in place of older versions and removes the notes of its changes. If
	// the notes are gone, it does nothing. If body is nil or a newer version is logged, it
	// only removes the notes.
	LogList(ctx context.Context, list ChangedList, body []byte, now time.Time) error
	// TakeNewTasks returns at most limit new tasks of a board that are not logged yet, and
	// removes the notes of them. No events of the organization get numbers during the
	// transaction.
	TakeNewTasks(ctx context.Context, org lastmile.OrganizationID, limit int) ([]NewTask, error)
	// LogTasks logs new tasks of an owner. The transaction must have taken them.
	LogTasks(ctx context.Context, org lastmile.OrganizationID, owner string, body []byte, now time.Time) error
}

// ListEntry is an entry of the log of lists.
type ListEntry struct {
	Nth  int64
	Seq  int64 // the last event before it
	Name string
	Body []byte
}

// LiveReader is what streams read in a transaction.
type LiveReader interface {
	// EstimatesOf returns the estimates of the workers' tasks, at most limit in all.
	EstimatesOf(ctx context.Context, org lastmile.OrganizationID, workers []lastmile.WorkerID, limit int) (map[lastmile.WorkerID][]EstimatedTask, error)
	// EventKept returns the number of the oldest stored event, or of the next one if there is
	// none, and when event seq was stored; the zero time if it is not stored.
	EventKept(ctx context.Context, org lastmile.OrganizationID, seq int64) (oldest int64, at time.Time, err error)
	// FleetVersion returns the version of the teams, hubs and schedules of an organization,
	// which grows with each change.
	FleetVersion(ctx context.Context, org lastmile.OrganizationID) (int64, error)
	// LastEstimates returns when each worker's tasks were last estimated, and the worker's
	// delay, without the tasks.
	LastEstimates(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID]Estimated, error)
	// LastPositions returns the last position of each worker that has one.
	LastPositions(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID]Moved, error)
	// ListEntries returns the entries of the log of lists with numbers greater than after, up
	// to those that follow event seq, until they have the given number of bytes, and the
	// number of the last entry read. For a manager, it skips those of other teams.
	ListEntries(ctx context.Context, org lastmile.OrganizationID, manager lastmile.AdminID, after, seq int64, bytes int) (entries []ListEntry, last int64, err error)
	// ListsBefore returns the number of the last entry of the log of lists before an event,
	// or 0.
	ListsBefore(ctx context.Context, org lastmile.OrganizationID, seq int64) (int64, error)
	// Managed returns the teams that an administrator manages, and their workers.
	Managed(ctx context.Context, org lastmile.OrganizationID, admin lastmile.AdminID) ([]lastmile.TeamID, []lastmile.WorkerID, error)
}
