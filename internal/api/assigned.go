package api

import (
	"context"
	"strings"

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
	if q.Pickup, err = c.choice("isPickupTask"); err != nil {
		return nil, err
	}
	docs, last, err := s.Tasks.Assigned(ctx, c.who, in, q)
	if err != nil {
		return nil, err
	}
	return pageOf(docs, last)
}

// choice is a boolean query parameter of three meanings; nil when it was not
// sent.
func (c *call) choice(name string) (*bool, error) {
	text, chosen := c.query.Get(name), c.flag(name)
	switch {
	case text == "":
		return nil, nil
	case !chosen && !strings.EqualFold(text, "false") && text != "0":
		return nil, lastmile.Malformed("%s must be true or false, not %q", name, clip(text))
	}
	return &chosen, nil
}
