package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/taskflow"
	"dray/internal/wire"
)

// assignments serves the endpoints of the tasks assigned to workers and teams.
type assignments struct{ *Server }

// assignedQuery are the parameters of the lists of a worker's and of a team's
// tasks.
var assignedQuery = []edge.Parameter{
	{Name: "from", Description: "Unix time in milliseconds; only tasks created at or after it. Default: seven days ago", Type: "number"},
	{Name: "to", Description: "Unix time in milliseconds; only tasks created before it. Default: now", Type: "number"},
	{Name: "isPickupTask", Description: "true for pickups only, false for drop-offs only", Type: "boolean"},
	{Name: "lastId", Description: "the lastId of the previous page"},
}

func (s assignments) workerTasks(ctx context.Context, c *edge.Call) (wire.Raw[wire.TaskPage], error) {
	return s.assignedTasks(ctx, c, lastmile.WorkerContainer(lastmile.WorkerID(c.ID())))
}

func (s assignments) teamTasks(ctx context.Context, c *edge.Call) (wire.Raw[wire.TaskPage], error) {
	return s.assignedTasks(ctx, c, lastmile.TeamContainer(lastmile.TeamID(c.ID())))
}

func (s assignments) assignedTasks(ctx context.Context, c *edge.Call, in lastmile.ContainerRef) (wire.Raw[wire.TaskPage], error) {
	q := taskflow.Query{After: lastmile.TaskID(c.Query.Get("lastId"))}
	var err error
	if q.From, err = c.Time("from"); err != nil {
		return nil, err
	}
	if q.To, err = c.Time("to"); err != nil {
		return nil, err
	}
	q.Pickup = c.OptionalFlag("isPickupTask")
	docs, last, err := s.Tasks.Assigned(ctx, c.Who, in, q)
	if err != nil {
		return nil, err
	}
	return wire.NewTaskPage(docs, last)
}
