package fleet

import (
	"context"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
	"dray/internal/work"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	// CheckMembers returns the id of the first member that the organization does not have,
	// and the error for it.
	CheckMembers(ctx context.Context, org lastmile.OrganizationID, m store.Members) (id string, err error)
	// CompletedBy returns the tasks that a worker completed in a window.
	CompletedBy(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, in lastmile.Window) ([]lastmile.Task, error)
	// Destination returns a destination.
	Destination(ctx context.Context, org lastmile.OrganizationID, id lastmile.DestinationID) (lastmile.Destination, error)
	// Duty returns when a worker was on duty.
	Duty(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, in lastmile.Window) (lastmile.Duty, error)
	// Hub returns a hub.
	Hub(ctx context.Context, org lastmile.OrganizationID, id lastmile.HubID) (lastmile.Hub, error)
	// Hubs lists hubs, oldest first.
	Hubs(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Hub, error)
	// Organization returns any organization, not only the caller's.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// Schedule reads a worker's schedule, the latest day first.
	Schedule(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Schedule, error)
	// Settings returns the settings of an organization.
	Settings(ctx context.Context, org lastmile.OrganizationID) (lastmile.Settings, error)
	// Task returns a task.
	Task(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) (lastmile.Task, error)
	// Team returns a team without its tasks.
	Team(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error)
	// Teams lists teams, oldest first.
	Teams(ctx context.Context, org lastmile.OrganizationID, f store.TeamFilter) ([]lastmile.Team, error)
	// WholeTeam returns a team with its tasks.
	WholeTeam(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error)
	// WholeWorker returns a worker with all tasks.
	WholeWorker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	// Worker returns a worker with the first lastmile.MaxEventTasks tasks.
	Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	// Workers lists workers, oldest first.
	Workers(ctx context.Context, org lastmile.OrganizationID, f store.WorkerFilter) ([]lastmile.Worker, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	store.Receipts
	events.Transaction
	// AddJob adds a job.
	AddJob(ctx context.Context, j work.Job) error
	// DeleteSessions ends the sessions of a worker except one, given by the hash of
	// its token; empty to end all.
	DeleteSessions(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, except string) error
	// DeleteTeam deletes a team.
	DeleteTeam(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) error
	// DeleteTracker deletes the token of a worker's tracker app.
	DeleteTracker(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) error
	// DeleteImage deletes an upload that is stored in the database.
	DeleteImage(ctx context.Context, org lastmile.OrganizationID, id lastmile.UploadID) error
	// DeleteWorker deletes a worker, but not the worker's positions.
	DeleteWorker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) error
	// RaiseKeyGeneration makes every node authenticate the followers of streams again.
	RaiseKeyGeneration(ctx context.Context) error
	// ResetSignInAllowances discards the failed attempts to sign in to an account.
	ResetSignInAllowances(ctx context.Context, account lastmile.Phone) error
	// SaveCredential saves how a worker signs in.
	SaveCredential(ctx context.Context, c store.Credential) error
	// SaveDestination saves a new destination.
	SaveDestination(ctx context.Context, d lastmile.Destination) error
	// SaveHub saves a hub.
	SaveHub(ctx context.Context, h lastmile.Hub) error
	// SaveMessage saves a new text message, unless it is about a task and its
	// recipient has had one of the same kind about that task.
	SaveMessage(ctx context.Context, m textmessage.Message) error
	// SaveSchedule saves the schedule of a worker.
	SaveSchedule(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, entries lastmile.Schedule) error
	// SaveTeam saves a team, its workers and its managers.
	SaveTeam(ctx context.Context, t lastmile.Team) error
	// SaveUpload saves the record of an upload.
	SaveUpload(ctx context.Context, u lastmile.Upload) error
	// SaveWhereabouts saves a worker's duty status and location.
	SaveWhereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts) error
	// SaveWorker saves a worker and the teams it is in. Whereabouts, tasks and
	// delay are saved by other methods.
	SaveWorker(ctx context.Context, w lastmile.Worker) error
	// ScheduleEstimate makes a worker due for a refresh of all estimates.
	ScheduleEstimate(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, now time.Time) error
}
