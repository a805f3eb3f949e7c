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
		edge.Parameter{Name: "before", Description: "id of a message; list older ones"},
		edge.Parameter{Name: "failed", Description: "true lists only those that failed or were suppressed", Type: "boolean"}).
		Describe("The text messages that the organization caused in the last 30 days, 64 at a time, with their states. A message is suppressed if a limit was exceeded, if the operator does not send to the country, or if the recipient wants no messages."))
}

func (s messages) listMessages(ctx context.Context, c *edge.Call) ([]wire.Message, error) {
	return s.Texts.List(ctx, c.Who, lastmile.MessageID(c.Query.Get("before")), c.Flag("failed"))
}
