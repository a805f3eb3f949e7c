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
			Describe("While the routes are planned, progress shows the best plan so far. Afterwards, plan has the routes with arrival times, and for each task that was left out the reasons for each worker. For the plan of a dry run, before has the routes as they were, and changes says what has changed since.").Lists(),
		edge.Create("/dispatches/{id}/stop", "Stop planning", s.stopDispatch, wire.NewDispatch).
			Describe("Ends the optimization within about a second. The best plan so far is used.").
			Example(`{}`),
		edge.Create("/dispatches/{id}/apply", "Apply the plan of a dry run", s.applyDispatch, wire.NewDispatch).
			Describe("Assigns the tasks as planned. If workers or tasks have changed since, nothing is assigned, and the error 2218 says what has changed.").
			Example(`{}`),
		edge.Create("/dispatches/{id}/discard", "Discard the plan of a dry run", s.discardDispatch, wire.NewDispatch).
			Describe("The plan cannot be applied any more. The dispatch stays readable, with the status discarded.").
			Example(`{}`),
		edge.Create("/dispatches/{id}/undone", "Mark a dispatch as undone", s.undoneDispatch, wire.NewDispatch).
			Describe("For clients that have moved the tasks of an applied plan back to where they were: undoTime says so afterwards, also in the list of dispatches. It moves no tasks. While tasks are on a list, or in an order, because of the plan, or if some that it moved have ended, it is rejected with 2218.").
			Example(`{}`),
		edge.Get("/teams/{id}/dispatches", "List the dispatches of a team", s.listDispatches).
			Describe("Returns the latest dispatches of the team without their plans, the latest first, at most 100. Dispatches are kept for 30 days, and of those by continuous re-planning only the last 50 of a team."),
		edge.Get("/tasks/{id}/pin", "Read how a task is pinned", s.showPin),
		edge.Put("/tasks/{id}/pin", "Pin a task", s.pin).
			Describe("Keeps an assigned task with its worker, or also in its position in the worker's list, whenever routes are planned. Requests that move the task still do. The pin ends when the task gets another worker or none, and when it is completed.").
			Example(`{"position": true}`),
		edge.Delete("/tasks/{id}/pin", "Remove the pin of a task", s.unpin),
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

func (s dispatches) discardDispatch(ctx context.Context, c *edge.Call, _ wire.NoBody) (lastmile.Dispatch, error) {
	return s.Dispatches.Discard(ctx, c.Who, lastmile.DispatchID(c.ID()))
}

func (s dispatches) undoneDispatch(ctx context.Context, c *edge.Call, _ wire.NoBody) (lastmile.Dispatch, error) {
	return s.Dispatches.Undone(ctx, c.Who, lastmile.DispatchID(c.ID()))
}

func (s dispatches) listDispatches(ctx context.Context, c *edge.Call) (wire.Raw[[]wire.DispatchSummary], error) {
	docs, err := s.Dispatches.Dispatches(ctx, c.Who, lastmile.TeamID(c.ID()))
	return wire.RawList[wire.DispatchSummary](docs), err
}

func (s dispatches) showPin(ctx context.Context, c *edge.Call) (wire.TaskPin, error) {
	pinned, err := s.Dispatches.Pinned(ctx, c.Who, lastmile.TaskID(c.ID()))
	return wire.NewTaskPin(pinned), err
}

func (s dispatches) pin(ctx context.Context, c *edge.Call, body wire.PinBody) (wire.TaskPin, error) {
	pinned, err := s.Dispatches.Pin(ctx, c.Who, lastmile.TaskID(c.ID()), body.Domain())
	return wire.NewTaskPin(pinned), err
}

func (s dispatches) unpin(ctx context.Context, c *edge.Call) error {
	return s.Dispatches.Unpin(ctx, c.Who, lastmile.TaskID(c.ID()))
}
