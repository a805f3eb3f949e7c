package adminapi

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/textmessage"
	"dray/internal/wire"
)

// messages serves the endpoints of text messages.
type messages struct{ *Server }

func (s messages) routes() []edge.Route {
	before := edge.Parameter{Name: "before", Description: "ID of a message; only older messages are listed"}
	phone := edge.Parameter{Name: "phone", Description: "phone number of the recipient, as dialed in the country of the organization"}
	return edge.Tagged("Text messages",
		edge.Get("/messages", "List text messages, newest first", s.list, before, phone,
			edge.Parameter{Name: "failed", Description: "true to list only messages that failed or were suppressed", Type: "boolean"},
			edge.Parameter{Name: "task", Description: "ID of a task; only messages about it"},
			edge.Parameter{Name: "status", Description: "state of the messages: queued, sending, sent, delivered, failed or suppressed"},
			edge.Parameter{Name: "from", Description: "only messages created at this time or later, in Unix milliseconds", Type: "number"},
			edge.Parameter{Name: "to", Description: "only messages created before this time, in Unix milliseconds", Type: "number"}).
			Describe("Returns the organization's text messages of the last 30 days with their states, 64 per page. A message is suppressed if a limit was exceeded, if the operator does not send to the country, or if the recipient has disabled messages."),
		edge.Get("/messages/replies", "List replies, newest first", s.replies, before, phone).
			Describe("Returns the text messages that phones sent to the organization in the last 30 days, 64 per page."),
		edge.Get("/messages/optOuts", "List opt-outs", s.optOuts,
			edge.Parameter{Name: "after", Description: "phone number; only numbers after it are listed"}).
			Describe("Returns the phone numbers that want no text messages of the organization, in order, 64 per page."),
		edge.Delete("/messages/optOuts/{phone}", "End an opt-out", s.endOptOut).
			Describe("Has messages sent to the number again, as the reply START does. Only if the person has asked for it: messages to people who opted out are illegal in many countries."),
		edge.Get("/messages/templates", "List the texts of messages", s.templates,
			edge.Parameter{Name: "language", Description: "two-letter language code; only texts in this language, or in English where it has none"}).
			Describe("Returns the texts of messages to recipients in every language that has some, with a preview and the number of segments that networks charge for."),
		edge.Put("/messages/templates", "Change texts of messages", s.setTemplates).
			Describe("Changes the texts that are sent, and whether messages of a kind are sent. Up to 100 at once; if one is invalid, nothing changes.").
			Example(`{"templates": [{"kind": "taskStarted", "language": "en", "text": "{organization}: {worker} is coming. {tracking}"}, {"kind": "taskArrived", "isEnabled": true}]}`),
		edge.Search("/messages/templates/preview", "Preview the text of a message", s.preview).
			Describe("Returns the text for a fictitious task, without saving it.").
			Example(`{"kind": "taskStarted", "text": "{organization}: {worker} is coming. {tracking}"}`),
	)
}

func (s messages) list(ctx context.Context, c *edge.Call) ([]Message, error) {
	from, err := c.Time("from")
	if err != nil {
		return nil, err
	}
	until, err := c.Time("to")
	if err != nil {
		return nil, err
	}
	found, err := s.Messages.List(ctx, c.Who, messaging.Query{Phone: c.Query.Get("phone"), Query: textmessage.Query{
		Before: lastmile.MessageID(c.Query.Get("before")), Task: lastmile.TaskID(c.Query.Get("task")), State: textmessage.State(c.Query.Get("status")),
		Unsent: c.Flag("failed"), From: from, Until: until,
	}})
	return wire.Each(found, NewMessage), err
}

func (s messages) replies(ctx context.Context, c *edge.Call) ([]MessageReply, error) {
	found, err := s.Messages.Replies(ctx, c.Who, lastmile.MessageID(c.Query.Get("before")), c.Query.Get("phone"))
	return wire.Each(found, NewMessageReply), err
}

func (s messages) optOuts(ctx context.Context, c *edge.Call) ([]MessageOptOut, error) {
	found, err := s.Messages.OptOuts(ctx, c.Who, c.Query.Get("after"))
	return wire.Each(found, NewMessageOptOut), err
}

func (s messages) endOptOut(ctx context.Context, c *edge.Call) error {
	return s.Messages.EndOptOut(ctx, c.Who, c.Path("phone"))
}

func (s messages) templates(ctx context.Context, c *edge.Call) (MessageTemplates, error) {
	all, err := s.Messages.Templates(ctx, c.Who, c.Query.Get("language"))
	return NewMessageTemplates(all), err
}

func (s messages) setTemplates(ctx context.Context, c *edge.Call, body MessageTemplatesBody) (MessageTemplates, error) {
	if body.Templates == nil {
		return MessageTemplates{}, lastmile.Missing("templates")
	}
	changes := wire.Each(body.Templates, func(b MessageTemplateBody) messaging.TemplateChange {
		return messaging.TemplateChange{
			Occasion: textmessage.Occasion{Kind: textmessage.Kind(b.Kind), Pickup: b.Pickup}, Language: b.Language, Text: textOrEmpty(b.Text), Enabled: b.IsEnabled,
		}
	})
	all, err := s.Messages.SetTemplates(ctx, c.Who, changes)
	return NewMessageTemplates(all), err
}

func (s messages) preview(ctx context.Context, c *edge.Call, body MessagePreviewBody) (MessagePreview, error) {
	text, err := s.Messages.Preview(ctx, c.Who, messaging.TemplateChange{
		Occasion: textmessage.Occasion{Kind: textmessage.Kind(body.Kind), Pickup: body.Pickup}, Language: body.Language, Text: body.Text,
	})
	return NewMessagePreview(text), err
}
