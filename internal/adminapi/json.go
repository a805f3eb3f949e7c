package adminapi

import (
	"encoding/json"

	"dray/internal/access"
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

// WebhookSecret is the secret that signs the requests of webhooks.
type WebhookSecret struct {
	// The secret, 64 bytes as hexadecimal digits. It is shown only here.
	WebhookSecret string `json:"webhookSecret" example:"9f2c41d0a7b35e88c6d4f1027a9be35d40f7c2186ab95d3e17c8042fb6e9d5a39f2c41d0a7b35e88c6d4f1027a9be35d40f7c2186ab95d3e17c8042fb6e9d5a3"`
}

// NewWebhookSecret returns a secret in its wire form.
func NewWebhookSecret(secret string) WebhookSecret { return WebhookSecret{secret} }

// TriggerDescription is a trigger that webhooks can have.
type TriggerDescription struct {
	// Number of the trigger.
	ID lastmile.Trigger `json:"id" example:"6"`
	// Name of the trigger.
	Name string `json:"name" example:"taskCreated"`
	// What causes the trigger.
	Description string `json:"description" example:"A task is created."`
	// Whether webhooks of the trigger have a threshold.
	HasThreshold bool `json:"hasThreshold" example:"false"`
	// Body of a request as webhooks get it.
	Sample json.RawMessage `json:"sample"`
}
