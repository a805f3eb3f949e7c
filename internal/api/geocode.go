package api

import (
	"context"

	"dray/internal/addressbook"
	"dray/internal/edge"
	"dray/internal/wire"
)

// addresses serves the search for addresses.
type addresses struct{ *Server }

func (s addresses) routes() []edge.Route {
	return edge.Tagged("Addresses",
		edge.Get("/geocode", "Complete an address, or find the address at a location", s.geocode, edge.AddressParameters...).
			Describe("An extension. With q, returns addresses that begin with the text, the best first; with location, the addresses there, the nearest first. Houses and streets are found where a map is imported (dray map import), cities everywhere. No map service is queried, so that a client can send a request for every letter that a person types. Workers have the same endpoint in their API."),
		edge.Get("/route", "Find the way along stops", s.route,
			edge.Parameter{Name: "stops", Description: "2 to 50 locations of the form longitude,latitude, separated by semicolons", Example: "-73.9857,40.7484;-73.9772,40.7527", Required: true},
			edge.Parameter{Name: "vehicle", Description: "CAR, MOTORCYCLE, BICYCLE, TRUCK or FOOT. Default: CAR"},
		).Semicolons().
			Describe("An extension. Returns the fastest way along the roads of imported maps, in the order of the stops, with its geometry. Between stops that no map covers, it is a straight line with an estimate by formula. No map service is queried. Workers have the same endpoint in their API, for their own vehicle."),
	)
}

func (s addresses) route(ctx context.Context, c *edge.Call) (wire.Route, error) {
	stops, err := c.Points("stops")
	if err != nil {
		return wire.Route{}, err
	}
	by, err := wire.ParseTravelMode(c.Query.Get("vehicle"))
	if err != nil {
		return wire.Route{}, err
	}
	found, err := s.Routes.Find(ctx, c.Who, by, stops)
	return wire.NewRoute(found), err
}

func (s addresses) geocode(ctx context.Context, c *edge.Call) ([]wire.FoundAddress, error) {
	text, at, near, limit, err := c.AddressSearch()
	if err != nil {
		return nil, err
	}
	found, err := s.Book.FindAddresses(ctx, c.Who, addressbook.Search{Text: text, At: at, Near: near, Limit: limit})
	return wire.NewFoundAddresses(found), err
}
