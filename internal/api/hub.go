package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/fleet"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// hubs serves the endpoints of hubs.
type hubs struct{ *Server }

func (s hubs) routes() []edge.Route {
	return edge.Tagged("Hubs",
		edge.Create("/hubs", "Create a hub", s.createHub, wire.NewHub).
			Example(`{
				"name": "Hudson Yards",
				"phone": "+1 212 555 0123",
				"address": {
					"number": "20",
					"street": "Hudson Yards",
					"city": "New York",
					"country": "United States"
				},
				"location": [-74.0022, 40.7537]
			}`),
		edge.Get("/hubs", "List hubs", s.listHubs),
		edge.Put("/hubs/{id}", "Update a hub", s.updateHub).
			Describe("Only the fields that are sent change.").
			Example(`{"name": "Hudson Yards West"}`),
	)
}

func hubDraft(body wire.HubBody) fleet.HubDraft {
	return fleet.HubDraft{Change: body.Change(), Address: body.Place(), Phone: body.Phone}
}

func (s hubs) createHub(ctx context.Context, c *edge.Call, body wire.NewHubBody) (lastmile.Hub, error) {
	return s.Fleet.CreateHub(ctx, c.Who, hubDraft(body.HubBody))
}

func (s hubs) listHubs(ctx context.Context, c *edge.Call) ([]wire.Hub, error) {
	hubs, err := s.Fleet.Hubs(ctx, c.Who)
	return wire.Each(hubs, wire.NewHub), err
}

func (s hubs) updateHub(ctx context.Context, c *edge.Call, body wire.HubBody) (wire.Hub, error) {
	hub, err := s.Fleet.UpdateHub(ctx, c.Who, lastmile.HubID(c.ID()), hubDraft(body.Update()))
	return wire.NewHub(hub), err
}
