package adminapi

import (
	"context"

	"dray/internal/edge"
)

// organization serves the endpoints of the settings of the organization.
type organization struct{ *Server }

func (s organization) routes() []edge.Route {
	return edge.Tagged("Organizations",
		edge.Get("/organization/settings", "Read the settings of the organization", s.read),
		edge.Put("/organization/settings", "Change settings of the organization", s.update).
			Describe("Only the fields that are sent change, also within `geofence`, `trackingPage`, `replanning` and `messages`. If one of them is invalid, nothing changes.").
			Example(`{"name": "Example Couriers", "language": "en", "geofence": {"level": "warn", "radius": 150}, "messages": {"eta": 600}}`),
	)
}

func (s organization) read(ctx context.Context, c *edge.Call) (OrganizationSettings, error) {
	all, err := s.Settings.Read(ctx, c.Who)
	return NewOrganizationSettings(all), err
}

func (s organization) update(ctx context.Context, c *edge.Call, body OrganizationSettingsBody) (OrganizationSettings, error) {
	all, err := s.Settings.Update(ctx, c.Who, body.Change())
	return NewOrganizationSettings(all), err
}
