package adminapi

import (
	"slices"

	"dray/internal/access"
	"dray/internal/edge"
	"dray/internal/messaging"
	"dray/internal/report"
	"dray/internal/settings"
)

// Server serves the resources of administrators.
type Server struct {
	Keys    *access.Keys
	APIKeys *access.APIKeys
	Secrets *access.Organizations // for the secret that signs webhooks
	Vault   edge.Vault            // for replies that contain keys

	Settings *settings.Settings
	Messages *messaging.Messages
	Reports  *report.Reports
}

// Tags lists the resources in the order of the OpenAPI document.
func (s *Server) Tags() []edge.Tag {
	return []edge.Tag{
		{Name: "Text messages", Description: "Invitations to workers and messages to recipients: their states, replies to them, opt-outs, and their texts."},
		{Name: "Reports", Description: "Search, and what was done in a period."},
		{Name: "API keys", Description: "Keys that authorize applications to act for the organization."},
	}
}

// Routes returns the routes of all resources.
func (s *Server) Routes() []edge.Route {
	return slices.Concat(organization{s}.routes(), messages{s}.routes(), reports{s}.routes(), triggers{s}.routes(), keys{s}.routes())
}
