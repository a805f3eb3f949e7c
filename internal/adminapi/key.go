package adminapi

import (
	"context"

	"dray/internal/access"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// keys serves the endpoints of API keys.
type keys struct{ *Server }

func (s keys) routes() []edge.Route {
	return edge.Tagged("API keys",
		edge.Create("/apiKeys", "Create an API key", s.create, NewCreatedKey).Sealed(s.Vault).
			Describe("Returns the key, which is shown only once. A key has all rights of the organization and does not expire.").
			Example(`{"name": "web shop"}`),
		edge.Get("/apiKeys", "List API keys", s.list).
			Describe("Returns the keys of the organization, oldest first, with the latest ones that were deleted."),
		edge.Put("/apiKeys/{id}", "Rename an API key", s.rename).Example(`{"name": "web shop, staging"}`),
		edge.Delete("/apiKeys/{id}", "Revoke an API key", s.revoke).
			Describe("Every server rejects the key within two seconds, and normally at once. The key of the request itself may be revoked, too."),
		edge.Create("/organization/webhookSecret", "Replace the secret of webhooks", s.rotate, NewWebhookSecret).Sealed(s.Vault).
			Describe("Returns the new secret that signs the requests of webhooks, which is shown only once. For a day, the previous secret signs them as well.").
			Example(`{}`),
	)
}

func (s keys) create(ctx context.Context, c *edge.Call, body APIKeyBody) (access.NewKey, error) {
	if body.Name == nil {
		return access.NewKey{}, lastmile.Missing("name")
	}
	return s.APIKeys.Add(ctx, c.Who, *body.Name)
}

func (s keys) list(ctx context.Context, c *edge.Call) ([]APIKey, error) {
	all, err := s.APIKeys.List(ctx, c.Who.Organization)
	return wire.Each(all, NewKeyRecord), err
}

func (s keys) rename(ctx context.Context, c *edge.Call, body APIKeyBody) (APIKey, error) {
	if body.Name == nil {
		return APIKey{}, lastmile.Missing("name")
	}
	key, err := s.APIKeys.Rename(ctx, c.Who, lastmile.KeyID(c.ID()), *body.Name)
	return NewKeyRecord(key), err
}

func (s keys) rotate(ctx context.Context, c *edge.Call, _ wire.NoBody) (string, error) {
	return s.Secrets.RotateWebhookSecret(ctx, c.Who)
}

// revoke revokes a key. This server rejects the key from now on.
func (s keys) revoke(ctx context.Context, c *edge.Call) error {
	if err := s.APIKeys.Revoke(ctx, c.Who.Organization, lastmile.KeyID(c.ID())); err != nil {
		return err
	}
	return s.Keys.Refresh(ctx)
}
