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
		edge.Put("/containers/{kind}/{id}", "Insert tasks into a container, or replace a worker's", s.arrangeContainer).
			Describe("A position at the beginning of tasks says where they go: -1 at the end, 0 at the beginning, n behind the first n. They come from wherever they are, and those that are in the container already are taken out first. Without a position they are all that a worker has from then on, and what is left out goes to the end of the organization's container. Active and completed tasks do not move.").
			Example(`{"tasks": [-1, "K2dF8gHj5LzX9cVb7NmQ4wRt"]}`),
		edge.Put("/containers/{id}", "Insert tasks into a container named by its owner alone", s.arrangeAnyContainer).
			Describe("The same, by the id of the organization, team or worker alone.").
			Example(`{"tasks": [0, "K2dF8gHj5LzX9cVb7NmQ4wRt"], "considerDependencies": true}`),
	)
}

// containerKinds are the kinds as paths spell them; a published client says
// organization.
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
