package access

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// MasterKeySize is the length of a master key in bytes.
const MasterKeySize = 32

// webhookSecretSize is the length of a webhook secret in bytes. It is shown in
// hexadecimal.
const webhookSecretSize = 64

// Vault encrypts secrets that must be readable later, such as those that sign
// webhooks.
type Vault struct{ aead cipher.AEAD }

// NewVault returns a vault with a master key.
func NewVault(master []byte) (Vault, error) {
	if len(master) != MasterKeySize {
		return Vault{}, fmt.Errorf("the master key has %d bytes, not %d", len(master), MasterKeySize)
	}
	block, err := aes.NewCipher(master)
	if err != nil {
		return Vault{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return Vault{aead: aead}, err
}

// Seal encrypts a secret for one organization.
func (v Vault) Seal(org lastmile.OrganizationID, secret []byte) []byte {
	return v.aead.Seal(nil, nil, secret, []byte(org))
}

// Open decrypts a secret that Seal encrypted for the organization.
func (v Vault) Open(org lastmile.OrganizationID, sealed []byte) ([]byte, error) {
	secret, err := v.aead.Open(nil, nil, sealed, []byte(org))
	if err != nil {
		return nil, errors.New("the secret was not sealed with this master key")
	}
	return secret, nil
}

// Fingerprint identifies a master key without revealing anything about it.
func Fingerprint(master []byte) string {
	sum := sha256.Sum256(append([]byte("dray master key "), master...))
	return hex.EncodeToString(sum[:8])
}

func (o *Organizations) newWebhookSecret(org lastmile.OrganizationID, now time.Time) (string, store.SealedSecret) {
	secret := make([]byte, webhookSecretSize)
	rand.Read(secret)
	return hex.EncodeToString(secret), store.SealedSecret{
		ID: o.NewID(), Organization: org, Sealed: o.Vault.Seal(org, secret), Created: now,
	}
}

// SecretOverlap is the time after a rotation in which the previous webhook secret still
// signs.
const SecretOverlap = 24 * time.Hour

// MaxWebhookSecrets is the maximum number of webhook secrets of an organization, because each
// of them signs every notification. A rotation deletes older ones.
const MaxWebhookSecrets = 5

// WebhookSecrets returns the secrets that sign the webhooks of an organization:
// the newest first, then older ones during their overlap.
func (o *Organizations) WebhookSecrets(ctx context.Context, org lastmile.OrganizationID) ([][]byte, error) {
	var sealed []store.SealedSecret
	err := o.Store.Read(ctx, func(r Reader) (err error) {
		sealed, err = r.WebhookSecrets(ctx, org)
		return err
	})
	if err != nil {
		return nil, err
	}
	var secrets [][]byte
	for i, s := range sealed {
		if i > 0 && o.Now().Sub(sealed[i-1].Created) > SecretOverlap || i == MaxWebhookSecrets {
			break
		}
		secret, err := o.Vault.Open(org, s.Sealed)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	if len(secrets) == 0 {
		return nil, lastmile.NotFound("webhook secret of organization", string(org))
	}
	return secrets, nil
}

// RotateWebhookSecret creates a new webhook secret and returns it. The previous one
// keeps signing for SecretOverlap.
func (o *Organizations) RotateWebhookSecret(ctx context.Context, who lastmile.Principal) (string, error) {
	secret, sealed := o.newWebhookSecret(who.Organization, o.Now())
	return store.Idempotent(ctx, o.Store, who, func(w Writer) (string, error) {
		if _, err := w.Organization(ctx, who.Organization); err != nil {
			return "", err
		}
		if err := w.SaveWebhookSecret(ctx, sealed); err != nil {
			return "", err
		}
		return secret, w.DeleteWebhookSecrets(ctx, who.Organization, MaxWebhookSecrets)
	})
}
