package app

import (
	"dray/docs"
	"dray/internal/adminapi"
	"dray/internal/api"
	"dray/internal/edge"
)

// Docs is the documentation at /docs, of the public API and the worker's API.
func Docs(public, driver edge.API) edge.Site {
	site := edge.Site{API: public, Driver: driver, Guides: docs.Guides, Order: docs.Order, Limits: api.Limits()}
	all, err := adminapi.Triggers()
	if err != nil {
		all = nil // the API responds with the error
	}
	for _, t := range all {
		site.Triggers = append(site.Triggers, edge.Trigger{ID: int(t.ID), Name: t.Name, About: t.Description, HasThreshold: t.HasThreshold, Sample: t.Sample})
	}
	return site
}
