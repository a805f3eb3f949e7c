package api

import (
	"context"
	"fmt"
	"net"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) organizationRoutes() []route {
	return tagged("Organizations",
		get("/auth/test", "Test an API key", wire.Greeting{}, s.testKey),
		get("/organization", "Read the organization of the key", wire.Organization{}, s.organization),
		get("/organizations/{id}", "Read a connected organization", wire.Delegatee{}, s.delegatee),
	)
}

// testKey serves GET /auth/test. Clients take the organization's id out of the
// message: it is the first word of 24 letters and digits.
func (s *Server) testKey(_ context.Context, c *call) (any, error) {
	address, _, err := net.SplitHostPort(c.http.RemoteAddr)
	if err != nil {
		address = c.http.RemoteAddr
	}
	return wire.Greeting{Message: fmt.Sprintf("Hello organization '%s' hitting Dray from %s", c.who.Organization, address)}, nil
}

func (s *Server) organization(ctx context.Context, c *call) (any, error) {
	return s.Organizations.Own(ctx, c.who)
}

func (s *Server) delegatee(ctx context.Context, c *call) (any, error) {
	return s.Organizations.Delegatee(ctx, c.who, lastmile.OrganizationID(c.id()))
}
