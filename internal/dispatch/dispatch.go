package dispatch

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/planning"
	"dray/internal/rate"
	"dray/internal/store"
	"dray/internal/work"
)

// Dispatches plans and assigns routes.
type Dispatches struct {
	Store   Store
	Lists   Lists
	Travel  Travel
	Events  *events.Log
	Now     func() time.Time
	Elapsed func() time.Duration // monotonic, since any fixed moment
	NewID   func() string
	Wake    *events.Wake  // wakes the loop that runs dispatches
	MaxTime time.Duration // limit of one optimization
	Speed   float64       // speed of simulated workers; 1 is real time; see travel.Learn
	Log     *slog.Logger
	Checks  *rate.Shares // limits concurrent requests that read all tasks of a plan; nil for no limit

	Estimates *rate.Shares // limits concurrent estimates; nil for no limit

	Processors *Processors // that plan routes
}

// StartTeam begins to dispatch the tasks of a team. Once it has returned, the dispatch
// survives crashes.
func (ds *Dispatches) StartTeam(ctx context.Context, who lastmile.Principal, team lastmile.TeamID, q planning.Request) (lastmile.CreatedRecord[lastmile.Dispatch], error) {
	return ds.start(ctx, who, lastmile.Dispatch{Team: team}, q, ds.Now())
}

// StartWorker begins to optimize the route of one worker.
func (ds *Dispatches) StartWorker(ctx context.Context, who lastmile.Principal, worker lastmile.WorkerID, q planning.Request) (lastmile.CreatedRecord[lastmile.Dispatch], error) {
	if q.AsksForTeamHub() { // a worker may be in several teams
		return lastmile.CreatedRecord[lastmile.Dispatch]{}, lastmile.Invalid("routeEnd must be %s, %s followed by the id of a hub, or null for the route of one worker", planning.EndAtWorkerAddress, planning.EndAtHub)
	}
	now := ds.Now()
	q.ScheduleWindow = &lastmile.Window{From: now, To: now.Add(planning.MaxScheduleAhead)} // all of the route
	return ds.start(ctx, who, lastmile.Dispatch{Worker: worker}, q, now)
}

func (ds *Dispatches) start(ctx context.Context, who lastmile.Principal, d lastmile.Dispatch, q planning.Request, now time.Time) (made lastmile.CreatedRecord[lastmile.Dispatch], err error) {
	if d.Options, err = q.Options(now); err != nil {
		return made, err
	}
	d.ID, d.Organization, d.Key, d.Created = lastmile.DispatchID(ds.NewID()), who.Organization, who.Author(), now
	d.Status, d.DryRun, d.Requester = lastmile.DispatchPending, q.DryRun, d.Key
	end, err := ds.Checks.Request(ctx, who.Organization)
	if err != nil {
		return made, err
	}
	defer end()
	err = ds.Store.Read(ctx, func(r Reader) error { // reject what cannot be planned before it is stored
		if err := checkNoneActive(ctx, r, d); err != nil {
			if who.Receipt != nil { // a repeated request gets the first response, from the transaction
				return nil
			}
			return err
		}
		if d.Team != "" && q.AsksForTeamHub() {
			team, err := r.Team(ctx, d.Organization, d.Team)
			if err == nil && team.Hub == "" {
				err = lastmile.Invalid("routeEnd is %s, but team %s has no hub", planning.EndAtTeamHub, d.Team)
			}
			if err != nil {
				return err
			}
		}
		situation, err := readSituation(ctx, r, d, now)
		if err == nil && d.Worker != "" {
			err = situation.CheckTakePart()
		}
		if err != nil {
			return err
		}
		_, err = planning.NewModel(situation)
		return err
	})
	if err != nil {
		return made, err
	}
	return store.Idempotent(ctx, ds.Store, who, func(w Writer) (made lastmile.CreatedRecord[lastmile.Dispatch], err error) {
		made.Record = d
		if err := checkNoneActive(ctx, w, d); err != nil {
			return made, err
		}
		if err := w.AddDispatch(ctx, d); err != nil {
			return made, err
		}
		return made, ds.addJob(ctx, w, d, now)
	})
}

func (ds *Dispatches) addJob(ctx context.Context, w Writer, d lastmile.Dispatch, now time.Time) error {
	w.OnCommit(ds.Wake.Signal)
	return w.AddJob(ctx, work.Job{Organization: d.Organization, ID: string(d.ID), Kind: work.Dispatch, Due: now, Created: now})
}

// checkNoneActive rejects a dispatch while another of the same team or worker is active.
func checkNoneActive(ctx context.Context, r Reader, d lastmile.Dispatch) error {
	active, err := r.ActiveDispatch(ctx, d)
	if err != nil || active == "" {
		return err
	}
	if d.Team != "" {
		return lastmile.Conflict("auto-dispatch is already in progress for this team: %s", active)
	}
	return lastmile.Conflict("optimization is already in progress for this worker: %s", active)
}

// Dispatch returns a dispatch. If it is a plan that can be applied, it also returns what
// has changed since the plan was made.
func (ds *Dispatches) Dispatch(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID) (d lastmile.Dispatch, changes []planning.Change, err error) {
	err = ds.Store.Read(ctx, func(r Reader) (err error) {
		if d, err = r.Dispatch(ctx, who.Organization, id); err != nil || d.Status != lastmile.DispatchPlanned {
			return err
		}
		if meter := lastmile.MeterOf(ctx); meter != nil { // the tasks are compared and not kept
			if err := meter.Count(comparedBytes * len(d.Tasks)); err != nil {
				return err
			}
		}
		changes, err = changesSince(lastmile.WithMeter(ctx, nil), r, d, ds.Now())
		return err
	})
	return d, changes, err
}

