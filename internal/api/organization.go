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
		edge.Get("/organization/trackingPage", "Read the settings of tracking pages", s.pageSettings),
		edge.Put("/organization/trackingPage", "Change the settings of tracking pages", s.setPage).
			Describe("Sets the phone number and the color that recipients see, and whether they may request another time after a failed delivery.").
			Example(`{"phone": "+12125550100", "color": "#0b6b50", "allowNewTimes": true}`),
		edge.Get("/organization/replanning", "Read the settings of continuous re-planning", s.replanning),
		edge.Put("/organization/replanning", "Change the settings of continuous re-planning", s.setReplanning).
			Describe("Has the routes of teams planned again during the day, when a worker falls behind or goes on duty and when a task is added, changed or unassigned. The rules are those of the last dispatch of the team, or the defaults. Routes change only if the new plan is clearly better. Each run is a dispatch; the trigger autoDispatchJobCompleted (18) reports those that changed routes. Off by default.").
			Example(`{"enabled": true, "move": "workers", "assign": true, "interval": 5, "lateness": 10, "ahead": 240}`),
		edge.PutBytes("/organization/logo", "Set the logo", s.setLogo, "image/jpeg", "image/png", "image/webp", "image/gif").Limit(lastmile.MaxLogo).
			Describe("Replaces the logo that recipients see, which is re-encoded and becomes the organization's `image`."),
		edge.Delete("/organization/logo", "Remove the logo", s.removeLogo),
	)
}

// testKey serves GET /auth/test. Clients take the organization's id out of the
// message: it is the first word of 24 letters and digits.
func (s *Server) testKey(_ context.Context, c *edge.Call) (wire.Greeting, error) {
	address := ""
	if s.Client != nil {
		address = s.Client(c.HTTP)
	}
	if address == "" { // a request from the same machine, or from a proxy that hides the client
		address, _, _ = net.SplitHostPort(c.HTTP.RemoteAddr)
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

func (s organizations) pageSettings(ctx context.Context, c *edge.Call) (wire.PageSettings, error) {
	settings, err := s.Pages.Settings(ctx, c.Who.Organization)
	return wire.NewPageSettings(settings), err
}

func (s organizations) setPage(ctx context.Context, c *edge.Call, body wire.PageSettingsBody) (wire.PageSettings, error) {
	settings, err := s.Pages.Configure(ctx, c.Who.Organization, body.Change())
	return wire.NewPageSettings(settings), err
}

func (s organizations) replanning(ctx context.Context, c *edge.Call) (wire.Replanning, error) {
	settings, err := s.Replanner.Settings(ctx, c.Who.Organization)
	return wire.NewReplanning(settings), err
}

func (s organizations) setReplanning(ctx context.Context, c *edge.Call, body wire.ReplanningBody) (wire.Replanning, error) {
	settings, err := s.Replanner.Configure(ctx, c.Who.Organization, body.Change())
	return wire.NewReplanning(settings), err
}

func (s organizations) setLogo(ctx context.Context, c *edge.Call) (wire.Uploaded, error) {
	id, err := s.Uploads.SetLogo(ctx, c.Who, c.Body)
	return wire.Uploaded{UploadID: id}, err
}

func (s organizations) removeLogo(ctx context.Context, c *edge.Call) error {
	return s.Uploads.RemoveLogo(ctx, c.Who)
}
