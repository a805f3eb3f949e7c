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
		{Name: "startDate", Description: "Unix milliseconds; without tasks that must be done before this time", Type: "number"},
		{Name: "endDate", Description: "Unix milliseconds; without tasks that must not be done until after this time", Type: "number"},
	}
	return edge.Tagged("Delivery manifest",
		edge.Get("/integrations/manifest/generate", "Generate a delivery manifest", s.manifest, append([]edge.Parameter{
			{Name: "hubId", Description: "id of the hub where the route starts", Required: true, Example: "H7jK3lZx9CvB5nMq2WsD8fRt"},
			{Name: "workerId", Description: "id of the worker", Required: true, Example: "W4nB7xKq9LsT2vDz6MfR3hYc"},
		}, dates...)...),
		edge.Search("/integrations/marketplace", "Generate a delivery manifest as published clients ask for it", s.marketplace).WithQuery(dates...).Finds().
			Describe("The same as GET /integrations/manifest/generate, which the path names.").
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
	var (
		within lastmile.Window
		err    error
	)
	for name, at := range map[string]*time.Time{"startDate": &within.From, "endDate": &within.To} {
		if *at, err = c.Time(name); err != nil {
			return wire.Manifest{}, err
		}
	}
	manifest, err := s.Containers.Manifest(ctx, c.Who, lastmile.HubID(query.Get("hubId")), lastmile.WorkerID(query.Get("workerId")), within)
	return wire.NewManifest(manifest), err
}