// comparedBytes is the memory counted for each task that is compared with a plan. The
// tasks themselves are not kept; counting them limits callers that often read large
// plans.
const comparedBytes = 1 << 10

// Dispatches returns the latest dispatches of a team as JSON, without their plans, newest
// first.
func (ds *Dispatches) Dispatches(ctx context.Context, who lastmile.Principal, team lastmile.TeamID) (docs [][]byte, err error) {
	err = ds.Store.Read(ctx, func(r Reader) (err error) {
		if _, err = r.Team(ctx, who.Organization, team); err != nil {
			return err
		}
		docs, err = r.ShowDispatches(ctx, who.Organization, team, MaxListed)
		return err
	})
	return docs, err
}

// Stop ends the search for better routes of a pending or running dispatch. The best plan
// so far is applied, or only saved if it is a dry run.
func (ds *Dispatches) Stop(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID) (lastmile.Dispatch, error) {
	return ds.change(ctx, who, id, func(d lastmile.Dispatch, _ Reader) error {
		if d.Status != lastmile.DispatchPending && d.Status != lastmile.DispatchRunning {
			return lastmile.Conflict("dispatch %s is %s and cannot be stopped", id, d.Status)
		}
		return nil
	}, func(w Writer, _ *lastmile.Dispatch) error { return w.StopDispatch(ctx, who.Organization, id) })
}

// Apply assigns tasks as a dry run has planned, if nothing has changed since.
func (ds *Dispatches) Apply(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID) (lastmile.Dispatch, error) {
	return ds.change(ctx, who, id, func(d lastmile.Dispatch, r Reader) error {
		if d.Status != lastmile.DispatchPlanned {
			return lastmile.Conflict("dispatch %s is %s: only the plan of a dry run can be applied, and only once", id, d.Status)
		}
		if err := checkNoneActive(ctx, r, d); err != nil {
			return err
		}
		changes, err := changesSince(ctx, r, d, ds.Now())
		if err == nil && len(changes) > 0 {
			err = lastmile.Conflict("the plan of dispatch %s does not fit any more: make a new one", id).Because("%s", inWords(changes))
		}
		return err
	}, func(w Writer, d *lastmile.Dispatch) error {
		d.Status, d.Ended, d.Key = lastmile.DispatchApplying, time.Time{}, who.Author()
		if err := w.SaveDispatch(ctx, *d); err != nil {
			return err
		}
		return ds.addJob(ctx, w, *d, ds.Now())
	})
}

// Discard gives up the plan of a dry run: it cannot be applied any more.
func (ds *Dispatches) Discard(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID) (lastmile.Dispatch, error) {
	return ds.change(ctx, who, id, func(d lastmile.Dispatch, _ Reader) error {
		if d.Status != lastmile.DispatchPlanned {
			return lastmile.Conflict("dispatch %s is %s: only the plan of a dry run that was not applied can be discarded", id, d.Status)
		}
		return nil
	}, func(w Writer, d *lastmile.Dispatch) error {
		d.Status = lastmile.DispatchDiscarded
		return w.SaveDispatch(ctx, *d)
	})
}

// Undone marks an applied dispatch as undone. It moves no tasks: the client moves them
// back first, because it knows which were started or moved since.
func (ds *Dispatches) Undone(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID) (lastmile.Dispatch, error) {
	return ds.change(ctx, who, id, func(d lastmile.Dispatch, r Reader) error {
		if d.Status != lastmile.DispatchSucceeded {
			return lastmile.Conflict("dispatch %s is %s: only one whose plan was applied can be undone", id, d.Status)
		}
		if !d.Undone.IsZero() {
			return nil
		}
		for _, route := range d.Plan.Routes {
			if applied, err := stillApplied(ctx, r, d.Organization, route); err != nil {
				return err
			} else if applied {
				return lastmile.Conflict("dispatch %s is not undone: tasks of worker %s are still as the dispatch assigned or ordered them, or have ended", id, route.Worker)
			}
		}
		return nil
	}, func(w Writer, d *lastmile.Dispatch) error {
		if !d.Undone.IsZero() {
			return nil
		}
		d.Undone = ds.Now()
		return w.SaveDispatch(ctx, *d)
	})
}

func inWords(changes []planning.Change) string {
	words := make([]string, len(changes))
	for i, c := range changes {
		words[i] = c.String()
	}
	return strings.Join(words, "; ")
}

// change changes a dispatch if check returns no error. check runs before the transaction
// and again in it, so that rejected requests do not block other writers.
func (ds *Dispatches) change(ctx context.Context, who lastmile.Principal, id lastmile.DispatchID, check func(lastmile.Dispatch, Reader) error, change func(Writer, *lastmile.Dispatch) error) (d lastmile.Dispatch, err error) {
	checked := func(r Reader) (err error) {
		if d, err = r.Dispatch(ctx, who.Organization, id); err != nil {
			return err
		}
		return check(d, r)
	}
	end, err := ds.Checks.Request(ctx, who.Organization)
	if err != nil {
		return d, err
	}
	defer end()
	ctx = store.Remember(ctx) // the transaction decodes only tasks that have changed
	rejected := ds.Store.Read(ctx, checked)
	if rejected != nil && who.Receipt == nil {
		return d, rejected
	}
	return store.Idempotent(ctx, ds.Store, who, func(w Writer) (lastmile.Dispatch, error) {
		if rejected != nil { // not a repeated request: Idempotent would have returned its first response
			return d, rejected
		}
		if err := checked(w); err != nil {
			return d, err
		}
		err := change(w, &d)
		return d, err
	})
}
