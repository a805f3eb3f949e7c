package api

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/taskflow"
	"dray/internal/wire"
)

func (s *Server) routePlanRoutes() []route {
	list := []parameter{
		{name: "workerId", about: "id of the worker"},
		{name: "startTimeFrom", about: "Unix milliseconds; startTime at or after this", kind: "number"},
		{name: "startTimeTo", about: "Unix milliseconds; startTime before this", kind: "number"},
		{name: "createdTimeFrom", about: "Unix milliseconds; made at or after this", kind: "number"},
		{name: "createdTimeTo", about: "Unix milliseconds; made before this", kind: "number"},
		{name: "hasTasks", about: "true for those with tasks, false for those without", kind: "boolean"},
		{name: "limit", about: "how many at most; 500 unless given, and never more", kind: "number"},
		{name: "lastId", about: "the lastId of the page before"},
	}
	return tagged("Route plans",
		post("/routePlans", "Create a route plan", wire.RoutePlan{}, s.createRoutePlan),
		get("/routePlans", "List route plans", []wire.RoutePlan{}, s.listRoutePlans, list...),
		get("/routePlans/all", "Page through route plans", wire.RoutePlanPage{}, s.pageRoutePlans, list...),
		get("/routePlans/{id}", "Read a route plan", wire.RoutePlan{}, s.showRoutePlan),
		put("/routePlans/{id}", "Update a route plan", wire.RoutePlan{}, s.updateRoutePlan),
		put("/routePlans/{id}/tasks", "Add tasks to a route plan", wire.RoutePlan{}, s.addToRoutePlan),
		remove("/routePlans/{id}", "Delete a route plan", s.deleteRoutePlan),
	)
}

func (s *Server) createRoutePlan(ctx context.Context, c *call, body wire.RoutePlanBody) (any, error) {
	return s.Tasks.CreateRoutePlan(ctx, c.who, body.Change())
}

func (s *Server) listRoutePlans(ctx context.Context, c *call) (any, error) {
	plans, _, err := s.routePlans(ctx, c)
	return plans, err
}

func (s *Server) pageRoutePlans(ctx context.Context, c *call) (any, error) {
	plans, last, err := s.routePlans(ctx, c)
	return wire.NewRoutePlanPage(plans, last), err
}

func (s *Server) routePlans(ctx context.Context, c *call) ([]lastmile.RoutePlan, lastmile.RoutePlanID, error) {
	q := taskflow.RoutePlanQuery{
		Worker: lastmile.WorkerID(c.query.Get("workerId")), After: lastmile.RoutePlanID(c.query.Get("lastId")),
		Limit: taskflow.MaxRoutePlans,
	}
	for name, at := range map[string]*time.Time{
		"startTimeFrom": &q.StartFrom, "startTimeTo": &q.StartTo, "createdTimeFrom": &q.CreatedFrom, "createdTimeTo": &q.CreatedTo,
	} {
		var err error
		if *at, err = c.time(name); err != nil {
			return nil, "", err
		}
	}
	most, sent, err := c.number("limit")
	if err != nil {
		return nil, "", err
	}
	if sent {
		q.Limit = int(min(most, taskflow.MaxRoutePlans+1))
	}
	q.HasTasks = c.choice("hasTasks")
	return s.Tasks.RoutePlans(ctx, c.who, q)
}

func (s *Server) showRoutePlan(ctx context.Context, c *call) (any, error) {
	return s.Tasks.RoutePlan(ctx, c.who, lastmile.RoutePlanID(c.id()))
}

// updateRoutePlan changes a plan, or adds to it what is sent alone as tasks:
// that is how a published client adds tasks.
func (s *Server) updateRoutePlan(ctx context.Context, c *call, body wire.RoutePlanBody) (any, error) {
	id := lastmile.RoutePlanID(c.id())
	if tasks, only := body.Added(); only {
		return s.Tasks.AddToRoutePlan(ctx, c.who, id, tasks)
	}
	return s.Tasks.UpdateRoutePlan(ctx, c.who, id, body.Change())
}

func (s *Server) addToRoutePlan(ctx context.Context, c *call, body wire.RoutePlanTasksBody) (any, error) {
	tasks, err := body.Added()
	if err != nil {
		return nil, err
	}
	return s.Tasks.AddToRoutePlan(ctx, c.who, lastmile.RoutePlanID(c.id()), tasks)
}

func (s *Server) deleteRoutePlan(ctx context.Context, c *call) (any, error) {
	return nil, s.Tasks.DeleteRoutePlan(ctx, c.who, lastmile.RoutePlanID(c.id()))
}
