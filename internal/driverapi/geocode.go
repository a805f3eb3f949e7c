package driverapi

import (
	"context"

	"dray/internal/addressbook"
	"dray/internal/edge"
	"dray/internal/wire"
)

func (s *Server) geocode(ctx context.Context, c *edge.Call) ([]wire.FoundAddress, error) {
	text, at, near, limit, err := c.AddressSearch()
	if err != nil {
		return nil, err
	}
	found, err := s.Book.FindAddresses(ctx, c.Who, addressbook.Search{Text: text, At: at, Near: near, Limit: limit})
	return wire.NewFoundAddresses(found), err
}
