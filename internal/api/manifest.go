package api

import (
	"context"
	"net/url"
	"time"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// manifests serves the endpoints of delivery manifests.
type manifests struct{ *Server }

func (s manifests) routes() []edge.Route {
	dates := []edge.Parameter{
		{Name: "startDate", Description: "Unix time in milliseconds; excludes tasks that must be completed before it", Type: "number"},
		{Name: "endDate", Description: "Unix time in milliseconds; excludes tasks that must not be completed until after it", Type: "number"},
	}
	return edge.Tagged("Delivery manifest",
		edge.Get("/integrations/manifest/generate", "Generate a delivery manifest", s.manifest, append([]edge.Parameter{
			{Name: "hubId", Description: "ID of the hub where the route starts", Required: true, Example: "H7jK3lZx9CvB5nMq2WsD8fRt"},
			{Name: "workerId", Description: "ID of the worker", Required: true, Example: "W4nB7xKq9LsT2vDz6MfR3hYc"},
		}, dates...)...),
		edge.Search("/integrations/marketplace", "Generate a delivery manifest for published clients", s.marketplace).WithQuery(dates...).Finds().
			Describe("Same as GET /integrations/manifest/generate, whose path and query are sent in the body.").
			Example(`{
				"path": "providers/manifest/generate?hubId=H7jK3lZx9CvB5nMq2WsD8fRt&workerId=W4nB7xKq9LsT2vDz6MfR3hYc",
				"method": "GET"
			}`),
	)
}

func (s manifests) manifest(ctx context.Context, c *edge.Call) (wire.Manifest, error) {
	return s.makeManifest(ctx, c, c.Query)
}

func (s manifests) marketplace(ctx context.Context, c *edge.Call, body wire.MarketplaceBody) (wire.Manifest, error) {
	query, err := body.Query()
	if err != nil {
		return wire.Manifest{}, err
	}
	return s.makeManifest(ctx, c, query)
}

// makeManifest makes the manifest of the hub and the worker that a query names.
func (s manifests) makeManifest(ctx context.Context, c *edge.Call, query url.Values) (wire.Manifest, error) {
	var within lastmile.Window
	if err := c.Times(map[string]*time.Time{"startDate": &within.From, "endDate": &within.To}); err != nil {
		return wire.Manifest{}, err
	}
	manifest, err := s.Containers.Manifest(ctx, c.Who, lastmile.HubID(query.Get("hubId")), lastmile.WorkerID(query.Get("workerId")), within)
	return wire.NewManifest(manifest), err
}
