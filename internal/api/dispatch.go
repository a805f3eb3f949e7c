package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// dispatches serves the endpoints of dispatches.
type dispatches struct{ *Server }

func (s dispatches) routes() []edge.Route {
	return edge.Tagged("Dispatch",
		edge.Create("/teams/{id}/dispatch", "Dispatch the tasks of a team", s.dispatchTeam, wire.NewDispatchStarted).
			Describe("Assigns the tasks of the team to its workers on duty, along optimized routes. Tasks that a worker already has stay with that worker; their order may change. The response is sent when the dispatch is stored; the trigger autoDispatchJobCompleted (18) reports its end. Only one dispatch of a team can be active: a second one is rejected with 2218. Workers, hubs and tasks must be within 200 miles of one another.").
			Example(`{"maxTasksPerRoute": 50, "serviceTime": 3, "maxAllowedDelay": 15}`),
		edge.Create("/workers/{id}/dispatch", "Optimize the route of a worker", s.dispatchWorker, wire.NewDispatchStarted).
			Describe("Puts the tasks of one worker into the best order.").
			Example(`{"dryRun": true}`),
		edge.Get("/dispatches/{id}", "Read a dispatch", s.showDispatch).
			Describe("While the routes are planned, progress shows the best plan so far. Afterwards, plan has the routes with arrival times, and for each task that was left out the reasons for each worker."),
		edge.Create("/dispatches/{id}/stop", "Stop planning", s.stopDispatch, wire.NewDispatch).
			Describe("Ends the optimization within about a second. The best plan so far is used.").
			Example(`{}`),
		edge.Create("/dispatches/{id}/apply", "Apply the plan of a dry run", s.applyDispatch, wire.NewDispatch).
			Describe("Assigns the tasks as planned. If workers or tasks have changed since, nothing is assigned, and the error 2218 says what has changed.").
			Example(`{}`),
	)
}

func (s dispatches) dispatchTeam(ctx context.Context, c *edge.Call, body wire.DispatchBody) (lastmile.CreatedRecord[lastmile.Dispatch], error) {
	return s.Dispatches.StartTeam(ctx, c.Who, lastmile.TeamID(c.ID()), body.Domain())
}

func (s dispatches) dispatchWorker(ctx context.Context, c *edge.Call, body wire.RouteBody) (lastmile.CreatedRecord[lastmile.Dispatch], error) {
	return s.Dispatches.StartWorker(ctx, c.Who, lastmile.WorkerID(c.ID()), body.Domain())
}

func (s dispatches) showDispatch(ctx context.Context, c *edge.Call) (wire.ShownDispatch, error) {
	dispatch, changes, err := s.Dispatches.Dispatch(ctx, c.Who, lastmile.DispatchID(c.ID()))
	return wire.NewShownDispatch(dispatch, changes), err
}

func (s dispatches) stopDispatch(ctx context.Context, c *edge.Call, _ wire.NoBody) (lastmile.Dispatch, error) {
	return s.Dispatches.Stop(ctx, c.Who, lastmile.DispatchID(c.ID()))
}

func (s dispatches) applyDispatch(ctx context.Context, c *edge.Call, _ wire.NoBody) (lastmile.Dispatch, error) {
	return s.Dispatches.Apply(ctx, c.Who, lastmile.DispatchID(c.ID()))
}
