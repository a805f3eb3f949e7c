package api

import (
	"context"
	"time"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/taskflow"
	"dray/internal/wire"
)

// routePlans serves the endpoints of route plans.
type routePlans struct{ *Server }

func (s routePlans) routes() []edge.Route {
	list := []edge.Parameter{
		{Name: "workerId", Description: "ID of the worker"},
		{Name: "startTimeFrom", Description: "Unix time in milliseconds; only plans with startTime at or after it", Type: "number"},
		{Name: "startTimeTo", Description: "Unix time in milliseconds; only plans with startTime before it", Type: "number"},
		{Name: "createdTimeFrom", Description: "Unix time in milliseconds; only plans created at or after it", Type: "number"},
		{Name: "createdTimeTo", Description: "Unix time in milliseconds; only plans created before it", Type: "number"},
		{Name: "hasTasks", Description: "true for plans with tasks, false for plans without", Type: "boolean"},
		{Name: "limit", Description: "maximum number of plans to return. Default and maximum: 500", Type: "number"},
		{Name: "lastId", Description: "lastId of the previous page"},
	}
	return edge.Tagged("Route plans",
		edge.Create("/routePlans", "Create a route plan", s.createRoutePlan, wire.NewRoutePlan).
			Describe("The tasks are appended, in the order of the plan, to the tasks of the worker or, if there is no worker, of the team. If there is neither, they stay in their containers.").
			Example(`{
				"name": "Morning round",
				"startTime": 1894021200000,
				"endTime": 1894035600000,
				"color": "#2F80ED",
				"vehicleType": "CAR",
				"worker": "W4nB7xKq9LsT2vDz6MfR3hYc",
				"startAt": "HUB",
				"startingHubId": "H7jK3lZx9CvB5nMq2WsD8fRt",
				"endAt": "WORKER_ADDRESS",
				"timezone": "America/New_York",
				"tasks": ["K2dF8gHj5LzX9cVb7NmQ4wRt"]
			}`),
		edge.Get("/routePlans", "List route plans", s.listRoutePlans, list...),
		edge.Get("/routePlans/all", "Page through route plans", s.pageRoutePlans, list...).
			Describe("Returns the same list as GET /routePlans, with the lastId that requests the next page."),
		edge.Get("/routePlans/{id}", "Read a route plan", s.showRoutePlan),
		edge.Put("/routePlans/{id}", "Update a route plan", s.updateRoutePlan).
			Describe("Only the fields that are sent change; a plan can be updated in any state. If tasks is sent with other fields, it replaces the list; if it is the only field, the tasks are added to the list. Tasks that are started or completed cannot be removed from the plan.").
			Example(`{"name": "Late morning round", "worker": null}`),
		edge.Put("/routePlans/{id}/tasks", "Add tasks to a route plan", s.addToRoutePlan).
			Describe("The tasks are added at the end. Tasks that are already in the plan keep their position.").
			Example(`{"tasks": ["K2dF8gHj5LzX9cVb7NmQ4wRt"]}`),
		edge.Delete("/routePlans/{id}", "Delete a route plan", s.deleteRoutePlan).
			Describe("The tasks are not deleted and stay in their containers."),
	)
}

func (s routePlans) createRoutePlan(ctx context.Context, c *edge.Call, body wire.NewRoutePlanBody) (lastmile.RoutePlan, error) {
	return s.RoutePlans.Create(ctx, c.Who, body.Change())
}

func (s routePlans) listRoutePlans(ctx context.Context, c *edge.Call) ([]wire.RoutePlan, error) {
	plans, _, err := s.routePlans(ctx, c)
	return wire.Each(plans, wire.NewRoutePlan), err
}

func (s routePlans) pageRoutePlans(ctx context.Context, c *edge.Call) (wire.RoutePlanPage, error) {
	plans, last, err := s.routePlans(ctx, c)
	return wire.NewRoutePlanPage(plans, last), err
}

func (s routePlans) routePlans(ctx context.Context, c *edge.Call) ([]lastmile.RoutePlan, lastmile.RoutePlanID, error) {
	q := taskflow.RoutePlanQuery{
		Worker: lastmile.WorkerID(c.Query.Get("workerId")), After: lastmile.RoutePlanID(c.Query.Get("lastId")),
		Limit: taskflow.MaxRoutePlans,
	}
	if err := c.Times(map[string]*time.Time{
		"startTimeFrom": &q.StartFrom, "startTimeTo": &q.StartTo, "createdTimeFrom": &q.CreatedFrom, "createdTimeTo": &q.CreatedTo,
	}); err != nil {
		return nil, "", err
	}
	most, sent, err := c.Number("limit")
	if err != nil {
		return nil, "", err
	}
	if sent {
		q.Limit = int(min(most, taskflow.MaxRoutePlans+1))
	}
	q.HasTasks = c.OptionalFlag("hasTasks")
	return s.RoutePlans.List(ctx, c.Who, q)
}

func (s routePlans) showRoutePlan(ctx context.Context, c *edge.Call) (wire.RoutePlan, error) {
	plan, err := s.RoutePlans.Read(ctx, c.Who, lastmile.RoutePlanID(c.ID()))
	return wire.NewRoutePlan(plan), err
}

// updateRoutePlan changes a plan. If only tasks are sent, it adds them to the plan:
// that is how a published client adds tasks.
func (s routePlans) updateRoutePlan(ctx context.Context, c *edge.Call, body wire.RoutePlanBody) (wire.RoutePlan, error) {
	id := lastmile.RoutePlanID(c.ID())
	if tasks, only := body.Added(); only {
		plan, err := s.RoutePlans.AddTasks(ctx, c.Who, id, tasks)
		return wire.NewRoutePlan(plan), err
	}
	plan, err := s.RoutePlans.Update(ctx, c.Who, id, body.Change())
	return wire.NewRoutePlan(plan), err
}

func (s routePlans) addToRoutePlan(ctx context.Context, c *edge.Call, body wire.RoutePlanTasksBody) (wire.RoutePlan, error) {
	tasks, err := body.Added()
	if err != nil {
		return wire.RoutePlan{}, err
	}
	plan, err := s.RoutePlans.AddTasks(ctx, c.Who, lastmile.RoutePlanID(c.ID()), tasks)
	return wire.NewRoutePlan(plan), err
}

func (s routePlans) deleteRoutePlan(ctx context.Context, c *edge.Call) error {
	return s.RoutePlans.Delete(ctx, c.Who, lastmile.RoutePlanID(c.ID()))
}
