package api

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/taskflow"
)

// assignedQuery are the parameters of the lists of a worker's and of a team's
// tasks.
var assignedQuery = []parameter{
	{name: "from", about: "Unix milliseconds; made at or after this; seven days ago unless given", kind: "number"},
	{name: "to", about: "Unix milliseconds; made before this; now unless given", kind: "number"},
	{name: "isPickupTask", about: "true for pickups only, false for drop-offs only", kind: "boolean"},
	{name: "lastId", about: "the lastId of the page before"},
}

func (s *Server) workerTasks(ctx context.Context, c *call) (any, error) {
	return s.assignedTasks(ctx, c, lastmile.WorkerContainer(lastmile.WorkerID(c.id())))
}

func (s *Server) teamTasks(ctx context.Context, c *call) (any, error) {
	return s.assignedTasks(ctx, c, lastmile.TeamContainer(lastmile.TeamID(c.id())))
}

func (s *Server) assignedTasks(ctx context.Context, c *call, in lastmile.ContainerRef) (any, error) {
	q := taskflow.Query{After: lastmile.TaskID(c.query.Get("lastId"))}
	var err error
	if q.From, err = c.time("from"); err != nil {
		return nil, err
	}
	if q.To, err = c.time("to"); err != nil {
		return nil, err
	}
	q.Pickup = c.choice("isPickupTask")
	docs, last, err := s.Tasks.Assigned(ctx, c.who, in, q)
	if err != nil {
		return nil, err
	}
	return pageOf(docs, last)
}
