package api

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) destinationRoutes() []route {
	return tagged("Destinations",
		post("/destinations", "Create a destination", wire.Destination{}, s.createDestination),
		get("/destinations/{id}", "Read a destination", wire.Destination{}, s.showDestination),
		post("/destinations/metadata", "Find destinations by metadata", []wire.Destination{}, s.findDestinations),
	)
}

func (s *Server) createDestination(ctx context.Context, c *call, body wire.DestinationBody) (any, error) {
	return s.Book.CreateDestination(ctx, c.who, body.Draft())
}

func (s *Server) showDestination(ctx context.Context, c *call) (any, error) {
	return s.Book.ShowDestination(ctx, c.who, lastmile.DestinationID(c.id()))
}

func (s *Server) findDestinations(ctx context.Context, c *call, entries metadataBody) (any, error) {
	metadata, err := searched(entries)
	if err != nil {
		return nil, err
	}
	return s.Book.FindDestinations(ctx, c.who, metadata)
}
