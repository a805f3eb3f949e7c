package api

import (
	"context"
	"fmt"
	"net"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// organizations serves the endpoints of organizations.
type organizations struct{ *Server }

func (s organizations) routes() []edge.Route {
	return edge.Tagged("Organizations",
		edge.Get("/auth/test", "Test an API key", s.testKey).
			Describe("Returns the ID of the organization that the key belongs to. Recommended as the first request."),
		edge.Get("/organization", "Read the organization of the key", s.organization),
		edge.Get("/organizations/{id}", "Read a connected organization", s.delegatee).
			Describe("Returns the caller's organization or one that it is connected to."),
	)
}

// testKey serves GET /auth/test. Clients take the organization's id out of the
// message: it is the first word of 24 letters and digits.
func (*Server) testKey(_ context.Context, c *edge.Call) (wire.Greeting, error) {
	address, _, err := net.SplitHostPort(c.HTTP.RemoteAddr)
	if err != nil {
		address = c.HTTP.RemoteAddr
	}
	return wire.Greeting{Message: fmt.Sprintf("Hello organization '%s' hitting Dray from %s", c.Who.Organization, address)}, nil
}

func (s organizations) organization(ctx context.Context, c *edge.Call) (wire.Organization, error) {
	organization, err := s.Organizations.Own(ctx, c.Who)
	return wire.NewOrganization(organization), err
}

func (s organizations) delegatee(ctx context.Context, c *edge.Call) (wire.Delegatee, error) {
	delegatee, err := s.Organizations.Delegatee(ctx, c.Who, lastmile.OrganizationID(c.ID()))
	return wire.NewDelegatee(delegatee), err
}
