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
	)
}

func (s addresses) geocode(ctx context.Context, c *edge.Call) ([]wire.FoundAddress, error) {
	text, at, near, limit, err := c.AddressSearch()
	if err != nil {
		return nil, err
	}
	found, err := s.Book.FindAddresses(ctx, c.Who, addressbook.Search{Text: text, At: at, Near: near, Limit: limit})
	return wire.NewFoundAddresses(found), err
}
