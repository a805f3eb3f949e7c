package api

import (
	"context"

	"dray/internal/fleet"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) hubRoutes() []route {
	return tagged("Hubs",
		post("/hubs", "Create a hub", wire.Hub{}, s.createHub),
		get("/hubs", "List hubs", []wire.Hub{}, s.listHubs),
		put("/hubs/{id}", "Update a hub", wire.Hub{}, s.updateHub),
	)
}

func hubDraft(body wire.HubBody) fleet.HubDraft {
	return fleet.HubDraft{Change: body.Change(), Address: body.Place(), Phone: body.Phone}
}

func (s *Server) createHub(ctx context.Context, c *call, body wire.HubBody) (any, error) {
	return s.Fleet.CreateHub(ctx, c.who, hubDraft(body))
}

func (s *Server) listHubs(ctx context.Context, c *call) (any, error) {
	return s.Fleet.Hubs(ctx, c.who)
}

func (s *Server) updateHub(ctx context.Context, c *call, body wire.HubBody) (any, error) {
	return s.Fleet.UpdateHub(ctx, c.who, lastmile.HubID(c.id()), hubDraft(body.Update()))
}
