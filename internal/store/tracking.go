package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
)

// Watch says when a worker who has something to do is looked at next. There is
// one for each worker who ever had; whatever changes the worker's list, or a
// task in it, makes it due.
type Watch struct {
	Organization lastmile.OrganizationID
	Worker       lastmile.WorkerID
	Refresh      time.Time       // when all estimates are made anew; zero: when something changes
	Judge        time.Time       // when the active task is held against thresholds; zero: when the worker moves
	Judged       time.Time       // when it last was
	JudgedTask   lastmile.TaskID // which it was
	Changes      int64           // grows with each change of the worker's list
	Claim        string          // of who looks
}

// Next is when the worker is looked at next; zero when something changes.
func (w Watch) Next() time.Time {
	if w.Judge.IsZero() || !w.Refresh.IsZero() && w.Refresh.Before(w.Judge) {
		return w.Refresh
	}
	return w.Judge
}

// Foreseen is what is estimated of a task.
type Foreseen struct {
	Task      lastmile.TaskID
	State     lastmile.TaskState // the state it was estimated for
	Estimates lastmile.Estimates
}

// TrackingReader reads where workers are and who is to be looked at.
type TrackingReader interface {
	// Whereabouts reads where a worker is, and nothing else.
	Whereabouts(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Whereabouts, error)
	// Tracked reads a worker without teams and list, but with the active task:
	// what it costs does not grow with either.
	Tracked(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	// Positions lists where a worker was since a time, the newest first, up to
	// limit.
	Positions(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, since time.Time, limit int) ([]lastmile.Position, error)
	// DueWatches lists the workers of all organizations to be looked at, the
	// longest due first.
	DueWatches(ctx context.Context, now time.Time, limit int) ([]Watch, error)
	// HeldWatch reads a watch and tells whether the claim on it is still there.
	HeldWatch(ctx context.Context, w Watch) (Watch, bool, error)
	// TrackerByHash finds whose positions a tracker app reports by the hash of
	// its token, or lastmile.Unauthenticated.
	TrackerByHash(ctx context.Context, hash string) (lastmile.Session, error)
	// Fired lists by what name a task, or a route plan, fired; see Fire.
	Fired(ctx context.Context, org lastmile.OrganizationID, id string) ([]string, error)
	// FiredAmong returns which of some tasks fired under a name.
	FiredAmong(ctx context.Context, org lastmile.OrganizationID, name string, tasks []lastmile.TaskID) ([]lastmile.TaskID, error)
}

// TrackingWriter saves what is foreseen of workers and their tasks.
type TrackingWriter interface {
	// SaveSighting saves where a worker is and when the worker was seen. A
	// worker who has something to do is then looked at, ThresholdInterval after the last
	// time at the earliest.
	SaveSighting(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, at lastmile.Whereabouts, now time.Time) error
	// Watch makes a worker be looked at at once.
	Watch(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID, now time.Time) error
	// ClaimWatch lets nobody else look at a worker until a time. It tells
	// whether it did: not if somebody else was faster.
	ClaimWatch(ctx context.Context, w Watch, now, until time.Time) (bool, error)
	// ReleaseWatches ends all claims.
	ReleaseWatches(ctx context.Context) error
	// SaveWatch ends a claim, if it is still there, and says when to look next.
	SaveWatch(ctx context.Context, w Watch) error
	// SaveForeseen saves the estimates of a worker's tasks, of those that the
	// worker still has in the same state, and the worker's delay.
	SaveForeseen(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, foreseen []Foreseen, delay *time.Duration) error
	// SaveTracker saves the token of a worker's tracker app, who has none.
	SaveTracker(ctx context.Context, s lastmile.Session) error
	DeleteTracker(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID) error
	// Fire notes that a task, or a route plan, fired: for a webhook, by its id,
	// or for everybody, by another name. It tells whether it is the first time.
	Fire(ctx context.Context, org lastmile.OrganizationID, name, id string, at time.Time) (bool, error)
}
