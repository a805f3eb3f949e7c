package driverapi

import (
	"context"

	"dray/internal/addressbook"
	"dray/internal/edge"
	"dray/internal/wire"
)

func (s *Server) route(ctx context.Context, c *edge.Call) (wire.Route, error) {
	stops, err := c.Points("stops")
	if err != nil {
		return wire.Route{}, err
	}
	worker, err := s.Fleet.Self(ctx, c.Who)
	if err != nil {
		return wire.Route{}, err
	}
	found, err := s.Routes.Find(ctx, c.Who, worker.TravelsBy(), stops)
	return wire.NewRoute(found), err
}

func (s *Server) geocode(ctx context.Context, c *edge.Call) ([]wire.FoundAddress, error) {
	text, at, near, limit, err := c.AddressSearch()
	if err != nil {
		return nil, err
	}
	found, err := s.Book.FindAddresses(ctx, c.Who, addressbook.Search{Text: text, At: at, Near: near, Limit: limit})
	return wire.NewFoundAddresses(found), err
}
