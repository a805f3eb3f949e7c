package api

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) containerRoutes() []route {
	return tagged("Containers",
		get("/containers/{kind}/{id}", "Read the container of an organization, team or worker", wire.ContainerRecord{}, s.showContainer),
		put("/containers/{kind}/{id}", "Insert tasks into a container, or replace a worker's", wire.ContainerRecord{}, s.arrangeContainer),
		put("/containers/{id}", "Insert tasks into a container named by its owner alone", wire.ContainerRecord{}, s.arrangeAnyContainer),
	)
}

// containerKinds are the kinds as paths spell them; a published client says
// organization.
var containerKinds = map[string]lastmile.ContainerKind{
	"organizations": lastmile.InOrganization, "organization": lastmile.InOrganization,
	"teams": lastmile.InTeam, "workers": lastmile.InWorker,
}

func (c *call) container() (lastmile.ContainerRef, error) {
	kind, ok := containerKinds[c.http.PathValue("kind")]
	if !ok {
		return lastmile.ContainerRef{}, lastmile.Invalid("a container is of organizations, teams or workers, not of %q", clip(c.http.PathValue("kind"))).
			Because("Invalid container identifier.")
	}
	return lastmile.ContainerRef{Kind: kind, Owner: c.id()}, nil
}

func (s *Server) showContainer(ctx context.Context, c *call) (any, error) {
	in, err := c.container()
	if err != nil {
		return nil, err
	}
	return s.Tasks.Container(ctx, c.who, in)
}

func (s *Server) arrangeContainer(ctx context.Context, c *call, body wire.ContainerBody) (any, error) {
	in, err := c.container()
	if err != nil {
		return nil, err
	}
	return s.arrange(ctx, c, in, body)
}

func (s *Server) arrangeAnyContainer(ctx context.Context, c *call, body wire.ContainerBody) (any, error) {
	in, err := s.Tasks.Resolve(ctx, c.who, c.id())
	if err != nil {
		return nil, err
	}
	return s.arrange(ctx, c, in, body)
}

func (s *Server) arrange(ctx context.Context, c *call, in lastmile.ContainerRef, body wire.ContainerBody) (any, error) {
	change, err := body.Change()
	if err != nil {
		return nil, err
	}
	return s.Tasks.Arrange(ctx, c.who, in, change)
}
