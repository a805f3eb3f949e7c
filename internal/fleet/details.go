package fleet

import (
	"context"

	"dray/internal/analytics"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// WorkerDetails returns a worker, with an analysis of the work in a window if
// there is one.
func (f *Fleet) WorkerDetails(ctx context.Context, who lastmile.Principal, id lastmile.WorkerID, in *lastmile.Window) (d analytics.WorkerDetails, err error) {
	err = f.Store.Read(ctx, func(r Reader) error {
		worker, err := r.WholeWorker(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		d = analytics.WorkerDetails{Worker: worker}
		var active []lastmile.Task
		if worker.ActiveTask != "" {
			task, err := r.Task(ctx, who.Organization, worker.ActiveTask)
			if err != nil {
				return err
			}
			d.ETA, active = travel.TimeToTask(worker, task), []lastmile.Task{task}
		}
		if in == nil {
			return nil
		}
		duty, err := r.Duty(ctx, who.Organization, id, *in)
		if err != nil {
			return err
		}
		done, err := r.CompletedBy(ctx, who.Organization, id, *in)
		if err != nil {
			return err
		}
		analytics := analytics.Summarize(*in, duty, append(done, active...))
		d.Analytics = &analytics
		return nil
	})
	return d, err
}

// Estimate returns which worker of a team could do a pickup, a drop-off or both
// first, and when. The team needs a hub and a worker on duty.
func (f *Fleet) Estimate(ctx context.Context, who lastmile.Principal, id lastmile.TeamID, q travel.EstimateRequest) (travel.Estimate, error) {
	if err := q.Check(); err != nil {
		return travel.Estimate{}, err
	}
	members, err := f.members(ctx, who, id, &q)
	if err != nil {
		return travel.Estimate{}, err
	}
	for i := range members {
		m := &members[i]
		if m.Legs, err = f.Travel.Legs(ctx, m.Worker.TravelsBy(), m.Waypoints(q)); err != nil {
			return travel.Estimate{}, err
		}
	}
	best, found := travel.EstimateTeam(members, q, f.Now())
	if !found {
		return best, lastmile.NotFound("worker on duty of team", string(id)).Because("no worker of the team could do it")
	}
	return best, nil
}

// members returns the workers of a team who are on duty, with their tasks. It adds
// the organization's experience to the request.
func (f *Fleet) members(ctx context.Context, who lastmile.Principal, id lastmile.TeamID, q *travel.EstimateRequest) (members []travel.TeamMember, err error) {
	err = f.Store.Read(ctx, func(r Reader) error {
		team, err := r.Team(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		if team.Hub == "" {
			return lastmile.NotFound("hub of team", string(id)).Because("an estimate needs a team with a hub")
		}
		workers, err := r.Workers(ctx, who.Organization, store.WorkerFilter{Teams: []lastmile.TeamID{id}, OnDuty: true, Located: true})
		if err != nil {
			return err
		}
		members = members[:0]
		for _, worker := range workers {
			tasks, err := r.TasksOf(ctx, who.Organization, worker.Route())
			if err != nil {
				return err
			}
			members = append(members, travel.TeamMember{Itinerary: travel.Itinerary{Worker: worker, Tasks: tasks}})
		}
		trips, err := r.Trips(ctx, who.Organization, travel.LearnedTrips)
		q.Experience = travel.Learn(trips, f.Speed)
		return err
	})
	return members, err
}
