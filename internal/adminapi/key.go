package adminapi

import (
	"context"

	"dray/internal/access"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// APIKey is an API key of the organization, without the key itself.
type APIKey struct {
	// ID of the key.
	ID lastmile.KeyID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Name that describes what the key is for.
	Name string `json:"name" example:"web shop"`
	// Last four characters of the key.
	Hint string `json:"hint" example:"VqCx"`
	// Unix time in milliseconds at which the key was created.
	TimeCreated wire.Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the key was last used, to the minute; null if it never was.
	TimeLastUsed wire.Millis `json:"timeLastUsed" nullable:"true" example:"1767229200000"`
	// Whether the key is valid. A key that was deleted is listed as inactive.
	IsActive bool `json:"isActive" example:"true"`
}

// NewAPIKey is an API key that was created.
type NewAPIKey struct {
	APIKey
	// The key. It is shown only here.
	Key string `json:"key" example:"dray_4vB9kQm2Xc7RtLw1Zs8Nf3Hj6Pd0Gy5Ta9Ue2Ko4Ib7VqCx"`
}

// APIKeyBody is the body of a request to create or rename an API key.
type APIKeyBody struct {
	// Name that describes what the key is for.
	Name *string `json:"name" required:"true" example:"web shop"`
}

// NewKeyRecord returns an API key in its wire form.
func NewKeyRecord(k lastmile.APIKey) APIKey {
	return APIKey{
		ID: k.ID, Name: k.Name, Hint: k.Hint, TimeCreated: wire.Millis(k.Created), TimeLastUsed: wire.Millis(k.LastUsed), IsActive: k.Active(),
	}
}

// NewCreatedKey returns a key that was created, with the key itself.
func NewCreatedKey(k access.NewKey) NewAPIKey {
	return NewAPIKey{APIKey: NewKeyRecord(k.Record), Key: k.Key}
}

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

// revoke revokes a key. This server rejects the key from now on.
func (s keys) revoke(ctx context.Context, c *edge.Call) error {
	if err := s.APIKeys.Revoke(ctx, c.Who.Organization, lastmile.KeyID(c.ID())); err != nil {
		return err
	}
	return s.Keys.Refresh(ctx)
}
