package api

import (
	"context"
	"net/url"
	"time"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) manifestRoutes() []route {
	dates := []parameter{
		{name: "startDate", about: "Unix milliseconds; without tasks that must be done before this", kind: "number"},
		{name: "endDate", about: "Unix milliseconds; without tasks that must not be done until after this", kind: "number"},
	}
	marketplace := post("/integrations/marketplace", "Generate a delivery manifest as published clients ask for it", wire.Manifest{}, s.marketplace)
	marketplace.query = dates
	return tagged("Delivery manifest",
		get("/integrations/manifest/generate", "Generate a delivery manifest", wire.Manifest{}, s.manifest, append([]parameter{
			{name: "hubId", about: "id of the hub where the route starts", required: true},
			{name: "workerId", about: "id of the worker", required: true},
		}, dates...)...),
		marketplace,
	)
}

func (s *Server) manifest(ctx context.Context, c *call) (any, error) {
	return s.makeManifest(ctx, c, c.query)
}

func (s *Server) marketplace(ctx context.Context, c *call, body wire.MarketplaceBody) (any, error) {
	query, err := body.Query()
	if err != nil {
		return nil, err
	}
	return s.makeManifest(ctx, c, query)
}

// makeManifest makes the manifest of a hub and a worker that a query names.
func (s *Server) makeManifest(ctx context.Context, c *call, query url.Values) (any, error) {
	var (
		within lastmile.Window
		err    error
	)
	for name, at := range map[string]*time.Time{"startDate": &within.From, "endDate": &within.To} {
		if *at, err = c.time(name); err != nil {
			return nil, err
		}
	}
	return s.Tasks.Manifest(ctx, c.who, lastmile.HubID(query.Get("hubId")), lastmile.WorkerID(query.Get("workerId")), within)
}
