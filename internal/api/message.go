package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// TextMessages lists the text messages of an organization.
type TextMessages interface {
	// List returns a page of messages older than the one before, or the newest,
	// the newest first. unsent selects those that failed or were suppressed.
	List(ctx context.Context, who lastmile.Principal, before lastmile.MessageID, unsent bool) ([]wire.Message, error)
}

// messages serves the endpoints of text messages.
type messages struct{ *Server }

func (s messages) routes() []edge.Route {
	return edge.Tagged("Text messages", edge.Get("/messages", "List text messages, newest first", s.listMessages,
		edge.Parameter{Name: "before", Description: "ID of a message; only older messages are listed"},
		edge.Parameter{Name: "failed", Description: "true to list only messages that failed or were suppressed", Type: "boolean"}).
		Describe("Returns the organization's text messages of the last 30 days with their states, 64 per page. A message is suppressed if a limit was exceeded, if the operator does not send to the country, or if the recipient has disabled messages."))
}

func (s messages) listMessages(ctx context.Context, c *edge.Call) ([]wire.Message, error) {
	return s.Texts.List(ctx, c.Who, lastmile.MessageID(c.Query.Get("before")), c.Flag("failed"))
}
