package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/webhook"
	"dray/internal/wire"
)

// webhooks serves the endpoints of webhooks.
type webhooks struct{ *Server }

func (s webhooks) routes() []edge.Route {
	return edge.Tagged("Webhooks",
		edge.Create("/webhooks", "Create a webhook", s.createWebhook, wire.NewCreatedWebhook).
			Describe("The server must respond to GET ?check=TEXT with status 200 and exactly that text before the webhook is registered.").
			Example(`{"url": "https://hooks.example.com/dray", "trigger": 6, "name": "new tasks"}`),
		edge.Get("/webhooks", "List webhooks", s.listWebhooks),
		edge.Put("/webhooks/{id}", "Update a webhook", s.updateWebhook).
			Describe("A new url must pass the same check as a new webhook.").
			Example(`{"name": "all new tasks"}`),
		edge.Delete("/webhooks/{id}", "Delete a webhook", s.deleteWebhook).
			Describe("Pending notifications are discarded."),
		edge.Get("/webhooks/{id}/notifications", "List the notifications of a webhook, newest first", s.listNotifications,
			edge.Parameter{Name: "before", Description: "ID of a notification; only older notifications are listed"},
			edge.Parameter{Name: "failed", Description: "true to list only notifications that were given up", Type: "boolean"}),
		edge.Get("/webhooks/{id}/notifications/{notification}", "Read a notification and its delivery attempts", s.showNotification),
		edge.Create("/webhooks/{id}/notifications/{notification}/redeliver", "Send a notification again", s.redeliver, wire.NewRedelivered).
			Example(`{}`),
		edge.Get("/tasks/{id}/notifications", "List the webhook notifications of a task", s.taskNotifications).
			Describe("Returns the notifications of events of the task, those of the latest events first, with the last attempt of each: up to 100, of the latest 1,000 events. They are kept for 30 days."),
		edge.Create("/webhooks/{id}/redeliver", "Redeliver notifications", s.redeliverRange, wire.NewRedelivered).
			Describe("Sends the notifications of a period again that were given up, or also those that were delivered, or those with the IDs that are sent. At most 10,000 of a period, the latest, and 1,000 IDs. Notifications of a period that are still pending are not affected.").
			Example(`{"from": 1794700000000, "to": 1794786400000}`),
		edge.Create("/webhooks/{id}/test", "Send a webhook a test event", s.testWebhook, wire.NewRedelivered).
			Describe("The event has the trigger of the webhook, contains no records and is marked as a test.").
			Example(`{}`),
	)
}

func (s webhooks) createWebhook(ctx context.Context, c *edge.Call, body wire.WebhookBody) (lastmile.CreatedRecord[lastmile.Webhook], error) {
	return s.Webhooks.Create(ctx, c.Who, body.Change())
}

func (s webhooks) listWebhooks(ctx context.Context, c *edge.Call) ([]wire.Webhook, error) {
	hooks, err := s.Webhooks.List(ctx, c.Who)
	return wire.Each(hooks, wire.NewWebhook), err
}

func (s webhooks) updateWebhook(ctx context.Context, c *edge.Call, body wire.WebhookBody) (wire.Webhook, error) {
	hook, err := s.Webhooks.Update(ctx, c.Who, lastmile.WebhookID(c.ID()), body.Change())
	return wire.NewWebhook(hook), err
}

func (s webhooks) deleteWebhook(ctx context.Context, c *edge.Call) error {
	return s.Webhooks.Delete(ctx, c.Who, lastmile.WebhookID(c.ID()))
}

func (s webhooks) listNotifications(ctx context.Context, c *edge.Call) ([]wire.Notification, error) {
	q := webhook.LogQuery{Before: c.Query.Get("before"), Failed: c.Flag("failed")}
	log, err := s.Webhooks.Log(ctx, c.Who, lastmile.WebhookID(c.ID()), q)
	return wire.Each(log, wire.NewNotification), err
}

func (s webhooks) showNotification(ctx context.Context, c *edge.Call) (wire.DetailedNotification, error) {
	detail, err := s.Webhooks.Notification(ctx, c.Who, lastmile.WebhookID(c.ID()), c.Path("notification"))
	return wire.NewDetailedNotification(detail), err
}

func (s webhooks) taskNotifications(ctx context.Context, c *edge.Call) ([]wire.TaskNotification, error) {
	log, err := s.Webhooks.TaskLog(ctx, c.Who, lastmile.TaskID(c.ID()))
	shown := make([]wire.TaskNotification, len(log))
	for i, n := range log {
		shown[i] = wire.NewTaskNotification(n.Notification, n.WebhookName, n.Last)
	}
	return shown, err
}

func (s webhooks) redeliver(ctx context.Context, c *edge.Call, _ wire.NoBody) (lastmile.Redelivered, error) {
	return s.Webhooks.Redeliver(ctx, c.Who, lastmile.WebhookID(c.ID()), c.Path("notification"))
}

func (s webhooks) redeliverRange(ctx context.Context, c *edge.Call, body wire.RedeliverBody) (lastmile.Redelivered, error) {
	in := webhook.Range{IDs: body.IDs, From: body.From.Time(), Until: body.To.Time(), Delivered: body.Delivered}
	if in.From.IsZero() {
		in.From = body.Since.Time()
	}
	return s.Webhooks.RedeliverRange(ctx, c.Who, lastmile.WebhookID(c.ID()), in)
}

func (s webhooks) testWebhook(ctx context.Context, c *edge.Call, _ wire.NoBody) (lastmile.Redelivered, error) {
	return s.Webhooks.Test(ctx, c.Who, lastmile.WebhookID(c.ID()))
}
