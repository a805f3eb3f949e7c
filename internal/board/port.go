package board

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	// BoardTasks lists tasks of a day, up to limit. If there are more, it lists those
	// whose windows end first.
	BoardTasks(ctx context.Context, org lastmile.OrganizationID, f Filter, limit int) ([]Task, error)
	// CheckTeam returns an error if the organization does not have a team.
	CheckTeam(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) error
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
