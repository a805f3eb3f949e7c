package dispatch

import (
	"context"
	"time"

	"dray/internal/assignment"
	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/planning"
	"dray/internal/store"
	"dray/internal/work"
)

const (
	// settle is the time after a change at which the routes of a team are planned again, so that
	// changes made together are planned together.
	settle = 5 * time.Second

	// busyPause is the time between two checks whether another dispatch of the team is active.
	busyPause = 10 * time.Second

	// MaxReplans is the maximum number of dispatches of a team by continuous
	// re-planning that are kept.
	MaxReplans = 50

	// MaxListed is the maximum number of dispatches of a team that are listed.
	MaxListed = 100
)

// Replanner plans the routes of teams again during the day, for organizations that have
// enabled it. It is notified of changes in their transactions, and starts dispatches.
type Replanner struct {
	Store ReplanStore
	Now   func() time.Time
	NewID func() string
	Wake  *events.Wake // wakes the loop that runs dispatches
}

// dispatching is the key of contexts in which a dispatch assigns tasks.
type dispatching struct{}

func asDispatch(ctx context.Context) context.Context {
	return context.WithValue(ctx, dispatching{}, true)
}

// Follow requests that routes are planned again after events that make it worthwhile, in
// their transaction. What dispatches do themselves does not.
func (rp *Replanner) Follow(ctx context.Context, tx store.Transaction, all []lastmile.Event) error {
	if ctx.Value(dispatching{}) != nil {
		return nil
	}
	seen := map[lastmile.ContainerRef]bool{}
	for _, e := range all {
		cause := assignment.ReplanCause(e)
		if cause == "" {
			continue
		}
		request, of := lastmile.Replan{Cause: string(cause)}, lastmile.ContainerRef{}
		if e.Task != nil {
			request.Task, of = e.Task.ID, e.Task.Container
		} else {
			request.Worker, of = e.Worker.ID, lastmile.WorkerContainer(e.Worker.ID)
		}
		if of.Kind == lastmile.InOrganization || seen[of] {
			continue
		}
		seen[of] = true
		if err := rp.request(ctx, tx, e.Organization, of, request); err != nil {
			return err
		}
	}
	return nil
}

// Delayed requests that routes are planned again if a worker has fallen behind, in the
// transaction that saves the worker's delay. The worker still has the previous one.
func (rp *Replanner) Delayed(ctx context.Context, tx store.Transaction, worker lastmile.Worker, delay *time.Duration) error {
	if delay == nil || worker.Delay != nil && *delay <= *worker.Delay {
		return nil
	}
	w, err := rp.Store.Join(tx)
	if err != nil {
		return err
	}
	settings, err := w.Replanning(ctx, worker.Organization)
	if err != nil || !settings.FallsBehind(worker.Delay, delay) {
		return err
	}
	request := lastmile.Replan{Cause: string(assignment.CauseLate), Worker: worker.ID, Lateness: *delay}
	return rp.request(ctx, tx, worker.Organization, lastmile.WorkerContainer(worker.ID), request)
}

func (rp *Replanner) request(ctx context.Context, tx store.Transaction, org lastmile.OrganizationID, of lastmile.ContainerRef, r lastmile.Replan) error {
	w, err := rp.Store.Join(tx)
	if err != nil {
		return err
	}
	var (
		team   lastmile.TeamID
		worker lastmile.WorkerID
	)
	if of.Kind == lastmile.InTeam {
		team = lastmile.TeamID(of.Owner)
	} else {
		worker = lastmile.WorkerID(of.Owner)
	}
	return w.RequestReplan(ctx, org, team, worker, r, rp.Now().Add(settle))
}

// Run starts the dispatch of a team whose routes are to be planned again.
func (rp *Replanner) Run(ctx context.Context, l *work.Lease) (work.End[ReplanWriter], error) {
	var (
		team   = lastmile.TeamID(l.ID)
		onDuty []lastmile.Worker
		model  lastmile.Dispatch // the dispatch whose rules to follow
	)
	dutyFilter := store.WorkerFilter{Teams: []lastmile.TeamID{team}, OnDuty: true, NoTasks: true}
	err := rp.Store.Read(ctx, func(r ReplanReader) (err error) {
		if onDuty, err = r.Workers(ctx, l.Organization, dutyFilter); err != nil {
			return err
		}
		model, _, err = r.LatestDispatch(ctx, l.Organization, team)
		return err
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, w ReplanWriter) error {
		s, err := w.ReplanSchedule(ctx, l.Organization, team)
		if err != nil {
			return err
		}
		settings, err := w.Replanning(ctx, l.Organization)
		if err != nil {
			return err
		}
		d := lastmile.Dispatch{Organization: l.Organization, Team: team}
		active, err := w.ActiveDispatch(ctx, d)
		if err != nil {
			return err
		}
		if len(onDuty) == 0 { // one who is on duty by now has not requested it again
			if onDuty, err = w.Workers(ctx, l.Organization, dutyFilter); err != nil {
				return err
			}
		}
		now := rp.Now()
		s.Due = time.Time{}
		switch wait := s.Last.Add(settings.Interval).Sub(now); {
		case !settings.Enabled || !s.Requested || len(onDuty) == 0: // one who goes on duty requests it again
			s.Requested = false
		case wait > 0 && wait <= settings.Interval: // else the clock was set back
			s.Due = now.Add(wait)
		case active != "":
			s.Due = now.Add(busyPause)
		default:
			s.Requested, s.Last = false, now
			if err := rp.start(ctx, w, d, s.Request, settings, model.Options); err != nil {
				return err
			}
		}
		return w.SaveReplanSchedule(ctx, s)
	}, nil
}

// start adds a dispatch.
func (rp *Replanner) start(ctx context.Context, w ReplanWriter, d lastmile.Dispatch, request lastmile.Replan, settings assignment.Replanning, rules lastmile.DispatchOptions) error {
	now := rp.Now()
	d.ID, d.Created, d.Status = lastmile.DispatchID(rp.NewID()), now, lastmile.DispatchPending
	d.Options = planning.ReplanOptions(rules, settings.Ahead, now)
	request.Between, request.Assign = settings.Move == assignment.MoveWorkers, settings.Assign
	d.Replan = &request
	if err := w.TrimReplans(ctx, d.Organization, d.Team, MaxReplans-1); err != nil {
		return err
	}
	if err := w.AddDispatch(ctx, d); err != nil {
		return err
	}
	w.OnCommit(rp.Wake.Signal)
	return w.AddJob(ctx, work.Job{Organization: d.Organization, ID: string(d.ID), Kind: work.Dispatch, Due: now, Created: now})
}

// Settings returns the settings of an organization for planning routes again.
func (rp *Replanner) Settings(ctx context.Context, org lastmile.OrganizationID) (s assignment.Replanning, err error) {
	err = rp.Store.Read(ctx, func(r ReplanReader) (err error) {
		if _, err = r.Organization(ctx, org); err != nil {
			return err
		}
		s, err = r.Replanning(ctx, org)
		return err
	})
	return s, err
}

// Configure changes the settings of an organization for planning routes again.
func (rp *Replanner) Configure(ctx context.Context, org lastmile.OrganizationID, c assignment.ReplanningChange) (s assignment.Replanning, err error) {
	err = rp.Store.Write(ctx, func(w ReplanWriter) error {
		if _, err = w.Organization(ctx, org); err != nil {
			return err
		}
		if s, err = w.Replanning(ctx, org); err != nil {
			return err
		}
		if err = s.Update(c); err != nil {
			return err
		}
		return w.SaveReplanning(ctx, org, s)
	})
	return s, err
}
