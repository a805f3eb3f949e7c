package api

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/webhook"
	"dray/internal/wire"
)

func (s *Server) webhookRoutes() []route {
	return tagged("Webhooks",
		post("/webhooks", "Create a webhook", wire.NewWebhookBody{}, s.createWebhook),
		get("/webhooks", "List webhooks", []wire.Webhook{}, s.listWebhooks),
		put("/webhooks/{id}", "Update a webhook", wire.Webhook{}, s.updateWebhook),
		remove("/webhooks/{id}", "Delete a webhook", s.deleteWebhook),
		get("/webhooks/{id}/notifications", "List what a webhook was sent, newest first", []wire.Notification{}, s.listNotifications,
			parameter{name: "before", about: "id of a notification; list older ones"},
			parameter{name: "failed", about: "true lists only those that were given up", kind: "boolean"}),
		get("/webhooks/{id}/notifications/{notification}", "Read a notification and every attempt at it", wire.DetailedNotification{}, s.showNotification),
		post("/webhooks/{id}/notifications/{notification}/redeliver", "Send a notification again", wire.Redelivered{}, s.redeliver),
		post("/webhooks/{id}/redeliver", "Send again what was given up since a time", wire.Redelivered{}, s.redeliverFailed),
		post("/webhooks/{id}/test", "Send a webhook a test event", wire.Redelivered{}, s.testWebhook),
	)
}

func (s *Server) createWebhook(ctx context.Context, c *call, body wire.WebhookBody) (any, error) {
	change, err := body.Change()
	if err != nil {
		return nil, err
	}
	return s.Webhooks.Create(ctx, c.who, change)
}

func (s *Server) listWebhooks(ctx context.Context, c *call) (any, error) {
	return s.Webhooks.List(ctx, c.who)
}

func (s *Server) updateWebhook(ctx context.Context, c *call, body wire.WebhookBody) (any, error) {
	change, err := body.Change()
	if err != nil {
		return nil, err
	}
	return s.Webhooks.Update(ctx, c.who, lastmile.WebhookID(c.id()), change)
}

func (s *Server) deleteWebhook(ctx context.Context, c *call) (any, error) {
	return nil, s.Webhooks.Delete(ctx, c.who, lastmile.WebhookID(c.id()))
}

func (s *Server) listNotifications(ctx context.Context, c *call) (any, error) {
	q := webhook.LogQuery{Before: c.query.Get("before"), Failed: c.flag("failed")}
	return s.Webhooks.Log(ctx, c.who, lastmile.WebhookID(c.id()), q)
}

func (s *Server) showNotification(ctx context.Context, c *call) (any, error) {
	return s.Webhooks.Notification(ctx, c.who, lastmile.WebhookID(c.id()), c.http.PathValue("notification"))
}

func (s *Server) redeliver(ctx context.Context, c *call, _ wire.NoBody) (any, error) {
	return s.Webhooks.Redeliver(ctx, c.who, lastmile.WebhookID(c.id()), c.http.PathValue("notification"))
}

func (s *Server) redeliverFailed(ctx context.Context, c *call, body wire.SinceBody) (any, error) {
	return s.Webhooks.RedeliverFailed(ctx, c.who, lastmile.WebhookID(c.id()), body.Since.Time())
}

func (s *Server) testWebhook(ctx context.Context, c *call, _ wire.NoBody) (any, error) {
	return s.Webhooks.Test(ctx, c.who, lastmile.WebhookID(c.id()))
}
