package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// destinations serves the endpoints of destinations.
type destinations struct{ *Server }

func (s destinations) routes() []edge.Route {
	return edge.Tagged("Destinations",
		edge.Create("/destinations", "Create a destination", s.createDestination, wire.NewDestination).
			Describe("If a location is sent, the address is stored unchanged. Otherwise the address is geocoded, and warnings lists the differences between the address and the location that was found.").
			Example(`{
				"address": {
					"number": "350",
					"street": "5th Avenue",
					"city": "New York",
					"postalCode": "10118",
					"country": "United States"
				},
				"location": [-73.9857, 40.7484],
				"notes": "Loading dock on 33rd Street."
			}`),
		edge.Get("/destinations/{id}", "Read a destination", s.showDestination),
		edge.SearchAll[wire.Metadata, wire.Destination]("/destinations/metadata", "Find destinations by metadata", s.findDestinations, s.foundDestinations).
			Describe("Finds records that have all the entries, by name, type and value.").
			Example(`[{"name": "storeNumber", "type": "number", "value": 12}]`),
	)
}

func (s destinations) createDestination(ctx context.Context, c *edge.Call, body wire.DestinationBody) (lastmile.Destination, error) {
	return s.Book.CreateDestination(ctx, c.Who, body.Draft())
}

func (s destinations) showDestination(ctx context.Context, c *edge.Call) (wire.Raw[wire.Destination], error) {
	return s.Book.ShowDestination(ctx, c.Who, lastmile.DestinationID(c.ID()))
}

func (s destinations) findDestinations(ctx context.Context, c *edge.Call, entries wire.Metadata) ([]string, error) {
	metadata, err := criteria(entries)
	if err != nil {
		return nil, err
	}
	return s.Book.FindDestinations(ctx, c.Who, metadata)
}

func (s destinations) foundDestinations(ctx context.Context, c *edge.Call, ids []string) ([][]byte, error) {
	return s.Book.ShowDestinations(ctx, c.Who, ids)
}
