package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// FleetReader reads workers, teams and hubs.
type FleetReader interface {
	Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	// Workers lists workers, oldest first.
	Workers(ctx context.Context, org lastmile.OrganizationID, f WorkerFilter) ([]lastmile.Worker, error)
	// Schedule reads a worker's schedule, the latest day first.
	Schedule(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Schedule, error)

	Team(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error)
	// Teams lists teams, oldest first.
	Teams(ctx context.Context, org lastmile.OrganizationID, f TeamFilter) ([]lastmile.Team, error)

	Hub(ctx context.Context, org lastmile.OrganizationID, id lastmile.HubID) (lastmile.Hub, error)
	// Hubs lists hubs, oldest first.
	Hubs(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Hub, error)
}

// WorkerFilter chooses workers; zero fields choose all.
type WorkerFilter struct {
	Teams    []lastmile.TeamID // in any of these
	Phones   []lastmile.Phone  // with any of these
	OnDuty   bool              // on duty
	Located  bool              // with a known location
	Metadata lastmile.Metadata // all of these entries
}

// TeamFilter chooses teams; zero fields choose all.
type TeamFilter struct {
	Name     string
	Metadata lastmile.Metadata // all of these entries
}

// FleetWriter saves workers, teams and hubs. A worker is in a team when either
// was saved saying so: the two lists are one relation.
type FleetWriter interface {
	// SaveWorker saves a worker and the teams it is in. Whereabouts, tasks and
	// delay are saved by methods of their own.
	SaveWorker(ctx context.Context, w lastmile.Worker) error
	DeleteWorker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) error
	SaveWhereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts) error
	SaveSchedule(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, entries lastmile.Schedule) error
	SaveCredential(ctx context.Context, c Credential) error

	// SaveTeam saves a team, its workers and its managers.
	SaveTeam(ctx context.Context, t lastmile.Team) error
	DeleteTeam(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) error

	SaveHub(ctx context.Context, h lastmile.Hub) error
}

// Credential is how a worker signs in.
type Credential struct {
	Organization lastmile.OrganizationID
	Worker       lastmile.WorkerID
	Hash         string
	Temporary    bool
	Expires      time.Time // of a temporary password; zero for others
	LockedUntil  time.Time // after wrong passwords; never set for a temporary one
	Failures     int64     // wrong passwords in a row
}
