package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// containers serves the endpoints of containers.
type containers struct{ *Server }

func (s containers) routes() []edge.Route {
	return edge.Tagged("Containers",
		edge.Get("/containers/{kind}/{id}", "Read the container of an organization, team or worker", s.showContainer),
		edge.Put("/containers/{kind}/{id}", "Insert tasks into a container, or replace the tasks of a worker", s.arrangeContainer).Lists().
			Describe("A position as the first element of tasks determines where they are inserted: -1 at the end, 0 at the beginning, n after the first n tasks. The tasks are removed from their current container first, even if it is the same one. Without a position, the list replaces all tasks of a worker, and tasks that it omits move to the end of the organization's container. Active and completed tasks do not move.").
			Example(`{"tasks": [-1, "K2dF8gHj5LzX9cVb7NmQ4wRt"]}`),
		edge.Put("/containers/{id}", "Insert tasks into a container named by its owner alone", s.arrangeAnyContainer).Lists().
			Describe("Same as PUT /containers/{kind}/{id}, with only the ID of the organization, team or worker.").
			Example(`{"tasks": [0, "K2dF8gHj5LzX9cVb7NmQ4wRt"], "considerDependencies": true}`),
	)
}

// containerKinds maps the words in paths to kinds of containers; a published client
// uses organization.
var containerKinds = map[string]lastmile.ContainerKind{
	"organizations": lastmile.InOrganization, "organization": lastmile.InOrganization,
	"teams": lastmile.InTeam, "workers": lastmile.InWorker,
}

func container(c *edge.Call) (lastmile.ContainerRef, error) {
	kind, ok := containerKinds[c.Path("kind")]
	if !ok {
		return lastmile.ContainerRef{}, lastmile.Invalid("a container is of organizations, teams or workers, not of %q", edge.Clip(c.Path("kind"))).
			Because("Invalid container identifier.")
	}
	return lastmile.ContainerRef{Kind: kind, Owner: c.ID()}, nil
}

func (s containers) showContainer(ctx context.Context, c *edge.Call) (wire.ContainerRecord, error) {
	in, err := container(c)
	if err != nil {
		return wire.ContainerRecord{}, err
	}
	found, err := s.Containers.Container(ctx, c.Who, in)
	return wire.NewContainer(found), err
}

func (s containers) arrangeContainer(ctx context.Context, c *edge.Call, body wire.ContainerBody) (wire.ContainerRecord, error) {
	in, err := container(c)
	if err != nil {
		return wire.ContainerRecord{}, err
	}
	return s.arrange(ctx, c, in, body)
}

func (s containers) arrangeAnyContainer(ctx context.Context, c *edge.Call, body wire.ContainerBody) (wire.ContainerRecord, error) {
	in, err := s.Containers.Resolve(ctx, c.Who, c.ID())
	if err != nil {
		return wire.ContainerRecord{}, err
	}
	return s.arrange(ctx, c, in, body)
}

func (s containers) arrange(ctx context.Context, c *edge.Call, in lastmile.ContainerRef, body wire.ContainerBody) (wire.ContainerRecord, error) {
	change, err := body.Change()
	if err != nil {
		return wire.ContainerRecord{}, err
	}
	arranged, err := s.Containers.Arrange(ctx, c.Who, in, change)
	return wire.NewContainer(arranged), err
}
