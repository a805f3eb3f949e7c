package adminapi

import (
	"slices"

	"dray/internal/access"
	"dray/internal/edge"
)

// Server serves the resources of administrators.
type Server struct {
	Keys    *access.Keys
	APIKeys *access.APIKeys
	Vault   edge.Vault // for replies that contain keys
}

// Tags lists the resources in the order of the OpenAPI document.
func (s *Server) Tags() []edge.Tag {
	return []edge.Tag{
		{Name: "API keys", Description: "Keys that authorize applications to act for the organization."},
	}
}

// Routes returns the routes of all resources.
func (s *Server) Routes() []edge.Route {
	return slices.Concat(keys{s}.routes())
}

// orNull returns nil for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
